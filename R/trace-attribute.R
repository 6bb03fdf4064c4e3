#' An attribute with an explicit type
#'
#' Attributes are what a custom call gets besides its operands, fixed when the program is
#' compiled. R values have types of their own (see *Details*); `ffi_attribute()` asks for another,
#' for handlers that want one.
#'
#' @details
#' | in R | for the handler |
#' |---|---|
#' | one logical | `i1` (a C++ `bool`) |
#' | one integer | `i32` |
#' | one double | `f64` |
#' | one [bit64::integer64] | `i64` |
#' | one string | a string, in UTF-8 |
#' | a vector of another length than 1, or anything in [I()] | an array of the same type |
#' | a named list | a dictionary |
#' | `ffi_attribute(x, dtype)` | a number or an array of that type |
#'
#' XLA knows no arrays of logicals or strings, no complex numbers, and no missing values; a double
#' may be NaN. Arrays have no dimensions. The handler gets attributes in the order of their names.
#'
#' @param x A number, logical, string or vector.
#' @param dtype The type, as in [pjrt_buffer()]: `"pred"`, `"i8"` to `"i64"`, `"ui8"` to `"ui64"`,
#'   `"f32"` or `"f64"`; `NULL` for that which `x` has of its own.
#' @param array Whether the handler gets an array; `NULL` for one unless `x` is of length 1.
#' @return An attribute for [ffi_call()] and [hlo_custom_call()], class `xlaffi_attribute`.
#' @section Errors:
#' A number that the dtype does not have (300 for `i8`, 1.5 for `i32`), text for a number, and NA are errors that name
#' the attribute.
#'
#' @examples
#' ffi_attribute(3, "i64")
#' ffi_attribute(1, "f32", array = TRUE)
#' # As LAPACK's characters go to jaxlib's handlers
#' ffi_attribute(utf8ToInt("L"), "ui8")
#' @export
ffi_attribute <- function(x, dtype = NULL, array = NULL) {
  check_given(x)
  if (!is.null(dtype)) {
    dtype <- check_dtype(dtype, "dtype")
    if (!dtype %in% names(attribute_ranges) && !dtype %in% c("pred", "f32", "f64")) {
      abort(
        sprintf("an attribute cannot be of dtype %s", dtype),
        operand = "dtype",
        hint = paste0("There are: pred, ", toString(names(attribute_ranges)), ", f32, f64.")
      )
    }
  }
  if (!is.null(array)) {
    check_flag(array, "array")
  }
  attribute <- structure(list(x = x, dtype = dtype, array = array), class = "xlaffi_attribute")
  attribute$text <- attribute_text(attribute, "x", environment())
  attribute
}

#' @export
format.xlaffi_attribute <- function(x, ...) {
  check_format_dots(...)
  x$text
}

#' @export
print.xlaffi_attribute <- function(x, ...) {
  check_print_dots(...)
  cat("<attribute ", format(x), ">\n", sep = "")
  invisible(x)
}

# The attributes of a custom call as a dictionary of MLIR.
attributes_text <- function(attributes, target, call = rlang::caller_env()) {
  if (!is.list(attributes) || is.object(attributes)) {
    abort(sprintf("`attributes` must be a named list, not %s", describe(attributes)),
      op = target, operand = "attributes", call = call
    )
  }
  dictionary_text(attributes, "attributes", call, target)
}

# `name` is how the user knows it: `attributes`, or the path to a list within.
dictionary_text <- function(x, name, call, op = NULL) {
  names <- names2(x)
  if (!all(nzchar(names))) {
    abort(sprintf("`%s` must be a list with a name for each of its elements", name),
      op = op, operand = name, call = call
    )
  }
  if (anyDuplicated(names)) {
    abort(sprintf("`%s` has two elements named \"%s\"", name, names[[anyDuplicated(names)]]),
      op = op, operand = name, call = call
    )
  }
  texts <- vapply(seq_along(x), function(i) {
    inner <- if (name == "attributes") names[[i]] else paste0(name, "$", names[[i]])
    paste(mlir_string(names[[i]]), "=", attribute_text(x[[i]], inner, call, op))
  }, "")
  sprintf("{%s}", toString(texts))
}

attribute_text <- function(x, name, call, op = NULL) {
  if (inherits(x, "xlaffi_attribute")) {
    if (!is.null(x$text)) {
      return(x$text)
    }
    return(numbers_text(x$x, x$dtype, x$array, name, call, op))
  }
  if (is.list(x) && !is.object(x)) {
    return(dictionary_text(x, name, call, op))
  }
  array <- NULL
  if (inherits(x, "AsIs")) {
    array <- TRUE
    class(x) <- setdiff(class(x), "AsIs")
  }
  numbers_text(x, NULL, array, name, call, op)
}

# Numbers, logicals or a string. `dtype` and `array` may be NULL: those that `x` has of its own.
numbers_text <- function(x, dtype, array, name, call, op) {
  refuse <- function(what, hint = NULL) {
    text <- paste0(start_of(op), sprintf("attribute `%s` %s", name, what))
    abort(text, op = op, operand = name, hint = hint, call = call)
  }
  known <- is.logical(x) || is.integer(x) || is.double(x) || is.character(x)
  if (!known || (is.object(x) && !is_integer64(x))) {
    refuse(
      sprintf("must be logical, integer, double, integer64, a string or a named list, not %s", describe(x)),
      if (is.complex(x)) "XLA has no complex attributes: pass real and imaginary part."
    )
  }
  if (length(dim(x)) > 1L) {
    refuse("has dimensions, which attributes do not have", "`as.vector()` drops them.")
  }
  if (anyNA(x) && !(is.double(x) && !is_integer64(x) && all(is.nan(x[is.na(x)])))) {
    refuse("is or contains NA, which XLA does not know")
  }
  if (is.null(array)) {
    array <- length(x) != 1L
  }
  if (!array && length(x) != 1L) {
    refuse(sprintf("must be one value, not %d", length(x)))
  }
  if (is.character(x)) {
    if (array) {
      refuse("is a vector of strings, which XLA does not know", "A named list of strings becomes a dictionary.")
    }
    if (!is.null(dtype)) {
      refuse(sprintf("is a string, not a number of dtype %s", dtype))
    }
    return(mlir_string(x))
  }
  if (is.null(dtype)) {
    dtype <- r_dtype(x)
  }
  if (dtype == "pred" && array) {
    refuse("is a vector of logicals, which XLA does not know", "`as.integer()` makes it one of numbers.")
  }
  if (!is.null(problem <- out_of_range(x, dtype))) {
    refuse(problem)
  }
  typed_text(mlir_numbers(x, dtype), dtype, array)
}

typed_text <- function(numbers, dtype, array) {
  if (dtype == "pred") {
    return(numbers)
  }
  if (!array) {
    return(paste(numbers, ":", dtype))
  }
  # MLIR's plain arrays have no unsigned numbers.
  if (startsWith(dtype, "ui")) {
    list <- if (length(numbers)) sprintf("[%s]", toString(numbers)) else ""
    return(sprintf("dense<%s> : tensor<%dx%s>", list, length(numbers), dtype))
  }
  sprintf("array<%s%s>", dtype, if (length(numbers)) paste(":", toString(numbers)) else "")
}

# Why `x` does not fit into `dtype`; NULL if it does.
out_of_range <- function(x, dtype) {
  if (dtype == "pred") {
    if (!is.logical(x)) sprintf("must be logical for dtype pred, not %s", describe(x))
  } else if (!is_float(dtype)) {
    limits <- attribute_ranges[[dtype]]
    fits <- if (is_integer64(x)) {
      # As integer64 the limits of 64 bits would be NA.
      switch(dtype, i64 = TRUE, ui64 = x >= 0, x >= limits[[1L]] & x <= limits[[2L]])
    } else {
      # 2^63 and 2^64 are doubles, but no integers of 64 bits.
      below <- if (dtype %in% c("i64", "ui64")) x < limits[[2L]] else x <= limits[[2L]]
      !is.nan(x) & x >= limits[[1L]] & below
    }
    if (!all(fits)) {
      sprintf("does not fit into dtype %s: %s", dtype, format(x[!fits][[1L]]))
    } else if (is.double(x) && !is_integer64(x) && any(x != trunc(x))) {
      sprintf("must be a whole number for dtype %s, not %s", dtype, format(x[x != trunc(x)][[1L]]))
    }
  }
}

# A string literal of MLIR: bytes that are no plain characters in hexadecimal.
mlir_string <- function(x) {
  bytes <- charToRaw(enc2utf8(x))
  code <- as.integer(bytes)
  plain <- code >= 0x20 & code < 0x7f & bytes != charToRaw("\"") & bytes != charToRaw("\\")
  text <- sprintf("\\%02X", code)
  text[plain] <- strsplit(rawToChar(bytes[plain]), "")[[1L]]
  sprintf("\"%s\"", paste(text, collapse = ""))
}
