#' Minima of functions
#'
#' `hlo_minimize()` searches the minimum of a function inside of a program. The result has exact derivatives, of any
#' order and in both modes, by whatever values the function uses besides its parameters; batches ([xla_vmap()]) are one
#' search in which each element stops on its own.
#'
#' @details
#' Methods:
#' * `"BFGS"`: a quasi-Newton method with a dense matrix of second derivatives, for up to some hundred parameters.
#' * `"L-BFGS"`: the same from the last `history` steps, for any number of parameters.
#' * `"Newton"`: the exact Hessian in a trust region. Few iterations, each of which costs about as many gradients as
#'   there are parameters; in a batch of small problems often the fastest. It leaves saddle points.
#' * `"Gauss-Newton"`: least squares. `f` returns residuals (an array, or a list of them) and the sum of their squares
#'   is minimised, as in [stats::nls()], by Levenberg and Marquardt's method. The number of residuals may be less than
#'   that of parameters.
#'
#' Where `f` or its derivative is not finite at a trial, the step is made shorter: `f` may return NaN or `Inf` outside
#' of its domain. `max_iter` ends every search.
#'
#' The search has converged where `max(abs(gradient) * pmax(abs(par), 1)) / max(abs(value), 1)` is at most `tol`, the
#' criterion of [stats::nlm()] with its defaults; so a function whose values are far below 1 should be multiplied by a
#' large number. `"Gauss-Newton"` depends on no unit: it has converged where the cosine of the angle between the
#' residuals and each column of their Jacobian is at most `tol`, or where the next step is at most `tol` times as long
#' as the parameters, both scaled by the columns. A function that is flat at the start has converged there.
#'
#' @section Derivatives:
#' At a minimum x of f(x, a) the gradient by x is zero for all a, so dx = -H^-1 d(gradient), with H the Hessian by x and
#' the change of the gradient by a (the implicit function theorem). Nothing goes through the search, and `start` has no
#' derivative. H is computed as a dense matrix and solved for by LU; for `"L-BFGS"` with more than 200 parameters the
#' equations are solved by conjugate gradients, with products of H. `value` changes by a alone, and `gradient` stays
#' zero. Where the search has not converged all derivatives are NaN, and where H is singular they are infinite or NaN.
#'
#' @section Algorithms:
#' BFGS and L-BFGS: Nocedal and Wright, "Numerical Optimization", 2nd edition (2006), (6.17) and algorithm 7.4. Line
#' search: Moré and Thuente, ACM Transactions on Mathematical Software 20 (1994), strong Wolfe conditions with the
#' constants 1e-4 and 0.9; where rounding hides the decrease, the approximate conditions of Hager and Zhang, SIAM
#' Journal on Optimization 16 (2005). Trust region: Moré and Sorensen, SIAM Journal on Scientific and Statistical
#' Computing 4 (1983). Least squares: Moré, Lecture Notes in Mathematics 630 (1978), damped as by Nielsen, report
#' IMM-REP-1999-05 (1999).
#'
#' @param f A function of the parameters and of what is in `...`, which returns one real number (for `"Gauss-Newton"`
#'   residuals) of the parameters' dtype. It may use values from outside.
#' @param start The parameters to begin with: a vector, matrix, array or nested list of these, f32 or f64. R's numbers
#'   are doubles; names go to `f`.
#' @param ... Arguments of `f`.
#' @param method `"BFGS"`, `"L-BFGS"`, `"Newton"` or `"Gauss-Newton"`.
#' @param tol The tolerance: a number, or a value of one element. By default the square root of the dtype's rounding:
#'   1.5e-8 for f64 and 3.5e-4 for f32.
#' @param max_iter The largest number of iterations. 0 evaluates `f` at the start.
#' @param history How many steps `"L-BFGS"` remembers.
#' @return A list:
#' * `par`: the parameters, as `start`,
#' * `value`: what `f` gives there, a scalar (for `"Gauss-Newton"` the sum of squares),
#' * `gradient`: its gradient, as `start`,
#' * `iterations`, `evaluations`: how many steps were taken, and how often `f` and its derivative were computed, i32,
#' * `converged`: pred,
#' * `reason`: 0 converged, 1 `max_iter` reached, 2 no step leads to a better point, 3 not finite at the start, 4
#'   unbounded: a value of -Inf, or three line searches in a row that lead down as far as they go
#'   ([xla_reason()]), i32.
#'
#' Where the search did not converge, `par` is the best point found.
#' @section Errors:
#' Parameters that are no real numbers, of several dtypes or none at all, a result of `f` that is not one number of
#' their dtype, side effects in `f`, and arguments that are no such choice or number are errors that say what came
#' instead.
#' @seealso [hlo_root()], [xla_objective()] for R's own optimisers; [xla_reason()]
#' @examplesIf plugins_downloaded()
#' rosenbrock <- function(p, a) (a - p[1])^2 + 100 * (p[2] - p[1]^2)^2
#' fit <- xla_jit(function(a) hlo_minimize(rosenbrock, c(-1.2, 1), a))
#' str(fit(1))
#' # The minimum is at (a, a^2).
#' xla_jacobian(function(a) hlo_minimize(rosenbrock, c(-1.2, 1), a)$par)(1)
#'
#' # Many fits at once: a slope for each row of y
#' x <- 1:10
#' y <- outer(c(0.1, 0.2, 0.3), x, function(b, x) exp(b * x)) + 0.1
#' slopes <- function(y) hlo_minimize(function(b) y - exp(b * x), 0, method = "Gauss-Newton")
#' xla_vmap(slopes)(y)$par
#' @export
hlo_minimize <- function(f, start, ..., method = c("BFGS", "L-BFGS", "Newton", "Gauss-Newton"), tol = NULL,
                         max_iter = 500, history = 10) {
  check_whole_names("hlo_minimize")
  call <- environment()
  check_function(f)
  method <- check_choice(method, "method", c("BFGS", "L-BFGS", "Newton", "Gauss-Newton"))
  start <- solver_start(start, "hlo_minimize", call)
  x <- packed(tree_leaves(start))
  tol <- check_tolerance(tol, x, "hlo_minimize", call)
  max_iter <- check_turns(max_iter, "hlo_minimize", call)
  history <- check_count(history, "history", call, 1, whole = TRUE)
  problem <- traced_function(f, start, list(...), "hlo_minimize", call)
  check_objective(problem, x, method == "Gauss-Newton", call)
  minimum(problem, start, x, method, tol, max_iter, history)
}

overload("hlo_minimize", "xlaffi", hlo_minimize,
  by = "own", topic = "Solvers", dtypes = "f32, f64", derivative = "yes, implicit"
)

check_objective <- function(problem, x, squares, call) {
  results <- problem$results
  of_dtype <- vapply(results, function(type) type@dtype == x@dtype, NA)
  sizes <- vapply(results, function(type) prod(type@shape), 0)
  if (!all(of_dtype) || (if (squares) sum(sizes) == 0 else !identical(sizes, 1))) {
    expected <- if (squares) "residuals" else "one number"
    abort(sprintf("hlo_minimize: `f` must return %s of dtype %s, not %s", expected, x@dtype, types_text(results)),
      op = "hlo_minimize", operand = "f", call = call,
      hint = if (!squares && all(of_dtype)) "`method = \"Gauss-Newton\"` minimises the sum of squares of residuals."
    )
  }
}

# The result of a search as the caller gets it
minimum <- function(problem, start, x, method, tol, max_iter, history) {
  op_of <- function(problem) minimum_op(problem, method, max_iter, history)
  found <- bind_solver(op_of, list(start = x, tol = tol), problem, list("hlo_minimize", method, max_iter, history))
  found[c("par", "gradient")] <- lapply(found[c("par", "gradient")], shaped_as, start)
  found
}

# The function to be minimised as one of a vector: for least squares the sum of squares
objective_at <- function(problem, squares, given) {
  function(x) {
    leaves <- problem$run(x, given)
    if (squares) inner_product(packed(leaves), packed(leaves)) else reshaped(leaves[[1L]], integer())
  }
}

# The search as an op. Its derivatives do not go through the search.
minimum_op <- function(problem, method, max_iter, history) {
  squares <- method == "Gauss-Newton"
  list(
    name = "hlo_minimize",
    call = function(start, tol, given) {
      objective <- objective_at(problem, squares, given)
      s <- switch(method,
        "Newton" = trust_region(in_turns(second_order_at(objective), start), start, tol, max_iter),
        "Gauss-Newton" = levenberg_marquardt(
          in_turns(residuals_at(function(x) packed(problem$run(x, given))), start), start,
          as.integer(sum(vapply(problem$results, function(type) prod(type@shape), 0))), tol, max_iter
        ),
        descent(
          in_turns(first_order_at(objective), start), start,
          if (method == "BFGS") bfgs_memory(start) else lbfgs_memory(start, history), tol, max_iter
        )
      )
      s$converged <- s$reason == solver_reasons[["converged"]]
      s[c("par", "value", "gradient", "iterations", "evaluations", "converged", "reason")]
    },
    jvp = function(primals, results, tangents) {
      none <- lapply(results, function(result) NULL)
      if (all(vapply(tangents$given, is.null, NA))) {
        return(none)
      }
      first_order <- function(x, given) first_order_at(objective_at(problem, squares, given))(x)
      at <- evaluated(first_order, list(results$par, primals$given), named = FALSE)
      direct <- jvp_graph(at$outputs, at$roots, c(list(NULL), unname(tangents$given)))
      counts <- where_converged(results$converged, results$par@dtype)
      if (!is.null(direct[[2L]])) {
        change <- if (method == "L-BFGS" && length(results$par) > most_dense) {
          slope <- function(x, given) first_order(x, given)$gradient
          conjugate_solution(slope, results$par, primals$given, direct[[2L]])
        } else {
          dense_solution(matrix_of_slopes(at, 1L, 2L), direct[[2L]])
        }
        none$par <- -change * counts
      }
      if (!is.null(direct[[1L]])) none$value <- direct[[1L]] * counts
      none
    }
  )
}
