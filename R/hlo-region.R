# Regions again: what one computes from its parameters and from values outside of it is computed from others.

# The values `values` of a region whose nodes are numbered from `first` on, with `to` in place of `from`. What is done
# for its effects is done again.
replay <- function(values, from, to, first, effects = list()) {
  known <- new.env(parent = emptyenv())
  for (i in seq_along(from)) {
    known[[value_key(from[[i]])]] <- to[[i]]
  }
  now <- function(value) {
    found <- known[[value_key(value)]]
    if (is.null(found)) value else found
  }
  for (node in nodes_between(values, effects, known, first)) {
    again <- if (node$op == "op") op_replayed(node, now) else node_again(node, lapply(node$inputs, now))
    for (i in seq_along(again)) {
      known[[paste0(node$id, ":", i)]] <- again[[i]]
    }
  }
  lapply(values, now)
}

# The results of a region for other parameters and other values from outside
replay_region <- function(region, params, from, to) {
  replay(region$results, c(region$params, from), c(params, to), region$first, region$effects)
}

# The nodes that values are computed by, up to those that are known, and those for effects.
nodes_between <- function(values, effects, known, first) {
  seen <- new.env(parent = emptyenv())
  wanted <- function(values) {
    Filter(function(value) value@node$id >= first && is.null(known[[value_key(value)]]), values)
  }
  waiting <- c(nodes_of(wanted(values)), effects)
  while (length(waiting)) {
    fresh <- list()
    for (node in waiting) {
      id <- as.character(node$id)
      if (is.null(seen[[id]]) && node$op != "parameter") {
        seen[[id]] <- node
        fresh <- c(fresh, nodes_of(wanted(replay_edges(node))))
      }
    }
    waiting <- fresh
  }
  in_order(as.list(seen))
}

# All that a node needs to be made again: of an op also what its call gave, and what its rule keeps.
replay_edges <- function(node) {
  if (node$op == "op") c(all_edges(node), values_in(node$params$residuals)) else node$inputs
}

# The op is called again only where derivatives need residuals that it has not kept.
op_replayed <- function(node, now) {
  p <- node$params
  inputs <- lapply(node$inputs, now)
  if (isTRUE(the$differentiated) && has_residuals(p$op) && is.null(p$residuals)) {
    return(tree_leaves(record_op(p$op, tree_fill(p$arguments, inputs))))
  }
  p$body <- lapply(p$body, now)
  again <- new_node("op", inputs, node$types, p)
  outputs <- node_values(again)
  again$params$residuals <- map_values(p$residuals, function(value) {
    if (identical(value@node, node)) outputs[[value@index]] else now(value)
  })
  outputs
}

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
    values <- differentiated(function() {
      replay_region(region, roots[own], captured, beyond(roots, length(params)))
    })
    directions <- vector("list", length(roots))
    directions[moving] <- lapply(roots[moving], new_parameter)
    changes <- push_tangents(values, roots, directions, reverse = TRUE)
    cotangents <- Map(function(value, change) if (!is.null(change)) new_parameter(type_of(value)), values, changes)
    shares <- vector("list", length(roots))
    if (any(moving)) {
      shares[moving] <- pull_cotangents(changes, cotangents, directions[moving])
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
dependents <- function(values, roots, first) {
  depends <- new.env(parent = emptyenv())
  for (root in roots) {
    depends[[as.character(root@node$id)]] <- TRUE
  }
  is_dependent <- function(value) !is.null(depends[[as.character(value@node$id)]])
  for (node in nodes_between(values, list(), emptyenv(), first)) {
    if (any(vapply(replay_edges(node), is_dependent, NA))) {
      depends[[as.character(node$id)]] <- TRUE
    }
  }
  is_dependent
}

# The values that the shares need and that do not depend on cotangents. `keep(value)` says which of them are kept; what
# is not is computed again, from what it is computed from; calls with side effects are not made again.
residual_values <- function(linear, keep) {
  shares <- Filter(Negate(is.null), linear$shares)
  is_dependent <- dependents(shares, Filter(Negate(is.null), linear$cotangents), linear$first)
  candidates <- Filter(Negate(is_dependent), shares)
  for (node in nodes_between(shares, list(), emptyenv(), linear$first)) {
    edges <- replay_edges(node)
    behind <- vapply(edges, is_dependent, NA)
    if (any(behind)) {
      candidates <- c(candidates, edges[!behind])
    }
  }
  found <- list()
  seen <- new.env(parent = emptyenv())
  while (length(candidates)) {
    value <- candidates[[1L]]
    candidates <- candidates[-1L]
    key <- value_key(value)
    if (value@node$id < linear$first || !is.null(seen[[key]])) {
      next
    }
    seen[[key]] <- TRUE
    if (keep(value) || acts(value@node)) {
      found <- c(found, list(value))
    } else {
      candidates <- c(candidates, replay_edges(value@node))
    }
  }
  found
}

# Whether a node is a call with side effects, or has one within
acts <- function(node) {
  isTRUE(node$params$has_side_effect) ||
    any(vapply(inner_regions(node), function(region) any(vapply(region_nodes(region), acts, NA)), NA))
}

# Kinds with regions have a rule `pull` for reverse mode: function(node, moving), where `moving` marks inputs. It gives
# `changing`, the marks of the results that depend on these, and `pull`, a function that turns cotangents of all
# results, NULL for zero, into those of all inputs. It may add results to the node, behind its own: what is kept.

# A node of the tangents with nothing but a transpose, which is all that becomes of it.
pulled_tangents <- function(node, tangents, rule) {
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
      changes[changing] <- pull_cotangents(shares, tangents[moving], cotangents[changing])
    }
    changes
  }, xlaffi_error_unimplemented = function(error) {
    list2env(before, node)
    NULL
  })
}

primitive("linear", transpose = function(node, cotangents, linear) node$params$transpose(cotangents))

# For a node that is applied to tangents: a linear function is its own derivative, wherever that is taken.
transposed_by_pull <- function(node, cotangents, linear) {
  inputs <- node$inputs
  inputs[linear] <- lapply(inputs[linear], function(value) filled(0, value))
  again <- silently(function() node_again(node, inputs))[[1L]]@node
  primitive_rule(node$op, "pull")(again, linear)$pull(cotangents)
}

# What stands for nothing
zero_of <- function(type) constant(if (type@dtype == "pred") FALSE else 0, type@dtype, type@shape, "zero")
