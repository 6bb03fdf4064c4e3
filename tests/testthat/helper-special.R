# Equal to some units in the last place of the larger of value and `of`.
expect_near <- function(got, want, tolerance = 1e-14, of = 1) {
  got <- as.vector(got)
  want <- as.vector(want)
  same <- (is.nan(got) & is.nan(want)) | (got == want) %in% TRUE
  off <- ifelse(same, 0, abs(got - want) / pmax(abs(want), of))
  bad <- which(!(off <= tolerance))
  expect(!length(bad), paste(c("got", got[bad], "for", want[bad], "at", bad), collapse = " "))
}

# The derivative by differences of fourth order, for functions of values
special_differences <- function(f, x, h = 1e-3 * pmax(abs(x), 0.1)) {
  f <- xla_jit(f)
  (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
}

expect_derivatives <- function(f, x, tolerance = 1e-9) {
  slope <- xla_grad(function(x) sum(f(x)))
  expect_near(slope(x), special_differences(f, x), tolerance)
  expect_near(xla_grad(function(x) sum(slope(x)))(x), special_differences(slope, x), tolerance)
}
