#' Random vectors of distributions
#'
#' Independent vectors of a key, see [hlo_random], each along the last axis of the result.
#'
#' @details
#' `hlo_rmvnorm()` multiplies normal numbers by [xla_chol()] of `sigma`, of which only the upper triangle is read. A
#' `sigma` that is not positive definite gives NaN. `hlo_rdirichlet()` divides gamma numbers by their sum; an `alpha`
#' that is negative or not finite gives NaN, and components of an `alpha` of 0 are 0.
#'
#' Results are of f32 if a parameter is a value of f32, else of f64, and follow their parameters: [xla_grad()] and its
#' kin differentiate through them, see [hlo_random_numbers].
#'
#' @param key A key, see [hlo_key()].
#' @param n How many vectors: one number for a matrix of as many rows, several for an array, `integer()` for one vector.
#' @param mean The means: a vector, or one number.
#' @param sigma The covariance matrix.
#' @param alpha The parameters, a vector.
#' @return A value of shape `n` and one axis more, as long as the vectors.
#' @section Errors:
#' A `mean` that is not as long as `sigma` has rows, an `alpha` that is no vector, and what is no key are an error.
#'
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(seed, sigma) hlo_rmvnorm(hlo_key(seed), 3, c(0, 10), sigma))
#' f(1L, diag(2))
#' xla_jit(function(seed) hlo_rdirichlet(hlo_key(seed), 2, c(1, 1, 5)))(1L)
#' @name hlo_random_vectors
NULL

#' @rdname hlo_random_vectors
#' @export
hlo_rmvnorm <- function(key, n, mean, sigma) {
  call <- environment()
  key <- as_key(key)
  n <- check_shape(n, "n")
  both <- vector_parameters(list(mean = mean, sigma = sigma), "hlo_rmvnorm", call)
  mean <- both$mean
  check_square(both$sigma, "sigma", "hlo_rmvnorm", call)
  size <- both$sigma@shape[[1L]]
  if (length(mean@shape) > 1L || !length(mean) %in% c(1L, size)) {
    abort(sprintf("hlo_rmvnorm: `mean` must be one number or %d, as `sigma` has rows, not %s", size, type_text(mean)),
      op = "hlo_rmvnorm", operand = "mean", call = call
    )
  }
  axis <- length(n) + 1L
  z <- normal(c(random_places(key, c(n, size)), list(dtype = mean@dtype)))
  y <- dot(z, xla_chol(both$sigma), list(axis, 1L), list(integer(), integer()))
  y + broadcast(repeated(mean, size), y@shape, axis)
}

#' @rdname hlo_random_vectors
#' @export
hlo_rdirichlet <- function(key, n, alpha) {
  call <- environment()
  key <- as_key(key)
  n <- check_shape(n, "n")
  alpha <- vector_parameters(list(alpha = alpha), "hlo_rdirichlet", call)$alpha
  if (length(alpha@shape) != 1L || !length(alpha)) {
    abort(sprintf("hlo_rdirichlet: `alpha` must be a vector of one number or more, not %s", type_text(alpha)),
      op = "hlo_rdirichlet", operand = "alpha", call = call
    )
  }
  shape <- c(n, length(alpha))
  axis <- length(shape)
  over <- function(x) broadcast(x, shape, seq_along(n))
  numbers <- log_gamma_number(random_places(key, shape), broadcast(alpha, shape, axis))
  # Divided by the largest first: of small alphas all numbers would underflow.
  shares <- exp(numbers - over(reduced("reduce_max", numbers, axis, "hlo_rdirichlet")))
  only_where(repeated(all(alpha >= 0 & alpha < Inf), shape), shares / over(hlo_sum(shares, axis)))
}

for (name in c("hlo_rmvnorm", "hlo_rdirichlet")) {
  overload(name, "xlaffi", get(name),
    by = "own", topic = "Random numbers", dtypes = "f32, f64", derivative = "in the parameters"
  )
}
rm(name)
