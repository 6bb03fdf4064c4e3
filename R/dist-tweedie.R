# The density of the Tweedie distribution with a power between 1 and 2: that of the sum of a Poisson number of gamma
# numbers.

#' @rdname hlo_densities
#' @export
hlo_dtweedie <- function(x, mu, phi, power, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  arguments <- list(x = x, mu = mu, phi = phi, power = power)
  distribution("hlo_dtweedie", arguments, function(x, mu, phi, p) {
    valid <- mu > 0 & finite(mu) & phi > 0 & finite(phi) & p > 1 & p < 2
    m <- hlo_select(valid, mu, 1)
    s <- hlo_select(valid, phi, 1)
    p <- hlo_select(valid, p, 1.5)
    count <- exp((2 - p) * log(m)) / (s * (2 - p))
    inside <- x > 0 & x < Inf
    density <- log_tweedie(hlo_select(inside, x, 1), m, s, p, count)
    density_of(hlo_select(inside, density, hlo_select(x == 0, -count, -Inf)), valid & x == x, log)
  }, call, log)
}

# For x > 0: a sum over how many gamma numbers there are, of Poisson probabilities with the mean `count` times gamma
# densities. Which count has the largest term depends neither on the mean nor on its digits.
log_tweedie <- function(x, mu, phi, p, count) {
  shape <- (2 - p) / (p - 1)
  part <- x / (phi * (p - 1) * exp((p - 1) * log(mu)))
  peak <- xla_stop_gradient(hlo_max(exp((2 - p) * log(x)) / (phi * (2 - p)), 1))
  window <- series_window(peak, 1 + shape, 1)
  largest <- xla_stop_gradient(log_tweedie_term(peak, count, part, shape))
  sum <- made_once("op tweedie", function() {
    series_sums(1L, function(j, count, part, shape, largest) {
      list(exp(log_tweedie_term(j, count, part, shape) - largest))
    })
  })(window$from, window$to, count, part, shape, largest)[[1L]]
  only_where(window$known, log(sum) + largest - log(x))
}

log_tweedie_term <- function(j, count, part, shape) {
  log_poisson(j, count) + log_poisson(shape * j, part) + log(shape * j)
}

overload("hlo_dtweedie", "xlaffi", hlo_dtweedie,
  by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in x and the parameters"
)
