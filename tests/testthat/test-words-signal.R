data <- list(
  x = c(0.7, -1.3, 2.5, 0.2, 3.1, -0.4, 1), f = c(0.5, 0.25, -1), y = c(1, 0, 2, -1, 0.5, 3, 2), i = 1:7,
  z = c(1 + 2i, 3i, -1, 2i), m = matrix(sin(1:10), 5), l = c(TRUE, FALSE, TRUE, TRUE, FALSE, TRUE, TRUE)
)

test_that("convolve() is R's", {
  skip_without_plugin()
  expect_as_r(
    convolve(x, y), convolve(x, y, FALSE), convolve(x, f, type = "open"), convolve(f, x, type = "o"),
    convolve(x, rev(f), type = "filter"), convolve(x, f[1], type = "filter"), convolve(z, rev(z)),
    convolve(z, f, type = "open"), convolve(i, y), convolve(i, i), convolve(x, l), convolve(l, l, type = "open"),
    convolve(x, 1:2, type = "f"), convolve(x, x[1], type = "open"),
    data = data
  )
  expect_gradient(function(x, y) sum(convolve(x, y, type = "open")^2), data$x, data$f)
  expect_gradient(function(x, y) sum(convolve(x, y, type = "filter")^2), data$x, data$f, wrt = 2)
})

test_that("filter() is R's", {
  skip_without_plugin()
  expect_as_r(
    filter(x, f), filter(x, f, sides = 1), filter(x, f, circular = TRUE), filter(x, f[1:2]),
    filter(x, f[1:2], sides = 1L),
    filter(x, rep(1 / 7, 7)), filter(x, f, sides = 1, circular = TRUE), filter(x, y, circular = TRUE), filter(x, 2),
    filter(i, c(1, 1)), stats::filter(i, f, "recursive"), filter(x, f, method = "recursive"), filter(x, 0.5, "rec"),
    filter(x, f, "recursive", init = c(1, 2, 3)), filter(m, f), filter(m, f[1:2], "recursive"),
    filter(m, f[1:2], "recursive", init = matrix(1:4, 2)),
    filter(c(x, NaN, x), f), filter(c(x, NaN, x), f, "recursive"),
    data = data
  )
  long <- list(x = sin(1:150), f = cos(1:80) / 80)
  expect_as_r(filter(x, f), filter(x, f, circular = TRUE), filter(x, f, "recursive"), data = long)
  for (wrt in 1:2) {
    expect_gradient(function(x, f) sum(filter(x, f, sides = 1)[3:7]^2), data$x, data$f, wrt = wrt)
    expect_gradient(function(x, f) sum(filter(x, f, "recursive")^2), data$x, data$f, wrt = wrt)
  }
  batch <- xla_vmap(function(x) filter(x, c(0.5, 0.2), "recursive"))(rbind(data$x, data$y))
  expect_equal(batch[2, ], as.vector(filter(data$y, c(0.5, 0.2), "recursive")))
})

test_that("toeplitz() and zapsmall() are R's", {
  skip_without_plugin()
  skip_unless_all()
  expect_as_r(toeplitz(x), toeplitz(x[1]), toeplitz(i), zapsmall(x), zapsmall(x * 1e-9), zapsmall(c(x, 1e-20, 1e5)),
    zapsmall(c(x, NaN)), zapsmall(i), zapsmall(x, 2), zapsmall(m * 1e7, 3), zapsmall(0 * x), zapsmall(c(1e-300, x[0])),
    zapsmall(exp(i * 3)), atan2(x, y), atan2(i, 2L), atan2(1, x), atan2(m, 1:5), atan2(l, i),
    data = data)
  expect_gradient(function(x) sum(toeplitz(x)^2), data$x)
  expect_gradient(function(x, y) sum(atan2(x, y)), data$x, data$y, wrt = 2)
})

test_that("errors say what filters take", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, c(1, -1, 2)))
  expect_snapshot(error = TRUE, {
    trace(function(x) convolve(x, 1:2))
    trace(function(x) convolve(x, 1:2, type = "no"))
    trace(function(x) filter(x, 1:4))
    trace(function(x) filter(x, 1:2, sides = 3))
    trace(function(x) filter(x, 1:2, "recursive", init = 1))
    trace(function(x) filter(x * 1i, 1:2))
    trace(function(x) toeplitz(matrix(x)))
    trace(function(x) atan2(x, 1i))
  })
})
