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

# f(x, ...), whose derivative in x is slope(x, ...) and not what `f` was computed by: f at an x that counts as constant,
# and the integral of the slope from there to x.
with_slope <- function(f, slope, x, ...) f(xla_stop_gradient(x), ...) + empty_integral(slope)(x, ...)

# The integral of `slope` over its first argument from x to x, which is 0. Its derivative in x is `slope`, that in
# another argument the integral of the derivative of `slope`: so mixed derivatives are right in all orders.
empty_integral <- function(slope) {
  ffi_op(
    function(x, ...) filled(0, x),
    jvp = function(primals, results, tangents) {
      primals <- unname(primals)
      changes <- Map(function(tangent, i) {
        by_i <- if (i == 1L) slope else empty_integral(partial_derivative(slope, i))
        along(tangent, function(t) t * do.call(by_i, primals))
      }, unname(tangents), seq_along(primals))
      Reduce(add_tangents, changes)
    },
    name = "empty_integral"
  )
}

# The derivative of `f` in its argument `i`
partial_derivative <- function(f, i) {
  slopes <- partial_derivatives(function(...) list(f(...)), i)
  function(...) slopes(...)[[1L]]
}

# That of each value which the list `f` gives has
partial_derivatives <- function(f, i) {
  force(f)
  force(i)
  function(...) {
    arguments <- list(...)
    at <- evaluated(function(x) do.call(f, replace(arguments, i, list(x))), arguments[i], named = FALSE)
    like <- arguments[[i]]
    lapply(jvp_graph(at$outputs, at$roots, list(filled(1, like))), or_zero, like)
  }
}
