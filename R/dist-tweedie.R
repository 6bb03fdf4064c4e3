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
  sum <- tweedie_log_sum(window$from, window$to, count, part, shape, peak, largest)
  only_where(window$known, sum + largest - log(x))
}

# The logarithm of the sum of exp(term - largest). The terms are j z - lgamma(j + 1) - lgamma(shape j) less what holds
# for all of them, where z = log(count) + shape log(part).
tweedie_log_sum <- function(...) {
  made_once("op tweedie_log_sum", function() {
    sum <- function(from, to, count, part, shape, peak, largest) {
      log(series_loop(from, to, 1L, function(j) {
        list(exp(log_tweedie_term(j, count, part, shape) - largest))
      })[[1L]])
    }
    elementwise_op("tweedie_log_sum", sum, function(primals, results, tangents) {
      count <- primals[[3L]]
      part <- primals[[4L]]
      shape <- primals[[5L]]
      peak <- primals[[6L]]
      cumulants <- do.call(tweedie_cumulants(1L), unname(primals))
      by_place <- peak + cumulants[[1L]]
      hlo_add(
        along(tangents[[3L]], function(t) t * ((by_place - count) / count)),
        along(tangents[[4L]], function(t) t * ((shape * by_place - part) / part)),
        along(tangents[[5L]], function(t) {
          rest <- peak * (log(part) - digamma(shape * peak))
          t * (rest + cumulants[[1L]] * log(part) + cumulants[[2L]])
        })
      )
    })
  })(...)
}

# The derivatives of order `order` of the logarithm of the sum over j of
# exp((j - peak) z - lgamma(shape j) + lgamma(shape peak) - lgamma(j + 1)), in z `order`, `order` - 1, ... times and in
# the shape 0, 1, ... times: cumulants of j - peak and of the derivatives of lgamma, so that no digits cancel.
tweedie_cumulants <- function(order) {
  made_once(paste("op tweedie_cumulants", order), function() {
    values <- function(from, to, count, part, shape, peak, largest) {
      powers <- tweedie_powers(order)
      known <- lapply(seq_len(order), gamma_slope, peak, shape)
      sums <- series_loop(from, to, nrow(powers), function(j) {
        weight <- exp(log_tweedie_term(j, count, part, shape) - largest)
        slopes <- Map(function(k, at_peak) at_peak - gamma_slope(k, j, shape), seq_len(order), known)
        by_shape <- exponential_slopes(slopes)
        lapply(seq_len(nrow(powers)), function(i) {
          factors <- c(rep(list(j - peak), powers[i, 1L]), by_shape[powers[i, 2L]])
          Reduce(`*`, factors, weight)
        })
      })
      cumulants <- cumulants_of(lapply(sums, function(sum) sum / sums[[1L]]), powers)
      unname(cumulants[rowSums(powers) == order])
    }
    elementwise_op("tweedie_cumulants", values, function(primals, results, tangents) {
      further <- do.call(tweedie_cumulants(order + 1L), unname(primals))
      by_shape <- along(tangents[[5L]], identity)
      place <- list(
        along(tangents[[3L]], function(t) t / primals[[3L]]),
        along(tangents[[4L]], function(t) t * (primals[[5L]] / primals[[4L]])),
        along(tangents[[5L]], function(t) t * log(primals[[4L]]))
      )
      by_place <- Reduce(add_tangents, place)
      lapply(seq_len(order + 1L), function(i) {
        add_tangents(
          along(by_place, function(t) t * further[[i]]), along(by_shape, function(t) t * further[[i + 1L]])
        )
      })
    })
  })
}

# How often in z and in the shape, up to `order` together: rows by their sums
tweedie_powers <- function(order) {
  do.call(rbind, lapply(0:order, function(sum) cbind(sum:0, 0:sum)))
}

# The derivative of order k of lgamma(shape * j) in the shape
gamma_slope <- function(k, j, shape) {
  j^k * (if (k == 1L) digamma(shape * j) else hlo_polygamma(k - 1L, shape * j))
}

# The derivatives of exp(f), over exp(f), from those of f
exponential_slopes <- function(slopes) {
  found <- list()
  for (n in seq_along(slopes)) {
    terms <- lapply(seq_len(n), function(k) {
      factor <- choose(n - 1, k - 1) * slopes[[k]]
      if (k == n) factor else factor * found[[n - k]]
    })
    found[[n]] <- Reduce(`+`, terms)
  }
  found
}

# Cumulants from moments of two numbers, whose powers are the rows of `powers`, the first of which are 0. The moment of
# the powers a is the sum over b < a of choose(a - e, b) times the moment of a - e - b and the cumulant of b + e, where
# e is 1 for one of the numbers.
cumulants_of <- function(moments, powers) {
  at <- function(a) which(powers[, 1L] == a[[1L]] & powers[, 2L] == a[[2L]])
  found <- moments
  for (i in seq_len(nrow(powers))[-1L]) {
    one <- if (powers[i, 1L] > 0) c(1, 0) else c(0, 1)
    rest <- powers[i, ] - one
    for (b in which(powers[, 1L] <= rest[[1L]] & powers[, 2L] <= rest[[2L]])) {
      below <- powers[b, ]
      if (all(below == rest)) next
      times <- prod(choose(rest, below))
      found[[i]] <- found[[i]] - times * (moments[[at(rest - below)]] * found[[at(below + one)]])
    }
  }
  found
}

log_tweedie_term <- function(j, count, part, shape) {
  log_poisson(j, count) + log_poisson(shape * j, part) + log(shape * j)
}

overload("hlo_dtweedie", "xlaffi", hlo_dtweedie,
  by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in x and the parameters"
)
