# `slice`: from, to and by which step along each axis.

#' @rdname hlo_shape
#' @export
hlo_slice <- function(x, start, end, step = rep(1, length(start))) {
  x <- as_value(x, "x")
  rank <- length(x@shape)
  start <- check_per_axis(start, "start", rank)
  end <- check_per_axis(end, "end", rank)
  step <- check_per_axis(step, "step", rank)
  if (any(start < 1L | end > x@shape | end < start - 1L | step < 1L)) {
    abort(
      sprintf(
        "hlo_slice: %s to %s in steps of %s does not lie within `x`, which is %s",
        shape_text(start), shape_text(end), shape_text(step), type_text(x)
      ),
      op = "hlo_slice", operand = "start"
    )
  }
  sliced(x, start, end, step)
}

# The i-th row, the i-th part along the first axis, without that axis
row_of <- function(x, i) {
  rest <- x@shape[-1L]
  reshaped(sliced(x, c(i, rep(1L, length(rest))), c(i, rest)), rest)
}

sliced <- function(x, start, end, step = rep(1L, length(start))) {
  shape <- (end - start + step) %/% step
  if (identical(shape, x@shape)) {
    return(x)
  }
  if (x@node$op == "dynamic_update_slice" && all(shape > 0L)) {
    window <- before_updates(x, start, end)
    if (!identical(window$x, x)) {
      return(labelled(sliced(window$x, window$start, window$end, step), NULL))
    }
  }
  if (x@node$op == "slice") {
    # A part of a part
    p <- x@node$params
    start <- p$start + (start - 1L) * p$step
    step <- step * p$step
    end <- start + pmax(shape - 1L, 0L) * step - (shape == 0L)
    return(sliced(x@node$inputs[[1L]], start, end, step))
  }
  bind("slice", list(x), x@dtype, shape, list(start = start, end = end, step = step))
}

primitive("slice",
  text = signed_text(function(p) {
    sprintf(" [%s]", paste(sprintf("%d:%d:%d", p$start - 1L, p$end, p$step), collapse = ", "))
  }),
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    p <- node$params
    given <- cotangents[[1L]]
    if (length(given) == 0L) {
      return(list(filled(0, node$inputs[[1L]])))
    }
    last <- p$start + (given@shape - 1L) * p$step
    high <- node$inputs[[1L]]@shape - last
    list(padded(given, zero_scalar(given), p$start - 1L, high, p$step - 1L))
  },
  vmap = function(node, inputs, mapped, size) {
    p <- node$params
    list(sliced(inputs[[1L]], c(1L, p$start), c(size, p$end), c(1L, p$step)))
  },
  export = exported_params("start", "end", "step"),
  sparsity = function(node, given, sets, known) {
    p <- node$params
    at <- Map(function(x, start, step) start - 1L + x * step, coordinates(node$types[[1L]]@shape), p$start, p$step)
    list(given[[1L]][places(node$inputs[[1L]]@shape, at)])
  }
)
