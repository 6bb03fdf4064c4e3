test_that("xla_svd factors matrices and batches, real and complex", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in one_in(3L, shapes)) {
      x <- random_array(dims, complex)
      f <- xla_svd(x)
      expect_named(f, c("d", "u", "v"))
      expect_each(list(x, f$d, f$u, f$v), function(x, d, u, v) {
        d <- as.vector(d)
        expect_close(u %*% diag(d, length(d)) %*% adj(v), x)
        expect_orthonormal(u)
        expect_orthonormal(v)
        expect_equal(d, svd(x, 0, 0)$d)
      }, c(2, 1, 2, 2))
    }
  }
})

test_that("full bases and values alone", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in list(c(5, 2), c(2, 5), c(3, 3), c(2, 17, 3))) {
      x <- random_array(dims, complex)
      f <- xla_svd(x, full = TRUE)
      k <- min(utils::tail(dims, 2))
      expect_each(list(x, f$d, f$u, f$v), function(x, d, u, v) {
        expect_identical(c(dim(u), dim(v)), rep(dim(x), each = 2))
        expect_orthonormal(u)
        expect_orthonormal(v)
        expect_close(u[, 1:k] %*% diag(as.vector(d)) %*% adj(v[, 1:k]), x)
      }, c(2, 1, 2, 2))
      values <- xla_svd(x, vectors = FALSE)
      expect_named(values, "d")
      expect_equal(values$d, f$d)
    }
  }
})

test_that("xla_svd of empty matrices is empty", {
  skip_without_plugin()
  for (dims in empty_shapes) {
    batch <- dims[seq_len(length(dims) - 2)]
    size <- utils::tail(dims, 2)
    f <- xla_svd(array(0, dims))
    expect_equal(dims_of(f$d), c(batch, min(size)))
    expect_equal(dim(f$u), c(batch, size[[1]], min(size)))
    expect_equal(dim(f$v), c(batch, size[[2]], min(size)))
  }
  expect_equal(xla_svd(matrix(0, 3, 0), full = TRUE)$u, diag(3))
})
