# Regions again: what one computes from its parameters and from values outside of it is computed from others.

# The values `values` of a region whose nodes are numbered from `first` on, with `to` in place of `from`. What is done
# for its effects is done again. `other(node, now)` may give other results of a node, or NULL; `now()` gives what takes
# the place of a value.
replay <- function(values, from, to, first, effects = list(), other = function(node, now) NULL) {
  known <- new_table()
  for (i in seq_along(from)) {
    set_of_value(known, from[[i]], to[[i]])
  }
  now <- function(value) {
    found <- of_value(known, value)
    if (is.null(found)) value else found
  }
  for (node in nodes_between(values, first, effects, known)) {
    made <- other(node, now)
    set_of_results(known, node, if (is.null(made)) replayed_node(node, now) else made)
  }
  lapply(values, now)
}

# The results of a node for other values in the place of those that it is made of
replayed_node <- function(node, now) {
  rule <- primitive_rule(node$op, "replay")
  if (is.null(rule)) rebind_node(node, lapply(node$inputs, now)) else rule(node, now)
}

# The results of a region for other parameters and other values from outside
replay_region <- function(region, params, from, to) {
  replay(region$results, c(region$params, from), c(params, to), region$first, region$effects)
}

# The nodes that values are computed by, up to those that are known, and those for effects.
nodes_between <- function(values, first, effects = list(), known = NULL) {
  wanted <- function(values) {
    if (is.null(known)) values else Filter(function(value) is.null(of_value(known, value)), values)
  }
  nodes <- nodes_behind(c(nodes_of(wanted(values)), effects), function(node) wanted(replay_edges(node)), first)
  Filter(function(node) node$op != "parameter", nodes)
}

# All that a node needs to be made again: of an op also what its call gave, and what its rule keeps.
replay_edges <- function(node) {
  if (node$op == "op") c(all_edges(node), values_in(node$params$residuals)) else node$inputs
}

# Whether a node is a call with side effects, or has one within
acts <- function(node) {
  isTRUE(node$params$has_side_effect) ||
    any(vapply(inner_regions(node), function(region) any(vapply(region_nodes(region), acts, NA)), NA))
}

# Kinds with regions have a rule `pull` for reverse mode: function(node, moving), where `moving` marks inputs. It gives
# `changing`, the marks of the results that depend on these, and `pull`, a function that turns cotangents of all
# results, NULL for zero, into those of all inputs. It may add results to the node, behind its own: what is kept.

# The same node for other inputs of the same types.
rebind_node <- function(node, inputs) {
  rule <- primitive_rule(node$op, "rebind")
  if (!is.null(rule)) {
    return(rule(node, inputs))
  }
  again <- new_node(node$op, inputs, node$types, node$params)
  if (isTRUE(node$params$has_side_effect)) {
    record_effect(again)
  }
  node_values(again)
}
