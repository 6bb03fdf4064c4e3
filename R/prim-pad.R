# `pad`: a number in front, behind and between the elements along each axis.

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
  bind("pad", list(x, value), x@dtype, shape, list(low = low, high = high, interior = interior))
}

primitive("pad",
  text = signed_text(function(p) {
    sprintf(
      ", low = %s, high = %s, interior = %s", sizes_text(p$low), sizes_text(p$high), sizes_text(p$interior)
    )
  }),
  # Every element of the result comes from the operand or is the number that fills.
  jvp = same_on_tangents(1:2),
  transpose = function(node, cotangents, linear) {
    p <- node$params
    given <- cotangents[[1L]]
    shape <- node$inputs[[1L]]@shape
    framed <- padded(given, zero_scalar(given), -p$low, -p$high, 0L * p$low)
    own <- sliced(framed, rep(1L, length(shape)), framed@shape, p$interior + 1L)
    list(if (linear[[1L]]) own, if (linear[[2L]]) sum(given) - sum(own))
  },
  vmap = function(node, inputs, mapped, size) {
    if (mapped[[2L]]) {
      return(hooks$batch_one_by_one(node, inputs, mapped, size))
    }
    rebind_batch(node, inputs, size, lapply(node$params, function(counts) c(0L, counts)))
  },
  export = exported_params("low", "high", "interior"),
  sparsity = function(node, given, sets, known) {
    p <- node$params
    shape <- node$types[[1L]]@shape
    count <- as.integer(prod(shape))
    result <- rep(if (is.null(given[[2L]])) 0L else given[[2L]], count)
    own <- if (is.null(given[[1L]])) integer(prod(node$inputs[[1L]]@shape)) else given[[1L]]
    place <- function(x, low, interior) low + x * (interior + 1L)
    at <- Map(place, coordinates(node$inputs[[1L]]@shape), p$low, p$interior)
    inside <- Reduce(`&`, Map(function(x, size) x >= 0L & x < size, at, shape), rep(TRUE, length(own)))
    result[places(shape, lapply(at, `[`, inside), sum(inside))] <- own[inside]
    list(result)
  }
)
