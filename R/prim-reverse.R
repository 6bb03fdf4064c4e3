# `reverse`: axes backwards.

#' @rdname hlo_shape
#' @export
hlo_reverse <- function(x, axes) {
  x <- as_value(x, "x")
  axes <- check_axes(axes, "axes", length(x@shape))
  bind("reverse", list(x), x@dtype, x@shape, list(axes = axes))
}

primitive("reverse",
  text = function(node, operands, scope) {
    sprintf("stablehlo.reverse %s, dims = %s : %s", operands, axes_text(node$params$axes), result_types(node))
  },
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) list(hlo_reverse(cotangents[[1L]], node$params$axes)),
  vmap = function(node, inputs, mapped, size) {
    rebind_batch(node, inputs, size, list(axes = node$params$axes + 1L))
  },
  export = exported_params("axes"),
  sparsity = function(node, given, sets, known) {
    shape <- node$types[[1L]]@shape
    at <- coordinates(shape)
    axes <- node$params$axes
    at[axes] <- Map(function(x, size) size - 1L - x, at[axes], shape[axes])
    list(given[[1L]][places(shape, at)])
  }
)
