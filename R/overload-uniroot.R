# uniroot(), integrate() and optimize() on values.

uniroot_of_values <- function(f, interval, ..., lower = min(interval), upper = max(interval), f.lower = NULL,
                              f.upper = NULL, extendInt = "no", check.conv = FALSE, tol = .Machine$double.eps^0.25,
                              maxiter = 1000, trace = 0, .call) {
  check_defaults(
    list(
      f.lower = f.lower, f.upper = f.upper, extendInt = first_string(extendInt), check.conv = check.conv, trace = trace
    ),
    list(f.lower = NULL, f.upper = NULL, extendInt = "no", check.conv = FALSE, trace = 0), "uniroot", "hlo_root", .call
  )
  for (argument in c("f.lower", "f.upper")) {
    if (!is.null(get(argument))) refuse_argument("uniroot", argument, "hlo_root", .call)
  }
  if (!missing(interval) && is_value(interval) && missing(lower) && missing(upper)) {
    lower <- interval[1L]
    upper <- interval[2L]
  }
  check_ends_in_order(lower, upper, "uniroot", .call)
  found <- bracketed_root(
    with_arguments(f, list(...)), list(lower, upper), list(), tol, maxiter, "uniroot", .call
  )
  list(
    root = nan_unless(found$converged, found$root), f.root = nan_unless(found$converged, found$value),
    iter = found$iterations, init.it = NA_real_, estim.prec = nan_unless(found$converged, found$precision)
  )
}

check_ends_in_order <- function(lower, upper, name, call) {
  if (is_data(lower) && is_data(upper) && !isTRUE(as.vector(lower < upper))) {
    abort(sprintf("%s(): `lower` must be below `upper`, not %s and %s", name, describe(lower), describe(upper)),
      op = name, operand = "lower", call = call
    )
  }
}

solver_overload("uniroot", uniroot_of_values, paste(
  "Where R raises an error or warns, as without a change of sign, root and f.root are NaN. `extendInt`, `f.lower`,",
  "`f.upper` and `check.conv` are refused."
))

integrate_of_values <- function(f, lower, upper, ..., subdivisions = 100L, rel.tol = .Machine$double.eps^0.25,
                                abs.tol = rel.tol, stop.on.error = TRUE, keep.xy = FALSE, aux = NULL, .call) {
  check_flag(stop.on.error, "stop.on.error", .call)
  check_defaults(list(keep.xy = keep.xy), list(keep.xy = FALSE), "integrate", "hlo_integrate", .call)
  if (!is.null(aux)) refuse_argument("integrate", "aux", "hlo_integrate", .call)
  found <- hlo_integrate(
    with_arguments(f, list(...)), lower, upper, rel_tol = rel.tol, abs_tol = abs.tol, max_intervals = subdivisions
  )
  value <- found$value
  if (!is_value(value) || length(value) != 1L) {
    abort("integrate(): `f` must return one number for one number", op = "integrate", operand = "f", call = .call,
      hint = "`hlo_integrate()` takes functions that return several."
    )
  }
  value <- reshaped(value, integer())
  list(
    value = if (stop.on.error) nan_unless(found$converged, value) else value, abs.error = found$error,
    subdivisions = found$intervals
  )
}

solver_overload("integrate", integrate_of_values, paste(
  "`f` is called for one number at a time. There is no extrapolation: singularities take more subdivisions. Of",
  "infinite ends the order counts, and there is nothing between equal ones. Where R raises an error the value is NaN.",
  "There is no message."
))

optimize_of_values <- function(f, interval, ..., lower = min(interval), upper = max(interval), maximum = FALSE,
                               tol = .Machine$double.eps^0.25, .call) {
  check_flag(maximum, "maximum", .call)
  if (!missing(interval) && is_value(interval) && missing(lower) && missing(upper)) {
    lower <- interval[1L]
    upper <- interval[2L]
  }
  check_ends_in_order(lower, upper, "optimize", .call)
  ends <- interval_ends(list(lower, upper), "optimize", .call)
  g <- with_arguments(f, list(...))
  problem <- traced_function(if (maximum) function(x) -g(x) else g, ends[[1L]], list(), "optimize", .call)
  check_equations(problem, ends[[1L]], "optimize", "f", .call)
  tol <- check_tolerance(tol, ends[[1L]], "optimize", .call)
  found <- bounded_minimum(problem, ends, tol, 1000L, "optimize")
  x <- reshaped(found$root, integer())
  objective <- reshaped(problem$run(x, problem$captured)[[1L]], integer())
  if (maximum) list(maximum = x, objective = -objective) else list(minimum = x, objective = objective)
}

for (name in c("optimize", "optimise")) {
  solver_overload(name, optimize_of_values, paste(
    "The derivative of the minimum is as exact as `tol` makes the minimum; at an end of the interval it is zero."
  ))
}

# R takes the first one of several choices.
first_string <- function(x) if (is.character(x) && length(x)) x[[1L]] else x
