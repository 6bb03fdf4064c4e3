vec <- function(x) lapply(xlaffi:::tree_leaves(x), as.vector)

# A custom call with and without rules: kepler's sine and cosine of M.
kepler_call <- function(M, e) hlo_custom_call("kepler", list(M, e), list(sin = M, cos = M))

test_that("arguments and results keep their structure", {
  skip_without_plugin()
  f <- function(data, scale) list(a = data$x * scale, b = list(data$y))
  at <- list(data = list(x = c(1, 2), y = 3L), scale = c(2, 5))
  out <- xla_jvp(f)(at, list(data = list(x = c(1, 0)), scale = NULL))
  expect_identical(names(out), c("value", "tangent"))
  expect_identical(vec(out$tangent$a), list(c(2, 0)))
  # An integer has no tangent.
  expect_identical(out$tangent$b, list(NULL))
  back <- xla_vjp(f)(at, list(a = c(1, 1), b = NULL))
  expect_identical(names(back$gradients), c("data", "scale"))
  expect_identical(vec(back$gradients), list(c(2, 5), c(1, 2)))
  expect_null(back$gradients$data$y)
  # One argument and one result need no lists.
  expect_identical(vec(xla_jvp(sin)(0, 2)$tangent), list(2))
  expect_identical(vec(xla_vjp(sin)(0, 2)$gradients), list(2))
})

test_that("what does not depend has derivative zero", {
  skip_without_plugin()
  f <- function(x, y) list(x * 0 + 1, floor(y), 3)
  out <- xla_jvp(f)(list(2, 3), list(1, 1))
  expect_identical(vec(out$tangent), list(0, 0, 0))
  expect_identical(vec(xla_vjp(f)(list(2, 3), list(1, 1, 1))$gradients), list(0, 0))
  expect_identical(vec(xla_jvp(f)(list(2, 3), list(NULL, NULL))$tangent), list(0, 0, 0))
})

test_that("derivatives of derivatives see their own variable only", {
  skip_without_plugin()
  # d/dx (x * d/dy (x + y)) = 1, though both derivatives pass through the same sum.
  f <- function(x) x * xla_jvp(function(y) x + y)(1, 1)$tangent
  expect_identical(vec(xla_jvp(f)(2, 1)$tangent), list(1))
  expect_identical(vec(xla_grad(f)(2)), list(1))
  # The same value inside and outside.
  g <- function(x) xla_grad(function(z) sum(z * x))(x)
  expect_identical(vec(xla_jvp(g)(3, 1)), list(3, 1))
  cube <- function(x) sum(x^3)
  expect_equal(vec(xla_grad(function(x) sum(xla_grad(function(x) sum(xla_grad(cube)(x)))(x)))(2)), list(6))
})

test_that("gradients, Hessians and their products", {
  skip_without_plugin()
  f <- function(x, y, flag) sum(sin(x) * y)
  expect_equal(vec(xla_grad(f)(c(1, 2), c(3, 4), TRUE)), list(cos(c(1, 2)) * c(3, 4)))
  expect_equal(vec(xla_grad(f, "y")(x = c(1, 2), y = c(3, 4), flag = TRUE)), list(sin(c(1, 2))))
  expect_equal(vec(xla_grad(f, c("y", "x"))(c(1, 2), c(3, 4), TRUE)), list(sin(c(1, 2)), cos(c(1, 2)) * c(3, 4)))
  out <- xla_grad(f, 2, value = TRUE)(c(1, 2), c(3, 4), TRUE)
  expect_equal(vec(out), list(sum(sin(c(1, 2)) * c(3, 4)), sin(c(1, 2))))
  quadratic <- function(x, a) sum(x * hlo_matmul(a, x)) / 2
  a <- matrix(c(4, 1, 1, 3), 2)
  expect_equal(xla_hessian(quadratic)(c(1, 2), a), a)
  product <- xla_jvp(function(x) xla_grad(quadratic)(x, a))
  expect_equal(vec(product(c(1, 2), c(5, 6))$tangent), list(as.vector(a %*% c(5, 6))))
  expect_equal(xla_hessian(function(m) sum(m^3))(matrix(c(1, 2, 3, 4), 2)), diag(6 * c(1, 3, 2, 4)))
})

test_that("value and derivative share their work, and nothing else is in the program", {
  text <- xla_program(xla_grad(function(x) sum(exp(x) * x)), ffi_type("f64", 3))
  expect_identical(lengths(regmatches(text, gregexpr("exponential", text))), 1L)
  expect_false(grepl("reduce", text))
  text <- xla_program(function(x) xla_jvp(exp)(x, x), ffi_type("f64", 3))
  expect_identical(lengths(regmatches(text, gregexpr("exponential", text))), 1L)
})

test_that("forward mode goes through loops in loops, twice, and through ops in them", {
  skip_without_plugin()
  skip_unless_all()
  anomaly <- ffi_op(kepler_call, jvp = xlaffi:::kepler_jvp, name = "anomaly")
  turns <- function(count, body, x) {
    start <- list(hlo_constant(0L, shape = integer()), x)
    hlo_while(function(i, x) i < count, function(i, x) list(i + 1L, body(x)), start)[[2]]
  }
  # The same without loops.
  f <- function(x, e) {
    turns(2L, function(x) turns(3L, function(x) sin(x) * e + anomaly(x, e)$sin, x) + x, x)
  }
  g <- function(x, e) {
    for (i in 1:2) {
      before <- x
      for (j in 1:3) x <- sin(x) * e + anomaly(x, e)$sin
      x <- x + before
    }
    x
  }
  at <- list(c(0.3, 1), c(0.2, 0.5))
  along <- list(c(1, 2), c(0.1, -0.1))
  expect_equal(vec(xla_jvp(f)(at, along)), vec(xla_jvp(g)(at, along)), tolerance = 1e-13)
  twice <- function(f) xla_jvp(xla_jvp(f))(list(at, along), list(along, list(NULL, c(1, 1))))
  expect_equal(vec(twice(f)), vec(twice(g)), tolerance = 1e-12)
})

test_that("loops with side effects have them once", {
  skip_without_plugin()
  f <- function(x) {
    hlo_while(function(i, x) i < 2L, function(i, x) {
      hlo_custom_call("print_tensor", i, list(), list(print_header = "turn"), has_side_effect = TRUE)
      list(i + 1L, x * x)
    }, list(hlo_constant(0L, shape = integer()), x))[[2]]
  }
  output <- capture.output(out <- xla_jvp(f)(3, 1))
  expect_identical(sum(output == "turn"), 2L)
  expect_identical(vec(out), list(81, 108))
})

test_that("%% and the power of two variables have the slopes of finite differences", {
  skip_without_plugin()
  for (f in list(`%%`, function(x, y) abs(x)^y, function(x, y) hlo_complex(x, y)^hlo_complex(y, x))) {
    run <- xla_jit(f)
    out <- xla_jvp(f)(list(c(5.3, -4.1), c(1.7, 2.2)), list(c(1, 2), c(-1, 1)))
    at <- function(h) as.vector(run(c(5.3, -4.1) + h * c(1, 2), c(1.7, 2.2) + h * c(-1, 1)))
    expect_equal(as.vector(out$tangent), (at(1e-6) - at(-1e-6)) / 2e-6, tolerance = 1e-7)
  }
})

test_that("gradients through slices, pads and products of no elements", {
  skip_without_plugin()
  f <- function(x) sum(hlo_slice(x, 2, 1)) + sum(x[2:3])
  expect_identical(vec(xla_grad(f)(c(1, 2, 3))), list(c(0, 1, 1)))
  g <- function(x) sum(hlo_matmul(x, hlo_constant(0, "f64", c(0, 2))))
  expect_identical(dim(xla_grad(g)(matrix(0, 3, 0))), c(3L, 0L))
})

test_that("buffers keep their precision", {
  skip_without_plugin()
  x <- pjrt_buffer(c(0.5, 1), "f32")
  out <- xla_jvp(exp)(x, pjrt_buffer(c(1, 1), "f32"))
  expect_identical(as.character(dtype(out$tangent)), "f32")
  inside <- xla_jit(function(x) xla_jvp(exp)(x, c(1, 1))$tangent)
  expect_equal(as.vector(as_array(inside(x))), exp(c(0.5, 1)), tolerance = 1e-6)
})

test_that("an op without a rule is named, and so is a rule that does not fit", {
  none <- ffi_op(kepler_call, name = "anomaly")
  type <- ffi_type("f64", 2)
  forward <- function(f) xla_program(xla_jvp(f), list(type, type), list(type, type))
  reverse <- function(f, ...) xla_program(xla_vjp(f), list(type, type), list(type, type))
  with_rule <- function(rule) ffi_op(kepler_call, jvp = rule, name = "anomaly")
  expect_snapshot(error = TRUE, {
    forward(kepler_call)
    forward(none)
    reverse(none)
    forward(with_rule(function(primals, results, tangents) tangents$M))
    forward(with_rule(function(primals, results, tangents) list(sin = tangents$M, tan = tangents$M)))
    forward(with_rule(function(primals, results, tangents) list(tangents$M, tangents$M, tangents$M)))
    forward(with_rule(function(primals, results, tangents) list(sin = sum(tangents$M))))
    forward(with_rule(function(primals, results, tangents) list(sin = hlo_convert(tangents$M, "f32"))))
    reverse(with_rule(function(primals, results, tangents) list(sin = sin(tangents$M))))
    reverse(with_rule(function(primals, results, tangents) list(sin = tangents$M * tangents$M)))
    forward(with_rule(function(primals, results, tangents) list(sin = 3 * primals$M)))
    reverse(with_rule(function(primals, results, tangents) list(sin = 2 * tangents$M + 1)))
    forward(with_rule(function(primals, results, tangents) list(sin = replace(tangents$M, 2, 5))))
    reverse(with_rule(function(primals, results, tangents) list(sin = ifelse(tangents$M > 0, tangents$M, 0))))
    reverse(with_rule(function(primals, results, tangents) none(tangents$M, primals$e)))
    reverse(function(x, y) list(hlo_while(function(x) sum(x) < 1, function(x) x + 1, x), y))
  })
  # A choice by what does not change is linear.
  halves <- ffi_op(function(x) pmax(x, 0), jvp = function(primals, results, tangents) {
    ifelse(primals$x > 0, tangents$x, 0)
  })
  expect_identical(xla_grad(function(x) sum(halves(x)))(c(1, -2)), c(1, 0))
  error <- error_of(forward(none))
  expect_identical(error[c("code", "op")], list(code = "UNIMPLEMENTED", op = "kepler"))
})

# The neighbours before and after, zero at the ends.
down <- function(x) hlo_pad(x, low = 1, high = -1)
up <- function(x) hlo_pad(x, low = -1, high = 1)

# A x = b with a tridiagonal A, by a handler for LAPACK's gtsv. dl[1] and du[n] are not used.
tridiagonal <- ffi_op(
  function(dl, d, du, b) {
    column <- hlo_reshape(b, c(length(d), 1))
    call <- hlo_custom_call("lapack_dgtsv_ffi", list(dl, d, du, column),
      results = list(dl, d, du, x = column, info = ffi_type("i32")),
      operand_layouts = "column", result_layouts = "column",
      aliases = list(c(1, 1), c(2, 2), c(3, 3), c(4, 4))
    )
    hlo_reshape(call$x, length(d))
  },
  jvp = function(primals, results, tangents) {
    change <- hlo_add(
      if (!is.null(tangents$d)) tangents$d * results,
      if (!is.null(tangents$dl)) tangents$dl * down(results),
      if (!is.null(tangents$du)) tangents$du * up(results)
    )
    tridiagonal(primals$dl, primals$d, primals$du, hlo_add(tangents$b, if (!is.null(change)) -change))
  },
  transpose = function(primals, cotangents) {
    expect_null(primals$b)
    list(b = tridiagonal(down(primals$du), primals$d, up(primals$dl), cotangents))
  },
  name = "tridiagonal"
)

test_that("a solver of linear equations has derivatives of any order by two rules", {
  skip_without_plugin()
  dl <- c(0, 0.3, 0.9, 0.2, 0.5)
  d <- c(3.1, 3.9, 3.4, 3.6, 3.2)
  du <- c(0.4, 0.8, 0.1, 0.7, 0)
  b <- c(1, -2, 0.5, 3, -1)
  a <- diag(d)
  a[cbind(2:5, 1:4)] <- dl[-1]
  a[cbind(1:4, 2:5)] <- du[-5]
  x <- solve(a, b)
  y <- solve(t(a), 2 * x)
  expect_equal(as.vector(tridiagonal(dl, d, du, b)), x)
  gradient <- xla_grad(function(dl, d, du, b) sum(tridiagonal(dl, d, du, b)^2), 1:4)
  expect_equal(vec(gradient(dl, d, du, b)), list(-y * c(0, x[-5]), -y * x, -y * c(x[-1], 0), y))
  out <- xla_jvp(tridiagonal)(list(dl = dl, d = d, du = du, b = b), list(d = b))
  expect_equal(vec(out$tangent), list(-solve(a, b * x)))
  hessian <- xla_hessian(function(d, dl, du, b) sum(tridiagonal(dl, d, du, b)^2))
  differences <- sapply(1:5, function(i) {
    h <- 1e-5 * (1:5 == i)
    as.vector(gradient(dl, d + h, du, b)[[2]] - gradient(dl, d - h, du, b)[[2]]) / 2e-5
  })
  expect_equal(hessian(d, dl, du, b), differences, tolerance = 1e-7)
})

test_that("tangents and cotangents that do not fit are named", {
  f <- function(x, n) list(value = x * 2, count = n)
  x <- ffi_type("f64", 3)
  n <- ffi_type("i32")
  jvp <- function(...) xla_program(xla_jvp(f), ...)
  vjp <- function(...) xla_program(xla_vjp(f), ...)
  expect_snapshot(error = TRUE, {
    xla_jvp(1)
    xla_vjp("f")
    xla_grad(NULL)
    jvp(list(x, n), list(x))
    jvp(list(x, n), x)
    jvp(list(x, n), list(ffi_type("f64", 2), NULL))
    jvp(list(x, n), list(ffi_type("f32", 3), NULL))
    jvp(list(x, n), list(NULL, n))
    jvp(list(x = x, n = n), list(y = x))
    vjp(list(x, n), list(value = n))
    vjp(list(x, n), list(x, NULL, x))
    vjp(list(x, n), list(value = list(x, x)))
    xla_grad(f, wrt = TRUE)
    xla_program(xla_grad(f, "z"), x = x, n = n)
    xla_program(xla_grad(f, 3), x, n)
    xla_program(xla_grad(f), x, n)
    xla_program(xla_grad(function(x) x), x)
    xla_program(xla_hessian(function(n) sum(n)), n)
  })
})

test_that("there is no gradient of integers and logicals", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_grad(function(x) sum(x^2))(1:3)
    xla_grad(function(x, l) sum(x), "l")(1, list(TRUE, 2L))
  })
  # Beside what has one
  expect_identical(xla_grad(function(p) sum(p$a * p$n))(list(a = 1, n = 2L)), list(a = 2, n = NULL))
})
