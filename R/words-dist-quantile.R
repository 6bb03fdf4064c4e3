# Quantiles.

# As distribution(): `f` of the values gives the quantile of probabilities inside (0, 1), where the support begins and
# ends, and where the parameters are valid. `closed` names the ends at which `f` holds too, with its derivatives.
quantile_word <- function(shown, arguments, lower, log, call, f, closed = character()) {
  check_tails(lower, log, call)
  distribution(shown, arguments, function(p, ...) {
    from <- if (log) -Inf else 0
    to <- if (log) 0 else 1
    limits <- if (lower) c(begin = from, end = to) else c(begin = to, end = from)
    inside <- p > from & p < to
    taken <- inside
    for (limit in Filter(is.finite, limits[closed])) taken <- taken | p == limit
    found <- f(hlo_select(taken, p, if (log) -0.5 else 0.5), ...)
    ends <- hlo_select(p == limits[["begin"]], found$begin, found$end)
    inner <- inside | (taken & found$inner == found$inner)
    only_where(found$valid & p >= from & p <= to, hlo_select(inner, found$inner, ends))
  }, call)
}

whole_line <- function(x) list(begin = filled(-Inf, x), end = filled(Inf, x))

standard_normal_quantile <- function(p, lower, log) {
  z <- sf(if (log) "ndtri_exp" else "ndtri", p)
  if (lower) z else -z
}

word_qnorm <- function(p, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  quantile_word("qnorm()", list(p = p, mean = mean, sd = sd), lower.tail, log.p, sys.call(), function(p, mean, sd) {
    point <- sd == 0
    inner <- mean + hlo_select(point, 0, sd) * standard_normal_quantile(p, lower.tail, log.p)
    c(list(inner = inner, valid = sd >= 0 & mean == mean), whole_line(p))
  })
}

word_qlnorm <- function(p, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, meanlog = meanlog, sdlog = sdlog)
  quantile_word("qlnorm()", arguments, lower.tail, log.p, sys.call(), function(p, mean, sd) {
    inner <- exp(mean + sd * standard_normal_quantile(p, lower.tail, log.p))
    list(inner = inner, valid = sd >= 0 & mean == mean, begin = filled(0, p), end = filled(Inf, p))
  })
}

word_qexp <- function(p, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  quantile_word("qexp()", list(p = p, rate = rate), lower.tail, log.p, sys.call(), function(p, rate) {
    inner <- minus_log_upper(p, lower.tail, log.p) / rate
    list(inner = inner, valid = rate >= 0, begin = filled(0, p), end = hlo_select(rate == Inf, 0, filled(Inf, p)))
  }, closed = "begin")
}

word_qweibull <- function(p, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, shape = shape, scale = scale)
  quantile_word("qweibull()", arguments, lower.tail, log.p, sys.call(), function(p, shape, scale) {
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

word_qlogis <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, location = location, scale = scale)
  quantile_word("qlogis()", arguments, lower.tail, log.p, sys.call(), function(p, location, scale) {
    odds <- if (log.p) p - hlo_log1mexp(-p) else log_ratio(p, 1 - p)
    inner <- location + scale * (if (lower.tail) odds else -odds)
    c(list(inner = inner, valid = scale >= 0 & location == location), whole_line(p))
  })
}

word_qcauchy <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, location = location, scale = scale)
  quantile_word("qcauchy()", arguments, lower.tail, log.p, sys.call(), function(p, location, scale) {
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

word_qunif <- function(p, min = 0, max = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, min = min, max = max)
  quantile_word("qunif()", arguments, lower.tail, log.p, sys.call(), function(p, min, max) {
    share <- if (log.p) exp(p) else p
    other <- if (log.p) -expm1(p) else 1 - p
    part <- if (lower.tail) share else other
    list(inner = min + part * (max - min), valid = max >= min & finite(min) & finite(max), begin = min, end = max)
  }, closed = c("begin", "end"))
}

# The quantile of a gamma distribution of scale 1
standard_gamma_quantile <- function(p, a, lower, log) {
  name <- tail_function(lower, log, c("gammainc_p_inv", "gammainc_q_inv"))
  sf(name, a, p)
}

gamma_quantile <- function(p, shape, scale, lower, log) {
  point <- shape == 0
  usual <- shape > 0 & finite(shape)
  inner <- scale * standard_gamma_quantile(p, hlo_select(usual, shape, 1), lower, log)
  endless <- hlo_select(point, 0, filled(Inf, p))
  list(
    inner = hlo_select(usual, inner, endless), valid = shape >= 0 & scale >= 0, begin = filled(0, p), end = endless
  )
}

word_qgamma <- function(p, shape, rate = 1, scale = 1 / rate, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  given <- scale_given(missing(rate), missing(scale), "qgamma()", call)
  arguments <- c(list(p = p, shape = shape), if (given == "scale") list(scale = scale) else list(rate = rate))
  quantile_word("qgamma()", arguments, lower.tail, log.p, call, function(p, shape, by) {
    gamma_quantile(p, shape, if (given == "scale") by else 1 / by, lower.tail, log.p)
  })
}

word_qchisq <- function(p, df, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "qchisq()", call)
  quantile_word("qchisq()", list(p = p, df = df), lower.tail, log.p, call, function(p, df) {
    gamma_quantile(p, 0.5 * df, filled(2, p), lower.tail, log.p)
  })
}

beta_quantile <- function(p, a, b, lower, log) {
  sf(tail_function(lower, log, c("betainc_inv", "betainc_c_inv")), a, b, p)
}

word_qbeta <- function(p, shape1, shape2, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "qbeta()", call)
  arguments <- list(p = p, shape1 = shape1, shape2 = shape2)
  quantile_word("qbeta()", arguments, lower.tail, log.p, call, function(p, a, b) {
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

word_qt <- function(p, df, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "qt()", call)
  }
  quantile_word("qt()", list(p = p, df = df), lower.tail, log.p, call, function(p, df) {
    inner <- t_quantile(p, hlo_select(df > 0, df, 1), lower.tail, log.p)
    c(list(inner = inner, valid = df > 0), whole_line(p))
  })
}

# The beta quantile w, and 1 - w. The smaller of both is computed, and neither where `elsewhere`: the other one would be
# rounded, at its worst to 1, where its slope may be infinite.
beta_quantiles <- function(p, a, b, lower, log, elsewhere = FALSE) {
  half <- sf(tail_function(lower, log, c("betainc", "betainc_c")), a, b, filled(0.5, p))
  low <- if (lower) p < half else p > half
  w <- beta_quantile(hlo_select(low & !elsewhere, p, half), a, b, lower, log)
  v <- beta_quantile(hlo_select(low | elsewhere, half, p), b, a, !lower, log)
  list(below = hlo_select(low, w, 1 - v), above = hlo_select(low, 1 - w, v))
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

word_qf <- function(p, df1, df2, ncp, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  if (!missing(ncp)) {
    check_no_ncp(ncp, "qf()", call)
  }
  quantile_word("qf()", list(p = p, df1 = df1, df2 = df2), lower.tail, log.p, call, function(p, m, n) {
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

local({
  continuous <- c("norm", "lnorm", "exp", "weibull", "logis", "cauchy", "unif", "gamma", "chisq", "beta", "t", "f")
  for (name in continuous) {
    f <- get(paste0("word_q", name), envir = topenv())
    word(paste0("q", name), "stats", f,
      topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in p and the parameters",
      differs = paste0(
        "No warnings; parameters that are none give NaN also where p is 0 or 1.",
        if ("ncp" %in% names(formals(f))) " No non-central ones (`ncp`)."
      )
    )
  }
})
