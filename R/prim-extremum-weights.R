# The weights of elements in the derivative of their extremum along axes: those that are the extremum share 1. XLA may
# compute elements twice, fused with the reduction and once more with the comparison to its result, and round them
# differently, as it contracts one of two products with their sum: then none of them equals the extremum. So only
# elements that are the same number wherever they are computed are compared with it, and all that equal it share. Of
# others one reduction finds the positions of the first and the last extremum, and these two share. What elements are
# computed from is known when a program is written, as batches and calls put computed values in place of arguments:
# `extremum_weights` is a primitive, and its text decides.

# Of NaN all weights are NaN.
extremum_weights <- function(x, extremum, axes, largest) {
  bind("extremum_weights", list(x, extremum), x@dtype, x@shape, list(axes = axes, largest = largest))
}

shared_by_all <- function(x, extremum, params) {
  axes <- params$axes
  over <- function(small) broadcast(small, x@shape, setdiff(seq_along(x@shape), axes))
  here <- converted(compared(x, over(extremum), "EQ", "=="), x@dtype)
  count <- hlo_sum(here, axes)
  here * over(filled(1, count) / count)
}

# A gradient takes up to 1.5 times as long as with comparisons where 1e6 numbers have one extremum and little else is
# computed, and 0.8 times for the extrema of 1e5 rows of ten (jaxlib 0.10.2, one core).
shared_by_ends <- function(x, extremum, params) {
  axes <- params$axes
  over <- function(small) broadcast(small, x@shape, setdiff(seq_along(x@shape), axes))
  ends <- extremum_places(x, axes, params$largest)
  places <- places_along(x@shape, axes)
  is_at <- function(end) converted(compared(places, over(end), "EQ", "=="), "i32")
  nan <- compared(extremum, extremum, "NE", "!=")
  half <- selected(nan, filled(NaN, extremum), filled(0.5, extremum))
  converted(bind("add", list(is_at(ends$first), is_at(ends$last)), "i32", x@shape), x@dtype) * over(half)
}

# Primitives that round nothing, or convert and round one number: their results are the same in every kernel.
exact_ops <- c(
  "abs", "alias", "and", "bitcast_convert", "broadcast_in_dim", "ceil", "compare", "complex", "concatenate", "convert",
  "cumulative_maximum", "cumulative_minimum", "dynamic_slice", "dynamic_update_slice", "floor", "gather", "imag",
  "maximum", "minimum", "negate", "not", "op", "optimization_barrier", "or", "pad", "permute_rows", "real",
  "reduce_max", "reduce_min", "reshape", "reverse", "round_nearest_even", "scatter_max", "scatter_set", "select",
  "sign", "slice", "transpose", "xor"
)

# Whether a value is the same numbers wherever a program computes it: arguments, constants, what XLA computes once as it
# fuses nothing into that, and what is made of all these by exact operations. Numbers in 16 bits or less XLA may compute
# in more. What loops and branches give and take does not count, as XLA takes the loop or the choice away where it knows
# of one turn or of one branch; so it does with sorting one element, and with gathering from one device.
is_same_everywhere <- function(value, scope) {
  is_exact <- function(node) {
    type <- node$types[[1L]]
    if (is_float(type@dtype) && !type@dtype %in% c("f32", "f64")) {
      return(node$op %in% setdiff(exact_ops, "convert"))
    }
    node$op %in% exact_ops || !is_inexact(type@dtype) && node$op %in% elementwise
  }
  is_source <- function(node) {
    switch(node$op,
      constant = , iota = , custom_call = , extremum_places = TRUE,
      parameter = node$id %in% scope$arguments,
      sort = node$types[[1L]]@shape[[rank_of(node$types[[1L]])]] > 1L,
      all_gather = node$params$group$size > 1L,
      FALSE
    )
  }
  nodes <- nodes_behind(list(value@node), function(node) if (is_exact(node)) program_edges(node) else list())
  all(vapply(nodes, function(node) is_exact(node) || is_source(node), NA))
}

# The text of what `f` computes from the operands of a node, written in its place.
written_out <- function(node, operands, scope, f) {
  region <- trace_region(function(params) do.call(f, params), lapply(node$inputs, type_of), silent = TRUE)
  name_parameters(scope, region$params, operands)
  lines <- region_lines(scope, region)
  list(names = value_name(region$results[[1L]], scope), lines = lines)
}

primitive("extremum_weights",
  text = function(node, operands, scope) {
    weights <- if (is_same_everywhere(node$inputs[[1L]], scope)) shared_by_all else shared_by_ends
    written_out(node, operands, scope, function(x, extremum) list(weights(x, extremum, node$params)))
  },
  jvp = function(node, tangents) list(NULL),
  vmap = function(node, inputs, mapped, size) {
    params <- node$params
    params$axes <- params$axes + 1L
    rebind_batch(node, all_in_front(inputs, mapped, size), size, params)
  },
  export = exported_params("axes", "largest"),
  sparsity = no_dependence
)
