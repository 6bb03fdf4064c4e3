# What kind of program a text is, which says how it is compiled. Of many small computations, such as a loop of R's over
# scalars that was written out, XLA's compiler fuses each result with all that it is computed from, again in each of its
# users: that takes time which grows with the third power of the length of such a row, or faster. A module of nothing
# else has a name of its own, by which the compiler is told not to fuse; see src/rust/crates/pjrt/src/kind.rs, where
# the measurements are. (Functions in the text that the compiler is told to leave apart are quicker still to compile,
# but XLA ends the process where one of their arguments turns out to be a constant.)

# Regions with fewer nodes are compiled as all programs are.
least_long <- 512L

# Arrays of up to so many elements are small: nothing is gained by threads or by fused loops over them.
most_small <- 1024

# Kinds of nodes at which XLA's optimiser has nothing to gain where their results are small
quick_kinds <- c(
  elementwise, "real", "imag", "abs", "complex", "convert", "bitcast_convert", "reshape", "broadcast_in_dim",
  "transpose", "concatenate", "dynamic_slice", "dynamic_update_slice", "pad", "slice", "constant", "iota", "reverse",
  "compare", "select"
)

# dtypes of which XLA compiles a single operation without fusion. Of the others (jaxlib 0.10.2) it takes a transposed
# array's elements in the order that they had before.
single_dtypes <- c("pred", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")

# Collects, while a program is written, whether a region of it is `long` and all of it is `small`.
new_kind <- function() {
  kind <- new.env(parent = emptyenv())
  kind$long <- FALSE
  kind$small <- TRUE
  kind
}

note_kind <- function(kind, nodes) {
  kind$long <- kind$long || length(nodes) >= least_long
  kind$small <- kind$small && all(vapply(nodes, is_small_node, NA))
}

is_small <- function(type) prod(type@shape) <= most_small && type@dtype %in% single_dtypes

# Loops take as long as they take, and random numbers, which stand behind a barrier, are those of JAX to the last bit.
is_small_node <- function(node) {
  all(vapply(node$types, is_small, NA)) && (node$op %in% quick_kinds || (
    !node$op %in% c("while", "scan", "optimization_barrier") && all(vapply(node$inputs, is_small, NA))
  ))
}

module_name <- function(kind) if (!is.null(kind) && kind$long && kind$small) "@xlaffi_scalars" else "@main"
