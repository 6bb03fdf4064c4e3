# Rules for batches: function(node, inputs, mapped, size), where `mapped` says which of `inputs`
# have the batch axis in front. They give the node's values for all elements.

# Of what works element by element, or on the last axes: the same on batches
batch_together <- function(node, inputs, mapped, size) rebind_batch(node, all_in_front(inputs, mapped, size), size)

# A value with the batch axis in front, repeated where it has none.
in_front <- function(value, mapped, size) {
  if (mapped) value else broadcast(value, c(size, value@shape), seq_along(value@shape) + 1L)
}

all_in_front <- function(inputs, mapped, size) Map(in_front, inputs, mapped, size)

# The rule for batches of an op that takes a batch as one more axis in front
batch_in_front <- function(call) {
  force(call)
  function(arguments, axes, size) do.call(call, all_in_front(arguments, !vapply(axes, is.null, NA), size))
}

# The same kind of node on batches.
rebind_batch <- function(node, inputs, size, params = node$params) {
  node_values(new_node(node$op, inputs, lapply(node$types, batch_type, size), params))
}

to_front <- function(value, axis) {
  transposed(value, c(as.integer(axis), setdiff(seq_along(value@shape), axis)))
}

from_front <- function(value, mapped, axis, size, number, call) {
  if (is.null(axis)) {
    if (mapped) {
      abort(sprintf("`out_axes` is NULL for result %d, which differs from element to element", number),
        operand = "out_axes", call = call
      )
    }
    return(value)
  }
  value <- in_front(value, mapped, size)
  rank <- length(value@shape)
  if (axis > rank) {
    abort(sprintf("`out_axes`: result %d is %s and has no axis %d", number, type_text(value), axis),
      operand = "out_axes", call = call
    )
  }
  transposed(value, append(seq_len(rank)[-1L], 1L, axis - 1L))
}
