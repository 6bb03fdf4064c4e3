# The beta distribution: density, probability and quantile.

overload_dbeta <- function(x, shape1, shape2, ncp = 0, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  check_no_ncp(ncp, "dbeta()", call)
  distribution("dbeta()", list(x = x, shape1 = shape1, shape2 = shape2), function(x, a, b) {
    usual <- beta_usual(a, b)
    end <- either_end(x == 0 & usual, x == 1 & usual, list(x, a, b), list(1 - x, b, a), beta_end)
    density_of(log_beta_density(x, a, b), a >= 0 & b >= 0 & x == x, log, list(end))
  }, call, log)
}

beta_usual <- function(a, b) a > 0 & b > 0 & finite(a) & finite(b)

beta_ends <- function(x, a, b) {
  usual <- beta_usual(a, b)
  list(
    end_of(x == 0 & usual, x, list(a, b), beta_end),
    end_of(x == 1 & usual, 1 - x, list(b, a), beta_end, lower = FALSE)
  )
}

# Shapes that are 0 or infinite leave points.
log_beta_density <- function(x, a, b) {
  usual <- a > 0 & b > 0 & a < Inf & b < Inf
  inside <- x > 0 & x < 1 & usual
  at <- hlo_select(inside, x, 0.5)
  p <- hlo_select(inside, a, 1)
  q <- hlo_select(inside, b, 1)
  density <- log_beta_inside(at, p, q)
  ends <- hlo_select(
    x == 0, power_at_zero(a, log(b)), hlo_select(x == 1, power_at_zero(b, log(a)), -Inf)
  )
  low <- a == 0 | b == Inf
  high <- b == 0 | a == Inf
  at_point <- hlo_select(
    low & high, hlo_select(a == 0, x == 0 | x == 1, x == 0.5), hlo_select(low, x == 0, x == 1)
  )
  points <- hlo_select(at_point, Inf, -Inf)
  hlo_select(inside, density, hlo_select(usual, ends, points))
}

# For 0 < x < 1
log_beta_inside <- function(...) {
  value <- function(x, a, b) {
    # Near 0 a product with `x` would underflow.
    from <- hlo_max(x, 1e-200)
    log_binomial(a, b, from, 1 - from) + a * (log(x) - log(from)) - log(1 / a + 1 / b) - log(x) - log1p(-x)
  }
  jvp <- function(primals, results, tangents) {
    x <- primals[[1L]]
    a <- primals[[2L]]
    b <- primals[[3L]]
    both <- digamma(a + b)
    hlo_add(
      along(tangents[[1L]], function(t) t * ((a - 1) / x - (b - 1) / (1 - x))),
      along(tangents[[2L]], function(t) t * (both - digamma(a) + log(x))),
      along(tangents[[3L]], function(t) t * (both - digamma(b) + log1p(-x)))
    )
  }
  op_once("log_beta_inside", value, jvp)(...)
}

overload_pbeta <- function(q, shape1, shape2, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "pbeta()", call)
  arguments <- list(q = q, shape1 = shape1, shape2 = shape2)
  probability_overload("pbeta()", arguments, lower.tail, log.p, call, function(x, a, b) {
    usual <- a > 0 & b > 0 & finite(a) & finite(b)
    inside <- x > 0 & x < 1 & usual
    at <- hlo_select(inside, x, 0.5)
    inner <- beta_probability(
      at, 1 - at, hlo_select(inside, a, 1), hlo_select(inside, b, 1), lower.tail, log.p
    )
    # Shapes that are 0 or infinite leave points: at 0, at 1, at both, or at 1/2.
    low <- a == 0 | b == Inf
    high <- b == 0 | a == Inf
    both <- a == 0 & b == 0
    half <- if (log.p) -log(2) else 0.5
    inner <- hlo_select(both & !inside, half, inner)
    middle <- !usual & x > 0 & x < 1
    list(
      inner = inner,
      before = x <= 0 | middle & !both & (high & !low | (low & high & x < 0.5)),
      behind = x >= 1 | middle & !both & (low & !high | (low & high & x >= 0.5)),
      valid = a >= 0 & b >= 0 & x == x, ends = beta_ends(x, a, b)
    )
  })
}

beta_quantile <- function(p, a, b, lower, log) {
  sf(tail_function(lower, log, c("betainc_inv", "betainc_c_inv")), a, b, p)
}

overload_qbeta <- function(p, shape1, shape2, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "qbeta()", call)
  arguments <- list(p = p, shape1 = shape1, shape2 = shape2)
  quantile_overload("qbeta()", arguments, lower.tail, log.p, call, function(p, a, b) {
    usual <- a > 0 & b > 0 & finite(a) & finite(b)
    inner <- beta_quantile(p, hlo_select(usual, a, 1), hlo_select(usual, b, 1), lower.tail, log.p)
    # Shapes that are 0 or infinite leave points: at 0, at 1, at both, or at 1/2.
    half <- if (log.p) -log(2) else 0.5
    upper <- if (lower.tail) p > half else p < half
    low <- a == 0 | b == Inf
    high <- b == 0 | a == Inf
    both <- hlo_select(upper, 1, hlo_select(p == half, 0.5, filled(0, p)))
    middle <- hlo_select(a == 0, both, filled(0.5, p))
    points <- hlo_select(low & high, middle, hlo_select(low, 0, filled(1, p)))
    list(
      inner = hlo_select(usual, inner, points), valid = a >= 0 & b >= 0, begin = filled(0, p), end = filled(1, p)
    )
  })
}

# The beta quantile w, and 1 - w. The smaller of both is computed, and neither where `elsewhere`: the other one would be
# rounded, at its worst to 1, where its slope may be infinite. What is not computed is a quantile of the uniform
# distribution, which has a slope.
beta_quantiles <- function(p, a, b, lower, log, elsewhere = FALSE) {
  half <- sf(tail_function(lower, log, c("betainc", "betainc_c")), a, b, filled(0.5, p))
  low <- if (lower) p < half else p > half
  quantile <- function(taken, a, b, lower) {
    some <- filled(if (log) -log(2) else 0.5, p)
    beta_quantile(hlo_select(taken, p, some), hlo_select(taken, a, 1), hlo_select(taken, b, 1), lower, log)
  }
  w <- quantile(low & !elsewhere, a, b, lower)
  v <- quantile(!(low | elsewhere), b, a, !lower)
  list(below = hlo_select(low, w, 1 - v), above = hlo_select(low, 1 - w, v))
}

distribution_overloads("beta")
