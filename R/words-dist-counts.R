# Probabilities of counts. As in R, numbers near whole ones count as these; others have probability 0.

# `log_probability` of whole counts from 0; -Inf elsewhere
of_counts <- function(x, log_probability) {
  inside <- is_whole(x) & x > -0.5 & x < Inf
  hlo_select(inside, log_probability(abs(round(hlo_select(inside, x, 0)))), -Inf)
}

word_dpois <- function(x, lambda, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dpois()", list(x = x, lambda = lambda), function(x, lambda) {
    density_of(of_counts(x, function(k) log_poisson(k, lambda)), lambda >= 0 & x == x, log)
  }, call)
}

word_dbinom <- function(x, size, prob, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dbinom()", list(x = x, size = size, prob = prob), function(x, size, prob) {
    n <- round(size)
    valid <- prob >= 0 & prob <= 1 & (is_whole(size) | size == Inf) & size >= 0 & x == x
    density_of(of_counts(x, function(k) log_binomial(k, n - k, prob, 1 - prob)), valid, log)
  }, call)
}

word_dgeom <- function(x, prob, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dgeom()", list(x = x, prob = prob), function(x, prob) {
    density <- of_counts(x, function(k) over(k, 1 / log_complement(prob, 1 - prob)) + log(prob))
    density_of(density, prob > 0 & prob <= 1 & x == x, log)
  }, call)
}

word_dnbinom <- function(x, size, prob, mu, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  check_one_given(c(!missing(prob), !missing(mu)), c("prob", "mu"), "dnbinom()", call)
  if (missing(mu)) {
    distribution("dnbinom()", list(x = x, size = size, prob = prob), function(x, size, prob) {
      valid <- prob > 0 & prob <= 1 & size >= 0 & x == x
      density_of(of_counts(x, function(k) log_negative_binomial(k, size, prob, 1 - prob)), valid, log)
    }, call)
  } else {
    distribution("dnbinom()", list(x = x, size = size, mu = mu), function(x, size, mu) {
      density <- of_counts(x, function(k) {
        endless <- size == Inf
        n <- hlo_select(endless, 1, size)
        usual <- log_negative_binomial(k, n, 1 / (1 + over(mu, n)), over(mu, n + mu))
        hlo_select(endless, log_poisson(k, mu), usual)
      })
      density_of(density, mu >= 0 & size >= 0 & x == x, log)
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
    none <- count == 0
    log_prob <- log(hlo_select(none, 1, prob / sum(prob)))
    density <- lgamma(sum(count) + 1) + sum(count * log_prob - lgamma(count + 1))
    density_of(density, all(x >= 0 & prob >= 0 & finite(x) & finite(prob)) & sum(prob) > 0, log)
  }, call)
}

word("dmultinom", "stats", word_dmultinom,
  topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters",
  differs = "What R stops at is NaN; `size` is left to `x`."
)
