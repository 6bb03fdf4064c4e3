# Names of arguments and of parts of lists say what is what, in whichever order they come.

test_that("arguments by name are the same for functions of functions", {
  skip_without_plugin()
  f <- function(x, y) sum(x) * y[1]
  by_one <- list(c(1, 2, 3), c(1, 10, 100))
  for (axes in list(list(y = 1, x = NULL), list(y = 1), list(NULL, 1))) {
    v <- xla_vmap(f, in_axes = axes)
    expect_equal(v(by_one[[1L]], by_one[[2L]]), c(6, 60, 600))
    expect_equal(v(y = by_one[[2L]], x = by_one[[1L]]), c(6, 60, 600))
    expect_equal(v(y = by_one[[2L]], by_one[[1L]]), c(6, 60, 600))
  }
  expect_equal(xla_vmap(function(x, k = 2) x * k, in_axes = list(k = NULL, x = 1))(c(1, 2)), c(2, 4))
  g <- function(a, b) sum(a^2 * b)
  rest <- function(a, b, ...) sum(a^2 * b)
  for (h in list(g, xla_jit(g), xla_checkpoint(g), xla_checkpoint(xla_jit(g)), rest)) {
    expect_equal(as.vector(xla_grad(h)(b = 5, a = 3)), 30)
    expect_equal(as.vector(xla_grad(h, wrt = "b")(b = 5, a = 3)), 9)
    expect_equal(as.vector(xla_jacobian(h)(b = 5, a = 3)), 30)
    expect_equal(as.vector(xla_hessian(h)(b = 5, a = 3)), 10)
    expect_equal(as.vector(xla_jvp(h)(list(3, 5), list(b = 1, a = NULL))$tangent), 9)
  }
  expect_equal(xla_grad(function(b, a) sum(xla_vmap(g)(b = b, a = a)))(c(5, 1), c(3, 2)), c(9, 4))
  expect_equal(as.vector(xla_grad(xla_vmap(g))(b = array(5), a = array(3))), 30)
  expect_no_warning(expect_identical(xla_jit(`[`)(c(1, 2, 3), 2L), 2))
})

test_that("parts of results are taken by name where they are what was given", {
  skip_without_plugin()
  out <- xla_jit(function(u, v) {
    less <- function(a, b) a < 5
    newton <- function(f, start) {
      found <- hlo_fori(1, 30, function(i, x) {
        value <- f(x)
        list(b = x$b - value$b / (2 * x$b), a = x$a - value$a / (2 * x$a))
      }, start)
      found[c("b", "a")]
    }
    list(
      plain = hlo_while(less, function(a, b) list(b = b * 3, a = a + 1), list(a = u, b = v)),
      counted = hlo_while(less, function(a, b) list(b = b * 3, a = a + 1), list(a = u, b = v), max_iter = 10),
      nested = hlo_while(less, function(a, b) list(b = list(y = b$y * 3, x = b$x), a = a + 1),
        list(a = u, b = list(x = v, y = v))
      ),
      fixed = hlo_fixed_point(function(x) list(b = cos(x$b), a = sin(x$a) / 2 + 0.1), list(a = 1, b = 2))$point,
      root = xla_custom_root(function(x, a) list(a = x$a^2 - a, b = x$b^2 - 2 * a), newton)(list(a = 1, b = 1), 4 * v)
    )
  })(1, 2)
  expect_equal(out[c("plain", "counted")], rep(list(list(a = 5, b = 162)), 2), ignore_attr = "names")
  expect_equal(out$nested, list(a = 5, b = list(x = 2, y = 162)))
  expect_equal(out$fixed$b, 0.7390851332, tolerance = 1e-8)
  expect_equal(out$fixed$a, sin(out$fixed$a) / 2 + 0.1, tolerance = 1e-7)
  expect_equal(out$root, list(a = sqrt(8), b = 4))
  model <- xla_objective(function(p) p$a + p$b$x + p$b$y, list(a = 1, b = list(x = 2, y = 3)))
  expect_identical(unname(model$unlist(list(b = list(y = 3, x = 2), a = 1))), c(1, 2, 3))
  expect_snapshot(error = TRUE, {
    model$unlist(list(b = list(y = 3, z = 2), a = 1))
    model$unlist(list(b = list(y = 3), a = 1))
    xla_objective(function(p) sum(p), c(u = 1, v = 2))$unlist(c(v = 2, u = 1))
    xla_jit(function(u) hlo_while(function(a, b) a < 5, function(a, b) list(c = b, a = a), list(a = u, b = u)))(1)
    xla_jit(function(u) hlo_fixed_point(function(x) list(c = x$a), list(a = u))$point)(1)
    xla_vmap(function(x, y) x, in_axes = list(z = 1))(c(1, 2), 3)
  })
})

test_that("starts, bounds and data go by their names, too", {
  skip_without_plugin()
  f <- function(p) -abs(p$a$x - 100) - abs(p$a$y + 100)
  start <- list(a = list(x = 0, y = 0))
  run <- function(inits) xla_sample(f, start, chains = 1, warmup = 1, draws = 1, seed = 1, inits = list(inits))
  draws <- as.array(run(list(a = list(y = -100, x = 100))))
  expect_equal(c(draws), c(100, -100), tolerance = 0.1)
  named <- xla_objective(function(p) sum(p$v^2), list(v = c(q = 1, r = 2)))
  x <- matrix(c(1, 2, 3, 4), 2)
  expect_identical(xla_jit(function(x) hlo_dot(x, x, contract = list(y = 2, x = 1)))(x), t(x) %*% t(x))
  fit <- xla_fit(xla_objective(function(p, t, y) sum((y - p$m - 0 * t)^2), list(m = 1), t = 5:7, y = c(1, 2, 3)))
  drawn <- simulate(fit, 1, seed = 1, draw = function(theta, ...) list(y = theta$m + (names(list(...)) == "t")))
  expect_equal(drawn$sim_1$y, c(3, 2), tolerance = 1e-6)
  solve_in_order <- function(g, start) {
    hlo_fori(1, 30, function(i, x) {
      rest <- g(x[c("v", "u")])
      list(u = x$u - rest$u / (2 * x$u), v = x$v - rest$v / (2 * x$v))
    }, start)
  }
  pair <- xla_custom_root(function(x, s, k) list(u = x$u^2 - s, v = x$v^2 - k), solve_in_order)
  expect_equal(unlist(xla_jit(function(s, k) pair(list(u = 1, v = 1), s, k))(4, 9)), c(u = 2, v = 3))
  g <- function(a, b) list(q = a * b^2, p = a - b)
  by_name <- list(b = 1, a = 0)
  expect_identical(xla_linearize(g)(list(2, 3))$jvp(by_name), list(q = 12, p = -1))
  expect_identical(xla_jit(function(a, b) xla_linearize(g)(list(a, b))$jvp(by_name))(2, 3), list(q = 12, p = -1))
  alike <- xla_fit(xla_objective(function(p) (p$a1 - 1)^2 + sum((p$a - c(2, 3))^2), list(a = c(0, 0), a1 = 0)))
  made <- xla_sample(function(p, t) -sum((p - t)^2), 0, t = 3, chains = 1, warmup = 5, draws = 5, seed = 1,
    generated = function(theta, ...) list(same = theta)
  )
  expect_identical(c(as.array(made)[, , "same"]), c(as.array(made)[, , 1L]))
  # What begins as the first argument's name is not that.
  away <- function(theta, ...) sum((theta - ..1)^2)
  expect_identical(xla_objective(away, 1, t = 4)$fn(1), 9)
  expect_equal(xla_jit(function(v) hlo_minimize(away, c(0, 0), t = v)$par)(c(1, 2)), c(1, 2))
  expect_snapshot(error = TRUE, {
    confint(alike, "a1")
    xla_fit(alike$objective, lower = c(a1 = 0))
    xla_linearize(g)(list(2, 3))$jvp(list(c = 1))
    run(list(a = list(x = 1)))
    run(list(list(x = 1, y = 2)))
    xla_sample(named, chains = 1, inits = list(list(v = c(r = 1, q = 2))))
    xla_lower(c(b = 1, a = 10))
    xla_objective(function(p) sum(p$m), list(m = diag(2)), constraints = list(m = xla_lower(array(-1, c(1, 4)))))
    simulate(fit, 1, draw = function(p, time, ...) p)
    xla_jit(function(x) hlo_dot(x, x, contract = list(a = 2, x = 1)))(x)
  })
})

test_that("lists of a vector's elements have its names, and so do parts of matrices", {
  skip_without_plugin()
  p <- c(mu = 1, sd = 2)
  mu <- 100
  functions <- list(
    function(p) with(as.list(p), 4 - mu),
    function(p) with(as.list(c(p, k = 3)), (4 - mu) * k),
    function(p) do.call(function(sd, mu) sd^2 - mu, as.list(p)),
    function(p) lapply(p, function(v) v * 2)$mu,
    function(p) Map(function(v) v * 2, p)$sd,
    function(p) mapply(function(v) v * 2, p, SIMPLIFY = FALSE)$sd,
    function(p) sapply(p, function(v) v * 2, simplify = FALSE)$sd,
    function(p) c(a = p[["mu"]] * 3, b = 4)["a"],
    function(p) {
      l <- as.list(p)
      if (is.null(l$sd)) l$sd <- 1
      4 / l$sd
    }
  )
  found <- xla_jit(function(p) lapply(functions, function(f) f(p)))(p)
  expect_equal(found, lapply(functions, function(f) unname(f(p))))
  # Another order is another program.
  f <- xla_jit(functions[[1L]])
  expect_identical(f(p), 3)
  expect_identical(f(p[2:1]), 3)
  expect_equal(xla_grad(function(p) with(as.list(p), (4 - mu)^2 / sd))(p), c(-3, -2.25))
  m <- matrix(c(1, 2, 3, 4), 2, dimnames = list(c("r", "s"), c("u", "v")))
  parts <- list(
    function(m) m[, c("v", "u")][, "u"], function(m) m[1, ]["v"], function(m) m["s", ]["u"], function(m) m[, 2]["s"],
    function(m) m[-1, , drop = FALSE][, "u"]
  )
  found <- xla_jit(function(m) lapply(parts, function(f) f(m)))(m)
  expect_equal(found, lapply(parts, function(f) unname(f(m))))
})
