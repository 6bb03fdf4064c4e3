# Batches: the nodes of a function's graph are replaced, one by one, by nodes that work on all
# elements. Every batched value has the batch axis in front; what does not depend on a mapped
# argument stays as it is.

# `f` takes and gives a list of leaves; NULL among the results stays. `mapped` says which of `leaves`
# have a batch axis, of length `size`.
batch_leaves <- function(f, leaves, mapped, size) {
  none <- NULL
  region <- trace_region(function(params) {
    leaves[mapped] <- params
    results <- looped(f(leaves))
    none <<- vapply(results, is.null, NA)
    results[!none]
  }, lapply(leaves[mapped], element_type))
  known <- new_table()
  for (i in seq_along(region$params)) {
    set_of_value(known, region$params[[i]], leaves[mapped][[i]])
  }
  walk_region(region, known, function(node, inputs, moved) batch_node(node, inputs, moved, size))
  found <- lapply(region$results, of_value, table = known)
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
  nodes <- nodes_behind(c(nodes_of(region$results), region$effects), batch_edges, region$first)
  effects <- node_ids(region$effects)
  for (node in nodes) {
    inputs <- batch_edges(node)
    found <- lapply(inputs, of_value, table = known)
    moved <- !vapply(found, is.null, NA)
    if (any(moved)) {
      inputs[moved] <- found[moved]
      set_of_results(known, node, replace(node, inputs, moved))
    } else if (node$id %in% effects) {
      record_effect(node)
    }
  }
}

# What a node's values are batched by. Of an op without a rule for batches that is also what its call gave. It is not
# called again: it may read variables of the user's that have changed, or hold values of the program.
batch_edges <- function(node) {
  if (node$op == "op" && is_batched_by_body(node$params$op)) all_edges(node) else node$inputs
}

is_batched_by_body <- function(op) is.null(op$batch) && is.null(op$vmap) && !is.list(op$vjp)

batch_node <- function(node, inputs, mapped, size) {
  if (any_token(c(node$inputs, node$types))) {
    no_rule(node, "vmap", "takes or gives tokens, so there are no batches of it")
  }
  rule <- primitive_rule(node$op, "vmap")
  (if (is.null(rule)) hooks$batch_one_by_one else rule)(node, inputs, mapped, size)
}

element_type <- function(value) new_type(value@dtype, value@shape[-1L])

batch_type <- function(type, size) new_type(type@dtype, c(size, type@shape))

primitive("alias", vmap = function(node, inputs, mapped, size) inputs)
