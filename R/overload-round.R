# round() and signif() to decimal digits, by the steps that R takes, in double precision: a last bit decides which way.

math_members$round <- function(x, shown, call, digits = 0, ...) {
  check_dots_empty(..., call = call)
  digits <- check_digits(digits, shown, call)
  if (digits > 308) {
    abort(sprintf("round(): `digits` must be 308 at most, not %s", format(digits)),
      op = "round", operand = "digits", call = call
    )
  }
  rounded_parts(x, shown, call, function(x) {
    if (digits == 0) bind("round_nearest_even", list(x), x@dtype, x@shape) else round_digits(x, digits)
  })
}

overload("round", "base",
  by = "group", topic = "Mathematical functions", dtypes = "real and complex numbers", derivative = "none",
  differs = "`digits` is one number that is known while the program is written."
)

math_members$signif <- function(x, shown, call, digits = 6) {
  digits <- check_digits(digits, shown, call)
  if (is_complex(x@dtype)) {
    abort("signif() is not available for complex values of programs", "UNIMPLEMENTED",
      op = "signif", operand = "x", call = call
    )
  }
  rounded_parts(x, shown, call, function(x) signif_digits(x, digits))
}

overload("signif", "base",
  by = "group", topic = "Mathematical functions", dtypes = "real numbers", derivative = "none",
  differs = paste(
    "`digits` is one number that is known while the program is written. Beyond 1e22 and below 1e-22 the last bit may",
    "differ."
  )
)

check_digits <- function(digits, shown, call) {
  if (!is_one_number(digits)) {
    abort(sprintf("%s: `digits` must be one number that is known, not %s", shown, describe(digits)),
      op = sub("()", "", shown, fixed = TRUE), operand = "digits", call = call
    )
  }
  # As R rounds them
  floor(digits + 0.5)
}

rounded_parts <- function(x, shown, call, f) {
  x <- math_operand(x, "inexact", shown, call)
  if (is_complex(x@dtype)) hlo_complex(f(hlo_real(x)), f(hlo_imag(x))) else f(x)
}

# The nearer of the two neighbours that have so many digits, the even one of two that are equally near, as doubles.
# A number without more digits than doubles have stays.
round_digits <- function(x, digits) {
  flat_op(sprintf("round to %.0f digits", digits), function(x) {
    if (digits < -308) {
      return(hlo_select(is.finite(x), filled(0, x), x))
    }
    size <- abs(x)
    scale <- no_constant(power_of_ten(digits), x)
    scaled <- size * scale
    below <- floor(scaled) / scale
    above <- ceiling(scaled) / scale
    up <- above - size
    down <- size - below
    odd <- floor(scaled) %% 2 == 1
    y <- zero_signed(x) * hlo_select((up < down) | (odd & (up == down)), above, below)
    exponent <- floor((15 - digits) / log10(2) - 0.5) + 1
    if (exponent > 1023) y else hlo_select(size >= 2^exponent, x, y)
  })(x)
}

signif_digits <- function(x, digits) {
  if (digits > 22) {
    return(x)
  }
  digits <- max(digits, 1)
  flat_op(sprintf("round to %.0f significant digits", digits), function(x) {
    size <- abs(x)
    # Far from the ends of the range, where powers of ten are finite and no zeros
    scale <- hlo_select(size < 1e-280, filled(1e60, x), hlo_select(size > 1e280, filled(1e-60, x), filled(1, x)))
    size <- size * scale
    shift <- digits - 1 - floor(log10(size))
    power <- whole_power(10, abs(shift), 320)
    y <- hlo_select(shift > 0, round(size * power) / power, round(size / power) * power)
    hlo_select(is.finite(x) & (x != 0), zero_signed(x) * y / scale, x)
  })(x)
}

# 10^n as R multiplies it up: 10^n of the C library differs in the last bit where it is not exact.
power_of_ten <- function(n) {
  power <- 1
  base <- 10
  rest <- abs(n)
  while (rest > 0) {
    if (rest %% 2 == 1) power <- power * base
    rest <- rest %/% 2
    base <- base * base
  }
  if (n < 0) 1 / power else power
}

# A number that XLA does not know while it compiles: it would replace a quotient by a product with the reciprocal.
no_constant <- function(number, like) hlo_select(like == like, filled(number, like), like)

# A function of doubles, element by element, that is constant almost everywhere.
flat_op <- function(name, call) {
  made_once(paste("op", name), function() {
    ffi_op(
      function(x) converted(call(converted(x, "f64")), x@dtype),
      jvp = function(primals, results, tangents) NULL, name = name
    )
  })
}

# The digits follow from the largest element, which is a value.
overload_zapsmall <- function(x, digits = getOption("digits")) {
  call <- method_call("zapsmall")
  digits <- check_digits(digits, "zapsmall()", call)
  if (is_value(x) && !length(x)) {
    return(x)
  }
  x <- math_operand(x, "float", "zapsmall()", call)
  flat_op(sprintf("zapsmall %.0f %s", digits, r_takes_ceiling()), function(x) {
    size <- abs(x)
    largest <- max(hlo_select(x == x, size, filled(0, x)))
    magnitude <- log10(largest)
    magnitude <- if (r_takes_ceiling()) ceiling(magnitude) else magnitude
    shift <- hlo_max(floor(digits - magnitude + 0.5), 0)
    shift <- hlo_select(largest > 0, shift, filled(digits, shift))
    power <- repeated(whole_power(10, hlo_min(shift, 308), 308), x@shape)
    scaled <- size * power
    down <- floor(scaled) / power
    up <- ceiling(scaled) / power
    odd <- floor(scaled) %% 2 == 1
    nearer <- (up - size < size - down) | (odd & (up - size == size - down))
    y <- zero_signed(x) * hlo_select(nearer, up, down)
    # What has no more digits than doubles have stays.
    whole <- scaled >= 1e15
    hlo_select(whole | !is.finite(x) | repeated(shift > 308, x@shape), x, y)
  })(x)
}

# Versions of R differ.
r_takes_ceiling <- function() "ceiling" %in% all.names(body(base::zapsmall))

overload("zapsmall", "base", overload_zapsmall,
  topic = "Mathematical functions", dtypes = "real numbers", derivative = "none",
  differs = "`digits` is one number that is known. Always doubles or f32, where R gives integers that are all NA."
)
