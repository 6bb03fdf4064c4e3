test_that("%*% is R's, with vectors as rows or columns", {
  skip_without_plugin()
  m <- function(rows, columns) matrix(seq_len(rows * columns) / 4, rows, columns)
  pairs <- list(
    list(m(2, 3), m(3, 4)), list(m(1, 1), m(1, 1)), list(m(0, 3), m(3, 2)), list(m(2, 0), m(0, 3)),
    list(1:3 / 2, m(3, 2)), list(1:3 / 2, m(1, 2)), list(m(2, 3), 1:3 / 2), list(m(2, 1), 1:3 / 2),
    list(1:3 / 2, 1:3 / 4), list(2, 1:3 / 2), list(2, m(1, 3)), list(m(3, 1), 2), list(2, 3),
    list(matrix(c(1i, 2, 3, -1i), 2), c(1i, 1))
  )
  for (pair in pairs) {
    x <- pair[[1]]
    y <- pair[[2]]
    expect_equal(xla_jit(function(x, y) x %*% y)(x, y), x %*% y)
    expect_equal(xla_jit(function(x) x %*% y)(x), x %*% y)
    expect_equal(xla_jit(function(y) x %*% y)(y), x %*% y)
  }
  stacks <- array(1:24 / 8, c(2, 3, 4))
  expect_identical(xla_jit(function(x, y) x %*% y)(stacks, m(4, 2)), xla_jit(hlo_matmul)(stacks, m(4, 2)))
  # Nothing changes for R's own
  expect_identical(m(2, 3) %*% 1:3, base::`%*%`(m(2, 3), 1:3))
})

test_that("solve, chol and determinant are R's", {
  skip_without_plugin()
  for (n in c(1, 2, 5)) {
    x <- random_definite(c(n, n))
    b <- random_array(c(n, 2))
    expect_equal(xla_jit(function(x) solve(x))(x), solve(x))
    expect_equal(xla_jit(function(x, b) solve(x, b))(x, b), solve(x, b))
    expect_equal(as.vector(xla_jit(function(x) solve(x, b[, 1]))(x)), solve(x, b[, 1]))
    expect_equal(xla_jit(function(x) chol(x))(x), chol(x))
  }
})

test_that("determinants have their sign, also of singular, empty and stacked matrices", {
  skip_without_plugin()
  skip_unless_all()
  as_number <- function(x) lapply(x, as.vector)
  base_determinant <- function(x, logarithm = TRUE) as_number(unclass(determinant(x, logarithm)))
  ours <- xla_jit(function(x) determinant(x))
  orders <- list(1:3, c(2, 1, 3), c(3, 1, 2), c(3, 2, 1))
  cases <- c(lapply(orders, function(p) diag(c(2, -3, 5))[p, ]), list(matrix(-2), matrix(0, 2, 2), matrix(0, 0, 0)))
  for (x in c(cases, list(random_array(c(7, 7))))) {
    expect_equal(as_number(ours(x)), base_determinant(x))
    expect_equal(as_number(xla_jit(function(x) determinant(x, logarithm = FALSE))(x)), base_determinant(x, FALSE))
    expect_equal(as.vector(xla_jit(function(x) det(x))(x)), det(x))
  }
  x <- random_array(c(4, 3, 3))
  expect_equal(as.vector(ours(x)$modulus), apply(x, 1, function(x) determinant(x)$modulus))
  expect_identical(as.vector(ours(x)$sign), apply(x, 1, function(x) determinant(x)$sign))
  expect_equal(xla_vmap(function(x) determinant(x)$modulus)(x), ours(x)$modulus)
  # Jacobi's formula
  expect_equal(xla_grad(function(x) determinant(x)$modulus)(x[1, , ]), t(solve(x[1, , ])))
})

test_that("what does not fit is told", {
  values_anywhere()
  m <- xlaffi:::new_parameter(ffi_type("f64", c(3, 2)))
  v <- xlaffi:::new_parameter(ffi_type("f64", 3))
  i <- xlaffi:::new_parameter(ffi_type("i32", c(2, 2)))
  h <- xlaffi:::new_parameter(ffi_type("f32", c(2, 2)))
  z <- xlaffi:::new_parameter(ffi_type("c64", c(2, 2)))
  expect_snapshot(error = TRUE, {
    m %*% m
    v %*% 1:2
    m %*% h
    "a" %*% m
    solve(m)
    solve(m, tol = 1e-9)
    determinant(m)
    determinant(z)
    determinant(m, "log")
  })
})

test_that("values print at the console as they do elsewhere", {
  values_anywhere()
  m <- xlaffi:::new_parameter(ffi_type("f64", c(3, 2)))
  expect_identical(capture.output(methods::show(m)), capture.output(print(m)))
})
