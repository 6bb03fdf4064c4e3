#' @rdname hlo_elementwise
#' @export
hlo_select <- function(pred, x, y) {
  pred <- as_value(pred, "pred")
  # Two numbers have no shape of their own.
  free <- !is_value(x) && !is_value(y) && length(free_shape(x)) + length(free_shape(y)) == 0L
  both <- if (free) {
    common(list(x, y), "hlo_select", c("x", "y"), shape_of = free_shape)
  } else {
    operands(x, y, "hlo_select", c("x", "y"))
  }
  if (pred@dtype != "pred") {
    abort(sprintf("hlo_select: `pred` must have dtype pred, not %s", pred@dtype), op = "hlo_select", operand = "pred")
  }
  shape <- both[[1L]]@shape
  if (!identical(pred@shape, shape)) {
    common <- common_shape(shape, pred@shape)
    if (is.null(common)) {
      abort(
        sprintf("hlo_select: `pred` must have shape %s, not %s", shape_text(shape), shape_text(pred@shape)),
        op = "hlo_select", operand = "pred"
      )
    }
    pred <- repeated(pred, common)
    both <- lapply(both, repeated, common)
  }
  selected(pred, both[[1L]], both[[2L]])
}

selected <- function(pred, x, y) bind("select", list(pred, x, y), x@dtype, x@shape)

primitive("select",
  text = function(node, operands, scope) {
    sprintf("stablehlo.select %s : %s", toString(operands), toString(input_types(node)[1:2]))
  },
  jvp = function(node, tangents) {
    x <- output(node)
    list(selected(node$inputs[[1L]], or_zero(tangents[[2L]], x), or_zero(tangents[[3L]], x)))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !linear[[1L]])
    pred <- node$inputs[[1L]]
    given <- cotangents[[1L]]
    zero <- filled(0, given)
    list(NULL, if (linear[[2L]]) selected(pred, given, zero), if (linear[[3L]]) selected(pred, zero, given))
  },
  vmap = function(node, inputs, mapped, size) {
    inputs <- all_in_front(inputs, mapped, size)
    # One condition for all of an element.
    inputs[[1L]] <- broadcast(inputs[[1L]], inputs[[2L]]@shape, seq_along(inputs[[1L]]@shape))
    rebind_batch(node, inputs, size)
  },
  export = exported_params(),
  sparsity = function(node, given, sets, known) {
    list(united(sets, given[[2L]], given[[3L]]))
  }
)
