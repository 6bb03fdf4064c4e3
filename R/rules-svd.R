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
