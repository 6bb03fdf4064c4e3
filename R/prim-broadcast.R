# `broadcast_in_dim`: elements repeated along new axes and axes of length 1.

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
  bind("broadcast_in_dim", list(x), x@dtype, shape, list(axes = axes))
}

primitive("broadcast_in_dim",
  text = signed_text(function(p) sprintf(", dims = %s", axes_text(p$axes))),
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    shape <- node$inputs[[1L]]@shape
    axes <- node$params$axes
    given <- cotangents[[1L]]
    # Axes that were repeated from length 1 are added up too, and come back below.
    stretched <- axes[shape != given@shape[axes]]
    added <- reduced("reduce_add", given, c(setdiff(seq_along(given@shape), axes), stretched), "hlo_sum")
    left <- setdiff(axes, stretched)
    list(reshaped(transposed(added, match(left, sort(left))), shape))
  },
  vmap = function(node, inputs, mapped, size) {
    list(broadcast(inputs[[1L]], c(size, node$types[[1L]]@shape), c(1L, node$params$axes + 1L)))
  },
  export = exported_params("axes"),
  sparsity = function(node, given, sets, known) {
    list(sets_repeated(given[[1L]], node$inputs[[1L]]@shape, node$types[[1L]]@shape, node$params$axes))
  }
)
