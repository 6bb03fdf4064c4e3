# Solutions of equations as ops, with derivatives by the implicit function theorem: residual(x, given) is zero at the
# root x, so dx = -(d residual / dx)^-1 (d residual / d given). The rule is made of what has derivatives itself.

# `search` is the op's call. Its results have `root`, a vector, and where it may fail `converged`. `solve(at, right,
# results)` solves the equations, if not by a matrix.
implicit_op <- function(name, residual, search, solve = NULL) {
  list(
    name = name, call = search,
    jvp = function(primals, results, tangents) {
      changes <- lapply(results, function(result) NULL)
      if (all(vapply(tangents$given, is.null, NA))) {
        return(changes)
      }
      at <- evaluated(residual, list(results$root, primals$given), named = FALSE)
      right <- jvp_graph(at$outputs, at$roots, c(list(NULL), unname(tangents$given)))[[1L]]
      if (is.null(right)) {
        return(changes)
      }
      change <- -(if (is.null(solve)) {
        dense_solution(matrix_of_slopes(at, 1L, 1L), right)
      } else {
        solve(at, right, results)
      })
      converged <- results$converged
      changes$root <- if (is.null(converged)) change else change * where_converged(converged, change@dtype)
      changes
    }
  )
}

# As many equations as unknowns, of the same dtype
check_equations <- function(problem, x, op, name, call) {
  of_dtype <- vapply(problem$results, function(type) type@dtype == x@dtype, NA)
  size <- sum(vapply(problem$results, function(type) prod(type@shape), 0))
  if (!all(of_dtype) || size != length(x)) {
    abort(
      sprintf("%s: `%s` must return as many numbers as it has unknowns, %s, not %s", op, name, type_text(x),
        types_text(problem$results)
      ),
      op = op, operand = name, call = call
    )
  }
}

#' Roots by a solver of one's own
#'
#' `xla_custom_root(f, solve)` is a function that finds the root of `f` by `solve`, with derivatives by the implicit
#' function theorem, as `jax.lax.custom_root()` has it: nothing goes through what `solve` does.
#'
#' @details
#' The function takes `x` to begin with, and what else `f` takes. At the root `f(x, ...)` is zero whatever is in `...`,
#' so x changes by `-solve(df/dx, df)`. Derivatives, of any order and in both modes, go through `...` and through the
#' values that `f` uses from outside; `start`, and values that only `solve` uses, have none. That `f` is zero where
#' `solve` ends is not checked: elsewhere the derivatives have no meaning.
#'
#' [hlo_root()] and [hlo_minimize()] are solvers that come with such a rule.
#'
#' @param f A function of the unknowns and of more arguments, which returns as many numbers as there are unknowns.
#' @param solve A function of `f`, as a function of the unknowns alone, and of `start`. It returns the root, as `start`.
#' @param tangent_solve `NULL`, or a function of `g`, a linear function of unknowns as one vector, and of `y`, a vector:
#'   it returns the x with g(x) = y, and must be linear in y. Reverse mode transposes what it does. By default the
#'   matrix of derivatives is computed and solved for by LU.
#' @return A function of `start` and `...`, as [xla_jit()] returns it, which gives the root in the form of `start`.
#' @section Errors:
#' Unknowns of other dtypes than f32 and f64, a number of equations that is not that of the unknowns, and a root that is
#' not as `start` are errors that show the types.
#' @seealso [hlo_root()], [hlo_fixed_point()]
#' @examplesIf plugins_downloaded()
#' # The square root by a known number of Newton's steps
#' f <- function(x, a) x^2 - a
#' newton <- function(f, start) hlo_fori(1, 30, function(i, x) x - f(x) / (2 * x), start)
#' root <- xla_custom_root(f, newton)
#' root(1, 9)
#' xla_grad(function(a) root(1, a))(9)
#' @export
xla_custom_root <- function(f, solve, tangent_solve = NULL) {
  check_function(f)
  check_function(solve, "solve")
  if (!is.null(tangent_solve)) check_function(tangent_solve, "tangent_solve")
  new_jit(function(...) {
    call <- quote(xla_custom_root())
    op <- "xla_custom_root"
    # By hand: R would take the beginning of a name, as that of an argument of `f`, for `start`.
    given <- list(...)
    place <- match(c("start", ""), names2(given))
    place <- place[!is.na(place)][1L]
    if (is.na(place)) abort("xla_custom_root: `start` is missing", op = op, operand = "start", call = call)
    start <- solver_start(given[[place]], op, call)
    x <- packed(tree_leaves(start))
    problem <- traced_function(f, start, given[-place], op, call)
    check_equations(problem, x, op, "f", call)
    found <- custom_search(problem, start, x, solve, op, call)
    by_user <- if (!is.null(tangent_solve)) {
      function(at, right, results) {
        g <- function(y) jvp_graph(at$outputs[1L], at$roots[1L], list(y))[[1L]]
        x <- as_value(call_written(tangent_solve, list(g, right), "tangent_solve"), "tangent_solve", call = call)
        if (!same_type(x, right)) {
          abort(sprintf("xla_custom_root: `tangent_solve` must return %s, not %s", type_text(right), type_text(x)),
            op = op, operand = "tangent_solve", call = call
          )
        }
        x
      }
    }
    residual <- function(x, given) packed(problem$run(x, given))
    result <- bind_op(
      implicit_op(op, residual, found$search, by_user),
      list(start = x, given = problem$captured, others = found$captured)
    )
    shaped_as(result$root, start)
  }, "custom_root", Filter(Negate(is.null), list(f, solve, tangent_solve)))
}

# What `solve` does, traced once: what it uses from outside becomes arguments, too.
custom_search <- function(problem, start, x, solve, op, call) {
  known <- seq_along(problem$captured) + 1L
  region <- trace_region(function(params) {
    of_x <- function(x) {
      x <- in_order_of(x, start, function(text) {
        said <- sprintf("%s: what `solve` gives its function must be like `start`: %s", op, text)
        abort(said, op = op, operand = "solve", call = call)
      })
      leaves <- problem$run(packed(Map(as_value, tree_leaves(x), "x")), params[known])
      tree_fill(problem$tree, leaves)
    }
    root <- call_written(solve, list(of_x, shaped_as(params[[1L]], start)), "solve")
    root <- result_in_order(root, start, "solve", op, call)
    leaves <- lapply(tree_leaves(root), as_value, "solve", call = call, op = op)
    likes <- tree_leaves(start)
    if (!all_alike_types(leaves, likes)) {
      abort(sprintf("%s: `solve` must return what `start` has, %s, not %s", op, types_text(likes), types_text(leaves)),
        op = op, operand = "solve", call = call
      )
    }
    list(packed(leaves))
  }, lapply(c(list(x), problem$captured), type_of))
  captured <- captured_by(list(region))
  list(captured = captured, search = function(start, given, others) {
    leaves <- c(list(start), unname(given))
    list(root = replay_region(region, leaves, captured, unname(others))[[1L]])
  })
}
