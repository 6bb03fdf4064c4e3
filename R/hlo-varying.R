# Along which axes of the mesh values differ from device to device, in the function of xla_shard_map(): what its
# arguments do is known, collectives make values equal, and all else differs as what it is computed from.
#
# A kind of node may have a rule `varying`: function(node, given, known), where `given` are the axes for each input and
# `known` holds those of all values so far; it gives the axes for each result.

# The axes for each result of a region whose parameters differ along `given`.
varying_results <- function(region, given, known) {
  for (i in seq_along(region$params)) {
    known[[value_key(region$params[[i]])]] <- given[[i]]
  }
  for (node in region_nodes(region)) {
    if (node$op != "parameter") {
      axes <- node_varying(node, known)
      for (i in seq_along(axes)) {
        known[[paste0(node$id, ":", i)]] <- axes[[i]]
      }
    }
  }
  lapply(region$results, varying_of, known)
}

# What comes from outside is the same everywhere.
varying_of <- function(value, known) {
  found <- known[[value_key(value)]]
  if (is.null(found)) character() else found
}

node_varying <- function(node, known) {
  given <- lapply(program_edges(node), varying_of, known)
  if (node$op == "op") {
    return(given)
  }
  rule <- primitive_rule(node$op, "varying")
  if (is.null(rule)) rep(list(all_of(given)), length(node$types)) else rule(node, given, known)
}

all_of <- function(sets) unique(unlist(c(list(character()), sets)))

# The mesh that `known` belongs to
mesh_axes <- function(known) known[["mesh"]]

primitive(c("all_reduce", "all_gather"), varying = function(node, given, known) {
  # What is the same along an axis need not be asked for there; all_reduce_text() looks at this.
  node$spared <- setdiff(node$params$group$axes, given[[1L]])
  list(setdiff(given[[1L]], node$params$group$axes))
})

primitive(c("reduce_scatter", "all_to_all", "collective_permute"), varying = function(node, given, known) {
  list(union(given[[1L]], intersect(node$params$group$axes, mesh_axes(known))))
})

primitive("axis_index", varying = function(node, given, known) {
  list(intersect(node$params$group$axes, mesh_axes(known)))
})

primitive("optimization_barrier", varying = function(node, given, known) given)

# What acts may find something else on each device.
primitive("custom_call", varying = function(node, given, known) {
  rep(list(if (node$params$has_side_effect) mesh_axes(known) else all_of(given)), length(node$types))
})

primitive("case", varying = function(node, given, known) {
  branches <- lapply(node$params$regions, function(region) {
    check_together(region, given[[1L]], "the branches of `hlo_cond()` or `hlo_case()`", "the condition", known)
    varying_results(region, list(), known)
  })
  lapply(seq_along(node$types), function(i) all_of(c(given[1L], lapply(branches, `[[`, i))))
})

primitive("while", varying = function(node, given, known) {
  regions <- node$params$regions
  own <- seq_along(node$types)
  test <- function(carry) varying_results(regions[[1L]], carry, known)[[1L]]
  carry <- settled_carry(given[own], function(carry) {
    stop <- test(carry)
    lapply(varying_results(regions[[2L]], carry, known), union, stop)
  })
  for (region in regions) {
    check_together(region, test(carry), "`hlo_while()`", "its condition", known)
  }
  carry
})

primitive("scan", varying = function(node, given, known) {
  p <- node$params
  parts <- scan_inputs(node, given)
  own <- seq_len(p$carry)
  count <- all_of(list(parts$count))
  stop <- count
  turn <- function(carry) {
    if (!is.null(p$stop)) {
      stop <<- union(count, varying_results(p$stop, carry, known)[[1L]])
    }
    lapply(varying_results(p$region, c(carry, parts$slices), known), union, stop)
  }
  carry <- settled_carry(parts$start, function(carry) turn(carry)[own])
  results <- turn(carry)
  for (region in c(list(p$region), if (!is.null(p$stop)) list(p$stop))) {
    check_together(region, stop, "a loop", "the number of turns", known)
  }
  c(carry, beyond(results, p$carry))
})

# What is carried differs along the axes of all turns.
settled_carry <- function(carry, turn) {
  repeat {
    before <- carry
    carry <- Map(union, carry, turn(carry))
    if (identical(lengths(carry), lengths(before))) {
      return(carry)
    }
  }
}

# Devices that do not come to a collective let the others wait for ever.
check_together <- function(region, varying, where, what, known) {
  if (is.null(known[["call"]])) {
    return(invisible())
  }
  joined <- intersect(collective_axes(region, mesh_axes(known)), varying)
  if (length(joined)) {
    abort(
      sprintf(
        "xla_shard_map: a collective over axis %s stands in %s, but %s may differ along this axis",
        quoted(joined[[1L]]), where, what
      ),
      op = "xla_shard_map", operand = "f", call = known[["call"]], hint = c(
        "Devices that do not come to a collective let the others wait for ever.",
        "`hlo_pmax()` or `hlo_psum()` of what decides is the same on all devices."
      )
    )
  }
}

# Kinds of nodes at which devices wait for one another
collectives <- c("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute")

# The axes of the collectives in a region. Of a permutation all devices take part.
collective_axes <- function(region, all) {
  all_of(lapply(region_nodes(region), function(node) {
    if (node$op == "collective_permute") {
      all
    } else if (node$op %in% collectives) {
      node$params$group$axes
    } else {
      lapply(inner_regions(node), collective_axes, all)
    }
  }))
}
