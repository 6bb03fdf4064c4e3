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
