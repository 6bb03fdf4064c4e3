# Reverse mode through a region, in two parts: what is known when the region is computed, and what is computed from
# the cotangents of its results. `inputs` are what the region takes (its parameters and what it captures); `moving` are
# marks: those with respect to which derivatives are taken. `back` gives, for each result that depends on them, the
# number of its cotangent.
#
# All of it is written into a region of its own, whose nodes `replay()` then writes where they belong:
# results    the results, with `params` and `roots` in place of the region's inputs
# shares     the cotangents of the moving inputs, NULL for zero, computed from `cotangents` and from what is known
linearized <- function(region, captured, moving) {
  types <- lapply(region$params, type_of)
  out <- NULL
  trace <- trace_region(function(params) {
    roots <- c(lapply(params, alias_of), lapply(captured, alias_of))
    own <- seq_along(params)
    values <- for_derivatives(function() {
      replay_region(region, roots[own], captured, beyond(roots, length(params)))
    }, roots)
    directions <- vector("list", length(roots))
    directions[moving] <- lapply(roots[moving], new_parameter)
    changes <- jvp_graph(values, roots, directions, reverse = TRUE)
    cotangents <- Map(function(value, change) if (!is.null(change)) new_parameter(type_of(value)), values, changes)
    shares <- vector("list", length(roots))
    if (any(moving)) {
      shares[moving] <- backward_pass(changes, cotangents, directions[moving])
    }
    out <<- list(
      params = params, roots = roots, results = values, cotangents = cotangents, shares = shares, captured = captured
    )
    values
  }, types)
  c(out, list(first = trace$first, effects = trace$effects))
}

# Kinds that are computed again rather than kept.
cheap <- c("constant", "iota", "broadcast_in_dim", "reshape", "alias", "parameter")

# Tells of values whether they depend on `roots`; `values` are computed from these.
dependents <- function(values, roots, first) computed_from(roots, nodes_between(values, first), replay_edges)

# The values that the shares need and that do not depend on cotangents. `keep(value)` says which of them are kept; what
# is not is computed again, from what it is computed from; calls with side effects are not made again.
residual_values <- function(linear, keep) {
  shares <- Filter(Negate(is.null), linear$shares)
  is_dependent <- dependents(shares, Filter(Negate(is.null), linear$cotangents), linear$first)
  candidates <- Filter(Negate(is_dependent), shares)
  for (node in nodes_between(shares, linear$first)) {
    edges <- replay_edges(node)
    behind <- vapply(edges, is_dependent, NA)
    if (any(behind)) {
      candidates <- c(candidates, edges[!behind])
    }
  }
  found <- list()
  seen <- new_table()
  while (length(candidates)) {
    value <- candidates[[1L]]
    candidates <- candidates[-1L]
    if (value@node$id < linear$first || !is.null(of_value(seen, value))) {
      next
    }
    set_of_value(seen, value, TRUE)
    if (keep(value) || acts(value@node)) {
      found <- c(found, list(value))
    } else {
      candidates <- c(candidates, replay_edges(value@node))
    }
  }
  found
}

# A node of the tangents with nothing but a transpose, which is all that becomes of it.
linearized_tangents <- function(node, tangents, rule) {
  moving <- !vapply(tangents, is.null, NA)
  both <- rule(node, moving)
  changes <- vector("list", length(both$changing))
  if (any(both$changing)) {
    linear <- new_node("linear", tangents[moving], node$types[which(both$changing)], list(
      transpose = function(given) {
        cotangents <- vector("list", length(changes))
        cotangents[both$changing] <- given
        both$pull(cotangents)[moving]
      }
    ))
    changes[both$changing] <- node_values(linear)
  }
  changes
}

# The tangents themselves, from what is kept for reverse mode: the transpose of that. NULL where it does not go.
kept_tangents <- function(node, tangents, rule) {
  moving <- !vapply(tangents, is.null, NA)
  before <- mget(c("types", "params", "inputs"), node)
  tryCatch({
    both <- rule(node, moving)
    changing <- both$changing
    cotangents <- changes <- vector("list", length(changing))
    if (any(changing)) {
      cotangents[changing] <- lapply(before$types[changing], new_parameter)
      shares <- both$pull(cotangents)[moving]
      changes[changing] <- backward_pass(shares, tangents[moving], cotangents[changing])
    }
    changes
  }, xlaffi_error_unimplemented = function(error) {
    list2env(before, node)
    NULL
  })
}

primitive("linear", transpose = function(node, cotangents, linear) node$params$transpose(cotangents))

# For a node that is applied to tangents: a linear function is its own derivative, wherever that is taken.
transposed_by_linearize <- function(node, cotangents, linear) {
  inputs <- node$inputs
  inputs[linear] <- lapply(inputs[linear], function(value) filled(0, value))
  again <- silently(function() rebind_node(node, inputs))[[1L]]@node
  primitive_rule(node$op, "linearize")(again, linear)$pull(cotangents)
}
