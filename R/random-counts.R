#' @rdname hlo_random_numbers
#' @export
hlo_rpois <- function(key, n, lambda, dtype = NULL) {
  draw <- random_draw("hlo_rpois", key, n, list(lambda = lambda), dtype)
  poisson_number(draw, draw$lambda)
}

#' @rdname hlo_random_numbers
#' @export
hlo_rbinom <- function(key, n, size, prob, dtype = NULL) {
  draw <- random_draw("hlo_rbinom", key, n, list(size = size, prob = prob), dtype)
  op <- made_once("op binomial_number", function() {
    flat_elementwise_op("binomial_number", function(high, low, number, size, prob) {
      binomial_values(list(high = high, low = low, number = number, dtype = "f64"), size, prob)
    })
  })
  y <- op(draw$high, draw$low, draw$number, converted(draw$size, "f64"), converted(draw$prob, "f64"))
  converted(y, draw$dtype)
}

#' @rdname hlo_random_numbers
#' @export
hlo_rgeom <- function(key, n, prob, dtype = NULL) {
  draw <- random_draw("hlo_rgeom", key, n, list(prob = prob), dtype)
  prob <- draw$prob
  all <- prob == 1
  y <- floor(log(between(draw)) / log1p(-hlo_select(all, 0.5, prob)))
  only_where(prob > 0 & prob <= 1, hlo_select(all, 0, y))
}

#' @rdname hlo_random_numbers
#' @export
hlo_rnbinom <- function(key, n, size, prob, mu, dtype = NULL) {
  by <- one_given(c("prob", "mu"), "hlo_rnbinom", environment())
  draw <- random_draw("hlo_rnbinom", key, n, c(list(size = size), by), dtype)
  size <- draw$size
  by_mean <- names(by) == "mu"
  if (!by_mean) {
    valid <- size > 0 & size < Inf & draw$prob > 0 & draw$prob <= 1
    scale <- (1 - draw$prob) / draw$prob
  } else {
    valid <- size > 0 & draw$mu >= 0 & draw$mu < Inf
    scale <- draw$mu / size
  }
  usual <- valid & size < Inf
  mean <- scale * exp(log_gamma_number(draw, hlo_select(usual, size, 1), part = 1L))
  if (by_mean) {
    mean <- hlo_select(size == Inf, draw$mu, mean)
  }
  only_where(valid, poisson_number(draw, mean))
}

poisson_number <- function(draw, lambda) {
  op <- made_once("op poisson_number", function() {
    flat_elementwise_op("poisson_number", function(high, low, number, lambda) {
      poisson_values(list(high = high, low = low, number = number, dtype = "f64"), lambda)
    })
  })
  converted(op(draw$high, draw$low, draw$number, converted(lambda, "f64")), lambda@dtype)
}

# Means below 10: the first count whose distribution function exceeds a uniform number. From there on Hörmann's
# transformed rejection (1993), PTRS.
poisson_values <- function(places, lambda) {
  valid <- lambda >= 0 & lambda < Inf
  small <- lambda < 10
  few <- hlo_select(valid & small, lambda, 0)
  counted <- first_above(between(places), exp(-few), function(k, p) p * few / k)
  mean <- hlo_select(valid & !small, lambda, 10)
  b <- 0.931 + 2.53 * sqrt(mean)
  a <- -0.059 + 0.02483 * b
  found <- transformed_rejection(
    places, small | !valid, a, b, mean + 0.43, 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4),
    function(k) log_poisson_values(k, mean), function(k) k >= 0
  )
  only_where(valid, hlo_select(small, counted, found))
}

# Means below 10 as above; Hörmann's BTRS from there on, for the smaller of prob and 1 - prob.
binomial_values <- function(places, size, prob) {
  valid <- size >= 0 & size < Inf & size == floor(size) & prob >= 0 & prob <= 1
  n <- hlo_select(valid, size, 1)
  swapped <- prob > 0.5
  p <- hlo_select(valid, hlo_select(swapped, 1 - prob, prob), 0.5)
  small <- n * p < 10
  few <- hlo_select(small, n, 1)
  odds <- hlo_select(small, p, 0) / (1 - p)
  counted <- first_above(between(places), exp(few * log1p(-hlo_select(small, p, 0))), function(k, mass) {
    mass * odds * (few - k + 1) / k
  })
  m <- hlo_select(small, 100, n)
  q <- hlo_select(small, 0.5, p)
  deviation <- sqrt(m * q * (1 - q))
  b <- 1.15 + 2.53 * deviation
  a <- -0.0873 + 0.0248 * b + 0.01 * q
  mode <- floor((m + 1) * q)
  top <- log_binomial_values(mode, m - mode, q, 1 - q)
  found <- transformed_rejection(
    places, small | !valid, a, b, m * q + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation,
    function(k) log_binomial_values(k, m - k, q, 1 - q) - top, function(k) k >= 0 & k <= m
  )
  y <- hlo_select(small, hlo_min(counted, n), found)
  only_where(valid, hlo_select(swapped, n - y, y))
}

# The first k whose distribution function exceeds `u`; its probability is `first` at 0, and `following` gives that of k
# from that of k - 1.
first_above <- function(u, first, following) {
  turn <- function(leaves) {
    k <- leaves[[1L]] + 1
    mass <- following(k, leaves[[3L]])
    open <- is_open(leaves)
    list(k, hlo_select(open, leaves[[2L]] + mass, leaves[[2L]]), mass, hlo_select(open, k, leaves[[4L]]))
  }
  # Sums are rounded: what is left is nothing where the probabilities are.
  is_open <- function(leaves) u >= leaves[[2L]] & leaves[[3L]] > 1e-18
  again <- function(leaves) list(any_open(!is_open(leaves)))
  zero <- filled(0, u)
  while_loop(again, turn, list(constant(0, "f64", integer(), "k"), first, first, zero))[[4L]]
}

# Counts floor((2 a / (1/2 - |u|) + b) u + centre), of which most are taken without computing their probability.
transformed_rejection <- function(places, done, a, b, centre, quick, factor, log_probability, possible) {
  turn <- function(leaves) {
    at <- leaves[[1L]]
    u <- between(places, at) - 0.5
    v <- between(places, at + 1L)
    rest <- 0.5 - abs(u)
    k <- floor((2 * a / rest + b) * u + centre)
    exact <- log(v * factor / (a / (rest * rest) + b)) <= log_probability(k)
    fine <- (rest >= 0.07 & v <= quick) | (possible(k) & exact)
    list(at + 2L, leaves[[2L]] | fine, hlo_select(fine & !leaves[[2L]], k, leaves[[3L]]))
  }
  start <- list(constant(2, "ui32", integer(), "turn"), done, filled(0, a))
  while_loop(function(leaves) list(any_open(leaves[[2L]])), turn, start)[[3L]]
}

for (name in c("rpois", "rbinom", "rgeom", "rnbinom")) {
  overload(paste0("hlo_", name), "xlaffi", get(paste0("hlo_", name)),
    by = "own", topic = "Random numbers", dtypes = "f32, f64", derivative = "none"
  )
}
rm(name)
