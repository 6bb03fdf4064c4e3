#' Fixed points
#'
#' `hlo_fixed_point()` finds x = f(x) inside of a program by putting results in again. The point has exact derivatives,
#' of any order and in both modes, by whatever values the function uses besides; in batches ([xla_vmap()]) each element
#' stops on its own.
#'
#' @details
#' With `history` above 0 the next point is made of the last results so that what is left of `f(x) - x` is least, if `f`
#' were linear: Anderson's acceleration (Walker and Ni, "Anderson acceleration for fixed-point iterations", SIAM Journal
#' on Numerical Analysis 49 (2011)). It helps where the plain iteration is slow, and often where it does not converge.
#' What is remembered is dropped where `f(x) - x` has become more than twice as large as it was.
#'
#' It has converged where `max(abs(f(x) - x) / pmax(abs(x), 1))` is at most `tol`; `point` is f(x) then. `max_iter` ends
#' every search.
#'
#' @section Derivatives:
#' From x = f(x, a) follows dx = solve(I - df/dx, df/da) (the implicit function theorem); nothing goes through the
#' iteration, and `start` has no derivative. Where it has not converged derivatives are NaN.
#'
#' @inheritParams hlo_minimize
#' @param f A function of x and of what is in `...`, which returns another x. It may use values from outside.
#' @param start The x to begin with: a vector, matrix, array or nested list of these, f32 or f64. R's numbers are
#'   doubles.
#' @param history How many results before the last one Anderson's acceleration uses; 0 for none.
#' @return A list:
#' * `point`, as `start`,
#' * `iterations`: how often `f` was computed, i32,
#' * `converged`: pred,
#' * `reason`: 0 converged, 1 `max_iter` reached, 3 `f` is not finite at the start, 4 it became so ([xla_reason()]),
#'   i32.
#' @section Errors:
#' An x that is no real numbers, of several dtypes or empty, a result of `f` that is not as x, and side effects in `f`
#' are errors that show the types.
#' @seealso [hlo_root()], [xla_custom_root()], [xla_reason()]
#' @examplesIf plugins_downloaded()
#' # Where cos(a x) = x
#' point <- function(a) hlo_fixed_point(function(x) cos(a * x), 1)$point
#' xla_jit(point)(1)
#' xla_grad(point)(1)
#' @export
hlo_fixed_point <- function(f, start, ..., history = 0, tol = NULL, max_iter = 1000) {
  check_whole_names("hlo_fixed_point")
  call <- environment()
  op <- "hlo_fixed_point"
  check_function(f)
  start <- solver_start(start, op, call)
  x <- packed(tree_leaves(start))
  history <- check_count(history, "history", call, whole = TRUE)
  tol <- check_tolerance(tol, x, op, call)
  max_iter <- check_turns(max_iter, op, call)
  problem <- traced_function(f, start, list(...), op, call, as_x = TRUE)
  if (!all_alike_types(problem$results, problem$types)) {
    abort(sprintf("%s: `f` must return what it is given, %s, not %s", op, types_text(problem$types),
      types_text(problem$results)
    ), op = op, operand = "f", call = call)
  }
  op_of <- function(problem) {
    residual <- function(x, given) packed(problem$run(x, given)) - x
    implicit_op(op, residual, function(start, tol, given) {
      at <- in_turns(function(x) list(packed(problem$run(x, given))), start)
      iterated(function(x) at(x)[[1L]], start, history, tol, max_iter)
    })
  }
  found <- bind_solver(op_of, list(start = x, tol = tol), problem, list(op, history, max_iter))
  found$root <- shaped_as(found$root, start)
  names(found)[[1L]] <- "point"
  found
}

overload("hlo_fixed_point", "xlaffi", hlo_fixed_point,
  by = "own", topic = "Solvers", dtypes = "f32, f64", derivative = "yes, implicit"
)

iterated <- function(at, start, history, tol, max_iter) {
  rows <- constant(0, start@dtype, c(max(history, 1L), length(start)), "history")
  state <- list(
    x = start, root = start, result = start, rest = filled(0, start), size = number_as(Inf, start),
    results = rows, rests = rows, iterations = integer_of(0L), reason = integer_of(solving)
  )
  if (!history) state[c("results", "rests")] <- NULL
  s <- solver_loop(
    function(s) s$reason == solving, function(s) iterated_turn(s, at(s$x), history, tol, max_iter), state
  )
  s$converged <- s$reason == solver_reasons[["converged"]]
  s[c("root", "iterations", "converged", "reason")]
}

iterated_turn <- function(s, result, history, tol, max_iter) {
  begun <- s$iterations > 0L
  finite <- all_finite(result)
  rest <- result - s$x
  size <- largest_of(abs(rest) / hlo_max(abs(s$x), 1))
  next_x <- result
  if (history) {
    worse <- size > 2 * s$size
    remember <- function(rows, change) {
      rows <- hlo_select(begun, newest_last(rows, change), rows)
      hlo_select(worse, filled(0, rows), rows)
    }
    s$results <- remember(s$results, result - s$result)
    s$rests <- remember(s$rests, rest - s$rest)
    mixed <- result - hlo_dot(s$results, least_weights(s$rests, rest), list(1, 1))
    next_x <- hlo_select(all_finite(mixed), mixed, result)
  }
  s$root <- hlo_select(finite, result, s$root)
  s$result <- result
  s$rest <- rest
  s$size <- size
  s$x <- next_x
  s$iterations <- s$iterations + 1L
  reason <- hlo_select(s$iterations >= max_iter, reason_of("max_iter reached"), integer_of(solving))
  reason <- hlo_select(size <= tol, reason_of("converged"), reason)
  lost <- hlo_select(begun, reason_of("unbounded, or no longer finite"), reason_of("not finite"))
  s$reason <- hlo_select(finite, reason, lost)
  s
}

# The weights of rows whose sum is nearest to a vector, by the normal equations of rows of length 1. Rows of zeros,
# which are not known yet, have weight 0, and rows that nearly depend on one another small ones.
least_weights <- function(rows, right) {
  lengths <- sqrt(hlo_sum(rows^2, 2))
  unit <- rows / hlo_broadcast(hlo_select(lengths > 0, lengths, 1), rows@shape, 1)
  square <- hlo_dot(unit, unit, list(2, 2))
  ridge <- 64 * length(right) * rounding_of(right@dtype)
  weights <- dense_solution(square + ridge * identity_like(square), hlo_dot(unit, right, list(2, 1)))
  hlo_select(lengths > 0, weights / hlo_select(lengths > 0, lengths, 1), 0)
}
