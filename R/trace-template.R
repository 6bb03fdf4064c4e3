# Graphs that a program has again and again. A loop of R's calls dnorm() for each observation, which is 40 operations
# at each call. The third call is traced as a template, which the calls behind it copy: that takes a tenth of the time.

# `f(values)`. `key` says which function it is: calls with the same key, for values of the same type, write the same
# graph whatever the values are.
by_template <- function(key, f, values) {
  types <- lapply(values, type_of)
  plain <- all(vapply(types[-1L], same_type, NA, types[[1L]])) && is.null(trace_state$mesh) &&
    is.null(trace_state$manual) && !any(vapply(values, has_labels, NA))
  if (!plain || is.null(trace_state$templates)) {
    return(do.call(f, values))
  }
  name <- paste(c(key, isTRUE(trace_state$differentiated), types[[1L]]@dtype, types[[1L]]@shape), collapse = " ")
  known <- trace_state$templates[[name]]
  if (is.null(known)) known <- list(calls = 0L, template = NULL)
  known$calls <- known$calls + 1L
  if (known$calls == calls_before_template) known$template <- new_template(f, types)
  if (known$calls <= calls_before_template) trace_state$templates[[name]] <- known
  if (is.null(known$template)) do.call(f, values) else from_template(known$template, values)
}

calls_before_template <- 3L

has_labels <- function(value) !is.null(attr(value, "labels"))

# The nodes that compute the result from parameters, in order. Of each its `inputs` are numbers of values, parameters
# first; a node with several results or a rule of its own has more to it and is replayed.
new_template <- function(f, types) {
  params <- lapply(types, new_parameter)
  first <- trace_state$node_count + 1
  result <- do.call(f, params)
  nodes <- nodes_between(list(result), first)
  keys <- c(value_keys(params), unlist(lapply(nodes, function(node) value_keys(node_values(node)))))
  simple <- vapply(nodes, function(node) {
    length(node$types) == 1L && is.null(primitive_rule(node$op, "replay")) &&
      is.null(primitive_rule(node$op, "rebind")) && !isTRUE(node$params$has_side_effect)
  }, NA)
  inputs <- lapply(nodes, function(node) match(value_keys(node$inputs), keys))
  known <- all(!is.na(unlist(inputs)))
  if (!known || !is_value(result)) {
    return()
  }
  list(
    nodes = nodes, simple = simple, inputs = inputs, count = lengths(lapply(nodes, function(node) node$types)),
    keys = keys, result = match(value_key(result), keys)
  )
}

from_template <- function(template, values) {
  for (value in values) check_living(value)
  made <- vector("list", length(template$keys))
  made[seq_along(values)] <- values
  now <- function(value) {
    at <- match(value_key(value), template$keys)
    if (is.na(at)) value else made[[at]]
  }
  at <- length(values)
  for (i in seq_along(template$nodes)) {
    node <- template$nodes[[i]]
    if (template$simple[[i]]) {
      at <- at + 1L
      made[[at]] <- new_value(checked_node(node$op, made[template$inputs[[i]]], node$types, node$params))
    } else {
      results <- replayed_node(node, now)
      made[at + seq_along(results)] <- results
      at <- at + template$count[[i]]
    }
  }
  made[[template$result]]
}
