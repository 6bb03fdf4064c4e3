# Prey and predators, and Robertson's reaction
lotka_volterra <- function(t, y, p) c(p[1] * y[1] - p[2] * y[1] * y[2], p[3] * y[1] * y[2] - p[4] * y[2])
robertson <- function(t, y, k) {
  slow <- k[1] * y[1]
  back <- k[2] * y[2] * y[3]
  fast <- k[3] * y[2]^2
  c(back - slow, slow - back - fast, fast)
}
rates <- c(1.1, 0.4, 0.1, 0.4)
absorption <- function(t, y, k) c(-k[1] * y[1], k[1] * y[1] - k[2] * y[2])

# A matrix's exponential, by its eigenvalues
exponential <- function(a) {
  parts <- eigen(a)
  Re(parts$vectors %*% diag(exp(parts$values)) %*% solve(parts$vectors))
}

test_that("solutions are those that are known, at all kinds of times and in all shapes", {
  skip_without_plugin()
  a <- matrix(c(-1, 2, 0.5, -3, 1, 0, 0, -2, -0.5), 3)
  exact <- t(sapply(c(1, 0.2, -1), function(t) exponential(a * (t - 1)) %*% c(1, -1, 2)))
  found <- xla_jit(function(y, m) {
    solve <- function(...) hlo_ode(..., rtol = 1e-9, atol = 1e-11)
    list(
      decay = solve(1, c(0, 0.5, 0.5, 2), function(t, y, p) list(-p * y), 0.7)$y,
      back = solve(y, c(1, 0.2, -1), function(t, y, p) m %*% y)$y,
      back_implicit = solve(y, c(1, 0.2, -1), function(t, y, p) m %*% y, method = "rodas5p")$y
    )
  })(c(1, -1, 2), a)
  expect_equal(found$decay, exp(-0.7 * c(0, 0.5, 0.5, 2)), tolerance = 1e-8)
  expect_equal(found$back, exact, tolerance = 1e-7)
  expect_equal(found$back_implicit, exact, tolerance = 1e-7)
  skip_unless_all()
  heat <- lapply(c(2, 4, 6, 10), function(n) -diag(n) * 20 + 9.5 * (abs(row(diag(n)) - col(diag(n))) == 1))
  found <- xla_jit(function(y) {
    solve <- function(...) hlo_ode(..., rtol = 1e-9, atol = 1e-11)
    turn <- function(t, y, p) c(y[2], -p * y[1])
    list(
      stiff = solve(1, c(0, 1, 3), function(t, y, p) -1000 * (y - cos(t)), method = "rodas5p")$y,
      oscillator = solve(c(1, 0), seq(0, 20, by = 0.02), turn, 1)[c("y", "steps")],
      # By the inverse written out, by that of a handler, and by LU
      heat = lapply(heat, function(h) solve(h[, 1], c(0, 0.7), function(t, y, p) h %*% y, method = "rodas5p")$y[2, ]),
      one = solve(y, 3, function(t, y, p) y),
      same = solve(y, c(2, 2, 2), function(t, y, p) y)$y,
      tree = solve(list(a = 1, b = matrix(1:4, 2)), 0:1, function(t, y, p, s) list(a = t * y$a, b = s * y$b), s = -1)$y,
      more = solve(c(x = 1, y = 2), 0:1, function(t, y, p) c(y["y"], p$a * y[["x"]]), list(a = 1))$y
    )
  })(c(1, -1, 2))
  # y' = -L (y - cos t): cos t and sin t with factors, and exp(-L t)
  l <- 1000
  smooth <- function(t) (l^2 * cos(t) + l * sin(t)) / (1 + l^2)
  expect_equal(found$stiff, smooth(c(0, 1, 3)) + (1 - smooth(0)) * exp(-l * c(0, 1, 3)), tolerance = 1e-8)
  t <- seq(0, 20, by = 0.02)
  expect_equal(found$oscillator$y, cbind(cos(t), -sin(t)), tolerance = 1e-7)
  expect_lt(found$oscillator$steps, 500)
  expect_equal(found$heat, lapply(heat, function(h) as.vector(exponential(h * 0.7) %*% h[, 1])), tolerance = 1e-7)
  expect_equal(found$one$y, matrix(c(1, -1, 2), 1))
  expect_true(found$one$converged)
  expect_identical(found$one$steps, 0L)
  expect_equal(found$same, matrix(c(1, -1, 2), 3, 3, byrow = TRUE))
  expect_equal(found$tree, list(a = c(1, exp(0.5)), b = array(rbind(1:4, 1:4 / exp(1)), c(2, 2, 2))), tolerance = 1e-8)
  expect_equal(found$more[2, ], c(cosh(1) + 2 * sinh(1), sinh(1) + 2 * cosh(1)), tolerance = 1e-8)
})

# Written by deSolve's radau to 1e-13
robertson_known <- rbind(
  c(1, 0, 0), c(0.98517211386116, 3.38639537898e-05, 0.014794022185049), c(0.715827068712753, 9.18553476463e-06,
    0.284163745752483), c(0.18320225778027, 8.942371253e-07, 0.816796847982604), c(0.004938274520987, 1.984994088e-08,
    0.995061705629070)
)
lotka_known <- rbind(
  c(10, 5), c(2.88109331375, 6.06742771183), c(0.682668660738, 1.73616648799), c(13.63363924394, 2.55195097118)
)

test_that("solutions agree with deSolve's, and their errors with the tolerances", {
  skip_without_plugin()
  skip_unless_all()
  solve <- xla_jit(function(tolerance) {
    list(
      robertson = hlo_ode(c(1, 0, 0), c(0, 0.4, 40, 4000, 4e5), robertson, c(0.04, 1e4, 3e7), method = "rodas5p",
        rtol = tolerance, atol = tolerance * 1e-4
      ),
      ode45 = hlo_ode(c(10, 5), c(0, 1, 5, 10), lotka_volterra, rates, rtol = tolerance, atol = tolerance),
      rodas5p = hlo_ode(c(10, 5), c(0, 1, 5, 10), lotka_volterra, rates, method = "rodas5p", rtol = tolerance,
        atol = tolerance
      )
    )
  })
  known <- list(robertson = robertson_known, ode45 = lotka_known, rodas5p = lotka_known)
  at <- lapply(c(1e-4, 1e-6, 1e-8), solve)
  for (name in names(known)) {
    error <- sapply(at, function(found) max(abs(found[[name]]$y - known[[name]])))
    expect_true(all(error < 500 * c(1e-4, 1e-6, 1e-8)), label = paste(name, toString(signif(error, 3))))
    steps <- sapply(at, function(found) found[[name]]$steps)
    # Order 5: a hundredth of the tolerance takes 2.5 times as many steps.
    expect_true(all(steps[-1] / steps[-3] > 1.6 & steps[-1] / steps[-3] < 3.2), label = paste(name, toString(steps)))
    expect_true(at[[3]][[name]]$converged)
  }
  expect_equal(at[[1]]$ode45$evaluations, 2L + 6L * (at[[1]]$ode45$steps + at[[1]]$ode45$rejected))
})

test_that("further results of a function are there at all times, and tolerances go with the elements of arrays", {
  skip_without_plugin()
  turn <- function(t, y, p) list(c(y[["b"]], -p * y[["a"]]), norm = sum(y^2), both = 2 * y + t)
  f <- function(p) hlo_ode(c(a = 1, b = 0), c(0, 0.5, 2), turn, p, rtol = 1e-9, atol = 1e-9)
  found <- xla_jit(function(p) {
    one <- function(t, y, p) matrix(c(0, -4, 0, 0), 2) * y
    one <- hlo_ode(matrix(1:4 + 0, 2), 0:1, one, rtol = 0, atol = c(1, 1e-9, 1, 1))$y[2, , ]
    list(f(p), one, slope = xla_grad(function(p) f(p)$outputs$norm[3])(p), batch = xla_vmap(f)(c(p, 2))$outputs$norm)
  })(1)
  solution <- found[[1]]
  expect_equal(solution$outputs$norm, c(1, 1, 1), tolerance = 1e-7)
  expect_equal(solution$outputs$both, 2 * solution$y + c(0, 0.5, 2), tolerance = 1e-12)
  expect_equal(found$batch[1, ], solution$outputs$norm, tolerance = 1e-12)
  expect_equal(found$batch[2, ], 1 + sin(c(0, 0.5, 2) * sqrt(2))^2, tolerance = 1e-7)
  expect_equal(as.vector(found$slope), sin(2)^2, tolerance = 1e-6)
  expect_equal(found[[2]], matrix(c(1, 2 * exp(-4), 3, 4), 2), tolerance = 1e-8)
})

test_that("steps have order 5, their errors and the states between them order 4", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(t, y) c(y[2] * cos(t), -y[1]^2 + t)
  for (method in xlaffi:::ode_methods) {
    local <- xla_jit(function(h) {
      times <- hlo_concatenate(0 * h, 0.3 * h, h)
      fine <- hlo_ode(c(1, 0.5), times, function(t, y, p) f(t, y), rtol = 1e-13, atol = 1e-13)$y
      zero <- hlo_constant(0, "f64", integer())
      y <- hlo_constant(c(1, 0.5))
      h <- hlo_reshape(h, integer())
      step <- method$step(f, zero, h, y, f(zero, y))
      between <- method$between(y, step$y, h, step$k, 0.3)
      list(end = max(abs(step$y - fine[3, ])), error = max(abs(step$error)), between = max(abs(between - fine[2, ])))
    })
    ratios <- unlist(Map(`/`, local(0.2), local(0.1)))
    expect_true(all(abs(log2(ratios) - c(6, 5, 5)) < 0.5), label = toString(signif(log2(ratios), 3)))
  }
})

test_that("derivatives are those of differences, in all that a solution depends on", {
  skip_without_plugin()
  weights <- matrix(sin(1:8), 4)
  loss <- function(method) {
    function(x) {
      factor <- x[9]
      func <- function(t, y, p) factor * lotka_volterra(t, y, p) * (1 + 0.1 * sin(t))
      y <- hlo_ode(x[1:2], c(0, x[7:8], 2), func, x[3:6], method = method, rtol = 1e-11, atol = 1e-11)$y
      sum(weights * log(y))
    }
  }
  x <- c(3, 2, rates, 0.5, 1.2, 0.9)
  direction <- cos(1:9)
  f <- loss("ode45")
  gradient <- xla_grad(f)
  found <- gradient(x)
  expect_equal(found, slope_of(xla_jit(f), x), tolerance = 1e-6)
  skip_unless_all()
  forward <- xla_jvp(f)(list(x), list(direction))$tangent
  expect_equal(forward, sum(found * direction), tolerance = 1e-9)
  f <- loss("rodas5p")
  expect_equal(xla_grad(f)(x), found, tolerance = 1e-8)
  # The second derivative, forward over reverse: y = y_0 exp(-k t^2 / 2) at two times
  g <- function(x) {
    decay <- function(t, y, k) -k * t * y
    sum(hlo_ode(x[1], c(0, x[3:4]), decay, x[2], rtol = 1e-11, atol = 1e-11)$y[2:3] * c(1, 2))
  }
  at <- c(1.5, 0.4, 1, 2)
  exact <- function(x) sum(x[1] * exp(-x[2] * x[3:4]^2 / 2) * c(1, 2))
  along <- xla_jvp(xla_grad(g))(list(at), list(direction[1:4]))
  expect_equal(along$value, slope_of(exact, at), tolerance = 1e-8)
  step <- 1e-4 * direction[1:4]
  differences <- (slope_of(exact, at + step, 1e-4) - slope_of(exact, at - step, 1e-4)) / 2e-4
  expect_equal(along$tangent, differences, tolerance = 1e-6)
  # Forward, forward over forward and over reverse by the implicit method, and reverse over reverse
  twice <- xla_jit(function(x, d) {
    once <- function(x) xla_jvp(f)(list(x), list(d))$tangent
    list(
      once = once(x), forward = xla_jvp(once)(list(x), list(d))$tangent,
      back = xla_jvp(xla_grad(f))(list(x), list(d))$tangent
    )
  })(x, direction)
  expect_equal(twice$once, sum(found * direction), tolerance = 1e-8)
  differences <- (gradient(x + 1e-5 * direction) - gradient(x - 1e-5 * direction)) / 2e-5
  expect_equal(twice$back, differences, tolerance = 1e-6)
  expect_equal(twice$forward, sum(twice$back * direction), tolerance = 1e-8)
  f <- function(k) sum(hlo_ode(1, c(0, 1, 3), function(t, y, k) -k * y^2, k, rtol = 1e-10, atol = 1e-10)$y)
  expect_equal(xla_grad(xla_grad(f))(0.5), 2 / 1.5^3 + 18 / 2.5^3, tolerance = 1e-8)
})

test_that("a batch is what its elements are alone", {
  skip_without_plugin()
  count <- 3
  times <- cbind(0, matrix(c(1, 2, 0.5, 4, 5, 6), 3))
  doses <- list(time = matrix(c(0.5, 1, NaN, 3, 2, 2.5), 3), value = matrix(c(1, 2, 3, 4, 5, 6), 3))
  k <- cbind(c(1, 0.5, 2), 0.2)
  one <- function(times, at, value, k) {
    doses <- list(var = 1, time = at, value = value)
    hlo_ode(c(1, 0), times, absorption, k, events = list(data = doses))[c("y", "steps")]
  }
  loss <- function(...) sum(one(...)$y^2)
  arguments <- list(times, doses$time, doses$value, k)
  element <- function(i) lapply(arguments, function(x) x[i, ])
  batch <- do.call(xla_vmap(one), arguments)
  single <- xla_jit(one)
  for (i in 1:count) {
    alone <- do.call(single, element(i))
    expect_equal(batch$y[i, , ], alone$y, tolerance = 1e-13)
    expect_identical(batch$steps[[i]], alone$steps)
  }
  skip_unless_all()
  slopes <- do.call(xla_vmap(xla_grad(loss, 1:4)), arguments)
  slope <- xla_grad(loss, 1:4)
  expect_equal(unname(lapply(slopes, function(x) x[2, ])), unname(do.call(slope, element(2))), tolerance = 1e-10)
  nested <- xla_vmap(function(k) {
    xla_vmap(function(y) hlo_ode(c(y, 0), c(0, 1, 2), absorption, k, method = "rodas5p")$y)(c(1, 2))
  })(k)
  inner <- xla_jit(function(k) hlo_ode(c(2, 0), c(0, 1, 2), absorption, k, method = "rodas5p")$y)(k[3, ])
  expect_equal(nested[3, 2, , ], inner, tolerance = 1e-12)
  of_sum <- do.call(xla_grad(function(...) sum(xla_vmap(loss)(...)), 1:4), arguments)
  expect_equal(of_sum, slopes, tolerance = 1e-12)
})

test_that("roots end a solution or change its state, and have derivatives", {
  skip_without_plugin()
  fall <- function(t, y, p) c(y[2], -p[1])
  bounce <- function(p) {
    events <- list(func = function(t, y, p) c(0, -p[2] * y[2]), root = TRUE)
    hlo_ode(c(1, 0), c(0, 0.7, 1.2, 1.9), fall, p, events = events, rootfunc = function(t, y, p) y[1], rtol = 1e-10,
      atol = 1e-10
    )
  }
  p <- c(9.8, 0.9)
  run <- xla_jit(bounce)
  found <- run(p)
  first <- sqrt(2 / 9.8)
  # The time between two bounces is that of the one before, times p[2].
  expect_equal(found$root$time, first * (1 + 2 * 0.9), tolerance = 1e-9)
  expect_identical(found$root$count, 2L)
  after <- function(t) 0.9 * 9.8 * first * (t - first) - 9.8 / 2 * (t - first)^2
  expect_equal(found$y[2:3, 1], after(c(0.7, 1.2)), tolerance = 1e-8)
  skip_unless_all()
  total <- function(out) sum(out$y[2:4, ]) + out$root$time
  loss <- function(p) total(bounce(p))
  value <- function(p) total(run(p))
  gradient <- xla_grad(loss)
  expect_equal(gradient(p), slope_of(value, p), tolerance = 1e-6)
  # An end: the time is sqrt(2 (1 - h) / g)
  end <- function(p) hlo_ode(c(1, 0), c(0, 0.2, 1), fall, p, rootfunc = function(t, y, p) list(y[1] - p[2]))
  many <- xla_vmap(end)(cbind(9.8, c(0.1, -100, 0.5)))
  expect_equal(many$root$time, c(sqrt(1.8 / 9.8), NaN, sqrt(1 / 9.8)), tolerance = 1e-9)
  expect_identical(many$reason, c(13L, 0L, 13L))
  expect_equal(many$y[, 3, 1], c(NaN, 1 - 4.9, NaN), tolerance = 1e-9)
  slope <- xla_grad(function(p) {
    out <- end(p)
    out$root$time + sum(out$y[1:2, ])
  })(c(9.8, 0.1))
  expect_equal(slope, c(-sqrt(1.8) / 2 * 9.8^-1.5 - 0.02 - 0.2, -1 / sqrt(1.8 * 9.8)), tolerance = 1e-7)
  hessian <- xla_hessian(loss)(p)
  expect_equal(hessian[1, ], slope_of(function(p) gradient(p)[1], p), tolerance = 1e-5)
})

test_that("a solution that fails is NaN from there on, says why, and leaves others alone", {
  skip_without_plugin()
  pole <- function(y, p) hlo_ode(y, c(0, 0.5, 2), function(t, y, p) p * y^2, p, max_steps = 300)
  found <- xla_vmap(pole)(c(1, -1, NaN, 1), c(1, 1, 1, Inf))
  expect_identical(found$reason, c(11L, 0L, 12L, 12L))
  expect_identical(xla_reason(found$reason[1:2]), c("steps became too small", "converged"))
  expect_identical(found$converged, c(FALSE, TRUE, FALSE, FALSE))
  expect_equal(found$y[1:2, ], rbind(c(1, 2, NaN), -1 / c(1, 1.5, 3)), tolerance = 1e-5)
  expect_true(all(is.nan(found$y[3:4, ])))
  skip_unless_all()
  slopes <- xla_vmap(xla_grad(function(y, p) pole(y, p)$y[3]))(c(1, -1), c(1, 1))
  expect_equal(slopes, c(NaN, 1 / 9), tolerance = 1e-4)
  others <- xla_jit(function(times) {
    f <- function(t, y, p) -y
    list(
      few = hlo_ode(1, c(0, 0.01, 50), f, max_steps = 3)[c("y", "reason", "steps")],
      nan = hlo_ode(1, 0:2, function(t, y, p) sqrt(1.5 - t) * y)[c("y", "reason")],
      order = hlo_ode(1, times, f)[c("y", "reason")]
    )
  })(c(0, 2, 1))
  expect_identical(others$few$reason, 10L)
  expect_equal(others$few$y, c(1, exp(-0.01), NaN), tolerance = 1e-5)
  expect_identical(others$nan$reason, 11L)
  expect_identical(is.nan(others$nan$y), c(FALSE, FALSE, TRUE))
  expect_identical(others$order$reason, 12L)
  expect_true(all(is.nan(others$order$y)))
})

test_that("f32 is computed in f32", {
  skip_without_plugin()
  skip_unless_all()
  found <- xla_jit(function(y) {
    decay <- function(t, y, p) -y
    solve <- function(method) hlo_ode(y, c(0, 1), decay, method = method, rtol = 1e-5, atol = 1e-5)$y
    lapply(c("ode45", "rodas5p"), solve)
  })(pjrt_buffer(c(1, 2), "f32"))
  for (y in found) {
    expect_identical(as.character(dtype(y)), "f32")
    expect_equal(as_array(y)[2, ], c(1, 2) * exp(-1), tolerance = 1e-4)
  }
})

test_that("what cannot be solved is refused", {
  skip_without_plugin()
  f <- function(t, y, p) -y
  solve <- function(...) xla_jit(function() hlo_ode(...))()
  expect_snapshot(error = TRUE, {
    solve(numeric(), 0:1, f)
    solve(1i, 0:1, f)
    solve(1, c(0, 2, 1), f)
    solve(1, c(0, NA), f)
    solve(1, numeric(), f)
    solve(1, matrix(0:3, 2), f)
    solve(c(1, 2), 0:1, function(t, y, p) y[1])
    solve(list(a = 1), 0:1, function(t, y, p) list(y, 2))
    solve(list(a = 1, b = 2), 0:1, function(t, y, p) list(a = y$a))
    solve(1, 0:1, function(t, y) -y)
    solve(1, 0:1, "f")
    solve(1, 0:1, f, method = "lsoda")
    solve(1, 0:1, f, rtol = -1)
    solve(c(1, 2, 3), 0:1, f, atol = c(1, 2))
    solve(1, 0:1, f, max_steps = 0)
    solve(1, 0:1, f, max_steps = 1.5)
    solve(1, 0:1, f, rootfunc = function(t, y, p) c(1, 2))
    solve(1, 0:1, f, rtol = 0, atol = 0)
  })
})

test_that("steps that are made again end where they ended, and failures have no derivatives but their own", {
  skip_without_plugin()
  skip_unless_all()
  ends <- function(p) {
    f <- function(t, y, q) ifelse(t > 5, NaN, p) * (1 + sin(3 * t)) - 0.3 * y
    hlo_ode(0, c(0, 5), f, NULL, rtol = 1e-9, atol = 1e-9)$y[2]
  }
  fails <- function(a, at = 2) hlo_ode(a, c(0, 0.5, 5), function(t, y, p) y * (1 + t), max_steps = 8)$y[at]
  out <- xla_jit(function(p, v) {
    list(
      ends = list(ends(p), xla_grad(ends)(p), xla_jvp(ends)(p, 1)$tangent),
      fails = list(xla_grad(fails)(p), xla_jvp(fails)(p, 1)$tangent, xla_vmap(xla_grad(fails))(v)),
      behind = list(xla_grad(fails)(p, 3), xla_jvp(function(a) fails(a, 3))(p, 1)$tangent)
    )
  })(1, c(1, 2))
  # Both are linear in what they start from.
  ends <- unlist(lapply(out$ends, as.vector))
  expect_equal(ends[-1L], ends[c(1L, 1L)], tolerance = 1e-12)
  expect_equal(unlist(lapply(out$fails, as.vector)), rep(exp(0.625), 4), tolerance = 1e-4)
  expect_identical(unlist(lapply(out$behind, as.vector)), c(NaN, NaN))
})
