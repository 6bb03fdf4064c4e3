# Forward mode walks over the graph and adds the nodes of the tangents; reverse mode walks over
# these backwards.

# What a node is computed from, for derivatives: an op with a rule stands for itself.
derivative_edges <- function(rule) {
  function(node) if (node$op == "op" && !has_rule(node, rule)) node$params$body else node$inputs
}

# A rule for reverse mode serves where there is no other.
has_rule <- function(node, rule) {
  op <- node$params$op
  !is.null(op[[rule]]) || !is.null(op$vjp)
}

# The tangents of `outputs` when `roots` change by `tangents`; NULL for zero. What the roots are
# computed from does not count. `reverse` says that backward_pass() comes next, `kept` that the tangents are linear
# functions that are used apart from the outputs: loops keep what they need for them, where they can.
jvp_graph <- function(outputs, roots, tangents, reverse = FALSE, kept = FALSE) {
  passed_on(outputs, roots, tangents, derivative_edges("jvp"), function(node, given) {
    node_tangents(node, given, reverse, kept)
  })
}

node_tangents <- function(node, tangents, reverse, kept) {
  if (node$op == "alias") {
    return(tangents)
  }
  if (node$op == "op") {
    return(if (has_rule(node, "jvp")) op_tangents(node, tangents, reverse) else tangents)
  }
  if (!any(vapply(node$types, function(type) is_inexact(type@dtype), NA))) {
    return(vector("list", length(node$types)))
  }
  pull <- if (reverse || kept) primitive_rule(node$op, "linearize")
  changes <- if (!is.null(pull)) (if (reverse) linearized_tangents else kept_tangents)(node, tangents, pull)
  if (!is.null(changes)) {
    return(changes)
  }
  rule <- primitive_rule(node$op, "jvp")
  if (is.null(rule)) {
    no_rule(node, "jvp", "has no rule for derivatives",
      "`ffi_op(call, jvp = )` gives a custom call a rule; see ?ffi_op."
    )
  }
  rule(node, tangents)
}

# The rule of an op, and what it returned in the order of the results. Reverse mode prefers its own.
op_tangents <- function(node, tangents, reverse) {
  p <- node$params
  if (!is.null(p$op$vjp) && (reverse || is.null(p$op$jvp))) {
    return(if (reverse) linear_tangents(node, tangents) else transposed_tangents(node, tangents))
  }
  # Names that an error in the rule shows
  jvp <- hooks$convert_function(p$op$jvp)
  primals <- tree_fill(p$arguments, node$inputs)
  results <- tree_fill(p$results, node_values(node))
  first <- trace_state$node_count + 1
  given <- tangents
  tangents <- tree_fill(p$arguments, tangents)
  changes <- jvp(primals, results, tangents)
  changes <- rule_results(changes, results, node$types, p$op$name, "jvp")
  if (is_of_user(p$op$jvp)) check_depends(changes, given, first, p$op$name, "jvp", "tangents")
  changes
}

is_of_user <- function(rule) is.primitive(rule) || !identical(topenv(environment(rule)), topenv())

# What a user's rule adds or puts in that does not depend on `given`, the tangents or cotangents, is no part of a
# derivative: the other mode would lose it.
check_depends <- function(changes, given, first, op, rule, name) {
  there <- function(values) Filter(Negate(is.null), values)
  edges <- derivative_edges("jvp")
  nodes <- nodes_behind(nodes_of(there(changes)), edges, first)
  depends <- computed_from(there(given), nodes, edges)
  moving <- Filter(function(node) depends(new_value(node, 1L)), nodes)
  parts <- c(there(changes), unlist(lapply(moving, parts_of_node), recursive = FALSE))
  if (!all(vapply(parts, function(value) depends(value) || is_fixed_zero(value), NA))) {
    abort(sprintf("the %s rule of op `%s` gives something that does not depend on `%s`", rule, op, name),
      op = op, operand = rule, call = NULL,
      hint = sprintf("Rules for derivatives must be linear in `%s`; NULL is for what does not change.", name)
    )
  }
}

# What the elements of a node's result are, or are sums of. ifelse() chooses NaN where the test is NaN.
parts_of_node <- function(node) {
  switch(node$op,
    add = ,
    subtract = ,
    pad = ,
    concatenate = node$inputs,
    select = Filter(function(value) !is_constant_of(value, is.nan), node$inputs[-1L]),
    dynamic_update_slice = node$inputs[1:2],
    scatter_add = ,
    scatter_set = node$inputs[c(1L, 3L)],
    list()
  )
}

is_fixed_zero <- function(value) is_constant_of(value, function(x) !is.na(x) & x == 0)

# Whether a value is a constant all of whose numbers are such
is_constant_of <- function(value, such) {
  node <- value@node
  switch(node$op,
    constant = all(such(node$params$data)),
    broadcast_in_dim = ,
    convert = ,
    reshape = is_constant_of(node$inputs[[1L]], such),
    FALSE
  )
}

# What a rule returned for `like`, a tree: a list of values or NULLs, each of the type that it
# belongs to.
rule_results <- function(x, like, types, op, rule) {
  leaves <- rule_leaves(x, like, op, rule, if (rule == "jvp") "the op's results" else "its arguments")
  Map(function(leaf, type, number) {
    if (!is.null(leaf) && is_inexact(type@dtype)) rule_value(leaf, type, number, op, rule)
  }, leaves, types, seq_along(leaves))
}

# What a rule returned in place of the op's results, none of which may be left out.
all_rule_values <- function(x, like, types, op, rule) {
  leaves <- rule_leaves(x, like, op, rule, "the op's results")
  Map(rule_value, leaves, types, seq_along(leaves), op, rule)
}

rule_leaves <- function(x, like, op, rule, what) {
  tree_match(like, x, function(text) {
    abort(sprintf("the %s rule of op `%s` must return a list like %s: %s", rule, op, what, text),
      op = op, operand = rule, call = NULL
    )
  })
}

rule_value <- function(leaf, type, number, op, rule) {
  leaf <- r_data(leaf)
  if (!is.null(leaf) && !is_value(leaf) && !is_data(leaf)) {
    abort(sprintf("the %s rule of op `%s` must return values of the program, not %s", rule, op, describe(leaf)),
      op = op, operand = rule, hint = data_hint(leaf), call = NULL
    )
  }
  leaf <- if (!is.null(leaf)) as_value(leaf, rule, type, call = NULL)
  if (is.null(leaf) || !same_type(leaf, type)) {
    abort(
      sprintf(
        "the %s rule of op `%s` must return %s as number %d, not %s", rule, op, type_text(type), number,
        if (is.null(leaf)) "NULL" else type_text(leaf)
      ),
      op = op, operand = rule, call = NULL
    )
  }
  leaf
}

sparse_match <- function(like, x, refuse) {
  if (is.null(x)) {
    return(list(NULL))
  }
  if (!is_sparse(x) || !same_pattern(like@pattern, x@pattern)) {
    given <- if (is_sparse(x)) pattern_text(x@pattern) else if (is_branch(x)) "a list" else describe(x)
    refuse(sprintf("%s where %s belongs", given, pattern_text(like@pattern)))
  }
  list(x@values)
}

# The leaves of `x` at the places of those of `like`, by name where both have names; NULL where
# there is nothing.
tree_match <- function(like, x, refuse) {
  if (is.null(like)) {
    return(list())
  }
  if (is_sparse(like)) {
    return(sparse_match(like, x, refuse))
  }
  if (!is_branch(like)) {
    if (is_branch(x)) {
      if (length(x) != 1L) refuse(sprintf("a list of %d where one value belongs", length(x)))
      x <- x[[1L]]
    }
    return(list(x))
  }
  if (is.null(x)) {
    x <- vector("list", length(like))
  }
  if (!is_branch(x)) {
    if (length(like) != 1L) refuse(sprintf("one value where a list of %d belongs", length(like)))
    x <- list(x)
  }
  if (is_named(like) && is_named(x)) {
    unknown <- setdiff(names(x), names(like))
    if (length(unknown)) refuse(sprintf("there is no `%s`", unknown[[1L]]))
    x <- lapply(stats::setNames(nm = names(like)), function(name) x[[name]])
  }
  if (length(x) != length(like)) refuse(sprintf("%d where there are %d", length(x), length(like)))
  do.call(c, c(list(list()), unname(Map(function(like, x) tree_match(like, x, refuse), like, x))))
}

# Zero is NULL.
add_tangents <- function(x, y) {
  if (is.null(x)) y else if (is.null(y)) x else x + y
}

or_zero <- function(tangent, like) if (is.null(tangent)) filled(0, like) else tangent
