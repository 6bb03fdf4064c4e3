# Equal computations of a graph as one. A derivative asks for the same values again wherever a rule does, and the next
# one differentiates each of them: the Hessian of a likelihood had four times the nodes that it needs.

# Smaller graphs are not looked through.
least_merged <- 16L

# Constants with more elements are not compared.
most_compared <- 16L

# `values`, which are computed by nodes from the number `first` on, no two of which compute the same any more. Nodes
# are given the first one of those that are equal in the place of the others, so it does not matter who has any of
# them. An alias is what it is the name of: derivatives by it have been taken. Turns of R's loops stay alike.
merged <- function(values, first) {
  if (trace_state$node_count - first < least_merged || any(trace_state$turns >= first)) {
    return(values)
  }
  nodes <- nodes_behind(nodes_of(values), derivative_edges("jvp"), first)
  found <- new_table()
  now <- function(value) {
    results <- of_node(found, value@node)
    if (is.null(results)) value else results[[value@index]]
  }
  known <- utils::hashtab()
  ops <- list()
  for (node in nodes) {
    if (stays_apart(node)) {
      next
    }
    node$inputs <- lapply(node$inputs, now)
    if (node$op == "alias") {
      set_of_results(found, node, node$inputs)
      next
    }
    params <- node$params
    if (node$op == "op") {
      number <- op_number(ops, params$op)
      ops[[number]] <- params$op
      params <- list(number, params$arguments)
    }
    key <- list(
      node$op, node_ids(nodes_of(node$inputs)), value_indices(node$inputs), params, lapply(node$types, attributes),
      signs_of_zeros(node)
    )
    first_one <- utils::gethash(known, key)
    if (is.null(first_one)) {
      utils::sethash(known, key, node)
    } else {
      set_of_results(found, node, node_values(first_one))
    }
  }
  lapply(values, function(value) labelled(now(value), attr(value, "labels")))
}

value_indices <- function(values) vapply(values, function(value) value@index, 0L)

# What tells -0 from 0, which tables do not
signs_of_zeros <- function(node) {
  switch(node$op,
    constant = if (is.double(node$params$data)) 1 / node$params$data,
    custom_call = rapply(node$params, function(x) 1 / x, classes = "numeric", how = "unlist")
  )
}

# The number of an op among these, or the next one
op_number <- function(ops, op) {
  for (i in seq_along(ops)) {
    if (identical(ops[[i]], op)) return(i)
  }
  length(ops) + 1L
}

# Kinds of nodes that have neither effects nor regions, and are not there to keep equal things apart
merged_kinds <- c(
  quick_kinds, setdiff(kinds_of_many, c("while", "scan", "case", "custom_call", "alias", "linear")), "fft"
)

stays_apart <- function(node) {
  params <- node$params
  switch(node$op,
    alias = any_token(node$inputs),
    op = !is_merged_op(node, params$op),
    constant = length(params$data) > most_compared || is.object(params$data) || is.complex(params$data),
    custom_call = isTRUE(params$has_side_effect) || any_token(c(node$types, node$inputs)),
    !node$op %in% merged_kinds
  )
}

# Not one that records more of its call where derivatives are taken. What a user's function computes may be something
# else at each call.
is_merged_op <- function(node, op) {
  has_rule(node, "jvp") && !has_residuals(op) && is.null(op$recording) &&
    !any(vapply(Filter(is.function, op[c("jvp", "vjp", "call")]), is_of_user, NA))
}
