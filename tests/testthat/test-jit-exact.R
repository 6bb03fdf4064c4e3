# Programs that are compiled as they are written, operation by operation.

test_that("with `exact` arithmetic is R's bit for bit", {
  skip_without_plugin()
  numbers <- withr::with_seed(1, lapply(1:3, function(i) stats::runif(1e4, -10, 10)))
  functions <- list(
    function(x, y, z) x / 3, function(x, y, z) x * y + z, function(x, y, z) x / y / z, function(x, y, z) x / (y / z),
    function(x, y, z) sqrt(x * x + y * y + z * z), function(x, y, z) (x - y) * (z + 1.1) / 7 - x * 3.3,
    function(x, y, z) x * 1.1 * 1.3, function(x, y, z) -(x - y) / 0.1, function(x, y, z) 1 / sqrt(abs(x)),
    function(x, y, z) 1 + x * (2.1 + x * (3.3 + x * 4.7)), function(x, y, z) x * 10 / 3, function(x, y, z) (x + y) - y
  )
  f <- function(x, y, z) lapply(functions, function(f) f(x, y, z))
  exact <- xla_jit(f, exact = TRUE)
  expect_identical(do.call(exact, numbers), do.call(f, numbers))
  # That this is not so otherwise is why there is the option.
  expect_false(identical(do.call(xla_jit(f), numbers), do.call(f, numbers)))
  expect_identical(do.call(exact, numbers), do.call(f, numbers))
})

test_that("`exact` is TRUE or FALSE, and works with derivatives", {
  skip_without_plugin()
  expect_error(xla_jit(sqrt, exact = NA), "`exact` must be TRUE or FALSE", class = "xlaffi_error_invalid_argument")
  x <- c(0.1, 0.7, 2.3)
  expect_identical(xla_jit(xla_grad(function(x) sum(x / 3)), exact = TRUE)(x), rep(1 / 3, 3))
})
