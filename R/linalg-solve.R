#' Linear systems and inverses
#'
#' The `x` with `a %*% x = b`, by LU factorisation with partial pivoting; without `b`, the
#' inverse of `a`, as in base R's [solve()].
#'
#' @details
#' `b` is `(..., n, k)`, matrices, with as many axes as `a`, or `(..., n)`, vectors, with one axis less. The
#' batch axes of both must be equal. The result is shaped as `b` is.
#'
#' A singular `a` has a zero on the diagonal of its factor and gives infinities or NaN; base R
#' raises an error. Near-singular matrices are solved without a warning: check the residual, or
#' the singular values. A matrix with NaN or an infinity gives NaN.
#'
#' @inheritParams xla_qr
#' @param a Matrices `(..., n, n)`: an R matrix or array, a buffer or a value.
#' @param b What to solve for, or `NULL` for the inverse.
#' @return `x`, an array, buffer or value of `b`'s shape.
#' @inheritSection xla_linalg Shapes
#' @inheritSection xla_linalg Arguments and results
#' @examplesIf plugins_downloaded()
#' a <- matrix(c(4, 2, 1, 3), 2)
#' all.equal(as.vector(xla_solve(a, c(1, 2))), solve(a, c(1, 2)))
#' all.equal(xla_solve(a), solve(a))
#' @export
xla_solve <- function(a, b = NULL, dtype = NULL, program = FALSE) {
  check_not_missing(a, "a", environment())
  check_flag(program, "program")
  dtype <- check_linalg_dtype(dtype)
  checked_once(paste("solve", dtype), if (is.null(b)) list(a) else list(a, b), program, {
    a <- check_matrices(a, "a", dtype, square = TRUE)
    if (is.null(b)) {
      run_linalg("inverse", inverse, list(a), dtype, program)
    } else {
      b <- check_numbers(b, "b", dtype, environment())
      dtype <- common_dtype(a, b, dtype)
      check_right_side(a, b)
      run_linalg("solve", solve_any, list(a, b), dtype, program)
    }
  })
}

# What both are converted to: R's numbers follow buffers and values, real ones complex ones.
common_dtype <- function(a, b, dtype, call = rlang::caller_env()) {
  if (!is.null(dtype)) {
    return(dtype)
  }
  own <- c(argument_type(a, "a", call)@dtype, argument_type(b, "b", call)@dtype)
  fixed <- c(is_on_device(a), is_on_device(b))
  if (all(fixed) && own[[1L]] != own[[2L]]) {
    abort(sprintf("`b` has dtype %s, but `a` has %s", own[[2L]], own[[1L]]),
      operand = "b", hint = "The argument `dtype` converts both.", call = call
    )
  }
  dtype <- own[order(-fixed)][[1L]]
  if (any(vapply(own, is_complex, NA)) && !is_complex(dtype)) complex_dtype(dtype) else dtype
}

check_right_side <- function(a, b, call = rlang::caller_env()) {
  a <- argument_type(a, "a", call)@shape
  b <- argument_type(b, "b", call)@shape
  rank <- length(a)
  if (!length(b) %in% c(rank, rank - 1L) || !identical(b[seq_len(rank - 1L)], a[seq_len(rank - 1L)])) {
    abort(
      sprintf(
        "`b` must be of shape %s or (%s), as `a` of shape %s asks for, not %s", shape_text(a[-rank]),
        toString(c(a[-rank], "k")), shape_text(a), shape_text(b)
      ),
      operand = "b", call = call
    )
  }
}

solve_any <- function(a, b) {
  vectors <- rank_of(b) < rank_of(a)
  x <- solve_op()(a, if (vectors) hlo_reshape(b, c(b@shape, 1L)) else b)$x
  if (vectors) hlo_reshape(x, b@shape) else x
}

inverse <- function(a) solve_op()(a, identity_like(a))$x

solve_op <- function() matrix_op("xla_solve", NULL, solve_factors, solve_jvp)

solve_factors <- function(a, b) {
  packed <- lu_packed(a)
  c(list(x = lu_solve(packed$lu, permute_rows(b, packed$order))), packed)
}

# X of L U X = B. Each solver reads its own triangle of the packed factors.
lu_solve <- function(packed, b) solve_upper(packed, solve_unit_lower(packed, b))

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
