# Transforms of numbers without constraints to parameters.

constrained <- xlaffi:::constrained

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
  single <- xla_jit(function(y) whole$constrain(y))(pjrt_buffer(other, "f32"))
  expect_identical(unique(vapply(flatten(single), function(x) format(dtype(x)), "")), "<f32>")
  expect_equal(lapply(flatten(single), as_array), flatten(second$made), tolerance = 1e-5, ignore_attr = TRUE)
})

test_that("parameters have first and second derivatives", {
  skip_without_plugin()
  whole <- constrained(constraints, at)
  y <- whole$unconstrain(at)
  # Where absolute values would have a kink, too
  y[whole$names %in% c("interval[2]", "corr[2]", "mixed[3]", "corr_2[1]")] <- 0
  f <- function(y) {
    made <- whole$constrain(y)
    made$log_jacobian + sum(sin(do.call(c, lapply(flatten(made$par), as.vector))))
  }
  gradient <- xla_grad(f)
  set.seed(2)
  way <- stats::rnorm(length(y))
  found <- xla_jit(function(y, way, near) {
    list(
      gradient = xla_jvp(f)(list(y), list(way))$tangent, hessian = xla_jvp(gradient)(list(y), list(way))$tangent,
      near = xla_vmap(f)(near), gradients = xla_vmap(gradient)(near)
    )
  })(y, way, rbind(y + 1e-5 * way, y - 1e-5 * way))
  expect_equal(found$gradient, (found$near[1] - found$near[2]) / 2e-5, tolerance = 1e-8)
  expect_equal(sum(colMeans(found$gradients) * way), found$gradient, tolerance = 1e-8)
  expect_equal(found$hessian, (found$gradients[1, ] - found$gradients[2, ]) / 2e-5, tolerance = 1e-7)
})

test_that("far out, parameters keep to their constraints and derivatives are finite", {
  skip_without_plugin()
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

test_that("constraints that do not fit, and values that do not keep to them, are refused", {
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
  said(xla_lower("a"))
  said(xla_lower(NA_real_))
  said(xla_interval(1, 0))
  said(xla_interval(1:2, 3:5))
  expect_snapshot(print(xla_interval(0, 1)), cran = TRUE)
})
