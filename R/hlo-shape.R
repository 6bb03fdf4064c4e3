#' Functions of shape
#'
#' @details
#' Axes are counted from 1. Elements are ordered as in StableHLO, by rows, when a value is
#' reshaped: the last axis runs fastest.
#'
#' `hlo_broadcast()` makes axis `i` of `x` axis `axes[i]` of the result; an axis of length 1 is
#' repeated, and so is all along the other axes. `hlo_transpose()` is [aperm()]. `hlo_t()`
#' exchanges the last two axes. `hlo_slice()` takes elements `start` to `end`, both included,
#' in steps of `step`. `hlo_pad()` adds `low` and `high` elements before and after (negative
#' numbers cut), and `interior` between two. `hlo_dynamic_slice()` takes `sizes` elements from the
#' position `start` on, which are values; `hlo_dynamic_update_slice()` replaces them by those of
#' `update`. As in StableHLO, a start from which too few elements follow is moved back.
#'
#' @param x,update A [value][xlaffi_value].
#' @param shape The new dimensions.
#' @param axes For each axis of `x`, the axis of the result; none for a scalar.
#' @param permutation The axes of `x` in their new order.
#' @param axis An axis.
#' @param start,end,step For each axis, from where to where (both included), in which steps. For
#'   the dynamic ones, `start` is a list of scalar integer values or numbers, counted from 1.
#' @param low,high,interior For each axis, how many elements to add before, after and between.
#' @param value What is added: a scalar.
#' @param sizes For each axis, how many elements.
#' @param ... Values that differ along `axis` only.
#' @return A value.
#' @section Errors:
#' Shapes, axes and places that do not fit `x` are an error that shows its type; places that are values
#' (`hlo_dynamic_slice()`) are not checked, but moved. Any dtype will do.
#'
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(x) hlo_concatenate(x, hlo_reverse(x, 1), axis = 1))
#' f(matrix(1:4, 2))
#' xla_jit(function(x) hlo_broadcast(x, c(3, 2), axes = 1))(c(1, 2, 3))
#' x <- matrix(1:6, 2)
#' xla_jit(function(x) hlo_reshape(x, c(3, 2)))(x) # row by row
#' xla_jit(function(x) hlo_transpose(x))(x)
#' xla_jit(function(x) hlo_slice(x, start = c(1, 1), end = c(2, 3), step = c(1, 2)))(x)
#' xla_jit(function(x) hlo_pad(x, 0L, low = c(1, 0)))(x)
#' # A place that is known when the program runs
#' xla_jit(function(x, i) hlo_dynamic_slice(x, list(1L, i), c(2, 1)))(x, 3L)
#' xla_jit(function(x, i) hlo_dynamic_update_slice(x, matrix(0L, 2, 1), list(1L, i)))(x, 3L)
#' @name hlo_shape
NULL

# Axes counted from 1, each once.
check_axes <- function(axes, name, rank, count = NULL, call = rlang::caller_env()) {
  fine <- is.numeric(axes) && !anyNA(axes) && all(axes == trunc(axes) & axes >= 1 & axes <= rank) &&
    !anyDuplicated(axes)
  if (is.null(axes)) {
    fine <- TRUE
    axes <- integer()
  }
  if (!fine || (!is.null(count) && length(axes) != count)) {
    number <- if (is.null(count)) "" else sprintf("%d ", count)
    abort(
      sprintf("`%s` must be %sdifferent axes from 1 to %d, not %s", name, number, rank, values_text(axes)),
      operand = name, call = call
    )
  }
  as.integer(axes)
}

values_text <- function(x) if (is.numeric(x) && length(x) <= 8L) sprintf("(%s)", toString(x)) else describe(x)

# One whole number per axis.
check_per_axis <- function(x, name, rank, call = rlang::caller_env()) {
  if (!is.numeric(x) || anyNA(x) || length(x) != rank || any(x != trunc(x)) ||
    any(abs(x) > .Machine$integer.max)) {
    abort(sprintf("`%s` must be %d whole numbers, one per axis, not %s", name, rank, values_text(x)),
      operand = name, call = call
    )
  }
  as.integer(x)
}

#' @rdname hlo_shape
#' @export
hlo_broadcast <- function(x, shape, axes = seq_along(shape(x))) {
  x <- as_value(x, "x")
  shape <- check_shape(shape, "shape")
  axes <- check_axes(axes, "axes", length(shape), length(x@shape))
  if (!all(x@shape == 1L | x@shape == shape[axes])) {
    abort(
      sprintf(
        "hlo_broadcast: axes (%s) of `shape` %s must be 1 or as in `x`, which is %s",
        toString(axes), shape_text(shape), type_text(x)
      ),
      op = "hlo_broadcast", operand = "shape"
    )
  }
  broadcast(x, shape, axes)
}

broadcast <- function(x, shape, axes) {
  if (identical(x@shape, shape) && identical(axes, seq_along(shape))) {
    return(x)
  }
  record("broadcast_in_dim", list(x), x@dtype, shape, list(axes = axes))
}

#' @rdname hlo_shape
#' @export
hlo_reshape <- function(x, shape) {
  x <- as_value(x, "x")
  shape <- check_shape(shape, "shape")
  if (prod(shape) != length(x)) {
    abort(
      sprintf(
        "hlo_reshape: `shape` %s has %.0f elements, but `x` is %s",
        shape_text(shape), prod(shape), type_text(x)
      ),
      op = "hlo_reshape", operand = "shape"
    )
  }
  reshaped(x, shape)
}

reshaped <- function(x, shape) {
  if (identical(x@shape, shape)) x else record("reshape", list(x), x@dtype, shape)
}

# All elements in R's order, the first axis running fastest, as a value of rank 1.
as_column <- function(x) reshaped(reversed_axes(x), as.integer(prod(x@shape)))

# A value of rank 1 filled into the dimensions `dim` in R's order.
from_column <- function(x, dim) reversed_axes(reshaped(x, rev(as.integer(dim))))

# Where at most one axis has more than one element, rows and columns have one order.
reversed_axes <- function(x) {
  if (sum(x@shape != 1L) > 1L) transposed(x, rev(seq_along(x@shape))) else reshaped(x, rev(x@shape))
}

#' @rdname hlo_shape
#' @export
hlo_transpose <- function(x, permutation = rev(seq_along(shape(x)))) {
  x <- as_value(x, "x")
  permutation <- check_axes(permutation, "permutation", length(x@shape), length(x@shape))
  transposed(x, permutation)
}

transposed <- function(x, permutation) {
  if (identical(permutation, seq_along(x@shape))) {
    return(x)
  }
  record("transpose", list(x), x@dtype, x@shape[permutation], list(permutation = permutation))
}

#' @rdname hlo_shape
#' @export
hlo_t <- function(x) {
  x <- as_value(x, "x")
  rank <- length(x@shape)
  if (rank < 2L) {
    abort(sprintf("hlo_t: `x` must have 2 or more axes, not %s", type_text(x)), op = "hlo_t", operand = "x")
  }
  transposed(x, c(seq_len(rank - 2L), rank, rank - 1L))
}

#' @rdname hlo_shape
#' @export
hlo_reverse <- function(x, axes) {
  x <- as_value(x, "x")
  axes <- check_axes(axes, "axes", length(x@shape))
  record("reverse", list(x), x@dtype, x@shape, list(axes = axes))
}

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

sliced <- function(x, start, end, step = rep(1L, length(start))) {
  shape <- (end - start + step) %/% step
  if (identical(shape, x@shape)) {
    return(x)
  }
  record("slice", list(x), x@dtype, shape, list(start = start, end = end, step = step))
}

#' @rdname hlo_shape
#' @export
hlo_pad <- function(x, value = 0, low = rep(0, length(shape(x))), high = low * 0, interior = low * 0) {
  x <- as_value(x, "x")
  value <- as_value(value, "value", new_type(x@dtype, integer()))
  if (value@dtype != x@dtype || length(value) != 1L) {
    abort(sprintf("hlo_pad: `value` must be one %s, not %s", x@dtype, type_text(value)),
      op = "hlo_pad", operand = "value"
    )
  }
  rank <- length(x@shape)
  low <- check_per_axis(low, "low", rank)
  high <- check_per_axis(high, "high", rank)
  interior <- check_per_axis(interior, "interior", rank)
  if (any(interior < 0L) || any(padded_shape(x@shape, low, high, interior) < 0L)) {
    abort(
      sprintf(
        "hlo_pad: `low` %s, `high` %s and `interior` %s leave nothing of `x`, which is %s",
        shape_text(low), shape_text(high), shape_text(interior), type_text(x)
      ),
      op = "hlo_pad", operand = "low"
    )
  }
  padded(x, reshaped(value, integer()), low, high, interior)
}

padded_shape <- function(shape, low, high, interior) {
  # In doubles: sums of integers end at 2^31.
  as.double(shape) + low + high + pmax(shape - 1, 0) * interior
}

padded <- function(x, value, low, high, interior) {
  if (all(low == 0L, high == 0L, interior == 0L)) {
    return(x)
  }
  shape <- padded_shape(x@shape, low, high, interior)
  record("pad", list(x, value), x@dtype, shape, list(low = low, high = high, interior = interior))
}

#' @rdname hlo_shape
#' @export
hlo_concatenate <- function(..., axis = 1) concatenated(list(...), axis, environment())

concatenated <- function(parts, axis, call) {
  if (!length(parts)) {
    abort("hlo_concatenate: nothing to concatenate", op = "hlo_concatenate", operand = "...", call = call)
  }
  first <- Find(is_value, parts)
  parts <- lapply(parts, as_value, "...", if (!is.null(first)) new_type(first@dtype, 1L), call)
  first <- parts[[1L]]
  axis <- check_axes(axis, "axis", length(first@shape), 1L, call)
  for (part in parts) {
    if (part@dtype != first@dtype || !identical(part@shape[-axis], first@shape[-axis])) {
      abort(
        sprintf(
          "hlo_concatenate: all must be as the first, %s, but for axis %d; one is %s",
          type_text(first), axis, type_text(part)
        ),
        op = "hlo_concatenate", operand = "...", call = call
      )
    }
  }
  if (length(parts) == 1L) {
    return(first)
  }
  shape <- first@shape
  shape[[axis]] <- sum(vapply(parts, function(part) as.double(part@shape[[axis]]), 0))
  record("concatenate", parts, first@dtype, shape, list(axis = axis))
}
