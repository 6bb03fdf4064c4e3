# The Conway-Maxwell-Poisson distribution: probabilities in proportion to lambda^x / (x!)^nu. They are computed by those
# of the Poisson distribution with the mean m = lambda^(1 / nu), to the power nu, so that no digits cancel; `place` is
# the logarithm of m.

#' @rdname hlo_densities
#' @export
hlo_dcompois <- function(x, mean, nu, lambda, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  given <- one_given(c("mean", "lambda"), "hlo_dcompois", call)
  by_mean <- names(given) == "mean"
  distribution("hlo_dcompois", c(list(x = x, nu = nu), given), function(x, nu, by) {
    valid <- nu > 0 & finite(nu) & by > 0 & finite(by)
    power <- hlo_select(valid, nu, 1)
    by <- hlo_select(valid, by, 1)
    place <- if (by_mean) compois_place(by, power) else log(by) / power
    # Beyond this m, or its inverse, is no number.
    known <- abs(place) < 690 & by < 1e10
    place <- hlo_select(known, place, 0)
    window <- compois_window(place, power)
    total <- log(compois_sums(window, place, power, cbind(0, 0))[[1L]]) + window$largest
    density <- of_counts(x, function(k) power * log_poisson(k, exp(place)) - total)
    density_of(density, valid & known & window$known & x == x, log)
  }, call, log)
}

# Where the terms are, and the logarithm of the largest
compois_window <- function(place, nu) {
  place <- xla_stop_gradient(place)
  nu <- xla_stop_gradient(nu)
  peak <- exp(place)
  c(series_window(peak, nu, 0), list(largest = nu * log_poisson(floor(peak), peak)))
}

# The sums M[a, b] of d^a l^b w for the rows (a, b) of `powers`, where d is the distance of a count from m, l the
# logarithm of its Poisson probability and w = exp(nu l - largest). Derivatives are sums of the same kind: with respect
# to the place nu M[a + 1, b] + b M[a + 1, b - 1] - a m M[a - 1, b], with respect to nu M[a, b + 1].
compois_sums <- function(window, place, nu, powers) {
  made_once(paste("op compois_sums", toString(powers)), function() {
    sums <- function(from, to, place, nu, largest) {
      series_loop(from, to, nrow(powers), function(j) compois_terms(j, place, nu, largest, powers))
    }
    elementwise_op("compois_sums", sums, function(primals, results, tangents) {
      compois_tangents(primals, tangents, powers)
    })
  })(window$from, window$to, place, nu, window$largest)
}

compois_terms <- function(j, place, nu, largest, powers) {
  distance <- j - exp(place)
  poisson <- log_poisson(j, exp(place))
  weight <- exp(nu * poisson - largest)
  lapply(seq_len(nrow(powers)), function(k) {
    Reduce(`*`, c(rep(list(distance), powers[k, 1L]), rep(list(poisson), powers[k, 2L])), weight)
  })
}

# The window is a constant.
compois_tangents <- function(primals, tangents, powers) {
  neighbour <- function(a, b) cbind(powers[, 1L] + a, powers[, 2L] + b)
  wanted <- rbind(
    if (!is.null(tangents[[3L]])) rbind(neighbour(1, 0), neighbour(1, -1), neighbour(-1, 0)),
    if (!is.null(tangents[[4L]])) neighbour(0, 1)
  )
  wanted <- unique(wanted[wanted[, 1L] >= 0 & wanted[, 2L] >= 0, , drop = FALSE])
  window <- list(from = primals[[1L]], to = primals[[2L]], largest = primals[[5L]])
  place <- primals[[3L]]
  nu <- primals[[4L]]
  known <- compois_sums(window, place, nu, wanted)
  sum_at <- function(a, b) known[[which(wanted[, 1L] == a & wanted[, 2L] == b)]]
  lapply(seq_len(nrow(powers)), function(k) {
    a <- powers[k, 1L]
    b <- powers[k, 2L]
    by_place <- along(tangents[[3L]], function(t) {
      slope <- nu * sum_at(a + 1, b)
      if (b > 0) slope <- slope + b * sum_at(a + 1, b - 1)
      if (a > 0) slope <- slope - a * exp(place) * sum_at(a - 1, b)
      t * slope
    })
    by_nu <- along(tangents[[4L]], function(t) t * sum_at(a, b + 1))
    add_tangents(by_place, by_nu)
  })
}

# The place at which the mean is `mean`. The derivatives of the mean in the place and in nu are nu times the variance of
# a count, and its covariance with l.
compois_place <- function(mean, nu) {
  made_once("op compois_place", function() {
    elementwise_op("compois_place", solved_compois_place, function(primals, results, tangents) {
      nu <- primals[[2L]]
      sums <- compois_sums(compois_window(results, nu), results, nu, cbind(c(0, 1, 2, 0, 1), c(0, 0, 0, 1, 1)))
      means <- lapply(sums[-1L], function(sum) sum / sums[[1L]])
      slope <- nu * (means[[2L]] - means[[1L]] * means[[1L]])
      hlo_add(
        along(tangents[[1L]], function(t) t / slope),
        along(tangents[[2L]], function(t) t * ((means[[1L]] * means[[3L]] - means[[4L]]) / slope))
      )
    })
  })(mean, nu)
}

# Newton's method for the logarithm of the mean, by halves of the bracket where a step would leave it
solved_compois_place <- function(mean, nu) {
  turn <- function(state) {
    place <- state[[1L]]
    m <- exp(place)
    window <- compois_window(place, nu)
    sums <- compois_sums(window, place, nu, cbind(0:2, 0))
    excess <- hlo_select(window$known, sums[[2L]] / sums[[1L]], 0)
    here <- m + excess
    variance <- sums[[3L]] / sums[[1L]] - excess * excess
    gap <- log_ratio(here, mean)
    below <- gap < 0
    low <- hlo_select(below, place, state[[2L]])
    high <- hlo_select(below, state[[3L]], place)
    step <- hlo_min(hlo_max(-gap * here / (nu * variance), -4), 4)
    wanted <- place + hlo_select(step == step, step, hlo_select(below, filled(1, step), -1))
    middle <- 0.5 * (hlo_max(low, -1e4) + hlo_min(high, 1e4))
    fits <- wanted >= low & wanted <= high
    found <- hlo_select(fits, wanted, middle)
    done <- abs(found - place) <= 4 * .Machine$double.eps * hlo_max(abs(place), 1)
    list(found, low, high, state[[4L]] + 1, converted(reduced_any(!done), "i32"))
  }
  again <- function(state) list(state[[5L]] > 0L & state[[4L]] < 100)
  # The mean is about m - (nu - 1) / (2 nu) where it is large, and m^nu where it is small.
  large <- mean + (nu - 1) / (2 * nu)
  start <- hlo_select(large > 0 & mean > 1, log(hlo_select(large > 0, large, 1)), log(mean) / hlo_max(nu, 0.1))
  zero <- filled(0, new_type("f64", integer()))
  state <- list(start, filled(-Inf, start), filled(Inf, start), zero, converted(zero + 1, "i32"))
  while_loop(again, turn, state)[[1L]]
}

reduced_any <- function(flags) hlo_sum(converted(reshaped(flags, length(flags)), "i32")) > 0L

overload("hlo_dcompois", "xlaffi", hlo_dcompois,
  by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters"
)
