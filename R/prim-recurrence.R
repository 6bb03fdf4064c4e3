# y_k = a_k y_(k-1) + b_k along an axis, from y_0 = 0, or backwards. Its derivatives are such recurrences, so that rules
# close on themselves: it is linear in b, and a change of a counts as one of b.

recurrence <- function(a, b, axis, reverse = FALSE) bind_op(recurrence_op(axis, reverse), list(a = a, b = b))

recurrence_op <- function(axis, reverse) {
  list(
    name = "recurrence",
    call = function(a, b) {
      turn <- function(x) if (reverse) hlo_reverse(x, axis) else x
      turn(in_blocks(turn(a), turn(b), axis))
    },
    jvp = function(primals, results, tangents) {
      before <- shifted(results, axis, 0, reverse)
      recurrence(primals[[1L]], hlo_add(tangents[[2L]], along(tangents[[1L]], function(t) t * before)), axis, reverse)
    },
    transpose = function(primals, cotangents) {
      list(NULL, recurrence(shifted(primals[[1L]], axis, 0, !reverse), cotangents, axis, !reverse))
    },
    vmap = batch_in_front(function(a, b) recurrence(a, b, axis + 1L, reverse))
  )
}

# From this length on an axis is cut into blocks that are gone through side by side, unless the other axes are wide.
block_from <- 256L

in_blocks <- function(a, b, axis) {
  shape <- b@shape
  size <- shape[[axis]]
  if (prod(shape) == 0 || size == 1L) {
    return(b)
  }
  order <- c(axis, setdiff(seq_along(shape), axis))
  width <- as.integer(prod(shape[-axis]))
  rows <- function(x) reshaped(transposed(x, order), c(size, width))
  y <- if (size < block_from || width >= block_from) {
    row_by_row(rows(a), rows(b))$y
  } else {
    block_by_block(rows(a), rows(b))
  }
  transposed(reshaped(y, shape[order]), order(order))
}

# One loop over the places within a block, for all blocks at once, then one over the blocks' ends.
block_by_block <- function(a, b) {
  size <- b@shape[[1L]]
  width <- b@shape[[2L]]
  long <- as.integer(ceiling(sqrt(size)))
  count <- as.integer(ceiling(size / long))
  blocks <- function(x) {
    x <- hlo_pad(x, high = c(long * count - size, 0L))
    reshaped(transposed(reshaped(x, c(count, long, width)), c(2L, 1L, 3L)), c(long, count * width))
  }
  inside <- row_by_row(blocks(a), blocks(b), factors = TRUE)
  last <- function(x) reshaped(sliced(x, c(long, 1L), c(long, count * width)), c(count, width))
  ends <- row_by_row(last(inside$factor), last(inside$y))$y
  before <- broadcast(reshaped(shifted(ends, 1L, 0), count * width), c(long, count * width), 2L)
  # A product of many factors may be infinite where nothing is carried on.
  y <- hlo_select(before == 0, inside$y, inside$y + inside$factor * before)
  y <- reshaped(transposed(reshaped(y, c(long, count, width)), c(2L, 1L, 3L)), c(long * count, width))
  sliced(y, c(1L, 1L), c(size, width))
}

# The recurrence down the columns, and with `factors` the running products of a.
row_by_row <- function(a, b, factors = FALSE) {
  width <- b@shape[[2L]]
  row <- function(x, at) reshaped(hlo_dynamic_slice(x, list(at, 1L), c(1L, width)), width)
  put <- function(x, at, row) hlo_dynamic_update_slice(x, reshaped(row, c(1L, width)), list(at, 1L))
  start <- constant(0, b@dtype, width, "b")
  init <- list(at = hlo_constant(1L, shape = integer()), last = start, y = filled(0, b))
  if (factors) {
    init <- c(init, list(product = filled(1, start), factor = filled(0, b)))
  }
  found <- hlo_while(
    function(at, ...) at <= b@shape[[1L]],
    function(at, last, y, product, factor) {
      by <- row(a, at)
      last <- by * last + row(b, at)
      turn <- list(at = at + 1L, last = last, y = put(y, at, last))
      if (factors) {
        product <- by * product
        turn <- c(turn, list(product = product, factor = put(factor, at, product)))
      }
      turn
    },
    init
  )
  found
}
