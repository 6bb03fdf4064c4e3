#' Roots of functions
#'
#' `hlo_root()` finds where a function is zero, inside of a program: a system of equations from a point to begin with,
#' or one equation within an interval. The root has exact derivatives, of any order and in both modes, by whatever
#' values the function uses besides its unknowns; in batches ([xla_vmap()]) each element stops on its own.
#'
#' @details
#' With `start`: Newton's method, with the exact matrix of derivatives and steps that are made shorter until the sum of
#' squares decreases (Nocedal and Wright, "Numerical Optimization", 2nd edition (2006), section 11.2); also where `f` or
#' its derivative is not finite. It has converged where the next step, for no unknown, is more than `tol` times as large
#' as `max(abs(x), 1)`, or where `f` is zero.
#'
#' With `interval`: Brent's method, "Algorithms for Minimization without Derivatives" (1973), chapter 4, as in R's
#' [stats::uniroot()], whose iterates it has. `f` must have different signs at the ends, or be zero at one of them. The
#' root lies within `tol` of a change of sign.
#'
#' `max_iter` ends every search.
#'
#' @section Derivatives:
#' At the root x of f(x, a) = 0, x changes by `-solve(df/dx, df/da)` (the implicit function theorem); nothing goes
#' through the search, and `start` and `interval` have no derivative. Where the search has not converged derivatives are
#' NaN, and where df/dx is singular infinite or NaN. `value` is taken for the zero that it is.
#'
#' @inheritParams hlo_minimize
#' @param f A function of the unknowns and of what is in `...`, which returns as many numbers as there are unknowns,
#'   in any form. It may use values from outside.
#' @param start The unknowns to begin with: a vector, matrix, array or nested list of these, f32 or f64. R's numbers are
#'   doubles.
#' @param interval Instead of `start`, the ends of an interval: two numbers, or a list of two scalars.
#' @param tol The tolerance: a number, or a value of one element. By default the square root of the dtype's rounding.
#' @return A list:
#' * `root`, as `start`; with `interval` a scalar,
#' * `value`: what `f` returns there, in its form,
#' * `iterations`, `evaluations`: i32,
#' * `converged`: pred,
#' * `reason`: 0 converged, 1 `max_iter` reached, 2 no step leads to a better point, 3 not finite at the start, 5
#'   singular derivative, 6 no change of sign in the interval ([xla_reason()]), i32.
#'
#' With `interval` also `precision`: how far the ends of the last interval are apart.
#' @section Errors:
#' Unknowns that are no real numbers, of several dtypes or none at all, a number of equations that is not that of the
#' unknowns, both or neither of `start` and `interval`, and side effects in `f` are errors that say what came instead.
#' @seealso [hlo_minimize()], [hlo_fixed_point()], [xla_custom_root()], [xla_reason()]
#' @examplesIf plugins_downloaded()
#' # A circle and a line
#' f <- function(p, r) c(sum(p^2) - r^2, p[1] - p[2])
#' meet <- function(r) hlo_root(f, c(1, 0), r)$root
#' xla_jit(meet)(2)
#' xla_jacobian(meet)(2)
#'
#' # Many equations at once: x with x exp(x) = y
#' w <- function(y) hlo_root(function(x) x * exp(x) - y, interval = c(0, 10))$root
#' xla_vmap(w)(c(1, 2, 3))
#' @export
hlo_root <- function(f, start = NULL, ..., interval = NULL, tol = NULL, max_iter = 200) {
  check_whole_names("hlo_root")
  call <- environment()
  check_function(f)
  if (is.null(start) == is.null(interval)) {
    abort("hlo_root: give either `start` or `interval`", op = "hlo_root", operand = "start", call = call,
      hint = if (!is.null(start)) "Arguments of `f` are named where there is no `start`."
    )
  }
  if (!is.null(interval)) {
    return(bracketed_root(f, interval, list(...), tol, max_iter, "hlo_root", call))
  }
  start <- solver_start(start, "hlo_root", call)
  x <- packed(tree_leaves(start))
  tol <- check_tolerance(tol, x, "hlo_root", call)
  max_iter <- check_turns(max_iter, "hlo_root", call)
  problem <- traced_function(f, start, list(...), "hlo_root", call)
  check_equations(problem, x, "hlo_root", "f", call)
  op_of <- function(problem) {
    residual <- function(x, given) packed(problem$run(x, given))
    implicit_op("hlo_root", residual, function(start, tol, given) {
      at <- in_turns(residuals_at(function(x) packed(problem$run(x, given))), start)
      damped_newton(at, start, tol, max_iter)
    })
  }
  found <- bind_solver(op_of, list(start = x, tol = tol), problem, list("hlo_root", max_iter))
  found$root <- shaped_as(found$root, start)
  found$value <- tree_fill(problem$tree, unpacked(found$value, problem$results))
  found
}

overload("hlo_root", "xlaffi", hlo_root,
  by = "own", topic = "Solvers", dtypes = "f32, f64", derivative = "yes, implicit"
)

# Each turn evaluates `at(x)`, list(residuals, jacobian), at a trial: the whole step, or a shorter one.
damped_newton <- function(at, start, tol, max_iter) {
  state <- list(
    root = start, value = filled(0, start), step = filled(0, start), share = number_as(1, start),
    merit = number_as(Inf, start), begun = flag_of(FALSE), iterations = integer_of(0L), evaluations = integer_of(0L),
    reason = integer_of(solving)
  )
  s <- solver_loop(
    function(s) s$reason == solving,
    function(s) newton_turn(s, at(s$root + s$share * s$step), tol, max_iter), state
  )
  s$converged <- s$reason == solver_reasons[["converged"]]
  s[c("root", "value", "iterations", "evaluations", "converged", "reason")]
}

newton_turn <- function(s, now, tol, max_iter) {
  merit <- norm_of(now$residuals)
  finite <- (merit < Inf) & all_finite(now$jacobian)
  # The norm decreases by the share of the step where the equations are linear.
  lower <- merit <= (1 - 1e-4 * s$share) * s$merit
  accepted <- finite & (lower | !s$begun)
  # By the parabola through the squares of both norms, and the slope at the first one
  ratio <- (merit / s$merit)^2
  parabola <- s$share^2 / (ratio - 1 + 2 * s$share)
  shorter <- hlo_select(finite & (parabola > 0), parabola, 0)
  shorter <- hlo_min(hlo_max(shorter, 0.1 * s$share), 0.5 * s$share)
  s$root <- hlo_select(accepted, s$root + s$share * s$step, s$root)
  s$value <- hlo_select(accepted | !s$begun, now$residuals, s$value)
  s$merit <- hlo_select(accepted, merit, s$merit)
  s$share <- hlo_select(accepted, 1, shorter)
  step <- -dense_solution(now$jacobian, now$residuals)
  s$step <- hlo_select(accepted, step, s$step)
  s$iterations <- s$iterations + as_count(accepted & s$begun)
  s$evaluations <- s$evaluations + 1L
  small <- reduced("reduce_and", abs(s$step) <= tol * hlo_max(abs(s$root), 1), NULL, "hlo_root")
  lost <- !accepted & s$begun & (s$share < rounding_of(s$root@dtype))
  reason <- hlo_select(lost, reason_of("no step leads to a better point"), integer_of(solving))
  reason <- hlo_select(accepted & (s$iterations >= max_iter), reason_of("max_iter reached"), reason)
  reason <- hlo_select(accepted & !all_finite(s$step), reason_of("singular derivative"), reason)
  reason <- hlo_select(accepted & (small | (s$merit == 0)), reason_of("converged"), reason)
  s$reason <- hlo_select(!finite & !s$begun, reason_of("not finite"), reason)
  s$begun <- flag_of(TRUE)
  s
}
