test_that("xla_chol gives base R's factor", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in one_in(3L, square_shapes)) {
      x <- random_definite(dims, complex)
      r <- xla_chol(x)
      expect_each(list(x, r), function(x, r) {
        expect_close(adj(r) %*% r, x)
        expect_true(all(r[lower.tri(r)] == 0) && all(Im(diag(r)) == 0) && all(Re(diag(r)) > 0))
        if (!complex) expect_close(r, chol(x))
      })
    }
  }
})

test_that("only the upper triangle is read", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    x <- random_definite(c(5, 5), complex)
    r <- xla_chol(x)
    x[lower.tri(x)] <- NaN
    expect_identical(xla_chol(x), r)
  }
})

test_that("what is not positive definite gives NaN in its place", {
  skip_without_plugin()
  x <- random_definite(c(4, 3, 3))
  x[2, , ] <- diag(c(1, -1, 1))
  x[3, 1, 3] <- NA
  r <- xla_chol(x)
  expect_true(all(is.nan(r[2:3, , ])))
  for (i in c(1, 4)) expect_equal(r[i, , ], chol(x[i, , ]))
})

test_that("xla_chol of empty matrices is empty", {
  skip_without_plugin()
  for (dims in empty_squares) expect_equal(xla_chol(array(0, dims)), array(0, dims))
})
