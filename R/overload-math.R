# R's mathematical functions on values: the members of the group Math.

math_kinds <- c(inexact = "a floating-point or complex number", float = "a floating-point number")

#' @export
Math.xlaffi_value <- function(x, ...) {
  call <- method_call(.Generic)
  shown <- paste0(.Generic, "()")
  member <- math_members[[.Generic]]
  if (is.null(member)) {
    abort(sprintf("%s is not available for values of programs", shown), "UNIMPLEMENTED", op = .Generic, call = call)
  }
  known <- names(formals(member))
  extra <- if (!"..." %in% known) setdiff(names2(list(...)), c(known, ""))
  if (length(extra) || (!"..." %in% known && ...length() > length(known) - 3L)) {
    abort(sprintf("%s: unused arguments%s", shown, if (length(extra)) paste0(": ", toString(extra)) else ""),
      op = .Generic, operand = "...", call = call
    )
  }
  member(if (.Generic %in% of_integers) as_numbers(x) else as_doubles(x), shown, call, ...)
}

# Those that give integers for integers; R takes the others of doubles.
of_integers <- c("abs", "cumsum", "cummax", "cummin")

# Adds a member of one argument of a kind, and its overload.
math_member <- function(name, kind, f, derivative = "yes", differs = "") {
  force(f)
  math_members[[name]] <- function(x, shown, call) f(math_operand(x, kind, shown, call))
  overload(name, "base",
    by = "group", topic = "Mathematical functions",
    dtypes = if (kind == "float") "real numbers" else "real and complex numbers", derivative = derivative,
    differs = differs
  )
}

math_operand <- function(x, kind, shown, call) {
  x <- as_doubles(x)
  check_kind(x, math_kinds[[kind]], shown, "x", call)
  x
}

# Nodes of StableHLO's own, by R's name
local({
  own <- c(
    expm1 = "exponential_minus_one", floor = "floor", ceiling = "ceil"
  )
  for (name in names(own)) {
    flat <- name %in% c("floor", "ceiling")
    math_member(name, if (flat) "float" else "inexact", local({
      op <- own[[name]]
      function(x) bind(op, list(x), x@dtype, x@shape)
    }), derivative = if (flat) "none" else "yes")
  }
})

# XLA makes +0 of an imaginary part that is -0, where R keeps the sign, or turns it where the function falls: `y` of x,
# on the real line.
with_sign_of_zero <- function(y, x, falls = FALSE) {
  zero <- (hlo_imag(x) == 0) & (hlo_imag(y) == 0)
  hlo_complex(hlo_real(y), selected(zero, if (falls) -hlo_imag(x) else hlo_imag(x), hlo_imag(y)))
}

local({
  own <- c(exp = "exponential", tanh = "tanh")
  slopes <- list(exp = function(x, y) y, tanh = function(x, y) (1 - y) * (1 + y))
  for (name in names(own)) {
    math_member(name, "inexact", local({
      name <- name
      xla <- function(x) bind(own[[name]], list(x), x@dtype, x@shape)
      function(x) {
        if (!is_complex(x@dtype)) {
          return(xla(x))
        }
        op <- slope_op(paste0("complex_", name), function(x) with_sign_of_zero(xla(x), x), slopes[[name]])
        op(x)
      }
    }))
  }
})

math_member("sqrt", "inexact", function(x) {
  if (is_complex(x@dtype)) complex_sqrt()(x) else bind("sqrt", list(x), x@dtype, x@shape)
})

# XLA takes -0i for 0i on the cut, where the root has the sign of the imaginary part.
complex_sqrt <- function() {
  slope_op("complex_sqrt", function(x) {
    root <- bind("sqrt", list(x), x@dtype, x@shape)
    below <- (hlo_imag(x) == 0) & (1 / hlo_imag(x) < 0) & (hlo_imag(root) > 0)
    with_sign_of_zero(selected(below, hlo_conj(root), root), x)
  }, function(x, y) 0.5 / y)
}

math_members$abs <- function(x, shown, call) {
  if (startsWith(x@dtype, "u")) x else unary("abs", x, "a number", shown, real_dtype(x@dtype), call)
}

overload("abs", "base", by = "group", topic = "Mathematical functions", dtypes = "all numbers")

# XLA's sign, which of -0 is -0.
zero_signed <- function(x) bind("sign", list(x), x@dtype, x@shape)

# R's sign of -0 is 0.
math_members$sign <- function(x, shown, call) {
  if (startsWith(x@dtype, "u")) {
    return(converted(x != 0, x@dtype))
  }
  y <- unary("sign", x, "a real number", shown, call = call)
  if (is_float(y@dtype)) selected(x == 0, filled(0, y), y) else y
}

overload("sign", "base", by = "group", topic = "Mathematical functions", dtypes = "real numbers", derivative = "none")

math_members$trunc <- function(x, shown, call, ...) {
  check_dots_empty(..., call = call)
  x <- math_operand(x, "float", shown, call)
  zero_signed(x) * floor(abs(x))
}

overload("trunc", "base", by = "group", topic = "Mathematical functions", dtypes = "real numbers", derivative = "none")

# Of complex numbers XLA's sin() and cos() lose the digits of small parts in exp(y) - exp(-y).
math_member("sin", "inexact", function(x) {
  if (is_complex(x@dtype)) -times_i(sinh(times_i(x))) else bind("sine", list(x), x@dtype, x@shape)
})

math_member("cos", "inexact", function(x) {
  if (is_complex(x@dtype)) cosh(times_i(x)) else bind("cosine", list(x), x@dtype, x@shape)
})

math_member("tan", "inexact", function(x) {
  # Of complex numbers, sin(x) and cos(x) overflow where their quotient is 1i.
  if (is_complex(x@dtype)) -times_i(tanh(times_i(x))) else sin(x) / cos(x)
})

# cosh(a + bi) is cosh(a) cos(b) + i sinh(a) sin(b): where both overflow, each part has its own sign.
of_parts_hyperbolic <- function(x, real, imaginary) {
  a <- hlo_real(x)
  b <- hlo_imag(x)
  # 0 times infinity or NaN is 0 here.
  beside_zero <- function(x, y) selected((y == 0) & !(abs(x) < Inf), filled(0, x), x)
  times <- function(x, y) beside_zero(x, y) * beside_zero(y, x)
  hlo_complex(times(real(a), cos(b)), times(imaginary(a), sin(b)))
}

math_member("cosh", "inexact", function(x) {
  if (is_complex(x@dtype)) {
    return(of_parts_hyperbolic(x, cosh, sinh))
  }
  # Halves of the exponent, which do not overflow before the result does
  halves(x / 2) + halves(-x / 2)
})

math_member("sinh", "inexact", function(x) {
  if (is_complex(x@dtype)) {
    return(of_parts_hyperbolic(x, sinh, cosh))
  }
  near <- abs(x) < 1
  # What is not chosen must have finite derivatives, too.
  small <- hlo_select(near, x, filled(0, x))
  hlo_select(near, (expm1(small) - expm1(-small)) / 2, halves(x / 2) - halves(-x / 2))
})

# exp(2 x) / 2
halves <- function(x) {
  root <- exp(x)
  root * 0.5 * root
}

# Of complex numbers CHLO's functions, on branch cuts with R's values, which it takes from other sides than C does,
# whatever the sign of a zero: where part `k` of x is 0 (1 the real one), and the other beyond 1, part `k` of y has
# `sign` times the sign of that other part.
complex_inverse <- function(name, k, sign, slope, falls = FALSE) {
  slope_op(paste0("complex_", name), function(x) {
    y <- with_sign_of_zero(chlo(name, x), x, falls)
    from <- list(hlo_real(x), hlo_imag(x))
    to <- list(hlo_real(y), hlo_imag(y))
    along <- from[[3L - k]]
    on_cut <- (from[[k]] == 0) & (abs(along) > 1)
    to[[k]] <- hlo_select(on_cut, sign * zero_signed(along) * abs(to[[k]]), to[[k]])
    hlo_complex(to[[1L]], to[[2L]])
  }, slope)
}

# The slope on the side that the value is taken from: `inverse` is its inverse, as far as the sign goes.
on_same_side <- function(slope, inverse) selected(hlo_real(slope * inverse) < 0, -slope, slope)

math_member("asin", "inexact", function(x) {
  if (!is_complex(x@dtype)) {
    return(hlo_atan2(x, sqrt((1 - x) * (1 + x))))
  }
  complex_inverse("asin", 2L, -1, function(x, y) on_same_side(1 / (sqrt(1 - x) * sqrt(1 + x)), cos(y)))(x)
})

math_member("acos", "inexact", function(x) {
  if (is_complex(x@dtype)) complex_acos(x) else hlo_atan2(sqrt((1 - x) * (1 + x)), x)
})

complex_acos <- function(x) {
  slope <- function(x, y) on_same_side(-1 / (sqrt(1 - x) * sqrt(1 + x)), -sin(y))
  complex_inverse("acos", 2L, 1, slope, falls = TRUE)(x)
}

math_member("atan", "inexact", function(x) {
  if (!is_complex(x@dtype)) {
    return(hlo_atan2(x, 1))
  }
  complex_inverse("atan", 1L, 1, function(x, y) 1 / ((1 - times_i(x)) * (1 + times_i(x))))(x)
})

math_member("asinh", "inexact", function(x) {
  if (!is_complex(x@dtype)) {
    return(chlo("asinh", x))
  }
  slope <- function(x, y) on_same_side(1 / (sqrt(1 - times_i(x)) * sqrt(1 + times_i(x))), cosh(y))
  complex_inverse("asinh", 1L, 1, slope)(x)
})

# Of complex numbers R's is 1i * acos(x), whose real part may be negative.
math_member("acosh", "inexact", function(x) {
  if (is_complex(x@dtype)) times_i(complex_acos(x)) else chlo("acosh", x)
})

math_member("atanh", "inexact", function(x) {
  if (!is_complex(x@dtype)) {
    return((log1p(x) - log1p(-x)) / 2)
  }
  complex_inverse("atanh", 2L, -1, function(x, y) 1 / ((1 - x) * (1 + x)))(x)
})

# sin(pi x) and its kin are exact at multiples of 1/2: what is left of x is brought to -1/2 .. 1/2, without rounding.
half_turns <- function(x) x - 2 * round(x / 2)

math_member("sinpi", "float", function(x) sinpi_op()(x))

math_member("cospi", "float", function(x) cospi_op()(x))

math_member("tanpi", "float", function(x) tanpi_op()(x),
  differs = "NaN at the poles, as R has it, comes without a warning."
)

tanpi_op <- function() {
  slope_op("tanpi", function(x) {
    rest <- x - round(x)
    pole <- abs(rest) == 0.5
    quarter <- abs(rest) == 0.25
    hlo_select(pole, filled(NaN, x), hlo_select(quarter, zero_signed(rest), sinpi(rest) / cospi(rest)))
  }, function(x, y) pi + pi * y^2)
}

sinpi_op <- function() {
  slope_op("sinpi", function(x) {
    rest <- half_turns(x)
    sin(pi * hlo_select(abs(rest) > 0.5, zero_signed(rest) - rest, rest))
  }, function(x, y) pi * cospi(x))
}

cospi_op <- function() {
  slope_op("cospi", function(x) sin(pi * (0.5 - abs(half_turns(x)))), function(x, y) -pi * sinpi(x))
}
