#' Densities of shares and of correlations
#'
#' `hlo_ddirichlet()` is the Dirichlet density of positive numbers with sum 1, `hlo_dlkj_cholesky()` the density of
#' Lewandowski, Kurowicka and Joe for correlation matrices, of their Cholesky factors: the usual priors of what
#' [xla_simplex()] and [xla_corr_cholesky()] make.
#'
#' @details
#' The Dirichlet density refers to all elements but one. Whether `x` has the sum 1 is not looked at.
#'
#' Correlation matrices of n rows have the density `det(R)^(eta - 1)`, but for a constant: with `eta = 1` all are
#' equally likely, with larger ones those near the unit matrix more. Each correlation has a beta distribution on (-1,
#' 1) with both shapes `eta + (n - 2) / 2`. `hlo_dlkj_cholesky()` is the density of the factor's elements above the
#' diagonal, the Jacobian of `crossprod(x)` included, as Stan's `lkj_corr_cholesky`. Only the diagonal of `x` is read.
#'
#' Both have derivatives in all arguments, and work in [xla_vmap()].
#'
#' @param x For `hlo_ddirichlet()` a vector, or a matrix, of which each row is one. For `hlo_dlkj_cholesky()` an upper
#'   Cholesky factor of a correlation matrix, as [chol()] gives it: [values][xlaffi_value], or R numbers beside a value.
#' @param alpha Positive: one number, a vector for all rows, or numbers in the shape of `x`.
#' @param eta Positive, one number.
#' @param log Whether to give the logarithm of the density.
#' @return `hlo_ddirichlet()`: one number, or one for each row of a matrix. `hlo_dlkj_cholesky()`: one number.
#' @section Errors:
#' Arguments that do not fit each other are an error (`xlaffi_error_invalid_argument`). Negative shares have density 0;
#' `alpha` and `eta` that are not positive give NaN.
#' @references
#' D. Lewandowski, D. Kurowicka, H. Joe, "Generating random correlation matrices based on vines and extended onion
#' method", Journal of Multivariate Analysis 100, 2009.
#' @seealso [xla_constraints], [hlo_dmvnorm()].
#' @examplesIf plugins_downloaded()
#' xla_jit(function(p) hlo_ddirichlet(p, c(2, 1, 1)))(c(0.5, 0.3, 0.2))
#' sigma <- matrix(c(1, 0.4, 0.4, 1), 2)
#' xla_jit(function(r) hlo_dlkj_cholesky(r, 2, log = TRUE))(chol(sigma))
#' xla_grad(function(eta) hlo_dlkj_cholesky(chol(sigma), eta, log = TRUE))(2)
#' @name hlo_ddirichlet
NULL

#' @rdname hlo_ddirichlet
#' @export
hlo_ddirichlet <- function(x, alpha, log = FALSE) {
  check_given(x, alpha)
  call <- environment()
  check_density(log, call)
  given <- vector_parameters(list(x = x, alpha = alpha), "hlo_ddirichlet", call)
  x <- if (rank_of(given$x)) given$x else reshaped(given$x, 1L)
  alpha <- given$alpha
  if (rank_of(x) > 2L || !length(x)) {
    abort(sprintf("hlo_ddirichlet: `x` must be a vector, or a matrix whose rows are vectors, not %s", type_text(x)),
      op = "hlo_ddirichlet", operand = "x", call = call
    )
  }
  whole <- if (rank_of(x) < 2L) c(1L, length(x)) else x@shape
  along_rows <- rank_of(alpha) < 2L && length(alpha) %in% c(1L, whole[[2L]])
  if (!along_rows && !identical(alpha@shape, whole)) {
    abort(sprintf("hlo_ddirichlet: `alpha` must be one number, %d for all rows, or have the shape of `x` %s, not %s",
      whole[[2L]], type_text(x), type_text(alpha)
    ), op = "hlo_ddirichlet", operand = "alpha", call = call)
  }
  if (along_rows) alpha <- broadcast(repeated(alpha, whole[[2L]]), whole, 2L)
  density_result(log_dirichlet(reshaped(x, whole), alpha), rank_of(x), log)
}

# Of each row
log_dirichlet <- function(x, alpha) {
  valid <- alpha > 0 & alpha < Inf
  a <- hlo_select(valid, alpha, 1)
  inside <- x > 0
  at_end <- hlo_select(a == 1, filled(0, a), hlo_select(a > 1, filled(-Inf, a), filled(Inf, a)))
  power <- hlo_select(inside, (a - 1) * log(hlo_select(inside, x, 1)), hlo_select(x == 0, at_end, -Inf))
  log_gamma <- special_op("lgamma")
  density <- hlo_sum(power - log_gamma(a), 2L) + log_gamma(hlo_sum(a, 2L))
  negative <- hlo_sum(hlo_select(x < 0, filled(1, x), filled(0, x)), 2L) > 0
  wrong <- hlo_sum(hlo_select(valid & x == x, filled(0, x), filled(1, x)), 2L) > 0
  hlo_select(wrong, NaN, hlo_select(negative, -Inf, density))
}

#' @rdname hlo_ddirichlet
#' @export
hlo_dlkj_cholesky <- function(x, eta, log = FALSE) {
  check_given(x, eta)
  call <- environment()
  check_density(log, call)
  given <- vector_parameters(list(x = x, eta = eta), "hlo_dlkj_cholesky", call)
  x <- if (length(given$x) == 1L) reshaped(given$x, c(1L, 1L)) else given$x
  check_square(x, "x", "hlo_dlkj_cholesky", call)
  eta <- one_number(given$eta, "eta", "hlo_dlkj_cholesky", call)
  n <- x@shape[[1L]]
  valid <- eta > 0 & eta < Inf
  eta <- hlo_select(valid, eta, 1)
  k <- seq_len(n)
  powers <- constant(n - k, x@dtype, n, "x") + broadcast(2 * (eta - 1), n, integer())
  density <- hlo_sum(taken(powers * log(diagonal(x)), k[-1L], 1L)) + lkj_constant(eta, n)
  density <- only_where(valid, density)
  if (log) density else exp(density)
}

# The logarithm of what makes the density of correlation matrices of n rows integrate to 1
lkj_constant <- function(eta, n) {
  k <- seq_len(n - 1L)
  if (!length(k)) {
    return(0)
  }
  log_gamma <- special_op("lgamma")
  each <- broadcast(eta, n - 1L, integer()) + constant((n - 1 - k) / 2, eta@dtype, n - 1L, "x")
  (n - 1) * log_gamma(eta + (n - 1) / 2) - sum(k) / 2 * log(pi) - hlo_sum(log_gamma(each))
}

for (name in c("hlo_ddirichlet", "hlo_dlkj_cholesky")) {
  overload(name, "xlaffi", get(name),
    by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in all arguments"
  )
}
rm(name)
