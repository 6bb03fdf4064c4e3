# Densities, by their logarithms. What is not chosen must have finite derivatives, so numbers outside the support are
# replaced before they are computed with.

log_normal_density <- function(x, mean, sd) {
  point <- sd == 0
  inside <- finite(x) & finite(mean) & !point
  s <- hlo_select(inside, sd, 1)
  z <- (hlo_select(inside, x, 0) - hlo_select(inside, mean, 0)) / s
  density <- -(half_log_2pi + log(s) + 0.5 * z * z)
  hlo_select(inside, density, hlo_select(point & x == mean, Inf, -Inf))
}

word_dnorm <- function(x, mean = 0, sd = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dnorm()", list(x = x, mean = mean, sd = sd), function(x, mean, sd) {
    # R has no answer for the distance of an infinite number from itself.
    valid <- sd >= 0 & x == x & mean == mean & (sd == Inf | finite(x) | x != mean)
    density_of(log_normal_density(x, mean, sd), valid, log)
  }, call)
}

# How logarithms of the log-normal density and of its lower tail begin, with all their slopes there: what is left out is
# small beside it, and neither may meet an infinite number elsewhere.
log_normal_end <- function(x, mean, sd) {
  end <- x == 0 & sd > 0 & finite(mean) & finite(sd)
  z <- (log(hlo_select(end, x, 1)) - hlo_select(end, mean, 0)) / hlo_select(end, sd, 1)
  hlo_select(end, -0.5 * z * z, -Inf)
}

word_dlnorm <- function(x, meanlog = 0, sdlog = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dlnorm()", list(x = x, meanlog = meanlog, sdlog = sdlog), function(x, mean, sd) {
    inside <- x > 0
    at <- log(hlo_select(inside, x, 1))
    density <- log_normal_density(at, mean, sd) - hlo_select(sd == 0, 0, at)
    ends <- if (log) log_normal_end(x, mean, sd) else -Inf
    density_of(hlo_select(inside, density, ends), sd >= 0 & x == x & mean == mean, log)
  }, call)
}

word_dexp <- function(x, rate = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dexp()", list(x = x, rate = rate), function(x, rate) {
    inside <- x >= 0
    density <- log(rate) - rate * hlo_select(inside, x, 0)
    density_of(hlo_select(inside, density, -Inf), rate >= 0 & rate < Inf & x == x, log)
  }, call)
}

word_dunif <- function(x, min = 0, max = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dunif()", list(x = x, min = min, max = max), function(x, min, max) {
    density_of(hlo_select(x >= min & x <= max, -log(max - min), -Inf), max > min & x == x, log)
  }, call)
}

word_dcauchy <- function(x, location = 0, scale = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dcauchy()", list(x = x, location = location, scale = scale), function(x, location, scale) {
    z <- (x - location) / scale
    density_of(-(log(pi) + log(scale) + log1p(z * z)), scale > 0 & z == z, log)
  }, call)
}

word_dlogis <- function(x, location = 0, scale = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dlogis()", list(x = x, location = location, scale = scale), function(x, location, scale) {
    z <- abs((x - location) / scale)
    density_of(-(z + log(scale) + 2 * log1p(exp(-z))), scale > 0 & z == z, log)
  }, call)
}

word_dweibull <- function(x, shape, scale = 1, log = FALSE) {
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
  }, call)
}

# The logarithm of a density at 0 that goes as x^(shape - 1) there
power_at_zero <- function(shape, at_one) hlo_select(shape > 1, -Inf, hlo_select(shape < 1, Inf, at_one))

word_dgamma <- function(x, shape, rate = 1, scale = 1 / rate, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  given <- scale_given(missing(rate), missing(scale), "dgamma()", call)
  arguments <- c(list(x = x, shape = shape), if (given == "scale") list(scale = scale) else list(rate = rate))
  distribution("dgamma()", arguments, function(x, shape, by) {
    scale <- if (given == "scale") by else 1 / by
    valid <- shape >= 0 & scale > 0 & x == x
    density_of(log_gamma_density(x, shape, scale), valid, log, list(end_at_zero(x, shape, scale)))
  }, call)
}

# Which of `rate` and `scale` the user gave
scale_given <- function(no_rate, no_scale, shown, call) {
  if (!no_rate && !no_scale) {
    check_one_given(c(TRUE, TRUE), c("rate", "scale"), shown, call)
  }
  if (no_scale) "rate" else "scale"
}

# Where a gamma distribution begins
end_at_zero <- function(x, shape, scale) {
  usual <- shape > 0 & finite(shape) & scale > 0 & finite(scale)
  end_of(x == 0 & usual, x, list(shape, scale), gamma_end)
}

# With shape 0 all is at 0. The Poisson probability of `shape` is x / shape times the density.
log_gamma_density <- function(x, shape, scale) {
  inside <- x > 0 & x < Inf & shape > 0 & shape < Inf & scale < Inf
  at <- hlo_select(inside, x, 1)
  count <- hlo_select(inside, shape, 1)
  unit <- hlo_select(inside, scale, 1)
  density <- log_poisson(count, at / unit) + log_ratio(count, at)
  ends <- hlo_select(x == 0, hlo_select(shape == 0, Inf, power_at_zero(shape, -log(scale))), -Inf)
  hlo_select(inside, density, ends)
}

word_dchisq <- function(x, df, ncp = 0, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  check_no_ncp(ncp, "dchisq()", call)
  distribution("dchisq()", list(x = x, df = df), function(x, df) {
    shape <- 0.5 * df
    scale <- filled(2, x)
    density_of(log_gamma_density(x, shape, scale), df >= 0 & x == x, log, list(end_at_zero(x, shape, scale)))
  }, call)
}

word_dbeta <- function(x, shape1, shape2, ncp = 0, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  check_no_ncp(ncp, "dbeta()", call)
  distribution("dbeta()", list(x = x, shape1 = shape1, shape2 = shape2), function(x, a, b) {
    density_of(log_beta_density(x, a, b), a >= 0 & b >= 0 & x == x, log, beta_ends(x, a, b))
  }, call)
}

beta_ends <- function(x, a, b) {
  usual <- a > 0 & b > 0 & finite(a) & finite(b)
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
  # Near 0 a product with `at` would underflow.
  from <- hlo_max(at, 1e-200)
  density <- log_binomial(p, q, from, 1 - from) + p * (log(at) - log(from)) -
    log(1 / p + 1 / q) - log(at) - log1p(-at)
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

word_dt <- function(x, df, ncp, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  if (!missing(ncp)) {
    check_no_ncp(ncp, "dt()", call)
  }
  distribution("dt()", list(x = x, df = df), function(x, df) {
    density_of(log_t_density(x, df), df > 0 & x == x, log)
  }, call)
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

word_df <- function(x, df1, df2, ncp, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  if (!missing(ncp)) {
    check_no_ncp(ncp, "df()", call)
  }
  distribution("df()", list(x = x, df1 = df1, df2 = df2), function(x, m, n) {
    density_of(log_f_density(x, m, n), m > 0 & n > 0 & x == x, log, f_ends(x, m, n))
  }, call)
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

local({
  central <- c("dnorm", "dlnorm", "dexp", "dunif", "dcauchy", "dlogis", "dweibull", "dgamma")
  for (name in c(central, "dchisq", "dbeta", "dt", "df")) {
    word(name, "stats", get(paste0("word_", name)),
      topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in x and the parameters",
      differs = paste0("No warnings.", if (!name %in% central) " No non-central ones (`ncp`).")
    )
  }
})
