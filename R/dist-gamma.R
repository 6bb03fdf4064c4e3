# The gamma and the chi-squared distribution: density, probability and quantile.

# The logarithm of a density at 0 that goes as x^(shape - 1) there
power_at_zero <- function(shape, at_one) hlo_select(shape > 1, -Inf, hlo_select(shape < 1, Inf, at_one))

overload_dgamma <- function(x, shape, rate = 1, scale = 1 / rate, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  given <- scale_given("dgamma()", call)
  distribution("dgamma()", c(list(x = x, shape = shape), given), function(x, shape, by) {
    scale <- as_scale(by, given)
    valid <- shape >= 0 & scale > 0 & x == x
    density_of(log_gamma_density(x, shape, scale), valid, log, list(end_at_zero(x, shape, scale)))
  }, call, log)
}

# As one_given(), of `rate`, which has a default, and `scale`
scale_given <- function(shown, call, frame = parent.frame()) {
  if (eval(quote(missing(rate) && missing(scale)), frame)) {
    return(list(rate = frame$rate))
  }
  one_given(c("rate", "scale"), shown, call, frame)
}

as_scale <- function(by, given) if (names(given) == "scale") by else 1 / by

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

overload_dchisq <- function(x, df, ncp = 0, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  check_no_ncp(ncp, "dchisq()", call)
  distribution("dchisq()", list(x = x, df = df), function(x, df) {
    shape <- 0.5 * df
    scale <- filled(2, x)
    density_of(log_gamma_density(x, shape, scale), df >= 0 & x == x, log, list(end_at_zero(x, shape, scale)))
  }, call, log)
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

overload_pgamma <- function(q, shape, rate = 1, scale = 1 / rate, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  given <- scale_given("pgamma()", call)
  arguments <- c(list(q = q, shape = shape), given)
  probability_overload("pgamma()", arguments, lower.tail, log.p, call, function(x, shape, by) {
    gamma_tail(x, shape, as_scale(by, given), lower.tail, log.p)
  })
}

overload_pchisq <- function(q, df, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "pchisq()", call)
  probability_overload("pchisq()", list(q = q, df = df), lower.tail, log.p, call, function(x, df) {
    gamma_tail(x, 0.5 * df, filled(2, x), lower.tail, log.p)
  })
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
    inner = hlo_select(usual, inner, endless), valid = shape >= 0 & scale > 0, begin = filled(0, p), end = endless
  )
}

overload_qgamma <- function(p, shape, rate = 1, scale = 1 / rate, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  given <- scale_given("qgamma()", call)
  arguments <- c(list(p = p, shape = shape), given)
  quantile_overload("qgamma()", arguments, lower.tail, log.p, call, function(p, shape, by) {
    gamma_quantile(p, shape, as_scale(by, given), lower.tail, log.p)
  })
}

overload_qchisq <- function(p, df, ncp = 0, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_no_ncp(ncp, "qchisq()", call)
  quantile_overload("qchisq()", list(p = p, df = df), lower.tail, log.p, call, function(p, df) {
    gamma_quantile(p, 0.5 * df, filled(2, p), lower.tail, log.p)
  })
}

distribution_overloads(c("gamma", "chisq"))
