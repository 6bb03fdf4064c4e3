# Densities, by their logarithms. What is not chosen must have finite derivatives, so numbers outside the support are
# replaced before they are computed with.

overload_dexp <- function(x, rate = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dexp()", list(x = x, rate = rate), function(x, rate) {
    inside <- x >= 0
    density <- log(rate) - rate * hlo_select(inside, x, 0)
    density_of(hlo_select(inside, density, -Inf), rate >= 0 & rate < Inf & x == x, log)
  }, call, log)
}

overload_dunif <- function(x, min = 0, max = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dunif()", list(x = x, min = min, max = max), function(x, min, max) {
    density_of(hlo_select(x >= min & x <= max, -log(max - min), -Inf), max > min & x == x, log)
  }, call, log)
}

overload_dcauchy <- function(x, location = 0, scale = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dcauchy()", list(x = x, location = location, scale = scale), function(x, location, scale) {
    z <- (x - location) / scale
    density_of(-(log(pi) + log(scale) + log1p(z * z)), scale > 0 & z == z, log)
  }, call, log)
}

overload_dlogis <- function(x, location = 0, scale = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dlogis()", list(x = x, location = location, scale = scale), function(x, location, scale) {
    z <- (x - location) / scale
    density_of(logis_op()(z) - log(scale), scale > 0 & z == z, log)
  }, call, log)
}

# The logarithm of dlogis(), by an op: it is smooth where abs() is not.
logis_op <- function() {
  density <- function(x) {
    size <- abs(x)
    -(size + 2 * log1p(exp(-size)))
  }
  slope_op("logis", density, function(x, y) -tanh(x / 2))
}

overload_dweibull <- function(x, shape, scale = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dweibull()", list(x = x, shape = shape, scale = scale), function(x, shape, scale) {
    inside <- x > 0 & finite(x) & finite(shape) & finite(scale)
    k <- hlo_select(inside, shape, 1)
    unit <- hlo_select(inside, scale, 1)
    at <- log_ratio(hlo_select(inside, x, 1), unit)
    density <- log(k) - log(unit) + (k - 1) * at - exp(k * at)
    ends <- hlo_select(x == 0, power_at_zero(shape, -log(scale)), hlo_select(shape == Inf & x == scale, Inf, -Inf))
    valid <- shape > 0 & scale > 0 & x == x
    end <- end_of(x == 0 & valid & finite(shape) & finite(scale), x, list(shape, scale), weibull_end)
    density_of(hlo_select(inside, density, ends), valid, log, list(end))
  }, call, log)
}

# Distribution functions.

overload_pexp <- function(q, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  probability_overload("pexp()", list(q = q, rate = rate), lower.tail, log.p, sys.call(), function(x, rate) {
    begins <- x == 0 & rate > 0 & finite(rate)
    inside <- x >= 0 & finite(x) & finite(rate) & !begins
    list(
      inner = from_log_upper(hlo_select(inside, rate, 1) * hlo_select(inside, x, 1), lower.tail, log.p),
      before = x <= 0 & !inside, behind = x == Inf | rate == Inf & x > 0,
      valid = rate >= 0 & x == x & !(rate == 0 & x == Inf), ends = list(end_of(begins, x, list(rate), exponential_end))
    )
  })
}

overload_pweibull <- function(q, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, shape = shape, scale = scale)
  probability_overload("pweibull()", arguments, lower.tail, log.p, sys.call(), function(x, shape, scale) {
    valid <- shape > 0 & scale > 0 & x == x
    inside <- x > 0 & finite(x) & valid & finite(shape) & finite(scale)
    unit <- hlo_select(inside, scale, 1)
    t <- exp(hlo_select(inside, shape, 1) * log_ratio(hlo_select(inside, x, 1), unit))
    list(
      inner = from_log_upper(t, lower.tail, log.p),
      before = x <= 0 | finite(x) & scale == Inf | shape == Inf & x < scale,
      behind = x == Inf | shape == Inf & x > scale, valid = valid,
      ends = list(end_of(x == 0 & valid & finite(shape) & finite(scale), x, list(shape, scale), weibull_end))
    )
  })
}

# The tail of what lies anywhere on the line; `inner` is of the place, with its sign changed for the upper tail.
located_tail <- function(shown, q, location, scale, lower, log, call, inner) {
  arguments <- list(q = q, location = location, scale = scale)
  probability_overload(shown, arguments, lower, log, call, function(x, location, scale) {
    at <- (x - location) / scale
    valid <- scale > 0 & at == at
    z <- hlo_select(finite(at) & valid, if (lower) at else -at, 0)
    list(inner = inner(z), before = at == -Inf, behind = at == Inf, valid = valid)
  })
}

overload_plogis <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  located_tail("plogis()", q, location, scale, lower.tail, log.p, sys.call(), function(z) {
    # Both halves by the decaying exponential
    up <- z > 0
    small <- exp(-hlo_select(up, z, -z))
    if (log.p) -(hlo_select(up, 0, -z) + log1p(small)) else hlo_select(up, 1, small) / (1 + small)
  })
}

overload_pcauchy <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  located_tail("pcauchy()", q, location, scale, lower.tail, log.p, sys.call(), function(z) {
    one <- filled(1, z)
    if (!log.p) {
      return(hlo_atan2(one, -z) / pi)
    }
    up <- z > 0
    hlo_select(up, log1p(-hlo_atan2(one, hlo_select(up, z, 1)) / pi), log(hlo_atan2(one, -z) / pi))
  })
}

overload_punif <- function(q, min = 0, max = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, min = min, max = max)
  probability_overload("punif()", arguments, lower.tail, log.p, sys.call(), function(x, min, max) {
    inside <- x >= min & x <= max & min < max
    part <- if (lower.tail) x - min else max - x
    part <- hlo_select(inside, part, 1)
    width <- hlo_select(inside, max - min, 1)
    share <- part / width
    if (log.p) {
      # At its end a quotient would have slopes 0 / 0.
      end <- part == 0
      share <- hlo_select(end, log(part) - log(width), log(hlo_select(end, 1, share)))
    }
    list(
      inner = share, before = x < min, behind = x > max | min == max & x == max,
      valid = min <= max & finite(min) & finite(max) & x == x
    )
  })
}

# Quantiles.

overload_qexp <- function(p, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  quantile_overload("qexp()", list(p = p, rate = rate), lower.tail, log.p, sys.call(), function(p, rate) {
    inner <- minus_log_upper(p, lower.tail, log.p) / rate
    list(inner = inner, valid = rate >= 0, begin = filled(0, p), end = hlo_select(rate == Inf, 0, filled(Inf, p)))
  }, closed = "begin")
}

overload_qweibull <- function(p, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, shape = shape, scale = scale)
  quantile_overload("qweibull()", arguments, lower.tail, log.p, sys.call(), function(p, shape, scale) {
    t <- minus_log_upper(p, lower.tail, log.p)
    log_t <- if (lower.tail && log.p) {
      # Where 1 - exp(p) is rounded to 1
      low <- p < -40
      hlo_select(low, p, log(hlo_select(low, 1, t)))
    } else {
      log(t)
    }
    inner <- scale * exp(log_t / shape)
    list(inner = inner, valid = shape > 0 & scale > 0, begin = filled(0, p), end = filled(Inf, p))
  })
}

overload_qlogis <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, location = location, scale = scale)
  quantile_overload("qlogis()", arguments, lower.tail, log.p, sys.call(), function(p, location, scale) {
    odds <- if (log.p) p - hlo_log1mexp(-p) else log_ratio(p, 1 - p)
    inner <- location + scale * (if (lower.tail) odds else -odds)
    c(list(inner = inner, valid = scale >= 0 & location == location), whole_line(p))
  })
}

overload_qcauchy <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, location = location, scale = scale)
  quantile_overload("qcauchy()", arguments, lower.tail, log.p, sys.call(), function(p, location, scale) {
    # The smaller tail
    low <- p < (if (log.p) -log(2) else 0.5)
    tail <- if (log.p) {
      hlo_select(low, exp(p), -expm1(hlo_select(low, -1, p)))
    } else {
      hlo_select(low, p, 1 - p)
    }
    # Near 1/2 the cotangent of pi t is the tangent of what is missing there.
    near <- tail > 0.25
    size <- hlo_select(near, tan(pi * (0.5 - hlo_select(near, tail, 0.5))), 1 / tan(pi * hlo_select(near, 0.25, tail)))
    z <- hlo_select(low, -size, size)
    valid <- scale >= 0 & finite(scale) & location == location
    point <- scale == 0
    inner <- location + scale * hlo_select(point, 0, if (lower.tail) z else -z)
    list(
      inner = inner, valid = valid, begin = hlo_select(point, location, location - Inf),
      end = hlo_select(point, location, location + Inf)
    )
  })
}

overload_qunif <- function(p, min = 0, max = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, min = min, max = max)
  quantile_overload("qunif()", arguments, lower.tail, log.p, sys.call(), function(p, min, max) {
    share <- if (log.p) exp(p) else p
    other <- if (log.p) -expm1(p) else 1 - p
    part <- if (lower.tail) share else other
    list(inner = min + part * (max - min), valid = max >= min & finite(min) & finite(max), begin = min, end = max)
  }, closed = c("begin", "end"))
}

distribution_overloads(c("exp", "unif", "cauchy", "logis", "weibull"))
