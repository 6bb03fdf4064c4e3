# Derivatives of elementwise functions. Reverse mode transposes what forward mode wrote, and that
# is linear in the tangents.

# The only result of a node.
output <- function(node) new_value(node)

# Zero is NULL.
add_tangents <- function(x, y) {
  if (is.null(x)) y else if (is.null(y)) x else x + y
}

or_zero <- function(tangent, like) if (is.null(tangent)) filled(0, like) else tangent

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

# |x| has slope 0 where it is 0.
primitive("abs", jvp = function(node, tangents) {
  x <- node$inputs[[1L]]
  if (!is_complex(x@dtype)) {
    return(list(tangents[[1L]] * sign(x)))
  }
  size <- output(node)
  direction <- hlo_conj(x) / converted(selected(size == 0, filled(1, size), size), x@dtype)
  list(hlo_real(tangents[[1L]] * direction))
})

# Steps are flat, and logicals and integers have no derivatives.
primitive(
  c("sign", "floor", "ceil", "round_nearest_even", "not", "and", "or", "compare"),
  jvp = function(node, tangents) list(NULL)
)

primitive("add",
  jvp = function(node, tangents) list(add_tangents(tangents[[1L]], tangents[[2L]])),
  transpose = function(node, cotangents, linear) {
    lapply(linear, function(here) if (here) cotangents[[1L]])
  }
)

primitive("subtract",
  jvp = function(node, tangents) {
    list(add_tangents(tangents[[1L]], along(tangents[[2L]], `-`)))
  },
  transpose = function(node, cotangents, linear) {
    list(if (linear[[1L]]) cotangents[[1L]], if (linear[[2L]]) -cotangents[[1L]])
  }
)

primitive("negate",
  jvp = function(node, tangents) list(-tangents[[1L]]),
  transpose = function(node, cotangents, linear) list(-cotangents[[1L]])
)

primitive("multiply",
  jvp = function(node, tangents) {
    x <- node$inputs[[1L]]
    y <- node$inputs[[2L]]
    list(add_tangents(along(tangents[[1L]], function(t) t * y), along(tangents[[2L]], function(t) x * t)))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !all(linear))
    if (linear[[1L]]) {
      list(cotangents[[1L]] * node$inputs[[2L]], NULL)
    } else {
      list(NULL, node$inputs[[1L]] * cotangents[[1L]])
    }
  }
)

primitive("divide",
  jvp = function(node, tangents) {
    y <- node$inputs[[2L]]
    list(add_tangents(
      along(tangents[[1L]], function(t) t / y),
      along(tangents[[2L]], function(t) -(t * (output(node) / y)))
    ))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !linear[[2L]])
    list(cotangents[[1L]] / node$inputs[[2L]], NULL)
  }
)

# x^y: where y is 0 it does not depend on x, and where x is 0 log(x) is taken as 0.
primitive("power", jvp = function(node, tangents) {
  x <- node$inputs[[1L]]
  y <- node$inputs[[2L]]
  one <- filled(1, x)
  by_x <- along(tangents[[1L]], function(t) {
    flat <- compared(y, 0, "EQ", "`==`")
    exponent <- selected(flat, one, y - 1)
    t * selected(flat, filled(0, x), y * record("power", list(x, exponent), x@dtype, x@shape))
  })
  by_y <- along(tangents[[2L]], function(t) {
    zero <- compared(x, 0, "EQ", "`==`")
    t * (log(selected(zero, one, x)) * output(node))
  })
  list(add_tangents(by_x, by_y))
})

# Where both are equal each counts half.
larger <- function(direction) {
  function(node, tangents) {
    x <- node$inputs[[1L]]
    y <- node$inputs[[2L]]
    share <- function(x, y) {
      half <- selected(x == y, filled(0.5, x), filled(0, x))
      selected(compared(x, y, direction, direction), filled(1, x), half)
    }
    list(add_tangents(
      along(tangents[[1L]], function(t) t * share(x, y)),
      along(tangents[[2L]], function(t) t * share(y, x))
    ))
  }
}

primitive("maximum", jvp = larger("GT"))
primitive("minimum", jvp = larger("LT"))

primitive("atan2", jvp = function(node, tangents) {
  y <- node$inputs[[1L]]
  x <- node$inputs[[2L]]
  square <- x * x + y * y
  list(add_tangents(
    along(tangents[[1L]], function(t) t * (x / square)),
    along(tangents[[2L]], function(t) t * (-y / square))
  ))
})

# The quotient, rounded towards zero, is constant almost everywhere.
primitive("remainder", jvp = function(node, tangents) {
  ratio <- node$inputs[[1L]] / node$inputs[[2L]]
  list(add_tangents(tangents[[1L]], along(tangents[[2L]], function(t) -(t * trunc(ratio)))))
})

primitive("select",
  jvp = function(node, tangents) {
    x <- output(node)
    list(selected(node$inputs[[1L]], or_zero(tangents[[2L]], x), or_zero(tangents[[3L]], x)))
  },
  transpose = function(node, cotangents, linear) {
    pred <- node$inputs[[1L]]
    given <- cotangents[[1L]]
    zero <- filled(0, given)
    list(NULL, if (linear[[2L]]) selected(pred, given, zero), if (linear[[3L]]) selected(pred, zero, given))
  }
)

primitive("convert",
  jvp = function(node, tangents) {
    dtype <- output(node)@dtype
    list(if (is_inexact(dtype)) converted(tangents[[1L]], dtype))
  },
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    dtype <- node$inputs[[1L]]@dtype
    if (is_complex(given@dtype) && !is_complex(dtype)) {
      given <- hlo_real(given)
    }
    list(converted(given, dtype))
  }
)

# The pairing that transposition keeps is sum(cotangent * tangent), without conjugation, as in JAX.
primitive("real",
  jvp = function(node, tangents) list(hlo_real(tangents[[1L]])),
  transpose = function(node, cotangents, linear) {
    list(hlo_complex(cotangents[[1L]], filled(0, cotangents[[1L]])))
  }
)

primitive("imag",
  jvp = function(node, tangents) list(hlo_imag(tangents[[1L]])),
  transpose = function(node, cotangents, linear) {
    list(hlo_complex(filled(0, cotangents[[1L]]), -cotangents[[1L]]))
  }
)

primitive("complex",
  jvp = function(node, tangents) {
    list(hlo_complex(or_zero(tangents[[1L]], node$inputs[[1L]]), or_zero(tangents[[2L]], node$inputs[[2L]])))
  },
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    list(if (linear[[1L]]) hlo_real(given), if (linear[[2L]]) -hlo_imag(given))
  }
)
