# The t distribution: density, probability and quantile.

overload_dt <- function(x, df, ncp, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  if (!missing(ncp)) {
    check_no_ncp(ncp, "dt()", call)
  }
  distribution("dt()", list(x = x, df = df), function(x, df) {
    density_of(log_t_density(x, df), df > 0 & x == x, log)
  }, call, log)
}

log_t_density <- function(x, df) {
  inside <- finite(x)
  at <- hlo_select(inside, x, 0)
  normal <- df == Inf
  n <- hlo_select(normal, 1, df)
  factor <- stirling_error((n + 1) / 2) - stirling_error(n / 2) - deviance_part(n / 2, (n + 1) / 2)
  # log(1 + x^2 / n) / 2, where x^2 may overflow
  far <- abs(at) > 1e8 * sqrt(n)
  near_at <- hlo_select(far, 0, at)
  spread <- hlo_select(far, log(hlo_select(far, abs(at), 1)) - log(n) / 2, log1p(near_at * near_at / n) / 2)
  density <- factor - n * spread - (half_log_2pi + spread)
  density <- hlo_select(normal, log_normal_density(at, filled(0, x), filled(1, x)), density)
  hlo_select(inside, density, -Inf)
}

# Beyond this the squares of t would overflow; there the tail goes as t^-df.
t_far <- 1e150

overload_pt <- function(q, df, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "pt()", call)
  }
  probability_overload("pt()", list(q = q, df = df), lower.tail, log.p, call, function(x, df) {
    inside <- finite(x) & df > 0
    inner <- t_probability(hlo_select(inside, x, 1), hlo_select(inside, df, 1), lower.tail, log.p)
    list(inner = inner, before = x == -Inf, behind = x == Inf, valid = df > 0 & x == x)
  })
}

# Near 0 the slope is the density, as the tail is computed by the square of x.
t_probability <- function(x, df, lower, log) {
  whole <- function(x, df) with_slope(function(x, df) t_tail(x, df, lower, log), slope, x, df)
  slope <- function(x, df) {
    log_density <- log_t_density(x, df)
    density <- exp(if (log) log_density - whole(x, df) else log_density)
    if (lower) density else -density
  }
  whole(x, df)
}

t_tail <- function(x, df, lower, log) {
  normal <- df == Inf
  n <- hlo_select(normal, 1, df)
  middle <- x == 0
  size <- abs(hlo_select(middle, 1, x))
  near <- hlo_min(size, t_far)
  odds <- odds_parts(near / n * near)
  # The logarithm of the smaller tail, P(T < -size)
  tail <- beta_probability(odds$below, odds$above, n / 2, filled(0.5, n), TRUE, TRUE) - log(2) -
    n * (log(size) - log(near))
  small <- if (lower) x < 0 else x > 0
  other <- hlo_log1mexp(-tail)
  inner <- if (log) hlo_select(small, tail, other) else hlo_select(small, exp(tail), 1 - exp(tail))
  inner <- hlo_select(middle, if (log) -log(2) else 0.5, inner)
  hlo_select(normal, normal_tail(hlo_select(normal, x, 0), lower, log), inner)
}

overload_qt <- function(p, df, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "qt()", call)
  }
  quantile_overload("qt()", list(p = p, df = df), lower.tail, log.p, call, function(p, df) {
    inner <- t_quantile(p, hlo_select(df > 0, df, 1), lower.tail, log.p)
    c(list(inner = inner, valid = df > 0), whole_line(p))
  })
}

# Twice the smaller tail is a probability of w = n / (n + t^2), or of v = 1 - w.
t_quantile <- function(p, df, lower, log) {
  normal <- df == Inf
  n <- hlo_select(normal, 1, df)
  half <- if (log) -log(2) else 0.5
  low <- p < half
  middle <- p == half
  both <- if (log) {
    log(2) + hlo_select(low, p, hlo_log1mexp(hlo_select(low, 1, -p)))
  } else {
    2 * hlo_select(low, p, 1 - p)
  }
  both <- hlo_select(middle, half, both)
  half_n <- 0.5 * n
  one_half <- filled(0.5, n)
  log_beta <- sf("lbeta", half_n, one_half)
  log_w <- ((if (log) both else log(both)) + log(half_n) + log_beta) / half_n
  # Where w would underflow the tail goes as its power n / 2.
  far <- log_w < log(1e-290)
  at <- beta_quantiles(both, half_n, one_half, TRUE, log, far)
  far_size <- exp(0.5 * (log(n) - hlo_select(far, log_w, 0)))
  size <- hlo_select(far, far_size, sqrt(n * (at$above / at$below)))
  size <- hlo_select(middle, 0, size)
  size <- hlo_select(normal, 0, size)
  below <- if (lower) low else !low
  # 0 at the median, with a slope of one over the density there
  beyond <- if (log) 0.5 * expm1(p - half) else p - half
  beyond <- hlo_select(middle, if (lower) beyond else -beyond, 0)
  t <- hlo_select(middle, sqrt(n) * exp(log_beta) * beyond, hlo_select(below, -size, size))
  hlo_select(normal, standard_normal_quantile(p, lower, log), t)
}

distribution_overloads("t")
