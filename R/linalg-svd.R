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
  check_not_missing(x, "x", environment())
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

# A = U diag(d) Vᴴ, thin. With M = Uᴴ dA V the singular values change by the real part of M's
# diagonal. Inside their own spaces U and V turn by U Cᵤ and V Cᵥ, where off the diagonal
# Cᵤ = F ∘ (M diag(d) + diag(d) Mᴴ), Cᵥ = F ∘ (diag(d) M + Mᴴ diag(d)), F[i, j] = 1/(d[j]² - d[i]²)
# (Giles 2008, 3.2; Seeger et al. 2017). The diagonals are imaginary and only their difference is
# fixed, to the imaginary part of M's diagonal over d: Cᵤ gets all of it. What dA V has
# outside U (m > n) adds (I - U Uᴴ) dA V diag(d)⁻¹ to dU, and likewise for V (n > m). Equal
# singular values divide by zero, and so do zeros where U or V has more rows than columns.
svd_jvp <- function(primals, results, tangents) {
  d <- results[[1L]]
  u <- results[[2L]]
  v <- results[[3L]]
  change <- tangents[[1L]]
  toward_v <- hlo_matmul(change, v)
  inside <- hlo_matmul(adjoint(u), toward_v)
  square <- inside@shape
  columns <- each_column(d, square)
  rows <- each_row(d, square)
  # d[j]² - d[i]² as a product, which does not overflow or lose digits
  gap <- (columns - rows) * (columns + rows)
  weights <- like_matrix(inverse_gaps(gap + identity_like(gap) - on_diagonal(gap)), u)
  columns <- like_matrix(columns, u)
  rows <- like_matrix(rows, u)
  by_columns <- inside * columns
  by_rows <- inside * rows
  turn_u <- weights * (by_columns + adjoint(by_columns))
  turn_v <- weights * (by_rows + adjoint(by_rows))
  if (is_complex(u@dtype)) {
    diagonal <- on_diagonal(inside)
    turn_u <- turn_u + (diagonal - hlo_conj(diagonal)) * 0.5 / columns
  }
  du <- hlo_matmul(u, turn_u)
  dv <- hlo_matmul(v, turn_v)
  rank <- rank_of(u)
  if (u@shape[[rank - 1L]] > u@shape[[rank]]) {
    du <- du + (toward_v - hlo_matmul(u, inside)) / like_matrix(each_column(d, u@shape), u)
  }
  if (v@shape[[rank - 1L]] > v@shape[[rank]]) {
    toward_u <- hlo_matmul(adjoint(change), u)
    dv <- dv + (toward_u - hlo_matmul(v, adjoint(inside))) / like_matrix(each_column(d, v@shape), v)
  }
  list(Re(diagonal(inside)), du, dv)
}

svd_values_jvp <- function(primals, results, tangents) {
  factors <- svd_op(FALSE, TRUE)(primals[[1L]])
  inside <- hlo_matmul(adjoint(factors[[2L]]), hlo_matmul(tangents[[1L]], factors[[3L]]))
  list(Re(diagonal(inside)))
}

# Square matrices have but one decomposition with square factors: the thin one.
svd_full_jvp <- function(primals, results, tangents) {
  dims <- matrix_dims(primals[[1L]])
  if (dims[[1L]] != dims[[2L]]) {
    abort(
      sprintf("the full singular value decomposition of %d x %d matrices has no derivative", dims[[1L]], dims[[2L]]),
      "UNIMPLEMENTED", op = "xla_svd", operand = "full", hint = "`full = FALSE` has one.", call = NULL
    )
  }
  svd_jvp(primals, results, tangents)
}
