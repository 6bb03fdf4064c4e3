# The F distribution: density, probability and quantile.

overload_df <- function(x, df1, df2, ncp, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  if (!missing(ncp)) {
    check_no_ncp(ncp, "df()", call)
  }
  distribution("df()", list(x = x, df1 = df1, df2 = df2), function(x, m, n) {
    density_of(log_f_density(x, m, n), m > 0 & n > 0 & x == x, log, f_ends(x, m, n))
  }, call, log)
}

f_ends <- function(x, m, n) {
  begins <- x == 0 & m > 0 & n > 0 & m <= 1e14
  list(
    end_of(begins & finite(n), x, list(m, n), f_end),
    end_of(begins & n == Inf, x, list(m), function(d, m) gamma_end(d, 0.5 * m, 2 / m))
  )
}

log_f_density <- function(x, m, n) {
  large_m <- m > 1e14
  large <- large_m | n == Inf
  inside <- x > 0 & x < Inf
  at <- hlo_select(inside, x, 1)
  k <- hlo_select(large, 1, m)
  l <- hlo_select(large, 1, n)
  q <- 1 / (1 + at * (k / l))
  p <- 1 / (1 + (l / k) / at)
  # q l / (k + l) = 1 / (k / l + 1) * q
  # Near 0 a product with `p` would underflow.
  tiny <- p < 1e-200
  from <- hlo_select(tiny, 1e-200, p)
  log_p <- hlo_select(tiny, log(k) - log(l) + log(at) - log(1e-200), 0)
  density <- log_binomial(k / 2, l / 2, from, q) + k / 2 * log_p + log(k / 2) - log(at) + log(l) - log(k + l)
  # One of the two chi-squares is a number.
  unit <- hlo_select(large_m, hlo_select(n == Inf, 1, n), hlo_select(large, m, 1))
  at_unit <- hlo_select(large_m, 1 / at, at)
  limit <- log_gamma_density(at_unit, unit / 2, 2 / unit) - hlo_select(large_m, 2 * log(at), 0)
  point <- m == Inf & n == Inf
  inner <- hlo_select(large, hlo_select(point, hlo_select(x == 1, Inf, -Inf), limit), density)
  ends <- hlo_select(x == 0 & !point, power_at_zero(m / 2, filled(0, x)), -Inf)
  hlo_select(inside, inner, ends)
}

overload_pf <- function(q, df1, df2, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "pf()", call)
  }
  probability_overload("pf()", list(q = q, df1 = df1, df2 = df2), lower.tail, log.p, call, function(x, m, n) {
    point <- m == Inf & n == Inf
    inside <- x > 0 & finite(x) & m > 0 & n > 0 & !point
    inner <- f_probability(
      hlo_select(inside, x, 1), hlo_select(inside, m, 1), hlo_select(inside, n, 1), lower.tail, log.p
    )
    half <- if (log.p) -log(2) else 0.5
    list(
      inner = hlo_select(point & x == 1, half, inner), before = x <= 0 | point & x < 1,
      behind = x == Inf | point & x > 1, valid = m > 0 & n > 0 & x == x, ends = f_ends(x, m, n)
    )
  })
}

# ratio / (1 + ratio) and 1 / (1 + ratio), where neither the square of the ratio nor its inverse need be a number
odds_parts <- function(ratio) {
  large <- ratio > 1
  small <- hlo_select(large, 1 / hlo_select(large, ratio, 1), ratio)
  less <- small / (1 + small)
  more <- 1 / (1 + small)
  list(above = hlo_select(large, more, less), below = hlo_select(large, less, more))
}

f_probability <- function(x, m, n, lower, log) {
  limit <- m == Inf | n == Inf
  k <- hlo_select(limit, 1, m)
  l <- hlo_select(limit, 1, n)
  # Where the ratio would underflow the lower tail goes as its power k / 2.
  log_ratio <- log(x) + log(k) - log(l)
  tiny <- log_ratio < log(1e-290)
  ratio <- hlo_select(tiny, 1e-290, x * (k / l))
  odds <- odds_parts(ratio)
  usual <- beta_probability(odds$above, odds$below, k / 2, l / 2, lower, log)
  power <- hlo_select(tiny, 0.5 * k * (log_ratio - log(1e-290)), 0)
  usual <- if (lower) {
    if (log) usual + power else usual * exp(power)
  } else {
    # 1 - (1 - usual) exp(power)
    other <- if (log) exp(usual + power) - expm1(power) else usual * exp(power) - expm1(power)
    hlo_select(tiny, if (log) log(hlo_select(tiny, other, 1)) else other, usual)
  }
  # One of the two chi-squares is a number.
  a <- hlo_select(n == Inf, hlo_select(limit, m, 1), n) / 2
  first <- gamma_probability(a, x * a, lower, log)
  second <- gamma_probability(a, hlo_min(a / x, 1e300), !lower, log)
  hlo_select(limit, hlo_select(n == Inf, first, second), usual)
}

overload_qf <- function(p, df1, df2, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "qf()", call)
  }
  quantile_overload("qf()", list(p = p, df1 = df1, df2 = df2), lower.tail, log.p, call, function(p, m, n) {
    valid <- m > 0 & n > 0
    limit <- !(valid & finite(m) & finite(n))
    k <- hlo_select(limit, 1, m)
    l <- hlo_select(limit, 1, n)
    at <- beta_quantiles(p, k / 2, l / 2, lower.tail, log.p)
    a <- hlo_select(n == Inf, hlo_select(m == Inf, 1, m), n) / 2
    a <- hlo_select(valid, a, 1)
    first <- standard_gamma_quantile(p, a, lower.tail, log.p) / a
    second <- a / standard_gamma_quantile(p, a, !lower.tail, log.p)
    points <- hlo_select(n == Inf, hlo_select(m == Inf, 1, first), second)
    list(
      inner = hlo_select(limit, points, at$below / at$above * (l / k)), valid = valid, begin = filled(0, p),
      end = filled(Inf, p)
    )
  })
}

distribution_overloads("f")
