#' @rdname hlo_shape
#' @export
hlo_dynamic_slice <- function(x, start, sizes) {
  x <- as_value(x, "x")
  sizes <- check_per_axis(sizes, "sizes", length(x$shape))
  if (any(sizes < 0L | sizes > x$shape)) {
    abort(sprintf("hlo_dynamic_slice: `sizes` %s do not fit into `x`, which is %s", shape_text(sizes), type_text(x)),
      op = "hlo_dynamic_slice", operand = "sizes"
    )
  }
  dynamic_sliced(x, check_starts(start, x), sizes)
}

# `starts` count from 0.
dynamic_sliced <- function(x, starts, sizes) {
  record("dynamic_slice", c(list(x), starts), x$dtype, sizes, list(sizes = sizes))
}

#' @rdname hlo_shape
#' @export
hlo_dynamic_update_slice <- function(x, update, start) {
  x <- as_value(x, "x")
  update <- as_value(update, "update", new_type(x$dtype, rep(1L, length(x$shape))))
  fits <- length(update$shape) == length(x$shape) && all(update$shape <= x$shape)
  if (update$dtype != x$dtype || !fits) {
    abort(
      sprintf(
        "hlo_dynamic_update_slice: `update` must be %s and fit into `x`, which is %s, not %s",
        x$dtype, type_text(x), type_text(update)
      ),
      op = "hlo_dynamic_update_slice", operand = "update"
    )
  }
  dynamic_updated(x, update, check_starts(start, x))
}

dynamic_updated <- function(x, update, starts) {
  record("dynamic_update_slice", c(list(x, update), starts), x$dtype, x$shape)
}

# Positions counted from 1 as scalar values counted from 0, of one dtype.
check_starts <- function(start, x, call = rlang::caller_env()) {
  start <- if (is_value(start)) list(start) else as.list(start)
  if (length(start) != length(x$shape)) {
    abort(sprintf("`start` must have %d positions, one per axis, not %d", length(x$shape), length(start)),
      operand = "start", call = call
    )
  }
  start <- lapply(start, function(position) {
    position <- as_value(position, "start", new_type("i32", integer()), call)
    if (!is_integer(position$dtype) || length(position) != 1L) {
      abort(sprintf("`start` must be scalar integers, not %s", type_text(position)), operand = "start", call = call)
    }
    converted(reshaped(position, integer()), "i32") - 1L
  })
}

#' @export
`[.xlaffi_value` <- function(x, ..., drop = TRUE) {
  call <- rlang::caller_env()
  given <- eval(substitute(alist(...)))
  rank <- length(x$shape)
  if (length(given) != rank) {
    abort(
      sprintf("`x[...]` needs %d indices for a value of shape %s, not %d", rank, shape_text(x$shape), length(given)),
      operand = "...", call = call
    )
  }
  dropped <- logical(rank)
  start <- rep(1L, rank)
  end <- x$shape
  step <- rep(1L, rank)
  moving <- list()
  for (axis in seq_len(rank)) {
    if (identical(given[[axis]], rlang::missing_arg())) {
      next
    }
    index <- ...elt(axis)
    dropped[[axis]] <- drop && length(index) == 1L
    if (is_value(index)) {
      moving[[as.character(axis)]] <- index
      next
    }
    range <- index_range(index, x$shape[[axis]], axis, call)
    start[[axis]] <- range[[1L]]
    end[[axis]] <- range[[2L]]
    step[[axis]] <- range[[3L]]
  }
  y <- sliced(x, start, end, step)
  if (length(moving)) {
    axes <- as.integer(names(moving))
    at <- rep(list(1L), rank)
    at[axes] <- moving
    sizes <- y$shape
    sizes[axes] <- 1L
    y <- dynamic_sliced(y, check_starts(at, y, call), sizes)
  }
  reshaped(y, y$shape[!dropped])
}

# First, last and step of indices that are a range.
index_range <- function(index, size, axis, call) {
  fine <- is.numeric(index) && length(index) && !anyNA(index) && all(index >= 1 & index <= size & index == trunc(index))
  step <- if (length(index) > 1L) index[[2L]] - index[[1L]] else 1
  if (!fine || step < 1 || any(diff(index) != step)) {
    abort(
      sprintf(
        "index %d must be increasing positions from 1 to %d in equal steps, not %s", axis, size, values_text(index)
      ),
      operand = "...", call = call
    )
  }
  as.integer(c(index[[1L]], index[[length(index)]], step))
}
