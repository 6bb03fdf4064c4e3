#' LU factorisation
#'
#' `x[p, ] = l %*% u`: LAPACK's factorisation with partial pivoting.
#'
#' @details
#' With k = min(m, n): `l` is `(..., m, k)`, lower triangular with ones on its diagonal; `u` is
#' `(..., k, n)`, upper triangular; `p` is `(..., m)`, integer, the order of the rows, counted from 1 as R does.
#' A singular matrix has a factorisation like any other, with a zero on the diagonal of `u`; what is
#' divided by it in the derivative comes out infinite or NaN. A matrix with NaN or an infinity gives NaN and
#' the order 1, 2, ….
#'
#' The derivative takes `p` for constant, and `p` has none.
#'
#' @inheritParams xla_qr
#' @return `list(l, u, p)`.
#' @inheritSection xla_linalg Shapes
#' @inheritSection xla_linalg Arguments and results
#' @section Errors:
#' What are no matrices, and dtypes other than f32, f64, c64 and c128, are an error.
#'
#' @examplesIf plugins_downloaded()
#' x <- matrix(rnorm(9), 3)
#' f <- xla_lu(x)
#' all.equal(f$l %*% f$u, x[f$p, ])
#' # The determinant is the product of u's diagonal, up to the sign of the permutation
#' abs(prod(diag(f$u)))
#' @export
xla_lu <- function(x, dtype = NULL, program = FALSE) {
  check_flag(program, "program")
  dtype <- check_linalg_dtype(dtype)
  checked_once(paste("lu", dtype), list(x), program, {
    x <- check_matrices(x, "x", dtype)
    run_linalg("lu", lu_unpacked, list(x), dtype, program)
  })
}

lu_unpacked <- function(x) {
  packed <- lu_op()(x)
  factors <- lu_factors(packed$lu)
  list(l = factors$l, u = factors$u, p = packed$order + 1L)
}

# The packed factors, and the order of the rows counted from 0
lu_op <- function() matrix_op("xla_lu", NULL, lu_packed, lu_jvp)

lu_packed <- function(x) {
  dims <- matrix_dims(x)
  found <- call_handler("lu", x, list(x, stacked_type(x, dims[[3L]], "i32")))
  list(lu = found[[1L]], order = row_order(found[[2L]], dims[[1L]]))
}

# L with its diagonal of ones, and U
lu_factors <- function(packed) {
  k <- matrix_dims(packed)[[3L]]
  columns <- leading(packed, columns = k)
  list(l = strict_lower(columns) + identity_like(columns), u = upper(leading(packed, rows = k)))
}

# From exchanges (..., k), row i with row pivots[i] (from 1), to the order of all m rows, from 0.
# jaxlib's handler for CUDA counts the pivots from 0 as well.
row_order <- function(pivots, m) {
  order <- new_type("i32", c(pivots@shape[-rank_of(pivots)], m))
  if (!length(pivots)) {
    hlo_iota("i32", order@shape, rank_of(order))
  } else if (on_cpu()) {
    hlo_custom_call(private_target("lu_row_order"), pivots, order)
  } else {
    hlo_custom_call(private_target("cu_lu_pivots_to_permutation"), pivots - 1L, order)
  }
}
