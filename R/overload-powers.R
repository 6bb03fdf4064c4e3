# Logarithms to any base. Those to base 2 and 10 are exact where they are whole, as in R: floor(log10(1000)) is 3.

# XLA's own loses the last two digits of doubles near -0.4. What 1 + x loses of x is made good in proportion.
math_member("log1p", "inexact", function(x) {
  own <- function(x) bind("log_plus_one", list(x), x@dtype, x@shape)
  if (x@dtype != "f64") {
    return(own(x))
  }
  op <- slope_op("log1p", function(x) {
    # XLA would take (1 + x) - 1 for x.
    one <- no_constant(1, x)
    whole <- one + x
    part <- whole - one
    ratio <- x / hlo_select(part == 0, 1, part)
    hlo_select(part == 0, x, hlo_select(whole == x, log(whole), log(whole) * ratio))
  }, function(x, y) 1 / (1 + x))
  op(x)
})

# The largest power of the base that is exact, by dtype
exact_powers <- list(
  "2" = c(f16 = 14, bf16 = 126, f32 = 126, f64 = 1022),
  "10" = c(f16 = 4, bf16 = 2, f32 = 10, f64 = 22)
)

math_members$log <- function(x, shown, call, base) {
  if (missing(base)) {
    x <- math_operand(as_value(x, "x", call = call, op = shown), "inexact", shown, call)
    return(bind("log", list(x), x@dtype, x@shape))
  }
  if (is_value(x) && is_one_number(base) && base %in% c(2, 10)) {
    return(log_to(math_operand(x, "inexact", shown, call), base))
  }
  arguments <- list(x = x, base = base)
  both <- operands(x, base, shown, names(arguments), call)
  both <- as_first_full(both, common(arguments, shown, names(arguments), call, free_shape))
  # As in R: without elements the result has dimensions of `x` alone.
  if (!length(both[[1L]]) && length(x)) both <- lapply(both, as_column)
  both <- lapply(both, math_operand, "inexact", shown, call)
  log(both[[1L]]) / log(both[[2L]])
}

is_one_number <- function(x) is.numeric(x) && !is.object(x) && length(x) == 1L && is.null(dim(x)) && !is.na(x)

# R looks at `x` only for a method, so a base that is a value needs the scope.
overload("log", "base",
  f = function(x, base = exp(1)) {
    call <- method_call("log")
    member <- math_members$log
    if (missing(base)) member(x, "log()", call) else member(x, "log()", call, base)
  },
  topic = "Mathematical functions", dtypes = "real and complex numbers"
)

math_member("log2", "inexact", function(x) log_to(x, 2))

math_member("log10", "inexact", function(x) log_to(x, 10))

log_to <- function(x, base) {
  largest <- if (!is_complex(x@dtype)) exact_powers[[as.character(base)]][x@dtype]
  if (is.null(largest) || is.na(largest)) {
    return(log(x) / log(base))
  }
  op <- slope_op(
    sprintf("log%d", base), function(x) whole_log(x, base, exact_powers[[as.character(base)]][[x@dtype]]),
    function(x, y) 1 / (x * log(base))
  )
  op(x)
}

whole_log <- function(x, base, largest) {
  quotient <- log(x) / log(base)
  whole <- round(quotient)
  size <- abs(whole)
  power <- whole_power(base, size, largest)
  hit <- (x == hlo_select(whole < 0, 1 / power, power)) & (size <= largest)
  hlo_select(hit, whole, quotient)
}

# base^n for whole n from 0 to `largest`, multiplied up from the powers base^(2^i) from the lowest as R does.
whole_power <- function(base, n, largest) {
  power <- filled(1, n)
  for (bit in seq_len(floor(log2(largest)) + 1)) {
    half <- floor(n / 2)
    power <- hlo_select(n - 2 * half == 1, power * base, power)
    n <- half
    base <- base * base
  }
  power
}

# Powers of complex numbers as R's: products for a known whole exponent; of 0 and of infinite numbers, where XLA has
# NaN, what R has.
complex_power <- function(x, y, exponent) {
  known <- !is_value(exponent) && is.numeric(exponent) && length(exponent) == 1L && !is.na(exponent)
  if (known && exponent == trunc(exponent) && abs(exponent) <= 65536) {
    return(complex_whole_power(x, exponent))
  }
  complex_power_op()(x, y)
}

# Where both are 0, or y is and x is NaN, it does not depend on x. Where the power vanishes or x is 0, log(x) is taken
# as 0.
complex_power_op <- function() {
  made_once("op complex_power", function() {
    jvp <- function(primals, results, tangents) {
      x <- primals[[1L]]
      y <- primals[[2L]]
      flat <- is_zero(y) & (is_zero(x) | (x != x))
      exponent <- selected(flat, filled(1, y), y - 1)
      by_x <- along(tangents[[1L]], function(t) t * selected(flat, filled(0, x), y * complex_power_op()(x, exponent)))
      base <- selected(is_zero(x) | vanishes_at(x, y), filled(1, x), x)
      hlo_add(by_x, along(tangents[[2L]], function(t) t * (log(base) * results)))
    }
    ffi_op(complex_power_value, jvp, name = "complex_power")
  })
}

complex_power_value <- function(x, y) {
  zero <- is_zero(x)
  vanishes <- vanishes_at(x, y)
  z <- bind("power", list(selected(zero | vanishes, filled(1, x), x), y), x@dtype, x@shape)
  order <- hlo_real(y)
  real <- hlo_imag(y) == 0
  at_zero <- selected(real, filled(0, order)^order, filled(NaN, order))
  of_zero <- hlo_complex(at_zero, selected(real, filled(0, order), at_zero))
  selected(zero, of_zero, selected(vanishes, filled(0, x), z))
}

# Whether x is infinite and its power with a negative exponent 0
vanishes_at <- function(x, y) has_infinity(x) & (hlo_imag(y) == 0) & (hlo_real(y) < 0)

is_zero <- function(z) (hlo_real(z) == 0) & (hlo_imag(z) == 0)

has_infinity <- function(z) (abs(hlo_real(z)) == Inf) | (abs(hlo_imag(z)) == Inf)

# By squares, as R does it
complex_whole_power <- function(x, exponent) {
  if (exponent == 0) {
    return(filled(1, x))
  }
  left <- abs(exponent)
  factor <- x
  product <- NULL
  while (left > 0) {
    if (left %% 2 == 1) product <- if (is.null(product)) factor else product * factor
    left <- left %/% 2
    if (left > 0) factor <- factor * factor
  }
  if (exponent > 0) {
    return(product)
  }
  zero <- is_zero(x)
  infinite <- has_infinity(x)
  inverse <- 1 / selected(zero | infinite, filled(1, x), product)
  selected(zero, filled(complex(real = Inf, imaginary = 0), x), selected(infinite, filled(0, x), inverse))
}
