test_that("Bessel functions are R's", {
  skip_without_plugin()
  grid <- expand.grid(nu = c(0, 0.3, 1, 2.5, 7, 30), x = c(0, 1e-4, 0.5, 1.99, 2, 5, 20, 26, 300))
  got <- xla_jit(function(x, nu) {
    list(
      besselJ(x, nu), besselY(x, nu), besselI(x, nu),
      besselK(x, nu), besselI(x, nu, TRUE), besselK(x, nu, TRUE)
    )
  })(grid$x, grid$nu)
  want <- suppressWarnings(with(grid, list(
    besselJ(x, nu), besselY(x, nu), besselI(x, nu), besselK(x, nu), besselI(x, nu, TRUE), besselK(x, nu, TRUE)
  )))
  # R has Inf where Y is 1e300 and more
  far <- abs(want[[2]]) > 1e290
  expect_near(got[[1]], want[[1]], 1e-12, of = 0.01)
  expect_near(got[[2]][!far], want[[2]][!far], 1e-12, of = 0.01)
  for (i in 3:6) expect_near(got[[i]], want[[i]], 1e-12, of = 1e-290)
  expect_near(xla_jit(function(x) besselJ(x, -0.4))(c(0.3, 4)), besselJ(c(0.3, 4), -0.4), 1e-13)
  expect_near(xla_jit(function(x) besselI(x, -1.4))(c(0.3, 4)), besselI(c(0.3, 4), -1.4), 1e-13)
  expect_near(xla_jit(function(x) besselK(x, 1L))(-1), NaN)
})

test_that("integrals are those of integrate()", {
  skip_without_plugin()
  x <- c(0.01, 0.4, 1, 1.5, 7)
  got <- xla_jit(function(x) {
    list(hlo_expint(x), hlo_expint(x, 3), hlo_expint_ei(-x), hlo_owens_t(x, 0.7), hlo_owens_t(x, -5), hlo_lambert_w(x))
  })(x)
  integral <- function(f, from, to) vapply(x, function(x) integrate(f, from, to, x = x, rel.tol = 1e-12)$value, 0)
  expect_near(got[[1]], integral(function(t, x) exp(-x * t) / t, 1, Inf), 1e-9)
  expect_near(got[[2]], integral(function(t, x) exp(-x * t) / t^3, 1, Inf), 1e-9)
  expect_near(got[[3]], -got[[1]])
  owen <- function(t, x) exp(-x^2 * (1 + t^2) / 2) / (1 + t^2) / (2 * pi)
  expect_near(got[[4]], integral(owen, 0, 0.7), 1e-11)
  expect_near(got[[5]], -integral(owen, 0, 5), 1e-11)
  expect_near(got[[6]] * exp(got[[6]]), x)
})

test_that("derivatives are those of differences, twice", {
  skip_without_plugin()
  skip_unless_all()
  x <- c(0.4, 1.8, 3.7, 30)
  for (nu in c(0, 0.5, 3)) {
    expect_derivatives(function(x) besselJ(x, nu), x, 1e-7)
    expect_derivatives(function(x) besselY(x, nu), x, 1e-6)
    expect_derivatives(function(x) besselI(x, nu, TRUE), x, 1e-7)
    expect_derivatives(function(x) besselI(x, nu), x[1:3], 1e-7)
    expect_derivatives(function(x) besselK(x, nu, TRUE), x, 1e-6)
    expect_derivatives(function(x) besselK(x, nu), x, 1e-6)
  }
  for (f in list(
    hlo_expint, hlo_expint_ei, hlo_lambert_w, function(x) hlo_expint(x, 2), function(x) hlo_owens_t(x, 0.3),
    function(a) hlo_owens_t(0.5, a)
  )) {
    expect_derivatives(f, x[1:3], 1e-7)
  }
})

test_that("logarithms of sums", {
  skip_without_plugin()
  x <- c(-Inf, -800, -1, 0, 2, 800, Inf, NaN)
  got <- xla_jit(function(x) list(hlo_log1pexp(x), hlo_logaddexp(x, 1), hlo_logaddexp(x, x), hlo_log1mexp(x)))(x)
  expect_near(got[[1]], ifelse(x > 50, x, log1p(exp(x))))
  expect_near(got[[2]], ifelse(x > 50, x, log(exp(x) + exp(1))))
  expect_near(got[[3]], x + log(2))
  expect_near(got[[4]][4:7], log(-expm1(-x[4:7])), 1e-15, of = 0)
  m <- matrix(c(1000, 1001, -Inf, -Inf, 3, -Inf, Inf, 0, NaN, 1), 2)
  got <- xla_jit(function(m) list(hlo_logsumexp(m, 1), hlo_logsumexp(m[, 1:3]), hlo_logsumexp(m[, 2], 1)))(m)
  expect_near(got[[1]], c(1001 + log1p(exp(-1)), -Inf, 3, Inf, NaN))
  expect_near(got[[2]], 1001 + log1p(exp(-1)))
  expect_near(got[[3]], -Inf)
  y <- c(-2, 0, 0.5, 3)
  for (f in list(
    hlo_log1pexp, function(x) hlo_logaddexp(x, 0.3), function(x) hlo_logaddexp(0.3, x),
    function(x) hlo_log1mexp(x + 3)
  )) {
    expect_derivatives(f, y, 1e-8)
  }
  share <- exp(y) / sum(exp(y))
  expect_near(xla_grad(hlo_logsumexp)(y), share)
  expect_near(xla_hessian(function(x) hlo_logsumexp(x))(y), diag(share) - outer(share, share))
  expect_near(xla_grad(function(x) sum(hlo_logaddexp(x, x)))(c(1, -2)), c(1, 1))
  expect_near(xla_grad(function(x) sum(hlo_logsumexp(x)))(c(1, -Inf)), c(1, 0))
  batch <- xla_vmap(function(x) hlo_logsumexp(x))(matrix(1:6 + 0, 2))
  expect_near(batch, apply(matrix(1:6 + 0, 2), 1, function(x) log(sum(exp(x)))))
})

test_that("bad input is named", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) besselI(x, 1, expon.scaled = NA))(1)
    xla_grad(function(nu) besselJ(1, nu))(1)
    xla_grad(function(p) besselK(p[1], p[2]))(c(2, 0.5))
    xla_jit(function(x) hlo_logsumexp(x, 2))(1)
    xla_jit(function(x) hlo_log1pexp(x))(1i)
  })
  fixed <- xla_grad(function(p) besselK(p[1], xla_stop_gradient(p[2])))(c(2, 0.5))
  expect_near(fixed, c(-(besselK(2, 0.5) * 0.25 + besselK(2, 0.5)), 0))
})

test_that("exponential integrals have second derivatives at 0 in reverse mode", {
  skip_without_plugin()
  orders <- c(3, 4, 5, 0)
  x <- c(0, 0, 0, 1.3)
  second <- function(x) xla_grad(function(x) sum(xla_grad(function(x) sum(hlo_expint(x, orders)))(x)))(x)
  expect_equal(second(x), c(Inf, 1, 0.5, exp(-1.3) * (1 / 1.3 + 2 / 1.3^2 + 2 / 1.3^3)))
})
