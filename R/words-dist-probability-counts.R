# Distribution functions of counts.

# Counts: as in R, a number just below a whole one counts as this.
floor_count <- function(x) floor(x + 1e-7)

poisson_tail <- function(x, lambda, lower, log) {
  k <- floor_count(x)
  inside <- k >= 0 & finite(k) & lambda > 0 & finite(lambda)
  inner <- gamma_probability(hlo_select(inside, k, 1) + 1, hlo_select(inside, lambda, 1), !lower, log)
  list(
    inner = inner, before = k < 0 | lambda == Inf & finite(k), behind = k >= 0 & (lambda == 0 | k == Inf),
    valid = lambda >= 0 & x == x,
    ends = list(end_of(k >= 0 & finite(k) & lambda == 0, lambda, list(k), poisson_end, lower = FALSE))
  )
}

word_ppois <- function(q, lambda, lower.tail = TRUE, log.p = FALSE) {
  probability_word("ppois()", list(q = q, lambda = lambda), lower.tail, log.p, sys.call(), function(x, lambda) {
    poisson_tail(x, lambda, lower.tail, log.p)
  })
}

binomial_tail <- function(x, size, prob, lower, log) {
  k <- floor_count(x)
  n <- round(size)
  inside <- k >= 0 & k < n & finite(n) & prob > 0 & prob < 1
  k_in <- hlo_select(inside, k, 0)
  p <- hlo_select(inside, prob, 0.5)
  list(
    inner = beta_probability(p, 1 - p, k_in + 1, hlo_select(inside, n, 1) - k_in, !lower, log),
    before = k < 0 | k < n & prob == 1, behind = k >= n | prob == 0 & k >= 0,
    valid = prob >= 0 & prob <= 1 & is_whole(size) & size >= 0 & finite(size) & x == x,
    ends = list(
      end_of(k >= 0 & k < n & prob == 0, prob, list(k + 1, n - k), beta_end, lower = FALSE),
      end_of(k >= 0 & k < n & prob == 1, 1 - prob, list(n - k, k + 1), beta_end)
    )
  )
}

word_pbinom <- function(q, size, prob, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, size = size, prob = prob)
  probability_word("pbinom()", arguments, lower.tail, log.p, sys.call(), function(x, size, prob) {
    binomial_tail(x, size, prob, lower.tail, log.p)
  })
}

word_pgeom <- function(q, prob, lower.tail = TRUE, log.p = FALSE) {
  probability_word("pgeom()", list(q = q, prob = prob), lower.tail, log.p, sys.call(), function(x, prob) {
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

word_pnbinom <- function(q, size, prob, mu, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_one_given(c(!missing(prob), !missing(mu)), c("prob", "mu"), "pnbinom()", call)
  by_mean <- missing(prob)
  arguments <- c(list(q = q, size = size), if (by_mean) list(mu = mu) else list(prob = prob))
  probability_word("pnbinom()", arguments, lower.tail, log.p, call, function(x, size, by) {
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

for (name in c("ppois", "pbinom", "pgeom", "pnbinom")) {
  word(name, "stats", get(paste0("word_", name)),
    topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters",
    differs = "No warnings."
  )
}
rm(name)
