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
      # Of the quotient by y once more XLA makes one by y^2, which may be 0.
      along(tangents[[2L]], function(t) -(t / y * output(node)))
    ))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !linear[[2L]])
    list(cotangents[[1L]] / node$inputs[[2L]], NULL)
  }
)

# x^y: where both are 0, or y is and x is NaN, it does not depend on x, and where x is 0 log(x) is taken as 0.
primitive("power", jvp = function(node, tangents) {
  x <- node$inputs[[1L]]
  y <- node$inputs[[2L]]
  one <- filled(1, x)
  by_x <- along(tangents[[1L]], function(t) {
    flat <- compared(y, 0, "EQ", "`==`") & ((x == 0) | (x != x))
    exponent <- selected(flat, one, y - 1)
    t * selected(flat, filled(0, x), y * bind("power", list(x, exponent), x@dtype, x@shape))
  })
  by_y <- along(tangents[[2L]], function(t) {
    zero <- compared(x, 0, "EQ", "`==`")
    t * (log(selected(zero, one, x)) * output(node))
  })
  list(add_tangents(by_x, by_y))
})

# Where both are equal, or one is NaN, each counts half. What one has not the other has.
beyond_other <- function(direction) {
  function(node, tangents) {
    x <- node$inputs[[1L]]
    y <- node$inputs[[2L]]
    opposite <- mirrored[[direction]]
    within <- selected(compared(x, y, opposite, opposite), filled(0, x), filled(0.5, x))
    share <- selected(compared(x, y, direction, direction), filled(1, x), within)
    list(add_tangents(
      along(tangents[[1L]], function(t) t * share), along(tangents[[2L]], function(t) t * (1 - share))
    ))
  }
}

primitive("maximum", jvp = beyond_other("GT"))

primitive("minimum", jvp = beyond_other("LT"))

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
