test_that("xla_lu factors matrices and batches, real and complex", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in one_in(3L, shapes)) {
      x <- random_array(dims, complex)
      f <- xla_lu(x)
      expect_named(f, c("l", "u", "p"))
      expect_type(f$p, "integer")
      expect_each(list(x, f$l, f$u, f$p), function(x, l, u, p) {
        expect_identical(sort(as.vector(p)), seq_len(nrow(x)))
        expect_close(l %*% u, x[as.vector(p), , drop = FALSE])
        expect_true(all(l[upper.tri(l)] == 0) && all(diag(l) == 1) && all(u[lower.tri(u)] == 0))
        expect_lte(max(Mod(l)), 1 + 1e-12 + complex * 0.5)
      }, c(2, 2, 2, 1))
    }
  }
})

test_that("xla_lu of empty matrices is empty", {
  skip_without_plugin()
  for (dims in empty_shapes) {
    batch <- dims[seq_len(length(dims) - 2)]
    size <- utils::tail(dims, 2)
    f <- xla_lu(array(0, dims))
    expect_equal(dim(f$l), c(batch, size[[1]], min(size)))
    expect_equal(dim(f$u), c(batch, min(size), size[[2]]))
    expect_equal(dims_of(f$p), c(batch, size[[1]]))
  }
  expect_identical(as.vector(xla_lu(matrix(0, 3, 0))$p), 1:3)
})

test_that("a singular matrix has factors", {
  skip_without_plugin()
  x <- matrix(c(1, 2, 2, 4), 2)
  f <- xla_lu(x)
  expect_equal(f$l %*% f$u, x[f$p, ])
  expect_identical(f$u[2, 2], 0)
})
