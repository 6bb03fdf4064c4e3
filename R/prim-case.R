# Derivatives and batches of branches.

# The second one would make the calls behind the tokens again.
check_no_carried_token <- function(node) {
  if (any_token(node$types)) {
    no_rule(node, "jvp", "carries tokens, so it has no derivatives")
  }
}

# Adds results of the types `types` to a node, in which each branch gives what it keeps at its places.
keep_in_branches <- function(node, branches, types) {
  own <- seq_along(node$types)
  regions <- lapply(branches, function(branch) {
    trace_region(function(params) {
      values <- replay(c(branch$results, branch$kept), branch$roots, branch$captured, branch$first, branch$effects)
      kept <- lapply(types, zero_of)
      kept[branch$places] <- beyond(values, length(own))
      c(values[own], kept)
    }, list())
  })
  node$params$regions <- regions
  node$types <- c(node$types, types)
  node$inputs <- c(node$inputs[1L], captured_by(regions))
}

# Kinds of nodes that run on a whole batch though an element does not want them: not what may fail, run for ever or be
# seen from outside.
runs_anywhere <- function(region) {
  nodes <- nodes_behind(c(nodes_of(region$results), region$effects), replay_edges, region$first)
  inside <- function(node) {
    !node$op %in% c("custom_call", "while") && all(vapply(inner_regions(node), runs_anywhere, NA))
  }
  all(vapply(nodes, inside, NA))
}

repeated_along <- function(flags, like) {
  if (identical(flags@shape, like@shape)) flags else broadcast(flags, like@shape, 1L)
}

# A value that counts only where `here` says so: elsewhere it has no derivative, whatever is made of it there.
gated <- function(here, x) {
  if (!is_inexact(x@dtype)) {
    return(x)
  }
  bind_op(gate, list(here = here, x = x))
}

gate <- list(
  name = "gate",
  call = function(here, x) x,
  jvp = function(primals, results, tangents) {
    if (!is.null(tangents$x)) {
      selected(repeated_along(primals$here, tangents$x), tangents$x, filled(0, tangents$x))
    }
  }
)

# The results of a region on batches.
batch_region <- function(region, params, params_mapped, captured, inputs, mapped, size) {
  own <- seq_along(params)
  batch_leaves(function(leaves) {
    replay_region(region, leaves[own], captured, beyond(leaves, length(params)))
  }, c(params, inputs), c(params_mapped, mapped), size)
}

# `calls` are functions without arguments that give leaves; `finish` turns the list of these into values of equal types.
case_node <- function(calls, index, silent = FALSE, finish = identity) {
  leaves <- list()
  regions <- lapply(calls, function(call) {
    trace_region(function(params) {
      leaves[[length(leaves) + 1L]] <<- call()
      list()
    }, list(), silent)
  })
  leaves <- finish(leaves)
  regions <- Map(function(region, results) {
    region$results <- results
    region
  }, regions, leaves)
  node <- new_node("case", c(list(index), captured_by(regions)), lapply(leaves[[1L]], type_of), list(regions = regions))
  if (!silent && any(lengths(lapply(regions, function(region) region$effects)))) {
    record_effect(node)
  }
  node_values(node)
}

captured_by <- function(regions) unique_values(unlist(lapply(regions, region_captures), recursive = FALSE))

case_jvp <- function(node, tangents) {
  check_no_carried_token(node)
  captured <- node$inputs[-1L]
  inexact <- inexact_results(node)
  calls <- lapply(node$params$regions, function(region) {
    function() {
      roots <- lapply(captured, alias_of)
      results <- for_derivatives(function() replay_region(region, list(), captured, roots), roots)
      changes <- jvp_graph(results, roots, tangents[-1L])
      Map(or_zero, changes[inexact], results[inexact])
    }
  })
  changes <- vector("list", length(inexact))
  changes[inexact] <- case_node(calls, node$inputs[[1L]], silent = TRUE)
  changes
}

# Every branch keeps what its derivative needs, in results that the branches share: what a branch does not have is zero.
# To compute it again would run a branch twice, and what runs a branch's calls again would have to be as cheap as the
# rest; zeros cost memory only.
case_linearize <- function(node, moving) {
  check_no_carried_token(node)
  index <- node$inputs[[1L]]
  captured <- node$inputs[-1L]
  own <- seq_along(node$types)
  branches <- lapply(node$params$regions, function(region) {
    linear <- linearized(region, captured, moving[-1L])
    linear$kept <- residual_values(linear, function(value) !value@node$op %in% cheap)
    linear
  })
  types <- list()
  for (i in seq_along(branches)) {
    places <- integer()
    for (value in branches[[i]]$kept) {
      fits <- setdiff(which(vapply(types, same_type, NA, value)), places)
      if (!length(fits)) {
        types <- c(types, list(type_of(value)))
        fits <- length(types)
      }
      places <- c(places, fits[[1L]])
    }
    branches[[i]]$places <- places
  }
  keep_in_branches(node, branches, types)
  outputs <- node_values(node)
  has <- function(name) Reduce(`|`, lapply(branches, function(branch) !vapply(branch[[name]], is.null, NA)))
  sharing <- has("shares")
  pull <- function(given) {
    calls <- lapply(branches, function(branch) {
      function() {
        there <- !vapply(branch$cotangents, is.null, NA)
        cotangents <- Map(or_zero, given[there], branch$cotangents[there])
        shares <- Map(function(share, like) if (is.null(share)) filled(0, like) else share, branch$shares, captured)
        from <- c(branch$roots, branch$kept, branch$cotangents[there])
        to <- c(captured, outputs[length(own) + branch$places], cotangents)
        replay(shares[sharing], from, to, branch$first)
      }
    })
    shares <- vector("list", length(captured))
    if (any(sharing)) {
      shares[sharing] <- case_node(calls, index, silent = TRUE)
    }
    c(list(NULL), shares)
  }
  list(changing = has("cotangents"), pull = pull)
}

case_vmap <- function(node, inputs, mapped, size) {
  regions <- node$params$regions
  captured <- node$inputs[-1L]
  if (!mapped[[1L]]) {
    return(case_node(lapply(regions, function(region) {
      function() {
        batch <- batch_region(region, list(), logical(), captured, inputs[-1L], mapped[-1L], size)
        all_in_front(batch$values, batch$mapped, size)
      }
    }), inputs[[1L]]))
  }
  if (!all(vapply(regions, runs_anywhere, NA))) {
    return(hooks$batch_one_by_one(node, inputs, mapped, size))
  }
  last <- length(regions)
  index <- inputs[[1L]]
  results <- NULL
  for (i in rev(seq_along(regions))) {
    here <- if (i == last) (index < 0L) | (index >= last - 1L) else index == i - 1L
    outside <- Map(function(value, mapped) gated(here, in_front(value, mapped, size)), inputs[-1L], mapped[-1L])
    batch <- batch_region(regions[[i]], list(), logical(), captured, outside, rep(TRUE, length(outside)), size)
    values <- all_in_front(batch$values, batch$mapped, size)
    results <- if (is.null(results)) {
      values
    } else {
      Map(function(x, y) selected(repeated_along(here, x), x, y), values, results)
    }
  }
  results
}

primitive("case",
  text = function(node, operands, scope) {
    inner <- scope
    inner$indent <- paste0(scope$indent, "  ")
    regions <- lapply(node$params$regions, function(region) {
      lines <- region_lines(inner, region)
      c(lines, return_line(inner, vapply(region$results, value_name, "", scope = inner), region$results))
    })
    between <- rep(list(paste0(scope$indent, "}, {")), length(regions))
    between[[length(regions)]] <- sprintf(
      "%s}) : (%s) -> (%s)", scope$indent, mlir_type(node$inputs[[1L]]), toString(result_types(node))
    )
    c(sprintf("\"stablehlo.case\"(%s) ({", operands[[1L]]), unlist(Map(c, regions, between)))
  },
  jvp = case_jvp,
  transpose = transposed_by_linearize,
  vmap = case_vmap,
  # The branches with other values in place of what they take from outside
  rebind = function(node, inputs) {
    case_node(lapply(node$params$regions, function(region) {
      function() replay_region(region, list(), node$inputs[-1L], inputs[-1L])
    }), inputs[[1L]])
  },
  linearize = case_linearize,
  replication = function(node, given, known) {
    branches <- lapply(node$params$regions, function(region) {
      check_together(region, given[[1L]], "the branches of `hlo_cond()` or `hlo_case()`", "the condition", known)
      replication_of_results(region, list(), known)
    })
    lapply(seq_along(node$types), function(i) all_of(c(given[1L], lapply(branches, `[[`, i))))
  },
  export = function(node) {
    regions <- node$params$regions
    with_regions(node, list(), 1L, stats::setNames(regions, sprintf("branch%d", seq_along(regions))))
  },
  sparsity = function(node, given, sets, known) {
    live <- !vapply(given[-1L], is.null, NA)
    branches <- lapply(node$params$regions, function(region) {
      dependence <- region_dependence(region, node$inputs[-1L], live, known)
      composed_dependence(dependence, sets_in_a_row(given[-1L], dependence$sizes), sets)
    })
    do.call(Map, c(list(function(...) all_united(sets, list(...))), branches))
  }
)
