#' Densities of vectors, series and arrays
#'
#' Normal densities that mixed, time-series and spatial models are written with: `hlo_dmvnorm()` of vectors by their
#' covariance, its Cholesky factor or the precision matrix, which may be [sparse][hlo_sparse]; `hlo_dar1()` of
#' stationary autoregressive series; `hlo_dseparable()` of arrays whose precision matrix is a Kronecker product.
#'
#' @details
#' For `hlo_dmvnorm()` give one of `sigma`, `chol` and `precision`. Of symmetric dense matrices and of `chol` only the
#' upper triangle is read. A sparse `precision` is factored as `solve()` does it, see [hlo_sparse()]: this is the
#' density of a Gaussian Markov random field.
#'
#' `hlo_dar1()` has the correlation `phi` between neighbours in time and the standard deviation `sd` of each element,
#' not of the innovations, which have `sd * sqrt(1 - phi^2)`. It takes a time in proportion to the length, and makes no
#' matrix. `hlo_ar1_precision()` is the precision matrix of such a series, sparse.
#'
#' `hlo_dseparable()` has a precision matrix for each axis of `x`, dense or sparse: that of `as.vector(x)` is
#' `precision[[2]] %x% precision[[1]]` for a matrix, and so on. Neither this product nor its factor is made. With
#' `hlo_ar1_precision()` for rows and columns it is a separable process on a grid; with [hlo_spde_precision()] for the
#' rows one in space and time. `chol2inv(r)` is the precision of a Cholesky factor `r`.
#'
#' `hlo_corr_chol()` makes the upper Cholesky factor of any correlation matrix of unconstrained numbers: those above the
#' diagonal of a matrix with ones on it, whose columns are then scaled to length 1. Columns are multiplied by `sd`, for
#' the factor of a covariance matrix. \pkg{TMB}'s `UNSTRUCTURED_CORR()` and \pkg{glmmTMB}'s `us()` have the same
#' parameters in the same order.
#'
#' All have derivatives in all arguments, and work in [xla_vmap()].
#'
#' @param x The vector or series; or a matrix, of which each row is one. For `hlo_dseparable()` an array.
#' @param mean The mean: one number, a vector for all rows, or numbers in the shape of `x`.
#' @param sigma The covariance matrix.
#' @param chol Its upper Cholesky factor, as [chol()] gives it.
#' @param precision The inverse of the covariance matrix, a dense matrix or a sparse one; for `hlo_dseparable()` a list
#'   of one for each axis.
#' @param phi The correlation of neighbours, between -1 and 1; one number, or one for each row of `x`.
#' @param sd The standard deviations: one number, or one for each row of `x`, for `hlo_corr_chol()` for each column.
#' @param n The length of the series.
#' @param theta The n (n - 1) / 2 numbers of a matrix of n rows, column by column.
#' @param log Whether to give the logarithm of the density.
#' @return A density of one number, or one for each row of a matrix; `hlo_dseparable()` one number,
#'   `hlo_ar1_precision()` a symmetric sparse matrix, `hlo_corr_chol()` a matrix.
#' @section Errors:
#' Arguments that do not fit each other are an error (`xlaffi_error_invalid_argument`). A matrix that is not positive
#' definite, `sd` that is not positive and `phi` that is not inside of (-1, 1) give NaN.
#' @examplesIf plugins_downloaded()
#' y <- c(0.3, 0.1, -0.2)
#' sigma <- 0.5^abs(outer(1:3, 1:3, "-"))
#' xla_jit(function(s) hlo_dmvnorm(y, 0, s, log = TRUE))(sigma)
#' xla_jit(function(phi) hlo_dar1(y, phi, log = TRUE))(0.5)
#' xla_grad(function(phi) hlo_dmvnorm(y, precision = hlo_ar1_precision(3, phi), log = TRUE))(0.5)
#' # A process on a grid
#' field <- matrix(sin(1:12), 3)
#' xla_jit(function(a, b) {
#'   hlo_dseparable(field, list(hlo_ar1_precision(3, a), hlo_ar1_precision(4, b)))
#' })(0.5, 0.8)
#' # Any covariance of three
#' xla_jit(function(theta, sd) hlo_dmvnorm(y, chol = hlo_corr_chol(theta, sd)))(c(0.2, -1, 0.4), 1:3)
#' @references
#' H. Rue, L. Held, "Gaussian Markov Random Fields" (2005).
#' @name hlo_dmvnorm
NULL

#' @rdname hlo_dmvnorm
#' @export
hlo_dmvnorm <- function(x, mean = 0, sigma = NULL, chol = NULL, precision = NULL, log = FALSE) {
  call <- environment()
  check_density(log, call)
  forms <- Filter(Negate(is.null), list(sigma = sigma, chol = chol, precision = precision))
  if (length(forms) != 1L) {
    abort("hlo_dmvnorm: give one of `sigma`, `chol` and `precision`",
      op = "hlo_dmvnorm", operand = "sigma", call = call
    )
  }
  form <- names(forms)
  given <- matrix_values(list(x = x, mean = mean), forms[[1L]], form, "hlo_dmvnorm", call)
  rows <- centred(given$x, given$mean, "hlo_dmvnorm", call, matrix_rows(given$matrix))
  parts <- switch(form,
    sigma = by_covariance(rows, given$matrix),
    chol = by_factor(rows, given$matrix),
    precision = by_precision(rows, given$matrix)
  )
  density <- normal_of_parts(parts$logdet, parts$square, rows@shape[[2L]])
  density_result(density, rank_of(given$x), log)
}

# -log sqrt((2 pi)^n) + logdet / 2 - square / 2, where `logdet` is that of the precision
normal_of_parts <- function(logdet, square, n) 0.5 * (logdet - square) - n * half_log_2pi

density_result <- function(density, rank, log) {
  if (rank < 2L) density <- reshaped(density, integer())
  if (log) density else exp(density)
}

by_covariance <- function(z, sigma) {
  parts <- covariance_op()(sigma, z)
  list(logdet = -parts$logdet, square = parts$square)
}

# Rows z with covariance t(r) r
by_factor <- function(z, r) {
  solved <- triangular_solve(r, hlo_t(z), list(left = TRUE, lower = FALSE, unit = FALSE, transpose = "transpose"))
  list(logdet = log_determinant_of(r) * -2, square = hlo_sum(solved * solved, 1L))
}

by_precision <- function(z, q) {
  if (is_sparse(q)) {
    product <- symmetric_product(q@pattern, q@values, hlo_t(z))
    return(list(logdet = precision_logdet(q), square = hlo_sum(hlo_t(z) * product, 1L)))
  }
  r <- xla_chol(q)
  rotated <- dot(z, r, list(2L, 2L), list(integer(), integer()))
  list(logdet = log_determinant_of(r) * 2, square = hlo_sum(rotated * rotated, 2L))
}

log_determinant_of <- function(r) hlo_sum(log(abs(diagonal(r))))

precision_logdet <- function(q) {
  if (is_sparse(q)) sparse_logdet(q@pattern, q@values, factor_of(q)) else log_determinant_of(xla_chol(q)) * 2
}

matrix_rows <- function(a) if (is_sparse(a)) a@pattern$nrow else a@shape[[1L]]

# `arguments` and a square matrix, dense or sparse, as values of one dtype
matrix_values <- function(arguments, matrix, name, op, call) {
  if (is_sparse(matrix)) {
    if (name != "precision") {
      abort(sprintf("%s: `%s` must be a dense matrix, not %s", op, name, format(matrix)),
        op = op, operand = name, call = call, hint = "`as.matrix()` of it has all elements; `precision` may be sparse."
      )
    }
    check_symmetric(matrix, name, op, call)
    arguments <- vector_parameters(c(arguments, stats::setNames(list(matrix@values), name)), op, call)
    return(c(arguments[-length(arguments)], list(matrix = new_sparse(arguments[[name]], matrix@pattern))))
  }
  arguments <- vector_parameters(c(arguments, stats::setNames(list(matrix), name)), op, call)
  if (length(arguments[[name]]) == 1L) arguments[[name]] <- reshaped(arguments[[name]], c(1L, 1L))
  check_square(arguments[[name]], name, op, call)
  names(arguments)[[length(arguments)]] <- "matrix"
  arguments
}

# Rows of x less the mean, a matrix. `size` is how long they must be, if that is known.
centred <- function(x, mean, op, call, size = NULL) {
  if (rank_of(x) > 2L || !length(x)) {
    abort(sprintf("%s: `x` must be a vector, or a matrix whose rows are vectors, not %s", op, type_text(x)),
      op = op, operand = "x", call = call
    )
  }
  whole <- if (rank_of(x) < 2L) c(1L, length(x)) else x@shape
  if (!is.null(size) && whole[[2L]] != size) {
    abort(sprintf("%s: `x` must have %d elements, or rows of as many, as the matrix has rows, not %s", op, size,
      type_text(x)
    ), op = op, operand = "x", call = call)
  }
  along_rows <- rank_of(mean) < 2L && length(mean) %in% c(1L, whole[[2L]])
  if (!along_rows && !identical(mean@shape, whole)) {
    abort(sprintf("%s: `mean` must be one number, %d for all rows, or have the shape of `x` %s, not %s", op,
      whole[[2L]], type_text(x), type_text(mean)
    ), op = op, operand = "mean", call = call)
  }
  if (along_rows) mean <- broadcast(repeated(mean, whole[[2L]]), whole, 2L)
  reshaped(x, whole) - mean
}

#' @rdname hlo_dmvnorm
#' @export
hlo_dar1 <- function(x, phi, mean = 0, sd = 1, log = FALSE) {
  check_given(x, phi)
  call <- environment()
  check_density(log, call)
  given <- vector_parameters(list(x = x, phi = phi, mean = mean, sd = sd), "hlo_dar1", call)
  z <- centred(given$x, given$mean, "hlo_dar1", call)
  rows <- z@shape[[1L]]
  n <- z@shape[[2L]]
  phi <- row_parameter(given, "phi", rows, call)
  sd <- row_parameter(given, "sd", rows, call)
  gap <- (1 - phi) * (1 + phi)
  later <- taken(z, seq_len(n)[-1L], 2L) - broadcast(phi, c(rows, n - 1L), 1L) * taken(z, seq_len(n - 1L), 2L)
  first <- reshaped(taken(z, 1L, 2L), rows)
  square <- (hlo_sum(later * later, 2L) / gap + first * first) / (sd * sd)
  density <- normal_of_parts(-(2 * n) * log(sd) - (n - 1) * log(gap), square, n)
  density_result(only_where(abs(phi) < 1 & sd > 0, density), rank_of(given$x), log)
}

row_parameter <- function(given, name, rows, call) {
  value <- given[[name]]
  if (rank_of(value) > 1L || !length(value) %in% c(1L, rows)) {
    abort(sprintf("hlo_dar1: `%s` must be one number, or %d as `x` has rows, not %s", name, rows, type_text(value)),
      op = "hlo_dar1", operand = name, call = call
    )
  }
  repeated(value, rows)
}

#' @rdname hlo_dmvnorm
#' @export
hlo_dseparable <- function(x, precision, mean = 0, log = FALSE) {
  check_given(x, precision)
  call <- environment()
  check_density(log, call)
  given <- vector_parameters(list(x = x, mean = mean), "hlo_dseparable", call)
  x <- if (rank_of(given$x)) given$x else reshaped(given$x, 1L)
  mean <- given$mean
  rank <- rank_of(x)
  if (!is.list(precision) || length(precision) != rank) {
    abort(sprintf("hlo_dseparable: `precision` must be a list of %d matrices, one for each axis of `x`", rank),
      op = "hlo_dseparable", operand = "precision", call = call
    )
  }
  if (length(mean) != 1L && !identical(mean@shape, x@shape)) {
    abort(sprintf("hlo_dseparable: `mean` must be one number or have the shape of `x` %s, not %s", type_text(x),
      type_text(mean)
    ), op = "hlo_dseparable", operand = "mean", call = call)
  }
  z <- x - repeated(mean, x@shape)
  turned <- z
  logdet <- 0
  for (axis in seq_len(rank)) {
    q <- axis_precision(z, precision[[axis]], axis, call)
    logdet <- logdet + precision_logdet(q) * (length(z) / z@shape[[axis]])
    turned <- along_axis(q, turned, axis)
  }
  density_result(normal_of_parts(logdet, hlo_sum(z * turned), length(z)), 0L, log)
}

axis_precision <- function(z, q, axis, call) {
  q <- matrix_values(list(x = z), q, "precision", "hlo_dseparable", call)$matrix
  if (matrix_rows(q) != z@shape[[axis]]) {
    abort(sprintf("hlo_dseparable: `precision[[%d]]` must have %d rows, as `x` %s is long there, not %d", axis,
      z@shape[[axis]], type_text(z), matrix_rows(q)
    ), op = "hlo_dseparable", operand = "precision", call = call)
  }
  if (is_sparse(q)) q else hermitian_of(q, "U")
}

# A matrix times the fibres of z along an axis
along_axis <- function(q, z, axis) {
  rank <- rank_of(z)
  to_first <- c(axis, seq_len(rank)[-axis])
  front <- hlo_transpose(z, to_first)
  columns <- reshaped(front, as.integer(c(z@shape[[axis]], length(z) / z@shape[[axis]])))
  product <- if (is_sparse(q)) symmetric_product(q@pattern, q@values, columns) else hlo_matmul(q, columns)
  hlo_transpose(reshaped(product, front@shape), order(to_first))
}

for (name in c("hlo_dmvnorm", "hlo_dar1", "hlo_dseparable")) {
  overload(name, "xlaffi", get(name),
    by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in all arguments"
  )
}
rm(name)
