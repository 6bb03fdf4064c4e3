# Metrics: the state of each is a list of values, of which `scale` is what momenta are multiplied by, and the others are
# running moments of the positions in the window of the warm-up, by Welford's method.

# What the metric's inverse is towards where there are few draws, and how many draws that counts as: Stan's numbers.
prior_variance <- 1e-3
prior_draws <- 5

metrics <- list(
  diag = list(
    start = function(size) {
      list(scale = rep(1, size), seen = 0, mean = numeric(size), moment = numeric(size))
    },
    scale = function(s, p) s$scale * p,
    force = function(s, gradient) s$scale * gradient,
    outer = function(x, y) x * y,
    finish = function(covariance) sqrt(covariance),
    identity = function(x) filled(1, x)
  ),
  dense = list(
    start = function(size) {
      list(scale = diag(size), seen = 0, mean = numeric(size), moment = matrix(0, size, size))
    },
    # `scale` is the upper factor.
    scale = function(s, p) dot(s$scale, p, list(1L, 1L), list(integer(), integer())),
    force = function(s, gradient) dot(s$scale, gradient, list(2L, 1L), list(integer(), integer())),
    outer = function(x, y) {
      shape <- rep(length(x), 2L)
      broadcast(x, shape, 1L) * broadcast(y, shape, 2L)
    },
    finish = function(covariance) chol_factor(covariance),
    identity = function(x) {
      converted(hlo_iota("i32", x@shape, 1L) == hlo_iota("i32", x@shape, 2L), x@dtype)
    }
  )
)

# One more draw of the window
collected <- function(metric, s, q) {
  seen <- s$seen + 1
  delta <- q - s$mean
  mean <- s$mean + delta / like_vector(seen, q)
  list(scale = s$scale, seen = seen, mean = mean, moment = s$moment + metric$outer(delta, q - mean))
}

# The metric of the window's draws, whose end this is
renewed <- function(metric, s) {
  weight <- like_vector(s$seen / (s$seen + prior_draws), s$moment)
  covariance <- s$moment / like_vector(s$seen - 1, s$moment)
  prior <- metric$identity(s$moment) * (1 - weight) * prior_variance
  list(
    scale = metric$finish(weight * covariance + prior), seen = f64(0), mean = filled(0, s$mean),
    moment = filled(0, s$moment)
  )
}

# The metric after a draw: as it is, with one more draw in its window, or that of the window which ends
next_metric <- function(metric, s, q, flags) {
  own <- s[c("scale", "seen", "mean", "moment")]
  index <- i32(1L) + hlo_select(has_flag(flags, flag_collect), i32(1L), i32(0L)) +
    hlo_select(has_flag(flags, flag_window), i32(1L), i32(0L))
  hlo_case(index, list(
    function() own, function() collected(metric, own, q), function() renewed(metric, collected(metric, own, q))
  ))
}
