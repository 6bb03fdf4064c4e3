# Probabilities of counts. As in R, numbers near whole ones count as these; others have probability 0.

# `log_probability` of whole counts from 0; -Inf elsewhere
of_counts <- function(x, log_probability) {
  hlo_select(is_count(x), log_probability(count_of(x)), -Inf)
}

is_count <- function(x) is_whole(x) & x > -0.5 & x < Inf

count_of <- function(x) abs(round(hlo_select(is_count(x), x, 0)))

word_dpois <- function(x, lambda, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dpois()", list(x = x, lambda = lambda), function(x, lambda) {
    end <- end_of(is_count(x) & lambda == 0, lambda, list(count_of(x)), poisson_end)
    density_of(of_counts(x, function(k) log_poisson(k, lambda)), lambda >= 0 & x == x, log, list(end))
  }, call)
}

word_dbinom <- function(x, size, prob, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dbinom()", list(x = x, size = size, prob = prob), function(x, size, prob) {
    n <- round(size)
    valid <- prob >= 0 & prob <= 1 & (is_whole(size) | size == Inf) & size >= 0 & x == x
    count <- count_of(x)
    others <- n - count
    inside <- is_count(x) & others >= 0 & finite(n)
    ends <- list(
      end_of(inside & prob == 0, prob, list(count, others), binomial_end),
      end_of(inside & prob == 1, 1 - prob, list(others, count), binomial_end)
    )
    density_of(of_counts(x, function(k) log_binomial(k, n - k, prob, 1 - prob)), valid, log, ends)
  }, call)
}

word_dgeom <- function(x, prob, log = FALSE) {
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
  }, call)
}

word_dnbinom <- function(x, size, prob, mu, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  check_one_given(c(!missing(prob), !missing(mu)), c("prob", "mu"), "dnbinom()", call)
  if (missing(mu)) {
    distribution("dnbinom()", list(x = x, size = size, prob = prob), function(x, size, prob) {
      valid <- prob > 0 & prob <= 1 & size >= 0 & x == x
      inside <- is_count(x) & size > 0 & finite(size)
      end <- end_of(inside & prob == 1, 1 - prob, list(count_of(x), size), negative_binomial_end)
      density <- of_counts(x, function(k) log_negative_binomial(k, size, prob, 1 - prob))
      density_of(density, valid, log, list(end))
    }, call)
  } else {
    distribution("dnbinom()", list(x = x, size = size, mu = mu), function(x, size, mu) {
      density <- of_counts(x, function(k) {
        endless <- size == Inf
        n <- hlo_select(endless, 1, size)
        usual <- log_negative_binomial(k, n, 1 / (1 + over(mu, n)), over(mu, n + mu))
        hlo_select(endless, log_poisson(k, mu), usual)
      })
      inside <- is_count(x) & size > 0 & mu == 0
      ends <- list(
        end_of(inside & finite(size), mu, list(count_of(x), size), negative_binomial_mean_end),
        end_of(inside & size == Inf, mu, list(count_of(x)), poisson_end)
      )
      density_of(density, mu >= 0 & size >= 0 & x == x, log, ends)
    }, call)
  }
}

# Of `size` successes after `k` failures; with size 0 all is at 0.
log_negative_binomial <- function(k, size, p, q) {
  n <- hlo_min(size, 1e300)
  none <- n == 0
  density <- log_binomial(n, k, p, q) - log1p(k / hlo_select(none, 1, n))
  hlo_select(none, hlo_select(k == 0, 0, -Inf), density)
}

for (name in c("dpois", "dbinom", "dgeom", "dnbinom")) {
  word(name, "stats", get(paste0("word_", name)),
    topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters",
    differs = "No warnings."
  )
}
rm(name)

word_dmultinom <- function(x, size = NULL, prob, log = FALSE) {
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
    only_where(all(x >= 0 & prob >= 0 & finite(x) & finite(prob)) & sum(prob) > 0, density)
  }, call)
}

word("dmultinom", "stats", word_dmultinom,
  topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters",
  differs = "What R stops at is NaN; `size` is left to `x`."
)
