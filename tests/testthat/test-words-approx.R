data <- list(
  x = c(1, 3, 4, 7, 9), y = c(2, -1, 0.5, 3, 10), u = c(4, 1, 9, 3, 3), v = c(0, 1, 2.5, 3, 3.7, 4, 9, 9.5, NaN),
  n = c(2, NaN, 0.5, 3, 1)
)

test_that("approx() is R's", {
  skip_without_plugin()
  expect_as_r(
    approx(x, y, v), approx(x, y, v, rule = 2), approx(x, y, v, rule = 1:2), approx(x, y, v, yleft = -9, yright = 9),
    approx(x, y, v, "constant"), approx(x, y, v, "constant", f = 0.3, rule = 2), approx(x, y, v, "constant", f = 1),
    approx(u, y, v), approx(u, y, v, "constant", rule = 2), approx(x, n, v), approx(n, y, v, rule = 2),
    approx(y, xout = v),
    approx(1:5, y, v), approx(x, 5:1, c(2, 4.5)), approx(list(x = x, y = y), xout = 5)$y, approx(x, y, n = 7),
    approx(x, y, v, ties = "ordered"), approx(x, n, v, ties = "ordered"), approx(u, y, v, ties = mean),
    approx(cbind(x, y), xout = v), approx(cbind(u, y, x), n = 3), approx(cbind(y), xout = v),
    approx(matrix(1:6, 3), xout = v), approx(complex(real = x, imaginary = y), xout = v),
    approx(x[1], y[1], v, "constant", rule = 2), approx(n, y, n = 4), approx(x, y, numeric()),
    data = data
  )
  f <- function(x, y, v) sum(approx(x, y, v)$y^2)
  for (wrt in one_in(3L, 1:3)) {
    expect_gradient(f, data$x, data$y, c(1.5, 3.7, 8), wrt = wrt)
  }
  skip_unless_all()
  # At the knots: the piece to the right, and the last one at the end; the results are the knots' own.
  at <- list(value = xla_jit(approx), slope = xla_grad(function(v, x, y) sum(approx(x, y, v)$y)))
  expect_identical(as.vector(at$value(data$x, data$y, data$x)$y), data$y)
  slopes <- diff(data$y) / diff(data$x)
  expect_equal(as.vector(at$slope(data$x, data$x, data$y)), c(slopes, slopes[4]))
  by_function <- xla_grad(function(v) sum(approxfun(data$x, data$y)(v)))
  expect_equal(as.vector(by_function(data$x)), c(slopes, slopes[4]))
  batch <- xla_vmap(function(y) approx(c(1, 2, 4), y, c(1.5, 3))$y)(rbind(1:3 + 0, c(2, 5, 9)))
  expect_equal(batch, rbind(approx(c(1, 2, 4), 1:3, c(1.5, 3))$y, approx(c(1, 2, 4), c(2, 5, 9), c(1.5, 3))$y))
})

test_that("errors say what approx() takes", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, c(1, -1, 2)))
  expect_snapshot(error = TRUE, {
    trace(function(x) approx(x, 1:2, 1))
    trace(function(x) approx(x[1], 1, 1))
    trace(function(x) approx(x, x, 1, rule = 3))
    trace(function(x) approx(x, x, 1, ties = min))
    trace(function(x) approx(x, x, 1, "cubic"))
    trace(function(x) approx(x, x, 1, yleft = 1:2))
  })
})

test_that("places from one end to the other end there", {
  skip_without_plugin()
  expect_as_r(
    tail(approx(x, 1:4)$y, 1), tail(approx(x, 1:4)$x, 1) == max(x), approx(x, 1:4, n = 1)$x, approx(x, 1:4, n = 1.5),
    tail(spline(c(0.7, 0.3, 0.9, 0.31), x)$x, 1) == 0.9, spline(1:4, x, n = 1.5), spline(1:4, x, n = 1)$y,
    tail(seq(x[2], x[3], length.out = 50), 1) == x[3],
    data = list(x = c(0.7, 0.3, 0.9, 0.31))
  )
})

test_that("the places that approx() was given come back as they came", {
  skip_without_plugin()
  expect_as_r(
    approx(x, 1:4, xout = matrix(0.4, 1, 2)), approx(1:4, x, xout = 2L), approx(1:4, x, xout = c(TRUE, TRUE)),
    approx(1:4, c(2, 4, 8, 16), xout = matrix(x + 2, 2)), approx(1:4, x, xout = as.integer(10 * x[3:4]) %/% 3L),
    data = list(x = c(0.7, 0.3, 0.9, 0.31))
  )
  expect_identical(
    xla_jit(function(x) approx(x, 1:4, xout = NULL))(c(0.7, 0.3, 0.9, 0.31)), list(x = NULL, y = numeric())
  )
  refused <- function(f, message) expect_error(xla_program(f, c(1, 2)), message, class = "xlaffi_error")
  refused(function(x) approx(1:2, x, 1.5, yright = 1:2), "`yright` must be one number")
  refused(function(x) spline(1:2, x, xout = numeric(0)), "`xout` must have one element")
})
