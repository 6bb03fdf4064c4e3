# Batches: the nodes of a function's graph are replaced, one by one, by nodes that work on all
# elements. Every batched value has the batch axis in front; what does not depend on a mapped
# argument stays as it is.

# `f` takes and gives a list of leaves; NULL among the results stays. `mapped` says which of `leaves`
# have a batch axis, of length `size`.
batch_leaves <- function(f, leaves, mapped, size) {
  none <- NULL
  region <- trace_region(function(params) {
    leaves[mapped] <- params
    results <- f(leaves)
    none <<- vapply(results, is.null, NA)
    results[!none]
  }, lapply(leaves[mapped], element_type))
  known <- new.env(parent = emptyenv())
  for (i in seq_along(region$params)) {
    known[[value_key(region$params[[i]])]] <- leaves[mapped][[i]]
  }
  walk_region(region, known, function(node, inputs, moved) batch_node(node, inputs, moved, size))
  found <- lapply(region$results, function(value) known[[value_key(value)]])
  is_mapped <- !vapply(found, is.null, NA)
  found[!is_mapped] <- region$results[!is_mapped]
  values <- vector("list", length(none))
  values[!none] <- found
  flags <- logical(length(none))
  flags[!none] <- is_mapped
  list(values = values, mapped = flags)
}

# Goes through a region in the order of computation. `known` has what takes the place of a value;
# for nodes that take such a value `replace(node, inputs, moved)` gives the new ones.
walk_region <- function(region, known, replace) {
  nodes <- nodes_behind(c(nodes_of(region$results), region$effects), function(node) node$inputs, region$first)
  effects <- node_ids(region$effects)
  for (node in nodes) {
    found <- lapply(node$inputs, function(value) known[[value_key(value)]])
    moved <- !vapply(found, is.null, NA)
    if (any(moved)) {
      inputs <- node$inputs
      inputs[moved] <- found[moved]
      values <- replace(node, inputs, moved)
      for (i in seq_along(values)) {
        known[[paste0(node$id, ":", i)]] <- values[[i]]
      }
    } else if (node$id %in% effects) {
      record_effect(node)
    }
  }
}

batch_node <- function(node, inputs, mapped, size) {
  if (any_token(c(node$inputs, node$types))) {
    no_rule(node, "vmap", "takes or gives tokens, so there are no batches of it")
  }
  rule <- primitive_rule(node$op, "vmap")
  (if (is.null(rule)) batch_one_by_one else rule)(node, inputs, mapped, size)
}

element_type <- function(value) new_type(value@dtype, value@shape[-1L])

batch_type <- function(type, size) new_type(type@dtype, c(size, type@shape))

# A value with the batch axis in front, repeated where it has none.
in_front <- function(value, mapped, size) {
  if (mapped) value else broadcast(value, c(size, value@shape), seq_along(value@shape) + 1L)
}

all_in_front <- function(inputs, mapped, size) Map(in_front, inputs, mapped, size)

# The same kind of node on batches.
batch_again <- function(node, inputs, size, params = node$params) {
  node_values(new_node(node$op, inputs, lapply(node$types, batch_type, size), params))
}

# The same node for other inputs of the same types.
node_again <- function(node, inputs) {
  if (node$op == "op") {
    return(tree_leaves(record_op(node$params$op, tree_fill(node$params$arguments, inputs))))
  }
  rule <- primitive_rule(node$op, "again")
  if (!is.null(rule)) {
    return(rule(node, inputs))
  }
  again <- new_node(node$op, inputs, node$types, node$params)
  if (isTRUE(node$params$has_side_effect)) {
    record_effect(again)
  }
  node_values(again)
}

# A loop over the elements, for a node that works on one.
batch_one_by_one <- function(node, inputs, mapped, size) {
  element <- function(carry, slices) {
    inputs[mapped] <- slices
    list(carry = list(), ys = node_again(node, inputs))
  }
  scan_loop(element, list(), inputs[mapped], size)
}
