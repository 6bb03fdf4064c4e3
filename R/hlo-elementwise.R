#' Elementwise functions
#'
#' What R's operators and mathematical functions do not cover.
#'
#' @details
#' `hlo_max()` and `hlo_min()` work element by element, as [pmax()] and [pmin()] do. `hlo_logistic()`
#' is `1 / (1 + exp(-x))`, `hlo_rsqrt()` `1 / sqrt(x)`. `hlo_convert()` changes the dtype as
#' StableHLO does: floating-point numbers are rounded towards zero to become integers, and
#' complex numbers cannot become real (see `hlo_real()`).
#'
#' `hlo_add()` adds up any number of values and leaves out NULL; of nothing but NULL it is NULL. That
#' is what rules for derivatives need, where NULL stands for zero, see [ffi_op()].
#'
#' @param x,y,re,im [Values][xlaffi_value], or R numbers beside a value, as for operators.
#' @param pred A value of dtype pred: where to take `x`. A scalar chooses as a whole.
#' @param dtype An element type.
#' @param ... Values, R numbers beside values, or NULL.
#' @return A value.
#' @section Errors:
#' Operands have one dtype, but for R's numbers, and shapes as R's operators on [values][xlaffi_value] take them; all
#' else is an error that names the operand and both types. `hlo_logistic()` and `hlo_rsqrt()` want floating-point or
#' complex numbers, `hlo_select()` a `pred` of dtype pred.
#'
#' @examplesIf plugins_downloaded()
#' relu <- xla_jit(function(x) hlo_max(x, 0))
#' relu(c(-1, 2))
#' xla_jit(function(x) hlo_select(x > 0, sqrt(x), x))(c(-1, 4))
#' xla_jit(function(x) list(hlo_min(x, 1), hlo_logistic(x), hlo_rsqrt(x)))(c(0.25, 4))
#' xla_jit(function(x) hlo_convert(x, "i32"))(c(-1.5, 2.7))
#' xla_jit(function(x, y) {
#'   z <- hlo_complex(x, y)
#'   list(real = hlo_real(z), imag = hlo_imag(z), conjugate = hlo_conj(z))
#' })(1, 2)
#' @name hlo_elementwise
NULL

# The dtypes that a kind of node takes, in words and as a test.
numeric_kinds <- list(
  "a number" = function(dtype) dtype != "pred",
  "a real number" = function(dtype) dtype != "pred" && !is_complex(dtype),
  "a floating-point or complex number" = is_inexact,
  "a floating-point number" = is_float,
  "a complex number" = is_complex,
  "a logical or an integer" = function(dtype) !is_inexact(dtype),
  "an integer" = function(dtype) is_integer(dtype)
)

check_kind <- function(x, kind, op, name, call) {
  check_no_token(x, op, name, call)
  if (!numeric_kinds[[kind]](x@dtype)) {
    hint <- if (is_inexact(x@dtype)) NULL else "`hlo_convert()` changes the dtype."
    abort(sprintf("%s: `%s` must be %s, not %s", op, name, kind, type_text(x)),
      op = op, operand = name, hint = hint, call = call
    )
  }
}

unary <- function(op, x, kind, shown, dtype = x@dtype, call = rlang::caller_env()) {
  x <- as_value(x, "x", call = call)
  check_kind(x, kind, shown, "x", call)
  record(op, list(x), dtype, x@shape)
}

binary <- function(op, x, y, kind, shown, names = c("x", "y"), dtype = NULL, call = rlang::caller_env()) {
  both <- operands(x, y, shown, names, call)
  check_kind(both[[1L]], kind, shown, names[[1L]], call)
  record(op, both, if (is.null(dtype)) both[[1L]]@dtype else dtype, both[[1L]]@shape)
}

#' @rdname hlo_elementwise
#' @export
hlo_add <- function(...) {
  if (!is_tracing()) refuse_outside()
  Reduce(add_tangents, list(...))
}

#' @rdname hlo_elementwise
#' @export
hlo_max <- function(x, y) binary("maximum", x, y, "a real number", "hlo_max")

#' @rdname hlo_elementwise
#' @export
hlo_min <- function(x, y) binary("minimum", x, y, "a real number", "hlo_min")

#' @rdname hlo_elementwise
#' @export
hlo_atan2 <- function(y, x) binary("atan2", y, x, "a floating-point number", "hlo_atan2", c("y", "x"))

#' @rdname hlo_elementwise
#' @export
hlo_logistic <- function(x) unary("logistic", x, "a floating-point or complex number", "hlo_logistic")

#' @rdname hlo_elementwise
#' @export
hlo_rsqrt <- function(x) unary("rsqrt", x, "a floating-point or complex number", "hlo_rsqrt")

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

selected <- function(pred, x, y) record("select", list(pred, x, y), x@dtype, x@shape)

#' @rdname hlo_elementwise
#' @export
hlo_convert <- function(x, dtype) {
  dtype <- check_dtype(dtype, "dtype")
  x <- as_value(x, "x")
  if (is_complex(x@dtype) && !is_complex(dtype)) {
    abort(sprintf("hlo_convert: `x` is %s, which %s cannot hold", type_text(x), dtype),
      op = "hlo_convert", operand = "dtype", hint = "`hlo_real()` takes the real part."
    )
  }
  converted(x, dtype)
}

# Logicals become floating-point numbers by way of integers: XLA takes converted logicals times y for a choice between y
# and 0, and so 0 for 0 * Inf and for 0 / 0.
converted <- function(x, dtype) {
  if (x@dtype == dtype) {
    return(x)
  }
  if (x@dtype == "pred" && is_inexact(dtype)) x <- record("convert", list(x), "i32", x@shape)
  y <- record("convert", list(x), dtype, x@shape)
  if (is_inexact(dtype) || dtype == "i64") with_na_of(y, list(x)) else y
}

#' @rdname hlo_elementwise
#' @export
hlo_real <- function(x) real_part("real", x, "hlo_real")

#' @rdname hlo_elementwise
#' @export
hlo_imag <- function(x) real_part("imag", x, "hlo_imag")

real_part <- function(op, x, shown, call = rlang::caller_env()) {
  x <- as_value(x, "x", call = call)
  unary(op, x, "a complex number", shown, real_dtype(x@dtype), call)
}

#' @rdname hlo_elementwise
#' @export
hlo_complex <- function(re, im) {
  both <- operands(re, im, "hlo_complex", c("re", "im"))
  dtype <- complex_dtype(both[[1L]]@dtype)
  if (is.null(dtype)) {
    abort(sprintf("hlo_complex: `re` must have dtype f32 or f64, not %s", both[[1L]]@dtype),
      op = "hlo_complex", operand = "re"
    )
  }
  record("complex", both, dtype, both[[1L]]@shape)
}

#' @rdname hlo_elementwise
#' @export
hlo_conj <- function(x) {
  x <- as_value(x, "x")
  if (!is_complex(x@dtype)) {
    return(x)
  }
  hlo_complex(hlo_real(x), -hlo_imag(x))
}
