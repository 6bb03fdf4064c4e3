# Distribution functions.

# As distribution(), for the tail that is asked for: `f` of the values gives the probability inside the support, where
# there is nothing before and behind, where the parameters are valid, and the ends of the support (see end_of()).
probability_word <- function(shown, arguments, lower, log, call, f) {
  check_tails(lower, log, call)
  distribution(shown, arguments, function(...) {
    found <- f(...)
    probability <- with_ends(found$inner, found$before, found$behind, lower, log)
    only_where(found$valid, probability_at_ends(probability, found$ends, lower, log))
  }, call)
}

# Standard normal
normal_tail <- function(z, lower, log) sf(if (log) "log_ndtr" else "ndtr", if (lower) z else -z)

normal_probability <- function(x, mean, sd, lower, log) {
  inside <- finite(x) & finite(mean) & sd > 0
  z <- (hlo_select(inside, x, 0) - hlo_select(inside, mean, 0)) / hlo_select(inside, sd, 1)
  list(
    inner = normal_tail(z, lower, log), before = !inside & x < mean, behind = !inside & x >= mean,
    # R has no answer for the distance of an infinite number from itself.
    valid = sd >= 0 & x == x & mean == mean & (finite(x) | x != mean)
  )
}

word_pnorm <- function(q, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  probability_word("pnorm()", list(q = q, mean = mean, sd = sd), lower.tail, log.p, sys.call(), function(x, mean, sd) {
    normal_probability(x, mean, sd, lower.tail, log.p)
  })
}

word_plnorm <- function(q, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, meanlog = meanlog, sdlog = sdlog)
  probability_word("plnorm()", arguments, lower.tail, log.p, sys.call(), function(x, mean, sd) {
    positive <- x > 0
    found <- normal_probability(log(hlo_select(positive, x, 1)), mean, sd, lower.tail, log.p)
    found$before <- !positive | found$before
    found$behind <- positive & found$behind
    found$valid <- sd >= 0 & x == x & mean == mean & (found$valid | !positive)
    if (lower.tail && log.p) {
      end <- x == 0 & sd > 0 & finite(mean) & finite(sd)
      found$inner <- hlo_select(end, log_normal_end(x, mean, sd), found$inner)
      found$before <- found$before & !end
    }
    found
  })
}

word_pexp <- function(q, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  probability_word("pexp()", list(q = q, rate = rate), lower.tail, log.p, sys.call(), function(x, rate) {
    begins <- x == 0 & rate > 0 & finite(rate)
    inside <- x >= 0 & finite(x) & finite(rate) & !begins
    list(
      inner = from_log_upper(hlo_select(inside, rate, 1) * hlo_select(inside, x, 1), lower.tail, log.p),
      before = x <= 0 & !inside, behind = x == Inf | rate == Inf & x > 0,
      valid = rate >= 0 & x == x & !(rate == 0 & x == Inf), ends = list(end_of(begins, x, list(rate), exponential_end))
    )
  })
}

word_pweibull <- function(q, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, shape = shape, scale = scale)
  probability_word("pweibull()", arguments, lower.tail, log.p, sys.call(), function(x, shape, scale) {
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

word_plogis <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, location = location, scale = scale)
  probability_word("plogis()", arguments, lower.tail, log.p, sys.call(), function(x, location, scale) {
    z <- (x - location) / scale
    valid <- scale > 0 & z == z
    inside <- finite(z) & valid
    z <- hlo_select(inside, if (lower.tail) z else -z, 0)
    # Both halves by the decaying exponential
    up <- z > 0
    small <- exp(-hlo_select(up, z, -z))
    inner <- if (log.p) {
      -(hlo_select(up, 0, -z) + log1p(small))
    } else {
      hlo_select(up, 1, small) / (1 + small)
    }
    at <- (x - location) / scale
    list(inner = inner, before = at == -Inf, behind = at == Inf, valid = valid)
  })
}

word_pcauchy <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, location = location, scale = scale)
  probability_word("pcauchy()", arguments, lower.tail, log.p, sys.call(), function(x, location, scale) {
    z <- (x - location) / scale
    valid <- scale > 0 & z == z
    inside <- finite(z) & valid
    z <- hlo_select(inside, if (lower.tail) z else -z, 0)
    one <- filled(1, z)
    inner <- if (log.p) {
      up <- z > 0
      other <- hlo_select(up, z, 1)
      hlo_select(up, log1p(-hlo_atan2(one, other) / pi), log(hlo_atan2(one, -z) / pi))
    } else {
      hlo_atan2(one, -z) / pi
    }
    behind <- (x - location) / scale == Inf
    list(inner = inner, before = !inside & !behind, behind = behind, valid = valid)
  })
}

word_punif <- function(q, min = 0, max = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, min = min, max = max)
  probability_word("punif()", arguments, lower.tail, log.p, sys.call(), function(x, min, max) {
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

gamma_tail <- function(x, shape, scale, lower, log) {
  inside <- x > 0 & finite(x) & shape > 0 & finite(shape) & scale > 0 & finite(scale)
  at <- hlo_select(inside, x, 1)
  a <- hlo_select(inside, shape, 1)
  unit <- hlo_select(inside, scale, 1)
  list(
    inner = gamma_probability(a, at / unit, lower, log),
    before = x <= 0 | finite(x) & (shape == Inf | scale == Inf), behind = x == Inf | shape == 0,
    valid = shape >= 0 & scale > 0 & x == x, ends = list(end_at_zero(x, shape, scale))
  )
}

word_pgamma <- function(q, shape, rate = 1, scale = 1 / rate, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  given <- scale_given(missing(rate), missing(scale), "pgamma()", call)
  arguments <- c(list(q = q, shape = shape), if (given == "scale") list(scale = scale) else list(rate = rate))
  probability_word("pgamma()", arguments, lower.tail, log.p, call, function(x, shape, by) {
    gamma_tail(x, shape, if (given == "scale") by else 1 / by, lower.tail, log.p)
  })
}

word_pchisq <- function(q, df, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "pchisq()", call)
  probability_word("pchisq()", list(q = q, df = df), lower.tail, log.p, call, function(x, df) {
    gamma_tail(x, 0.5 * df, filled(2, x), lower.tail, log.p)
  })
}

word_pbeta <- function(q, shape1, shape2, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "pbeta()", call)
  arguments <- list(q = q, shape1 = shape1, shape2 = shape2)
  probability_word("pbeta()", arguments, lower.tail, log.p, call, function(x, a, b) {
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

# Beyond this the squares of t would overflow; there the tail goes as t^-df.
t_far <- 1e150

word_pt <- function(q, df, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "pt()", call)
  }
  probability_word("pt()", list(q = q, df = df), lower.tail, log.p, call, function(x, df) {
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

word_pf <- function(q, df1, df2, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "pf()", call)
  }
  probability_word("pf()", list(q = q, df1 = df1, df2 = df2), lower.tail, log.p, call, function(x, m, n) {
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

local({
  continuous <- c("norm", "lnorm", "exp", "weibull", "logis", "cauchy", "unif", "gamma", "chisq", "beta", "t", "f")
  for (name in continuous) {
    f <- get(paste0("word_p", name), envir = topenv())
    word(paste0("p", name), "stats", f,
      topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in q and the parameters",
      differs = paste0("No warnings.", if ("ncp" %in% names(formals(f))) " No non-central ones (`ncp`).")
    )
  }
})
