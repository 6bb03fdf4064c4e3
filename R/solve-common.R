# What all solvers share: the user's function as a region that is replayed in a loop, parameters as one vector, loops
# in which the elements of a batch stop one by one, and the codes of reasons.

# `f(x, ...)` traced once. What it uses from outside, also by `others`, is `captured`: the solver's op takes these as
# arguments, so derivatives go through them. `run(x, given)` gives the leaves of f's result for a vector `x` of all
# parameters and other values in place of those captured.
# `as_x`: whether it gives what it takes.
traced_function <- function(f, x, others, op, call, name = "f", as_x = FALSE) {
  check_takes(f, c(list(NULL), others), op, name, call)
  leaves <- tree_leaves(x)
  types <- lapply(leaves, type_of)
  tree <- NULL
  region <- trace_region(function(params) {
    params <- Map(function(param, like) labelled(param, attr(like, "labels")), params, leaves)
    looped({
      tree <<- call_written(f, c(first_argument(f, tree_fill(x, params)), others), name)
      if (as_x) tree <<- result_in_order(tree, x, name, op, call)
      lapply(tree_leaves(tree), as_value, name, call = call, op = op)
    })
  }, types)
  for (value in c(region$results, captured_by(list(region)))) {
    check_no_token(value, op, name, call)
  }
  if (length(region$effects)) {
    abort(sprintf("%s: `%s` has side effects, and is called as often as the search wants", op, name), "UNIMPLEMENTED",
      op = op, operand = name, call = call
    )
  }
  problem_of(region, tree, types, captured_by(list(region)))
}

# `capturing(values)` is the same with further values of the region among those captured.
problem_of <- function(region, tree, types, captured) {
  list(
    tree = tree, types = types, results = lapply(region$results, type_of), regions = list(region),
    captured = captured,
    run = function(x, given) {
      replay(region$results, c(region$params, captured), c(unpacked(x, types), given), region$first)
    },
    capturing = function(values) problem_of(region, tree, types, c(captured, values))
  )
}

# What a function of the user's gave, with its parts in the order of what it was given
result_in_order <- function(tree, x, name, op, call) {
  in_order_of(tree, x, function(text) {
    abort(sprintf("%s: `%s` must return what it is given: %s", op, name, text), op = op, operand = name, call = call)
  })
}

# The parameters to begin with, a tree of values of one floating-point dtype. Names of R's go with them.
solver_start <- function(start, op, call, name = "start") {
  check_not_missing(start, name, call)
  leaf <- function(x) {
    labels <- data_labels(x)
    if (!is_value(x) && is_data(x) && (is.integer(x) || is.logical(x))) storage.mode(x) <- "double"
    labelled(as_value(x, name, call = call, op = op), labels)
  }
  tree <- tree_map(start, leaf)
  leaves <- tree_leaves(tree)
  dtypes <- unique(vapply(leaves, function(leaf) leaf@dtype, ""))
  if (length(dtypes) > 1L || !all(dtypes %in% c("f32", "f64"))) {
    abort(sprintf("%s: `%s` must have real numbers of one dtype, f32 or f64, not %s", op, name, types_text(leaves)),
      op = op, operand = name, call = call, hint = "`hlo_convert()` changes the dtype, `as.double()` makes doubles."
    )
  }
  if (!sum(vapply(leaves, function(leaf) prod(leaf@shape), 0))) {
    abort(sprintf("%s: `%s` has no elements: there is nothing to search for", op, name),
      op = op, operand = name, call = call
    )
  }
  tree
}

# Leaves as one vector, and back
packed <- function(leaves) {
  columns <- lapply(leaves, function(leaf) reshaped(leaf, as.integer(prod(leaf@shape))))
  if (length(columns) == 1L) columns[[1L]] else joined(columns)
}

unpacked <- function(x, types) {
  if (length(types) == 1L) {
    return(list(reshaped(x, types[[1L]]@shape)))
  }
  ends <- cumsum(vapply(types, function(type) as.integer(prod(type@shape)), 0L))
  starts <- c(0L, ends[-length(ends)]) + 1L
  Map(function(start, end, type) {
    reshaped(if (end < start) filled(0, new_type(x@dtype, 0L)) else sliced(x, start, end), type@shape)
  }, starts, ends, types)
}

# Whether leaves have the same types; one element may be a scalar or a vector.
all_alike_types <- function(leaves, likes) {
  alike <- function(x, y) same_type(x, y) || (x@dtype == y@dtype && prod(x@shape) == 1 && prod(y@shape) == 1)
  length(leaves) == length(likes) && all(mapply(alike, leaves, likes))
}

# A vector of parameters in the form of those to begin with, with their names
shaped_as <- function(x, start) {
  leaves <- tree_leaves(start)
  tree_fill(start, Map(function(leaf, like) labelled(leaf, attr(like, "labels")), unpacked(x, leaves), leaves))
}

# `f` as a function of one value for the turns of a loop: what does not depend on the value is computed before.
in_turns <- function(f, start) {
  tree <- NULL
  region <- trace_region(function(params) {
    tree <<- f(params[[1L]])
    tree_leaves(tree)
  }, list(type_of(start)))
  first <- region$first
  moves <- dependents(region$results, region$params, first)
  nodes <- nodes_between(region$results, first)
  nodes <- Filter(function(node) !moves(new_value(node, 1L)) && !node$op %in% cheap, nodes)
  fixed <- do.call(c, c(list(list()), lapply(nodes, node_values)))
  known <- replay(fixed, list(), list(), first)
  function(x) tree_fill(tree, replay(region$results, c(region$params, fixed), c(list(x), known), first))
}

# A loop of functions of a nested list, the state. In a batch each element keeps its state once `go` is FALSE for it.
solver_loop <- function(go, turn, state) {
  leaves <- lapply(tree_leaves(state), as_value, "state")
  values <- while_loop(
    function(leaves) list(go(tree_fill(state, leaves))),
    function(leaves) tree_leaves(turn(tree_fill(state, leaves))[names(state)]),
    leaves, together = TRUE
  )
  tree_fill(state, values)
}

# `new` where a scalar holds, else `old`: nested lists of values
kept_if <- function(pred, new, old) {
  tree_fill(old, Map(function(x, y) hlo_select(pred, x, y), tree_leaves(new), tree_leaves(old)))
}

number_as <- function(x, like) constant(x, like@dtype, integer(), "number")
integer_of <- function(x) constant(as.integer(x), "i32", integer(), "number")
flag_of <- function(x) constant(x, "pred", integer(), "flag")
as_count <- function(flag) converted(flag, "i32")

all_finite <- function(x) reduced("reduce_and", abs(x) < Inf, NULL, "is.finite()")
inner_product <- function(x, y) hlo_sum(x * y)
largest_of <- function(x) reduced("reduce_max", x, NULL, "max()")
norm_of <- function(x) {
  # Of numbers whose squares would be too large or too small, too
  size <- largest_of(abs(x))
  scale <- hlo_select((size > 0) & (size < Inf), size, 1)
  scale * sqrt(hlo_sum((x / scale)^2))
}

# The smallest difference that counts beside a number
rounding_of <- function(dtype) if (dtype == "f32") 2^-23 else 2^-52

# The tolerance, by default the root of the rounding: a number or a scalar value
check_tolerance <- function(tol, like, op, call, name = "tol") {
  if (is.null(tol)) {
    return(number_as(sqrt(rounding_of(like@dtype)), like))
  }
  fine <- if (is_value(tol)) {
    is_float(tol@dtype) && length(tol) == 1L
  } else {
    is.numeric(tol) && !is.object(tol) && length(tol) == 1L && isTRUE(tol >= 0)
  }
  if (!fine) {
    abort(sprintf("%s: `%s` must be a number from 0 on, not %s", op, name, describe_leaf(tol)),
      op = op, operand = name, call = call
    )
  }
  if (is_value(tol)) converted(reshaped(tol, integer()), like@dtype) else number_as(tol, like)
}

check_turns <- function(max_iter, op, call) {
  if (is.null(max_iter)) {
    abort(sprintf("%s: `max_iter` must be a whole number from 0: no search goes on for ever", op),
      op = op, operand = "max_iter", call = call
    )
  }
  check_max_iter(max_iter, op, call)
}

# 1 where a search converged, else NaN: a factor of its derivatives, which stays linear in these.
where_converged <- function(converged, dtype) {
  hlo_select(converged, constant(1, dtype, integer(), "one"), constant(NaN, dtype, integer(), "nan"))
}

# Codes of the reasons for which searches end
solver_reasons <- c(
  "converged" = 0L, "max_iter reached" = 1L, "no step leads to a better point" = 2L,
  "not finite" = 3L, "unbounded, or no longer finite" = 4L, "singular derivative" = 5L,
  "no change of sign in the interval" = 6L, "error above its bound with max_intervals" = 7L,
  "rounding keeps the error above its bound" = 8L, "the integrand is not finite" = 9L,
  "max_steps reached" = 10L, "steps became too small" = 11L, "no finite start, or times not in order" = 12L,
  "ended at a root" = 13L
)
solving <- -1L
reason_of <- function(name) integer_of(solver_reasons[[name]])

#' Why a solver stopped
#'
#' The text for the codes `reason` that [hlo_minimize()], [hlo_root()] and other solvers in programs return.
#'
#' @details
#' | code | text | from |
#' |---|---|---|
#' | 0 | converged | all |
#' | 1 | max_iter reached | all but [hlo_integrate()] |
#' | 2 | no step leads to a better point, up to rounding | [hlo_minimize()], [hlo_root()] |
#' | 3 | the function or its derivative is not finite at the start, or NaN in an interval | all but [hlo_integrate()] |
#' | 4 | unbounded, or no longer finite: a value or a result | [hlo_minimize()], [hlo_fixed_point()] |
#' | 5 | the derivative is singular | [hlo_root()] |
#' | 6 | no change of sign in the interval | [hlo_root()] with an interval |
#' | 7 | the error is above its bound with max_iter intervals | [hlo_integrate()] |
#' | 8 | rounding keeps the error above its bound | [hlo_integrate()] |
#' | 9 | the integrand is not finite | [hlo_integrate()] |
#' | 10 | max_steps reached | [hlo_ode()] |
#' | 11 | steps became too small: a pole, or a derivative that is NaN | [hlo_ode()] |
#' | 12 | the state, the times or the first derivative are not finite, or times not in order | [hlo_ode()] |
#' | 13 | ended at a root of `rootfunc` | [hlo_ode()] |
#'
#' @param reason Codes, integers from 0 to 13.
#' @return A character vector, as long as `reason`.
#' @section Errors:
#' Other numbers are an error.
#' @seealso [hlo_minimize()], [hlo_root()], [hlo_integrate()], [hlo_ode()]
#' @examples
#' xla_reason(0:3)
#' @export
xla_reason <- function(reason) {
  if (!is.numeric(reason) || is.object(reason) || !all(reason %in% solver_reasons)) {
    abort(sprintf("`reason` must be codes from 0 to %d, not %s", max(solver_reasons), describe(reason)),
      operand = "reason"
    )
  }
  names(solver_reasons)[match(reason, solver_reasons)]
}
