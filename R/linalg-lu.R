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
  check_not_missing(x, "x", environment())
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

# The rows of matrices (..., m, n) in another order: row i of the result is row order[i] of `x`, order
# (..., m) counting from 0 and having each number once.
permute_rows <- function(x, order) {
  # A gather refuses to take rows of nothing
  if (length(x)) bind("permute_rows", list(x, order), x@dtype, x@shape) else x
}

permute_rows_text <- function(node, operands, scope) {
  shape <- node$types[[1L]]@shape
  rank <- length(shape)
  batch <- toString(seq_len(rank - 2L) - 1L)
  sprintf(
    paste0(
      "\"stablehlo.gather\"(%s) <{dimension_numbers = #stablehlo.gather<offset_dims = [%d], ",
      "collapsed_slice_dims = [%d], operand_batching_dims = [%s], start_indices_batching_dims = [%s], ",
      "start_index_map = [%d], index_vector_dim = %d>, indices_are_sorted = false, ",
      "slice_sizes = array<i64: %s>}> : %s"
    ),
    toString(operands), rank - 1L, rank - 2L, batch, batch, rank - 2L, rank - 1L,
    toString(c(rep(1L, rank - 1L), shape[[rank]])), signature_text(node)
  )
}

# Where each row went
inverse_order <- function(order) {
  rank <- rank_of(order)
  square <- c(order@shape, order@shape[[rank]])
  hit <- hlo_broadcast(order, square, seq_len(rank)) == hlo_iota("i32", square, rank + 1L)
  hlo_sum(hlo_select(hit, hlo_iota("i32", square, rank), 0L), rank)
}

# P A = L U, with P locally constant: B = P dA = dL U + L dU. Let L₁ and U₁ be the leading k x k
# blocks, k = min(m, n), and M = L₁⁻¹ B₁₁ U₁⁻¹ = L₁⁻¹ dL₁ + dU₁ U₁⁻¹: its strictly lower part is the
# first term, the rest the second one. Then, with all rows or columns,
# dL = B[, 1:k] U₁⁻¹ - L upper(M) and dU = L₁⁻¹ B[1:k, ] - strict_lower(M) U.
# Not differentiable where U has a zero on its diagonal, or where two pivots tie.
lu_jvp <- function(primals, results, tangents) {
  list(lu = lu_change(results$lu, permute_rows(tangents[[1L]], results$order)), order = NULL)
}

# The change of the packed factors for that of P A
lu_change <- function(packed, change) {
  k <- matrix_dims(packed)[[3L]]
  factors <- lu_factors(packed)
  core <- leading(packed, k, k)
  x <- solve_upper(core, leading(change, columns = k), left = FALSE)
  y <- solve_unit_lower(core, leading(change, rows = k))
  inside <- solve_unit_lower(core, leading(x, rows = k))
  dl <- x - hlo_matmul(factors$l, upper(inside))
  du <- y - hlo_matmul(strict_lower(inside), factors$u)
  pad_to(strict_lower(dl), change@shape) + pad_to(upper(du), change@shape)
}

primitive("permute_rows",
  text = permute_rows_text,
  jvp = function(node, tangents) list(permute_rows(tangents[[1L]], node$inputs[[2L]])),
  transpose = function(node, cotangents, linear) {
    list(permute_rows(cotangents[[1L]], inverse_order(node$inputs[[2L]])), NULL)
  },
  vmap = function(node, inputs, mapped, size) rebind_batch(node, all_in_front(inputs, mapped, size), size),
  export = exported_params()
)
