test_that("xla_qr factors matrices and batches, real and complex", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in one_in(3L, shapes)) {
      x <- random_array(dims, complex)
      f <- xla_qr(x)
      expect_named(f, c("q", "r"))
      expect_each(list(x, f$q, f$r), function(x, q, r) {
        expect_identical(dim(q), c(nrow(x), min(dim(x))))
        expect_close(q %*% r, x)
        expect_orthonormal(q)
        expect_true(all(r[lower.tri(r)] == 0))
        expect_true(all(Im(diag(r)) == 0))
      })
    }
  }
})

test_that("xla_qr agrees with base R's factors", {
  skip_without_plugin()
  x <- random_array(c(17, 5))
  f <- xla_qr(x)
  base <- qr(x)
  expect_close(f$r, qr.R(base))
  expect_close(f$q, qr.Q(base))
})

test_that("xla_qr of empty matrices is empty", {
  skip_without_plugin()
  for (dims in empty_shapes) {
    batch <- dims[seq_len(length(dims) - 2)]
    size <- utils::tail(dims, 2)
    f <- xla_qr(array(0, dims))
    expect_equal(dim(f$q), c(batch, size[[1]], min(size)))
    expect_equal(dim(f$r), c(batch, min(size), size[[2]]))
  }
})

test_that("NaN stays in its matrix", {
  skip_without_plugin()
  x <- random_array(c(3, 4, 4))
  x[2, 1, 1] <- NaN
  f <- xla_qr(x)
  expect_true(all(is.nan(f$q[2, , ])) && all(is.nan(f$r[2, , ][upper.tri(diag(4), TRUE)])))
  expect_equal(f$q[3, , ], xla_qr(x[3, , ])$q)
})
