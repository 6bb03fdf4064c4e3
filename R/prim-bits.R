#' Bits
#'
#' Operations on the bits of integers and, where there is a meaning, on logicals.
#'
#' @details
#' `hlo_and()`, `hlo_or()`, `hlo_xor()` and `hlo_not()` work on every bit of integers, and on logicals as R's `&`, `|`,
#' `xor()` and `!`. Shifts are by `y` places: `hlo_shift_right_logical()` fills with zeros,
#' `hlo_shift_right_arithmetic()` with copies of the sign. A shift by as many places as there are bits, or more, leaves
#' nothing but what it fills with. `hlo_popcnt()` counts the bits that are set, `hlo_count_leading_zeros()` those before
#' the first one that is.
#'
#' `hlo_bitcast_convert()` reads the same bits as another dtype. Between dtypes of different sizes a last axis comes or
#' goes: one `f64` is two `ui32`, the lower half first.
#'
#' Integers have no derivatives, and so the bits of a number have none either.
#'
#' @param x,y [Values][xlaffi_value] of one dtype, or R integers beside a value.
#' @param dtype An element type.
#' @return A value.
#' @seealso [bitwAnd()] and its kin, which work on values of dtype i32.
#' @section Errors:
#' Other dtypes are an error: `hlo_and()` and its kin want integers or logicals, shifts and counts integers. Shapes are
#' those of R's operators on [values][xlaffi_value].
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) hlo_xor(hlo_shift_left(x, 3L), x))(1:4)
#' xla_jit(function(x) hlo_bitcast_convert(x, "i64"))(c(0, 1))
#' xla_jit(function(x) list(hlo_and(x, 6L), hlo_or(x, 6L), hlo_not(x)))(1:4)
#' xla_jit(function(x) list(hlo_shift_right_logical(x, 1L), hlo_shift_right_arithmetic(x, 1L)))(-4L)
#' xla_jit(function(x) list(hlo_popcnt(x), hlo_count_leading_zeros(x)))(c(1L, 255L))
#' @name hlo_bits
NULL

bits_kind <- "a logical or an integer"

#' @rdname hlo_bits
#' @export
hlo_and <- function(x, y) binary("and", x, y, bits_kind, "hlo_and")

#' @rdname hlo_bits
#' @export
hlo_or <- function(x, y) binary("or", x, y, bits_kind, "hlo_or")

#' @rdname hlo_bits
#' @export
hlo_xor <- function(x, y) binary("xor", x, y, bits_kind, "hlo_xor")

#' @rdname hlo_bits
#' @export
hlo_not <- function(x) unary("not", x, bits_kind, "hlo_not")

#' @rdname hlo_bits
#' @export
hlo_shift_left <- function(x, y) binary("shift_left", x, y, "an integer", "hlo_shift_left")

#' @rdname hlo_bits
#' @export
hlo_shift_right_logical <- function(x, y) {
  binary("shift_right_logical", x, y, "an integer", "hlo_shift_right_logical")
}

#' @rdname hlo_bits
#' @export
hlo_shift_right_arithmetic <- function(x, y) {
  binary("shift_right_arithmetic", x, y, "an integer", "hlo_shift_right_arithmetic")
}

#' @rdname hlo_bits
#' @export
hlo_popcnt <- function(x) unary("popcnt", x, "an integer", "hlo_popcnt")

#' @rdname hlo_bits
#' @export
hlo_count_leading_zeros <- function(x) {
  unary("count_leading_zeros", x, "an integer", "hlo_count_leading_zeros")
}

#' @rdname hlo_bits
#' @export
hlo_bitcast_convert <- function(x, dtype) {
  dtype <- check_dtype(dtype, "dtype")
  x <- as_value(x, "x")
  call <- environment()
  check_no_token(x, "hlo_bitcast_convert", "x", call)
  bytes <- vapply(c(x@dtype, dtype), bytes_of, 0)
  refuse <- function(text) abort(text, op = "hlo_bitcast_convert", operand = "dtype", call = call)
  if (any(is.na(bytes))) {
    refuse(sprintf("hlo_bitcast_convert: the bits of %s cannot be read as %s", type_text(x), dtype))
  }
  rank <- length(x@shape)
  ratio <- bytes[[1L]] / bytes[[2L]]
  shape <- if (ratio > 1) c(x@shape, as.integer(ratio)) else x@shape[seq_len(rank - (ratio < 1))]
  if (ratio < 1 && (!rank || x@shape[[rank]] != 1 / ratio)) {
    refuse(
      sprintf("hlo_bitcast_convert: %s takes a last axis of length %.0f, but `x` is %s", dtype, 1 / ratio, type_text(x))
    )
  }
  bind("bitcast_convert", list(x), dtype, shape)
}

# NA for what has no bits to be read as another dtype: logicals, and complex numbers.
bytes_of <- function(dtype) {
  if (is_integer(dtype) || is_float(dtype)) as.numeric(gsub("[^0-9]", "", dtype)) / 8 else NA_real_
}

for (name in c("and", "or", "xor", "not")) {
  overload(paste0("hlo_", name), "xlaffi", get(paste0("hlo_", name)),
    by = "own", topic = "Complex numbers and bits", dtypes = "logicals, integers", derivative = "none"
  )
}
for (name in c(
  "shift_left", "shift_right_logical", "shift_right_arithmetic", "popcnt", "count_leading_zeros"
)) {
  overload(paste0("hlo_", name), "xlaffi", get(paste0("hlo_", name)),
    by = "own", topic = "Complex numbers and bits", dtypes = "integers", derivative = "none"
  )
}
rm(name)
overload("hlo_bitcast_convert", "xlaffi", hlo_bitcast_convert,
  by = "own", topic = "Complex numbers and bits", dtypes = "integers, floating-point numbers", derivative = "none"
)

primitive("bitcast_convert",
  text = signed_text(),
  vmap = function(node, inputs, mapped, size) rebind_batch(node, inputs, size),
  export = exported_params()
)
