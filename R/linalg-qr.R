#' QR factorisation
#'
#' `x = q %*% r` with orthonormal columns in `q` and an upper triangular `r`: LAPACK's
#' Householder factorisation, thin and without pivoting.
#'
#' @details
#' With k = min(m, n): `q` is `(..., m, k)` and `r` `(..., k, n)`. As in base R's [qr()] the diagonal of `r` is
#' real and may be negative; unlike there, columns are not exchanged, so a matrix without full
#' column rank has a zero (up to rounding) on the diagonal of `r` where a column depends on those
#' before. Then the derivative does not exist and comes out infinite or NaN.
#' A matrix with NaN or an infinity gives NaN.
#'
#' @param x Matrices `(..., m, n)`: an R matrix or array, a buffer or a value.
#' @param dtype The dtype to compute in, `"f32"`, `"f64"`, `"c64"` or `"c128"`; `NULL` for that of `x`, which
#'   is `f64` or `c128` for R's numbers.
#' @param program Whether to return the StableHLO text in place of running it.
#' @return `list(q, r)`.
#' @inheritSection xla_linalg Shapes
#' @inheritSection xla_linalg Arguments and results
#' @section Errors:
#' What are no matrices, and dtypes other than f32, f64, c64 and c128, are an error.
#'
#' @examplesIf plugins_downloaded()
#' x <- matrix(rnorm(12), 4)
#' f <- xla_qr(x)
#' all.equal(f$q %*% f$r, x)
#' xla_qr(x, program = TRUE)
#' @export
xla_qr <- function(x, dtype = NULL, program = FALSE) {
  check_not_missing(x, "x", environment())
  check_flag(program, "program")
  dtype <- check_linalg_dtype(dtype)
  checked_once(paste("qr", dtype), list(x), program, {
    x <- check_matrices(x, "x", dtype)
    run_linalg("qr", qr_op(), list(x), dtype, program)
  })
}

qr_op <- function() matrix_op("xla_qr", NULL, qr_factors, qr_jvp)

qr_factors <- function(x) {
  dims <- matrix_dims(x)
  k <- dims[[3L]]
  packed <- call_handler("geqrf", x, list(x, stacked_type(x, k)))
  reflectors <- leading(packed[[1L]], columns = k)
  q <- call_handler("orgqr", list(reflectors, packed[[2L]]), stacked_type(x, dims[c(1L, 3L)]))
  list(q = q, r = upper(leading(packed[[1L]], rows = k)))
}

# A = Q R with k = min(m, n) columns in Q. Let A₁ and R₁ be the first k columns and
# X = dA₁ R₁⁻¹ = dQ + Q dR₁ R₁⁻¹. In Qᴴ X = Qᴴ dQ + dR₁ R₁⁻¹ the first term is skew-Hermitian and the
# second upper triangular with a real diagonal, so the part below the diagonal and the imaginary
# part of the diagonal give the first one, W. Then dQ = X - Q (Qᴴ X - W), and for all columns
# dR = Qᴴ dA - W R (Seeger et al. 2017 for L Q; D. Roberts and L. Roberts, arXiv:2009.10071 (2020),
# for wide matrices). Needs independent first k columns: else R₁ has zeros on its diagonal.
qr_jvp <- function(primals, results, tangents) {
  q <- results[[1L]]
  r <- results[[2L]]
  change <- tangents[[1L]]
  k <- q@shape[[rank_of(q)]]
  x <- solve_upper(leading(r, columns = k), leading(change, columns = k), left = FALSE)
  inside <- hlo_matmul(adjoint(q), x)
  below <- strict_lower(inside)
  turn <- below - adjoint(below)
  if (is_complex(turn@dtype)) {
    diagonal <- on_diagonal(inside)
    turn <- turn + (diagonal - hlo_conj(diagonal)) * 0.5
  }
  dq <- x - hlo_matmul(q, inside - turn)
  dr <- upper(hlo_matmul(adjoint(q), change) - hlo_matmul(turn, r))
  list(dq, dr)
}
