# What the density of normal vectors by their covariance is made of, as one op whose rule needs products alone. Through
# the factor and triangular systems a gradient costs 4.3 n^3 operations, and each direction of a Hessian 14 n^3.

covariance_op <- function() matrix_op("hlo_dmvnorm", NULL, covariance_parts, covariance_jvp)

# Of covariance matrices S (..., n, n), of which the upper triangle is read, and vectors z (..., k, n): `logdet` of S,
# (...); `square`, z t(S^-1) t(z) of each vector, (..., k); `solved`, z S^-1; `inverse`, S^-1; and `root`, the inverse
# of the factor, with S^-1 = root t(root). What nobody uses is not computed: a density alone takes the factor and one
# system.
covariance_parts <- function(sigma, z) {
  r <- chol_factor(sigma)
  by_factor <- function(b) solve_upper(r, b, left = FALSE)
  half <- by_factor(z)
  logs <- log(diagonal(r))
  root <- by_factor(identity_like(sigma))
  list(
    logdet = hlo_sum(logs, rank_of(logs)) * 2, square = hlo_sum(half * half, rank_of(half)),
    solved = solve_upper(r, half, left = FALSE, adjoint = TRUE), inverse = hlo_matmul(root, hlo_t(root)), root = root
  )
}

# From d(S^-1) = -S^-1 dS S^-1 and d logdet S = tr(S^-1 dS) (Giles 2008, 2.2). Products with S^-1 are those with both of
# its roots: of a matrix with the condition number k they lose the digits of k, and those with S^-1 itself of k^2.
covariance_jvp <- function(primals, results, tangents) {
  x <- results$solved
  root <- results$root
  rank <- rank_of(x)
  by_inverse <- function(b) hlo_matmul(hlo_matmul(b, root), hlo_t(root))
  moved <- tangents$z
  by_z <- if (!is.null(moved)) hlo_sum(x * moved, rank) * 2
  if (is.null(tangents$sigma)) {
    return(list(logdet = NULL, square = by_z, solved = by_inverse(moved), inverse = NULL, root = NULL))
  }
  change <- hermitian_of(tangents$sigma, "U")
  pull <- hlo_matmul(x, change)
  # The change on the scale of S
  within <- hlo_matmul(hlo_matmul(hlo_t(root), change), root)
  list(
    logdet = hlo_sum(results$inverse * change, rank - 1:0), square = hlo_add(by_z, -hlo_sum(pull * x, rank)),
    solved = by_inverse(hlo_add(moved, -pull)), inverse = -hlo_matmul(hlo_matmul(root, within), hlo_t(root)),
    root = -hlo_matmul(root, half_triangle(within, "U"))
  )
}
