# What distribution functions and quantiles share: which tail is asked for, and whether its logarithm is.

check_tails <- function(lower, log, call) {
  check_flag(lower, "lower.tail", call)
  check_flag(log, "log.p", call)
}

# `inner`, but for where there is nothing below, or nothing above.
with_ends <- function(inner, before, behind, lower, log) {
  ends <- function(lower) if (lower) (if (log) -Inf else 0) else (if (log) 0 else 1)
  hlo_select(before, ends(lower), hlo_select(behind, ends(!lower), inner))
}

# The probability of a tail when that of the upper one is exp(-t)
from_log_upper <- function(t, lower, log) {
  if (lower) {
    if (log) hlo_log1mexp(t) else -expm1(-t)
  } else {
    if (log) -t else exp(-t)
  }
}

# The other way round
minus_log_upper <- function(p, lower, log) {
  if (lower) {
    if (log) -hlo_log1mexp(-p) else -log1p(-p)
  } else {
    if (log) -p else -log(p)
  }
}

# The special function of a tail: `name`, its complement, or their logarithms
tail_function <- function(lower, log, names) {
  name <- names[[if (lower) 1L else 2L]]
  if (log) paste0("log_", name) else name
}

gamma_probability <- function(a, x, lower, log) {
  sf(tail_function(lower, log, c("gammainc_p", "gammainc_q")), a, x)
}

# Of a beta distribution at w = 1 - v, by the smaller of both
beta_probability <- function(w, v, a, b, lower, log) {
  near <- w < 0.5
  names <- c("betainc", "betainc_c")
  at_w <- sf(tail_function(lower, log, names), a, b, hlo_select(near, w, 0.25))
  at_v <- sf(tail_function(!lower, log, names), b, a, hlo_select(near, 0.25, v))
  hlo_select(near, at_w, at_v)
}

# The probability `y` of a tail at `x`, whose slope in x is the density and not what `y` was computed by.
# `density` is a function of x and `parameters` that gives the density's logarithm.
with_density <- function(x, parameters, lower, log, probability, density) {
  frozen <- made_once("op frozen", function() {
    ffi_op(function(x) x + 0, jvp = function(primals, results, tangents) NULL, name = "frozen")
  })
  y <- do.call(probability, c(list(frozen(x)), parameters))
  sign <- if (lower) 1 else -1
  attach <- ffi_op(
    function(y, x, ...) y + 0,
    jvp = function(primals, results, tangents) {
      y <- primals[[1L]]
      by_x <- along(tangents[[2L]], function(t) {
        log_slope <- do.call(density, unname(primals[-1L]))
        t * (sign * exp(if (log) log_slope - y else log_slope))
      })
      hlo_add(tangents[[1L]], by_x)
    },
    name = "probability"
  )
  do.call(attach, c(list(y, x), unname(parameters)))
}
