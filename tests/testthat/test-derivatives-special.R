# Derivatives of all functions of the crate `special`: the tables of rules and of points have the same names.

names_of_rules <- function() ls(xlaffi:::special_slopes)

all_special_cases <- function() unlist(lapply(names_of_rules(), special_cases), recursive = FALSE)

test_that("every special function with a rule has points", {
  missing <- Filter(function(name) is.null(special_points_of(name)), names_of_rules())
  expect_identical(missing, character())
  families <- c("gamma_family", "beta_family", "gamma_inverse", "beta_inverse")
  expect_identical(setdiff(names(special_points), c(names_of_rules(), families)), character())
  for (name in names_of_rules()) {
    expect_length(special_points_of(name), length(xlaffi:::special_slopes[[name]]))
  }
})

test_that("special functions have first and second derivatives", {
  skip_without_plugin()
  expect_derivatives_right(one_in(3L, all_special_cases()), 20L)
})

test_that("second derivatives of special functions are the same in all modes", {
  skip_without_plugin()
  skip_unless_all()
  expect_modes_agree(Filter(function(case) !case$first, all_special_cases()), 20L)
})
