# P A = L U, with P locally constant: B = P dA = dL U + L dU. Let L₁ and U₁ be the leading k x k
# blocks, k = min(m, n), and M = L₁⁻¹ B₁₁ U₁⁻¹ = L₁⁻¹ dL₁ + dU₁ U₁⁻¹: its strictly lower part is the
# first term, the rest the second one. Then, with all rows or columns,
# dL = B[, 1:k] U₁⁻¹ - L upper(M) and dU = L₁⁻¹ B[1:k, ] - strict_lower(M) U.
# Not differentiable where U has a zero on its diagonal, or where two pivots tie.
lu_jvp <- function(primals, results, tangents) {
  list(lu = lu_change(results$lu, permute_rows(tangents[[1L]], results$order)), order = NULL)
}

# The change of the packed factors for that of P A
lu_change <- function(packed, change) {
  k <- matrix_dims(packed)[[3L]]
  factors <- lu_factors(packed)
  core <- leading(packed, k, k)
  x <- solve_upper(core, leading(change, columns = k), left = FALSE)
  y <- solve_unit_lower(core, leading(change, rows = k))
  inside <- solve_unit_lower(core, leading(x, rows = k))
  dl <- x - hlo_matmul(factors$l, upper(inside))
  du <- y - hlo_matmul(strict_lower(inside), factors$u)
  pad_to(strict_lower(dl), change@shape) + pad_to(upper(du), change@shape)
}
