# The geometric and the negative binomial distribution: density, probability and quantile.

overload_dgeom <- function(x, prob, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dgeom()", list(x = x, prob = prob), function(x, prob) {
    all <- prob == 1
    inner <- hlo_select(all, 0.5, prob)
    density <- of_counts(x, function(k) {
      hlo_select(all, hlo_select(k == 0, filled(0, k), -Inf), k * log_complement(inner, 1 - inner) + log(inner))
    })
    end <- end_of(is_count(x) & all, 1 - prob, list(count_of(x)), function(d, k) {
      negative_binomial_end(d, k, filled(1, k))
    })
    density_of(density, prob > 0 & prob <= 1 & x == x, log, list(end))
  }, call, log)
}

overload_dnbinom <- function(x, size, prob, mu, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  given <- one_given(c("prob", "mu"), "dnbinom()", call)
  arguments <- c(list(x = x, size = size), given)
  if (names(given) == "prob") {
    distribution("dnbinom()", arguments, function(x, size, prob) {
      valid <- prob > 0 & prob <= 1 & size >= 0 & x == x
      inside <- is_count(x) & size > 0 & finite(size)
      end <- end_of(inside & prob == 1, 1 - prob, list(count_of(x), size), negative_binomial_end)
      density <- of_counts(x, function(k) log_negative_binomial(k, size, prob, 1 - prob))
      density_of(density, valid, log, list(end))
    }, call, log)
  } else {
    distribution("dnbinom()", arguments, function(x, size, mu) {
      # The limit, a Poisson distribution, by a size beside which the mean is nothing.
      endless <- xla_stop_gradient(hlo_min(hlo_max(mu, 1) * 1e100, 1e300))
      n <- hlo_select(size == Inf, endless, size)
      density <- of_counts(x, function(k) {
        of_successes(k, n, function(n) log_negative_binomial_by_mean(k, n, mu))
      })
      inside <- is_count(x) & size > 0 & mu == 0
      end <- end_of(inside, mu, list(count_of(x), n), negative_binomial_mean_end)
      density_of(density, mu >= 0 & size >= 0 & x == x, log, list(end))
    }, call, log)
  }
}

log_negative_binomial <- function(k, size, p, q) {
  of_successes(k, size, function(n) log_binomial(n, k, p, q) - log1p(k / n))
}

# A density of `k` failures before `size` successes; with size 0 all is at 0.
of_successes <- function(k, size, density) {
  n <- hlo_min(size, 1e300)
  none <- n == 0
  hlo_select(none, hlo_select(k == 0, 0, -Inf), density(hlo_select(none, 1, n)))
}

log_negative_binomial_by_mean <- function(...) {
  value <- function(k, n, mu) log_binomial(n, k, 1 / (1 + over(mu, n)), over(mu, n + mu)) - log1p(k / n)
  jvp <- function(primals, results, tangents) {
    k <- primals[[1L]]
    n <- primals[[2L]]
    mu <- primals[[3L]]
    hlo_add(
      along(tangents[[2L]], function(t) t * (digamma_rise(k, n) - log1p(mu / n) + (mu - k) / (n + mu))),
      along(tangents[[3L]], function(t) t * ((k / not_zero(mu) - 1) * (n / (n + mu))))
    )
  }
  op_once("log_negative_binomial_by_mean", value, jvp)(...)
}

overload_pgeom <- function(q, prob, lower.tail = TRUE, log.p = FALSE) {
  probability_overload("pgeom()", list(q = q, prob = prob), lower.tail, log.p, sys.call(), function(x, prob) {
    k <- floor_count(x)
    inside <- k >= 0 & finite(k) & prob < 1
    t <- -(hlo_select(inside, k, 1) + 1) * log1p(-hlo_select(inside, prob, 0.5))
    list(
      inner = from_log_upper(t, lower.tail, log.p), before = k < 0, behind = k >= 0 & !inside,
      valid = prob > 0 & prob <= 1 & x == x,
      ends = list(end_of(k >= 0 & finite(k) & prob == 1, 1 - prob, list(k + 1), function(d, a) {
        beta_end(d, a, filled(1, a))
      }, lower = FALSE))
    )
  })
}

overload_pnbinom <- function(q, size, prob, mu, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  given <- one_given(c("prob", "mu"), "pnbinom()", call)
  by_mean <- names(given) == "mu"
  probability_overload("pnbinom()", c(list(q = q, size = size), given), lower.tail, log.p, call, function(x, size, by) {
    negative_binomial_tail(x, size, by, by_mean, lower.tail, log.p)
  })
}

# `by` is the mean or the probability.
negative_binomial_tail <- function(x, size, by, by_mean, lower, log) {
  k <- floor_count(x)
  inside <- k >= 0 & finite(k) & size > 0 & finite(size) & (if (by_mean) by > 0 & finite(by) else by < 1)
  count <- hlo_select(inside, k, 0) + 1
  n <- hlo_select(inside, size, 1)
  by_in <- hlo_select(inside, by, 0.5)
  p <- if (by_mean) 1 / (1 + by_in / n) else by_in
  q <- if (by_mean) 1 / (1 + n / by_in) else 1 - by_in
  inner <- beta_probability(p, q, n, count, lower, log)
  begins <- k >= 0 & finite(k) & size > 0
  if (by_mean) {
    poisson <- poisson_tail(x, by, lower, log)
    limit <- size == Inf
    all <- k >= 0 & (k == Inf | size == 0 | by == 0)
    list(
      inner = hlo_select(limit, poisson$inner, inner),
      before = k < 0 | !all & hlo_select(limit, poisson$before, by == Inf & finite(k)), behind = all,
      valid = size >= 0 & by >= 0 & x == x,
      ends = list(
        end_of(begins & by == 0 & finite(size), by, list(k, size), negative_binomial_tail_end, lower = FALSE),
        end_of(begins & by == 0 & size == Inf, by, list(k), poisson_end, lower = FALSE)
      )
    )
  } else {
    all <- k >= 0 & (k == Inf | size == 0 | by == 1)
    list(
      inner = inner, before = k < 0 | size == Inf & !all, behind = all, valid = size >= 0 & by > 0 & by <= 1 & x == x,
      ends = list(end_of(begins & by == 1 & finite(size), 1 - by, list(k + 1, size), beta_end, lower = FALSE))
    )
  }
}

overload_qgeom <- function(p, prob, lower.tail = TRUE, log.p = FALSE) {
  quantile_overload("qgeom()", list(p = p, prob = prob), lower.tail, log.p, sys.call(), function(p, prob) {
    valid <- prob > 0 & prob <= 1
    inside <- valid & prob < 1
    t <- -log1p(-hlo_select(inside, prob, 0.5))
    count <- hlo_max(ceiling(minus_log_upper(p, lower.tail, log.p) / t - 1 - 1e-12), 0)
    end <- hlo_select(prob == 1, 0, filled(Inf, p))
    list(inner = hlo_select(inside, count, 0), valid = valid, begin = filled(0, p), end = end)
  })
}

overload_qnbinom <- function(p, size, prob, mu, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  given <- one_given(c("prob", "mu"), "qnbinom()", call)
  by_mean <- names(given) == "mu"
  quantile_overload("qnbinom()", c(list(p = p, size = size), given), lower.tail, log.p, call, function(p, size, by) {
    valid <- size >= 0 & (if (by_mean) by >= 0 & finite(by) else by > 0 & by <= 1 & finite(size))
    inside <- valid & size > 0 & (if (by_mean) by > 0 else by < 1)
    n <- hlo_select(inside, size, 1)
    by_in <- hlo_select(inside, by, 0.5)
    # The variance over the mean
    spread <- if (by_mean) 1 + by_in / n else 1 / by_in
    mean <- if (by_mean) by_in else n * (1 - by_in) / by_in
    variance <- mean * spread
    guess <- count_guess(p, mean, variance, (2 * spread - 1) / sqrt(variance), lower.tail, log.p)
    inner <- count_quantile(p, guess, list(n, by_in), function(k, n, by, lower, log) {
      tail_value(negative_binomial_tail(k, n, by, by_mean, lower, log), lower, log)
    }, lower.tail, log.p)
    end <- hlo_select(inside, filled(Inf, p), 0)
    list(inner = hlo_select(inside, inner, 0), valid = valid, begin = filled(0, p), end = end)
  })
}

distribution_overloads(c("geom", "nbinom"), counts = TRUE)
