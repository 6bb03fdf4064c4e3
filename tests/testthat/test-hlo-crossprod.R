tall_matrices <- function(n) {
  set.seed(4)
  list(
    x = matrix(rnorm(5 * n), n), z = matrix(rnorm(3 * n), n), y = rnorm(n), w = runif(n), one = matrix(rnorm(n)),
    wide = matrix(rnorm(3 * n), 3)
  )
}

# Each with how many handlers its program calls; base R says what is right.
tall_products <- list(
  list(1L, function(d) crossprod(d$x)),
  list(1L, function(d) t(d$x) %*% d$x),
  list(1L, function(d) crossprod(d$x, d$y)),
  list(1L, function(d) crossprod(d$y, d$x)),
  list(1L, function(d) drop(d$y %*% d$x)),
  list(1L, function(d) crossprod(d$x, d$z)),
  list(1L, function(d) crossprod(d$z, d$x)),
  list(1L, function(d) crossprod(d$x, d$x * d$w)),
  list(1L, function(d) crossprod(d$w * d$x, d$x)),
  list(1L, function(d) t(d$x * d$w) %*% d$x),
  # Weights of two matrices, and on both sides, are products of their own.
  list(1L, function(d) crossprod(d$x * d$w, d$z)),
  list(1L, function(d) crossprod(d$x * d$w)),
  list(1L, function(d) crossprod(d$x * d$x, d$x)),
  list(1L, function(d) crossprod(d$x, d$one)),
  list(1L, function(d) d$y %*% d$x),
  # One number, and what is tall the other way
  list(0L, function(d) crossprod(d$y)),
  list(0L, function(d) crossprod(d$one)),
  list(0L, function(d) d$wide %*% d$x),
  list(0L, function(d) tcrossprod(d$wide))
)

test_that("products of tall matrices are those of base R", {
  skip_without_plugin()
  all_of_them <- function(d) lapply(tall_products, function(product) product[[2L]](d))
  for (n in c(1024L, if (all_run()) c(1025L, 2049L, 5000L))) {
    d <- tall_matrices(n)
    want <- all_of_them(d)
    expect_equal(xla_jit(all_of_them)(d), want, tolerance = 1e-12)
    single <- lapply(d, pjrt_buffer, dtype = "f32")
    got <- lapply(xla_jit(all_of_them)(single), function(x) as.vector(as_array(x)))
    expect_equal(got, lapply(want, as.vector), tolerance = 1e-4)
  }
  # A missing number is where base R has it.
  d$x[7, 2] <- NaN
  expect_identical(is.nan(xla_jit(function(d) crossprod(d$x, d$x * d$w))(d)), is.nan(crossprod(d$x)))
})

test_that("programs call the handler where it is the quicker one", {
  calls_of <- function(f, d) times_in(xla_program(f, d), "@xlaffi.crossprod(")
  d <- tall_matrices(1024L)
  for (product in tall_products) {
    expect_identical(calls_of(product[[2L]], d), product[[1L]], label = deparse1(body(product[[2L]])))
  }
  cross <- function(d) crossprod(d$x, d$z)
  expect_identical(calls_of(cross, tall_matrices(1023L)), 0L)
  expect_identical(calls_of(cross, list(x = ffi_type("f64", c(1024, 40)), z = ffi_type("f64", c(1024, 40)))), 0L)
  expect_identical(calls_of(cross, list(x = ffi_type("f16", c(1024, 4)), z = ffi_type("f16", c(1024, 4)))), 0L)
  symmetric <- function(d) crossprod(d$x)
  expect_identical(calls_of(symmetric, list(x = ffi_type("f32", c(1024, 512)))), 1L)
  expect_identical(calls_of(symmetric, list(x = ffi_type("f32", c(1024, 513)))), 0L)
  # The product of `x` and `w` is not in the call.
  text <- xla_program(tall_products[[8L]][[2L]], d)
  expect_match(text, "@xlaffi.crossprod\\(%arg0, %arg0, %arg3\\)")
})

test_that("products of a matrix that they share are one call", {
  skip_without_plugin()
  d <- tall_matrices(1024L)
  calls_of <- function(f) times_in(xla_program(f, d), "@xlaffi.crossprod(")
  expect_same <- function(f, calls) {
    expect_equal(xla_jit(f)(d), f(d), tolerance = 1e-12, label = deparse1(body(f)))
    expect_identical(calls_of(f), calls, label = deparse1(body(f)))
  }
  # Either side, transposed, with weights, one of them twice, and what is computed between them
  expect_same(function(d) {
    a <- crossprod(d$x)
    y <- d$y - sum(d$w)
    list(a, t(d$x) %*% y, crossprod(d$x, d$x * d$w), drop(d$y %*% d$x), crossprod(d$z, d$x), a + crossprod(d$x))
  }, 1L)
  # A product of what was computed from another one is a call of its own, and so is one of another matrix.
  expect_same(function(d) {
    a <- crossprod(d$x)
    list(a, crossprod(d$x, d$y), crossprod(d$x, d$y - sum(a)), crossprod(d$z, d$y))
  }, 3L)
  # Steps one after the other, each with two products
  expect_same(function(d) {
    beta <- numeric(5)
    for (i in 1:3) {
      p <- plogis(drop(d$x %*% beta))
      beta <- beta - solve(crossprod(d$x, d$x * (p * (1 - p))), crossprod(d$x, p - (d$y > 0)))
      beta <- drop(beta)
    }
    beta
  }, 3L)
  # Each product of two matrices is also one of the other's: both are read for `z`.
  expect_same(function(d) {
    xz <- crossprod(d$x, d$z)
    zy <- crossprod(d$z, d$y - sum(xz))
    list(xz, zy, crossprod(d$x, d$y - sum(zy)), crossprod(d$z))
  }, 3L)
  # What has side effects and is computed from the first one keeps its place.
  printing <- function(d) {
    a <- crossprod(d$x)
    hlo_custom_call("print_tensor", sum(a), list(), has_side_effect = TRUE)
    list(a, crossprod(d$x, d$y))
  }
  expect_identical(calls_of(printing), 2L)
})

test_that("long programs in parts have them too", {
  skip_without_plugin()
  skip_unless_all()
  d <- tall_matrices(1024L)
  f <- function(d) {
    a <- crossprod(d$x)
    s <- a[1, 1] / 1024
    for (i in 1:500) s <- sin(s) + 1 / (1 + s * s)
    list(s, a, crossprod(d$x, d$y))
  }
  expect_equal(turn_by_turn(xla_jit(f)(d)), f(d), tolerance = 1e-12)
  expect_match(turn_by_turn(xla_program(f, d)), "func.call @part")
})

test_that("their derivatives, in loops, branches and batches", {
  skip_without_plugin()
  d <- tall_matrices(1024L)
  yes <- as.numeric(d$y > 0)
  beta <- c(0.3, -0.2, 0.1, 0, 0.5)
  loss <- function(beta, x, y) {
    odds <- drop(x %*% beta)
    sum(log1p(exp(odds)) - y * odds)
  }
  p <- plogis(drop(d$x %*% beta))
  expect_equal(xla_grad(loss, wrt = "beta")(beta, d$x, yes), drop(crossprod(d$x, p - yes)), tolerance = 1e-12)
  expect_equal(xla_hessian(loss)(beta, d$x, yes), crossprod(d$x, d$x * (p * (1 - p))), tolerance = 1e-12)
  by_w <- function(w, x, a) sum(a * crossprod(x, x * w))
  a <- matrix(sin(1:25), 5)
  expect_equal(xla_grad(by_w, wrt = "w")(d$w, d$x, a), rowSums((d$x %*% a) * d$x), tolerance = 1e-12)
  inside <- function(d) {
    turned <- t(d$x)
    sums <- hlo_fori(1, 2, function(i, sum) sum + turned %*% (d$x * (d$w * i)), matrix(0, 5, 5))
    hlo_cond(sum(d$y) > 1e9, function() sums, function() sums + crossprod(d$x))
  }
  expect_equal(xla_jit(inside)(d), crossprod(d$x, d$x * (3 * d$w)) + crossprod(d$x), tolerance = 1e-12)
  batch <- rbind(d$w, rev(d$w))
  each <- xla_vmap(function(w, x) crossprod(x, x * w), in_axes = list(1, NULL))(batch, d$x)
  for (i in 1:2) {
    expect_equal(each[i, , ], crossprod(d$x, d$x * batch[i, ]), tolerance = 1e-12)
  }
})

test_that("an exact program multiplies in the order that is written", {
  skip_without_plugin()
  d <- tall_matrices(1024L)
  weighted <- function(d) crossprod(d$x, d$x * d$w)
  expect_equal(xla_jit(weighted, exact = TRUE)(d), weighted(d), tolerance = 1e-12)
  # x^2 overflows, and w * x does not.
  large <- list(x = matrix(1e200, 1024, 2), w = rep(1e-300, 1024))
  expect_equal(xla_jit(weighted, exact = TRUE)(large), weighted(large), tolerance = 1e-12)
  expect_equal(xla_jit(weighted)(large), weighted(large), tolerance = 1e-12)
})
