# `reshape`: the same elements, by rows, in another shape.

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
  if (identical(x@shape, shape)) x else bind("reshape", list(x), x@dtype, shape)
}

primitive("reshape",
  text = signed_text(),
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) list(reshaped(cotangents[[1L]], node$inputs[[1L]]@shape)),
  vmap = function(node, inputs, mapped, size) {
    list(reshaped(inputs[[1L]], c(size, node$types[[1L]]@shape)))
  },
  export = exported_params(),
  sparsity = function(node, given, sets, known) given
)
