# R's distribution functions are good to some 1e-14, far out and for large parameters to 1e-12.
grid_gamma <- local({
  a <- c(1e-3, 0.02, 0.5, 1, 3, 19.5, 25, 300, 1e4, 1e6)
  grid <- expand.grid(a = a, by = c(1e-8, 0.01, 0.5, 0.95, 1, 1.05, 2, 30))
  transform(grid, x = a * by)
})

test_that("the incomplete gamma functions are pgamma()", {
  skip_without_plugin()
  a <- grid_gamma$a
  x <- grid_gamma$x
  got <- xla_jit(function(a, x) {
    list(
      hlo_gammainc_p(a, x), hlo_gammainc_q(a, x), hlo_gammainc_p(a, x, log = TRUE), hlo_gammainc_q(a, x, log = TRUE),
      exp(xlaffi:::sf("log_gamma_density", a, x))
    )
  })(a, x)
  expect_near(got[[1]], pgamma(x, a), 1e-12, of = 1e-300)
  expect_near(got[[2]], pgamma(x, a, lower.tail = FALSE), 1e-12, of = 1e-300)
  expect_near(got[[3]], pgamma(x, a, log.p = TRUE), 1e-12, of = 1e-300)
  expect_near(got[[4]], pgamma(x, a, lower.tail = FALSE, log.p = TRUE), 1e-12, of = 1e-300)
  expect_near(got[[5]], dgamma(x, a), 1e-12, of = 1e-300)
})

test_that("the incomplete beta function is pbeta()", {
  skip_without_plugin()
  b <- c(1e-3, 0.7, 1, 6, 100, 1e5)
  grid <- expand.grid(a = c(1e-3, 0.4, 1, 2.5, 40, 3000), b = b, x = c(1e-9, 0.01, 0.3, 0.5, 0.9, 0.9999))
  got <- xla_jit(function(a, b, x) {
    list(
      hlo_betainc(a, b, x), hlo_betainc(a, b, x, lower = FALSE), hlo_betainc(a, b, x, log = TRUE),
      hlo_betainc(a, b, x, lower = FALSE, log = TRUE), exp(xlaffi:::sf("log_beta_density", a, b, x))
    )
  })(grid$a, grid$b, grid$x)
  want <- with(grid, list(
    pbeta(x, a, b), pbeta(x, a, b, lower.tail = FALSE), pbeta(x, a, b, log.p = TRUE),
    pbeta(x, a, b, lower.tail = FALSE, log.p = TRUE), dbeta(x, a, b)
  ))
  Map(function(got, want) expect_near(got, want, 1e-11, of = 1e-300), got, want)
})

test_that("ends and impossible parameters", {
  skip_without_plugin()
  a <- c(2, 2, 0, -1, Inf, NaN, 2)
  x <- c(-1, Inf, 1, 1, 1, 1, NaN)
  got <- xla_jit(function(a, x) list(hlo_gammainc_p(a, x), hlo_gammainc_q_inv(a, x)))(a, x)
  expect_near(got[[1]], c(0, 1, 1, NaN, 0, NaN, NaN))
  expect_near(got[[2]], c(NaN, NaN, 0, NaN, Inf, NaN, NaN))
  a <- c(2, 2, 0, 0, 2, Inf, -1)
  b <- c(3, 3, 1, 0, 0, 2, 1)
  x <- c(0, 1, 0.5, 0.5, 0.5, 0.5, 0.5)
  got <- xla_jit(function(a, b, x) hlo_betainc(a, b, x))(a, b, x)
  expect_near(got, suppressWarnings(pbeta(x, a, b)))
})

test_that("inverses invert, in both tails", {
  skip_without_plugin()
  a <- rep(c(0.05, 0.8, 3, 60, 1e5), each = 5)
  p <- rep(c(1e-200, 1e-6, 0.3, 0.7, 1 - 1e-6), 5)
  got <- xla_jit(function(a, p) {
    list(
      hlo_gammainc_p(a, hlo_gammainc_p_inv(a, p)), hlo_gammainc_q(a, hlo_gammainc_q_inv(a, p)),
      hlo_gammainc_p(a, hlo_gammainc_p_inv(a, log(p), log = TRUE)),
      hlo_betainc(a, 2.5, hlo_betainc_inv(a, 2.5, p)), hlo_betainc(0.3, a, hlo_betainc_inv(0.3, a, p)),
      hlo_betainc(a, 2.5, hlo_betainc_inv(a, 2.5, log(p), log = TRUE))
    )
  })(a, p)
  # Where x underflows there is no way back.
  there <- qgamma(p, a) > 1e-300
  for (back in got[1:3]) expect_near(back[there], p[there], 1e-11, of = 0)
  there <- qbeta(p, a, 2.5) > 1e-300
  for (back in got[c(4, 6)]) expect_near(back[there], p[there], 1e-11, of = 0)
  # Nor where it is rounded to 1, or nearly.
  there <- p > 1e-100 & a > 0.5
  expect_near(got[[5]][there], p[there], 1e-11, of = 0)
})

test_that("derivatives in all arguments are those of differences, twice", {
  skip_without_plugin()
  skip_unless_all()
  x <- c(0.3, 1.7, 6, 25)
  for (log in c(FALSE, TRUE)) {
    for (f in list(hlo_gammainc_p, hlo_gammainc_q)) {
      expect_derivatives(function(x) f(3.2, x, log), x, 1e-7)
      expect_derivatives(function(a) f(a, c(0.5, 2, 5, 30), log), x, 1e-7)
      expect_derivatives(function(a) f(a, 1.3 * a, log), x, 1e-7)
    }
    for (lower in c(TRUE, FALSE)) {
      f <- function(a, b, x) hlo_betainc(a, b, x, lower, log)
      expect_derivatives(function(x) f(2.2, 3.1, x), c(0.1, 0.5, 0.8), 1e-7)
      expect_derivatives(function(a) f(a, 3.1, c(0.1, 0.3, 0.7, 0.9)), x, 1e-7)
      expect_derivatives(function(b) f(0.7, b, c(0.7, 0.3, 0.2, 0.01)), x, 1e-7)
      expect_derivatives(function(a) f(a, 2 * a, 0.2 + 0.01 * a), x, 1e-7)
    }
  }
  p <- c(0.01, 0.3, 0.8)
  expect_derivatives(function(p) hlo_gammainc_p_inv(2.5, p), p, 1e-6)
  expect_derivatives(function(p) hlo_gammainc_q_inv(2.5, log(p), TRUE), p, 1e-6)
  expect_derivatives(function(a) hlo_gammainc_p_inv(a, 0.3), x, 1e-6)
  expect_derivatives(function(p) hlo_betainc_inv(2.5, 4, p), p, 1e-6)
  expect_derivatives(function(p) hlo_betainc_inv(2.5, 4, log(p), lower = FALSE, log = TRUE), p, 1e-6)
  expect_derivatives(function(a) hlo_betainc_inv(a, 3 + a, 0.6), x, 1e-6)
})

test_that("bad input is named", {
  skip_without_plugin()
  third <- function(f) xla_grad(function(x) sum(f(x)))
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) hlo_gammainc_p(1, x, log = NA))(1)
    xla_jit(function(x) hlo_betainc(1, 2, x, lower = "no"))(1)
    third(third(third(function(a) hlo_gammainc_p(a, 1))))(2)
  })
})
