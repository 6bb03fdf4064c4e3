# The table of element types of the Rust side, and their names by kind; .onLoad() fills them in.
type_state <- session_state("type_state", dtypes = NULL, kinds = NULL)

#' The type of an array
#'
#' Element type and dimensions without data: what a custom call returns (see [hlo_custom_call()])
#' or, in [xla_program()], a stand-in for an argument.
#'
#' @param dtype The element type: a name as in [pjrt_buffer()], or what [dtype()] returns. `"token"`: no array,
#'   but what puts one call after another, see [hlo_token()].
#' @param shape The dimensions; `integer()` for a scalar and a token.
#' @return An object of class `xlaffi_type`; [dtype()], [shape()], `dim()` and `nrow()` take it
#'   apart.
#' @section Errors:
#' A dtype that there is not is an error that lists those there are, and so are dimensions that are no whole numbers
#' from 0.
#'
#' @examples
#' ffi_type("f64", c(2, 3))
#' @export
ffi_type <- function(dtype, shape = integer()) {
  shape <- check_shape(shape, "shape")
  if (identical(dtype_name(dtype), "token")) {
    if (length(shape)) {
      abort(sprintf("`shape` of a token must be empty, not %s", shape_text(shape)), operand = "shape")
    }
    return(new_type("token", shape))
  }
  dtype <- check_dtype(dtype, "dtype")
  new_type(dtype, shape)
}

# What an array of R can hold. XLA ends the process where the bytes of an array, without its axes of length 0, cannot be
# counted in 64 bits.
most_elements <- 2^52

# XLA goes through the other axes of an array that has one of length 0, and finds nothing at each place.
most_empty <- 2^31

new_type <- function(dtype, shape) {
  size <- prod(shape)
  if (!isTRUE(size > 0 && size <= .Machine$integer.max)) check_size(dtype, shape)
  type <- blank_type
  attr(type, "dtype") <- dtype
  attr(type, "shape") <- as.integer(shape)
  type
}

check_size <- function(dtype, shape) {
  if (!isTRUE(prod(shape[shape > 0]) <= most_elements) || any(shape > .Machine$integer.max)) {
    abort(sprintf("%s of shape %s does not fit into any memory", dtype, shape_text(shape)), "RESOURCE_EXHAUSTED",
      call = NULL
    )
  }
  if (any(shape == 0) && prod(shape[shape > 0]) > most_empty) {
    abort(
      sprintf("%s of shape %s is empty, but XLA would look at more than 2^31 places of it", dtype, shape_text(shape)),
      "RESOURCE_EXHAUSTED",
      call = NULL
    )
  }
}

is_type <- function(x) isS4(x) && inherits(x, "xlaffi_type")

# The canonical name of an element type.
check_dtype <- function(dtype, name, call = rlang::caller_env()) {
  check(.Call(wrap__dtype_parse, dtype_name(dtype, call)), call)
}

check_shape <- function(shape, name, call = rlang::caller_env()) {
  known <- is.numeric(shape) && !is.object(shape)
  fine <- is.null(shape) || (known && !anyNA(shape) && all(shape >= 0 & shape == trunc(shape)))
  if (!fine) {
    abort(sprintf("`%s` must be whole numbers from 0, not %s", name, describe(shape)), operand = name, call = call)
  }
  if (any(shape >= 2^31)) {
    abort(sprintf("`%s` has a dimension of 2^31 or more, which R cannot hold", name), operand = name, call = call)
  }
  as.integer(shape)
}

#' @export
format.xlaffi_type <- function(x, ...) {
  check_format_dots(...)
  type_text(x)
}

#' @export
print.xlaffi_type <- function(x, ...) {
  check_print_dots(...)
  cat("<", type_text(x), ">\n", sep = "")
  invisible(x)
}

# As in error messages: `f64(2, 3)`.
type_text <- function(x) if (is_token(x)) "token" else sprintf("%s%s", x@dtype, shape_text(x@shape))

shape_text <- function(shape) {
  if (is.double(shape)) shape <- format(shape, scientific = FALSE, trim = TRUE, drop0trailing = TRUE)
  sprintf("(%s)", toString(shape))
}

same_type <- function(x, y) identical(x@dtype, y@dtype) && identical(x@shape, y@shape)

is_float <- function(dtype) dtype %in% type_state$kinds$float

is_complex <- function(dtype) dtype %in% type_state$kinds$complex

is_integer <- function(dtype) dtype %in% type_state$kinds$integer

# Those that have derivatives.
is_inexact <- function(dtype) dtype %in% type_state$kinds$inexact

# The element type of the parts of complex numbers, and the other way round.
real_dtype <- function(dtype) {
  part <- type_state$dtypes$part[match(dtype, type_state$dtypes$name)]
  if (part %in% c(NA, "")) dtype else part
}

complex_dtype <- function(dtype) {
  whole <- match(dtype, type_state$dtypes$part)
  if (!is.na(whole)) type_state$dtypes$name[[whole]]
}

# The names of Rust's table of element types.
dtypes_of_kind <- function(kind) type_state$dtypes$name[type_state$dtypes$kind %in% kind]

# The smallest and the largest number of the integer types.
attribute_ranges <- list(
  i8 = c(-2^7, 2^7 - 1), i16 = c(-2^15, 2^15 - 1), i32 = c(-2^31, 2^31 - 1), i64 = c(-2^63, 2^63),
  ui8 = c(0, 2^8 - 1), ui16 = c(0, 2^16 - 1), ui32 = c(0, 2^32 - 1), ui64 = c(0, 2^64)
)

inexact_types <- function(types) vapply(types, function(type) is_inexact(type@dtype), NA)

# Of a value or a type
is_token <- function(x) x@dtype == "token"

type_of <- function(x) new_type(x@dtype, x@shape)

rank_of <- function(x) length(x@shape)

# The element type of a buffer, held as its name.
new_dtype <- function(name) structure(name, class = "xlaffi_dtype")

# The name for an argument `dtype`: ours, tengen's DataType, or a string.
dtype_name <- function(dtype, call = rlang::caller_env()) {
  check_not_missing(dtype, "dtype", call)
  if (is.object(dtype)) {
    dtype <- tryCatch(as.character(dtype), error = function(error) dtype)
  }
  check_string(dtype, "dtype", call)
  dtype
}

#' @export
as.character.xlaffi_dtype <- function(x, ...) {
  check_dots_empty(...)
  unclass(x)
}

#' @export
format.xlaffi_dtype <- function(x, ...) {
  check_format_dots(...)
  paste0("<", unclass(x), ">")
}

#' @export
print.xlaffi_dtype <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
`==.xlaffi_dtype` <- function(e1, e2) equal_dtypes(e1, e2)

#' @export
`!=.xlaffi_dtype` <- function(e1, e2) !equal_dtypes(e1, e2)

# Strings count as what they are short for: "bool" is "pred".
equal_dtypes <- function(e1, e2) {
  canonical <- function(x) {
    name <- as.character(x)
    parsed <- .Call(wrap__dtype_parse, name)
    if (is.character(parsed)) parsed else name
  }
  identical(canonical(e1), canonical(e2))
}

# tengen's object for a dtype that it knows; ours for others, and where tengen is not loaded.
tengen_dtype <- function(name) {
  force(name)
  if (!isNamespaceLoaded("tengen")) {
    return(new_dtype(name))
  }
  as_dtype <- getExportedValue("tengen", "as_dtype")
  tryCatch(as_dtype(if (name == "pred") "bool" else name), error = function(e) new_dtype(name))
}
