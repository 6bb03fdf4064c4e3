a <- matrix(c(2, 0.3, -1, 0.5, 3, 0.2, 1, -2, 4), 3)
b <- matrix(c(1, 2, 3, 4, 5, 6), 3)

test_that("triangular systems are solved as R solves them", {
  skip_without_plugin()
  all_ways <- function(a, b) {
    list(
      backsolve(a, b), backsolve(a, b[, 1]), backsolve(a, b, transpose = TRUE), backsolve(a, b, upper.tri = FALSE),
      backsolve(a, b, k = 2), backsolve(a, b, 2, FALSE, TRUE), forwardsolve(a, b), forwardsolve(a, b, transpose = TRUE),
      forwardsolve(a, b[, 2], upper.tri = TRUE), forwardsolve(a, c(1, 2, 3)), chol2inv(a), chol2inv(a, size = 2),
      chol2inv(chol(a %*% t(a)))
    )
  }
  expect_equal(xla_jit(all_ways)(a, b), all_ways(a, b), tolerance = 1e-13)
  expect_equal(xla_jit(function(b) backsolve(a, b))(b), backsolve(a, b), tolerance = 1e-14)
  expect_equal(xla_jit(function(x) backsolve(x, x))(3), backsolve(3, 3))
  expect_identical(xla_jit(function(a, b) backsolve(a, b))(matrix(2L), 4L), 2)
})

test_that("triangular systems have derivatives and batches", {
  skip_without_plugin()
  f <- function(a, b) sum(sin(backsolve(a, b)) + forwardsolve(a, b, transpose = TRUE)) + sum(chol2inv(a)^2)
  value <- xla_jit(f)
  differences <- a
  for (i in seq_along(a)) {
    step <- replace(a * 0, i, 1e-6)
    differences[i] <- (value(a + step, b) - value(a - step, b)) / 2e-6
  }
  expect_equal(xla_grad(f)(a, b), differences, tolerance = 1e-8)
  batch <- array(c(a, 2 * a), c(3, 3, 2))
  expect_equal(
    xla_vmap(function(a, b) backsolve(a, b), in_axes = list(3, NULL), out_axes = 3)(batch, b),
    array(c(backsolve(a, b), backsolve(2 * a, b)), c(3, 2, 2)), tolerance = 1e-14
  )
})

test_that("systems that do not fit are refused", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_jit(function(a) backsolve(a, c(1, 2)))(a)
    xla_jit(function(a, b) backsolve(a, b, k = 4))(a, b)
    xla_jit(function(a, b) forwardsolve(a, b, k = 0))(a, b)
    xla_jit(function(a, b) backsolve(a, b, upper.tri = NA))(a, b)
    xla_jit(function(a, b) backsolve(a, b))(a, array(1, c(3, 1, 1)))
    xla_jit(function(a, b) backsolve(a, "b"))(a, b)
    xla_jit(function(a) chol2inv(a, size = 4))(a)
    xla_jit(function(a) chol2inv(a, LINPACK = TRUE))(a)
    xla_jit(function(a) backsolve(a, a))(a + 0i)
  })
})
