fr <- function(p, a) (a - p[1])^2 + 100 * (p[2] - p[1]^2)^2

test_that("uniroot(), optimize() and integrate() are R's", {
  skip_without_plugin()
  expect_as_r(
    uniroot(function(x) x^3 - a, c(0, 5))$root, uniroot(function(x, b) exp(x) - b, lower = 0, upper = 3, b = a)$iter,
    uniroot(function(x) cos(x) - x / a, c(0, 1.5), tol = 1e-9)[c("f.root", "estim.prec")],
    optimize(function(x) (x - a / 3)^2, c(0, 1)),
    optimise(function(x, b) -(x - b / 3)^4, lower = 0, upper = 2 * a, b = a, maximum = TRUE),
    optimize(function(x) sin(a * x), c(0, 6), tol = 1e-8), optimize(function(x) x * a, c(0, 1)),
    integrate(function(x) exp(-a * x), 0, Inf)[1:3], integrate(function(x) dnorm(x, a), -1.96, a)[1:3],
    integrate(function(x, b) 1 / (1 + b * x^2), -5, 5, b = a, rel.tol = 1e-10)[1:3],
    # What is known is R's own.
    uniroot(function(x) x^2 - 2, c(0, 2))$root * a, optim(c(1, 1), function(p) sum((p - 3)^2))$par[1] * a,
    data = list(a = 2), tolerance = 1e-9
  )
  skip_unless_all()
  out <- xla_jit(function(a) {
    list(
      none = uniroot(function(x) x^2 + a, c(0, 2)), pole = integrate(function(x) 1 / (x * a), 0, 1)$value,
      kept = integrate(function(x) cos(1000 * a * x), 0, 1, subdivisions = 5, stop.on.error = FALSE)$value,
      slopes = lapply(
        list(
          function(a) uniroot(function(x) x^3 - a, c(0, 5), tol = 1e-12)$root,
          function(a) optimize(function(x) (x - a / 3)^2 + x^4, c(0, 1), tol = 1e-9)$minimum,
          function(a) optimize(function(x) (x - a / 3)^2 + a, c(0, 1))$objective,
          function(a) optimize(function(x) x * a, c(0, 1))$minimum,
          function(a) integrate(function(x) exp(-a * x), 0, Inf, rel.tol = 1e-9)$value
        ), function(f) xla_grad(f)(a)
      )
    )
  })(1)
  expect_true(all(is.nan(unlist(out$none[c("root", "f.root", "estim.prec")]))))
  expect_true(is.nan(out$pole))
  expect_false(is.nan(out$kept))
  x <- uniroot(function(x) 2 * (x - 1 / 3) + 4 * x^3, c(0, 1), tol = 1e-14)$root
  expect_equal(unlist(out$slopes), c(1 / 3, 2 / 3 / (2 + 12 * x^2), 1, 0, -1), tolerance = 1e-5)
})

test_that("optim(), nlminb() and nlm() find R's minima, with R's results", {
  skip_without_plugin()
  start <- c(-1.2, 1)
  out <- xla_jit(function(a) {
    list(
      bfgs = optim(start, fr, a = a, method = "BFGS", hessian = TRUE), nlminb = nlminb(start, function(p) fr(p, a)),
      nlm = nlm(fr, start, a = a, hessian = TRUE)
    )
  })(1)
  f <- function(a) {
    list(
      lbfgs = optim(start, function(p) -fr(p, a), method = "L-BFGS-B", control = list(fnscale = -1)),
      few = optim(start, fr, NULL, a, method = "BFGS", control = list(maxit = 2))$convergence,
      few_nlm = nlm(fr, start, a, iterlim = 2)$code,
      few_nlminb = nlminb(start, fr, a = a, control = list(iter.max = 2))[3],
      at = optimHess(c(1, 1), fr, a = a),
      named = optim(c(u = 0, v = 0), function(p) (p["u"] - a)^2 + p["v"]^2, method = "BFGS")$par
    )
  }
  r <- list(
    bfgs = optim(start, fr, a = 1, method = "BFGS", hessian = TRUE), nlminb = nlminb(start, fr, a = 1),
    nlm = nlm(fr, start, a = 1, hessian = TRUE)
  )
  for (name in names(r)) {
    expect_identical(setdiff(names(r[[name]]), "message"), names(out[[name]]))
    parameters <- if (name == "nlm") "estimate" else "par"
    expect_equal(out[[name]][[parameters]], c(1, 1), tolerance = 1e-5)
    code <- if (name == "nlm") "code" else "convergence"
    expect_identical(out[[name]][[code]], r[[name]][[code]])
  }
  hessian <- matrix(c(802, -400, -400, 200), 2)
  expect_equal(out$bfgs$hessian, hessian, tolerance = 1e-5)
  expect_equal(out$nlm$hessian, hessian, tolerance = 1e-4)
  skip_unless_all()
  out <- xla_jit(f)(1)
  expect_equal(out$at, hessian, tolerance = 1e-12)
  expect_equal(out$lbfgs$par, c(1, 1), tolerance = 1e-6)
  expect_equal(out$lbfgs$value, 0, tolerance = 1e-12)
  expect_identical(unlist(out[c("few", "few_nlm", "few_nlminb")], use.names = FALSE), c(1L, 4L, 1L))
  expect_equal(out$named, c(1, 0), tolerance = 1e-7)
  slope <- xla_grad(function(a) sum(nlminb(start, fr, a = a)$par * c(1, 10)))
  expect_equal(as.vector(slope(2)), 41, tolerance = 1e-6)
})

test_that("what R's solvers cannot do with values is refused", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, 1))
  expect_snapshot(error = TRUE, {
    trace(function(a) optim(c(1, 1), fr, a = a))
    trace(function(a) optim(c(1, 1), fr, a = a, method = "BFGS", lower = 0))
    trace(function(a) optim(c(1, 1), fr, a = a, method = "BFGS", control = list(reltol = 1e-3)))
    trace(function(a) nlminb(c(1, 1), fr, a = a, scale = 2))
    trace(function(a) nlminb(c(1, 1), fr, a = a, upper = a))
    trace(function(a) nlm(fr, c(1, 1), a, typsize = c(2, 2)))
    trace(function(a) nlm(fr, c(1, 1), a, stepmax = 3))
    trace(function(a) uniroot(function(x) x - a, c(0, 2), extendInt = "yes"))
    trace(function(a) uniroot(function(x) x - a, c(0, 2), f.lower = -1))
    trace(function(a) uniroot(function(x) x - a, c(2, 2)))
    trace(function(a) optimize(function(x) c(x, a), c(0, 2)))
    trace(function(a) integrate(function(x) x * a, 0, 1, keep.xy = TRUE))
    trace(function(a) integrate(function(x) c(x, a), 0, 1))
    trace(function(a) optimHess(c(1, 1), function(p) p * a))
    trace(function(a) uniroot(function(x) x - a))
    trace(function(a) optimHess(c(1, 1), fr, a = a, control = list(parscale = 2)))
  })
})
