#' Eigenvalues of symmetric and Hermitian matrices
#'
#' `x = vectors %*% diag(values) %*% Conj(t(vectors))`.
#'
#' @details
#' `values` is `(..., n)`, real and **ascending** (base R's [eigen()] sorts descending); the columns of
#' `vectors`, `(..., n, n)`, are orthonormal. Only one triangle of `x` is read; the imaginary part of
#' the diagonal counts as zero. A matrix with NaN or an infinity in that triangle gives NaN.
#'
#' The derivative is that of the function as it is: it looks at the triangle that is read, so a gradient
#' lies in it. Eigenvectors are fixed up to a sign (a phase, where they are complex), and
#' the derivative leaves that as it is: it is orthogonal to the vector. Where two eigenvalues are equal, their
#' vectors have no derivative, and it comes out infinite or NaN. The derivatives of the values stay
#' finite: their sum over equal eigenvalues is right, how it is split is arbitrary.
#'
#' @inheritParams xla_qr
#' @param x Matrices `(..., n, n)`: an R matrix or array, a buffer or a value.
#' @param uplo The triangle that is read, `"L"` or `"U"`.
#' @param vectors Whether to compute eigenvectors.
#' @return `list(values, vectors)`, or `list(values)` without vectors.
#' @inheritSection xla_linalg Shapes
#' @inheritSection xla_linalg Arguments and results
#' @section Errors:
#' What are no matrices, matrices that are not square, and dtypes other than f32, f64, c64 and c128 are an error.
#'
#' @examplesIf plugins_downloaded()
#' x <- crossprod(matrix(rnorm(9), 3))
#' f <- xla_eigh(x)
#' all.equal(f$vectors %*% diag(as.vector(f$values)) %*% t(f$vectors), x)
#' rev(f$values) - eigen(x)$values
#' @export
xla_eigh <- function(x, uplo = "L", vectors = TRUE, dtype = NULL, program = FALSE) {
  check_not_missing(x, "x", environment())
  check_uplo(uplo)
  check_flag(vectors, "vectors")
  check_flag(program, "program")
  dtype <- check_linalg_dtype(dtype)
  checked_once(paste("eigh", uplo, vectors, dtype), list(x), program, {
    x <- check_matrices(x, "x", dtype, square = TRUE)
    run_linalg(paste("eigh", uplo, vectors), eigh_op(uplo, vectors), list(x), dtype, program)
  })
}

eigh_op <- function(uplo, vectors) {
  factors <- function(x) {
    values <- stacked_type(x, matrix_dims(x)[[1L]], real_dtype(x@dtype))
    found <- call_handler("eigh", x, list(vectors = x, values = values), list(uplo = uplo))
    if (vectors) found[c("values", "vectors")] else found["values"]
  }
  matrix_op("xla_eigh", c(uplo, vectors), factors, if (vectors) eigh_jvp(uplo) else eigh_values_jvp(uplo))
}

# A V = V diag(w). With M = Vᴴ dA V the eigenvalues change by the (real) diagonal of M, and
# dV = V C with C[i, j] = M[i, j] / (w[j] - w[i]) off the diagonal (Giles 2008, 3.1; Seeger et al.
# 2017). C's diagonal is free within what Vᴴ V = I leaves (a sign for real matrices, a phase for
# complex ones); zero is taken, so that vᴴ dv = 0. Equal eigenvalues divide by zero.
eigh_jvp <- function(uplo) {
  force(uplo)
  function(primals, results, tangents) {
    w <- results[[1L]]
    v <- results[[2L]]
    inside <- eigh_inside(v, tangents[[1L]], uplo)
    weights <- like_matrix(inverse_gaps(gaps(w, v@shape)), v)
    list(Re(diagonal(inside)), hlo_matmul(v, weights * inside))
  }
}

# The eigenvalues' derivatives alone exist where the eigenvectors' do not.
eigh_values_jvp <- function(uplo) {
  force(uplo)
  function(primals, results, tangents) {
    v <- eigh_op(uplo, TRUE)(primals[[1L]])[[2L]]
    list(Re(diagonal(eigh_inside(v, tangents[[1L]], uplo))))
  }
}

eigh_inside <- function(v, change, uplo) {
  hlo_matmul(adjoint(v), hlo_matmul(hermitian_of(change, uplo), v))
}
