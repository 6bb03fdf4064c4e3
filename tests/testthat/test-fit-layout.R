# Which parameters are the optimiser's, and what names say of them
squares <- function(p) sum((unlist_values(p) - seq_along(unlist_values(p)))^2)
unlist_values <- function(p) do.call(c, lapply(p, function(part) if (is.list(part)) unlist_values(part) else part))
template <- list(a = 5, m = list(b = 5, c = c(x = 5, y = 5)), v = c(r = 5, s = 5))

test_that("what is fixed stays, wherever it stands", {
  skip_without_plugin()
  all <- c(a = 5, m.b = 5, m.cx = 5, m.cy = 5, v.r = 5, v.s = 5)
  cases <- list(
    list(list(a = NA), 1), list(list(v = NA), 5:6), list(list(v = factor(c(NA, 1))), 5),
    list(list(v = factor(c(1, NA))), 6), list(list(v = c(s = NA)), 6), list(list(v = factor(c(s = 1, r = NA))), 5),
    list(list(m = NA), 2:4), list(list(m = list(b = NA)), 2), list(list(m = list(c = NA)), 3:4),
    list(list(m = list(c = c(y = NA))), 4), list(list(m = list(c = factor(c(NA, 1)), b = factor(1)), a = NA), c(1, 3)),
    list(list(m = factor(c(1, 2, NA))), 4), list(list(a = NA, m = NA, v = c(r = NA)), 1:5)
  )
  for (case in cases) {
    model <- xla_objective(squares, template, map = case[[1L]])
    free <- setdiff(1:6, case[[2L]])
    shown <- deparse1(case[[1L]])
    expect_identical(unname(model$par), unname(all[free]), label = shown)
    expect_equal(model$fn(model$par - 1), sum((replace(all, free, 4) - 1:6)^2), label = shown)
    expect_equal(unname(model$gr(model$par)), 2 * (5 - free), label = shown)
    expect_equal(unlist(model$relist(model$par + 1)), replace(all, free, 6), ignore_attr = "names", label = shown)
  }
  # Shared within a part of a part
  model <- xla_objective(squares, template, map = list(m = list(c = c(1, 1))))
  expect_equal(unname(model$gr(model$par)), 2 * c(5 - 1, 5 - 2, 10 - 7, 5 - 5, 5 - 6))
  expect_snapshot(error = TRUE, {
    xla_objective(squares, template, map = list(m = list(q = NA)))
    xla_objective(squares, template, map = list(m = list(NA)))
    xla_objective(squares, template, map = list(m = c(b = NA)))
    xla_objective(squares, template, map = list(a = list(NA)))
    xla_objective(squares, template, map = list(v = c(t = NA)))
    xla_objective(squares, template, map = list(v = 1:3))
    xla_objective(squares, c(template, list(u = numeric())), random = "u")
    xla_objective(squares, template, map = list(m = list(c = 1:3)))
    xla_objective(squares, template, map = list(a = TRUE))
    xla_objective(squares, template, map = list(m = list(b = 1)))
    xla_objective(squares, template, map = list(v = c(TRUE, FALSE)))
    xla_objective(squares, template, map = list(v = c(s = 0)))
  })
})

test_that("bounds with names are for the parameters that they name", {
  skip_without_plugin()
  model <- xla_objective(function(p) (p$mu - 1)^2 + (p$ls - 0.3)^2, list(mu = 1, ls = 2))
  expect_equal(xla_fit(model, lower = c(ls = 0.5, mu = -1))$par, c(mu = 1, ls = 0.5))
  expect_equal(xla_fit(model, lower = c(ls = 0.5))$par, c(mu = 1, ls = 0.5))
  expect_equal(xla_fit(model, c(0, 0), upper = c(mu = 0.5))$par, c(mu = 0.5, ls = 0.3))
  plain <- xla_objective(function(p) sum(p^2), c(1, 2))
  expect_snapshot(error = TRUE, {
    xla_fit(model, lower = c(sd = 0))
    xla_fit(model, upper = c(mu = 0, mu = 1))
    xla_fit(plain, lower = c(a = 0))
    xla_fit(plain, lower = 1, upper = c(2, 0))
    xla_fit(model, lower = c(ls = 3), upper = c(ls = -3))
  })
})

test_that("errors name the argument that is wrong", {
  skip_without_plugin()
  line <- function(p, x, y) -sum(dnorm(y, p$a + p$b * x, 1, log = TRUE))
  start <- list(a = 0, b = 0)
  model <- xla_objective(line, start, x = c(-1, 0, 1), y = c(0, 1, 5))
  fit <- xla_fit(model)
  positive <- xla_objective(function(p) p$s, list(s = 1), constraints = list(s = xla_positive()))
  expect_snapshot(error = TRUE, {
    xla_objective(line, start, x = c(-1, 0, 1), yy = c(0, 1, 5))
    xla_objective(line, start, 1, 2, 3)
    xla_objective(line, start, x = c(-1, 0, 1))
    xla_fit(model, start = c(a = 0, zz = 1))
    xla_fit(model, start = 1)
    xla_fit(model, start = start)
    xla_fit(model, start = c("a", "b"))
    xla_fit(model, control = 5)
    xla_fit(model, control = list(5))
    predict(fit, function(p) p$a, level = 0.9)
    predict(fit, function(p, z) p$a * z)
    simulate(fit, 1, seed = "a", draw = function(p) 1)
    simulate(fit, 1, draw = function() 1)
    xla_sample(model, c(m = 1))
    xla_sample(model, list(a = 1))
    xla_sample(line, start, x = 1)
    xla_sample(model, generated = function(p) p$a)
    model$relist(1)
    positive$unlist(list(s = -1))
    xla_sample(positive, list(s = -1))
    xla_sample(positive, inits = list(list(s = -1)), chains = 1)
  })
  # What has a default, or is not looked at, may be left out.
  some <- function(p, x, y = 2 * x, z) if (missing(z)) sum((p - y)^2) else z
  expect_identical(xla_objective(some, 3, x = 1)$fn(4), 4)
  expect_identical(xla_objective(function(p, ...) sum((p - ..1)^2), 3, 1)$fn(4), 9)
})

test_that("arguments of the user's functions are not taken for others", {
  skip_without_plugin()
  f <- function(p, x) sum(p^3) + sum(x^2 * p)
  expect_identical(xla_hessian(f)(c(1, 2), x = c(5, 7)), diag(c(6, 12)))
  expect_identical(xla_hessian(f)(x = c(5, 7), p = c(1, 2)), diag(c(6, 12)))
  root <- xla_custom_root(function(x, s) x^2 - s, function(f, start) {
    hlo_fori(1, 30, function(i, x) x - f(x) / (2 * x), start)
  })
  expect_equal(c(root(1, s = 9), root(s = 9, 1), root(s = 9, start = 1)), c(3, 3, 3))
  away <- function(p, s) sum((p - s)^2)
  forwarded <- function(...) hlo_minimize(away, ...)
  expect_equal(xla_jit(function(v) forwarded(start = c(0, 0), s = v)$par)(c(1, 2)), c(1, 2))
  expect_snapshot(error = TRUE, {
    root(s = 9)
    xla_jit(function(v) hlo_minimize(away, c(0, 0), s = v))(1)
    xla_jit(function(v) forwarded(c(0, 0), s = v))(1)
    xla_objective(function(x, p) sum(x * p), 1, p = 2)
    xla_jit(function(t) hlo_cond(t > 0, function(t) t, function(t) -t, t = t))(1)
    xla_sample(away, c(0, 0), s = 1)
  })
})
