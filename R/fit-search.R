# The search for a fit's parameters.

# Where nlminb() ends. It takes a function for flat that is flat for steps of the size 1, so a parameter of millions may
# stay at 0. Where a step of Newton's along one parameter would still lower the function, nlminb() goes on with
# parameters whose second derivatives are 1.
minimum_of <- function(objective, start, bounds, control) {
  bounded <- any(is.finite(bounds$lower), is.finite(bounds$upper))
  value_at <- function(par) {
    at_bound <- bounded && any(par <= bounds$lower | par >= bounds$upper)
    value <- if (at_bound) without_expected(objective$fn(par)) else objective$fn(par)
    # As the random effects' standard deviation of 0: that a bound is no place to end needs no warning.
    if (at_bound && is.nan(value)) Inf else value
  }
  search <- function(start, scale) {
    found <- stats::nlminb(
      start * scale, function(z) value_at(par_of(z / scale, objective)),
      function(z) objective$gr(par_of(z / scale, objective)) / scale,
      control = control, lower = bounds$lower * scale, upper = bounds$upper * scale
    )
    found$par <- found$par / scale
    found
  }
  found <- search(start, rep(1, length(start)))
  for (round in seq_len(most_searches - 1L)) {
    scale <- if (found$convergence == 0L) scale_to_go_on(objective, found$par, bounds)
    if (is.null(scale)) break
    again <- search(found$par, scale)
    again$iterations <- again$iterations + found$iterations
    if (!isTRUE(again$objective < found$objective)) break
    found <- again
  }
  found
}

most_searches <- 5L

# Of so many parameters, those with the steepest slopes, the second derivative is looked at.
most_looked <- 200L

# What an end of a search may be from the minimum, in the function's value
least_gain <- 1e-4

# The roots of the second derivatives by each parameter, where one promises that the function may still fall; else NULL
scale_to_go_on <- function(objective, par, bounds) {
  slope <- objective$gr(par_of(par, objective))
  room <- bounds$upper - par
  step <- 1e-4 * pmax(abs(par), 1) * ifelse(room > 1e-3 * pmax(abs(par), 1), 1, -1)
  steep <- abs(slope) * pmax(abs(par), 1)
  looked <- which(steep > 1e-9 & par > bounds$lower & par < bounds$upper)
  looked <- utils::head(looked[order(steep[looked], decreasing = TRUE)], most_looked)
  curvature <- rep(1, length(par))
  for (i in looked) {
    moved <- objective$gr(par_of(replace(par, i, par[[i]] + step[[i]]), objective))
    curvature[[i]] <- abs(moved[[i]] - slope[[i]]) / abs(step[[i]])
  }
  curvature[!is.finite(curvature) | curvature == 0] <- 1
  if (any(slope[looked]^2 / (2 * curvature[looked]) > least_gain)) sqrt(curvature)
}
