# R's mathematical functions on values: the members of the group Math.

# function(x, shown, call, ...) by R's name: `shown` is the function as messages name it, `call` the user's call.
math_members <- new.env(parent = emptyenv())

# R's name, StableHLO's name and what it takes.
math_functions <- local({
  inexact <- "a floating-point or complex number"
  float <- "a floating-point number"
  list(
    sqrt = c("sqrt", inexact), exp = c("exponential", inexact),
    expm1 = c("exponential_minus_one", inexact), log1p = c("log_plus_one", inexact),
    cos = c("cosine", inexact), sin = c("sine", inexact), tanh = c("tanh", inexact),
    floor = c("floor", float), ceiling = c("ceil", float), sign = c("sign", "a number")
  )
})

#' @export
Math.xlaffi_value <- function(x, ...) {
  call <- method_call(.Generic)
  shown <- paste0(.Generic, "()")
  member <- math_members[[.Generic]]
  if (is.null(member)) {
    abort(sprintf("%s is not available for values of programs", shown), "UNIMPLEMENTED", op = .Generic, call = call)
  }
  member(if (.Generic %in% of_integers) as_numbers(x) else as_doubles(x), shown, call, ...)
}

# Those that give integers for integers; R takes the others of doubles.
of_integers <- c("abs", "cumsum", "cummax", "cummin")

for (name in names(math_functions)) {
  math_members[[name]] <- local({
    entry <- math_functions[[name]]
    function(x, shown, call, ...) {
      check_dots_empty(..., call = call)
      unary(entry[[1L]], x, entry[[2L]], shown, call = call)
    }
  })
}

math_members$abs <- function(x, shown, call) unary("abs", x, "a number", shown, real_dtype(x@dtype), call)

math_members$log <- function(x, shown, call, base = NULL) logarithm(x, shown, call, base)

math_members$log2 <- function(x, shown, call) logarithm(x, shown, call, 2)

math_members$log10 <- function(x, shown, call) logarithm(x, shown, call, 10)

math_members$round <- function(x, shown, call, digits = 0) rounded(x, shown, call, digits)

math_members$trunc <- function(x, shown, call, ...) {
  check_dots_empty(..., call = call)
  check_kind(x, "a floating-point number", shown, "x", call)
  sign(x) * floor(abs(x))
}

math_members$tan <- function(x, shown, call) {
  check_kind(x, "a floating-point or complex number", shown, "x", call)
  sin(x) / cos(x)
}

math_members$cosh <- function(x, shown, call) {
  check_kind(x, "a floating-point or complex number", shown, "x", call)
  # Halves of the exponent, which do not overflow before the result does
  halves(x / 2) + halves(-x / 2)
}

math_members$sinh <- function(x, shown, call) {
  check_kind(x, "a floating-point or complex number", shown, "x", call)
  near <- abs(x) < 1
  # What is not chosen must have finite derivatives, too.
  small <- hlo_select(near, x, filled(0, x))
  hlo_select(near, (expm1(small) - expm1(-small)) / 2, halves(x / 2) - halves(-x / 2))
}

math_members$atan <- function(x, shown, call) {
  check_kind(x, "a floating-point number", shown, "x", call)
  hlo_atan2(x, 1)
}

math_members$asin <- function(x, shown, call) {
  check_kind(x, "a floating-point number", shown, "x", call)
  hlo_atan2(x, sqrt((1 - x) * (1 + x)))
}

math_members$acos <- function(x, shown, call) {
  check_kind(x, "a floating-point number", shown, "x", call)
  hlo_atan2(sqrt((1 - x) * (1 + x)), x)
}

# exp(2 x) / 2
halves <- function(x) {
  root <- exp(x)
  root * 0.5 * root
}

logarithm <- function(x, shown, call, base = NULL) {
  natural <- unary("log", x, "a floating-point or complex number", shown, call = call)
  if (is.null(base)) natural else natural / log(base)
}

rounded <- function(x, shown, call, digits = 0) {
  if (!identical(as.numeric(digits), 0)) {
    abort("round(): values of programs are rounded to whole numbers only",
      op = "round", operand = "digits", call = call
    )
  }
  unary("round_nearest_even", x, "a floating-point number", shown, call = call)
}
