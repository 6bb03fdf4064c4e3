#' Integrals
#'
#' `hlo_integrate()` integrates a function of one number to a tolerance, inside of a program. The integral has exact
#' derivatives, of any order and in both modes, by its ends and by whatever values the function uses; in batches
#' ([xla_vmap()]) each integral is divided into intervals on its own.
#'
#' @details
#' The rule with 21 points of Gauss and Kronrod (15 for infinite ranges) is applied to intervals, of which the one with
#' the largest error is divided, until the sum of their errors is at most `max(abs_tol, rel_tol * abs(value))`, or as
#' small as rounding lets it be: QUADPACK's QAG (Piessens, de Doncker-Kapenga, Überhuber and Kahaner (1983)), whose
#' estimates of errors these are, and its map of infinite ranges, `x = lower + (1 - t) / t`. Where R's
#' [stats::integrate()] needs no extrapolation it computes the same. A singularity at an end is come near to by
#' dividing; one inside belongs at an end of two integrals.
#'
#' Where `f` returns several numbers, or a list, all are integrated at once, and the largest error and the largest
#' integral count.
#'
#' @section Derivatives:
#' By what `f` uses: the integral of the derivative, to the same tolerance, by intervals of its own. By the ends: `f`
#' there. A place inside at which `f` jumps, or bends, is an end of two integrals, if it depends on what is
#' differentiated by: `f` as `ifelse(x > a, x^2, 0)` has no derivative by `a` that could be integrated, and its integral
#' from `a` on has. Where an integral of a derivative is not as exact as asked for it is NaN, and so are derivatives
#' where the integral is not.
#'
#' @inheritParams hlo_minimize
#' @param f A function of one number and of what is in `...`, which returns real numbers of its dtype. It is called
#'   for all points of a rule as [xla_vmap()] does. It may use values from outside.
#' @param lower,upper The ends: numbers or scalar values, f32 or f64. `-Inf` and `Inf` among R's numbers; an infinite
#'   value makes the integral NaN.
#' @param rel_tol,abs_tol The tolerances. By default `rel_tol` is the square root of the dtype's rounding.
#' @param max_intervals The largest number of intervals.
#' @return A list:
#' * `value`: the integral, in the form of f's result,
#' * `error`: an estimate of its error, a scalar,
#' * `intervals`, `evaluations`: i32,
#' * `converged`: pred,
#' * `reason`: 0 converged, 7 the error is above its bound with `max_intervals`, 8 rounding keeps it there, 9 `f` is not
#'   finite at a point ([xla_reason()]), i32.
#' @section Errors:
#' Ends that are no real numbers or of two dtypes, a result of `f` of another dtype or of none, side effects in
#' `f`, and arguments that are no such numbers are errors that say what came instead.
#' @seealso [hlo_quadrature()] for a known number of points; [xla_reason()]
#' @examplesIf plugins_downloaded()
#' # The gamma function, and its derivative
#' f <- function(a) hlo_integrate(function(x) x^(a - 1) * exp(-x), 0, Inf)$value
#' xla_jit(f)(2.5) - gamma(2.5)
#' xla_grad(f)(2.5) - gamma(2.5) * digamma(2.5)
#' @export
hlo_integrate <- function(f, lower, upper, ..., rel_tol = NULL, abs_tol = 0, max_intervals = 100) {
  check_whole_names("hlo_integrate")
  call <- environment()
  op <- "hlo_integrate"
  check_function(f)
  check_given(lower, upper)
  ends <- interval_ends(list(lower, upper), op, call, "lower, upper")
  like <- ends[[1L]]
  tol <- list(
    relative = check_tolerance(rel_tol, like, op, call, "rel_tol"),
    absolute = check_tolerance(abs_tol, like, op, call, "abs_tol")
  )
  max_intervals <- check_count(max_intervals, "max_intervals", call, 1, whole = TRUE)
  problem <- traced_function(f, like, list(...), op, call)
  results <- problem$results
  size <- sum(vapply(results, function(type) as.integer(prod(type@shape)), 0L))
  if (!size || !all(vapply(results, function(type) type@dtype == like@dtype, NA))) {
    abort(sprintf("%s: `f` must return numbers of dtype %s, not %s", op, like@dtype, types_text(results)),
      op = op, operand = "f", call = call
    )
  }
  range <- integral_range(lower, upper)
  known <- Map(function(end, finite, unit) if (finite) reshaped(end, integer()) else number_as(unit, like),
    ends, range$finite, c(0, 1)
  )
  found <- bind_solver(function(problem) {
    integral_op(function(x, given) packed(problem$run(x, given)), size, range, max_intervals,
      lapply(problem$captured, type_of)
    )
  }, list(lower = known[[1L]], upper = known[[2L]], tol = tol), problem,
    list(op, size, range$finite, range$way, max_intervals)
  )
  found$value <- tree_fill(problem$tree, unpacked(found$value, results))
  found
}

overload("hlo_integrate", "xlaffi", hlo_integrate, by = "own", topic = "Solvers", dtypes = "f32, f64")

# A range by which of its ends are `finite`, the `way` it goes, the rule for it, and `unit(f, lower, upper)`, which is
# the function and the ends that are integrated: from 0 to 1 where an end is infinite. An end that is both infinite and
# given in the wrong order changes the sign; between equal infinite ends the integral is 0.
integral_range <- function(lower, upper) {
  infinite <- function(x, sign) !is_value(x) && is.numeric(x) && isTRUE(as.vector(x) == sign * Inf)
  above <- infinite(lower, 1) || infinite(upper, 1)
  same <- (infinite(lower, 1) && infinite(upper, 1)) || (infinite(lower, -1) && infinite(upper, -1))
  sign <- if (same) 0 else if (infinite(lower, 1) || infinite(upper, -1)) -1 else 1
  finite <- !c(infinite(lower, 1) || infinite(lower, -1), infinite(upper, 1) || infinite(upper, -1))
  if (all(finite)) {
    return(list(rule = kronrod_21, finite = finite, way = 1, unit = function(f, lower, upper) list(f, lower, upper)))
  }
  list(rule = kronrod_15, finite = finite, way = c(above, sign), unit = function(f, lower, upper) {
    end <- if (finite[[1L]]) lower else upper
    inside <- function(t) {
      away <- (1 - t) / t
      if (!any(finite)) {
        return(sign * (f(away) + f(-away)) / t^2)
      }
      # Of an end that turns out to be infinite there is no integral.
      counts <- hlo_select(abs(end) < Inf, 1, filled(NaN, end))
      sign * f(end + (if (above) 1 else -1) * away) / t^2 * counts
    }
    list(inside, number_as(0, lower), number_as(1, lower))
  })
}
