# What the density of normal vectors by their covariance is made of, as one op whose rule needs products alone. Through
# the factor and triangular systems a gradient costs 4.3 n^3 operations, and each direction of a Hessian 14 n^3; with
# the inverse at hand they cost 2.3 n^3 and 4 n^3.

covariance_op <- function() matrix_op("hlo_dmvnorm", NULL, covariance_parts, covariance_jvp)

# Of covariance matrices S (..., n, n), of which the upper triangle is read, and vectors z (..., k, n): `logdet` of S,
# (...); `square`, z t(S^-1) t(z) of each vector, (..., k); `solved`, z S^-1; and `inverse`, S^-1. What nobody uses is
# not computed: a density alone takes the factor and one system.
covariance_parts <- function(sigma, z) {
  r <- chol_factor(sigma)
  by_factor <- function(b) solve_upper(r, b, left = FALSE)
  by_adjoint <- function(b) solve_upper(r, b, left = FALSE, adjoint = TRUE)
  half <- by_factor(z)
  logs <- log(diagonal(r))
  list(
    logdet = hlo_sum(logs, rank_of(logs)) * 2, square = hlo_sum(half * half, rank_of(half)), solved = by_adjoint(half),
    inverse = by_adjoint(by_factor(identity_like(sigma)))
  )
}

# From d(S^-1) = -S^-1 dS S^-1 and d logdet S = tr(S^-1 dS) (Giles 2008, 2.2).
covariance_jvp <- function(primals, results, tangents) {
  x <- results$solved
  rank <- rank_of(x)
  moved <- tangents$z
  by_z <- if (!is.null(moved)) hlo_sum(x * moved, rank) * 2
  if (is.null(tangents$sigma)) {
    return(list(logdet = NULL, square = by_z, solved = hlo_matmul(moved, results$inverse), inverse = NULL))
  }
  change <- hermitian_of(tangents$sigma, "U")
  pull <- hlo_matmul(x, change)
  list(
    logdet = hlo_sum(results$inverse * change, rank - 1:0), square = hlo_add(by_z, -hlo_sum(pull * x, rank)),
    solved = hlo_matmul(hlo_add(moved, -pull), results$inverse),
    inverse = -hlo_matmul(hlo_matmul(results$inverse, change), results$inverse)
  )
}
