test_that("xla_solve solves for matrices and vectors", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in one_in(3L, square_shapes)) {
      a <- random_definite(dims, complex)
      a[] <- a * (2 + random_array(dims, complex) / 10)
      for (columns in if (complex) 3 else c(0, 4)) {
        b <- random_array(c(dims[-length(dims)], columns), complex)
        x <- xla_solve(a, b)
        expect_identical(dim(x), dim(b))
        if (columns) expect_each(list(a, b, x), function(a, b, x) expect_close(x, solve(a, b)))
      }
      v <- random_array(dims[-length(dims)], complex)
      x <- xla_solve(a, v)
      expect_each(list(a, v, x), function(a, v, x) {
        expect_close(as.vector(x), as.vector(solve(a, as.vector(v))))
      }, c(2, 1, 1))
      expect_each(list(a, xla_solve(a)), function(a, x) expect_close(x, solve(a)))
    }
  }
})

test_that("rows are exchanged where they must be", {
  skip_without_plugin()
  a <- matrix(c(0, 0, 2, 1, 0, 0, 0, 3, 0), 3)
  expect_equal(xla_solve(a), solve(a))
  n <- 40
  a <- diag(n)[withr::with_seed(1, sample(n)), ] + 1e-3
  expect_equal(xla_solve(a, 1:n), solve(a, 1:n))
})

test_that("a real and a complex side meet", {
  skip_without_plugin()
  a <- random_definite(c(3, 3))
  b <- random_array(c(3, 2), complex = TRUE)
  expect_equal(xla_solve(a, b), solve(a + 0i, b))
  expect_equal(xla_solve(a + 0i, Re(b)), solve(a + 0i, Re(b)))
})

test_that("a singular matrix spoils its own solution only", {
  skip_without_plugin()
  a <- random_definite(c(3, 2, 2))
  a[2, , ] <- 1
  x <- xla_solve(a)
  expect_false(any(is.finite(x[2, , ])))
  for (i in c(1, 3)) expect_equal(x[i, , ], solve(a[i, , ]))
})

test_that("empty systems have empty solutions", {
  skip_without_plugin()
  for (dims in empty_squares) {
    expect_equal(dim(xla_solve(array(0, dims))), dims)
    sides <- c(dims[-length(dims)], 2)
    expect_equal(dim(xla_solve(array(0, dims), array(0, sides))), sides)
  }
})
