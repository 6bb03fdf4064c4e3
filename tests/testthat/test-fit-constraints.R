# Transforms of numbers without constraints to parameters.

constrained <- xlaffi:::constrained
template_numbers <- function(x) unlist(lapply(flatten(x), as.vector))

factor_of <- function(size, correlation) {
  sigma <- crossprod(matrix(sin(seq_len(size^2)), size)) + diag(size)
  chol(if (correlation) stats::cov2cor(sigma) else sigma)
}

# Parameters at which each constraint holds, among them ones of a single element
at <- list(
  mu = c(a = 0, b = 3), positive = 2, lower = c(4, 9), upper = matrix(c(-1, 0, 0.5, 0.9), 2),
  interval = c(0.2, 0.5, 0.9), mixed = c(0.5, 2, -3, 1), ordered = c(-1, 2, 5), ordered_1 = 7,
  rows = rbind(c(0, 1), c(-2, 3)), positive_ordered = c(0.5, 1), simplex = c(0.2, 0.3, 0.5), simplex_1 = 1,
  shares = rbind(c(0.1, 0.9), c(0.5, 0.5), c(0.3, 0.7)), zero = c(1, -3, 2), zero_1 = 0, unit = c(0.6, -0.8),
  corr = factor_of(4, TRUE), corr_2 = factor_of(2, TRUE), corr_1 = diag(1), cov = factor_of(3, FALSE),
  cov_1 = matrix(2), deep = list(tau = 0.3, none = 1)
)
constraints <- list(
  positive = xla_positive(), lower = xla_lower(3), upper = xla_upper(matrix(1:4, 2)), interval = xla_interval(0, 1),
  mixed = xla_interval(c(-Inf, 0, -5, -Inf), c(Inf, Inf, -1, 2)), ordered = xla_ordered(), ordered_1 = xla_ordered(),
  rows = xla_ordered(), positive_ordered = xla_positive_ordered(), simplex = xla_simplex(), simplex_1 = xla_simplex(),
  shares = xla_simplex(), zero = xla_sum_to_zero(), zero_1 = xla_sum_to_zero(), unit = xla_unit_vector(),
  corr = xla_corr_cholesky(), corr_2 = xla_corr_cholesky(), corr_1 = xla_corr_cholesky(), cov = xla_cov_cholesky(),
  cov_1 = xla_cov_cholesky(), deep = list(tau = xla_positive())
)

# The elements that the others follow from, as many as numbers without constraints: but for vectors of length 1, and
# those with the sum 0, whose basis is orthogonal
free_elements <- function(p) {
  upper <- function(x) x[upper.tri(x)]
  parts <- list(
    p$mu, p$positive, p$lower, p$upper, p$interval, p$mixed, p$ordered, p$ordered_1, p$rows, p$positive_ordered,
    p$simplex[1:2], p$shares[, 1], upper(p$corr), upper(p$corr_2), p$cov[upper.tri(p$cov, diag = TRUE)], p$cov_1,
    p$deep$tau, p$deep$none
  )
  do.call(c, lapply(parts, as.vector))
}

test_that("parameters go to free numbers and back, with the Jacobian's determinant, in batches and in f32", {
  skip_without_plugin()
  whole <- constrained(constraints, at)
  y <- whole$unconstrain(at)
  expect_identical(c(whole$size, length(whole$names)), rep(length(y), 2L))
  expect_identical(whole$names[c(1:6, 42, 51)], c("mu[a]", "mu[b]", "positive", "lower[1]", "lower[2]",
    "upper[1,1]", "corr_2[1]", "deep.none"))
  plain <- constrained(NULL, at["mu"])
  expect_identical(plain$unconstrain(at["mu"]), c(0, 3))
  set.seed(1)
  other <- y + stats::rnorm(length(y))
  basis <- grep("^zero", whole$names)
  unit <- grep("^unit", whole$names)
  zero_of <- function(z, y) whole$constrain(hlo_dynamic_update_slice(y, z, list(basis[1])))$par$zero
  f <- xla_jit(function(y, points) {
    list(
      made = whole$constrain(y), batch = xla_vmap(whole$constrain)(points), plain = plain$constrain(y[1:2]),
      jacobian = xla_jacobian(function(y) free_elements(whole$constrain(y)$par))(y),
      basis = xla_jacobian(function(z) zero_of(z, y))(y[basis])
    )
  })
  first <- f(y, rbind(y, other))
  second <- f(other, rbind(0, other))
  expect_equal(first$made$par, replace(at, "mu", list(c(0, 3))))
  expect_equal(whole$unconstrain(second$made$par)[-unit], other[-unit])
  expect_equal(second$made$par$unit, other[unit] / sqrt(sum(other[unit]^2)))
  expect_equal(second$made$par$zero_1, 0)
  expect_equal(crossprod(second$basis), diag(2))
  for (k in 1:2) {
    found <- list(first, second)[[k]]
    at_y <- list(y, other)[[k]]
    determinant <- determinant(found$jacobian[, -c(basis, unit)])$modulus
    expect_equal(found$made$log_jacobian, c(determinant) - sum(at_y[unit]^2) / 2)
  }
  expect_equal(first$batch$log_jacobian, c(first$made$log_jacobian, second$made$log_jacobian))
  row <- function(x, i) as.vector(asplit(x, 1)[[i]])
  for (i in 1:2) {
    alone <- flatten(list(first, second)[[i]]$made$par)
    expect_equal(lapply(flatten(first$batch$par), row, i), lapply(alone, as.vector))
  }
  expect_equal(first$plain, list(par = list(mu = c(0, 3)), log_jacobian = 0))
  skip_unless_all()
  single <- xla_jit(function(y) whole$constrain(y))(pjrt_buffer(other, "f32"))
  expect_identical(unique(vapply(flatten(single), function(x) format(dtype(x)), "")), "<f32>")
  expect_equal(lapply(flatten(single), as_array), flatten(second$made), tolerance = 1e-5, ignore_attr = TRUE)
})

test_that("parameters have first and second derivatives", {
  skip_without_plugin()
  skip_unless_all()
  whole <- constrained(constraints, at)
  y <- whole$unconstrain(at)
  # Where absolute values would have a kink, too
  y[whole$names %in% c("interval[2]", "corr[2]", "mixed[3]", "corr_2[1]")] <- 0
  f <- function(y) {
    made <- whole$constrain(y)
    made$log_jacobian + sum(sin(do.call(c, lapply(flatten(made$par), as.vector))))
  }
  set.seed(2)
  way <- stats::rnorm(length(y))
  gradient <- xla_grad(f, value = TRUE)
  at <- xla_jit(function(y, way) xla_jvp(gradient)(list(y), list(way)))
  here <- at(y, way)
  near <- lapply(c(1e-5, -1e-5), function(step) at(y + step * way, way)$value)
  along <- function(name) (near[[1]][[name]] - near[[2]][[name]]) / 2e-5
  expect_equal(here$tangent$value, along("value"), tolerance = 1e-8)
  expect_equal(here$tangent$value, sum(here$value$gradient * way))
  expect_equal(here$tangent$gradient, along("gradient"), tolerance = 1e-7)
})

test_that("far out, parameters keep to their constraints and derivatives are finite", {
  skip_without_plugin()
  skip_unless_all()
  tails <- list(
    positive = 1, lower = 1, upper = 1, unit = c(0.5, 0.5), thin = 1, simplex = rep(1 / 3, 3), corr = diag(3),
    cov = diag(2), ordered = 1:2
  )
  whole <- constrained(list(
    positive = xla_positive(), lower = xla_lower(-5), upper = xla_upper(0.1), unit = xla_interval(0, 1),
    thin = xla_interval(1e6, 1e6 + 1), simplex = xla_simplex(), corr = xla_corr_cholesky(), cov = xla_cov_cholesky(),
    ordered = xla_ordered()
  ), tails)
  f <- xla_jit(function(y) {
    list(xla_vmap(whole$constrain)(y), slope = xla_vmap(xla_grad(function(y) whole$constrain(y)$log_jacobian))(y))
  })
  for (dtype in c("f64", "f32")) {
    far <- if (dtype == "f64") c(-800, -40, 40) else c(-120, -20, 20)
    found <- f(pjrt_buffer(matrix(far, 3, whole$size), dtype))
    par <- lapply(found[[1]]$par, as_array)
    low <- function(name) par[[name]][1:2, 1]
    expect_true(all(par$positive > 0) && all(par$lower > -5) && all(par$thin > 1e6 & par$thin < 1e6 + 1))
    # Elements are numbers of the dtype.
    expect_true(all(par$upper < 0.1 + (dtype == "f32") * 2e-9))
    expect_true(all(par$unit > 0 & par$unit < 1))
    expect_equal(rowSums(par$simplex), c(1, 1, 1), tolerance = 1e-5)
    expect_equal(apply(par$corr^2, c(1, 3), sum), matrix(1, 3, 3), tolerance = 1e-5)
    expect_true(all(par$cov[, 1, 1] > 0 & par$cov[, 2, 2] > 0))
    expect_true(all(is.finite(as_array(found$slope))))
    expect_true(all(is.finite(as_array(found[[1]]$log_jacobian))))
  }
  # As accurate as the formula for small numbers: the sums of exact logarithms
  sech <- function(y) log(2) - abs(y) - log1p(exp(-2 * abs(y)))
  logit <- function(y) -abs(y) - 2 * log1p(exp(-abs(y)))
  y <- rep(-40, whole$size)
  exact <- sum(rep(-40, 3)) + 3 * logit(-40) + (2 + 3 + 2) * sech(40) + 2 * -40 - 40
  z <- as.vector(xlaffi::xla_jit(function(y) xlaffi:::sum_to_zero_from(y, 3L))(c(-40, -40)))
  exact <- exact + 0.5 * log(3) - 3 * (max(z) + log(sum(exp(z - max(z)))))
  expect_equal(c(as_array(f(pjrt_buffer(rbind(y), "f64"))[[1]]$log_jacobian)), exact, tolerance = 1e-14)
})

test_that("fits of parameters with constraints have their estimates and standard errors", {
  skip_without_plugin()
  y <- sin(1:40) * 2 + cos((1:40)^2) + 3
  counts <- c(12, 5, 3)
  f <- function(p, y, n) {
    z <- rbind(y - p$mu, cos(y))
    # A factor of a covariance, and a bound from above
    -sum(dnorm(y, p$mu, p$sd, log = TRUE)) - sum(n * log(p$p)) - sum(hlo_dmvnorm(t(z), 0, chol = p$r, log = TRUE)) +
      sum((log(-p$top) + p$top^2 - 3)^2)
  }
  template <- list(mu = 1, sd = 1, p = rep(1, 3) / 3, r = diag(2), top = c(-0.5, -2))
  constraints <- list(sd = xla_positive(), p = xla_simplex(), r = xla_cov_cholesky(), top = xla_upper(0))
  model <- xla_objective(f, template, y, counts, constraints = constraints)
  expect_equal(model$relist(model$par), template)
  other <- list(mu = 2, sd = 0.1, p = c(0.5, 0.2, 0.3), r = matrix(c(2, 0, -1, 0.5), 2), top = c(-1, -3))
  expect_equal(model$relist(model$unlist(other)), other)
  expect_identical(names(model$par), c("mu", "sd", "p1", "p2", "r1", "r2", "r3", "top1", "top2"))
  fit <- xla_fit(model)
  par <- model$relist(fit$par)
  # The same fit by numbers without constraints, with the delta method by hand
  plain <- xla_objective(
    function(p, y, n) {
      e <- exp(c(p$p, 0))
      r <- c(exp(p$r[1]), p$r[2], 0, exp(p$r[3]))
      whole <- list(mu = p$mu, sd = exp(p$sd), p = e / sum(e), r = t(matrix(r, 2)), top = -exp(p$top))
      f(whole, y, n)
    },
    list(mu = 1, sd = 0, p = c(0, 0), r = c(0, 0, 0), top = c(-0.5, 0.5)), y, counts
  )
  known <- xla_fit(plain)
  v <- vcov(known)
  estimate <- coef(known)
  expect_equal(coef(fit)[c("mu", "sd", "p1", "r1", "r3", "r4", "top1")], c(estimate[["mu"]], exp(estimate[["sd"]]), 0.6,
    exp(estimate[["r1"]]), estimate[["r2"]], exp(estimate[["r3"]]), -exp(estimate[["top1"]])
  ), ignore_attr = TRUE, tolerance = 1e-5)
  expect_identical(names(coef(fit)), c("mu", "sd", "p1", "p2", "p3", "r1", "r3", "r4", "top1", "top2"))
  errors <- sqrt(diag(vcov(fit)))
  # Estimates of positive numbers change as these do.
  relative <- sqrt(diag(v))[c("sd", "r1", "r3", "top1")]
  expect_equal(unname((errors / abs(coef(fit)))[c("sd", "r1", "r4", "top1")]), unname(relative), tolerance = 1e-4)
  shares <- counts / 20
  expect_equal(vcov(fit)[3:5, 3:5], (diag(shares) - tcrossprod(shares)) / 20, tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(c(logLik(fit)), c(logLik(known)))
  expect_identical(attr(logLik(fit), "df"), 9L)
  expect_equal(is.na(summary(fit)$coefficients[, "z value"]), names(coef(fit)) != "mu", ignore_attr = TRUE)
  # Intervals are those of the numbers without constraints, brought to the parameter.
  expect_equal(confint(fit, c("sd", "top1")), rbind(exp(confint(known, "sd")), -exp(confint(known, "top1"))[, 2:1]),
    ignore_attr = TRUE, tolerance = 1e-4
  )
  expect_equal(confint(fit, "p1")[1, ], shares[[1]] + stats::qnorm(c(0.025, 0.975)) * errors[["p1"]],
    ignore_attr = TRUE, tolerance = 1e-5
  )
  skip_unless_all()
  expect_equal(confint(fit, c("sd", "top1"), method = "profile"), rbind(
    exp(confint(known, "sd", method = "profile")), -exp(confint(known, "top1", method = "profile"))[, 2:1]
  ), ignore_attr = TRUE, tolerance = 1e-4)
  expect_warning(ends <- confint(fit, method = "profile"), "no profile of p1, p2, p3, r1, r3, r4: each is made of")
  expect_identical(unname(is.na(ends[, 1])), grepl("^[pr]", names(coef(fit))))
  expect_equal(ends["sd", ], confint(fit, "sd", method = "profile")[1L, ])
  expect_warning(curves <- stats::profile(fit, points = 1), "no profile of p1")
  expect_identical(unique(curves$parameter), c("mu", "sd", "top1", "top2"))
  expect_error(confint(fit, "p1", method = "profile"), "`p1` has no profile")
  curve <- stats::profile(fit, "top1", points = 2)
  expect_equal(curve$top1, curve$value)
  expect_false(is.unsorted(curve$zeta))
  # Standard errors in the parameters' form, and of functions of them
  found <- predict(fit, se.fit = TRUE)
  expect_equal(found$fit, par)
  expect_equal(unname(template_numbers(found$se.fit)[-7]), unname(errors))
  expect_equal(predict(fit, function(p) p$p[1] / p$p[2], se.fit = TRUE)$fit, 12 / 5, tolerance = 1e-4)
  # Data are replaced, and an objective is saved, with its constraints.
  saved <- unserialize(serialize(model, NULL))
  expect_equal(saved$relist(saved$unlist(other)), other)
  expect_equal(unname(coef(xla_fit(update(model, n = c(5, 5, 10))))[3:5]), c(0.25, 0.25, 0.5), tolerance = 1e-4)
})

test_that("constraints go with shared and fixed parameters, and with random effects", {
  skip_without_plugin()
  skip_unless_all()
  group <- rep(1:6, each = 4)
  y <- sin(seq_along(group)) + rep(c(-1, 2, 0, 1, -2, 0.5), each = 4)
  f <- function(p, y) {
    -sum(dnorm(y, p$mu + p$u[group], p$sd[1], log = TRUE)) - sum(dnorm(p$u, 0, p$sd[2], log = TRUE)) +
      sum((p$scale - 3)^2)
  }
  template <- list(mu = 0, u = numeric(6), sd = c(a = 1, b = 1), scale = c(1, 1, 2))
  model <- xla_objective(f, template, y, random = "u", map = list(scale = factor(c("s", "s", NA))),
    constraints = list(sd = xla_positive(), scale = xla_interval(0, 10))
  )
  expect_identical(names(model$par), c("mu", "sd.a", "sd.b", "scale1"))
  fit <- xla_fit(model)
  # Groups of four are normal with a known covariance.
  rows <- matrix(y, ncol = 4, byrow = TRUE)
  marginal <- function(x) {
    r <- chol(exp(2 * x[[2]]) * diag(4) + exp(2 * x[[3]]))
    z <- backsolve(r, t(rows - x[[1]]), transpose = TRUE)
    sum(z^2) / 2 + 6 * sum(log(diag(r)))
  }
  known <- stats::optim(c(0, 0, 0), marginal, method = "BFGS", control = list(reltol = 1e-14))$par
  relative <- sqrt(diag(solve(stats::optimHess(known, marginal))))
  expect_equal(coef(fit), c(mu = known[[1]], sd.a = exp(known[[2]]), sd.b = exp(known[[3]]), scale1 = 3),
    tolerance = 1e-4
  )
  found <- predict(fit, se.fit = TRUE)
  expect_equal(found$se.fit$sd, exp(known[2:3]) * relative[2:3], tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(found$fit$scale, c(3, 3, 2), tolerance = 1e-5)
  expect_identical(found$se.fit$scale[[3]], 0)
  # One at a bound of the optimiser has no standard error.
  bound <- xla_fit(model, upper = c(Inf, -3, Inf, Inf), start = replace(model$par, 2, -4))
  expect_equal(coef(bound)[["sd.a"]], exp(-3))
  expect_identical(is.na(diag(vcov(bound))), c(mu = FALSE, sd.a = TRUE, sd.b = FALSE, scale1 = FALSE))
  expect_snapshot(cran = TRUE, error = TRUE, {
    xla_objective(f, template, y, random = "u", constraints = list(u = xla_positive()))
  })
  expect_snapshot(xla_objective(f, template, y, constraints = list(mu = xla_positive())), cran = TRUE, error = TRUE)
  expect_snapshot(model$unlist(replace(template, "sd", list(c(a = 1, b = -1)))), cran = TRUE, error = TRUE)
})

test_that("objectives with constraints are sampled with the Jacobian", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(p, y) sum(dgamma(p$rate, 3, 2, log = TRUE)) + sum(y * log(p$share))
  template <- list(rate = c(1, 2), share = c(0.5, 0.5))
  constraints <- list(rate = xla_positive(), share = xla_simplex())
  model <- xla_objective(f, template, c(2, 1), constraints = constraints, negate = TRUE)
  set <- list(draws = 5, warmup = 0, chains = 1, seed = 1, progress = FALSE)
  of_model <- suppressWarnings(do.call(xla_sample, c(list(model), set)))
  of_function <- suppressWarnings(do.call(xla_sample, c(list(f, template, c(2, 1), constraints = constraints), set)))
  expect_equal(as.array(of_model), as.array(of_function))
  expect_equal(of_model$diagnostics$lp__, of_function$diagnostics$lp__)
  expect_equal(c(of_model$template), template)
  fixed <- update(model, y = c(1, 1))
  shared <- xla_objective(f, template, c(2, 1), constraints = constraints, map = list(rate = c(1, 1)), negate = TRUE)
  expect_snapshot(xla_sample(shared), cran = TRUE, error = TRUE)
  expect_snapshot(xla_sample(fixed, constraints = constraints), cran = TRUE, error = TRUE)
})

test_that("constraints that do not fit, and values that do not keep to them, are refused", {
  skip_unless_all()
  said <- function(code) expect_snapshot(code, error = TRUE, cran = TRUE)
  for_start <- function(constraints, start) constrained(constraints, start, call = NULL)
  said(for_start(list(taw = xla_positive()), list(tau = 1)))
  said(for_start(list(xla_positive()), list(tau = 1)))
  said(for_start(list(tau = xla_positive), list(tau = 1)))
  said(for_start(list(tau = list(xla_positive())), list(tau = 1)))
  said(for_start(xla_positive(), list(tau = 1)))
  said(for_start(list(a = xla_positive()), list(a = list(b = 1))))
  said(for_start(list(a = list(c = xla_positive())), list(a = list(b = 1))))
  said(for_start(list(r = xla_corr_cholesky()), list(r = 1:3)))
  said(for_start(list(u = xla_unit_vector()), list(u = 1)))
  said(for_start(list(p = xla_simplex()), list(p = numeric(0))))
  said(for_start(list(p = xla_lower(1:2)), list(p = 1:3)))
  refused <- function(constraint, x) said(for_start(list(x = constraint), list(x = x))$unconstrain(list(x = x), NULL))
  refused(xla_positive(), 0)
  refused(xla_lower(3), c(4, 3, 5, 6, 7))
  refused(xla_upper(-1), 1 / 3)
  refused(xla_interval(0, 1:2), c(0.5, 3))
  refused(xla_positive(), NaN)
  refused(xla_ordered(), c(1, 1))
  refused(xla_positive_ordered(), c(-1, 1))
  refused(xla_simplex(), c(0.5, 0.6))
  refused(xla_sum_to_zero(), 1:2)
  refused(xla_unit_vector(), c(1, 1))
  refused(xla_corr_cholesky(), matrix(c(1, 0, 2, 1), 2))
  refused(xla_cov_cholesky(), matrix(1, 2, 2))
  said(xla_lower())
  said(xla_lower("a"))
  said(xla_lower(NA_real_))
  said(xla_interval(1, 0))
  said(xla_interval(1:2, 3:5))
  expect_snapshot(print(xla_interval(0, 1)), cran = TRUE)
})

test_that("standard errors of a direction are those by its angle", {
  skip_without_plugin()
  set.seed(1)
  x <- matrix(rnorm(60), 30)
  y <- as.vector(2 * x %*% c(0.6, 0.8) + rnorm(30))
  loss <- function(u, k, s) -sum(dnorm(y, k * as.vector(x %*% u), exp(s), log = TRUE))
  by_vector <- xla_fit(xla_objective(function(p) loss(p$u, p$k, p$s), list(u = c(1, 0), k = 1, s = 0),
    constraints = list(u = xla_unit_vector(), k = xla_positive())
  ))
  by_angle <- xla_fit(xla_objective(function(p) loss(c(cos(p$t), sin(p$t)), p$k, p$s), list(t = 0.1, k = 1, s = 0)))
  expect_identical(attr(logLik(by_vector), "df"), 3L)
  angle <- coef(by_angle)[["t"]]
  errors <- sqrt(diag(vcov(by_angle)))
  expect_equal(unname(sqrt(diag(vcov(by_vector)))),
    unname(c(abs(c(sin(angle), cos(angle))) * errors[["t"]], errors[["k"]], errors[["s"]])),
    tolerance = 1e-4
  )
})
