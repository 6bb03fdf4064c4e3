#' The type of an array
#'
#' Element type and dimensions without data: what a custom call returns (see [hlo_custom_call()])
#' or, in [ffi_program()], a stand-in for an argument.
#'
#' @param dtype The element type: a name as in [pjrt_buffer()], or what [dtype()] returns.
#' @param shape The dimensions; `integer()` for a scalar.
#' @return An object of class `xlaffi_type`; [dtype()], [shape()], `dim()` and `nrow()` take it
#'   apart.
#' @examples
#' ffi_type("f64", c(2, 3))
#' @export
ffi_type <- function(dtype, shape = integer()) {
  new_type(check_dtype(dtype, "dtype"), check_shape(shape, "shape"))
}

new_type <- function(dtype, shape) {
  structure(list(dtype = dtype, shape = as.integer(shape)), class = "xlaffi_type")
}

# The canonical name of an element type.
check_dtype <- function(dtype, name, call = rlang::caller_env()) {
  check(.Call(wrap__dtype_parse, dtype_name(dtype, call)), call)
}

check_shape <- function(shape, name, call = rlang::caller_env()) {
  fine <- is.null(shape) || (is.numeric(shape) && !anyNA(shape) && all(shape >= 0 & shape == trunc(shape)))
  if (!fine) {
    abort(sprintf("`%s` must be whole numbers from 0, not %s", name, describe(shape)), operand = name, call = call)
  }
  if (any(shape >= 2^31)) {
    abort(sprintf("`%s` has a dimension of 2^31 or more, which R cannot hold", name), operand = name, call = call)
  }
  as.integer(shape)
}

#' @export
dtype.xlaffi_type <- function(x, ...) new_dtype(x$dtype)

#' @export
elt_type.xlaffi_type <- function(x) new_dtype(x$dtype)

#' @export
shape.xlaffi_type <- function(x, ...) x$shape

#' @export
dim.xlaffi_type <- function(x) if (length(x$shape)) x$shape

#' @export
format.xlaffi_type <- function(x, ...) type_text(x)

#' @export
print.xlaffi_type <- function(x, ...) {
  cat("<", type_text(x), ">\n", sep = "")
  invisible(x)
}

# As in error messages: `f64(2, 3)`.
type_text <- function(x) sprintf("%s%s", x$dtype, shape_text(x$shape))

shape_text <- function(shape) sprintf("(%s)", toString(shape))

same_type <- function(x, y) identical(x$dtype, y$dtype) && identical(x$shape, y$shape)

is_float <- function(dtype) dtype %in% c("f16", "bf16", "f32", "f64")

is_complex <- function(dtype) dtype %in% c("c64", "c128")

is_integer <- function(dtype) grepl("^u?i[0-9]+$", dtype)

# Those that have derivatives.
is_inexact <- function(dtype) is_float(dtype) || is_complex(dtype)

# The element type of the parts of complex numbers, and the other way round.
real_dtype <- function(dtype) switch(dtype, c64 = "f32", c128 = "f64", dtype)

complex_dtype <- function(dtype) switch(dtype, f32 = "c64", f64 = "c128")
