# Reverse mode: the graph from `roots` (the tangents) to `outputs` is linear, and is walked from
# its end; each node gives its operands their share of its cotangent.

# The cotangents of `roots` for those of `outputs`; NULL for zero.
backward_pass <- function(outputs, cotangents, roots) {
  table <- new_table()
  add <- function(value, cotangent) {
    set_of_value(table, value, add_tangents(of_value(table, value), cotangent))
  }
  for (i in seq_along(outputs)) {
    if (!is.null(outputs[[i]]) && !is.null(cotangents[[i]])) {
      add(outputs[[i]], cotangents[[i]])
    }
  }
  edges <- derivative_edges("transpose")
  for (step in rev(linear_steps(outputs, roots, edges))) {
    node <- step$node
    given <- lapply(node_values(node), of_value, table = table)
    if (all(vapply(given, is.null, NA))) {
      next
    }
    operands <- edges(node)
    shares <- node_cotangents(node, given, step$linear)
    for (i in which(step$linear)) {
      if (!is.null(shares[[i]])) {
        add(operands[[i]], shares[[i]])
      }
    }
  }
  lapply(roots, of_value, table = table)
}

# The nodes that depend on the roots, each with which of its operands do.
linear_steps <- function(outputs, roots, edges) {
  ends <- nodes_of(Filter(Negate(is.null), outputs))
  first <- min(vapply(roots, function(root) root@node$id, 0))
  nodes <- nodes_behind(ends, edges, first)
  depends <- computed_from(roots, nodes, edges)
  steps <- lapply(nodes, function(node) {
    linear <- vapply(edges(node), depends, NA)
    if (any(linear)) list(node = node, linear = linear)
  })
  Filter(Negate(is.null), steps)
}

node_cotangents <- function(node, given, linear) {
  if (node$op == "alias") {
    return(given)
  }
  if (node$op == "op") {
    return(if (has_rule(node, "transpose")) op_cotangents(node, given, linear) else given)
  }
  rule <- primitive_rule(node$op, "transpose")
  if (is.null(rule)) {
    switch(node$op,
      "while" = no_rule(node, "transpose", "has no derivative in reverse mode: nobody knows how many turns it takes",
        "`max_iter` bounds it; `hlo_scan()` and `hlo_fori()` are loops of a known number of turns."
      ),
      custom_call = no_rule(node, "transpose", "is applied to tangents and has no transpose rule",
        "`ffi_op(call, transpose = )` gives it one; see ?ffi_op."
      ),
      check_linear(node, FALSE)
    )
  }
  rule(node, given, linear)
}

check_linear <- function(node, linear) {
  if (!linear) {
    no_rule(node, "jvp", "is applied to tangents, but is not linear in them",
      "Rules for derivatives must be linear in `tangents`."
    )
  }
}

op_cotangents <- function(node, given, linear) {
  p <- node$params
  if (is.null(p$op$transpose)) {
    return(linear_shares(node, given, linear))
  }
  inputs <- node$inputs
  inputs[linear] <- list(NULL)
  # Names that an error in the rule shows
  transpose <- hooks$convert_function(p$op$transpose)
  primals <- tree_fill(p$arguments, inputs)
  cotangents <- tree_fill(p$results, Map(or_zero, given, node$types))
  shares <- transpose(primals, cotangents)
  types <- lapply(node$inputs, type_of)
  rule_results(shares, tree_fill(p$arguments, node$inputs), types, p$op$name, "transpose")
}
