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
  bind("dynamic_slice", c(list(x), starts), x@dtype, sizes, list(sizes = sizes))
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

# Where a window lies along each axis, NULL where that is not known: XLA moves it back inside.
known_starts <- function(starts, shape, sizes, known) {
  Map(function(start, length, count) {
    start <- if (length == count) 0L else known(start)
    if (!is.null(start)) as.integer(max(0, min(as.double(start), length - count)))
  }, starts, shape, sizes)
}

primitive("dynamic_slice",
  text = signed_text(function(p) sprintf(", sizes = %s", sizes_text(p$sizes))),
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    starts <- node$inputs[-1L]
    whole <- dynamic_updated(filled(0, node$inputs[[1L]]), cotangents[[1L]], starts)
    c(list(whole), vector("list", length(starts)))
  },
  # Positions that differ from element to element are those of a gather, axis by axis.
  vmap = function(node, inputs, mapped, size) {
    sizes <- node$params$sizes
    x <- inputs[[1L]]
    here <- mapped[[1L]]
    for (axis in which(mapped[-1L])) {
      at <- window_positions(inputs[[axis + 1L]], node$inputs[[1L]]@shape[[axis]], sizes[[axis]])
      x <- batched_gather(list(x, at), c(here, TRUE), size, axis)
      here <- TRUE
    }
    zero <- constant(0L, "i32", integer(), "start")
    starts <- inputs[-1L]
    starts[mapped[-1L]] <- list(zero)
    list(dynamic_sliced(x, c(list(zero), starts), c(size, sizes)))
  },
  export = exported_params("sizes"),
  sparsity = function(node, given, sets, known) {
    whole <- node$inputs[[1L]]@shape
    sizes <- node$params$sizes
    starts <- known_starts(node$inputs[-1L], whole, sizes, known)
    ids <- given[[1L]]
    anywhere <- which(vapply(starts, is.null, NA))
    if (length(anywhere)) ids <- sets_spread(sets, ids, whole, anywhere)
    starts[anywhere] <- list(0L)
    list(ids[places(whole, Map(`+`, coordinates(sizes), starts), as.integer(prod(sizes)))])
  }
)

# The positions in a window of `count` along an axis of `length` elements, which XLA moves back inside.
window_positions <- function(start, length, count) {
  shape <- c(start@shape, count)
  limit <- function(op, x, by) bind(op, list(x, filled(by, x)), x@dtype, x@shape)
  start <- converted(limit("minimum", limit("maximum", start, 0L), length - count), "i32")
  parts <- list(broadcast(start, shape, seq_along(start@shape)), hlo_iota("i32", shape, length(shape)))
  bind("add", parts, "i32", shape)
}
