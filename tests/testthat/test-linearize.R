test_that("values and changes are those of xla_jvp(), for trees, loops, branches and ops, in and out of a program", {
  skip_without_plugin()
  norm <- ffi_op(function(x) sqrt(sum(x^2)), vjp = list(
    forward = function(primals) {
      size <- sqrt(sum(primals$x^2))
      list(results = size, residuals = primals$x / size)
    },
    reverse = function(residuals, cotangents) list(x = residuals * cotangents)
  ))
  functions <- one_in(3L, list(
    plain = function(w, x) sin(x) * w, linear = function(w, x) 2 * x, flat = function(w, x) list(floor(x), 1),
    trees = function(w, x) list(a = exp(x) * w, i = 3L, b = list(sum(x), w)),
    scan = function(w, x) {
      hlo_scan(function(s, e) {
        s <- sin(s * w) + exp(e)
        list(s, s * e)
      }, init = x[1], xs = x)
    },
    scans = function(w, x) {
      hlo_scan(function(s, e) {
        inner <- hlo_fori(1, 3, function(i, s) sin(s) * e, s)
        list(inner, NULL)
      }, init = x[1] * w, xs = x, checkpoint = 2)$carry
    },
    branch = function(w, x) hlo_cond(sum(x) > 0, function() sin(x) * w, function() x),
    endless = function(w, x) hlo_while(function(s) s < 100, function(s) s * 2 * w, sum(x) + 4),
    op = function(w, x) norm(x * w) * x, solve = function(w, x) xla_solve(diag(3) * w[1] + x %*% t(x), x),
    complex = function(w, x) exp(1i * x) * w, derivative = function(w, x) xla_grad(function(x) sum(x^3 * w))(x)
  ))
  at <- list(0.7, c(0.1, 0.2, 0.4))
  along <- list(list(0.5, c(1, -1, 2)), list(NULL, c(0, 1, 0)), list(2, NULL))
  wanted <- xla_jit(function(w, x, t) {
    along <- list(list(t[[1]], t[[2]]), list(NULL, t[[3]]), list(t[[4]], NULL))
    lapply(functions, function(f) lapply(along, function(t) xla_jvp(f)(list(w, x), t)))
  })
  wanted <- wanted(at[[1]], at[[2]], list(0.5, c(1, -1, 2), c(0, 1, 0), 2))
  inside <- xla_jit(function(w, x) {
    lapply(functions, function(f) {
      at <- xla_linearize(f)(list(w, x))
      lapply(along, function(t) list(value = at$value, tangent = at$jvp(t)))
    })
  })(at[[1]], at[[2]])
  for (name in names(functions)) {
    expect_equal(inside[[name]], wanted[[name]], tolerance = 1e-12, label = name)
  }
  outside <- c("plain", "linear", "flat", "trees", "scan", "endless", "complex")
  for (name in intersect(outside, names(functions))) {
    linear <- xla_linearize(functions[[name]])(at)
    for (i in seq_along(along)) {
      expect_equal(linear$value, wanted[[name]][[i]]$value, label = name)
      expect_equal(linear$jvp(along[[i]]), wanted[[name]][[i]]$tangent, tolerance = 1e-12, label = name)
    }
  }
})

test_that("f is not computed again, and its program is made once for many points and directions", {
  f <- function(x) hlo_scan(function(s, e) list(sin(s) * exp(e), s), x[1], x)$y * cos(x)
  text <- xla_program(function(x, v) {
    at <- xla_linearize(f)(x)
    list(at$jvp(v), at$jvp(-v), at$jvp(v * 2))
  }, ffi_type("f64", 3), ffi_type("f64", 3))
  times <- function(what) lengths(regmatches(text, gregexpr(what, text, fixed = TRUE)))
  expect_identical(times("stablehlo.exponential"), 1L)
  # cos(x) and the derivative of it; sin(s) and the derivative of it
  expect_identical(c(times("stablehlo.sine"), times("stablehlo.cosine")), c(2L, 2L))
  skip_without_plugin()
  traced <- 0
  g <- function(x) {
    traced <<- traced + 1
    sin(x)^2
  }
  linear <- xla_linearize(g)
  # The cache keeps a fixed number of programs, which other tests may have filled.
  forget_session()
  for (k in 1:3) {
    at <- linear(c(1, 2) * k)
    for (v in list(c(1, 0), c(0, 1))) expect_equal(at$jvp(v), sin(2 * c(1, 2) * k) * v)
  }
  expect_identical(traced, 1)
  expect_identical(nrow(xla_cache()), 2L)
  # Each point keeps its own.
  one <- linear(c(1, 2))
  two <- linear(c(3, 4))
  expect_equal(one$jvp(c(1, 1)), sin(2 * c(1, 2)))
  expect_equal(two$jvp(c(1, 1)), sin(2 * c(3, 4)))
})

test_that("a linear part belongs to what f read when it was made", {
  skip_without_plugin()
  a <- 2
  linear <- xla_linearize(function(x) a * x^2)
  two <- linear(3)
  a <- 5
  five <- linear(3)
  expect_identical(c(two$jvp(1), five$jvp(1), two$value, five$value), c(12, 30, 18, 45))
  a <- 2
  again <- linear(pjrt_buffer(3, "f64"))
  expect_identical(as.vector(as_array(again$jvp(1))), 12)
  expect_identical(c(linear(3)$jvp(1), two$jvp(1), five$jvp(1)), c(12, 12, 30))
})

test_that("linear parts go into programs, batches and derivatives; buffers stay buffers", {
  skip_without_plugin()
  f <- function(x) cumsum(x)^2 * sin(x)
  x <- c(0.3, 0.5, 0.7)
  jacobian <- xla_jacobian(f)(x)
  at <- xla_linearize(f)(x)
  expect_equal(xla_vmap(at$jvp, out_axes = 2)(diag(3)), jacobian)
  expect_equal(xla_jit(function(v) at$jvp(v) + at$jvp(c(1, 0, 0)))(c(0, 1, 0)), jacobian[, 1] + jacobian[, 2])
  expect_equal(xla_vjp(at$jvp)(x, c(1, 2, 3))$gradients, as.vector(c(1, 2, 3) %*% jacobian))
  # Derivatives by the point
  along <- function(x, v) xla_linearize(f)(x)$jvp(v)
  expect_equal(
    xla_jacobian(along)(x, c(1, 2, 0)), xla_jacobian(function(x, v) xla_jvp(f)(x, v)$tangent)(x, c(1, 2, 0))
  )
  large <- seq(0, 1, length.out = 600)
  part <- xla_linearize(function(x) sin(x))(large)
  expect_equal(xla_jit(function(v) part$jvp(v))(large), cos(large) * large)
  single <- xla_linearize(exp)(pjrt_buffer(c(1, 2), "f32"))
  change <- single$jvp(pjrt_buffer(c(1, 2), "f32"))
  expect_s3_class(change, "xlaffi_buffer")
  expect_equal(as.vector(as_array(change)), exp(c(1, 2)) * c(1, 2), tolerance = 1e-6)
  # Nothing that changes
  whole <- xla_linearize(function(i) list(i * 1.5, i))(list(3L))
  expect_identical(whole$jvp(NULL), list(0, NULL))
  none <- single$jvp(NULL)
  expect_identical(list(as.character(dtype(none)), as.vector(as_array(none))), list("f32", c(0, 0)))
  scalar <- xla_linearize(exp)(pjrt_scalar(1, "f32"))
  expect_equal(as_array(scalar$jvp(pjrt_scalar(2, "f32"))), exp(1) * 2, tolerance = 1e-6)
})

test_that("tangents that do not fit are refused", {
  skip_without_plugin()
  at <- xla_linearize(function(x, i) x * i)(list(c(1, 2), 3L))
  single <- xla_linearize(exp)(pjrt_buffer(c(1, 2), "f32"))
  expect_snapshot(error = TRUE, {
    xla_linearize(1)
    at$jvp(c(1, 2))
    at$jvp(list(c(1, 2, 3), NULL))
    at$jvp(list(c(1, 2), 1))
    at$jvp(list(c(1i, 2), NULL))
    at$jvp(list("a", NULL))
    single$jvp(c(1, 2))
    single$jvp(1)
    xla_jit(function(v) at$jvp(list(v, NULL)))(c(1, 2, 3))
    xla_jit(function(x) xla_linearize(sin)(x))(1)
    xla_linearize(function(x) hlo_custom_call("kepler", list(x, x), list(x, x))[[1]])(c(1, 2))
  })
  expect_snapshot(at$jvp)
})
