# Along which axes of the mesh values differ from device to device, in the function of xla_shard_map(): what its
# arguments do is known, collectives make values equal, and all else differs as what it is computed from.
#
# A kind of node may have a rule `replication`: function(node, given, known), where `given` are the axes for each input
# and `known` has those of all values so far in a table, `axes`; it gives the axes for each result.

# The axes for each result of a region whose parameters differ along `given`.
replication_of_results <- function(region, given, known) {
  for (i in seq_along(region$params)) {
    set_of_value(known$axes, region$params[[i]], given[[i]])
  }
  for (node in region_nodes(region)) {
    if (node$op != "parameter") {
      set_of_results(known$axes, node, node_replication(node, known))
    }
  }
  lapply(region$results, replication_of, known)
}

# What comes from outside is the same everywhere.
replication_of <- function(value, known) {
  found <- of_value(known$axes, value)
  if (is.null(found)) character() else found
}

node_replication <- function(node, known) {
  given <- lapply(program_edges(node), replication_of, known)
  if (node$op == "op") {
    return(given)
  }
  rule <- primitive_rule(node$op, "replication")
  if (is.null(rule)) rep(list(all_of(given)), length(node$types)) else rule(node, given, known)
}

all_of <- function(sets) unique(unlist(c(list(character()), sets)))

# The mesh that `known` belongs to
mesh_axes <- function(known) known$mesh

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
  if (is.null(known$call)) {
    return(invisible())
  }
  joined <- intersect(collective_axes(region, mesh_axes(known)), varying)
  if (length(joined)) {
    abort(
      sprintf(
        "xla_shard_map: a collective over axis %s stands in %s, but %s may differ along this axis",
        quoted(joined[[1L]]), where, what
      ),
      op = "xla_shard_map", operand = "f", call = known$call, hint = c(
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
