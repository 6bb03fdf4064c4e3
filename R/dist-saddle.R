# Probabilities of counts by the saddle-point expansion of Loader (2000), "Fast and accurate computation of binomial
# probabilities": no digits cancel, however large the counts are. Counts need not be whole, which gives the densities of
# gamma, beta, t and F. All take values of dtype f64 and one shape.

half_log_2pi <- 0.918938533204672741780329736406

# log(n!) less Stirling's formula (n + 1/2) log(n) - n + log(2 pi) / 2, for n > 0: the series of log-gamma, from 8 on.
stirling_error <- function(n) {
  small <- n < 8
  m <- hlo_select(small, n + 8, n)
  # B(2k) / (2k (2k - 1)), k from 1
  terms <- c(1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
  series <- horner(1 / (m * m), terms) / m
  # Of n + 8 less that of n
  n <- hlo_select(small, n, 1)
  top <- n + 8
  product <- Reduce(`*`, lapply(1:7, function(k) n + k))
  power <- top * ((top * top) * (top * top) * (top * top))
  shift <- (n + 0.5) * log(top / n) + log(power / product) - 8
  hlo_select(small, series + shift, series)
}

# A polynomial; the coefficients in increasing order.
horner <- function(x, coefficients) {
  sum <- filled(coefficients[[length(coefficients)]], x)
  for (coefficient in rev(coefficients)[-1L]) {
    sum <- sum * x + coefficient
  }
  sum
}

# x log(x / m) + m - x for x, m > 0: the deviance, without cancellation where they are near each other.
deviance_part <- function(x, m) {
  value <- function(x, m) {
    v <- (x - m) / (x + m)
    near <- abs(v) < 0.3
    v <- hlo_select(near, v, 0)
    series <- horner(v * v, 1 / (2 * (1:16) + 1))
    hlo_select(near, (x - m) * v + 2 * x * v * (v * v * series), x * far_log_ratio(x, m) + m - x)
  }
  jvp <- function(primals, results, tangents) {
    x <- primals[[1L]]
    m <- primals[[2L]]
    hlo_add(
      along(tangents[[1L]], function(t) t * log_ratio(x, m)), along(tangents[[2L]], function(t) t * ((m - x) / m))
    )
  }
  op_once("deviance_part", value, jvp)(x, m)
}

# log(x / m), where that is not near 0. A quotient that is too large or too small is brought back by powers of two: one
# for each number, as XLA makes one product of `x * up / (m / up)`, which is too large or too small again.
far_log_ratio <- function(x, m) {
  ratio <- x / m
  large <- ratio > 1e300
  small <- ratio < 1e-300
  up <- hlo_select(small, 2^512, hlo_select(large, 2^-512, 1))
  down <- hlo_select(small, 2^-512, hlo_select(large, 2^512, 1))
  log((x * up) / (m * down)) + hlo_select(large, 1024 * log(2), hlo_select(small, -1024 * log(2), 0))
}

# log(x / m)
log_ratio <- function(x, m) {
  value <- function(x, m) {
    change <- (x - m) / m
    near <- abs(change) < 0.5
    ratio <- x / m
    inside <- ratio > 1e-300 & ratio < 1e300
    apart <- hlo_select(inside, log(hlo_select(inside, ratio, 1)), log(x) - log(m))
    hlo_select(near, log1p(hlo_select(near, change, 0)), apart)
  }
  jvp <- function(primals, results, tangents) {
    add_tangents(
      along(tangents[[1L]], function(t) t / primals[[1L]]), along(tangents[[2L]], function(t) -(t / primals[[2L]]))
    )
  }
  op_once("log_ratio", value, jvp)(x, m)
}

# The logarithm of lambda^x exp(-lambda) / Gamma(x + 1), for lambda >= 0.
log_poisson <- function(x, lambda) {
  jvp <- function(primals, results, tangents) {
    x <- primals[[1L]]
    lambda <- primals[[2L]]
    hlo_add(
      along(tangents[[1L]], function(t) t * (log(lambda) - digamma(x + 1))),
      along(tangents[[2L]], function(t) t * (x / not_zero(lambda) - 1))
    )
  }
  op_once("log_poisson", log_poisson_values, jvp)(x, lambda)
}

log_poisson_values <- function(x, lambda) {
  tiny <- x <= lambda * .Machine$double.xmin
  inside <- x > 0 & !tiny & lambda > 0 & lambda < Inf
  # Nothing of the mean is in the count, so that what is computed of data alone can be known.
  count <- hlo_select(x > 0, x, 1)
  mean <- hlo_select(inside, lambda, 1)
  inner <- -(half_log_2pi + 0.5 * log(count)) - stirling_error(count) - deviance_part(count, mean)
  hlo_select(inside, inner, hlo_select(x >= 0 & tiny & lambda < Inf, -lambda, -Inf))
}

# What is at an end has its derivatives there from density_at_ends(); these must be numbers.
not_zero <- function(x) hlo_select(x == 0, 1, x)

# x / y, which is 0 where x is, whatever y is
over <- function(x, y) hlo_select(x == 0, 0, x / hlo_select(x == 0, 1, y))

# The logarithm of choose(x + y, x) p^x q^y, where q = 1 - p.
log_binomial <- function(x, y, p, q) op_once("log_binomial", log_binomial_values, log_binomial_jvp)(x, y, p, q)

# The same where x + y is 1, as in logistic regression: nothing of it needs the expansion.
log_bernoulli <- function(x, y, p, q) {
  value <- function(x, y, p, q) {
    hlo_select(x == 0, log_complement(p, q), hlo_select(y == 0, log_complement(q, p), -Inf))
  }
  op_once("log_bernoulli", value, log_binomial_jvp)(x, y, p, q)
}

log_binomial_jvp <- function(primals, results, tangents) {
  x <- primals[[1L]]
  y <- primals[[2L]]
  p <- primals[[3L]]
  q <- primals[[4L]]
  both <- digamma(x + y + 1)
  hlo_add(
    along(tangents[[1L]], function(t) t * (both - digamma(x + 1) + log_complement(q, p))),
    along(tangents[[2L]], function(t) t * (both - digamma(y + 1) + log_complement(p, q))),
    along(tangents[[3L]], function(t) t * (x / not_zero(p))),
    along(tangents[[4L]], function(t) t * (y / not_zero(q)))
  )
}

# log(q) by the smaller of p and q = 1 - p, which has more digits
log_complement <- function(p, q) {
  below <- p < 0.5
  hlo_select(below, log1p(-hlo_select(below, p, 0)), log(hlo_select(below, 1, q)))
}

log_binomial_values <- function(x, y, p, q) {
  some <- x > 0 & x < Inf
  others <- y > 0 & y < Inf
  inside <- some & others & p > 0 & q > 0
  # As in log_poisson_values()
  k <- hlo_select(some, x, 1)
  l <- hlo_select(others, y, 1)
  inner_p <- hlo_select(inside, p, 0.5)
  inner_q <- hlo_select(inside, q, 0.5)
  n <- k + l
  larger <- hlo_max(k, l)
  inner <- stirling_error(n) - stirling_error(k) - stirling_error(l) -
    deviance_part(k, n * inner_p) - deviance_part(l, n * inner_q) -
    (half_log_2pi + 0.5 * (log(hlo_min(k, l)) + log(larger / n)))
  none <- hlo_select(p == 0 | y == 0, 0, y * log_complement(p, q))
  all <- hlo_select(q == 0, 0, x * log_complement(q, p))
  ends <- hlo_select(x == 0, none, hlo_select(y == 0, all, -Inf))
  hlo_select(inside, inner, ends)
}

# The derivative of order `order` in x of digamma(x + n) - digamma(x), for counts n and x > 0: where x is large by that
# of the series log(x) - 1 / (2 x) - 1 / (12 x^2) + 1 / (120 x^4), so that no digits cancel.
digamma_rise <- function(n, x, order = 0L) {
  value <- function(n, x) {
    far <- x > 1e3
    z <- hlo_select(far, x, 1e4)
    at <- hlo_select(far, 1, x)
    plain <- function(x) if (order) sf("polygamma", filled(order, x), x) else digamma(x)
    hlo_select(far, far_digamma_rise(n, z, order), plain(at + n) - plain(at))
  }
  jvp <- function(primals, results, tangents) {
    along(tangents[[2L]], function(t) t * digamma_rise(primals[[1L]], primals[[2L]], order + 1L))
  }
  op_once(paste("digamma_rise", order), value, jvp)(n, x)
}

far_digamma_rise <- function(n, x, order) {
  u <- 1 / x
  v <- 1 / (x + n)
  # v^k - u^k
  change <- function(k) -n * u * v * Reduce(`+`, lapply(seq_len(k) - 1L, function(i) u^i * v^(k - 1L - i)))
  # The derivative of x^-k is (-1)^order k (k + 1) ... (k + order - 1) x^-(k + order).
  power <- function(k) (-1)^order * prod(k + seq_len(order) - 1) * change(k + order)
  first <- if (order) (-1)^(order - 1) * factorial(order - 1) * change(order) else log1p(n * u)
  first - power(1) / 2 - power(2) / 12 + power(4) / 120
}
