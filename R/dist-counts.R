# Probabilities of counts. As in R, numbers near whole ones count as these; others, and those below 0, have
# probability 0.

# `log_probability` of whole counts from 0; -Inf elsewhere
of_counts <- function(x, log_probability) {
  hlo_select(is_count(x), log_probability(count_of(x)), -Inf)
}

is_count <- function(x) is_whole(x) & x >= 0 & x < Inf

count_of <- function(x) abs(round(hlo_select(is_count(x), x, 0)))

overload("dmultinom", "stats", overload_dmultinom,
  topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters",
  differs = "What R stops at is NaN; `size` is left to `x`."
)

# Distribution functions of counts.

# Counts: as in R, a number just below a whole one counts as this, but none below 0 as 0.
floor_count <- function(x) hlo_select(x < 0, -1, floor(x + 1e-7))

# Quantiles of counts: the smallest count whose probability reaches p.

# `probability(k, parameters..., lower, log)` is the distribution function of counts. Above 1/2 the other tail is
# compared, which has the digits that p has not, and always logarithms.
count_quantile <- function(p, guess, parameters, probability, lower, log) {
  run <- function(p, guess, ...) {
    parameters <- list(...)
    turned <- p > if (log) -log(2) else 0.5
    limit <- count_limit(p, turned, lower, log)
    # Before the first count nothing is computed.
    tail_at <- function(k, where, lower) {
      do.call(probability, c(list(hlo_select(where, k, -1)), parameters, list(lower, TRUE)))
    }
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
      tail <- hlo_select(turned, tail_at(at, turned, !lower), tail_at(at, !turned, lower))
      # A lower tail reaches, an upper one falls to its limit.
      fine <- hlo_select(if (lower) turned else !turned, tail <= limit, tail >= limit)
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

# The logarithm of the tail, where `turned` of the other one, that a count reaches: as in R one that falls short by
# rounding does, also by that of a p near 1.
count_limit <- function(p, turned, lower, log) {
  eps <- .Machine$double.eps
  # XLA takes what is below for 0.
  least <- .Machine$double.xmin
  limit <- if (log) {
    hlo_select(turned, hlo_log1mexp(hlo_max(hlo_select(turned, -p, 1), least)), p)
  } else {
    rest <- 1 - p
    # R's own probabilities are rounded near 1.
    fuzz <- if (lower) 8 * p + 0.25 else hlo_select(rest > 32 * eps, 0.25 - 8 * p, -0.25)
    near <- rest + eps * fuzz
    log(hlo_max(hlo_select(turned, near, p), least))
  }
  slack <- eps * (128 - 4 * limit)
  limit + hlo_select(turned, slack, -slack) * (if (lower) 1 else -1)
}

# The normal quantile with its first correction, a count near the right one
count_guess <- function(p, mean, variance, skewness, lower, log) {
  z <- standard_normal_quantile(p, lower, log)
  guess <- floor(mean + sqrt(variance) * (z + skewness * (z * z - 1) / 6))
  # Not NaN
  hlo_select(guess > 0 & guess < 1e15, guess, hlo_select(guess >= 1e15, 1e15, filled(0, p)))
}

tail_value <- function(found, lower, log) with_ends(found$inner, found$before, found$behind, lower, log)
