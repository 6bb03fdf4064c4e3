# A recurrence with a matrix from outside, written out in R
unrolled <- function(a, start, us, reverse = FALSE) {
  s <- start
  y <- us * 0
  for (i in if (reverse) rev(seq_len(nrow(us))) else seq_len(nrow(us))) {
    s <- as.vector(tanh(a %*% s + us[i, ]))
    y[i, ] <- s
  }
  list(carry = s, y = y)
}

scanned <- function(a, start, us, ...) {
  hlo_scan(function(s, u) {
    s <- tanh(hlo_matmul(a, s) + u)
    list(s, s)
  }, start, us, ...)
}

loss <- function(out) sum(out$carry) + sum(out$y^2) * 2

a <- matrix(c(0.3, -0.2, 0.5, 0.1, 0.4, -0.6, 0.2, 0.7, -0.1), 3)
start <- c(0.5, -1, 0.2)
us <- matrix(sin(1:21), 7)

test_that("a scan is the loop written out, in values, gradients and Hessians", {
  skip_without_plugin()
  for (reverse in c(FALSE, TRUE)) {
    expect_equal(xla_jit(function(...) scanned(..., reverse = reverse))(a, start, us), unrolled(a, start, us, reverse))
    if (reverse && !all_run()) next
    value <- function(a, start, us) loss(unrolled(a, start, us, reverse))
    for (checkpoint in if (all_run()) c(0, 1, 3) else 3) {
      f <- function(a, start, us) loss(scanned(a, start, us, reverse = reverse, checkpoint = checkpoint))
      g <- xla_grad(f, 1:3)(a, start, us)
      expect_equal(as.vector(g$a), slope_of(function(a) value(a, start, us), a), tolerance = 1e-7)
      expect_equal(g$start, slope_of(function(s) value(a, s, us), start), tolerance = 1e-7)
      expect_equal(as.vector(g$us), slope_of(function(u) value(a, start, u), us), tolerance = 1e-7)
    }
    # Second derivatives: forward over reverse, and reverse over reverse
    f <- function(start) loss(scanned(a, start, us, reverse = reverse, checkpoint = 3))
    gradient <- xla_grad(f)
    hessian <- xla_hessian(f)(start)
    expect_equal(hessian[, 2], slope_of(function(s) gradient(s)[[2]], start), tolerance = 1e-7)
    twice <- xla_grad(function(start) sum(xla_grad(f)(start)^2))(start)
    expect_equal(twice, as.vector(2 * hessian %*% gradient(start)))
  }
  forward <- xla_jvp(function(a) loss(scanned(a, start, us)))(a, a)
  expect_equal(forward$tangent, sum(a * xla_grad(function(a) loss(scanned(a, start, us)))(a)))
})

test_that("batches of a scan, and gradients of these", {
  skip_without_plugin()
  starts <- rbind(start, start * 2, -start, deparse.level = 0)
  f <- function(start, a, us) loss(scanned(a, start, us))
  batch <- xla_vmap(f, in_axes = list(1, NULL, NULL))
  expect_equal(batch(starts, a, us), apply(starts, 1, function(s) loss(unrolled(a, s, us))))
  expect_equal(
    xla_vmap(xla_grad(f), in_axes = list(1, NULL, NULL))(starts, a, us),
    t(apply(starts, 1, function(s) xla_grad(f)(s, a, us)))
  )
  of_all <- xla_grad(function(a) sum(batch(starts, a, us)))(a)
  expect_equal(of_all, Reduce(`+`, lapply(1:3, function(i) xla_grad(f, 2)(starts[i, ], a, us))))
  # Slices that are mapped
  many <- aperm(array(c(us, us + 1), c(7, 3, 2)), c(3, 1, 2))
  expect_equal(
    xla_vmap(function(us) scanned(a, start, us)$y)(many)[2, , ], unrolled(a, start, us + 1)$y
  )
})

test_that("what works element by element has reverse mode in batches", {
  skip_without_plugin()
  x <- matrix(1:6 / 2, 2)
  at <- xla_vmap(function(x, i) hlo_dynamic_slice(x, list(i), 1)^2, in_axes = list(1, 1))
  expect_equal(xla_grad(function(x, i) sum(at(x, i)))(x, c(2L, 3L)), rbind(c(0, 2 * x[1, 2], 0), c(0, 0, 2 * x[2, 3])))
})

test_that("lengths of 0 and 1, no slices, trees, dtypes and results of one element", {
  skip_without_plugin()
  f <- function(x, e) {
    out <- hlo_scan(function(a, b) list(a * 2 + b, a), x, e)
    list(out$carry, out$y)
  }
  total <- function(x, e) Reduce(function(s, p) s + sum(p), f(x, e), 0)
  expect_identical(xla_jit(f)(1, numeric()), list(1, numeric()))
  expect_identical(xla_jit(f)(1, 5), list(7, 1))
  expect_identical(xla_grad(total, 1:2)(1, numeric()), list(x = 1, e = numeric()))
  expect_identical(xla_grad(total, 1:2)(1, 5), list(x = 3, e = 1))
  expect_identical(xla_jit(function(x) hlo_scan(function(a) list(a * 2, a), x, length = 3))(1), list(
    carry = 8, y = c(1, 2, 4)
  ))
  counts <- xla_jit(function(x) {
    hlo_scan(function(s, e) {
      list(list(n = s$n + 1L, low = hlo_min(s$low, e$v)), list(e$v > 2, list(e$k)))
    }, list(n = 0L, low = Inf), list(k = 3:1, v = x))
  })
  expect_identical(counts(c(2, 1, 3)), list(carry = list(n = 3L, low = 1), y = list(c(FALSE, FALSE, TRUE), list(3:1))))
  # A double is a place for integers.
  expect_identical(xla_jit(function(x) hlo_scan(function(s, e) list(e, NULL), 0, x))(1:3), list(carry = 3, y = NULL))
  one <- pjrt_buffer(c(1, 2), "f32")
  product <- function(x) hlo_scan(function(s, e) list(s * e, NULL), x[1] * 0 + 1, x)$carry
  expect_equal(as.vector(as_array(xla_grad(product)(one))), c(2, 1))
})

test_that("counting loops, with bounds that are known or not", {
  skip_without_plugin()
  power <- function(x, n, ...) hlo_fori(1, n, function(i, s) s * x, x * 0 + 1, ...)
  expect_equal(xla_jit(function(x) hlo_fori(1, 10, function(i, s) s + 1 / hlo_convert(i, "f64"), x))(0), sum(1 / 1:10))
  expect_identical(xla_jit(function(x) hlo_fori(3, 2, function(i, s) s + 1, x))(0), 0)
  expect_equal(xla_grad(function(x) power(x, 5))(2), 80)
  expect_equal(xla_jvp(power)(list(2, 5L), list(1, NULL)), list(value = 32, tangent = 80))
  expect_error(xla_grad(power)(2, 5L), class = "xlaffi_error_unimplemented")
  bounded <- function(x, n) power(x, n, max_iter = 10)
  expect_equal(xla_grad(bounded)(2, 5L), 80)
  expect_equal(xla_hessian(bounded)(2, 5L), matrix(160))
  expect_equal(xla_vmap(bounded)(c(2, 2, 3), c(1L, 5L, 20L)), c(2, 32, 3^10))
  expect_equal(xla_vmap(xla_grad(bounded))(c(2, 2, 3), c(0L, 5L, 20L)), c(0, 80, 10 * 3^9))
})

test_that("a loop with a bound has reverse mode", {
  skip_without_plugin()
  root <- function(y, ...) hlo_while(function(x) abs(x * x - y) > 1e-13, function(x) (x + y / x) / 2, y, ...)
  for (checkpoint in c(FALSE, TRUE)) {
    f <- function(y) root(y, max_iter = 30, checkpoint = checkpoint)
    expect_equal(xla_grad(f)(2), 1 / (2 * sqrt(2)))
    expect_equal(xla_hessian(f)(2), matrix(-2^-1.5 / 4))
    expect_equal(xla_jvp(f)(2, 1)$tangent, 1 / (2 * sqrt(2)))
    expect_equal(xla_vmap(xla_grad(f))(c(2, 9)), 1 / (2 * sqrt(c(2, 9))))
  }
  # No more turns than that
  expect_equal(xla_jit(function(y) root(y, max_iter = 1))(2), 1.5)
})

test_that("loops and branches in one another, with ops that keep residuals", {
  skip_without_plugin()
  keeps <- ffi_op(function(x) sin(x), vjp = list(
    forward = function(primals) list(sin(primals$x), cos(primals$x)),
    reverse = function(residuals, cotangents) list(x = residuals * cotangents)
  ), name = "keeps")
  f <- function(x, w) {
    out <- hlo_scan(function(s, e) {
      inner <- hlo_scan(function(s, k) list(keeps(s * w) + k, s), s, hlo_constant(c(0.1, 0.2)))
      s <- hlo_cond(e > 0, function() inner$carry * e, function() exp(-s))
      list(s, sum(inner$y))
    }, 0.5, x)
    out$carry + sum(out$y)
  }
  plain <- function(x, w) {
    s <- 0.5
    total <- 0
    for (e in x) {
      inner <- s
      for (k in c(0.1, 0.2)) {
        total <- total + inner
        inner <- sin(inner * w) + k
      }
      s <- if (e > 0) inner * e else exp(-s)
    }
    s + total
  }
  x <- c(0.3, -0.5, 1.2, 0.7)
  expect_equal(xla_jit(f)(x, 0.9), plain(x, 0.9))
  g <- xla_grad(f, 1:2)(x, 0.9)
  expect_equal(g$x, slope_of(function(x) plain(x, 0.9), x), tolerance = 1e-7)
  expect_equal(g$w, slope_of(function(w) plain(x, w), 0.9), tolerance = 1e-7)
  gradient <- xla_grad(f)
  expect_equal(xla_hessian(f)(x, 0.9)[, 3], slope_of(function(x) gradient(x, 0.9)[[3]], x), tolerance = 1e-6)
})

test_that("rules that scan tangents, complex carries, and linear algebra in turns", {
  skip_without_plugin()
  skip_unless_all()
  sums <- ffi_op(function(x) cumsum(x) * 2, jvp = function(primals, results, tangents) {
    turn <- function(s, t) list(s + t, hlo_cond(primals$x[1] > 0, function() (s + t) * 2, function() 2 * (s + t)))
    hlo_scan(turn, 0, tangents$x)$y
  }, name = "sums")
  by_rule <- function(x) sum(sums(x)^2)
  plain <- function(x) sum((cumsum(x) * 2)^2)
  x <- c(1, 2, 3)
  expect_equal(xla_grad(by_rule)(x), xla_grad(plain)(x))
  expect_equal(xla_hessian(by_rule)(x), xla_hessian(plain)(x))
  mandelbrot <- function(a) {
    turn <- function(z, e) list(z * z + complex(real = a, imaginary = e), NULL)
    sum(Mod(hlo_scan(turn, 0i, hlo_constant(c(0.1, 0.2, 0.3)))$carry)^2)
  }
  expect_equal(xla_grad(mandelbrot)(0.3), slope_of(xla_jit(mandelbrot), 0.3), tolerance = 1e-7)
  determinants <- function(t) {
    turn <- function(s, e) list(s + e * (t(s) %*% s) * 0.1, sum(log(diag(chol(s)))))
    sum(hlo_scan(turn, hlo_constant(matrix(c(2, 0.5, 0.5, 1), 2)), t)$y)
  }
  expect_equal(xla_grad(determinants)(x / 10), slope_of(xla_jit(determinants), x / 10), tolerance = 1e-7)
  # What is both gone along and used as a whole
  whole <- function(x) hlo_scan(function(s, e) list(s + e * sum(x), NULL), 0, x)$carry
  expect_equal(xla_grad(whole)(x), rep(12, 3))
})

test_that("the program does not grow with the length", {
  text <- function(n) nchar(xla_program(xla_grad(function(x) loss(scanned(a, start, x))), ffi_type("f64", c(n, 3))))
  expect_lt(text(1000) - text(10), 200)
})

test_that("loops that do not fit are refused", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  n <- xlaffi:::new_parameter(ffi_type("f64"))
  expect_snapshot(error = TRUE, {
    hlo_scan(1, 0, x)
    hlo_scan(function(s, e) s + e, 0, x)
    hlo_scan(function(s, e) list(list(n = hlo_convert(s$n, "f64"), t = s$t), NULL), list(n = 0L, t = 0), x)
    hlo_scan(function(s, e) list(x, NULL), list(0), x)
    hlo_scan(function(s, e) list(list(b = e), NULL), list(a = 0), x)
    hlo_scan(function(s, e) list(s, NULL), 0, n)
    hlo_scan(function(s, e) list(s, NULL), 0, x, length = 4)
    hlo_scan(function(s) list(s, NULL), 0)
    hlo_scan(function(s, e) list(s, NULL), 0, list(x, x[1:2]))
    hlo_scan(function(s, e) list(s, NULL), 0, x, checkpoint = -1)
    hlo_fori(1, n, function(i, s) s, 0)
    hlo_fori(1, 2.5, function(i, s) s, 0)
    hlo_fori(1, 2, function(i, s) list(s, s), 0)
    hlo_while(function(s) s > 0, function(s) s, 0, max_iter = -1)
  })
})

test_that("loops of counts that differ in a batch go side by side, in both modes", {
  skip_without_plugin()
  f <- function(n, x, a) hlo_fori(1L, n, function(i, s) s * a + x / hlo_convert(i, "f64"), 1, max_iter = 6)
  n <- c(0L, 3L, 6L, 2L)
  x <- c(1, 2, 3, 4)
  single <- xla_jit(f)
  slope <- xla_grad(f, 2:3)
  batch <- xla_vmap(f, in_axes = list(1, 1, NULL))
  expect_equal(batch(n, x, 0.9), mapply(single, n, x, 0.9))
  each <- xla_vmap(slope, in_axes = list(1, 1, NULL))(n, x, 0.9)
  expect_equal(lapply(each, as.vector), lapply(list(x = 1, a = 2), function(i) unlist(mapply(slope, n, x, 0.9)[i, ])))
  expect_equal(xla_grad(function(a) sum(batch(n, x, a)))(0.9), sum(each$a))
  # Rows of different lengths: what stands behind their ends has no slope, not 0 times an infinite one.
  rows <- function(n, x) hlo_fori(1L, n, function(i, s) s / 2 + sqrt(s + 1) * log(x[i]), 0, max_iter = 3)
  x <- rbind(c(2, 0, -1), c(2, 3, 4))
  n <- c(1L, 3L)
  expected <- t(vapply(1:2, function(i) as.vector(xla_grad(rows, 2)(n[[i]], x[i, ])), numeric(3)))
  expect_identical(expected[1, ], c(0.5, 0, 0))
  whole <- function(x) sum(xla_vmap(rows, in_axes = list(1, 1))(n, x))
  expect_equal(xla_grad(whole)(x), expected)
  expect_equal(array(xla_jacobian(whole, mode = "forward")(x), c(2, 3)), expected)
})
