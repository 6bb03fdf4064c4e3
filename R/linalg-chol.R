#' Cholesky factorisation
#'
#' The upper triangular `r` with `x = Conj(t(r)) %*% r`, as base R's [chol()] gives it: LAPACK's, for
#' symmetric (Hermitian) positive definite matrices.
#'
#' @details
#' Only the upper triangle of `x` is read. A matrix that is not positive definite, or has NaN or an
#' infinity there, gives NaN; base R raises an error.
#'
#' The derivative is that of the function as it is: it looks at the upper triangle of `x`, so a
#' gradient lies in it. In an application the gradient goes on to what `x` was computed from.
#'
#' @inheritParams xla_eigh
#' @return The factor, `(..., n, n)`, with zeros below the diagonal.
#' @inheritSection xla_linalg Shapes
#' @inheritSection xla_linalg Arguments and results
#' @examplesIf plugins_downloaded()
#' x <- crossprod(matrix(rnorm(9), 3))
#' all.equal(xla_chol(x), chol(x))
#' @export
xla_chol <- function(x, dtype = NULL, program = FALSE) {
  check_not_missing(x, "x", environment())
  check_flag(program, "program")
  dtype <- check_linalg_dtype(dtype)
  checked_once(paste("chol", dtype), list(x), program, {
    x <- check_matrices(x, "x", dtype, square = TRUE)
    run_linalg("chol", chol_op(), list(x), dtype, program)
  })
}

chol_op <- function() matrix_op("xla_chol", NULL, chol_factor, chol_jvp)

# The handler sees matrices by rows as their transposes: the lower factor of t(x) = Conj(x), by columns,
# is r by rows, and nothing needs to be turned.
chol_factor <- function(x) {
  if (on_cpu()) {
    return(hlo_custom_call(private_target("cholesky"), x, x, list(uplo = "L")))
  }
  found <- hlo_custom_call(
    private_target("cusolver_potrf_ffi"), x, list(x, stacked_type(x, integer(), "i32")), list(lower = TRUE),
    aliases = c(1L, 1L)
  )
  failed <- hlo_broadcast(found[[2L]] != 0L, x@shape, seq_len(rank_of(x) - 2L))
  hlo_select(failed, hlo_broadcast(filled(NaN, x), x@shape), upper(found[[1L]]))
}

# A = Rᴴ R. From dA = dRᴴ R + Rᴴ dR follows R⁻ᴴ dA R⁻¹ = (dR R⁻¹)ᴴ + dR R⁻¹, a lower triangle plus
# its adjoint, of which dR R⁻¹ is the upper triangle with half the diagonal (Murray 2016, who does
# it for the lower factor). Only the upper triangle of dA counts, as only that of A is read.
chol_jvp <- function(primals, results, tangents) {
  r <- results
  change <- hermitian_of(tangents[[1L]], "U")
  inside <- solve_upper(r, solve_upper(r, change, adjoint = TRUE), left = FALSE)
  hlo_matmul(half_triangle(inside, "U"), r)
}
