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
  record("iota", list(), dtype, shape, list(axis = axis))
}

# The data are kept as they are in R; what the dtype cannot hold is refused here, but for numbers that somebody has
# `rounded` by the dtype that he gave. `na` lets NA through, where the least integer is to stand for it.
constant <- function(data, dtype, shape, name, call = rlang::caller_env(), op = NULL, rounded = FALSE, na = FALSE) {
  refuse <- function(text, hint = NULL) {
    abort(paste0(start_of(op), text), op = op, operand = name, hint = hint, call = call)
  }
  if (length(data) != 1L && length(data) != prod(shape)) {
    refuse(
      sprintf("`%s` has %d elements, but shape %s needs %.0f", name, length(data), shape_text(shape), prod(shape))
    )
  }
  problem <- if (!na) na_problem(data, dtype)
  if (!is.null(problem)) {
    refuse(sprintf("`%s` %s", name, problem), na_hint(data))
  }
  lossy <- if (is.complex(data)) {
    !is_complex(dtype)
  } else if (is_integer(dtype)) {
    !fits_integer(data, dtype)
  } else {
    dtype == "pred" && !all(data %in% c(0, 1))
  }
  if (lossy) {
    refuse(sprintf("`%s` holds numbers that dtype %s cannot: %s", name, dtype, describe(data)))
  }
  large <- if (!rounded) beyond_range(data, dtype)
  if (any(large)) {
    refuse(
      sprintf("`%s` holds numbers that dtype %s cannot: %s", name, dtype, format(data[large][[1L]])),
      "`hlo_convert()` changes the dtype of values, to f64 say; `Inf` is infinite."
    )
  }
  record("constant", list(), dtype, shape, list(data = data))
}

# What is wrong with R data that have NA where the dtype has none; NULL where nothing is.
na_problem <- function(data, dtype) {
  if ((dtype == "pred" || is_integer(dtype)) && (is_integer64(data) || !is.double(data)) && anyNA(data)) {
    sprintf("has NA, which %s cannot hold", dtype)
  } else if (dtype == "pred" && anyNA(data)) {
    "has NA, which pred cannot hold"
  }
}

# The way out
na_hint <- function(data) {
  if (inherits(data, "xlaffi_buffer")) {
    "Doubles have it: make the buffer of `as.double(data)`."
  } else if (!is.complex(data)) {
    "Doubles have it: `as.double(x)`, which a program computes with as R does."
  }
}

# The largest finite numbers of dtypes that have fewer than R, and the smallest that would be rounded to infinity
largest_floats <- c(f16 = 65504, bf16 = 2^128 - 2^120, f32 = 2^128 - 2^104, c64 = 2^128 - 2^104)

rounding_limits <- c(f16 = 65520, bf16 = 2^128 - 2^119, f32 = 2^128 - 2^103, c64 = 2^128 - 2^103)

# Which finite numbers of R's become infinite in a dtype
beyond_range <- function(data, dtype) {
  limit <- rounding_limits[dtype]
  if (is.na(limit)) {
    return(FALSE)
  }
  data <- if (is.complex(data)) pmax(abs(Re(data)), abs(Im(data))) else abs(as.double(data))
  is.finite(data) & data >= limit
}

# Whether all numbers are of an integer type. R's NA, the smallest integer, is one of i32 and i64 as an integer.
fits_integer <- function(data, dtype) {
  limits <- attribute_ranges[[dtype]]
  if (is_integer64(data)) {
    limits <- bit64::as.integer64(pmin(limits, 2^62))
    return(dtype == "i64" || (!anyNA(data) && all(data >= limits[[1L]] & (dtype == "ui64" | data <= limits[[2L]]))))
  }
  if (is.double(data) && (anyNA(data) || any(data != trunc(data) | abs(data) > 2^53))) {
    return(FALSE)
  }
  data <- as.double(data)
  data[is.na(data)] <- -2^31
  all(data >= limits[[1L]] & data <= limits[[2L]])
}

# A number of the package's in the dtype and shape of a value. NA of integers is the least one, which R reads as NA.
# NaN among complex numbers is both parts, as NA is in R.
filled <- function(number, like) {
  if (is_complex(like@dtype) && identical(number, NaN)) number <- complex(real = NaN, imaginary = NaN)
  constant(number, like@dtype, like@shape, "number", na = TRUE)
}
