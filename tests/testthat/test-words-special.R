test_that("the gamma family is R's", {
  skip_without_plugin()
  x <- c(1e-310, 1e-5, 0.3, 1, 1.46, 2, 5, 10.5, 30, 170, 1e5, 1e300, 0, -1, -0.5, -2.3, -20.7, NaN, Inf)
  got <- xla_jit(function(x) {
    list(
      gamma(x), lgamma(x), digamma(x), trigamma(x), factorial(x), lfactorial(x), psigamma(x, 2),
      psigamma(x, 5L), psigamma(x, 1.6)
    )
  })(x)
  want <- suppressWarnings(list(
    gamma(x), lgamma(x), digamma(x), trigamma(x), factorial(x), lfactorial(x), psigamma(x, 2), psigamma(x, 5L),
    psigamma(x, 2)
  ))
  Map(function(got, want) expect_near(got, want, 2e-13), got, want)
})

test_that("beta and binomial coefficients are R's", {
  skip_without_plugin()
  a <- c(1e-3, 0.5, 3, 12, 200, 1e6, 0, Inf, NaN, 2)
  b <- c(2, 1e-5, 4, 300, 1e5, 1e6, 1, 2, 1, -1)
  got <- xla_jit(function(a, b) list(beta(a, b), lbeta(b, a)))(a, b)
  want <- suppressWarnings(list(beta(a, b), lbeta(a, b)))
  Map(function(got, want) expect_near(got, want, 1e-13), got, want)
  n <- c(5, 5, 5, 5, 50, 60, -2.5, -3, 0.5, 7.25, 1000, NaN, 0)
  k <- c(2, 2.7, -1, 7, 3, 30, 3, 2, 40, 31, 985, 1, 0)
  got <- xla_jit(function(n, k) list(choose(n, k), lchoose(n, k)))(n, k)
  want <- suppressWarnings(list(choose(n, k), lchoose(n, k)))
  Map(function(got, want) expect_near(got, want, 1e-13), got, want)
})

test_that("the normal distribution's function is R's, far into the tails", {
  skip_without_plugin()
  x <- c(-1e5, -100, -37.4, -10, -3, -1, -0.5, -1e-10, 0, 0.3, 1, 5, 8, 40, -Inf, Inf, NaN)
  got <- xla_jit(function(x) {
    list(hlo_ndtr(x), hlo_log_ndtr(x), 2 * hlo_ndtr(x * sqrt(2)) - 1 - hlo_erf(x), hlo_erf(x) + hlo_erfc(x))
  })(x)
  expect_near(got[[1]], pnorm(x), 1e-12, of = 0)
  expect_near(got[[2]], pnorm(x, log.p = TRUE), 1e-12, of = 0)
  expect_near(got[[3]], 0 * pnorm(x))
  expect_near(got[[4]], 1 + 0 * pnorm(x))
  p <- c(0, 1e-300, 1e-20, 0.01, 0.3, 0.5, 0.7, 0.999, 1, -1, NaN)
  got <- xla_jit(function(p) {
    list(hlo_ndtri(p), hlo_ndtri_exp(-p), hlo_erf(hlo_erfinv(p)), hlo_erfc(hlo_erfcinv(p)))
  })(p)
  want <- suppressWarnings(list(qnorm(p), ifelse(p < 0, NaN, qnorm(-expm1(-p), lower.tail = FALSE))))
  expect_near(got[[1]], want[[1]], 1e-14)
  expect_near(got[[2]], want[[2]], 1e-14)
  expect_near(got[[3]], p, 1e-14)
  expect_near(got[[4]], ifelse(p < 0, NaN, p), 1e-12, of = 0)
})

test_that("derivatives are those of differences, twice", {
  skip_without_plugin()
  skip_unless_all()
  x <- c(0.4, 1.3, 2.6, 7.2)
  for (f in list(gamma, lgamma, digamma, function(x) psigamma(x, 3), function(x) hlo_zeta(2.5, x))) {
    expect_derivatives(f, x, 1e-8)
  }
  for (f in list(
    function(x) beta(x, 2.5), function(x) beta(1.5, x),
    function(x) lbeta(x, 2 * x), function(x) choose(x, 2),
    function(x) choose(-x, 3), function(x) lchoose(x + 3, 2)
  )) {
    expect_derivatives(f, x, 1e-8)
  }
  x <- c(-2.4, -0.7, 0.01, 1.9)
  for (f in list(hlo_erf, hlo_erfc, hlo_erfcx, hlo_ndtr, hlo_log_ndtr)) {
    expect_derivatives(f, x, 1e-8)
  }
  # Of slopes that cancel: 50 digits of 2 x erfcx(x) - 2 / sqrt(pi)
  slope <- xla_grad(function(x) sum(hlo_erfcx(x)))(c(49.999, 50.001, 60, 1e8, Inf))
  known <- c(-2.255495796227167e-4, -2.255315471884721e-4, -1.566540743459432e-4, -5.641895835477562e-17, 0)
  expect_equal(as.vector(slope), known, tolerance = 2e-12)
  expect_equal(diag(xla_hessian(function(x) sum(pnorm(x, log.p = TRUE)))(c(-1e3, -1e7, -1e50))),
    c(-1 + 1e-6 - 6e-12, -1, -1), tolerance = 1e-12
  )
  for (f in list(hlo_erfinv, hlo_erfcinv, hlo_ndtri, function(x) hlo_ndtri_exp(-x))) {
    expect_derivatives(f, c(0.1, 0.4, 0.6, 0.9), 1e-7)
  }
  expect_identical(as.vector(xla_grad(function(k) sum(choose(5, k)))(c(2, 3))), c(0, 0))
})

test_that("dtypes, shapes and batches", {
  skip_without_plugin()
  got <- xla_jit(function(x) lgamma(x))(pjrt_buffer(c(0.5, 3, 100), "f32"))
  expect_identical(as.character(dtype(got)), "f32")
  expect_equal(as.vector(as_array(got)), lgamma(c(0.5, 3, 100)), tolerance = 1e-6)
  expect_equal(xla_jit(function(x) gamma(x))(5L), 24)
  x <- matrix(1:6 + 0.5, 2)
  expect_equal(xla_jit(function(x) lgamma(x))(x), lgamma(x), tolerance = 1e-14)
  expect_length(xla_jit(function(x) lgamma(x))(numeric()), 0)
  expect_equal(xla_vmap(function(x, b) beta(x, b), list(1, NULL))(x, 1:3 + 0), t(apply(x, 1, beta, 1:3)))
  # Chunks that threads share
  many <- seq(0.01, 50, length.out = 5003)
  expect_near(xla_jit(function(x) lgamma(x))(many), lgamma(many), 1e-14)
})

test_that("bad input is named", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) hlo_erf("a"))(1)
    xla_jit(function(x) lgamma(x))(1i)
    xla_jit(function(x) lgamma(x, 2))(1)
    xla_jit(function(x) hlo_polygamma(1, hlo_convert(x, "f16")))(1)
    xla_grad(function(n) hlo_zeta(n, 1))(2)
  })
})
