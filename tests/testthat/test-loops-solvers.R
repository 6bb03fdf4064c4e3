# Solvers that turns of R's loops call: each row of such turns calls one (R/jit-later.R).

set.seed(2)
counts <- rpois(9, 3)
places <- round(rnorm(9), 2)
gaps <- replace(places, c(2, 5, 7), NA)

test_that("turns that call a solver are one loop with one solver, with R's values and the batch's derivatives", {
  skip_without_plugin()
  one <- function(y, x, p) {
    integrate(function(u) dpois(y, exp(p[1] + x * u)) * dnorm(u, 0, exp(p[2])), -6, 6)$value
  }
  f <- function(p) {
    total <- 0
    for (i in seq_along(counts)) total <- total + log(one(counts[i], places[i], p))
    total
  }
  batch <- function(p) sum(log(xla_vmap(function(y, x) one(y, x, p))(counts, places)))
  p <- c(0.8, -0.5)
  found <- xla_grad(f, value = TRUE)(p)
  expect_equal(found$value, f(p), tolerance = 1e-9)
  slopes <- vapply(1:2, function(j) {
    step <- replace(c(0, 0), j, 1e-4)
    (f(p + step) - f(p - step)) / 2e-4
  }, 0)
  expect_equal(found$gradient, slopes, tolerance = 1e-6)
  # The first turn's, and that of all others
  expect_lt(loops_in(f, p), 8)
  skip_unless_all()
  expect_equal(xla_grad(f)(p), xla_grad(batch)(p), tolerance = 1e-9)
  expect_equal(xla_hessian(f)(p), xla_hessian(batch)(p), tolerance = 1e-8)
  expect_equal(xla_vmap(f)(rbind(p, 2 * p)), c(f(p), f(2 * p)), tolerance = 1e-9, ignore_attr = TRUE)
  by_apply <- function(p) sum(log(sapply(seq_along(counts), function(i) one(counts[i], places[i], p))))
  expect_equal(xla_grad(by_apply)(p), xla_grad(batch)(p), tolerance = 1e-9)
})

test_that("roots and minima in turns, also of turns before, have R's values and differences' slopes", {
  skip_without_plugin()
  skip_unless_all()
  functions <- list(
    roots = function(p) {
      s <- 0
      for (i in seq_along(counts)) {
        s <- s + uniroot(function(u) u + exp(u) * p[1] - counts[i] * p[2], c(-20, 20), tol = 1e-12)$root^2
      }
      s
    },
    # What a turn takes of the one before it, and places that come again
    chain = function(p) {
      u <- p[1]
      for (i in 1:12) u <- uniroot(function(v) v + v^3 - u - places[i %% 4 + 1] * p[2], c(-9, 9), tol = 1e-12)$root
      u
    },
    minima = function(p) {
      s <- 0
      for (x in places) {
        found <- optimize(function(u) (u - p[1] * x)^2 + p[2] * u^4, c(-3, 3), tol = 1e-10)
        s <- s + found$minimum^2 + found$objective
      }
      s
    },
    # Turns of two kinds
    gaps = function(p) {
      s <- 0
      for (x in gaps) {
        if (is.na(x)) next
        s <- s / 2 + uniroot(function(u) u + u^3 * p[1] - x * p[2], c(-9, 9), tol = 1e-12)$root
      }
      s
    },
    # Two turns only, with ends that differ, of integers
    few = function(p) {
      s <- 0
      for (i in 1:2) s <- s + integrate(function(u) exp(-p[1] * u * i) * p[2], 0L, i)$value
      s
    }
  )
  p <- c(0.5, 1.2)
  all <- function(p) vapply(functions, function(f) f(p), 0)
  program <- function(p) do.call(c, lapply(unname(functions), function(f) f(p)))
  expect_equal(xla_jit(program)(p), unname(all(p)), tolerance = 1e-7)
  slopes <- xla_jacobian(program)(p)
  differences <- vapply(1:2, function(j) {
    step <- replace(c(0, 0), j, 1e-4)
    (all(p + step) - all(p - step)) / 2e-4
  }, numeric(length(functions)))
  expect_equal(slopes, unname(differences), tolerance = 1e-5)
})

test_that("solvers of values, of two kinds in a turn, within one another and behind calls with effects are right", {
  skip_without_plugin()
  skip_unless_all()
  solved <- function(a) hlo_root(function(x) x + x^3 - a, start = 0)$root
  f <- function(p, x) {
    s <- 0
    for (i in 1:7) {
      area <- integrate(function(u) exp(-u * p[1]) + x[i], 0, 2)$value
      near <- hlo_minimize(function(v) sum((v - c(area, x[i]))^4 + v^2), c(0, 0))$par
      s <- s + solved(area) * sum(near) + hlo_fixed_point(function(v) cos(v * x[i] / 3), 0.5)$point
    }
    s
  }
  own <- function(p, x) {
    each <- xla_vmap(function(one) {
      area <- integrate(function(u) exp(-u * p[1]) + one, 0, 2)$value
      near <- hlo_minimize(function(v) sum((v - c(area, one))^4 + v^2), c(0, 0))$par
      solved(area) * sum(near) + hlo_fixed_point(function(v) cos(v * one / 3), 0.5)$point
    })
    sum(each(x[1:7]))
  }
  expect_equal(xla_jit(f)(0.7, places), xla_jit(own)(0.7, places), tolerance = 1e-8)
  expect_equal(xla_grad(f, 1:2)(0.7, places), xla_grad(own, 1:2)(0.7, places), tolerance = 1e-5)
  within <- function(p) {
    s <- 0
    for (x in places[1:6]) s <- s + integrate(function(u) solved(p[1] + x) * exp(-u * p[1]), 0, 1)$value
    s
  }
  expect_equal(xla_jit(within)(0.7), sum(vapply(places[1:6], function(x) {
    uniroot(function(v) v + v^3 - 0.7 - x, c(-9, 9), tol = 1e-12)$root
  }, 0)) * integrate(function(u) exp(-0.7 * u), 0, 1)$value, tolerance = 1e-8)
  shown <- function(p) {
    s <- 0
    for (i in 1:7) {
      hlo_custom_call("print_tensor", p, list(), has_side_effect = TRUE)
      s <- s + solved(p[1] * i)
    }
    s
  }
  # What leaves a function that is differentiated is solved there and where it is used.
  kept <- NULL
  leaving <- function(p) {
    slope <- xla_grad(function(q) {
      s <- 0
      for (i in 1:7) {
        kept <<- solved(q * places[i])
        s <- s + kept
      }
      s
    })(p)
    slope + 10 * kept
  }
  at <- vapply(1:7, function(i) uniroot(function(v) v + v^3 - 0.7 * places[i], c(-9, 9), tol = 1e-12)$root, 0)
  expect_equal(xla_jit(leaving)(0.7), sum(places[1:7] / (1 + 3 * at^2)) + 10 * at[7], tolerance = 1e-7)
  printed <- capture.output(total <- xla_jit(shown)(0.7))
  expect_equal(total, sum(vapply(1:7, function(i) {
    uniroot(function(v) v + v^3 - 0.7 * i, c(-9, 9), tol = 1e-12)$root
  }, 0)), tolerance = 1e-7)
  expect_length(grep("0.7", printed), 7L)
})

test_that("differential equations in turns, one for each subject, are one solver's, with doses and derivatives", {
  skip_without_plugin()
  skip_unless_all()
  gains <- c(1, 0.7, 1.3, 0.9, 1.1, 0.8, 1.2)
  given <- data.frame(var = 1, time = c(0, 2), value = 1)
  drug <- function(t, y, p) -p$k * y * (1 + 0.1 * y^2) * p$g
  of_one <- function(p, i) {
    doses <- transform(given, value = gains[i])
    parms <- list(k = exp(p[1]), g = gains[i])
    sum(hlo_ode(0, c(0, 1, 3, 4 + i / 10), drug, parms, events = doses)$y) * p[2]
  }
  in_turns <- function(p) {
    found <- numeric(7)
    for (i in 1:7) found[i] <- of_one(p, i)
    found
  }
  # One by one, each in a program of its own
  alone <- function(i) function(p) of_one(p, i)
  p <- c(-0.5, 1.2)
  values <- vapply(1:7, function(i) xla_jit(alone(i))(p), 0)
  expect_equal(xla_jit(in_turns)(p), values, tolerance = 1e-12)
  expect_equal(xla_jit(function(p) sum(sapply(1:7, function(i) of_one(p, i))))(p), sum(values), tolerance = 1e-12)
  slopes <- vapply(1:7, function(i) xla_grad(alone(i))(p), numeric(2))
  found <- xla_grad(function(p) sum((in_turns(p) - 0.5)^2))(p)
  expect_equal(found, c(slopes %*% (2 * (values - 0.5))), tolerance = 1e-9)
  # What derivatives keep of a solution's steps is large, and all turns are one loop still.
  moves <- function(t, y, k) c(-k[1] * y[1], k[1] * y[1] - k[2] * y[2])
  whiles <- function(n) {
    f <- function(p) {
      s <- 0
      for (i in seq_len(n)) s <- s + sum(hlo_ode(c(gains[i], 0), c(0, 1, 4), moves, exp(p))$y[, 2])
      s
    }
    loops_in(xla_grad(f), p)
  }
  expect_identical(whiles(7), whiles(8))
})
