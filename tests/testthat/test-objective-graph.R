# `f` of an objective is called once for the programs of its value, gradient and Hessian, as long as nothing changes.

# A function that counts its calls, and how many there were
counted_calls <- function(f) {
  calls <- 0L
  list(
    f = function(...) {
      calls <<- calls + 1L
      f(...)
    },
    calls = function() calls
  )
}

# By differences, with an error of fourth order
slopes <- function(f, x, h = 1e-3) {
  sapply(seq_along(x), function(i) {
    at <- function(step) f(replace(x, i, x[[i]] + step * h))
    (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
  })
}

test_that("a function is called once, and its programs are those of each call", {
  skip_without_plugin()
  y <- c(0.3, -1.2, 0.8, 2.1, 0.4, -0.7, 1.5, 0.2)
  with_counts <- all_run()
  likelihood <- function(p, y) {
    h <- exp(p$level)
    sum <- 0
    for (t in seq_along(y)) {
      if (t > 1) h <- exp(p$level) + 0.3 * y[t - 1]^2 + plogis(p$memory) * h
      sum <- sum + dnorm(y[t], p$mean[1] * p$mean[2], sqrt(h), log = TRUE)
      if (with_counts) sum <- sum + dpois(3, h, log = TRUE)
    }
    -sum
  }
  counted <- counted_calls(likelihood)
  par <- list(level = -1, memory = 0.5, mean = c(a = 0.1, b = 2))
  objective <- xla_objective(counted$f, par, y = y)
  x <- objective$par
  expect_equal(objective$fn(x), likelihood(par, y))
  expect_equal(objective$gr(x), slopes(objective$fn, x), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(objective$he(x), slopes(objective$gr, x), tolerance = 1e-8, ignore_attr = TRUE)
  expect_identical(counted$calls(), 1L)
  other <- update(objective, y = rev(y))
  expect_equal(other$fn(x), likelihood(par, rev(y)))
  expect_identical(counted$calls(), 1L)
  # Other lengths are other programs.
  shorter <- update(objective, y = y[1:5])
  expect_equal(shorter$fn(x), likelihood(par, y[1:5]))
  expect_identical(counted$calls(), 2L)
})

test_that("so is one with random effects, with fixed parameters and with constraints", {
  skip_without_plugin()
  skip_unless_all()
  y <- c(3, 0, 2, 5, 1, 1)
  f <- function(p, y) -sum(dpois(y, exp(p$mu + p$u), log = TRUE)) - sum(dnorm(p$u, 0, p$sd, log = TRUE)) + p$none^2
  counted <- counted_calls(f)
  make <- function(f) {
    xla_objective(f, list(mu = 0.2, sd = 1, u = numeric(6), none = 3), y, random = "u", map = list(none = NA),
      constraints = list(sd = xla_positive())
    )
  }
  objective <- make(counted$f)
  x <- c(0.4, -0.3)
  expect_equal(objective$gr(x), slopes(objective$fn, x), tolerance = 1e-7, ignore_attr = TRUE)
  expect_equal(objective$he(x), slopes(objective$gr, x), tolerance = 1e-7, ignore_attr = TRUE)
  expect_identical(counted$calls(), 1L)
  # With another objective made in between it is called again, and gives the same.
  plain <- make(f)
  first <- make(function(p, y) f(p, y))
  invisible(make(f))
  expect_equal(first$fn(x), objective$fn(x), tolerance = 1e-13)
  expect_equal(plain$he(x), objective$he(x), tolerance = 1e-10)
})

test_that("what the function reads is read again where it has changed", {
  skip_without_plugin()
  scale <- 2
  withr::local_options(xlaffi_test_shift = 1)
  f <- function(x) sum((scale * x - getOption("xlaffi_test_shift"))^2)
  objective <- xla_objective(f, c(1, 2))
  scale <- 3
  expect_identical(objective$fn(c(1, 2)), 4 + 25)
  withr::local_options(xlaffi_test_shift = 2)
  expect_identical(objective$gr(c(1, 2)), c(6, 24))
  scale <- 1
  expect_identical(objective$he(c(1, 2)), diag(2, 2))
  expect_identical(objective$fn(c(1, 2)), 1)
})

test_that("loops, ops and values that functions name are called as often as it takes", {
  skip_without_plugin()
  triple <- ffi_op(function(x) x * 3, jvp = function(primals, results, tangents) tangents[[1]] * 3, name = "triple")
  keeping <- ffi_op(function(x) exp(x), name = "keeping", vjp = list(
    forward = function(primals) list(exp(primals$x), exp(primals$x)),
    reverse = function(residuals, cotangents) list(x = residuals * cotangents)
  ))
  functions <- list(
    function(p) sum(triple(p)^2), function(p) sum(keeping(p)^2),
    function(p) sum(hlo_while(function(x) sum(x) < 100, function(x) x * (2 + p[1]), p)),
    function(p) sum(hlo_scan(function(carry, x) list(carry = carry + x * p[2], y = x), 0, p)$carry),
    function(p) {
      scaled <- ffi_op(function(x) x * p[1], jvp = function(primals, results, tangents) tangents[[1]] * p[1])
      sum(scaled(xla_stop_gradient(p))) + sum(p^3)
    },
    function(p) hlo_cond(p[1] > 0, function() sum(p^2), function() sum(p)),
    function(p) xla_grad(function(x) sum(x^3 * p[2]))(p)[1]
  )
  is_backward <- function(f) !"hlo_while" %in% all.names(body(f))
  x <- c(0.5, 1.5)
  found <- xla_jit(function(x) lapply(functions, function(f) list(f(x), if (is_backward(f)) xla_grad(f)(x))))(x)
  for (i in seq_along(functions)) {
    objective <- xla_objective(functions[[i]], x)
    expect_equal(objective$fn(x), as.vector(found[[i]][[1L]]))
    # Loops of unknown length have derivatives forward.
    slope <- if (is_backward(functions[[i]])) as.vector(found[[i]][[2L]]) else slope_of(objective$fn, x)
    expect_equal(objective$gr(x), slope, tolerance = 1e-8)
  }
})
