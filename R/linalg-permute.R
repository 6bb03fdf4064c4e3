# The rows of matrices (..., m, n) in another order: row i of the result is row order[i] of `x`, order
# (..., m) counting from 0 and having each number once.
permute_rows <- function(x, order) {
  # A gather refuses to take rows of nothing
  if (length(x)) record("permute_rows", list(x, order), x@dtype, x@shape) else x
}

primitive("permute_rows",
  text = function(node, operands, scope) {
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
  },
  jvp = function(node, tangents) list(permute_rows(tangents[[1L]], node$inputs[[2L]])),
  transpose = function(node, cotangents, linear) {
    list(permute_rows(cotangents[[1L]], inverse_order(node$inputs[[2L]])), NULL)
  },
  vmap = function(node, inputs, mapped, size) batch_again(node, all_in_front(inputs, mapped, size), size)
)

# Where each row went
inverse_order <- function(order) {
  rank <- rank_of(order)
  square <- c(order@shape, order@shape[[rank]])
  hit <- hlo_broadcast(order, square, seq_len(rank)) == hlo_iota("i32", square, rank + 1L)
  hlo_sum(hlo_select(hit, hlo_iota("i32", square, rank), 0L), rank)
}
