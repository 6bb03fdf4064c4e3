# Derivatives of functions of shape: all are linear.

# The same node applied to tangents. Those of the operands `which` may be missing and are then zero;
# the other operands stay.
same_on_tangents <- function(which = 1L) {
  function(node, tangents) {
    inputs <- node$inputs
    at <- if (identical(which, "all")) seq_along(inputs) else which
    inputs[at] <- Map(or_zero, tangents[at], inputs[at])
    type <- node$types[[1L]]
    list(bind(node$op, inputs, type@dtype, type@shape, node$params))
  }
}

zero_scalar <- function(like) constant(0, like@dtype, integer(), "number")

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
  fine <- is.numeric(axes) && !is.object(axes) && !anyNA(axes) &&
    all(axes == trunc(axes) & axes >= 1 & axes <= rank) && !anyDuplicated(axes)
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

# One whole number per axis.
check_per_axis <- function(x, name, rank, call = rlang::caller_env()) {
  if (!is.numeric(x) || is.object(x) || anyNA(x) || length(x) != rank || any(x != trunc(x)) ||
    any(abs(x) > .Machine$integer.max)) {
    abort(sprintf("`%s` must be %d whole numbers, one per axis, not %s", name, rank, values_text(x)),
      operand = name, call = call
    )
  }
  as.integer(x)
}

# All elements in R's order, the first axis running fastest, as a value of rank 1.
as_column <- function(x) reshaped(reversed_axes(x), flat_length(x@shape))

# The length of one axis with all elements. More than R's integers count stays a double, which no type takes.
flat_length <- function(shape) {
  count <- prod(shape)
  if (count <= .Machine$integer.max) as.integer(count) else count
}

# A value of rank 1 filled into the dimensions `dim` in R's order.
from_column <- function(x, dim) reversed_axes(reshaped(x, rev(as.integer(dim))))

# Where at most one axis has more than one element, rows and columns have one order.
reversed_axes <- function(x) {
  if (sum(x@shape != 1L) > 1L) transposed(x, rev(seq_along(x@shape))) else reshaped(x, rev(x@shape))
}
