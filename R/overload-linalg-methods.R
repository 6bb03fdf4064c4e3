#' Linear algebra on values
#'
#' Inside [xla_jit()] and its kin, R's own functions of matrices work on [values][xlaffi_value] as they do on
#' R matrices: `%*%`, [solve()], [chol()], [determinant()] and [det()].
#'
#' @details
#' `%*%` takes a vector for a row or a column, whichever fits, and gives a matrix, as R does. With more than two axes
#' on a side it is [hlo_matmul()], whose matrices are the last two axes.
#'
#' `solve()` and `chol()` are [xla_solve()] and [xla_chol()].
#'
#' `determinant()` gives a list of two values: `modulus`, the logarithm of the determinant's absolute value
#' unless `logarithm = FALSE`, and `sign`, 1 or -1: an integer as in R, but of the matrix's dtype where that is not f64.
#' It takes real matrices, and batches of them. Its derivative is that of [xla_lu()], of which the determinant is
#' computed: none where the matrix is singular.
#'
#' In functions that are being traced, [crossprod()], [diag()], [svd()], [eigen()] with `symmetric = TRUE`,
#' [qr.solve()], [backsolve()] and their kin work too. [qr()] gives LAPACK's packed form: there is [xla_qr()].
#'
#' @param x,y,a Values; `y` and the other side of `%*%` may be R data.
#' @param b What to solve for: a value or R data; without it, the inverse of `a`.
#' @param logarithm Whether to give the logarithm of the modulus.
#' @param ... For the generics; must be empty.
#' @return A value; `determinant()` a list of two.
#' @section Errors:
#' Shapes that do not fit, and matrices that are not square where they must be, are an error that names them. A singular
#' matrix is none: its inverse is infinite or NaN, and so is the factor of one that is not positive definite.
#'
#' @examplesIf plugins_downloaded()
#' x <- matrix(c(4, 1, 1, 3), 2)
#' xla_jit(function(x, y) solve(x, t(chol(x)) %*% y))(x, c(1, 2))
#' # The log density of a normal distribution, up to a constant
#' f <- function(sigma, x) -0.5 * (sum(x * solve(sigma, x)) + determinant(sigma)$modulus)
#' xla_jit(f)(x, c(1, 2))
#' xla_grad(f)(x, c(1, 2))
#' @name hlo_linalg
NULL

#' @rdname hlo_linalg
#' @export
setMethod("%*%", c("xlaffi_value", "ANY"), function(x, y) matrix_product(x, y, sys.call()))

#' @rdname hlo_linalg
#' @export
setMethod("%*%", c("ANY", "xlaffi_value"), function(x, y) matrix_product(x, y, sys.call()))

#' @rdname hlo_linalg
#' @export
setMethod("%*%", c("xlaffi_value", "xlaffi_value"), function(x, y) matrix_product(x, y, sys.call()))

# Their help is that of sparse matrices (sparse-matrix.R).
for (other in c("ANY", "xlaffi_value", "xlaffi_sparse")) {
  setMethod("%*%", c("xlaffi_sparse", other), function(x, y) matrix_product(x, y, sys.call()))
  setMethod("%*%", c(other, "xlaffi_sparse"), function(x, y) matrix_product(x, y, sys.call()))
}
rm(other)

matrix_product <- function(x, y, call) {
  if (is_sparse(x) || is_sparse(y)) {
    return(sparse_matrix_product(x, y, call))
  }
  both <- same_dtype(x, y, "`%*%`", call = call)
  # R multiplies integers as doubles.
  x <- as_doubles(both[[1L]])
  y <- as_doubles(both[[2L]])
  if (max(rank_of(x), rank_of(y)) > 2L) {
    return(hlo_matmul(x, y))
  }
  matrices <- list(x, y)
  vectors <- c(rank_of(x), rank_of(y)) < 2L
  if (all(vectors)) {
    row <- length(x) == length(y) || length(x) != 1L
    matrices <- list(one_axis(x, row), one_axis(y, !row))
  } else if (vectors[[1L]]) {
    matrices[[1L]] <- one_axis(x, length(x) == y@shape[[1L]] || y@shape[[1L]] != 1L)
  } else if (vectors[[2L]]) {
    matrices[[2L]] <- one_axis(y, length(y) != x@shape[[2L]] && x@shape[[2L]] == 1L)
  }
  if (matrices[[1L]]@shape[[2L]] != matrices[[2L]]@shape[[1L]]) {
    abort(sprintf("`%%*%%`: `x` %s and `y` %s do not fit", type_text(x), type_text(y)),
      op = "%*%", operand = "y", call = call
    )
  }
  hlo_matmul(matrices[[1L]], matrices[[2L]])
}

#' @rdname hlo_linalg
#' @export
solve.xlaffi_value <- function(a, b, ...) {
  call <- method_call("solve")
  check_dots_empty(..., call = call)
  a <- sparse_operand(a)
  if (is_sparse(a)) {
    return(sparse_equations(a, if (!missing(b)) b, call))
  }
  parts <- if (missing(b)) list(a = a) else list(a = a, b = b)
  both <- lapply(common(parts, "solve()", names(parts), call), as_doubles)
  check_kind(both[[1L]], "a floating-point or complex number", "solve()", "a", call)
  both[[1L]] <- number_as_matrix(both[[1L]])
  if (!missing(b) && !length(both[[2L]]@shape)) both[[2L]] <- reshaped(both[[2L]], 1L)
  if (missing(b)) xla_solve(both[[1L]]) else xla_solve(both[[1L]], both[[2L]])
}

#' @rdname hlo_linalg
#' @export
chol.xlaffi_value <- function(x, ...) {
  call <- method_call("chol")
  check_dots_empty(..., call = call)
  x <- as_doubles(x)
  check_kind(x, "a floating-point or complex number", "chol()", "x", environment())
  xla_chol(number_as_matrix(x))
}

# As R takes one number for a matrix
number_as_matrix <- function(x) if (length(x) == 1L && rank_of(x) < 2L) reshaped(x, c(1L, 1L)) else x

#' @rdname hlo_linalg
#' @export
determinant.xlaffi_value <- function(x, logarithm = TRUE, ...) {
  call <- method_call("determinant")
  check_dots_empty(..., call = call)
  check_flag(logarithm, "logarithm")
  if (is_sparse(x)) {
    return(sparse_determinant(x, logarithm, environment()))
  }
  x <- as_doubles(x)
  check_kind(x, "a floating-point number", "determinant()", "x", environment())
  x <- check_matrices(x, "x", NULL, square = TRUE)
  packed <- lu_op()(x)
  u <- diagonal(packed$lu)
  last <- rank_of(u)
  modulus <- hlo_sum(log(abs(u)), last)
  negative <- hlo_sum(hlo_convert(u < 0, "i32"), last) + inversions(packed$order)
  list(
    modulus = if (logarithm) modulus else exp(modulus),
    sign = as_sign(1 - 2 * hlo_convert(negative %% 2L, x@dtype))
  )
}

# How many pairs of an order (..., n) stand the wrong way round: odd for an odd permutation
inversions <- function(order) {
  rank <- rank_of(order)
  square <- c(order@shape, order@shape[[rank]])
  first <- hlo_broadcast(order, square, seq_len(rank))
  second <- hlo_broadcast(order, square, c(seq_len(rank - 1L), rank + 1L))
  hlo_sum(hlo_convert((first > second) & (place(first) < 0L), "i32"), c(rank, rank + 1L))
}
