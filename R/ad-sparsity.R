# Which elements of values depend on which elements of others: so much of a derivative is known before numbers are.
#
# A primitive's rule `sparsity` is function(node, given, sets, known): `given` has for each input the sets of columns
# that its elements depend on, or NULL for none; it gives such sets for each result. `sets` is their table, see
# ad-sets.R; `known(value)` gives the numbers of a value as an array if they can be known while the program is written,
# NULL otherwise. A primitive without a rule takes all elements of its results to depend on all that its inputs depend
# on, as do custom calls. Only derivatives count: where a result steps, such as that of sign(), it depends on nothing.

# The sets of `outputs` where `roots` have the sets `given`
dependence_graph <- function(outputs, roots, given, sets, known) {
  passed_on(outputs, roots, given, program_edges, function(node, inputs) {
    results <- node_dependence(node, inputs, sets, known)
    results[!vapply(results, function(ids) any(ids != 0L), NA)] <- list(NULL)
    results
  })
}

node_dependence <- function(node, given, sets, known) {
  if (node$op %in% c("alias", "op")) {
    return(given)
  }
  inexact <- vapply(node$types, function(type) is_inexact(type@dtype), NA)
  if (!any(inexact)) {
    return(vector("list", length(node$types)))
  }
  rule <- node$params$sparsity
  if (is.null(rule)) rule <- primitive_rule(node$op, "sparsity")
  if (is.null(rule)) {
    note_opaque(node, given)
    rule <- all_on_all
  }
  results <- rule(node, given, sets, known)
  results[!inexact] <- list(NULL)
  results
}

# A sparse derivative may be fuller than it need be for this node: xla_program() says so.
note_opaque <- function(node, given) {
  counts <- c(max(vapply(node$types, function(type) prod(type@shape), 0)), max(lengths(given)))
  if (any(counts > 1)) {
    note <- sprintf("sparse derivative: each element of what %s gives is taken to depend on all of what it takes",
      node_title(node)
    )
    trace_state$opaque <- unique(c(trace_state$opaque, note))
  }
}

# Rules that several primitives share

all_on_all <- function(node, given, sets, known) {
  ids <- unique(unlist(given))
  all <- grouped_sets(sets, ids, rep(1L, length(ids)), 1L)
  lapply(node$types, function(type) rep(all, prod(type@shape)))
}

# A scalar among the operands, such as the logical value of a selection, is one of all elements.
by_element <- function(node, given, sets, known) {
  size <- prod(node$types[[1L]]@shape)
  list(all_united(sets, lapply(given, function(ids) if (length(ids) == 1L) rep(ids, size) else ids)))
}

no_dependence <- function(node, given, sets, known) vector("list", length(node$types))

# Of operands and results of the same axes, of which those that `axes` names are mixed
mixed_along <- function(axes) {
  function(node, given, sets, known) {
    shape <- node$inputs[[1L]]@shape
    list(sets_spread(sets, given[[1L]], shape, axes(node)))
  }
}

# The dependence of what a region gives on what it takes, inputs and captured values together: for each result the
# elements, as one table of sets. `live` marks the values that depend on anything, which come one after the other.
region_dependence <- function(region, captured, live, known) {
  roots <- c(region$params, captured)
  sizes <- vapply(roots, function(root) as.integer(prod(root@shape)), 0L)
  ends <- cumsum(sizes)
  sets <- new_sets(sum(sizes))
  given <- Map(function(end, size, live) if (live) end - size + seq_len(size), ends, sizes, live)
  results <- dependence_graph(region$results, roots, given, sets, known)
  results <- Map(function(ids, like) {
    ids <- if (is.null(ids)) integer(prod(like@shape)) else ids
    members_of(sets, ids)
  }, results, region$results)
  list(results = results, sizes = sizes)
}

# What the results of a region depend on where its roots have the sets `given`, all of them in a row
composed_dependence <- function(dependence, given, sets) {
  lapply(dependence$results, function(result) {
    owners <- rep.int(seq_along(result$sizes), result$sizes)
    grouped_sets(sets, given[result$members], owners, length(result$sizes))
  })
}

sets_in_a_row <- function(given, sizes) {
  unlist(Map(function(ids, size) if (is.null(ids)) integer(size) else ids, given, sizes))
}

# What is carried depends on what it depends on after any number of turns.
settled_dependence <- function(dependence, given, own, sets) {
  sizes <- dependence$sizes
  carry <- Map(function(ids, size) if (is.null(ids)) integer(size) else ids, given[own], sizes[own])
  repeat {
    turn <- composed_dependence(dependence, sets_in_a_row(c(carry, given[-own]), sizes), sets)
    after <- Map(function(a, b) united(sets, a, b), carry, turn[own])
    if (identical(unname(after), unname(carry))) {
      return(carry)
    }
    carry <- after
  }
}
