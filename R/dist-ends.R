# Derivatives of densities and probabilities at an end of the support are the limits from inside. A density that goes as
# d^power times a smooth function of the distance d from the end has them from this form, also where they are infinite.

# The functions of x >= 0 and p that `values(x, p, j, m)` gives: the derivatives of order j in x and m in p of the first
# of them, for j = m = 0. At 0 they are limits.
by_orders <- function(name, values) {
  at <- function(j, m) {
    made_once(paste("op", name, j, m), function() {
      ffi_op(
        function(x, p) values(x, p, j, m),
        jvp = function(primals, results, tangents) {
          hlo_add(
            along(tangents[[1L]], function(t) t * at(j + 1L, m)(primals[[1L]], primals[[2L]])),
            along(tangents[[2L]], function(t) t * at(j, m + 1L)(primals[[1L]], primals[[2L]]))
          )
        },
        name = name
      )
    })
  }
  at(0L, 0L)
}

# x^p. The derivative of order j in x is p (p - 1) ... (p - j + 1) x^(p - j), whose m-th in p is a sum of products.
end_power <- function(x, p) {
  by_orders("end_power", function(x, p, j, m) {
    # The polynomial in p and its derivatives, by coefficients
    polynomial <- Reduce(function(below, r) c(0, below) - r * c(below, 0), seq_len(j) - 1, 1)
    factors <- list()
    for (i in 0:m) {
      factors[[i + 1L]] <- if (length(polynomial)) horner(p, polynomial) else filled(0, p)
      polynomial <- polynomial[-1L] * seq_along(polynomial[-1L])
    }
    end <- x == 0
    at <- hlo_select(end, 0.5, x)
    inner <- Reduce(`+`, lapply(0:m, function(i) choose(m, i) * log(at)^(m - i) * factors[[i + 1L]])) * at^(p - j)
    # The first term that is not 0 decides.
    leading <- filled(0, x)
    for (i in m:0) {
      infinite <- factors[[i + 1L]] * (if ((m - i) %% 2 == 0) Inf else -Inf)
      size <- if (i == m) hlo_select(p == j, factors[[i + 1L]], infinite) else infinite
      leading <- hlo_select(factors[[i + 1L]] == 0, leading, size)
    }
    hlo_select(end, hlo_select(p > j, 0, leading), inner)
  })(x, p)
}

# p log(x), which is 0 where p is
end_log_power <- function(x, p) {
  by_orders("end_log_power", function(x, p, j, m) {
    if (m > 1L) {
      return(filled(0, x))
    }
    by_p <- if (j == 0L) log(x) else (-1)^(j - 1) * factorial(j - 1) / x^j
    if (m == 1L) by_p else hlo_select(p == 0, 0, hlo_select(p == 0, 1, p) * by_p)
  })(x, p)
}

# `value` with the derivatives of f(...)
with_derivatives_of <- function(f, value, ...) {
  op <- ffi_op(
    function(value, ...) value - 0,
    jvp = function(primals, results, tangents) {
      at <- evaluated(f, unname(primals)[-1L], named = FALSE)
      jvp_graph(at$outputs, at$roots, unname(tangents)[-1L])[[1L]]
    },
    name = "with_derivatives_of"
  )
  op(value, ...)
}

# An end of a support: `at` is true there, where `distance` is 0; the density goes as distance^power exp(rest), and
# `form` gives both for the distance and `parameters`. `lower` says whether it is the lower tail that is 0 there.
end_of <- function(at, distance, parameters, form, lower = TRUE) {
  list(at = at, distance = distance, parameters = parameters, form = form, lower = lower)
}

# Two ends of one form where no element can be at both: `first` and `second` tell where each is, and `parts` have the
# distance and the parameters for them.
either_end <- function(first, second, parts, others, form) {
  parts <- Map(function(x, y) hlo_select(second, y, x), parts, others)
  end_of(first | second, parts[[1L]], parts[-1L], form)
}

# `y` whose derivatives at an end are those of `f` of the distance and the parameters. Elsewhere f is computed with
# numbers that have finite derivatives.
at_end <- function(y, end, f) {
  parts <- c(
    list(hlo_select(end$at, end$distance, 0.5)), lapply(end$parameters, function(p) hlo_select(end$at, p, 1))
  )
  hlo_select(end$at, do.call(with_derivatives_of, c(list(f, y), parts)), y)
}

end_density <- function(form, log) {
  force(form)
  function(distance, ...) {
    parts <- form(distance, ...)
    if (log) end_log_power(distance, parts$power) + parts$rest else end_power(distance, parts$power) * exp(parts$rest)
  }
}

# A density, or its logarithm
density_at_ends <- function(y, ends, log) {
  for (end in ends) y <- at_end(y, end, end_density(end$form, log))
  y
}

# The probability of a tail, or its logarithm
probability_at_ends <- function(y, ends, lower, log) {
  for (end in ends) y <- at_end(y, end, end_probability(end$form, end$lower == lower, log))
  y
}

# `none`: the tail that is 0 at the end, not the other one
end_probability <- function(form, none, log) {
  force(form)
  force(none)
  function(distance, ...) {
    if (none && log) {
      # What is left out is small beside it, and the slope of the power is larger than any other.
      parts <- form(xla_stop_gradient(distance), ...)
      return(end_log_power(distance, parts$power + 1) + parts$rest - log(parts$power + 1))
    }
    passed <- empty_integral(end_density(form, FALSE))(distance, ...)
    if (none) passed else if (log) log1p(-passed) else -passed
  }
}

# Forms: the gamma density at 0, ...
gamma_end <- function(d, shape, scale) {
  list(power = shape - 1, rest = -d / scale - sf("lgamma", shape) - shape * log(scale))
}

# ... the beta density at the end whose shape is `a`, ...
beta_end <- function(d, a, b) list(power = a - 1, rest = (b - 1) * log1p(-d) - sf("lbeta", a, b))

# ... the exponential one, Weibull's and F's at 0, ...
exponential_end <- function(d, rate) list(power = filled(0, rate), rest = log(rate) - rate * d)

weibull_end <- function(d, shape, scale) {
  log_unit <- shape * log(scale)
  list(power = shape - 1, rest = log(shape) - log_unit - end_power(d, shape) * exp(-log_unit))
}

f_end <- function(d, m, n) {
  rest <- 0.5 * (m * (log(m) - log(n)) - (m + n) * log1p(d * m / n)) - sf("lbeta", 0.5 * m, 0.5 * n)
  list(power = 0.5 * m - 1, rest = rest)
}

# ... and the probabilities of counts in parameters that are at an end.
poisson_end <- function(d, k) list(power = k, rest = -d - sf("lgamma", k + 1))

binomial_end <- function(d, k, others) list(power = k, rest = others * log1p(-d) + sf("lchoose", k + others, k))

negative_binomial_end <- function(d, k, size) list(power = k, rest = size * log1p(-d) + sf("lchoose", size + k - 1, k))

# Of any count but 0 the probability goes as the mean.
beta_binomial_end <- function(d, k, others, phi) {
  some <- k > 0
  a <- d * phi
  b <- phi - a
  rising <- function(n, x) sf("lgamma", n + x) - sf("lgamma", x)
  first <- hlo_select(some, log(phi) + rising(hlo_max(k, 1) - 1, a + 1), 0)
  rest <- sf("lchoose", k + others, k) + first + rising(others, b) - rising(k + others, phi)
  list(power = hlo_select(some, filled(1, k), filled(0, k)), rest = rest)
}

# By the mean
negative_binomial_mean_end <- function(d, k, size) {
  list(power = k, rest = sf("lchoose", size + k - 1, k) - k * log(size) - (size + k) * log1p(d / size))
}

# What the upper tail gains with the mean
negative_binomial_tail_end <- function(d, k, size) {
  list(power = k, rest = -sf("lbeta", k + 1, size) - (k + 1) * log(size) - (k + size + 1) * log1p(d / size))
}
