#' @rdname hlo_shape
#' @export
hlo_dynamic_slice <- function(x, start, sizes) {
  x <- as_value(x, "x")
  sizes <- check_per_axis(sizes, "sizes", length(x@shape))
  if (any(sizes < 0L | sizes > x@shape)) {
    abort(sprintf("hlo_dynamic_slice: `sizes` %s do not fit into `x`, which is %s", shape_text(sizes), type_text(x)),
      op = "hlo_dynamic_slice", operand = "sizes"
    )
  }
  dynamic_sliced(x, check_starts(start, x), sizes)
}

# `starts` count from 0.
dynamic_sliced <- function(x, starts, sizes) {
  record("dynamic_slice", c(list(x), starts), x@dtype, sizes, list(sizes = sizes))
}

#' @rdname hlo_shape
#' @export
hlo_dynamic_update_slice <- function(x, update, start) {
  x <- as_value(x, "x")
  update <- as_value(update, "update", new_type(x@dtype, rep(1L, length(x@shape))))
  fits <- length(update@shape) == length(x@shape) && all(update@shape <= x@shape)
  if (update@dtype != x@dtype || !fits) {
    abort(
      sprintf(
        "hlo_dynamic_update_slice: `update` must be %s and fit into `x`, which is %s, not %s",
        x@dtype, type_text(x), type_text(update)
      ),
      op = "hlo_dynamic_update_slice", operand = "update"
    )
  }
  dynamic_updated(x, update, check_starts(start, x))
}

dynamic_updated <- function(x, update, starts) {
  record("dynamic_update_slice", c(list(x, update), starts), x@dtype, x@shape)
}

# Positions counted from 1 as scalar values counted from 0, of one dtype.
check_starts <- function(start, x, call = rlang::caller_env()) {
  start <- if (is_value(start)) list(start) else as.list(start)
  if (length(start) != length(x@shape)) {
    abort(sprintf("`start` must have %d positions, one per axis, not %d", length(x@shape), length(start)),
      operand = "start", call = call
    )
  }
  start <- lapply(start, function(position) {
    position <- as_value(position, "start", new_type("i32", integer()), call)
    if (!is_integer(position@dtype) || length(position) != 1L) {
      abort(sprintf("`start` must be scalar integers, not %s", type_text(position)), operand = "start", call = call)
    }
    converted(reshaped(position, integer()), "i32") - 1L
  })
}
