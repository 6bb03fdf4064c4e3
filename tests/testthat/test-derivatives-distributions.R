# Gradient and Hessian of densities and quantiles, in all arguments, inside, far out and at the ends of the support.

test_that("densities and their logarithms have first and second derivatives", {
  skip_without_plugin()
  expect_derivatives_right(one_in(3L, distribution_cases_of("d")), check = value_and_derivative_faults)
})

test_that("quantiles have first and second derivatives in both tails, also of logarithms", {
  skip_without_plugin()
  expect_derivatives_right(one_in(3L, distribution_cases_of("q")), check = value_and_derivative_faults)
})

test_that("quantiles have derivatives where the support begins or ends with a slope", {
  skip_without_plugin()
  f <- function(x) {
    sum(c(
      qexp(x[1], x[2]), 2 * qexp(1 - x[1], x[2], lower.tail = FALSE), 4 * qexp(x[1], x[2], FALSE, TRUE),
      8 * qunif(x[1], x[2], x[3]), 16 * qunif(1 - x[1], x[2], x[3]), 32 * qunif(x[1], x[2], x[3], FALSE),
      64 * qunif(x[1], x[2], x[3], TRUE, TRUE)
    ))
  }
  # In the order above; the slopes of the third and the last are those in the logarithm.
  rate <- 0.7
  width <- 2.5 - rate
  slope <- c(1 / rate + 2 / rate - 4 / rate + (8 - 16 - 32 + 64) * width, 8, 16 + 32 + 64)
  expect_equal(xla_grad(f)(c(0, rate, 2.5)), slope)
  mixed <- -(1 + 2 - 4) / rate^2 - (8 - 16 - 32 + 64)
  second <- (1 + 2) / rate + 64 * width
  wanted <- rbind(c(second, mixed, 24), c(mixed, 0, 0), c(24, 0, 0))
  expect_equal(xla_hessian(f)(c(0, rate, 2.5)), wanted)
})

test_that("second derivatives of densities and quantiles are the same in all modes", {
  skip_without_plugin()
  skip_unless_all()
  expect_modes_agree(last_variants(c(distribution_cases_of("d"), distribution_cases_of("q"))), 4L)
})
