hermitian <- function(dims, complex = FALSE) each_matrix(random_array(dims, complex), function(x) x + adj(x))

test_that("xla_eigh has base R's eigenvalues, ascending", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    for (dims in one_in(3L, square_shapes)) {
      x <- hermitian(dims, complex)
      f <- xla_eigh(x)
      expect_named(f, c("values", "vectors"))
      expect_each(list(x, f$values, f$vectors), function(x, w, v) {
        w <- as.vector(w)
        expect_close(w, rev(eigen(x, symmetric = TRUE, only.values = TRUE)$values))
        expect_close(v %*% diag(w, length(w)) %*% adj(v), x)
        expect_orthonormal(v)
      }, c(2, 1, 2))
      values <- xla_eigh(x, vectors = FALSE)
      expect_named(values, "values")
      expect_equal(values$values, f$values)
    }
  }
})

test_that("one triangle is read", {
  skip_without_plugin()
  for (complex in c(FALSE, TRUE)) {
    x <- hermitian(c(5, 5), complex)
    expected <- rev(eigen(x, symmetric = TRUE)$values)
    below <- above <- x
    below[upper.tri(x)] <- 99
    above[lower.tri(x)] <- NaN
    expect_equal(as.vector(xla_eigh(below)$values), expected)
    expect_equal(as.vector(xla_eigh(above, uplo = "U")$values), expected)
  }
})

test_that("xla_eigh of empty matrices is empty", {
  skip_without_plugin()
  for (dims in empty_squares) {
    f <- xla_eigh(array(0, dims))
    expect_equal(dims_of(f$values), dims[-length(dims)])
    expect_equal(dim(f$vectors), dims)
  }
})
