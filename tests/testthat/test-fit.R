# Fitted models beside glm() and closed forms
groups <- rep(1:6, c(3L, 1L, 4L, 2L, 5L, 3L))
y <- sin(seq_along(groups)) * 2 + cos(groups)
mixed <- function(p, y, group, keep) {
  -sum(keep * dnorm(y, p$mu + p$u[group], exp(p$log_sd[1]), log = TRUE)) -
    sum(dnorm(p$u, 0, exp(p$log_sd[2]), log = TRUE))
}
start <- list(mu = 0, u = numeric(6), log_sd = c(0, 0.3))
x <- seq(-1, 1, length.out = 20L)
counts <- c(0, 1, 0, 2, 1, 1, 3, 2, 1, 4, 2, 5, 3, 4, 6, 3, 7, 5, 9, 6)
rates <- function(beta, x, y, keep) -sum(keep * dpois(y, exp(beta[1] + beta[2] * x), log = TRUE))

test_that("a fit without random effects is that of glm()", {
  skip_without_plugin()
  model <- xla_objective(rates, c(a = 0, b = 0), x, counts, rep(1, 20))
  fit <- xla_fit(model, nobs = 20)
  known <- stats::glm(counts ~ x, family = stats::poisson(), control = list(epsilon = 1e-14))
  expect_equal(unname(coef(fit)), unname(coef(known)), tolerance = 1e-7)
  expect_equal(unname(vcov(fit)), unname(vcov(known)), tolerance = 1e-6)
  expect_equal(c(logLik(fit)), c(logLik(known)))
  expect_equal(c(stats::AIC(fit), stats::BIC(fit)), c(stats::AIC(known), stats::BIC(known)))
  expect_equal(unname(summary(fit)$coefficients), unname(summary(known)$coefficients), tolerance = 1e-6)
  # Beside the fit without a slope
  one_rate <- function(a, y) -sum(dpois(y, exp(a), log = TRUE))
  flat <- xla_fit(xla_objective(one_rate, c(a = 0), counts), nobs = 20)
  flat_known <- stats::update(known, . ~ 1)
  table <- stats::anova(fit, flat = flat)
  expected <- stats::anova(flat_known, known, test = "LRT")
  expect_equal(table$Chisq, expected$Deviance, tolerance = 1e-6)
  expect_equal(table[["Pr(>Chisq)"]], expected[["Pr(>Chi)"]], tolerance = 1e-5)
  expect_equal(table$npar, c(1, 2))
  expect_equal(table$BIC, c(stats::BIC(flat_known), stats::BIC(known)))
  expect_identical(row.names(table), c("flat", "fit"))
  expect_snapshot(print(table, digits = 4))
  unknown <- xla_fit(model)
  expect_null(stats::anova(unknown, flat)$BIC)
  expect_snapshot(error = TRUE, {
    stats::anova(fit)
    stats::anova(fit, known)
    stats::anova(fit, xla_fit(model, nobs = 19))
  })
  worse <- fit
  worse$value <- flat$value + 1
  expect_warning(table <- stats::anova(flat, worse), "`worse` has more parameters than `flat` and a lower likelihood")
  expect_true(is.na(table[["Pr(>Chisq)"]][[2L]]))
  wald <- confint(fit, "b", level = 0.9)
  expect_equal(c(wald), coef(fit)[["b"]] + sqrt(vcov(fit)[2, 2]) * stats::qnorm(c(0.05, 0.95)))
  # Along the profile the other parameter is at its optimum.
  ends <- confint(fit, method = "profile")
  profiled <- function(b) {
    (stats::deviance(stats::glm(counts ~ 1 + offset(b * x), family = stats::poisson())) - known$deviance) / 2
  }
  lost <- vapply(ends["b", ], profiled, 0)
  expect_equal(unname(2 * lost), rep(stats::qchisq(0.95, 1), 2), tolerance = 1e-4)
  curve <- stats::profile(fit, "b", points = 2)
  expect_equal(curve$zeta^2 / 2, vapply(curve$value, profiled, 0), tolerance = 1e-6)
  # The delta method of a line on the scale of counts
  at <- predict(fit, function(beta, x) exp(beta[1] + beta[2] * x), x = c(0, 2), se.fit = TRUE)
  se <- stats::predict(known, data.frame(x = c(0, 2)), type = "response", se.fit = TRUE)
  expect_equal(at$fit, unname(se$fit), tolerance = 1e-6)
  expect_equal(at$se.fit, unname(se$se.fit), tolerance = 1e-6)
  # Independent counts have the distribution function itself.
  set.seed(4)
  shown <- residuals(fit, "y", keep = "keep", discrete = TRUE)
  set.seed(4)
  expected <- stats::ppois(counts - 1, fitted(known)) + stats::runif(20) * stats::dpois(counts, fitted(known))
  expect_equal(shown, stats::qnorm(expected), tolerance = 1e-6)
  draw <- function(beta, x) list(y = stats::rpois(length(x), exp(beta[["a"]] + beta[["b"]] * x)))
  before <- get(".Random.seed", globalenv())
  sets <- stats::simulate(fit, 2, seed = 9, draw = draw)
  expect_identical(get(".Random.seed", globalenv()), before)
  set.seed(9)
  expect_identical(sets$sim_1, draw(coef(fit), x))
  expect_identical(stats::simulate(fit, 2, seed = 9, draw = draw), sets)
})

test_that("predictions and residuals of random effects are those of the normal distribution", {
  skip_without_plugin()
  n <- 6L
  y <- y[groups <= n]
  groups <- groups[groups <= n]
  start$u <- numeric(n)
  model <- xla_objective(mixed, start, y, groups, rep(1, length(y)), random = "u")
  fit <- xla_fit(model)
  par <- coef(fit)
  z <- outer(groups, seq_len(n), "==") * 1
  v <- diag(exp(2 * par[[2]]), length(y)) + exp(2 * par[[3]]) * tcrossprod(z)
  expect_equal(unname(fit$value), (determinant(v)$modulus[[1]] + sum((y - par[[1]]) * solve(v, y - par[[1]])) +
    length(y) * log(2 * pi)) / 2)
  step <- 1e-5
  slope <- vapply(1:3, function(i) {
    by <- replace(0 * par, i, step)
    unname(model$random(par + by) - model$random(par - by)) / (2 * step)
  }, numeric(n))
  given <- 1 / (tabulate(groups) / exp(2 * par[[2]]) + exp(-2 * par[[3]]))
  at <- predict(fit, se.fit = TRUE)
  expect_equal(at$fit$u, unname(model$random(par)))
  expect_equal(at$se.fit$u, sqrt(given + rowSums((slope %*% vcov(fit)) * slope)), tolerance = 1e-6)
  expect_equal(at$se.fit$mu, sqrt(vcov(fit)[["mu", "mu"]]))
  rate <- predict(fit, function(p, by) list(e = exp(p$mu + p$u), d = by * p$u[[2]]), by = 3, se.fit = TRUE)
  e <- exp(par[[1]] + at$fit$u)
  total <- e * (slope + outer(rep(1, n), c(1, 0, 0)))
  expect_equal(rate$fit, list(e = e, d = 3 * at$fit$u[[2]]))
  expect_equal(rate$se.fit$e, sqrt(e^2 * given + rowSums((total %*% vcov(fit)) * total)), tolerance = 1e-6)
  expect_equal(rate$se.fit$d, 3 * at$se.fit$u[[2]], tolerance = 1e-6)
  expect_match(capture.output(summary(fit)), sprintf("3 parameters, %d random effects integrated", n), all = FALSE)
  skip_unless_all()
  expected <- forwardsolve(t(chol(v)), y - par[[1]])
  expect_equal(residuals(fit, "y"), expected, tolerance = 1e-8)
  sequential <- residuals(fit, "y", keep = "keep")
  # Each is an integral.
  expect_equal(sequential, expected, tolerance = 1e-5)
})

test_that("bounds, directions without curvature and wrong arguments are told", {
  skip_without_plugin()
  model <- xla_objective(function(p) (p[1] - 1)^2 + exp(p[2] - p[3]) + (p[2] - p[3])^2, c(a = 0, b = 0, c = 1))
  expect_warning(expect_true(all(is.nan(vcov(xla_fit(model))))), "the data do not tell b, c apart")
  bounded <- xla_fit(xla_objective(function(p) sum((p - 1)^2), c(a = 0, b = 0)), upper = c(Inf, 0.5))
  expect_equal(vcov(bounded), matrix(c(0.5, NA, NA, NA), 2, dimnames = rep(list(c("a", "b")), 2)))
  expect_identical(confint(bounded, "b", method = "profile")[[2L]], 0.5)
  expect_output(print(summary(bounded)), "at a bound: b")
  expect_warning(stopped <- xla_fit(model, control = list(iter.max = 1)), "did not converge: iteration limit")
  expect_output(print(stopped), "not converged: iteration limit")
  # A pole of the second derivative
  kink <- xla_fit(xla_objective(function(p) abs(p$a)^1.5 + (p$b - 1)^2, list(a = 0, b = 0)))
  expect_warning(table <- summary(kink)$coefficients, "no standard errors: the Hessian is not finite.*parameter `a`")
  expect_true(all(is.nan(table[, "Std. Error"])))
  # Falls to a limit on one side
  flat <- xla_fit(xla_objective(function(p) log(1 + exp(-p)) + 0.01 * (p < 0) * p^2, c(a = 1)), upper = 3)
  expect_identical(confint(flat, method = "profile")[[2L]], 3)
  expect_snapshot(error = TRUE, {
    xla_fit(function(p) p)
    xla_fit(model, start = c(Inf, 0, 0))
    xla_fit(model, upper = c(1, 2))
    xla_fit(model, lower = 1)
    nobs(bounded)
    confint(bounded, "d")
    confint(bounded, level = 95)
    predict(bounded, function(p) p > 1)
    predict(bounded, x = 3)
    simulate(bounded)
    residuals(bounded, "y")
    confint(bounded, methd = "profile")
    confint(bounded, param = "a")
    profile(bounded, "a", ponts = 3)
    residuals(bounded, "y", type = "pearson")
    simulate(bounded, 1, sed = 1, draw = function(par) par)
    coef(bounded, 1)
    vcov(bounded, foo = 1)
    summary(bounded, digits = 3)
    stats::logLik(bounded, REML = TRUE)
    nobs(bounded, "y")
    print(bounded, digit = 3)
    print(summary(bounded), foo = 1)
  })
  expect_identical(vcov(bounded, complete = FALSE), vcov(bounded))
  expect_output(print(bounded, digits = 3), "Maximum likelihood")
  expect_output(print(summary(bounded), signif.stars = FALSE), "at a bound")
})

test_that("profiles end at bounds at which the likelihood has no value", {
  skip_without_plugin()
  # k s log(s), which is NaN at 0, has the limit 0 there and the minimum -k / e.
  ends_of <- function(k, lower) {
    objective <- xla_objective(function(p, k) k * p$s * log(p$s), list(s = 0.5), k = k)
    unname(confint(xla_fit(objective, lower = lower), method = "profile")[1L, ])
  }
  expect_identical(ends_of(4, 0)[[1L]], 0)
  known <- stats::uniroot(function(s) 10 * (s * log(s) + exp(-1)) - stats::qchisq(0.95, 1) / 2, c(1e-9, exp(-1)),
    tol = 1e-12
  )
  expect_equal(ends_of(10, 0)[[1L]], known$root, tolerance = 1e-4)
  mirrored <- xla_fit(xla_objective(function(p) -4 * p * log(-p), c(s = -0.5)), upper = 0)
  expect_identical(confint(mirrored, method = "profile")[[2L]], 0)
  expect_identical(utils::tail(profile(mirrored)$zeta, 1L), Inf)
  expect_identical(colnames(confint(mirrored, level = 0.9999)), c("0.005 %", "99.995 %"))
  # A standard deviation that is estimated as 0
  model <- xla_objective(
    function(p, y, group) -sum(dnorm(p$u, 0, p$s, log = TRUE), dnorm(y, p$m + p$u[group], 1, log = TRUE)),
    list(m = 0, s = 1, u = numeric(3)), y = sin(1:12), group = rep(1:3, 4), random = "u"
  )
  expect_no_warning(fit <- xla_fit(model, lower = c(s = 0)))
  expect_no_warning(ends <- confint(fit, "s", method = "profile"))
  above <- confint(xla_fit(model, lower = c(s = 1e-6)), "s", method = "profile")
  expect_identical(ends[[1L]], 0)
  expect_equal(ends[[2L]], above[[2L]], tolerance = 1e-4)
})

test_that("profiles end where they should though the estimate is infinite in truth", {
  skip_without_plugin()
  end_of <- function(f, par, ..., random = NULL) {
    fit <- suppressWarnings(xla_fit(xla_objective(f, par, ..., random = random)))
    name <- utils::tail(names(fit$par), 1L)
    expect_no_warning(ends <- confint(fit, name, method = "profile"))
    expect_identical(ends[[1L]], -Inf)
    list(end = ends[[2L]], fit = fit)
  }
  none <- end_of(function(p, y) -sum(dpois(y, exp(p$a), log = TRUE)), list(a = 0), y = rep(0L, 5))
  expect_equal(none$end, log(qchisq(0.95, 1) / 10), tolerance = 1e-4)
  # The curve's points lie where it falls.
  expect_equal(max(profile(none$fit, points = 2L)$zeta), qnorm(0.995), tolerance = 1e-4)
  skip_unless_all()
  counts <- c(3, 5, 2, 4, 0, 0, 0, 0)
  empty <- rep(0:1, each = 4)
  poisson <- end_of(function(p, y, g) -sum(dpois(y, exp(p$a + p$b * g), log = TRUE)), list(a = 0, b = 0), counts, empty)
  expect_equal(poisson$end, -1.916971, tolerance = 1e-4)
  binomial <- end_of(
    function(p, y, g) -sum(dbinom(y, 10, plogis(p$a + p$b * g), log = TRUE)), list(a = 0, b = 0), counts, empty
  )
  expect_equal(binomial$end, -2.292523, tolerance = 1e-4)
  # A variance between groups that is 0, as its logarithm: wherever the search ends
  group <- rep(1:4, 3)
  y <- cos(1:12)
  y <- y - ave(y, group)
  mixed <- function(p, y, group) {
    -sum(dnorm(y, p$u[group], 1, log = TRUE)) - sum(dnorm(p$u, 0, exp(p$l), log = TRUE))
  }
  known <- uniroot(function(s) 2 * log(1 + 3 * s^2) - qchisq(0.95, 1) / 2, c(0, 10), tol = 1e-10)$root
  for (start in c(0, -5, -16)) {
    found <- end_of(mixed, list(u = numeric(4), l = start), y, group, random = "u")
    expect_equal(exp(found$end), known, tolerance = 1e-4)
  }
})

test_that("profile intervals end nowhere where the likelihood stays high", {
  skip_without_plugin()
  skip_unless_all()
  g <- rep(1:6, each = 5)
  set.seed(3)
  y <- rpois(30, exp(1 + rnorm(6, 0, 0.25)[g]))
  f <- function(p, sd) -sum(dnorm(p$u, 0, sd, log = TRUE)) - sum(dpois(y, exp(p$m + p$u[g]), log = TRUE))
  by_log <- xla_fit(xla_objective(function(p) f(p, exp(p$s)), list(m = 0, u = numeric(6), s = 0), random = "u"))
  positive <- xla_fit(xla_objective(function(p) f(p, p$s), list(m = 0, u = numeric(6), s = 1), random = "u",
    constraints = list(s = xla_positive())
  ))
  expect_no_warning(ends <- confint(by_log, "s", method = "profile"))
  expect_identical(ends[[1L]], -Inf)
  expect_equal(unname(confint(positive, "s", method = "profile")[1L, ]), c(0, exp(ends[[2L]])), tolerance = 1e-4)
  # A group with nothing but successes
  logit <- xla_fit(xla_objective(function(p) {
    -sum(dbinom(c(3, 5, 6), c(10, 10, 6), plogis(p$a + p$b * c(0, 0, 1)), log = TRUE))
  }, list(a = 0, b = 0)))
  expect_identical(confint(logit, "b", method = "profile")[[2L]], Inf)
})

test_that("fits of parameters of very different sizes end at the optimum, from far away too", {
  skip_without_plugin()
  x <- sin(1:30)
  y <- 1e6 * (1 + x / 60 + cos((1:30)^2) / 20)
  line <- function(p, y, x) -sum(dnorm(y, p$a + p$b * x, exp(p$log_sd), log = TRUE))
  known <- lm(y ~ x)
  for (start in list(c(0, 0, 0), c(1, 1, 5), c(-1e7, 1e4, 20))) {
    model <- xla_objective(line, list(a = start[[1]], b = start[[2]], log_sd = start[[3]]), y = y, x = x)
    fit <- xla_fit(model)
    expect_equal(c(logLik(fit)), c(logLik(known)), tolerance = 1e-8)
    expect_equal(unname(coef(fit)[1:2]), unname(coef(known)), tolerance = 1e-4)
    expect_no_warning(vcov(fit))
  }
  expect_warning(early <- xla_fit(model, control = list(iter.max = 1)), "did not converge")
  expect_warning(vcov(early), "may still rise by|not positive definite")
})

test_that("residuals need densities that are all multiplied, and predictions may be constants", {
  skip_without_plugin()
  y <- c(0, 3, 50, 2, 1)
  forgotten <- function(p, y, keep) -sum(dpois(y, exp(p$a), log = TRUE)) + 0 * sum(keep)
  model <- xla_objective(forgotten, list(a = 1), y = y, keep = rep(1, 5))
  fit <- xla_fit(model)
  expect_error(residuals(fit, "y", keep = "keep", discrete = TRUE), "still depends on `y`")
  # Whole numbers of R's are observations of a continuous distribution, too.
  normal <- function(p, y, keep) -sum(keep * dnorm(y, p$a, 2, log = TRUE))
  whole <- xla_fit(xla_objective(normal, list(a = 1), y = c(1L, 4L, 2L, 7L), keep = rep(1L, 4)))
  expect_equal(residuals(whole, "y", keep = "keep"), (c(1, 4, 2, 7) - 3.5) / 2, tolerance = 1e-6)
  expect_error(residuals(whole, "y", range = c(0, 3)), "have no `range`")
  halves <- xla_fit(update(whole$objective, y = c(1, 4.5, 2, 7)))
  expect_error(residuals(halves, "y", keep = "keep", discrete = TRUE), "whole numbers, and `y` has 4.5")
  found <- predict(fit, function(par) list(par$a, 1, c(par$a, 2)), se.fit = TRUE)
  error <- sqrt(drop(vcov(fit)))
  expect_equal(found$se.fit, list(error, 0, c(error, 0)), ignore_attr = TRUE)
  # A function that predicts again is not traced again.
  twice <- function(par, k) {
    message("traced")
    k * par$a
  }
  expect_message(predict(fit, twice, k = 2), "traced")
  expect_no_message(again <- predict(fit, twice, k = 3))
  expect_identical(again, 3 * coef(fit)[["a"]])
  outside <- predict(fit, function(par, k) c(par$a, c(par$a, 1)[k]), k = 7L, se.fit = TRUE)
  expect_identical(is.nan(outside$se.fit), c(FALSE, TRUE))
})

test_that("profiles leave a variance that is estimated as 0", {
  skip_without_plugin()
  # Group means times the root of their number, and contrasts within groups
  means <- c(-1.9, -0.4, 0.6, 1.7)
  within <- 1.4 * cos(1:28)
  nll <- function(p, means, within) {
    between <- sqrt(exp(2 * p[3]) + 8 * exp(2 * p[2]))
    -sum(dnorm(means, sqrt(8) * p[1], between, log = TRUE)) - sum(dnorm(within, 0, exp(p[3]), log = TRUE))
  }
  within <- within * sqrt(mean(means^2) * 1.2 / mean(within^2))
  fit <- xla_fit(xla_objective(nll, c(m = 0, t = -1, s = 0), means, within))
  expect_lt(exp(coef(fit)[["t"]]), 1e-2)
  ends <- confint(fit, "m", method = "profile")
  # The other parameters have their optimum in closed form: where the means lie further apart, t is positive.
  least <- function(m) {
    apart <- mean((means - sqrt(8) * m)^2)
    spread <- mean(within^2)
    together <- (4 * apart + 28 * spread) / 32
    variances <- if (apart > spread) c(apart, spread) else c(together, together)
    sum(c(4, 28) / 2 * (log(2 * pi * variances) + c(apart, spread) / variances))
  }
  expect_equal(as.vector(vapply(ends, least, 0) - fit$value), rep(qchisq(0.95, 1) / 2, 2), tolerance = 1e-4)
  expect_gt(mean((means - sqrt(8) * ends[[2L]])^2), mean(within^2))
})
