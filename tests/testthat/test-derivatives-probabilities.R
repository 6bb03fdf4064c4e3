# Gradient and Hessian of probabilities, in all arguments, inside, far out and at the ends of the support.

test_that("probabilities have first and second derivatives in both tails, also their logarithms", {
  skip_without_plugin()
  expect_derivatives_right(one_in(3L, distribution_cases_of("p")), check = value_and_derivative_faults)
})

test_that("second derivatives of probabilities are the same in all modes", {
  skip_without_plugin()
  skip_unless_all()
  expect_modes_agree(last_variants(distribution_cases_of("p")), 4L)
})
