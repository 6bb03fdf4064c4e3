# cumsum(), cumprod(), cummax() and cummin(), their derivatives, and the recurrence behind these.

running_functions <- list(cumsum = cumsum, cumprod = cumprod, cummax = cummax, cummin = cummin)

test_that("running sums, products and extrema are R's", {
  skip_without_plugin()
  inputs <- list(
    c(1.5, -2, 0, 3, 0.5), 7, c(1, NaN, 3), c(3L, 1L, 5L), c(TRUE, FALSE, TRUE), matrix(c(3, 1, 4, 1, 5, 9), 2),
    c(-Inf, 2, Inf), sin(1:1000), matrix(cos(1:300), 20)
  )
  for (x in inputs) {
    found <- xla_jit(function(x) lapply(running_functions, function(f) f(x)))(x)
    expected <- lapply(running_functions, function(f) f(x))
    expect_equal(lapply(found, as.vector), expected, tolerance = 1e-12)
    expect_identical(vapply(found, typeof, ""), vapply(expected, typeof, ""))
  }
  z <- complex(real = sin(1:5), imaginary = cos(1:5))
  expect_equal(xla_jit(cumsum)(z), cumsum(z))
  expect_equal(xla_jit(cumprod)(z), cumprod(z))
  expect_identical(xla_jit(cumsum)(numeric()), numeric())
  expect_identical(xla_jit(function(x) cumprod(sum(x)))(2), 2)
})

test_that("running sums of integers are NA from the first that is too large, and running products 0 after a zero", {
  skip_without_plugin()
  x <- c(1L, .Machine$integer.max, 2L, -5L, -.Machine$integer.max)
  expect_identical(as.vector(xla_jit(cumsum)(x)), c(1L, rep(NA, 4)))
  expect_identical(as.vector(xla_jit(cumsum)(-x)), c(-1L, rep(NA, 4)))
  expect_identical(as.vector(xla_jit(cumsum)(x[2:3])), c(x[[2]], NA))
  run <- function(x) as.vector(xla_jit(cumprod)(x))
  expect_identical(run(c(0, rep(1e300, 19))), numeric(20))
  expect_identical(run(c(2, 0, 1e300, Inf, 3)), c(2, 0, 0, NaN, NaN))
  expect_identical(run(c(rep(1e300, 3), 0, 5)), c(1e300, Inf, Inf, 0, 0))
})

test_that("derivatives of running functions, with zeros among the factors", {
  skip_without_plugin()
  skip_unless_all()
  weights <- c(0.3, -1, 2, 0.7, -0.4, 1.1, 0.9)
  h <- 1e-5
  slopes <- function(f, x) {
    vapply(seq_along(x), function(i) {
      step <- replace(0 * x, i, h)
      as.vector(f(x + step) - f(x - step)) / (2 * h)
    }, as.vector(f(x)))
  }
  for (x in list(c(1.5, -2, 0.7, 3, 0.5, -1, 2), c(1.5, 0, 0.7, 3, 0, -1, 2))) {
    for (f in running_functions) {
      # At a tie there is no second derivative.
      loss <- function(x) sum(weights * sin(f(x)))
      gradient <- xla_grad(loss)
      expect_equal(as.vector(gradient(x)), slopes(loss, x), tolerance = 1e-8)
      if (!anyDuplicated(f(x)) || identical(f, cumprod)) {
        expect_equal(xla_hessian(loss)(x), slopes(gradient, x), tolerance = 1e-7)
      }
      expect_equal(as.vector(xla_jvp(loss)(x, weights)$tangent), sum(gradient(x) * weights))
    }
  }
  # Equal neighbours count half each, as with max().
  expect_equal(as.vector(xla_grad(function(x) sum(cummax(x)))(c(1, 1))), c(1.5, 0.5))
})

test_that("long recurrences go in blocks, with the same derivatives", {
  skip_without_plugin()
  x <- 1 + sin(1:1000) / 50
  weights <- cos(1:1000)
  shares <- rev(cumsum(rev(weights * cumprod(x)))) / x
  expect_equal(as.vector(xla_grad(function(x) sum(weights * cumprod(x)))(x)), shares, tolerance = 1e-11)
  # Nothing is carried over a zero, however large the factors after it.
  x <- c(rep(10, 300), 0, rep(10, 600))
  run <- xla_jit(function(a, b) xlaffi:::recurrence(a, b, 1L))
  expect_identical(as.vector(run(x, 0 * x)), 0 * x)
})

test_that("batches of running functions and of their gradients", {
  skip_without_plugin()
  skip_unless_all()
  m <- matrix(sin(1:12), 3)
  for (f in running_functions) {
    expect_equal(xla_vmap(f)(m), t(apply(m, 1, f)))
    gradient <- xla_grad(function(x) sum(cos(f(x))))
    rows <- t(apply(m, 1, function(row) as.vector(gradient(row))))
    expect_equal(xla_vmap(gradient)(m), rows)
  }
})

test_that("what cannot run is named", {
  values_anywhere()
  z <- xlaffi:::new_parameter(ffi_type("c128", 3))
  expect_snapshot(error = TRUE, {
    cummax(z)
  })
})
