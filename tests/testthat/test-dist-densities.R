# Densities for which R has no function, beside their definitions in R.

# A Poisson number of gamma numbers
log_tweedie <- function(x, mu, phi, p) {
  count <- mu^(2 - p) / (phi * (2 - p))
  if (x == 0) {
    return(-count)
  }
  shape <- (2 - p) / (p - 1)
  j <- seq_len(1000 + 20 * ceiling(count + x^(2 - p) / (phi * (2 - p))))
  logs <- dpois(j, count, log = TRUE) + dgamma(x, shape * j, scale = phi * (p - 1) * mu^(p - 1), log = TRUE)
  max(logs) + log(sum(exp(logs - max(logs))))
}

log_compois <- function(x, lambda, nu) {
  j <- 0:5000
  logs <- j * log(lambda) - nu * lfactorial(j)
  x * log(lambda) - nu * lfactorial(x) - max(logs) - log(sum(exp(logs - max(logs))))
}

log_beta_binomial <- function(x, n, mu, phi) {
  a <- mu * phi
  b <- (1 - mu) * phi
  lchoose(n, x) + lbeta(x + a, n - x + b) - lbeta(a, b)
}

log_genpois <- function(x, mu, phi) {
  first <- mu / sqrt(phi)
  rate <- first + x * (1 - 1 / sqrt(phi))
  inside <- rate > 0
  rate <- ifelse(inside, rate, 1)
  ifelse(inside, log(first) + (x - 1) * log(rate) - rate - lfactorial(x), -Inf)
}

counts <- c(0:4, 9, 30)
tweedie <- expand.grid(
  x = c(0, 1e-4, 0.3, 2, 40, 1e3), mu = c(0.2, 3, 50), phi = c(0.05, 1, 20), p = c(1.02, 1.4, 1.95)
)
shapes <- expand.grid(x = counts, mean = c(0.01, 0.7, 6, 60), nu = c(0.3, 1, 1.7, 5))
mixed <- expand.grid(x = counts, mu = c(0.02, 0.5, 0.97), phi = c(0.1, 3, 1e4))
dispersed <- expand.grid(x = counts, mu = c(0.05, 1, 12), phi = c(0.7, 1, 4))

test_that("densities of families are those of their definitions", {
  skip_without_plugin()
  densities <- list(
    function(t, s, m, d) hlo_dtweedie(t$x, t$mu, t$phi, t$p, TRUE),
    function(t, s, m, d) hlo_dcompois(s$x, nu = s$nu, lambda = s$mean^s$nu, log = TRUE),
    function(t, s, m, d) hlo_dbetabinom(m$x, 30, m$mu, m$phi, log = TRUE),
    function(t, s, m, d) hlo_dgenpois(d$x, d$mu, d$phi, log = TRUE),
    function(t, s, m, d) hlo_dztpois(d$x, d$mu, log = TRUE),
    function(t, s, m, d) hlo_dztnbinom(d$x, d$phi, mu = d$mu, log = TRUE),
    function(t, s, m, d) hlo_dztnbinom(m$x, m$phi, m$mu),
    function(t, s, m, d) hlo_dzeroinflated(m$x, m$mu, dpois(m$x, m$phi, log = TRUE)),
    function(t, s, m, d) hlo_dzerotruncated(m$x, dbinom(m$x, 40, m$mu, log = TRUE), 40 * log1p(-m$mu), TRUE),
    function(t, s, m, d) hlo_dordbeta(c(0, 0.2, 0.9, 1), 0.4, m$phi[22], -1, 2, log = TRUE)
  )
  some <- one_in(2L, seq_along(densities))
  found <- xla_jit(function(t, s, m, d) lapply(densities[some], function(f) f(t, s, m, d)))(
    as.list(tweedie), as.list(shapes), as.list(mixed), as.list(dispersed)
  )
  eta <- c(0.4 + 1, 0.4 - 2)
  between <- log(plogis(eta[1]) - plogis(eta[2])) + dbeta(c(0.2, 0.9), 3 * plogis(0.4), 3 * plogis(-0.4), log = TRUE)
  none <- function(x, y) ifelse(x == 0, -Inf, y)
  expected <- list(
    do.call(mapply, c(log_tweedie, unname(tweedie))),
    with(shapes, mapply(log_compois, x, mean^nu, nu)), with(mixed, log_beta_binomial(x, 30, mu, phi)),
    with(dispersed, log_genpois(x, mu, phi)),
    with(dispersed, none(x, dpois(x, mu, TRUE) - log1p(-dpois(0, mu)))),
    with(dispersed, none(x, dnbinom(x, phi, mu = mu, log = TRUE) - log1p(-dnbinom(0, phi, mu = mu)))),
    with(mixed, exp(none(x, dnbinom(x, phi, mu, log = TRUE) - log1p(-dnbinom(0, phi, mu))))),
    with(mixed, mu * (x == 0) + (1 - mu) * dpois(x, phi)),
    with(mixed, none(x, dbinom(x, 40, mu, TRUE) - log1p(-(1 - mu)^40))),
    c(plogis(-eta[1], log.p = TRUE), between, plogis(eta[2], log.p = TRUE))
  )
  expect_length(expected, length(densities))
  for (k in seq_along(some)) expect_equal(found[[k]], expected[[some[[k]]]], tolerance = 1e-11, label = some[[k]])
})

test_that("probabilities sum up to 1, and means are those that are asked for", {
  skip_without_plugin()
  skip_unless_all()
  k <- rep(0:400, 3)
  mean <- rep(c(0.01, 2, 40), each = 401)
  f <- function(mean, nu) {
    densities <- list(
      hlo_dcompois(k, mean, nu), hlo_dgenpois(k, mean, 1 + nu), hlo_dbetabinom(k, 300, mean / 300, nu)
    )
    lapply(densities, function(p) list(colSums(matrix(p, 401)), colSums(matrix(k * p, 401))))
  }
  found <- xla_jit(f)(mean, rep(c(4, 0.6, 1.3), each = 401))
  expect_equal(found, rep(list(list(c(1, 1, 1), c(0.01, 2, 40))), 3))
  # The density of positive numbers and the probability of 0
  x <- seq(0, 200, length.out = 4001)
  g <- function(mu) list(hlo_dtweedie(x[-1], mu, 2, 1.4), hlo_dtweedie(0, mu, 2, 1.4))
  found <- xla_jit(g)(6)
  expect_equal(sum(found[[1]]) * x[2] + 0.5 * x[2] * found[[1]][1] + found[[2]], 1, tolerance = 1e-3)
  expect_equal(sum(found[[1]] * x[-1]) * x[2], 6, tolerance = 1e-4)
})

test_that("numbers outside of the support have no probability, parameters that are none give NaN, limits are R's", {
  skip_without_plugin()
  skip_unless_all()
  bad <- c(-1, NaN, 0)
  # A call of each function: numbers outside of the support, parameters that are none, and limits, in this order
  f <- function(bad, none) {
    ones <- function(n) rep(1, n)
    same <- function(n) hlo_broadcast(none, n)
    list(
      tweedie = hlo_dtweedie(
        c(-1, Inf, ones(12), NaN, 1), c(same(2), bad, ones(10), 1e9), c(ones(5), bad, ones(7), 1e-12),
        c(rep(1.5, 8), 2 - bad, 1 + bad, 1.5, 1.5)
      ),
      compois = hlo_dcompois(
        c(-1, 0.5, Inf, ones(6), NaN, 1, 0:2), c(ones(3), bad, ones(5), 2, 2, 2),
        c(same(3), ones(3), bad, 1, 1e-9, same(3))
      ),
      compois_lambda = hlo_dcompois(1, nu = 1, lambda = bad),
      betabinom = hlo_dbetabinom(
        c(-1, 0.5, 6, Inf, ones(7), 0, 1, 0, 1, 5, 0), c(rep(5, 9), bad[1:2], rep(5, 5), 0),
        c(rep(0.5, 7), bad[1:2], 0.5, 0.5, 0.3, 0.3, 0, 0, 1, 0.5), c(same(4), bad, ones(4), Inf, Inf, same(1), ones(3))
      ),
      genpois = hlo_dgenpois(
        c(-1, 0.5, Inf, 50, ones(6), 0:2), c(same(4), bad, ones(3), 2, 2, 2), c(2, 2, 2, 0.25, ones(3), bad, same(3))
      ),
      ztpois = hlo_dztpois(c(0, -1, 0.5, ones(3)), c(same(3), bad)),
      ztnbinom = hlo_dztnbinom(c(0, 0.5, ones(6)), c(same(2), bad, ones(3)), c(rep(0.5, 5), bad)),
      ztnbinom_mu = hlo_dztnbinom(1, 1, mu = bad), zerotruncated = hlo_dzerotruncated(1, -1, -bad),
      ordbeta = hlo_dordbeta(
        c(-1, 2, rep(0.5, 6)), 0, c(same(2), bad, ones(3)), c(numeric(5), ones(3)), c(ones(5), bad)
      ),
      zeroinflated = hlo_dzeroinflated(
        c(3, 3, 1, 1, 0, 1, 0, 1), c(same(1), 0.5, bad[1:2], 0, 0, 1, 1), c(-Inf, -Inf, -1, -1, -1 * same(4))
      )
    )
  }
  nan <- function(n) rep(NaN, n)
  expect_equal(xla_jit(f)(bad, 1), list(
    tweedie = c(0, 0, nan(14)), compois = c(0, 0, 0, nan(8), dpois(0:2, 2)), compois_lambda = nan(3),
    betabinom = c(0, 0, 0, 0, nan(7), dbinom(0:1, 5, 0.3), 1, 0, 1, 1),
    genpois = c(0, 0, 0, 0, nan(6), dpois(0:2, 2)), ztpois = c(0, 0, 0, nan(3)), ztnbinom = c(0, 0, nan(6)),
    ztnbinom_mu = nan(3), zerotruncated = nan(3), ordbeta = c(0, 0, nan(6)),
    zeroinflated = c(0, 0, NaN, NaN, exp(-1), exp(-1), 1, 0)
  ))
})

test_that("at an end of a parameter the slope is that from inside", {
  skip_without_plugin()
  skip_unless_all()
  beta_binomial <- function(x, mu) choose(5, x) * beta(x + 2 * mu, 7 - x - 2 * mu) / beta(2 * mu, 2 - 2 * mu)
  inflated <- function(x, p) (x == 0) * p + (1 - p) * exp(-1)
  xs <- c(0, 1, 4, 5)
  slopes <- xla_jit(function(mu, p) {
    list(
      bb = xla_jacobian(function(mu) hlo_dbetabinom(xs, 5, mu, 2))(mu),
      log_bb = xla_jacobian(function(mu) hlo_dbetabinom(c(0, 5), 5, mu, 2, log = TRUE))(mu),
      zi = xla_jacobian(function(p) hlo_dzeroinflated(c(0, 1), p, -1))(p),
      log_zi = xla_jacobian(function(p) hlo_dzeroinflated(0, p, -1, log = TRUE))(p),
      none = xla_jacobian(function(p) hlo_dzeroinflated(0, p, -Inf))(p)
    )
  })
  h <- 1e-7
  for (end in c(0, 1)) {
    found <- slopes(end, end)
    inside <- abs(end - h * 1:2)
    by <- function(f) (f(inside[[2L]]) - f(inside[[1L]])) / diff(inside)
    expect_equal(as.vector(found$bb), by(function(mu) beta_binomial(xs, mu)), tolerance = 1e-5)
    expect_equal(found$log_bb[[1L + end]], c(-2.9, 2.9)[[1L + end]], tolerance = 1e-12)
    expect_equal(as.vector(found$zi), by(function(p) inflated(0:1, p)), tolerance = 1e-5)
    expect_equal(c(found$log_zi), by(function(p) log(inflated(0, p))), tolerance = 1e-5)
    expect_identical(c(found$none), 1)
  }
})

test_that("parameters far out keep their digits", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(phi, mu, n) {
    c(
      hlo_dbetabinom(3, 10, 0.3, phi, log = TRUE), hlo_dtweedie(c(1e5, 1), n, 1, 1.5, log = TRUE),
      hlo_dcompois(n, n, 1, log = TRUE), hlo_dztpois(2, mu, log = TRUE)
    )
  }
  expected <- c(
    dbinom(3, 10, 0.3, log = TRUE), log_tweedie(1e5, 1e5, 1, 1.5), log_tweedie(1, 1e5, 1, 1.5),
    dpois(1e5, 1e5, log = TRUE), log(5e-13)
  )
  expect_equal(xla_jit(f)(1e14, 1e-12, 1e5), expected, tolerance = 1e-11)
})

test_that("densities of families come in both dtypes, in shapes and batches as R's", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(mu, nu) {
    list(
      hlo_dcompois(matrix(0:3, 2), mu, nu), hlo_dtweedie(c(0, 1.5), mu, nu, 1.3, log = TRUE),
      hlo_dbetabinom(0:1, 4, mu / 9, nu), hlo_dzeroinflated(0:1, nu / 4, dpois(0:1, mu, log = TRUE))
    )
  }
  expected <- xla_jit(f)(2, 1.5)
  expect_identical(dim(expected[[1]]), c(2L, 2L))
  single <- xla_jit(f)(pjrt_scalar(2, "f32"), pjrt_scalar(1.5, "f32"))
  expect_identical(unique(vapply(single, function(x) format(dtype(x)), "")), "<f32>")
  expect_equal(lapply(single, as_array), expected, tolerance = 1e-6, ignore_attr = TRUE)
  slopes <- xla_grad(function(mu) sum(hlo_dcompois(0:3, mu, 1.5, log = TRUE) * 1:4))
  both <- xla_jit(function(mu) list(xla_vmap(slopes)(mu), slopes(mu[1]), slopes(mu[2])))(c(2, 3))
  expect_equal(both[[1]], unlist(both[-1]))
})

test_that("what does not go together is refused", {
  skip_without_plugin()
  said <- function(f) expect_snapshot(xla_jit(f)(c(2, 1, 3)), error = TRUE, cran = TRUE)
  said(function(x) hlo_dcompois(1, 1, 1, x))
  said(function(x) hlo_dcompois(1, nu = x))
  said(function(x) hlo_dztnbinom(1, 1, x, x))
  said(function(x) hlo_dbetabinom(1:2, 1, x, 1))
  said(function(x) hlo_dtweedie(x, "a", 1, 1.5))
  said(function(x) hlo_dgenpois(x, 1, 1, log = NA))
})
