# The normal and the lognormal distribution: density, probability and quantile.

log_normal_density <- function(x, mean, sd) {
  point <- sd == 0
  inside <- finite(x) & finite(mean) & !point
  s <- hlo_select(inside, sd, 1)
  z <- (hlo_select(inside, x, 0) - hlo_select(inside, mean, 0)) / s
  density <- -(half_log_2pi + log(s) + 0.5 * z * z)
  hlo_select(inside, density, hlo_select(point & x == mean, Inf, -Inf))
}

overload_dnorm <- function(x, mean = 0, sd = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dnorm()", list(x = x, mean = mean, sd = sd), function(x, mean, sd) {
    # R has no answer for the distance of an infinite number from itself.
    valid <- sd >= 0 & x == x & mean == mean & (sd == Inf | finite(x) | x != mean)
    density_of(log_normal_density(x, mean, sd), valid, log)
  }, call, log)
}

# How logarithms of the log-normal density and of its lower tail begin, with all their slopes there: what is left out is
# small beside it, and neither may meet an infinite number elsewhere.
log_normal_end <- function(x, mean, sd) {
  end <- x == 0 & sd > 0 & finite(mean) & finite(sd)
  z <- (log(hlo_select(end, x, 1)) - hlo_select(end, mean, 0)) / hlo_select(end, sd, 1)
  hlo_select(end, -0.5 * z * z, -Inf)
}

overload_dlnorm <- function(x, meanlog = 0, sdlog = 1, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dlnorm()", list(x = x, meanlog = meanlog, sdlog = sdlog), function(x, mean, sd) {
    inside <- x > 0
    at <- log(hlo_select(inside, x, 1))
    density <- log_normal_density(at, mean, sd) - hlo_select(sd == 0, 0, at)
    ends <- if (log) log_normal_end(x, mean, sd) else -Inf
    # As of dnorm(), and no infinite distance by an infinite unit
    off <- (at - mean) / hlo_select(sd == 0, 1, sd)
    known <- !inside | sd == 0 | off == off
    density_of(hlo_select(inside, density, ends), sd >= 0 & x == x & mean == mean & known, log)
  }, call, log)
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

overload_pnorm <- function(q, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, mean = mean, sd = sd)
  probability_overload("pnorm()", arguments, lower.tail, log.p, sys.call(), function(x, mean, sd) {
    normal_probability(x, mean, sd, lower.tail, log.p)
  })
}

overload_plnorm <- function(q, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, meanlog = meanlog, sdlog = sdlog)
  probability_overload("plnorm()", arguments, lower.tail, log.p, sys.call(), function(x, mean, sd) {
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

standard_normal_quantile <- function(p, lower, log) {
  z <- sf(if (log) "ndtri_exp" else "ndtri", p)
  if (lower) z else -z
}

overload_qnorm <- function(p, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  quantile_overload("qnorm()", list(p = p, mean = mean, sd = sd), lower.tail, log.p, sys.call(), function(p, mean, sd) {
    point <- sd == 0
    inner <- mean + hlo_select(point, 0, sd) * standard_normal_quantile(p, lower.tail, log.p)
    c(list(inner = inner, valid = sd >= 0 & mean == mean), whole_line(p))
  })
}

overload_qlnorm <- function(p, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, meanlog = meanlog, sdlog = sdlog)
  quantile_overload("qlnorm()", arguments, lower.tail, log.p, sys.call(), function(p, mean, sd) {
    inner <- exp(mean + sd * standard_normal_quantile(p, lower.tail, log.p))
    list(inner = inner, valid = sd >= 0 & mean == mean, begin = filled(0, p), end = filled(Inf, p))
  })
}

distribution_overloads(c("norm", "lnorm"))
