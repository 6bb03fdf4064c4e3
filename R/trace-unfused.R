# How much XLA's fusion writes again. What is quick to compute it writes into each kernel that takes it, with all that
# this is computed from: the second derivatives of a mixture of densities, 3,700 operations, had kernels of 57,000.
# Without fusion they compile in half the time and run in the same, if their arrays are as small as these.

# From so many times as many operations on a program is compiled without fusion, if it has so many at least and no array
# has more elements. Milliseconds of CPU time that compiling took for an operation: 0.28 for each time that it is
# written, or 1.8 as a kernel of its own.
times_written <- 8
least_written <- 1024L
most_unfused <- 4096

# Kinds of nodes that XLA takes for slow, of which a result that is used twice is in memory
slow_kinds <- c(
  "sqrt", "rsqrt", "exponential", "exponential_minus_one", "log", "log_plus_one", "sine", "cosine", "tanh", "logistic",
  "divide", "power", "atan2", "remainder", "reduce_add", "reduce_max", "reduce_min"
)

fused_kinds <- c(setdiff(quick_kinds, c(slow_kinds, "constant", "dynamic_update_slice")), "gather")

# `regions` are those of a program, the outermost first; `scope` has the names that its nodes are written under.
is_better_unfused <- function(regions, scope) {
  nodes <- regions[[1L]]
  if (length(nodes) < least_written || any(lengths(regions[-1L]) > most_inner)) {
    return(FALSE)
  }
  is_small <- function(node) all(vapply(node$types, function(type) prod(type@shape) <= most_unfused, NA))
  inside <- unlist(regions, recursive = FALSE)
  all(vapply(inside, is_small, NA)) && all(vapply(inside, is_single_node, NA)) && is_written_again(nodes, scope)
}

is_written_again <- function(nodes, scope) {
  # Equal nodes have one name; what has no results has none.
  name_of <- function(node) sub("#.*", "", c(of_node(scope$names, node), "")[[1L]])
  names <- vapply(nodes, name_of, "")
  nodes <- nodes[!duplicated(names)]
  names <- unique(names)
  inputs <- lapply(nodes, function(node) {
    at <- match(vapply(node$inputs, function(value) name_of(resolved(value)@node), ""), names, 0L)
    unique(at[at > 0L])
  })
  ops <- vapply(nodes, function(node) node$op, "")
  uses <- tabulate(unlist(inputs), length(nodes))
  is_fused <- ops %in% fused_kinds | (ops %in% slow_kinds & uses == 1L)
  inputs <- lapply(inputs, function(at) at[is_fused[at]])
  written <- 0
  seen <- integer(length(nodes))
  for (root in which(!is_fused | uses == 0L)) {
    waiting <- root
    while (length(waiting)) {
      written <- written + length(waiting)
      waiting <- unique(unlist(inputs[waiting]))
      waiting <- waiting[seen[waiting] != root]
      seen[waiting] <- root
    }
    if (written > times_written * length(nodes)) {
      return(TRUE)
    }
  }
  FALSE
}
