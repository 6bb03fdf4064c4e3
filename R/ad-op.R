# Ops with rules of their own (ffi_op()), as nodes.

# A node that stands for the op. A program is made of what its call gave, derivatives of the node.
bind_op <- function(op, arguments) {
  outer <- trace_state$owner
  on.exit(trace_state$owner <- outer)
  trace_state$owner <- op$name
  keeping <- isTRUE(trace_state$differentiated) && has_residuals(op)
  run <- function() call_written(op$call, arguments, op$name)
  results <- if (keeping) silently(run) else run()
  body <- lapply(tree_leaves(results), as_value, "call", call = NULL)
  if (keeping) {
    forward <- run_forward(op, arguments, results, lapply(body, type_of))
    body <- forward$values
  }
  node <- new_node("op", tree_leaves(arguments), lapply(body, type_of), list(
    op = op, body = body, arguments = tree_map(arguments, function(leaf) 0), results = tree_fill(results, body)
  ))
  if (keeping) {
    node$params$residuals <- residuals_of(node, forward$residuals)
  }
  tree_fill(results, node_values(node))
}

# The op is called again only where derivatives need residuals that it has not kept. Ops of this package's own may
# have `recording`, an op that takes its place then: it has further results behind those of the op.
op_replayed <- function(node, now) {
  p <- node$params
  inputs <- lapply(node$inputs, now)
  if (isTRUE(trace_state$differentiated) && !is.null(p$op$recording)) {
    return(tree_leaves(bind_op(p$op$recording, tree_fill(p$arguments, inputs))))
  }
  if (isTRUE(trace_state$differentiated) && has_residuals(p$op) && is.null(p$residuals)) {
    return(tree_leaves(bind_op(p$op, tree_fill(p$arguments, inputs))))
  }
  p$body <- lapply(p$body, now)
  again <- new_node("op", inputs, node$types, p)
  outputs <- node_values(again)
  again$params$residuals <- map_values(p$residuals, function(value) {
    if (identical(value@node, node)) outputs[[value@index]] else now(value)
  })
  outputs
}

has_residuals <- function(op) is.list(op$vjp)

primitive("op", replay = op_replayed)
