# What kind of program a text is, which says how it is compiled. Of many small computations, such as a loop of R's over
# scalars that was written out, XLA's compiler fuses each result with all that it is computed from, again in each of its
# users: that takes time which grows with the third power of the length of such a row, or faster. A module of nothing
# else has a name of its own, by which the compiler is told not to fuse; see src/rust/crates/pjrt/src/kind.rs, where
# the measurements are. Where it is longer it is in parts, too (trace-parts.R).

# Regions with fewer nodes, or with no row of so many, are compiled as all programs are. Values and gradients of single
# densities have 500 to 1,800 nodes and rows of 75 to 130; fused they compile in half the time and run in less.
least_long <- 512L
least_row <- 192L

# Regions of so many times as many small nodes are compiled without fusion whatever else there is, such as large arrays
# or loops of many turns, but with LLVM's optimisation. The gradient of a Kalman filter with 1,850 nodes takes 1 s to
# compile instead of 5; with 3,700 nodes it takes 1 s instead of 50, with 14,700 nodes 5 s instead of more memory than
# there is.
times_long <- 2L

# Elements of large arrays for which that is worth while: unfused they take two to six times as long at each run. Where
# there are more small nodes, so much more elements as compiling takes longer.
most_large <- 2^22

# Arrays of up to so many elements are small: nothing is gained by threads or by fused loops over them.
most_small <- 1024

# Elements of a matrix by which vectors are multiplied without LLVM's optimisation: with 300 rows and columns a product
# takes 12 us instead of 8 and 5 ms to compile instead of 15, with 700 it takes 65 to 150 us instead of 45.
most_of_matrix <- 2^17

# Nodes of a loop's body in such programs. XLA writes all that small loops compute as one piece of code, in which each
# node that is not fused is a loop: with some thousands LLVM takes minutes.
most_inner <- 256L

# Turns of a loop in a program of small nodes
most_turns <- 64

# Kinds of nodes at which XLA's optimiser has nothing to gain where their results are small
quick_kinds <- c(
  elementwise, "real", "imag", "abs", "complex", "convert", "bitcast_convert", "reshape", "broadcast_in_dim",
  "transpose", "concatenate", "dynamic_slice", "dynamic_update_slice", "pad", "slice", "constant", "iota", "reverse",
  "compare", "select"
)

# Programs of so many nodes, none of which has more elements, are compiled in two thirds of the time by XLA's older way
# of writing kernels, and are as quick.
least_many <- 512L
most_of_many <- 2^15

# Kinds of nodes in such programs, beside quick ones. Random numbers, which stand behind a barrier, are those of JAX to
# the last bit.
kinds_of_many <- c(
  "while", "scan", "case", "dot_general", "gather", "scatter_add", "scatter_max", "scatter_set", "sort",
  "reduce_add", "reduce_and", "reduce_max", "reduce_min", "reduce_multiply", "reduce_or", "cumulative_add",
  "cumulative_maximum", "cumulative_minimum", "cumulative_multiply", "extremum_places", "extremum_weights",
  "permute_rows", "triangular_solve", "custom_call", "alias", "linear", "chlo_acos", "chlo_acosh", "chlo_asin",
  "chlo_asinh", "chlo_atan", "chlo_atanh", "chlo_erf_inv"
)

# In that way what is read at other places is computed again for each of them, and so on: of what reads so there may be
# no more one after the other, where nothing between them has its results in memory.
elsewhere_kinds <- c("gather", "reverse", "permute_rows", "extremum_places", "extremum_weights")
most_elsewhere <- 4L

# What these give is in memory before anything reads it.
computed_kinds <- c("while", "scan", "case", "custom_call", "sort", "triangular_solve")

# Functions of complex numbers differ in their last bits, and those of 16 bits were not looked at.
real_dtypes <- c("pred", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f32", "f64")

# dtypes of which XLA compiles a single operation without fusion. Of the others (jaxlib 0.10.2) it takes a transposed
# array's elements in the order that they had before.
single_dtypes <- c("pred", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")

# Collects, while a program is written, whether a region of it is `long` and all of it is `small`. Of programs whose
# outermost region is even `longer`, with so many small nodes (`size`), also how many nodes the longest `inner` region
# has, how many elements are in `large` arrays, and whether all operations may be `single` ones.
new_kind <- function() {
  kind <- new.env(parent = emptyenv())
  kind$long <- FALSE
  kind$small <- TRUE
  kind$longer <- FALSE
  kind$size <- 0
  kind$inner <- 0L
  kind$large <- 0
  kind$single <- TRUE
  kind$regions <- list()
  kind
}

# The outermost region comes before those within it.
note_kind <- function(kind, nodes, is_outermost) {
  kind$regions <- c(kind$regions, list(nodes))
  small <- vapply(nodes, is_small_node, NA)
  weights <- small * vapply(nodes, compile_weight, 0)
  size <- sum(weights)
  kind$small <- kind$small && all(small)
  if (size >= least_long) {
    row <- longest_row(nodes, weights)
    kind$long <- kind$long || row >= least_row
    if (is_outermost && size >= times_long * least_long && row >= times_long * least_row) {
      kind$longer <- TRUE
      kind$size <- size
    }
  }
  if (kind$longer) {
    if (!is_outermost) kind$inner <- max(kind$inner, length(nodes))
    kind$large <- kind$large + sum(vapply(nodes[!small], node_elements, 0))
    kind$single <- kind$single && all(vapply(nodes, is_single_node, NA))
  }
}

node_elements <- function(node) sum(vapply(node$types, function(type) prod(type@shape), 0))

# Not where elements of another dtype may change their places: what has one dimension has them in one order.
is_single_node <- function(node) {
  keeps_places <- switch(node$op,
    transpose = FALSE,
    broadcast_in_dim = !is.unsorted(node$params$axes),
    "while" = , scan = , optimization_barrier = , reduce_add = TRUE,
    node$op %in% quick_kinds
  )
  is_single <- function(type) keeps_places || type@dtype %in% single_dtypes || length(type@shape) < 2L
  all(vapply(c(node$types, lapply(node$inputs, type_of)), is_single, NA))
}

is_small <- function(type) prod(type@shape) <= most_small && type@dtype %in% single_dtypes

all_small <- function(types) all(vapply(types, is_small, NA))

# Loops take as long as they take, but for those of a few turns, such as the one over the rows of a Hessian. Random
# numbers, which stand behind a barrier, are those of JAX to the last bit.
is_small_node <- function(node) {
  node$op == "constant" || all_small(node$types) && switch(node$op,
    "while" = , optimization_barrier = FALSE,
    scan = !node$params$counted && node$params$turns <= most_turns,
    dot_general = all(vapply(node$inputs, function(x) prod(x@shape) <= most_of_matrix, NA)),
    node$op %in% quick_kinds || all_small(node$inputs)
  )
}

# How many nodes there are in the longest row, in which each is computed from the one before it. What is wide instead,
# as a loop over elements that do not depend on one another, XLA fuses and compiles in less time than the single nodes.
# `ends` marks nodes at which rows end.
longest_row <- function(nodes, weights, ends = logical(length(nodes))) {
  ids <- node_ids(nodes)
  before <- min(ids) - 1
  row <- numeric(max(ids) - before)
  for (i in seq_along(nodes)) {
    longest <- 0
    for (value in nodes[[i]]$inputs) {
      at <- resolved(value)@node$id - before
      if (at > 0) longest <- max(longest, row[[at]])
    }
    if (!ends[[i]]) row[[ids[[i]] - before]] <- longest + weights[[i]]
  }
  max(row)
}

is_many <- function(regions) {
  if (sum(lengths(regions)) < least_many) {
    return(FALSE)
  }
  for (nodes in regions) {
    ops <- vapply(nodes, function(node) node$op, "")
    if (!all(ops %in% c(quick_kinds, kinds_of_many)) || !all_of_many(nodes)) {
      return(FALSE)
    }
    if (length(nodes) && longest_row(nodes, ops %in% elsewhere_kinds, ops %in% computed_kinds) > most_elsewhere) {
      return(FALSE)
    }
  }
  TRUE
}

# Whether all that nodes take and give is small enough
all_of_many <- function(nodes) {
  for (node in nodes) {
    for (type in c(node$types, node$inputs)) {
      if (prod(type@shape) > most_of_many || !type@dtype %in% real_dtypes) return(FALSE)
    }
  }
  TRUE
}

# As how many nodes one counts. The product of a matrix and a vector is a kernel of its own, with unrolled loops.
compile_weight <- function(node) {
  if (node$op == "dot_general" && !all_small(node$inputs)) 8 else 1
}

module_name <- function(kind, scope) {
  if (is.null(kind)) {
    return("@main")
  }
  unfused <- unfused_name(kind)
  if (!is.null(unfused)) {
    unfused
  } else if (!is_many(kind$regions)) {
    "@main"
  } else if (is_better_unfused(kind$regions, scope)) {
    "@xlaffi_rows"
  } else {
    "@xlaffi_many"
  }
}

# The name of a module that is compiled without fusion, else NULL
unfused_name <- function(kind) {
  if (kind$long && kind$small) {
    "@xlaffi_scalars"
  } else if (kind$longer && kind$single && kind$inner <= most_inner && kind$large <= large_beside(kind$size)) {
    "@xlaffi_rows"
  }
}

# Whether the outermost region is written in parts, which have no use where XLA puts them in their callers' place
is_in_parts <- function(kind) !is.null(kind) && kind$longer && !is.null(unfused_name(kind))

# Elements of large arrays that may stand beside so many small nodes
large_beside <- function(size) most_large * (size / (times_long * least_long))^3
