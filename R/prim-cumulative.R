# Running sums, products and extrema along an axis, from its end with `reverse`. XLA makes a few passes over blocks of
# such a window.

cumulated <- function(op, x, axis, reverse = FALSE) {
  if (prod(x@shape) == 0 || x@shape[[axis]] == 1L) {
    return(x)
  }
  node <- paste0("cumulative_", op)
  bind(node, list(x, reduction_start(cumulative_reductions[[op]], x)), x@dtype, x@shape, list(
    axis = axis, reverse = reverse
  ))
}

cumulative_reductions <- c(
  add = "reduce_add", multiply = "reduce_multiply", maximum = "reduce_max", minimum = "reduce_min"
)

# One place on (or back), with `number` where there is none before.
shifted <- function(x, axis, number, back = FALSE) {
  if (prod(x@shape) == 0) {
    return(x)
  }
  shift <- integer(rank_of(x))
  shift[[axis]] <- if (back) -1L else 1L
  padded(x, constant(number, x@dtype, integer(), "number"), shift, -shift, 0L * shift)
}

primitive("cumulative_add",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    list(cumulated("add", cotangents[[1L]], node$params$axis, !node$params$reverse), NULL)
  }
)

# y_k = x_k y_(k-1): a recurrence for the tangents too, which zeros do not hinder.
primitive("cumulative_multiply", jvp = function(node, tangents) {
  p <- node$params
  before <- shifted(output(node), p$axis, 1, p$reverse)
  list(recurrence(node$inputs[[1L]], tangents[[1L]] * before, p$axis, p$reverse))
})

# y_k is x_k where that is beyond y_(k-1), which goes on otherwise; where both are equal each counts half.
cumulative_extremum <- function(direction) {
  function(node, tangents) {
    p <- node$params
    x <- node$inputs[[1L]]
    before <- shifted(output(node), p$axis, reduction_number(node), p$reverse)
    half <- selected(compared(x, before, "EQ", "=="), filled(0.5, x), filled(0, x))
    fresh <- selected(compared(x, before, direction, direction), filled(1, x), half)
    list(recurrence(1 - fresh, tangents[[1L]] * fresh, p$axis, p$reverse))
  }
}

reduction_number <- function(node) node$inputs[[2L]]@node$params$data

primitive("cumulative_maximum", jvp = cumulative_extremum("GT"))
primitive("cumulative_minimum", jvp = cumulative_extremum("LT"))

primitive(paste0("cumulative_", names(cumulative_reductions)),
  text = function(node, operands, scope) {
    p <- node$params
    shape <- node$types[[1L]]@shape
    scalar <- mlir_type(node$inputs[[2L]])
    at_axis <- function(number, others) paste(replace(rep(others, length(shape)), p$axis, number), collapse = ", ")
    before <- shape[[p$axis]] - 1L
    padding <- at_axis(if (p$reverse) sprintf("[0, %d]", before) else sprintf("[%d, 0]", before), "[0, 0]")
    c(
      sprintf("\"stablehlo.reduce_window\"(%s) ({", toString(operands)),
      sprintf("%s  ^bb0(%%x: %s, %%y: %s):", scope$indent, scalar, scalar),
      sprintf("%s  %%both = stablehlo.%s %%x, %%y : %s", scope$indent, sub("^cumulative_", "", node$op), scalar),
      sprintf("%s  stablehlo.return %%both : %s", scope$indent, scalar),
      sprintf(
        "%s}) {window_dimensions = array<i64: %s>, padding = dense<[%s]> : tensor<%dx2xi64>} : %s", scope$indent,
        at_axis(shape[[p$axis]], 1L), padding, length(shape), signature_text(node)
      )
    )
  },
  vmap = function(node, inputs, mapped, size) {
    list(cumulated(sub("^cumulative_", "", node$op), inputs[[1L]], node$params$axis + 1L, node$params$reverse))
  },
  export = exported_params("axis", "reverse"),
  sparsity = mixed_along(function(node) node$params$axis)
)
