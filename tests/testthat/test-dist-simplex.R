# Densities of shares, and of correlation matrices by their factors.

log_dirichlet <- function(x, a) lgamma(sum(a)) - sum(lgamma(a)) + sum(ifelse(a == 1, 0, (a - 1) * log(x)))

# By the partial correlations of the columns, which are independent: beta numbers on (-1, 1). The rest is the Jacobian
# of the factor's elements by them.
log_lkj <- function(r, eta) {
  n <- nrow(r)
  total <- 0
  for (j in seq_len(n)[-1L]) {
    left <- 1
    for (i in seq_len(j - 1L)) {
      z <- r[i, j] / sqrt(left)
      shape <- eta + (n - 1 - i) / 2
      total <- total + stats::dbeta((1 + z) / 2, shape, shape, log = TRUE) - log(2) - log(left) / 2
      left <- left - r[i, j]^2
    }
  }
  total
}

shares <- rbind(c(0.2, 0.3, 0.5), c(0.9, 0.05, 0.05), c(1, 0, 0))
alpha <- c(2, 1, 0.5)
factors <- lapply(1:5, function(n) chol(stats::cov2cor(crossprod(matrix(sin(seq_len(n^2)), n)) + diag(n))))

test_that("densities are those of their definitions, of each row, in both precisions", {
  skip_without_plugin()
  f <- function(x, a, factors, eta) {
    list(
      rows = hlo_ddirichlet(x[1:2, ], a, log = TRUE), one = hlo_ddirichlet(x[1, ], a), flat = hlo_ddirichlet(x, 1),
      each = hlo_ddirichlet(x[1:2, ], rbind(a, 2 * a), log = TRUE), single = hlo_ddirichlet(1, a[1]),
      ends = list(hlo_ddirichlet(x[3, ], c(2, 1, 1)), hlo_ddirichlet(x[3, ], c(2, 1, 3)), hlo_ddirichlet(x[3, ], a)),
      lkj = lapply(factors, function(r) hlo_dlkj_cholesky(r, eta, log = TRUE)),
      uniform = hlo_dlkj_cholesky(factors[[3]], 1),
      batch = xla_vmap(function(r) hlo_dlkj_cholesky(r, eta))(array(rep(factors[[2]], each = 2), c(2, 2, 2)))
    )
  }
  expected <- list(
    rows = c(log_dirichlet(shares[1, ], alpha), log_dirichlet(shares[2, ], alpha)),
    one = exp(log_dirichlet(shares[1, ], alpha)), flat = c(2, 2, 2),
    each = c(log_dirichlet(shares[1, ], alpha), log_dirichlet(shares[2, ], 2 * alpha)), single = 1,
    ends = list(6, 0, Inf), lkj = lapply(factors, log_lkj, 1.7), uniform = exp(log_lkj(factors[[3]], 1)),
    batch = rep(exp(log_lkj(factors[[2]], 1.7)), 2)
  )
  expect_equal(xla_jit(f)(shares, alpha, factors, 1.7), expected)
  single <- lapply(factors, pjrt_buffer, "f32")
  found <- flatten(xla_jit(f)(pjrt_buffer(shares, "f32"), pjrt_buffer(alpha, "f32"), single, pjrt_scalar(1.7, "f32")))
  expect_identical(unique(vapply(found, function(x) format(dtype(x)), "")), "<f32>")
  expect_equal(lapply(found, as_array), flatten(expected), tolerance = 1e-5, ignore_attr = TRUE)
  # The density of one correlation, and what both integrate to
  f <- xla_jit(function(rho, eta) {
    xla_vmap(function(rho) hlo_dlkj_cholesky(matrix(c(1, 0, rho, sqrt(1 - rho^2)), 2), eta))(rho)
  })
  expect_equal(stats::integrate(f, -1, 1, eta = 2.5)$value, 1, tolerance = 1e-6)
  f <- xla_jit(function(x) hlo_ddirichlet(cbind(x, 1 - x), c(1.5, 3)))
  expect_equal(f(c(0.1, 0.7)), stats::dbeta(c(0.1, 0.7), 1.5, 3))
})

test_that("what is no parameter gives NaN, what is no share has density 0, and what does not fit is refused", {
  skip_without_plugin()
  f <- xla_jit(function(x, bad, r) {
    list(
      hlo_ddirichlet(x, bad), hlo_ddirichlet(x, c(1, -1)), hlo_ddirichlet(c(-0.5, 1.5) * x / x, 1),
      hlo_ddirichlet(c(0.5, NaN) * x / x, 1), hlo_dlkj_cholesky(r, bad), hlo_dlkj_cholesky(r, -1, log = TRUE)
    )
  })
  expect_identical(f(c(0.5, 0.5), 0, diag(2)), list(NaN, NaN, 0, NaN, NaN, NaN))
  said <- function(f) expect_snapshot(xla_jit(f)(c(0.5, 0.3, 0.2)), error = TRUE, cran = TRUE)
  said(function(x) hlo_ddirichlet(x, 1:2))
  said(function(x) hlo_ddirichlet(array(1, c(1, 1, 1)), x))
  said(function(x) hlo_ddirichlet(x, "a"))
  said(function(x) hlo_ddirichlet(x, 1, log = NA))
  said(function(x) hlo_dlkj_cholesky(x, 1))
  said(function(x) hlo_dlkj_cholesky(diag(3), x))
})
