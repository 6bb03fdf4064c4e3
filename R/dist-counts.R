# Probabilities of counts. As in R, numbers near whole ones count as these; others have probability 0.

# `log_probability` of whole counts from 0; -Inf elsewhere
of_counts <- function(x, log_probability) {
  hlo_select(is_count(x), log_probability(count_of(x)), -Inf)
}

is_count <- function(x) is_whole(x) & x > -0.5 & x < Inf

count_of <- function(x) abs(round(hlo_select(is_count(x), x, 0)))

overload("dmultinom", "stats", overload_dmultinom,
  topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters",
  differs = "What R stops at is NaN; `size` is left to `x`."
)

# Distribution functions of counts.

# Counts: as in R, a number just below a whole one counts as this.
floor_count <- function(x) floor(x + 1e-7)

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
