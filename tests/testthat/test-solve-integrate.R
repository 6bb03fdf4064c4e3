test_that("integrals are R's, with derivatives by parameters and ends to second order", {
  skip_without_plugin()
  coarse <- .Machine$double.eps^0.25
  functions <- list(
    list(function(x) sin(50 * x), 3, 0), list(dnorm, -Inf, Inf), list(function(x) exp(-x) * cos(x), 0, Inf),
    list(function(x) exp(x), -Inf, 1)
  )
  if (!all_run()) functions <- functions[c(1, 3)]
  gamma_of <- function(a) hlo_integrate(function(x) x^(a - 1) * exp(-x), 0, Inf)$value
  between <- function(p) hlo_integrate(function(x) exp(p[1] * x), p[2], p[3])$value
  out <- xla_jit(function(a, p) {
    list(
      plain = lapply(functions, function(f) {
        hlo_integrate(f[[1]], f[[2]], f[[3]], rel_tol = coarse, abs_tol = coarse)
      }),
      gamma = gamma_of(a), d1 = xla_grad(gamma_of)(a), between = list(between(p), xla_grad(between)(p)),
      nowhere = c(hlo_integrate(dnorm, Inf, Inf)$value, hlo_integrate(dnorm, -Inf, -Inf)$value)
    )
  })(2.5, c(0.5, 1, 2))
  expect_identical(out$nowhere, c(0, 0))
  for (i in seq_along(functions)) {
    f <- functions[[i]]
    reference <- stats::integrate(f[[1]], f[[2]], f[[3]])
    expect_equal(out$plain[[i]]$value, reference$value, tolerance = 1e-12)
    expect_equal(out$plain[[i]]$error, reference$abs.error, tolerance = 1e-3)
    expect_identical(out$plain[[i]]$intervals, reference$subdivisions)
    expect_true(out$plain[[i]]$converged)
  }
  g <- gamma(2.5)
  expect_equal(as.vector(out$gamma), g, tolerance = 1e-10)
  expect_equal(as.vector(out$d1), g * digamma(2.5), tolerance = 1e-8)
  exact <- function(a, b, c) (exp(a * c) - exp(a * b)) / a
  expect_equal(as.vector(out$between[[1]]), exact(0.5, 1, 2), tolerance = 1e-12)
  by_a <- function(a, b, c) (c * exp(a * c) - b * exp(a * b)) / a - exact(a, b, c) / a
  expect_equal(as.vector(out$between[[2]]), c(by_a(0.5, 1, 2), -exp(0.5), exp(1)), tolerance = 1e-9)
  skip_unless_all()
  w <- c(1, 2, 3)
  out <- xla_jit(function(a, p, w) {
    vector <- function(w) hlo_integrate(function(x) list(cos(w * x), x), 0, 1)$value[[1]]
    list(
      d2 = list(
        xla_grad(function(a) xla_jvp(gamma_of)(a, 1)$tangent)(a), xla_grad(xla_grad(gamma_of))(a),
        xla_jvp(xla_grad(gamma_of))(a, 1)$tangent, xla_grad(function(t) xla_linearize(xla_grad(gamma_of))(a)$jvp(t))(a)
      ),
      between = xla_hessian(between)(p),
      vector = list(vector(w), xla_jacobian(vector)(w), xla_grad(function(w) sum(vector(w) * w))(w)),
      tail = xla_grad(function(b) hlo_integrate(dnorm, b, Inf)$value)(p[1])
    )
  })(2.5, c(0.5, 1, 2), w)
  second <- g * (digamma(2.5)^2 + trigamma(2.5))
  for (d2 in out$d2) expect_equal(as.vector(d2), second, tolerance = 1e-8)
  h <- out$between
  expect_equal(h, t(h), tolerance = 1e-9)
  expect_equal(h[2:3, 2:3], diag(c(-0.5 * exp(0.5), 0.5 * exp(1))), tolerance = 1e-9)
  expect_equal(h[1, 2:3], c(-exp(0.5), 2 * exp(1)), tolerance = 1e-9)
  twice <- (by_a(0.5 + 1e-5, 1, 2) - by_a(0.5 - 1e-5, 1, 2)) / 2e-5
  expect_equal(h[1, 1], twice, tolerance = 1e-7)
  expect_equal(out$vector[[1]], sin(w) / w, tolerance = 1e-12)
  slope <- cos(w) / w - sin(w) / w^2
  expect_equal(out$vector[[2]], diag(slope), tolerance = 1e-9)
  expect_equal(out$vector[[3]], slope * w + sin(w) / w, tolerance = 1e-9)
  expect_equal(as.vector(out$tail), -dnorm(0.5), tolerance = 1e-12)
})

test_that("adaptive integrals end for a reason, alone and in a batch", {
  skip_without_plugin()
  wave <- function(a) hlo_integrate(function(x) cos(a * x), 0, 1, max_intervals = 40)
  out <- xla_jit(function(a) list(batch = xla_vmap(wave)(a), alone = wave(a[3])))(c(1, 100, 1000))
  expect_equal(lapply(out$batch, `[`, 3), lapply(out$alone, as.vector), tolerance = 1e-10)
  expect_identical(out$batch$reason, c(0L, 0L, 7L))
  expect_equal(out$batch$value[1:2], sin(c(1, 100)) / c(1, 100), tolerance = 1e-9)
  batch <- out$batch
  skip_unless_all()
  out <- xla_jit(function(a) {
    list(
      alone = lapply(1:2, function(i) wave(a[i])), slopes = xla_vmap(xla_grad(function(a) wave(a)$value))(a),
      back = hlo_integrate(dnorm, 1, -Inf)$value, root = hlo_integrate(function(x) 1 / sqrt(x), 0, 1),
      odd = hlo_integrate(sin, -1, 1), pole = hlo_integrate(function(x) log(x), -1, 1),
      noise = hlo_integrate(function(x) abs(x - 1 / 3), 0, 1, rel_tol = 0),
      empty = hlo_integrate(function(x) exp(x), 2, 2), infinite = hlo_integrate(function(x) exp(-x), 0, a[1] / 0),
      one = hlo_integrate(function(x) cos(100 * x), 0, 1, max_intervals = 1)
    )
  })(c(1, 100, 1000))
  for (i in 1:2) {
    expect_equal(lapply(batch, `[`, i), lapply(out$alone[[i]], as.vector), tolerance = 1e-10)
  }
  expect_true(is.nan(out$slopes[3]))
  expect_equal(out$slopes[1:2], cos(c(1, 100)) / c(1, 100) - sin(c(1, 100)) / c(1, 100)^2, tolerance = 1e-7)
  expect_equal(as.vector(out$back), -pnorm(1), tolerance = 1e-9)
  expect_equal(out$root$value, 2, tolerance = 1e-7)
  expect_equal(out$odd$value, 0, tolerance = 1e-15)
  reasons <- vapply(out[c("root", "odd", "pole", "empty", "infinite", "one")], function(part) part$reason, 0L)
  expect_identical(unname(reasons), c(0L, 0L, 9L, 0L, 9L, 7L))
  expect_equal(out$noise$value, 5 / 18, tolerance = 1e-13)
  expect_true(out$noise$reason %in% c(0L, 8L))
})

test_that("integrals have derivatives by what is wanted, in roots too, and none of ends that turn out infinite", {
  skip_without_plugin()
  skip_unless_all()
  # The derivative by the constant end would not be integrable, nor that by b.
  gamma_of <- function(a) hlo_integrate(function(x) x^(a - 1) * exp(-x), 0, Inf)$value
  root <- function(p) hlo_root(function(m) hlo_integrate(function(x) x * m * p, 0, 1)$value - 2, 1)$root
  held <- function(a, b) integrate(function(x) a * exp(-x) * log(x + b), 0, 1)$value
  above <- function(p) hlo_integrate(function(x) exp(-x * p[2]), p[1], Inf)$value
  out <- xla_jit(function(a, b, p, q, end) {
    list(
      gamma = xla_vmap(xla_grad(gamma_of))(a), root = xla_grad(root)(p), held = xla_grad(held)(p, b),
      above = xla_hessian(above)(q), reversed = xla_grad(function(p) hlo_integrate(dnorm, Inf, p)$value)(p),
      ends = list(hlo_integrate(dnorm, -Inf, end), hlo_integrate(dnorm, end, Inf))
    )
  })(c(1.5, 0.9), 0, 1.3, c(0.3, 1.2), c(end = Inf))
  expect_equal(as.vector(out$gamma), (gamma(c(1.5, 0.9)) * digamma(c(1.5, 0.9))), tolerance = 1e-7)
  expect_equal(as.vector(out$root), -4 / 1.3^2, tolerance = 1e-8)
  expect_equal(as.vector(out$held), stats::integrate(function(x) exp(-x) * log(x), 0, 1)$value, tolerance = 1e-6)
  a <- 0.3
  b <- 1.2
  second <- exp(-a * b) * matrix(c(b, a, a, a^2 / b + 2 * a / b^2 + 2 / b^3), 2)
  expect_equal(out$above, second, tolerance = 1e-8)
  expect_equal(as.vector(out$reversed), dnorm(1.3), tolerance = 1e-12)
  for (one in out$ends) {
    expect_identical(as.vector(one$value), NaN)
    expect_false(as.vector(one$converged))
  }
})

test_that("Gauss's rules are exact for polynomials", {
  skip_without_plugin()
  n <- 6
  out <- xla_jit(function() {
    list(
      legendre = hlo_quadrature(n), hermite = hlo_quadrature(n, "hermite"),
      laguerre = hlo_quadrature(n, "laguerre", alpha = 0.5),
      jacobi = hlo_quadrature(n, "jacobi", alpha = 0.5, beta = -0.3),
      zero = hlo_quadrature(n, "jacobi", alpha = -0.5, beta = -0.5), one = hlo_quadrature(1, "hermite"),
      none = hlo_quadrature(0), single = hlo_quadrature(3, dtype = "f32")
    )
  })()
  k <- 0:(2 * n - 1)
  moments <- function(rule) vapply(k, function(k) sum(rule$weights * rule$nodes^k), 0)
  even <- k %% 2 == 0
  expect_equal(moments(out$legendre), ifelse(even, 2 / (k + 1), 0), tolerance = 1e-13)
  expect_equal(moments(out$hermite), ifelse(even, gamma((k + 1) / 2), 0), tolerance = 1e-12)
  expect_equal(moments(out$laguerre), gamma(k + 1.5), tolerance = 1e-12)
  weighted <- function(a, b) {
    vapply(k, function(k) {
      # (1 - x)^a (1 + x)^b x^k, with x = 2 u - 1
      j <- 0:k
      sum(choose(k, j) * 2^j * (-1)^(k - j) * beta(b + 1 + j, a + 1)) * 2^(a + b + 1)
    }, 0)
  }
  expect_equal(moments(out$jacobi), weighted(0.5, -0.3), tolerance = 1e-10)
  # Chebyshev's
  expect_equal(out$zero$weights, rep(pi / n, n), tolerance = 1e-13)
  expect_equal(out$zero$nodes, -cos((2 * seq_len(n) - 1) * pi / 2 / n), tolerance = 1e-13)
  expect_equal(out$one, list(nodes = 0, weights = sqrt(pi)))
  expect_identical(out$none, list(nodes = numeric(), weights = numeric()))
  expect_equal(out$single$nodes, c(-1, 0, 1) * sqrt(0.6), tolerance = 1e-7)
  large <- xlaffi:::gauss_rule(150L, "legendre")
  expect_equal(sum(large$weights * cos(20 * large$nodes)), 2 * sin(20) / 20, tolerance = 1e-13)
})

test_that("what cannot be integrated is refused", {
  skip_without_plugin()
  try_it <- function(...) xla_jit(function(a) hlo_integrate(...)$value)(1)
  rule <- function(...) xla_jit(function() hlo_quadrature(...))()
  expect_snapshot(error = TRUE, {
    try_it(1, 0, 1)
    try_it(function(x) x > 0, 0, 1)
    try_it(function(x) NULL, 0, 1)
    try_it(sin, "a", 1)
    try_it(sin, c(0, 1), 1)
    try_it(sin, 0, 1, rel_tol = -1)
    try_it(sin, 0, 1, max_intervals = 0)
    try_it(sin, 0, 1, max_intervals = 1.5)
    rule(1.5)
    rule(-1)
    rule(3, "chebyshev")
    rule(3, "jacobi", alpha = -1)
    rule(3, "legendre", alpha = 1)
    rule(3, dtype = "i32")
  })
})
