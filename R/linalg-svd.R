#' Singular value decomposition
#'
#' `x = u %*% diag(d) %*% Conj(t(v))`, names as in base R's [svd()].
#'
#' @details
#' With k = min(m, n): `d` is `(..., k)`, descending; `u` is `(..., m, k)` and `v` `(..., n, k)`, with
#' orthonormal columns (`full = TRUE`: square, completed to a basis). A matrix with NaN or
#' an infinity gives NaN.
#'
#' Derivatives: of the thin decomposition, and of the singular values alone (`vectors = FALSE`). The
#' bases that `full = TRUE` completes are arbitrary, so with m and n different they have none: an
#' error. Where two singular values are equal, the derivatives of their vectors come out infinite or
#' NaN, as do those of `u` for m > n (`v` for n > m) where one is zero. Signs (phases, where
#' vectors are complex) stay as they are: the derivative of a column of `v` is orthogonal to it.
#'
#' @inheritParams xla_qr
#' @param full Whether `u` and `v` are square.
#' @param vectors Whether to compute singular vectors.
#' @return `list(d, u, v)`, or `list(d)` without vectors.
#' @inheritSection xla_linalg Shapes
#' @inheritSection xla_linalg Arguments and results
#' @examplesIf plugins_downloaded()
#' x <- matrix(rnorm(12), 4)
#' f <- xla_svd(x)
#' all.equal(f$u %*% diag(as.vector(f$d)) %*% t(f$v), x)
#' @export
xla_svd <- function(x, full = FALSE, vectors = TRUE, dtype = NULL, program = FALSE) {
  check_flag(full, "full")
  check_flag(vectors, "vectors")
  check_flag(program, "program")
  dtype <- check_linalg_dtype(dtype)
  checked_once(paste("svd", full, vectors, dtype), list(x), program, {
    x <- check_matrices(x, "x", dtype)
    run_linalg(paste("svd", full, vectors), svd_op(full, vectors), list(x), dtype, program)
  })
}

svd_op <- function(full, vectors) {
  if (!vectors) {
    matrix_op("xla_svd", "values", function(x) svd_lapack(x, "N")["d"], svd_values_jvp)
  } else if (full) {
    matrix_op("xla_svd", "full", function(x) svd_lapack(x, "A"), svd_full_jvp)
  } else {
    matrix_op("xla_svd", "thin", svd_thin, svd_jvp)
  }
}

svd_thin <- function(x) {
  dims <- matrix_dims(x)
  results <- list(
    stacked_type(x, dims[c(1L, 3L)]), stacked_type(x, dims[[3L]], real_dtype(x@dtype)), stacked_type(x, dims[3:2])
  )
  found <- call_handler("svd", x, results)
  list(d = found[[2L]], u = found[[1L]], v = adjoint(found[[3L]]))
}

# All vectors ("A") or none ("N"), whose arrays then mean nothing: by LAPACK's gesdd, or by cuSOLVER, which
# gives the right vectors as columns
svd_lapack <- function(x, mode) {
  dims <- matrix_dims(x)
  results <- list(
    x, stacked_type(x, dims[[3L]], real_dtype(x@dtype)), stacked_type(x, dims[c(1L, 1L)]),
    stacked_type(x, dims[c(2L, 2L)]), stacked_type(x, integer(), "i32")
  )
  if (on_cpu()) {
    found <- call_handler(lapack_target("gesdd", x), x, results, list(mode = lapack_letter(mode)))
    return(list(d = found[[2L]], u = found[[3L]], v = adjoint(found[[4L]])))
  }
  attributes <- list(full_matrices = TRUE, compute_uv = mode == "A")
  found <- call_handler("cusolver_gesvdj_ffi", x, results, attributes)
  list(d = found[[2L]], u = found[[3L]], v = found[[4L]])
}
