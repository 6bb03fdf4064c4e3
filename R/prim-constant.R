#' Constants
#'
#' `hlo_constant()` puts R data into a program; `hlo_iota()` counts along an axis from 0.
#'
#' @param data A logical, integer, double, complex or integer64 vector or array, see
#'   [`?xlaffi-types`][xlaffi-types]. One number fills `shape`.
#' @param dtype The element type; `NULL` means `f64` for doubles, `i32` for integers, `pred` for
#'   logicals, `c128` for complex and `i64` for integer64 data.
#' @param shape The dimensions; `NULL` means those of `data`, or its length.
#' @param axis The axis along which the numbers grow.
#' @return A [value][xlaffi_value].
#' @section Errors:
#' Data that are no numbers or logicals, and numbers that the dtype does not have (300 for `i8`), are an error.
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) x * hlo_constant(1:3, "f64") + hlo_iota("f64", 3))(c(1, 1, 1))
#' @export
hlo_constant <- function(data, dtype = NULL, shape = NULL) {
  check_given(data)
  data <- r_data(data)
  if (!is_data(data)) {
    abort(sprintf("`data` must be numbers or logicals, not %s", describe(data)),
      operand = "data", hint = data_hint(data)
    )
  }
  dtype <- if (is.null(dtype)) r_dtype(data) else check_dtype(dtype, "dtype")
  shape <- if (is.null(shape)) r_shape(data) else check_shape(shape, "shape")
  constant(data, dtype, shape, "data", rounded = TRUE)
}

#' @rdname hlo_constant
#' @export
hlo_iota <- function(dtype, shape, axis = 1) {
  dtype <- check_dtype(dtype, "dtype")
  shape <- check_shape(shape, "shape")
  if (dtype == "pred") {
    abort("`dtype` must be a type of numbers, not pred", operand = "dtype")
  }
  axis <- check_axes(axis, "axis", length(shape), 1L)
  bind("iota", list(), dtype, shape, list(axis = axis))
}

primitive("iota",
  text = function(node, operands, scope) {
    sprintf("stablehlo.iota dim = %d : %s", node$params$axis - 1L, result_types(node))
  },
  export = exported_params("axis")
)
