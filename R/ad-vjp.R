# Rules for reverse mode: what an op's `vjp` gives for cotangents of its results. They are linear in these, so
# forward mode is had by transposing them.

# Calls `f`, of whose results derivatives are going to be taken: ops keep their residuals.
differentiated <- function(f) {
  outer <- trace_state$differentiated
  on.exit(trace_state$differentiated <- outer)
  trace_state$differentiated <- TRUE
  f()
}

# What `f` gives, a list of values, for derivatives by `roots`, which are there already
for_derivatives <- function(f, roots) {
  first <- trace_state$node_count + 1
  merged(hooks$with_gates(differentiated(f), roots, first), first)
}

# The values that take the place of the results of the op's call, `like`, and residuals, by the op's forward rule.
run_forward <- function(op, primals, like, types) {
  forward <- hooks$convert_function(op$vjp$forward)
  out <- forward(primals)
  parts <- c("results", "residuals")
  if (!is_branch(out) || length(out) != 2L || !(is.null(names(out)) || setequal(names(out), parts))) {
    abort(sprintf("`forward` in the vjp rule of op `%s` must return list(results = , residuals = )", op$name),
      op = op$name, operand = "vjp", call = NULL
    )
  }
  if (is.null(names(out))) {
    names(out) <- parts
  }
  list(values = all_rule_values(out$results, like, types, op$name, "vjp"), residuals = out$residuals)
}

# Residuals that are results of the call are results of the op's node: those have rules.
residuals_of <- function(node, residuals) {
  own <- value_keys(node$params$body)
  outputs <- node_values(node)
  map_values(residuals, function(value) {
    at <- match(value_key(value), own)
    if (is.na(at)) value else outputs[[at]]
  })
}

# The cotangents of a node's inputs, NULL for zero, by the vjp rule of its op. The rule is given cotangents of all
# results that may have them, and may ask which inputs' are `wanted`.
vjp_shares <- function(node, given, wanted, primals = node$inputs, results = node_values(node),
                       residuals = node$params$residuals) {
  p <- node$params
  given <- Map(function(x, type) if (is_inexact(type@dtype)) or_zero(x, type), given, node$types)
  rule <- if (has_residuals(p$op)) p$op$vjp$reverse else p$op$vjp
  first <- trace_state$node_count + 1
  # Values of their own, by which is told what depends on cotangents that are constants
  if (is_of_user(rule)) given <- lapply(given, function(x) if (!is.null(x)) alias_of(x))
  shares <- call_vjp(p$op, p$arguments, p$results, wanted, primals, results, given, residuals)
  shares <- rule_results(shares, p$arguments, lapply(node$inputs, type_of), p$op$name, "vjp")
  if (is_of_user(rule)) check_depends(shares, given, first, p$op$name, "vjp", "cotangents")
  shares
}

call_vjp <- function(op, arguments, like, wanted, primals, results, cotangents, residuals) {
  cotangents <- tree_fill(like, cotangents)
  # Names that an error in the rule shows
  if (has_residuals(op)) {
    reverse <- hooks$convert_function(op$vjp$reverse)
    return(reverse(residuals, cotangents))
  }
  vjp <- hooks$convert_function(op$vjp)
  primals <- tree_fill(arguments, primals)
  results <- tree_fill(like, results)
  if ("wanted" %in% names(formals(vjp))) {
    return(vjp(primals, results, cotangents, tree_fill(arguments, as.list(wanted))))
  }
  vjp(primals, results, cotangents)
}

inexact_results <- function(node) vapply(node$types, function(type) is_inexact(type@dtype), NA)

# For reverse mode: a node of the tangents with nothing but a transpose, which is all that becomes of it.
linear_tangents <- function(node, tangents) {
  moving <- !vapply(tangents, is.null, NA)
  inexact <- inexact_results(node)
  transpose <- function(primals, cotangents) {
    given <- vector("list", length(node$types))
    given[inexact] <- cotangents
    vjp_shares(node, given, moving)[moving]
  }
  slots <- function(places) rep(list(0), sum(places))
  linear <- new_node("op", tangents[moving], node$types[inexact], list(
    op = list(name = node$params$op$name, transpose = transpose),
    body = list(), arguments = slots(moving), results = slots(inexact)
  ))
  changes <- vector("list", length(node$types))
  changes[inexact] <- node_values(linear)
  changes
}

# For forward mode: the transpose of the rule.
transposed_tangents <- function(node, tangents) {
  moving <- !vapply(tangents, is.null, NA)
  inexact <- inexact_results(node)
  cotangents <- vector("list", length(node$types))
  cotangents[inexact] <- lapply(node$types[inexact], new_parameter)
  changes <- vector("list", length(node$types))
  if (any(inexact)) {
    shares <- vjp_shares(node, cotangents, moving)
    changes[inexact] <- transposable(
      backward_pass(shares[moving], tangents[moving], cotangents[inexact]), node$params$op$name
    )
  }
  changes
}

transposable <- function(changes, op) {
  tryCatch(changes, xlaffi_error_unimplemented = function(error) {
    abort(sprintf("op `%s` has no jvp rule, and its vjp rule cannot be transposed for forward mode", op),
      "UNIMPLEMENTED",
      op = op, operand = "jvp", hint = "`ffi_op(call, jvp = )` gives it a rule; see ?ffi_op.", call = NULL,
      parent = error
    )
  })
}

# For an op that is applied to tangents: a linear function is its own derivative, wherever that is taken, so the rule
# must not use what stands for the tangents.
linear_shares <- function(node, given, linear) {
  p <- node$params
  primals <- node$inputs
  primals[linear] <- lapply(primals[linear], function(value) new_parameter(type_of(value)))
  results <- lapply(node$types, new_parameter)
  unknown <- node_ids(nodes_of(c(primals[linear], results)))
  residuals <- if (has_residuals(p$op)) {
    run_forward(p$op, tree_fill(p$arguments, primals), p$results, node$types)$residuals
  }
  shares <- vjp_shares(node, given, linear, primals, results, residuals)
  ends <- nodes_of(Filter(Negate(is.null), shares[linear]))
  if (any(node_ids(nodes_behind(ends, program_edges, min(unknown))) %in% unknown)) {
    abort(
      sprintf("op `%s` is applied to tangents, but its vjp rule uses these, or the results of them", p$op$name),
      "UNIMPLEMENTED",
      op = p$op$name, operand = "transpose", call = NULL,
      hint = "`ffi_op(call, transpose = )` gives it a rule for that; see ?ffi_op."
    )
  }
  shares
}
