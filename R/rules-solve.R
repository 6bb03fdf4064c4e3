# A X = B. From dA X + A dX = dB follows dX = A⁻¹ (dB - dA X) (Giles 2008, 2.2), with the factors
# that are there already. The packed factors are results as well, so that a second derivative can
# go through them; where none is taken, their change is never computed.
solve_jvp <- function(primals, results, tangents) {
  change <- tangents$b
  if (!is.null(tangents$a)) {
    pull <- hlo_matmul(tangents$a, results$x)
    change <- if (is.null(change)) -pull else change - pull
  }
  dlu <- if (!is.null(tangents$a)) lu_change(results$lu, permute_rows(tangents$a, results$order))
  list(x = lu_solve(results$lu, permute_rows(change, results$order)), lu = dlu, order = NULL)
}
