test_that("roots of systems and of equations are found, with their derivatives", {
  skip_without_plugin()
  meet <- function(p, r) list(sum(p$xy^2) - r^2, p$xy[1] - p$xy[2] + p$z, p$z^3 - 8)
  start <- list(xy = c(1, 3), z = 1)
  w <- function(y) hlo_root(function(x) x * exp(x) - y, interval = c(-0.5, 10))
  out <- xla_jit(function(r, y) {
    xy <- function(r) hlo_root(meet, start, r)$root$xy
    list(
      system = hlo_root(meet, start, r), first = xla_jacobian(xy)(r),
      second = xla_jacobian(xla_grad(function(r) sum(xy(r) * c(1, 10))))(r),
      w = w(y), w1 = xla_grad(function(y) w(y)$root)(y), w2 = xla_grad(xla_grad(function(y) w(y)$root))(y),
      ends = hlo_root(function(x) x - y, interval = list(y, y + 1)),
      upper = hlo_root(function(x) x - 1, interval = c(0, 1)),
      one = hlo_root(function(x) x^2 - y, 1)
    )
  })(10, 2)
  # y = x + 2 on the circle: x = -1 + sqrt(r^2 / 2 - 1)
  q <- sqrt(49)
  expect_equal(out$system$root, list(xy = c(-1, 1) + q, z = 2), tolerance = 1e-10)
  expect_equal(unlist(out$system$value), numeric(3), tolerance = 1e-10)
  expect_identical(out$system$reason, 0L)
  expect_equal(as.vector(out$first), rep(10 / 2 / q, 2), tolerance = 1e-9)
  expect_equal(as.vector(out$second), 11 * (1 / (2 * q) - 100 / 4 / q^3), tolerance = 1e-8)
  x <- stats::uniroot(function(x) x * exp(x) - 2, c(-0.5, 10), tol = 2^-26)
  expect_identical(out$w$root, x$root)
  expect_identical(out$w$iterations, x$iter)
  expect_identical(out$w$precision, x$estim.prec)
  slope <- 1 / (exp(x$root) * (1 + x$root))
  expect_equal(as.vector(out$w1), slope, tolerance = 1e-7)
  expect_equal(as.vector(out$w2), -slope^3 * exp(x$root) * (2 + x$root), tolerance = 1e-6)
  expect_identical(out$ends[c("root", "iterations", "reason")], list(root = 2, iterations = 0L, reason = 0L))
  expect_identical(out$upper[c("root", "iterations", "reason")], list(root = 1, iterations = 0L, reason = 0L))
  expect_equal(as.vector(out$one$root), sqrt(2), tolerance = 1e-10)
})

test_that("equations in an interval have R's iterates", {
  skip_without_plugin()
  cases <- list(
    list(function(x) exp(x) - 5, c(0, 3)), list(function(x) x^9, c(-1, 1.5)), list(function(x) cos(x) - x, c(0, 1)),
    list(function(x) x^3 - 2 * x - 5, c(2, 3)), list(function(x) atan(x - 3) + 0.1, c(-10, 40)),
    list(function(x) log(x), c(1e-3, 100)), list(function(x) 1 / x, c(0, 2)), list(function(x) x - 1e-12, c(-1, 1))
  )
  cases <- cases[-7]
  out <- xla_jit(function() {
    lapply(cases, function(case) hlo_root(case[[1]], interval = case[[2]], tol = 1e-6))
  }, exact = TRUE)()
  for (i in seq_along(cases)) {
    r <- stats::uniroot(cases[[i]][[1]], cases[[i]][[2]], tol = 1e-6)
    expect_equal(out[[i]]$root, r$root, tolerance = 1e-12)
    expect_identical(out[[i]]$iterations, r$iter)
    expect_equal(out[[i]]$precision, r$estim.prec, tolerance = 1e-9)
  }
})

test_that("searches for roots end for a reason, alone and in a batch", {
  skip_without_plugin()
  newton <- function(a) hlo_root(function(x) x^2 + a, 3, max_iter = 60)
  brent <- function(a) hlo_root(function(x) log(x) - a, interval = c(1, 10))
  # Where `f` is not finite
  lost <- function(start) hlo_root(function(x) x^2 - 1, start)
  jump <- function(a) hlo_root(function(x) hlo_select(x > a, Inf, -Inf), interval = c(0, 1))
  out <- xla_jit(function(a) {
    list(
      newton = xla_vmap(newton)(a), brent = xla_vmap(brent)(a), lost = xla_vmap(lost)(c(NaN, Inf)),
      jump = jump(a[3] / 4)
    )
  })(c(-4, 1, 2))
  expect_identical(out$lost[c("value", "reason")], list(value = c(NaN, Inf), reason = c(3L, 3L)))
  expect_true(out$jump$converged && is.infinite(out$jump$value))
  expect_equal(out$newton$root[1], 2, tolerance = 1e-9)
  expect_true(all(out$newton$reason[2:3] %in% c(1L, 2L, 5L)))
  expect_identical(out$brent$reason, c(6L, 0L, 0L))
  expect_equal(out$brent$root[2:3], exp(1:2), tolerance = 1e-7)
  batch <- out
  skip_unless_all()
  out <- xla_jit(function(a) {
    list(
      slopes = xla_vmap(xla_grad(function(a) brent(a)$root))(a),
      alone = lapply(1:3, function(i) list(newton(a[i]), brent(a[i]))),
      few = hlo_root(function(x) x^3 - a[1], 100, max_iter = 2), nan = hlo_root(function(x) log(x), -1),
      flat = hlo_root(function(x) 0 * x + 1, 2), gap = hlo_root(function(x) log(x - 1), interval = c(0, 3)),
      domain = hlo_root(function(x) log(x) + 5, 1), wild = hlo_root(function(x) atan(x), 20)
    )
  })(c(-4, 1, 2))
  reasons <- function(fits) vapply(fits, function(fit) fit$reason, 0L, USE.NAMES = FALSE)
  expect_identical(reasons(out[c("few", "nan", "flat", "gap", "domain", "wild")]), c(1L, 3L, 5L, 3L, 0L, 0L))
  expect_equal(out$domain$root, exp(-5), tolerance = 1e-6)
  expect_equal(out$wild$root, 0, tolerance = 1e-8)
  expect_equal(out$slopes, c(NaN, exp(1:2)), tolerance = 1e-7)
  for (i in 1:3) {
    expect_equal(lapply(batch$newton, `[`, i), lapply(out$alone[[i]][[1]], as.vector))
    expect_equal(lapply(batch$brent, `[`, i), lapply(out$alone[[i]][[2]], as.vector))
  }
})

test_that("intervals without ends have no root, as there is none for uniroot()", {
  skip_without_plugin()
  out <- xla_jit(function(lower, upper) {
    found <- hlo_root(atan, interval = list(lower, upper))
    list(found$converged, found$reason, uniroot(atan, c(lower, upper))$root)
  })
  expect_identical(out(-Inf, Inf), list(FALSE, 3L, NaN))
  expect_identical(out(-1, Inf), list(FALSE, 3L, NaN))
})

test_that("fixed points are found, plainly and accelerated", {
  skip_without_plugin()
  m <- matrix(c(0.5, 0.3, 0.2, 0.4), 2)
  f <- function(x, b) as.vector(m %*% x) + b
  out <- xla_jit(function(b) {
    plain <- hlo_fixed_point(f, c(0, 0), b)
    faster <- function(b) hlo_fixed_point(f, c(0, 0), b, history = 3)
    list(
      plain = plain, faster = faster(b), slopes = xla_jacobian(function(b) faster(b)$point)(b),
      cosine = xla_grad(xla_grad(function(a) hlo_fixed_point(function(x) cos(a * x), 1, history = 2)$point))(1),
      # The plain iteration leaves the point.
      away = hlo_fixed_point(function(x) 4 - 2 * x, 1, history = 1),
      plainly = hlo_fixed_point(function(x) 4 - 3 * x, 2),
      few = hlo_fixed_point(f, c(0, 0), b, max_iter = 3), nan = hlo_fixed_point(function(x) log(x), -1),
      tree = hlo_fixed_point(
        function(x) list(u = x$v[1, ] / 2 + 1, v = matrix(x$u / 2)), list(u = 0, v = matrix(0, 1, 1))
      ),
      batch = xla_vmap(function(a) hlo_fixed_point(function(x) cos(a * x), 1)[-1])(c(0.1, 1))
    )
  })(c(1, 2))
  exact <- solve(diag(2) - m, c(1, 2))
  expect_equal(out$plain$point, exact, tolerance = 1e-7)
  expect_equal(out$faster$point, exact, tolerance = 1e-8)
  expect_lt(out$faster$iterations, out$plain$iterations / 3)
  expect_equal(out$slopes, solve(diag(2) - m), tolerance = 1e-8)
  numeric_second <- local({
    point <- function(a) stats::uniroot(function(x) cos(a * x) - x, c(0, 2), tol = 1e-14)$root
    (point(1 + 1e-3) - 2 * point(1) + point(1 - 1e-3)) / 1e-6
  })
  expect_equal(as.vector(out$cosine), numeric_second, tolerance = 1e-5)
  expect_equal(out$away$point, 4 / 3, tolerance = 1e-8)
  expect_identical(out$plainly$reason, 4L)
  expect_identical(out$few[-1], list(iterations = 3L, converged = FALSE, reason = 1L))
  expect_identical(out$nan$reason, 3L)
  expect_equal(out$tree$point, list(u = 4 / 3, v = matrix(2 / 3)), tolerance = 1e-7)
  expect_lt(out$batch$iterations[1], out$batch$iterations[2])
  expect_identical(out$batch$reason, c(0L, 0L))
})

test_that("single precision goes, and keeps its type", {
  skip_without_plugin()
  skip_unless_all()
  out <- xla_jit(function(a) {
    single <- function(x) hlo_constant(x, "f32")
    list(
      newton = hlo_root(function(x) x^2 - a, single(c(1, 2))), brent = hlo_root(function(x) x^2 - sum(a) / 2,
        interval = list(single(0), single(4))
      ), point = hlo_fixed_point(function(x) cos(a * x / 2), single(c(1, 1)), history = 2),
      area = hlo_integrate(function(x) exp(-x * sum(a)), single(0), single(1)),
      slope = xla_grad(function(a) sum(hlo_root(function(x) x^2 - a, single(c(1, 2)))$root))(a)
    )
  })(pjrt_buffer(c(2, 2), "f32"))
  types <- vapply(list(out$newton$root, out$brent$root, out$point$point, out$area$value), elt_type, "")
  expect_identical(types, rep("f32", 4))
  out <- rapply(out, as_array, how = "replace")
  expect_equal(as.vector(out$newton$root), sqrt(c(2, 2)), tolerance = 1e-5)
  expect_equal(as.vector(out$brent$root), sqrt(2), tolerance = 1e-3)
  expect_equal(as.vector(out$point$point), rep(0.739085, 2), tolerance = 1e-3)
  expect_equal(as.vector(out$area$value), (1 - exp(-4)) / 4, tolerance = 1e-5)
  expect_equal(as.vector(out$slope), 1 / 2 / sqrt(c(2, 2)), tolerance = 1e-5)
  for (part in out[1:4]) expect_true(as.vector(part$converged))
})

test_that("solvers of one's own have the implicit derivative", {
  skip_without_plugin()
  f <- function(x, a) x^2 - a
  newton <- function(f, start) hlo_while(function(x) max(abs(f(x))) > 1e-12, function(x) x - f(x) / (2 * x), start)
  root <- xla_custom_root(f, newton)
  own <- xla_custom_root(f, newton, function(g, y) y / g(hlo_constant(c(1, 1), "f64")))
  expect_equal(root(c(1, 2), c(4, 9)), c(2, 3))
  out <- xla_jit(function(a, s) {
    at <- function(a) sum(root(c(1, 2), a) * c(1, 10))
    turns <- hlo_constant(30L, shape = integer())
    outside <- xla_custom_root(f, function(f, start) hlo_fori(1L, turns, function(i, x) x - f(x) / (2 * x), start * s))
    list(
      first = xla_grad(at)(a), second = xla_hessian(at)(a), own = xla_grad(function(a) sum(own(c(1, 2), a)))(a),
      batch = xla_vmap(function(a, s) {
        xla_custom_root(f, function(f, start) newton(f, start * s))(1, a)
      })(a, c(1, -1)),
      none = xla_grad(function(s) sum(xla_custom_root(f, function(f, start) newton(f, start * s))(c(1, 1), a)))(s),
      outside = xla_grad(function(a) sum(outside(c(1, 2), a)))(a)
    )
  })(c(4, 9), 2)
  expect_equal(out$first, c(1, 10) / 2 / c(2, 3))
  expect_equal(out$second, diag(-c(1, 10) / 4 / c(2, 3)^3))
  expect_equal(out$own, 1 / 2 / c(2, 3))
  expect_equal(as.vector(out$batch), c(2, -3))
  expect_identical(as.vector(out$none), 0)
  expect_equal(out$outside, 1 / 2 / c(2, 3))
})

test_that("what has no root is refused", {
  skip_without_plugin()
  try_it <- function(...) xla_jit(function(a) hlo_root(...)$root)(1)
  expect_snapshot(error = TRUE, {
    try_it(function(x) x)
    try_it(function(x, a) x, 1, 2, interval = c(0, 1))
    try_it(function(x) c(x, x), 1)
    try_it(function(x) x > 0, 1)
    try_it(function(x) c(x, 1), interval = c(0, 1))
    try_it(function(x) x, interval = c(0, 1, 2))
    try_it(function(x) x, interval = list("a", 1))
    try_it(function(x) x, 1, max_iter = -1)
    xla_jit(function(a) hlo_fixed_point(function(x) c(x, x), a)$point)(1)
    xla_jit(function(a) hlo_fixed_point(function(x) x, a, history = -1)$point)(1)
    xla_jit(function(a) hlo_fixed_point(function(x) x, a, history = 0.5)$point)(1)
    xla_custom_root(function(x) x, function(f, start) list(start, start))(1)
    xla_custom_root(function(x) x, 2)
  })
})
