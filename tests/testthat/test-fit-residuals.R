# One-step-ahead residuals with `keep`, beside distribution functions that are known.

test_that("densities may be narrow beside the spread of data, have tails and modes that are far apart", {
  skip_without_plugin()
  skip_unless_all()
  x <- 1:8
  y <- 1e4 * x + c(0.3, -0.4, 0.1, 0.9, -0.7, 0.2, 30, -45)
  line <- xla_objective(function(p, y, x, keep) -sum(keep * dnorm(y, p$a + p$b * x, 0.5, log = TRUE)),
    list(a = 0, b = 1e4), y = y, x = as.double(x), keep = rep(1, 8)
  )
  fit <- xla_fit(line)
  expected <- (y - fit$par[[1L]] - fit$par[[2L]] * x) / 0.5
  expect_equal(residuals(fit, "y", keep = "keep"), expected, tolerance = 1e-7)
  modes <- function(p, y) {
    hlo_logaddexp(dnorm(y, p$at, 0.1, log = TRUE), dnorm(y, p$at + 50, 0.1, log = TRUE)) + log(0.5)
  }
  y <- c(0.05, 50.1, -0.2, 49.7, 0.5, 0.1)
  fit <- xla_fit(xla_objective(function(p, y, keep) -sum(keep * modes(p, y)), list(at = 0), y = y, keep = rep(1, 6)))
  at <- fit$par[[1L]]
  expected <- qnorm(0.5 * pnorm(y, at, 0.1) + 0.5 * pnorm(y, at + 50, 0.1))
  expect_equal(residuals(fit, "y", keep = "keep"), expected, tolerance = 1e-6)
  # Of one side, with a heavy tail, and in a range
  y <- c(0.1, 2.5, 0.7, 1e-6, 8)
  for (density in list(dexp, function(y, rate, log) dt(y * rate, 2, log = log) + log(rate))) {
    f <- function(p, y, keep) -sum(keep * density(y, exp(p$rate), log = TRUE))
    fit <- xla_fit(xla_objective(f, list(rate = 0), y = y, keep = rep(1, 5)))
    rate <- exp(fit$par[[1L]])
    one_sided <- identical(density, dexp)
    shown <- residuals(fit, "y", keep = "keep", range = if (one_sided) c(0, Inf) else c(-Inf, Inf))
    expect_equal(shown, qnorm(if (one_sided) pexp(y, rate) else pt(y * rate, 2)), tolerance = 1e-6)
  }
})

test_that("densities may have poles at the ends of their support", {
  skip_without_plugin()
  y <- c(0.3, 0.9, 1e-4, 0.02, 0.6, 0.999)
  beta <- function(p, y, keep) -sum(keep * dbeta(y, exp(p$a), 0.5, log = TRUE))
  fit <- xla_fit(xla_objective(beta, list(a = 0), y = y, keep = rep(1, 6)))
  expect_lt(exp(fit$par), 1)
  expected <- qnorm(pbeta(y, exp(fit$par), 0.5))
  expect_equal(residuals(fit, "y", keep = "keep", range = c(0, 1)), expected, tolerance = 1e-5)
  skip_unless_all()
  gamma <- function(p, y, keep) -sum(keep * dgamma(y, exp(p$a), 0.5, log = TRUE))
  fit <- xla_fit(xla_objective(gamma, list(a = 0), y = y, keep = rep(1, 6)))
  expect_lt(exp(fit$par), 1)
  expected <- qnorm(pgamma(y, exp(fit$par), 0.5))
  expect_equal(residuals(fit, "y", keep = "keep", range = c(0, Inf)), expected, tolerance = 1e-5)
})

test_that("counts may have modes that are far apart, and constants may be left out", {
  skip_without_plugin()
  skip_unless_all()
  y <- c(0, 61, 55, 0, 70, 48, 0, 64)
  inflated <- function(p, y, keep) {
    -sum(keep * (hlo_dzeroinflated(y, plogis(p$zero), dpois(y, exp(p$mean), log = TRUE), log = TRUE) + 3))
  }
  fit <- xla_fit(xla_objective(inflated, list(zero = -0.5, mean = 4.1), y = y, keep = rep(1, 8)))
  zero <- plogis(fit$par[[1L]])
  mean <- exp(fit$par[[2L]])
  below <- function(k) ifelse(k < 0, 0, zero + (1 - zero) * ppois(k, mean))
  set.seed(2)
  expect_no_warning(shown <- residuals(fit, "y", keep = "keep", discrete = TRUE))
  set.seed(2)
  expected <- qnorm(below(y - 1) + runif(8) * (below(y) - below(y - 1)))
  expect_equal(shown, expected, tolerance = 1e-6)
  # At the ends of what there can be, which differ, and far outside
  y <- c(0, 5, 3, 9, 4)
  size <- c(4, 5, 3, 9, 12)
  binomial <- function(p, y, size, keep) -sum(keep * dbinom(y, size, plogis(p$a), log = TRUE))
  fit <- xla_fit(xla_objective(binomial, list(a = 0), y = y, size = size, keep = rep(1, 5)))
  prob <- plogis(fit$par[[1L]])
  set.seed(3)
  shown <- residuals(fit, "y", keep = "keep", discrete = TRUE)
  set.seed(3)
  expected <- qnorm(pbinom(y - 1, size, prob) + runif(5) * dbinom(y, size, prob))
  expect_equal(shown, expected, tolerance = 1e-6)
  poisson <- function(p, y, keep) -sum(keep * dpois(y, exp(p$a), log = TRUE)) - 1e4 * dnorm(p$a, 1, log = TRUE)
  fit <- xla_fit(xla_objective(poisson, list(a = 1), y = c(3, 60, 2000), keep = rep(1, 3)))
  set.seed(3)
  shown <- residuals(fit, "y", keep = "keep", discrete = TRUE)
  set.seed(3)
  u <- runif(3)[2:3]
  above <- ppois(c(60, 2000), exp(fit$par), lower.tail = FALSE, log.p = TRUE)
  here <- dpois(c(60, 2000), exp(fit$par), log = TRUE) + log1p(-u)
  highest <- pmax(above, here)
  expected <- -qnorm(highest + log(exp(above - highest) + exp(here - highest)), log.p = TRUE)
  expect_equal(shown[2:3], expected, tolerance = 1e-6)
})

test_that("what is missing has no residual, and what is no density is told", {
  skip_without_plugin()
  y <- c(1, NA, 2, 3.5)
  missing <- function(p, y, keep) -sum(keep * ifelse(is.na(y), 0, dnorm(y, p$a, 1, log = TRUE)))
  fit <- xla_fit(xla_objective(missing, list(a = 0), y = y, keep = rep(1, 4)))
  expect_equal(residuals(fit, "y", keep = "keep"), y - mean(y, na.rm = TRUE), tolerance = 1e-7)
  expect_error(residuals(fit, "y"), "without `keep` the data `y` must not have NA")
  y <- c(-1, 2, 0.5)
  # Twice as much for what is above 0
  f <- function(p, y, keep) -sum(keep * (dnorm(y, p$a, 1, log = TRUE) + log(2) * (cumsum(y) > 0.4)))
  fit <- xla_fit(xla_objective(f, list(a = 0), y = y, keep = rep(1, 3)))
  expect_warning(residuals(fit, "y", keep = "keep"), "has a probability of 1.* and not 1 for [1-3] observations")
  infinite <- function(p, y, keep) -sum(keep * dexp(y - 1, exp(p$a), log = TRUE)) - dnorm(p$a, log = TRUE)
  at_zero <- xla_fit(xla_objective(infinite, list(a = 0), y = c(1.5, 2, 3), keep = rep(1, 3)))
  below <- update(at_zero$objective, y = c(0.5, 2, 3), keep = c(0, 0, 0))
  expect_identical(below$fn(0), NaN)
  at_zero$objective <- below
  expect_error(residuals(at_zero, "y", keep = "keep"), "the value is not finite: `y` has missing or impossible numbers")
})
