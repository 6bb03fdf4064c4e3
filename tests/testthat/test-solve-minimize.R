rosenbrock <- function(p, a) (a - p[1])^2 + 100 * (p[2] - p[1]^2)^2
methods <- c("BFGS", "L-BFGS", "Newton")

test_that("minima are where they are, by every method, with their derivatives to second order", {
  skip_without_plugin()
  all <- function(f) stats::setNames(lapply(methods, f), methods)
  run <- xla_jit(function(a, w) {
    list(
      rosenbrock = all(function(m) hlo_minimize(rosenbrock, c(-1.2, 1), a, method = m)),
      # x = a w: as a list, with values from outside
      tree = hlo_minimize(
        function(p) sum((p$x - a * w)^2) + sum(cosh(p$y - 1)) + sum(p$y[1, ]),
        list(x = c(u = 0, v = 0), y = matrix(0, 2, 2))
      ),
      squares = hlo_minimize(function(p, a) c(a - p[1], 10 * (p[2] - p[1]^2)), c(-1.2, 1), a, method = "Gauss-Newton")
    )
  })
  out <- run(2, c(1, 3))
  for (fit in c(out$rosenbrock, list(out$squares))) {
    expect_equal(fit$par, c(2, 4), tolerance = 1e-7)
    expect_true(fit$converged)
    expect_identical(fit$reason, 0L)
    expect_lt(max(abs(as.vector(fit$gradient))), 1e-6)
    expect_lte(fit$iterations, fit$evaluations)
  }
  expect_equal(as.vector(out$tree$par$x), c(2, 6), tolerance = 1e-7)
  # sinh(y - 1) + 1 = 0 in the first row
  expect_equal(out$tree$par$y, rbind(rep(1 - asinh(1), 2), 1), tolerance = 1e-7)
  expect_true(out$tree$converged)
  # par = (a, a^2) and value = 0
  fit <- function(a, method) hlo_minimize(rosenbrock, c(-1.2, 1), a, method = method)
  second <- xla_grad(xla_grad(function(a) sum(fit(a, "Newton")$par)))
  expect_equal(second(2), 2, tolerance = 1e-5)
  skip_unless_all()
  d <- xla_jit(function(a) {
    list(
      first = xla_jvp(function(a) fit(a, "BFGS")$par)(a, 1)$tangent,
      reverse = lapply(methods, function(m) xla_grad(function(a) sum(fit(a, m)$par * c(1, 10)))(a)),
      mixed = xla_jvp(xla_grad(function(a) sum(fit(a, "Newton")$par)))(a, 1)$tangent,
      value = xla_grad(function(a) fit(a, "L-BFGS")$value)(a)
    )
  })(2)
  expect_equal(as.vector(d$first), c(1, 4), tolerance = 1e-6)
  expect_equal(unlist(lapply(d$reverse, as.vector)), rep(41, length(methods)), tolerance = 1e-6)
  expect_equal(as.vector(d$mixed), 2, tolerance = 1e-5)
  expect_equal(as.vector(d$value), 0, tolerance = 1e-6)
})

test_that("many fits at once are those of glm() and nls(), each with its own end", {
  skip_without_plugin()
  skip_unless_all()
  set.seed(3)
  n <- 30
  x <- cbind(1, rnorm(n))
  y <- t(replicate(5, rbinom(n, 1, plogis(x %*% c(0.3, 1)))))
  loss <- function(b, y) {
    eta <- as.vector(x %*% b)
    sum(log1p(exp(eta)) - y * eta)
  }
  time <- 1:8
  z <- outer(c(1, 2, 3), time, function(a, t) a * exp(-0.4 * t)) + rnorm(24, sd = 0.01)
  decay <- function(p, z) z - p[["a"]] * exp(-p[["b"]] * time)
  methods <- c("BFGS", "Newton")
  batch <- xla_jit(function(y, z) {
    list(
      xla_vmap(function(y) lapply(methods, function(m) hlo_minimize(loss, c(0, 0), y, method = m)[-3]))(y),
      xla_vmap(function(z) hlo_minimize(decay, c(a = 1, b = 1), z, method = "Gauss-Newton")[-3])(z)
    )
  })(y, z)
  pick <- function(fit, i) lapply(fit, function(part) if (is.matrix(part)) part[i, ] else part[[i]])
  for (i in 1:3) {
    reference <- stats::coef(stats::glm(y[i, ] ~ x - 1, family = stats::binomial()))
    for (m in 1:2) {
      together <- pick(batch[[1]][[m]], i)
      expect_equal(together$par, unname(reference), tolerance = 1e-6)
    }
    frame <- data.frame(z = z[i, ], time = time)
    reference <- stats::nls(z ~ a * exp(-b * time), frame, list(a = 1, b = 0.5))
    together <- pick(batch[[2]], i)
    expect_equal(together$par, unname(stats::coef(reference)), tolerance = 1e-6)
    expect_equal(together$value, stats::deviance(reference), tolerance = 1e-9)
  }
  one <- xla_jit(function(y, z, tol) {
    c(
      lapply(methods, function(m) hlo_minimize(loss, c(0, 0), y, method = m, tol = tol)[-3]),
      list(hlo_minimize(decay, c(a = 1, b = 1), z, method = "Gauss-Newton", tol = tol)[-3])
    )
  })
  # A criterion that is met to within rounding may be met one step later in other machine code.
  expect_same_end <- function(together, alone) {
    expect_identical(together[5:6], lapply(alone[5:6], as.vector))
    expect_lte(abs(together[[3]] - as.vector(alone[[3]])), 1)
    expect_lte(abs(together[[4]] - as.vector(alone[[4]])), 2)
  }
  for (i in 1:3) {
    alone <- one(y[i, ], z[i, ], sqrt(.Machine$double.eps))
    for (m in 1:2) {
      together <- pick(batch[[1]][[m]], i)
      expect_same_end(together, alone[[m]])
      expect_equal(together[1:2], lapply(alone[[m]][1:2], as.vector), tolerance = 1e-7)
    }
    expect_same_end(pick(batch[[2]], i), alone[[3]])
  }
  # The derivative of a fit by its data, in a batch. Differences take fits that are exact to the last digits.
  slopes <- xla_vmap(function(z) {
    xla_jacobian(function(z) hlo_minimize(decay, c(a = 1, b = 1), z, method = "Gauss-Newton")$par)(z)
  })(z)
  fit <- function(z) one(y[1, ], z, 1e-13)[[3]]$par
  shifted <- function(j, h) replace(z[2, ], j, z[2, j] + h)
  differences <- vapply(1:8, function(j) (fit(shifted(j, 1e-4)) - fit(shifted(j, -1e-4))) / 2e-4, numeric(2))
  expect_equal(slopes[2, , ], differences, tolerance = 1e-5)
})

test_that("searches end for a reason", {
  skip_without_plugin()
  # Functions by number, so that a batch is one search: flat, NaN at the start, without a bound, with a domain, a kink,
  # without a bound though all values are finite
  cases <- list(
    function(x) 0 * x, function(x) log(x - 3), function(x) -exp(5 * x), function(x) -log(x) - log(1 - x),
    function(x) abs(x - 1), function(x) -x^2
  )
  if (!all_run()) methods <- "BFGS"
  case <- function(i, m) hlo_minimize(function(x) hlo_case(i, cases, x), 0.3, method = m)
  out <- xla_jit(function(i) {
    stats::setNames(lapply(methods, function(m) xla_vmap(function(i) case(i, m))(i)), methods)
  })(1:6)
  expect_identical(out$BFGS$reason[6], 4L)
  expect_lt(out$BFGS$evaluations[6], 100)
  for (m in methods) {
    fit <- out[[m]]
    expect_identical(fit$reason[c(1, 2, 4)], c(0L, 3L, 0L), info = m)
    expect_true(fit$reason[3] %in% c(1L, 4L), info = m)
    expect_identical(fit$converged, fit$reason == 0L)
    expect_equal(fit$par[4:5], c(0.5, 1), tolerance = 1e-5)
    expect_identical(fit$par[1:2], c(0.3, 0.3))
    # What `f` has at the start, also where that is no number
    expect_identical(c(fit$value[1:2], fit$gradient[1]), c(0, NaN, 0))
  }
  expect_identical(xla_reason(c(0L, 3L)), c("converged", "not finite"))
  lost <- xla_jit(function(a) {
    of <- function(method, f) hlo_minimize(f, c(NaN, 1), method = method)[c("value", "gradient", "reason")]
    list(of("Newton", function(p) sum((p - a)^2)), of("Gauss-Newton", function(p) p - a))
  })(1)
  expect_identical(lost[[1L]], list(value = NaN, gradient = c(NaN, 0), reason = 3L))
  expect_identical(lost[[2L]]$value, NaN)
  skip_unless_all()
  out <- xla_jit(function(a) {
    list(
      few = hlo_minimize(rosenbrock, c(-1.2, 1), a, method = "BFGS", max_iter = 3),
      few_newton = hlo_minimize(rosenbrock, c(-1.2, 1), a, method = "Newton", max_iter = 3),
      none = hlo_minimize(rosenbrock, c(-1.2, 1), a, method = "BFGS", max_iter = 0)
    )
  })(1)
  expect_identical(c(out$few$reason, out$few_newton$reason, out$none$reason), c(1L, 1L, 1L))
  expect_identical(c(out$few$iterations, out$few_newton$iterations), c(3L, 3L))
  expect_identical(out$none$par, c(-1.2, 1))
  expect_identical(out$none$evaluations, 1L)
  # No derivative of what has not converged, and none by the start
  slopes <- xla_jit(function(a) {
    few <- function(a) hlo_minimize(rosenbrock, c(-1.2, 1), a, max_iter = 3)
    list(
      forward = xla_jvp(function(a) few(a)$par)(a, 1)$tangent, reverse = xla_grad(function(a) few(a)$par[1])(a),
      value = xla_grad(function(a) few(a)$value)(a),
      start = xla_grad(function(s) hlo_minimize(rosenbrock, c(s, s), a)$par[1])(a)
    )
  })(1)
  expect_true(all(is.nan(unlist(slopes[1:3]))))
  expect_identical(as.vector(slopes$start), 0)
})

test_that("a saddle is left by Newton's method, and single precision and sizes of 1 go", {
  skip_without_plugin()
  skip_unless_all()
  x <- pjrt_buffer(c(1, 2, 3), "f32")
  out <- xla_jit(function(x) {
    a <- 2
    start <- hlo_constant(c(0, 0, 0), "f32")
    list(
      saddle = hlo_minimize(function(p) p[1]^2 * 2 + p[2]^4 - a * p[2]^2, c(0.5, 0), method = "Newton"),
      f32 = lapply(methods, function(m) hlo_minimize(function(p) sum(cosh(p - x)), start, method = m)),
      f32_squares = hlo_minimize(function(p) c(p - x, p[1] * p[2]), start, method = "Gauss-Newton"),
      one = hlo_minimize(function(p) (p - a)^2, 5, history = 1, method = "L-BFGS"),
      # Fewer residuals than parameters
      wide = hlo_minimize(function(p) p[1] * p[2] - a, c(1, 3), method = "Gauss-Newton")
    )
  })(x)
  expect_equal(abs(as.vector(as_array(out$saddle$par))), c(0, 1), tolerance = 1e-6)
  for (fit in out$f32) {
    expect_equal(as.vector(as_array(fit$par)), c(1, 2, 3), tolerance = 1e-3)
    expect_true(as_array(fit$converged))
  }
  expect_true(as_array(out$f32_squares$converged))
  expect_equal(as.vector(as_array(out$one$par)), 2, tolerance = 1e-7)
  expect_equal(prod(as_array(out$wide$par)), 2, tolerance = 1e-7)
})

test_that("many parameters are found by L-BFGS, and their derivatives by conjugate gradients", {
  skip_without_plugin()
  skip_unless_all()
  n <- 250
  d <- seq(1, 5, length.out = n)
  f <- function(p, a) sum(d * (p - a)^2) / 2 + sum(p^4) / 4
  fit <- function(a) hlo_minimize(f, numeric(n), a, method = "L-BFGS", tol = 1e-11)
  out <- xla_jit(function(a) {
    list(
      fit = fit(a), forward = xla_jvp(function(a) fit(a)$par)(a, 1)$tangent,
      reverse = xla_grad(function(a) sum(fit(a)$par))(a),
      second = xla_jvp(function(a) xla_jvp(function(a) fit(a)$par)(a, 1)$tangent)(a, 1)$tangent
    )
  })(0.7)
  p <- as.vector(out$fit$par)
  # d (p - a) + p^3 = 0
  expect_equal(d * (p - 0.7) + p^3, numeric(n), tolerance = 1e-9)
  first <- d / (d + 3 * p^2)
  expect_equal(as.vector(out$forward), first, tolerance = 1e-8)
  expect_equal(as.vector(out$reverse), sum(first), tolerance = 1e-8)
  expect_equal(as.vector(out$second), -6 * p * first^2 / (d + 3 * p^2), tolerance = 1e-7)
})

test_that("what cannot be minimised is refused", {
  skip_without_plugin()
  try_it <- function(...) xla_jit(function(a) hlo_minimize(...)$par)(1)
  expect_snapshot(error = TRUE, {
    try_it(1, c(1, 2))
    try_it(function(x) x, c(1, 2))
    try_it(function(x) sum(x > 0), c(1, 2))
    try_it(function(x) sum(x), numeric())
    try_it(function(x) sum(x), c(1i, 2))
    try_it(function(x) sum(x), "a")
    try_it(function(x) sum(x), 1, method = "CG")
    try_it(function(x) sum(x), 1, tol = -1)
    try_it(function(x) sum(x), 1, max_iter = NULL)
    try_it(function(x) sum(x), 1, history = 0)
    try_it(function(x) sum(x), 1, history = 2.5)
    try_it(function(x) sum(x), 1, y = 2)
    xla_reason(99)
  })
})
