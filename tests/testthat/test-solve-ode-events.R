test_that("events change the state at their times, behind the outputs there", {
  skip_without_plugin()
  decay <- function(t, y, p) -p * y
  times <- c(0, 1, 2, 3)
  events <- data.frame(
    var = "a", time = c(0, 2, 2, 1.5, 9, NA, 3), value = c(1, 0.5, 3, 2, 7, 7, 5),
    method = c("add", "replace", "mult", "add", "add", "add", "rep")
  )
  found <- xla_jit(function(p, at, amount) {
    solve <- function(...) hlo_ode(..., rtol = 1e-10, atol = 1e-10)$y
    data <- list(var = 1, time = at, value = amount, method = "add")
    list(
      table = solve(c(a = 1), times, decay, p, events = events),
      back = solve(1, rev(times), decay, p, events = list(data = data)),
      called = solve(c(2, 1), times, function(t, y, p) -p * y, p,
        events = list(func = function(t, y, p) c(y[1] * y[2] + t, p), time = c(0.5, 1))
      ),
      none = solve(c(a = 1), times, decay, p, events = list(data = events[0, ]))
    )
  })(0.5, 1.5, 2)
  half <- exp(-0.5)
  expect_equal(found$table, c(1, 2 * half, ((2 * half) * exp(-0.25) + 2) * exp(-0.25), 1.5 * half), tolerance = 1e-9)
  up <- exp(0.5)
  expect_equal(found$back, c(1, up, (exp(0.75) + 2) * exp(0.25), (exp(0.75) + 2) * exp(0.75)), tolerance = 1e-9)
  y <- c(2, 1) * exp(-0.25)
  y <- c(prod(y) + 0.5, 0.5) * exp(-0.25)
  expect_equal(found$called[2, ], y, tolerance = 1e-9)
  expect_equal(found$called[3, ], c(prod(y) + 1, 0.5) * half, tolerance = 1e-9)
  expect_equal(found$none, exp(-0.5 * times), tolerance = 1e-9)
  skip_unless_all()
  # d/d(time, amount) of (exp(-p s) + d) exp(-p (2 - s))
  f <- function(x) hlo_ode(1, c(0, 2), decay, 0.5, events = list(data = list(var = 1, time = x[1], value = x[2])))$y[2]
  expect_equal(xla_grad(f)(c(0.7, 3)), c(1.5, 1) * exp(-0.65), tolerance = 1e-5)
})

test_that("events are those of deSolve: numbers of methods, matrices, elements by number and by the names of parts", {
  skip_without_plugin()
  still <- function(t, y, p) 0 * y
  table <- cbind(var = c(1, 2, 1), time = 1, value = c(5, 7, 3), method = c(2, 1, 3))
  twice <- list(func = function(t, y, p) 2 * y, time = c(1, 1, 0.5))
  found <- xla_jit(function(at) {
    solve <- function(y, events) hlo_ode(y, 0:2, still, events = events)$y
    parts <- list(var = c("c", "a"), time = c(1, 1), value = c(5, 6), method = factor(c("rep", "mult")))
    list(
      table = solve(c(1, 2), table)[3, ], twice = solve(1, twice),
      at = solve(1, list(func = twice$func, time = at)),
      matrix = solve(matrix(1:4, 2), data.frame(var = 2, time = 1, value = 100))[3, , ],
      list = hlo_ode(list(a = 1, b = c(2, 3), c = 4), 0:2, function(t, y, p) lapply(y, function(y) 0 * y),
        events = list(data = parts)
      )$y
    )
  })(c(0.5, 1, 1))
  expect_equal(found$table, c(18, 7))
  expect_equal(found$twice, c(1, 2, 4))
  expect_equal(found$at, found$twice)
  expect_equal(found$matrix, matrix(c(1, 102, 3, 4), 2))
  expect_equal(found$list, list(a = c(1, 1, 6), b = cbind(rep(2, 3), 3), c = c(4, 4, 5)))
})

test_that("events that cannot be are refused", {
  skip_without_plugin()
  f <- function(t, y, p) -y
  solve <- function(...) xla_jit(function() hlo_ode(...))()
  event <- function(...) data.frame(var = 1, time = 0, value = 1, ...)
  expect_snapshot(error = TRUE, {
    solve(1, 0:1, f, events = "dose")
    solve(1, 0:1, f, events = list(root = TRUE, func = f))
    solve(1, 0:1, f, events = list(func = f))
    solve(1, 0:1, f, events = data.frame(var = 1, time = 0))
    solve(1, 0:1, f, events = list(data = cbind("a", 1)))
    solve(1, 0:1, f, events = data.frame(var = 1, time = NA, value = 2))
    solve(1, 0:1, f, events = data.frame(var = 1, time = 0, value = "a"))
    solve(c(a = 1), 0:1, f, events = data.frame(var = "b", time = 0, value = 1))
    solve(c(1, 2), 0:1, f, events = data.frame(var = "b", time = 0, value = 1))
    solve(1, 0:1, f, events = event(method = "divide"))
    solve(1, 0:1, f, events = event(method = 4))
    solve(1, 0:1, f, events = event(method = NA))
    solve(1, 0:1, f, events = list(data = list(var = 1, time = 1:3, value = 1:2)))
    solve(1, 0:1, f, events = list(data = list(var = 1, time = 1, value = 1), rate = 2))
  })
})
