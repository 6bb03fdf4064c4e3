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

# The same of operands, which have one dtype by now: the error names the one that was `given` with it.
check_kinds <- function(both, given, kind, op, names, call) {
  dtype <- both[[1L]]@dtype
  if (!numeric_kinds[[kind]](dtype)) {
    own <- vapply(given, function(x) if (is_value(x)) x@dtype else r_dtype(r_data(x)), "")
    i <- match(dtype, own, nomatch = 1L)
    check_kind(both[[i]], kind, op, names[[i]], call)
  }
}

unary <- function(op, x, kind, shown, dtype = x@dtype, call = rlang::caller_env()) {
  x <- as_value(x, "x", call = call)
  check_kind(x, kind, shown, "x", call)
  bind(op, list(x), dtype, x@shape)
}

binary <- function(op, x, y, kind, shown, names = c("x", "y"), dtype = NULL, call = rlang::caller_env()) {
  both <- operands(x, y, shown, names, call)
  check_kinds(both, list(x, y), kind, shown, names, call)
  bind(op, both, if (is.null(dtype)) both[[1L]]@dtype else dtype, both[[1L]]@shape)
}

#' @rdname hlo_elementwise
#' @export
hlo_logistic <- function(x) unary("logistic", x, "a floating-point or complex number", "hlo_logistic")

#' @rdname hlo_elementwise
#' @export
hlo_rsqrt <- function(x) unary("rsqrt", x, "a floating-point or complex number", "hlo_rsqrt")

# Derivatives of elementwise functions. Reverse mode transposes what forward mode wrote, and that
# is linear in the tangents.

# The only result of a node.
output <- function(node) new_value(node)

# `f(tangent)`, or NULL for NULL.
along <- function(tangent, f) if (!is.null(tangent)) f(tangent)

# A function of one variable: `slope(x, y)` is its derivative at `x`, where it is `y`.
by_slope <- function(slope) {
  function(node, tangents) list(tangents[[1L]] * slope(node$inputs[[1L]], output(node)))
}

primitive("sqrt", jvp = by_slope(function(x, y) 0.5 / y))
primitive("rsqrt", jvp = by_slope(function(x, y) -0.5 * y / x))
primitive("exponential", jvp = by_slope(function(x, y) y))
# Of y the slope would have no digits where y is rounded to -1.
primitive("exponential_minus_one", jvp = by_slope(function(x, y) exp(x)))
primitive("log", jvp = function(node, tangents) list(tangents[[1L]] / node$inputs[[1L]]))
primitive("log_plus_one", jvp = function(node, tangents) list(tangents[[1L]] / (node$inputs[[1L]] + 1)))
primitive("sine", jvp = by_slope(function(x, y) cos(x)))
primitive("cosine", jvp = by_slope(function(x, y) -sin(x)))
primitive("logistic", jvp = by_slope(function(x, y) y * hlo_logistic(-x)))

# Where real y are rounded to 1 or -1 their slope has digits of its own.
primitive("tanh", jvp = by_slope(function(x, y) {
  if (is_complex(x@dtype)) (1 - y) * (1 + y) else 4 * hlo_logistic(2 * x) * hlo_logistic(-2 * x)
}))

# Steps are flat.
primitive(c("sign", "floor", "ceil", "round_nearest_even"), jvp = function(node, tangents) list(NULL))

# 1 / eps
float_precision <- c(f16 = 2^10, bf16 = 2^7, f32 = 2^23, f64 = 2^52)

# NaN where parameters are none.
only_where <- function(valid, y) hlo_select(valid, y, NaN)

primitive(elementwise, text = plain_text, vmap = batch_together, export = exported_params())
primitive(setdiff(elementwise, elementwise_integers), sparsity = by_element)

primitive("abs",
  text = signed_text(),
  # |x| has slope 0 where it is 0.
  jvp = function(node, tangents) {
    x <- node$inputs[[1L]]
    if (!is_complex(x@dtype)) {
      return(list(tangents[[1L]] * sign(x)))
    }
    size <- output(node)
    direction <- hlo_conj(x) / converted(selected(size == 0, filled(1, size), size), x@dtype)
    list(hlo_real(tangents[[1L]] * direction))
  },
  vmap = batch_together,
  export = exported_params(),
  sparsity = by_element
)

# The complex dtype of a value's precision
as_complex <- function(x, op, name, call) {
  if (is_complex(x@dtype)) {
    return(x)
  }
  x <- as_doubles(x)
  dtype <- complex_dtype(x@dtype)
  if (is.null(dtype)) {
    abort(sprintf("%s: `%s` must be of doubles, f32, integers i32 or logicals, not %s", op, name, type_text(x)),
      op = op, operand = name, hint = "`hlo_convert()` changes the dtype.", call = call
    )
  }
  converted(x, dtype)
}

finite <- function(x) abs(x) < Inf

# Inverse trigonometric and hyperbolic functions: CHLO's, a part of the programs that XLA takes. It computes them to the
# last bits, also for complex numbers. That of erf() is the approximation by which JAX makes normal random numbers.

chlo_functions <- c("asin", "acos", "atan", "asinh", "acosh", "atanh", "erf_inv")

# Of complex numbers, roots of the factors, as the root of a product lies on another branch. 1i times x without the
# product's 0 times infinity.
times_i <- function(x) hlo_complex(-hlo_imag(x), hlo_real(x))

primitive("chlo_asin", jvp = by_slope(function(x, y) 1 / (sqrt(1 - x) * sqrt(1 + x))))
primitive("chlo_acos", jvp = by_slope(function(x, y) -1 / (sqrt(1 - x) * sqrt(1 + x))))
primitive("chlo_atan", jvp = by_slope(function(x, y) 1 / ((1 - times_i(x)) * (1 + times_i(x)))))
primitive("chlo_asinh", jvp = by_slope(function(x, y) {
  if (is_complex(x@dtype)) 1 / (sqrt(1 - times_i(x)) * sqrt(1 + times_i(x))) else hlo_rsqrt(1 + x * x)
}))
primitive("chlo_acosh", jvp = by_slope(function(x, y) 1 / (sqrt(x - 1) * sqrt(x + 1))))
primitive("chlo_atanh", jvp = by_slope(function(x, y) 1 / ((1 - x) * (1 + x))))
primitive("chlo_erf_inv", jvp = by_slope(function(x, y) sqrt(pi) / 2 * exp(y * y)))

chlo <- function(name, x) bind(paste0("chlo_", name), list(x), x@dtype, x@shape)

primitive(paste0("chlo_", chlo_functions),
  text = function(node, operands, scope) {
    type <- result_types(node)
    sprintf("chlo.%s %s : %s -> %s", sub("^chlo_", "", node$op), operands, type, type)
  },
  vmap = function(node, inputs, mapped, size) rebind_batch(node, inputs, size),
  export = exported_params(),
  sparsity = by_element
)
