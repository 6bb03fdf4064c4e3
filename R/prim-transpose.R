# `transpose`: axes in another order.

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
  bind("transpose", list(x), x@dtype, x@shape[permutation], list(permutation = permutation))
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

primitive("transpose",
  text = signed_text(function(p) sprintf(", dims = %s", axes_text(p$permutation))),
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) list(transposed(cotangents[[1L]], order(node$params$permutation))),
  vmap = function(node, inputs, mapped, size) {
    list(transposed(inputs[[1L]], c(1L, node$params$permutation + 1L)))
  },
  export = exported_params("permutation"),
  sparsity = function(node, given, sets, known) {
    at <- coordinates(node$types[[1L]]@shape)[order(node$params$permutation)]
    list(given[[1L]][places(node$inputs[[1L]]@shape, at, length(given[[1L]]))])
  }
)
