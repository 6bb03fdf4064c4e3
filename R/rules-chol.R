# A = Rᴴ R. From dA = dRᴴ R + Rᴴ dR follows R⁻ᴴ dA R⁻¹ = (dR R⁻¹)ᴴ + dR R⁻¹, a lower triangle plus
# its adjoint, of which dR R⁻¹ is the upper triangle with half the diagonal (Murray 2016, who does
# it for the lower factor). Only the upper triangle of dA counts, as only that of A is read.
chol_jvp <- function(primals, results, tangents) {
  r <- results
  change <- hermitian_of(tangents[[1L]], "U")
  inside <- solve_upper(r, solve_upper(r, change, adjoint = TRUE), left = FALSE)
  hlo_matmul(half_triangle(inside, "U"), r)
}
