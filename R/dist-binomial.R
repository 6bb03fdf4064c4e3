# The binomial and the multinomial distribution: density, and of the first probability and quantile.

overload_dbinom <- function(x, size, prob, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  log_probability <- if (is_one(size)) log_bernoulli else log_binomial
  distribution("dbinom()", list(x = x, size = size, prob = prob), function(x, size, prob) {
    n <- round(size)
    count <- count_of(x)
    # Of endless trials R knows none that are some.
    known <- finite(n) | count == 0 | prob == 0 | prob == 1
    valid <- prob >= 0 & prob <= 1 & (is_whole(size) | size == Inf) & size >= 0 & x == x & known
    others <- n - count
    inside <- is_count(x) & others >= 0 & finite(n)
    end <- either_end(
      inside & prob == 0, inside & prob == 1, list(prob, count, others), list(1 - prob, others, count), binomial_end
    )
    density_of(of_counts(x, function(k) log_probability(k, n - k, prob, 1 - prob)), valid, log, list(end))
  }, call, c(log, is_one(size)))
}

# Whether a number is known to be 1 while the program is written
is_one <- function(size) is.numeric(size) && !is.object(size) && length(size) == 1L && isTRUE(size == 1)

overload_dmultinom <- function(x, size = NULL, prob, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  if (length(x) != length(prob)) {
    abort(sprintf("dmultinom(): `x` has %d elements and `prob` %d", length(x), length(prob)),
      op = "dmultinom", operand = "prob", call = call
    )
  }
  if (!is.null(size) && (is_value(x) || is_value(size) || size != sum(x))) {
    abort("dmultinom(): `size` must be the sum of `x`, which need not be given",
      op = "dmultinom", operand = "size", call = call
    )
  }
  distribution("dmultinom()", list(x = as.vector(x), prob = as.vector(prob)), function(x, prob) {
    count <- floor(x + 0.5)
    share <- prob / sum(prob)
    none <- share == 0
    # Where a share is 0 its power has slopes that its logarithm has not.
    powers <- (if (log) end_log_power else end_power)(hlo_select(none, share, 1), hlo_select(none, count, 0))
    density <- lgamma(sum(count) + 1) + sum(count * log(hlo_select(none, 1, share)) - lgamma(count + 1))
    density <- if (log) density + sum(powers) else exp(density) * prod(powers)
    only_where(all(count >= 0 & prob >= 0 & finite(x) & finite(prob)) & sum(prob) > 0, density)
  }, call, log)
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

overload_pbinom <- function(q, size, prob, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(q = q, size = size, prob = prob)
  probability_overload("pbinom()", arguments, lower.tail, log.p, sys.call(), function(x, size, prob) {
    binomial_tail(x, size, prob, lower.tail, log.p)
  })
}

overload_qbinom <- function(p, size, prob, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, size = size, prob = prob)
  quantile_overload("qbinom()", arguments, lower.tail, log.p, sys.call(), function(p, size, prob) {
    valid <- prob >= 0 & prob <= 1 & size == floor(size) & size >= 0 & finite(size)
    inside <- valid & prob > 0 & prob < 1 & size > 0
    n <- hlo_select(inside, size, 1)
    chance <- hlo_select(inside, prob, 0.5)
    other <- 1 - chance
    variance <- n * chance * other
    guess <- count_guess(p, n * chance, variance, (other - chance) / sqrt(variance), lower.tail, log.p)
    inner <- count_quantile(p, hlo_min(guess, n), list(n, chance), function(k, n, chance, lower, log) {
      tail_value(binomial_tail(k, n, chance, lower, log), lower, log)
    }, lower.tail, log.p)
    ends <- hlo_select(prob == 1, size, 0)
    list(
      inner = hlo_select(inside, inner, ends), valid = valid, begin = filled(0, p), end = size
    )
  })
}

distribution_overloads("binom", counts = TRUE)
