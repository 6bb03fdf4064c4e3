# Quantiles of counts: the smallest count whose probability reaches p.

# `probability(k, parameters..., lower, log)` is the distribution function of counts. As in R a probability counts as
# reached that falls short by rounding.
count_quantile <- function(p, guess, parameters, probability, lower, log) {
  slack <- 4096 * .Machine$double.eps
  run <- function(p, guess, ...) {
    parameters <- list(...)
    less <- if (lower) -slack else slack
    fuzzy <- if (log) p + less else p * (1 + less)
    tail_at <- function(k) do.call(probability, c(list(k), parameters, list(lower, log)))
    # Not reached at `low`, reached at `high`; from the guess on in growing steps, then by halves. Where a probability
    # is NaN, so is the quantile.
    turn <- function(leaves) {
      low <- leaves[[1L]]
      high <- leaves[[2L]]
      step <- leaves[[3L]]
      open <- high == Inf
      start <- low < 0 & open
      middle <- floor(0.5 * (low + hlo_select(open, low, high)))
      at <- hlo_select(open, low + step, hlo_select(low < 0, hlo_select(open, 0, high) - step, middle))
      at <- hlo_max(hlo_select(start, guess, at), 0)
      tail <- tail_at(at)
      fine <- if (lower) tail >= fuzzy else tail <= fuzzy
      lost <- tail != tail
      at <- hlo_select(lost, NaN, at)
      running <- apart(low, high)
      list(
        hlo_select(running & !fine, at, low), hlo_select(running & (fine | lost), at, high),
        hlo_select(start, step, 2 * step)
      )
    }
    # Above 2^53 not all whole numbers are there.
    apart <- function(low, high) high - low > hlo_max(1, 2 * .Machine$double.eps * low) & low < 1e300
    again <- function(leaves) list(hlo_sum(converted(apart(leaves[[1L]], leaves[[2L]]), "i32")) > 0L)
    start <- list(filled(-1, p), filled(Inf, p), filled(1, p))
    while_loop(again, turn, start)[[2L]]
  }
  do.call(flat_elementwise_op("count_quantile", run), c(list(p, guess), parameters))
}


# The normal quantile with its first correction, a count near the right one
count_guess <- function(p, mean, variance, skewness, lower, log) {
  z <- standard_normal_quantile(p, lower, log)
  guess <- floor(mean + sqrt(variance) * (z + skewness * (z * z - 1) / 6))
  # Not NaN
  hlo_select(guess > 0 & guess < 1e15, guess, hlo_select(guess >= 1e15, 1e15, filled(0, p)))
}

tail_value <- function(found, lower, log) with_ends(found$inner, found$before, found$behind, lower, log)

word_qpois <- function(p, lambda, lower.tail = TRUE, log.p = FALSE) {
  quantile_word("qpois()", list(p = p, lambda = lambda), lower.tail, log.p, sys.call(), function(p, lambda) {
    valid <- lambda >= 0 & finite(lambda)
    inside <- valid & lambda > 0
    mean <- hlo_select(inside, lambda, 1)
    guess <- count_guess(p, mean, mean, 1 / sqrt(mean), lower.tail, log.p)
    inner <- count_quantile(p, guess, list(mean), function(k, mean, lower, log) {
      tail_value(poisson_tail(k, mean, lower, log), lower, log)
    }, lower.tail, log.p)
    end <- hlo_select(inside, filled(Inf, p), 0)
    list(inner = hlo_select(inside, inner, 0), valid = valid, begin = filled(0, p), end = end)
  })
}

word_qbinom <- function(p, size, prob, lower.tail = TRUE, log.p = FALSE) {
  arguments <- list(p = p, size = size, prob = prob)
  quantile_word("qbinom()", arguments, lower.tail, log.p, sys.call(), function(p, size, prob) {
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

word_qgeom <- function(p, prob, lower.tail = TRUE, log.p = FALSE) {
  quantile_word("qgeom()", list(p = p, prob = prob), lower.tail, log.p, sys.call(), function(p, prob) {
    valid <- prob > 0 & prob <= 1
    inside <- valid & prob < 1
    t <- -log1p(-hlo_select(inside, prob, 0.5))
    count <- hlo_max(ceiling(minus_log_upper(p, lower.tail, log.p) / t - 1 - 1e-12), 0)
    end <- hlo_select(prob == 1, 0, filled(Inf, p))
    list(inner = hlo_select(inside, count, 0), valid = valid, begin = filled(0, p), end = end)
  })
}

word_qnbinom <- function(p, size, prob, mu, lower.tail = TRUE, log.p = FALSE) {
  call <- sys.call()
  check_one_given(c(!missing(prob), !missing(mu)), c("prob", "mu"), "qnbinom()", call)
  by_mean <- missing(prob)
  arguments <- c(list(p = p, size = size), if (by_mean) list(mu = mu) else list(prob = prob))
  quantile_word("qnbinom()", arguments, lower.tail, log.p, call, function(p, size, by) {
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

for (name in c("qpois", "qbinom", "qgeom", "qnbinom")) {
  word(name, "stats", get(paste0("word_", name)),
    topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "none",
    differs = "No warnings; parameters that are none give NaN also where p is 0 or 1."
  )
}
rm(name)
