#' Ordinary differential equations
#'
#' `hlo_ode()` solves dy/dt = func(t, y, parms) from `y` at the first of `times`, and gives y at all of them. Its
#' arguments are those of deSolve's `ode()`. It is a part of programs; the solution has derivatives of every order.
#'
#' @details
#' * `method = "ode45"` is for most equations: the explicit pair of orders 5 and 4 of Dormand and Prince (1980).
#'   `"rodas5p"` is for stiff ones: the Rosenbrock-Wanner method of order 5 by Steinebach (2023), with the exact
#'   Jacobian of `func` and one LU factorisation for each step. Both choose their steps so that the estimated error of
#'   each is at most `atol + rtol * |y|`, in the root mean square over the elements of y, and have y between steps
#'   from an interpolation of order 4.
#' * `times` go up or down, equal ones may follow one another. One time gives `y` itself.
#' * What `func` uses from outside may be values, which have derivatives as `y`, `times`, `parms` and the numbers of
#'   `events` have. Derivatives are those of the steps that were taken, with their sizes fixed (discretise, then
#'   differentiate): they are as exact as the solution is. In reverse mode the steps are made once more, then backwards;
#'   what is kept grows with the number of times and with the square root of `max_steps`.
#' * In a batch ([xla_vmap()]) each element has steps of its own, also times, events and parameters; elements go from
#'   one of their times to the next side by side.
#' * In a loop of R's that solves one equation for each of seven subjects and more, all turns share one solver, which is
#'   compiled once, if `y` and `times` have the same lengths in each: repeat the last time where a subject has fewer,
#'   and leave what is solved there out of sums, as by a weight of 0.
#'
#' @section Events:
#' `events` is what it is in deSolve. An output at the time of an event is the state before it; an event at the last
#' time changes nothing.
#' * `list(data = data.frame(var, time, value, method))`, or the data frame itself: at `time` the element `var` of y (a
#'   name or a number) is changed by `value`: `method` is `"replace"`, `"add"` or `"multiply"`, or 1, 2 or 3 for these;
#'   without it `value` is added, where deSolve asks for a method. A list in place of the data frame, whose `time` and
#'   `value` may be values, or a matrix of numbers will do. Names of elements are those of a vector, and in a list those
#'   of its parts that are one number; numbers count all elements, part after part, arrays as R has them. Rows with the
#'   same time act one after the other. An event whose time is not within `times`, or NaN, does not happen: so elements
#'   of a batch can have different numbers of events.
#' * `list(func = , time = )`: at these times y becomes `func(t, y, parms)`, once for a time that is given twice.
#' * `list(func = , root = TRUE)`: y becomes `func(t, y, parms)` wherever `rootfunc(t, y, parms)` changes its sign.
#'
#' Without that last one the solution ends at the first root of `rootfunc`, and is NaN behind it. A function that
#' changes its sign twice within one step has no root there. Steps end at events and begin anew: where `func` jumps at
#' a known time (an infusion that begins or ends) an event that adds 0 there keeps a step from going across it.
#'
#' @param y The state at the first time: a vector, an array or a (nested) list of them, real numbers of one dtype, f64
#'   or f32.
#' @param times A vector of at least one time, in order.
#' @param func A function of the time (a scalar), the state (as `y` is, with its names) and `parms`. It returns the
#'   derivative in the shape of `y`, or as the first element of a list, as for deSolve: behind it there may be further
#'   outputs, unless `y` is a list itself.
#' @param parms What `func` is given as its third argument: numbers, values, lists of them, NULL.
#' @param ... Further arguments of `func`, `rootfunc` and the events' `func`.
#' @param method `"ode45"` or `"rodas5p"`.
#' @param rtol,atol Relative and absolute tolerance: a number each, or one for each element of y. Not both can be 0.
#' @param max_steps The most attempts at steps, in a batch turns of its loop. Reverse mode needs room for so many
#'   numbers.
#' @param events `NULL`, or a list, see below.
#' @param rootfunc `NULL`, or a function as `func` is, that returns one number.
#' @return A list:
#'   * `time`: the times.
#'   * `y`: the state at these, as `y` is, with the times as the first axis in front of the others.
#'   * `outputs`, if `func` returns further outputs: the list of these at the states in `y`, with the times as the first
#'     axis.
#'   * `steps`, `rejected`, `evaluations`: how many steps were taken, how many attempts were not, and how often `func`
#'     was called for them.
#'   * `converged`, `reason`: whether the solution came to its end, and why not, for [xla_reason()]: 0, it did; 10,
#'     `max_steps` were not enough; 11, the steps became too small, as near a pole or where `func` gives NaN; 12, `y`,
#'     `times` or the first derivative are not finite, or the times not in order; 13, it ended at a root (`converged`
#'     is TRUE).
#'     Behind the point where a solution fails y is NaN, and so are derivatives.
#'   * with `rootfunc` `root`, a list: `count`, how many roots there were, and `time` and `y` of the last one, y before
#'     its change. They have derivatives.
#' @section Errors:
#' A derivative in another shape than `y`, an empty `y`, times that are not in order, tolerances that are both 0, and
#' unknown variables or methods of events are errors of class `xlaffi_error_invalid_argument`.
#' @references
#' E. Hairer, S. P. Norsett and G. Wanner (1993), *Solving Ordinary Differential Equations I*, Springer, chapter II.
#' E. Hairer and G. Wanner (1996), *Solving Ordinary Differential Equations II*, Springer, IV.7.
#' J. R. Dormand and P. J. Prince (1980), A family of embedded Runge-Kutta formulae, *J. Comp. Appl. Math.* 6, 19-26.
#' G. Steinebach (2023), Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia
#' Differential Equations package, *BIT Numer. Math.* 63, 27.
#' @seealso [hlo_scan()] and [hlo_while()] for loops of your own; the site has an article on differential equations.
#' @examplesIf plugins_downloaded()
#' # Prey and predators
#' lotka_volterra <- function(t, y, p) {
#'   eaten <- p$b * y["prey"] * y["predator"]
#'   c(p$a * y["prey"] - eaten, eaten - p$c * y["predator"])
#' }
#' solve <- xla_jit(function(p) hlo_ode(c(prey = 2, predator = 1), 0:4, lotka_volterra, p)$y)
#' solve(list(a = 1, b = 0.5, c = 0.7))
#' xla_grad(function(p) sum(solve(p)[5, ]))(list(a = 1, b = 0.5, c = 0.7))
#'
#' # A drug that is given three times
#' doses <- data.frame(var = 1, time = c(0, 8, 16), value = 100)
#' drug <- function(t, y, k) -k * y
#' xla_jit(function(k) hlo_ode(0, c(0, 4, 8, 12, 24), drug, k, events = doses)$y)(0.2)
#' @export
hlo_ode <- function(y, times, func, parms = NULL, ..., method = c("ode45", "rodas5p"), rtol = 1e-6, atol = 1e-6,
                    max_steps = 4096, events = NULL, rootfunc = NULL) {
  check_whole_names("hlo_ode")
  call <- environment()
  method <- check_choice(method, "method", names(ode_methods))
  max_steps <- check_count(max_steps, "max_steps", call, least = 1, whole = TRUE)
  check_function(func, "func")
  if (!is.null(rootfunc)) check_function(rootfunc, "rootfunc")
  start <- ode_start(y, call)
  times <- ode_times(times, start$dtype, call)
  events <- ode_events(events, start, rootfunc, call)
  regions <- ode_regions(list(
    f = func, root = rootfunc, jump = if (!isTRUE(events$at_roots)) events$func,
    root_jump = if (isTRUE(events$at_roots)) events$func
  ), start, list(parms, ...), call)
  problem <- ode_problem(regions, captured_by(unname(Filter(Negate(is.null), regions))))
  schedule <- ode_schedule(times, events, start$size)
  inputs <- c(list(y = start$value), ode_tolerances(rtol, atol, start, call), list(items = schedule$items))
  facts <- list(
    dtype = start$dtype, method = ode_methods[[method]], items = length(schedule$items$time), max_steps = max_steps
  )
  ode_of <- function(problem) {
    form <- tree_map(c(inputs, list(theta = problem$captured)), function(leaf) TRUE)
    c(problem$functions, facts, list(form = form))
  }
  record <- isTRUE(trace_state$differentiated)
  found <- bind_solver(function(problem) ode_op(ode_of(problem), record), tree_leaves(inputs), problem,
    list("hlo_ode", start$size, facts, names(Filter(Negate(is.null), regions)), record), behind = TRUE
  )
  ode <- ode_of(problem)
  y <- if (is.null(schedule$rows)) found$y else gathered(found$y, schedule$rows, 1L)
  outputs <- if (regions$f$further) ode_outputs(func, start, times, y, list(parms, ...))
  ode_result(ode, start$rows(y), outputs, times, found)
}

overload("hlo_ode", "xlaffi", hlo_ode, by = "own", topic = "Solvers", dtypes = "f32, f64")

# As problem_of(), with several functions. `functions` take the time, the state and what is captured.
ode_problem <- function(regions, captured) {
  functions <- lapply(regions, function(region) {
    if (!is.null(region)) function(t, y, theta) replay_region(region, list(t, y), captured, theta)[[1L]]
  })
  list(
    regions = unname(Filter(Negate(is.null), regions)), captured = captured, functions = functions,
    capturing = function(values) ode_problem(regions, c(captured, values))
  )
}

# What `func` returns behind the derivative, at the states that were found
ode_outputs <- function(func, start, times, y, more) {
  xla_vmap(function(t, y) call_written(func, c(list(t, start$state(y)), more), "func")[-1L])(times, y)
}

ode_result <- function(ode, y, outputs, times, found) {
  ended <- found$status == ode_status[["root"]]
  c(
    list(time = times, y = y), if (!is.null(outputs)) list(outputs = outputs),
    list(
      steps = found$steps, rejected = found$rejected,
      evaluations = (found$steps + found$rejected) * ode$method$evaluations + 2L,
      converged = (found$status == 0L) | ended, reason = found$status
    ),
    if (!is.null(ode$root)) list(root = list(count = found$roots, time = found$root_time, y = found$root_y))
  )
}

# The state as a vector, and back
ode_start <- function(y, call) {
  refuse <- function(text, hint = NULL) {
    abort(sprintf("hlo_ode: `y` must %s", text), op = "hlo_ode", operand = "y", hint = hint, call = call)
  }
  leaves <- lapply(tree_leaves(y), scalar_value, "y", "hlo_ode", call)
  leaves <- lapply(leaves, as_doubles)
  sizes <- vapply(leaves, length, 0)
  if (!sum(sizes)) refuse("have elements")
  dtypes <- unique(vapply(leaves, function(leaf) leaf@dtype, ""))
  if (length(dtypes) > 1L || !dtypes %in% c("f32", "f64")) {
    refuse(sprintf("be real numbers of one dtype, f32 or f64, not %s", types_text(leaves)),
      if (any(is_complex(dtypes))) "A complex state is two real ones: `Re()` and `Im()`."
    )
  }
  labels <- lapply(tree_leaves(y), data_labels)
  ends <- cumsum(sizes)
  part <- function(take) {
    tree_fill(y, Map(take, leaves, ends - sizes + 1, ends, labels))
  }
  list(
    tree = y, leaves = leaves, dtype = dtypes, size = as.integer(sum(sizes)), names = state_names(y, sizes, labels),
    order = unlist(Map(function(leaf, before) before + by_columns(leaf@shape), leaves, ends - sizes)),
    value = flat_state(leaves),
    state = function(vector) {
      part(function(leaf, from, to, labels) {
        labelled(reshaped(sliced(vector, from, to), leaf@shape), labels)
      })
    },
    rows = function(matrix) {
      count <- matrix@shape[[1L]]
      part(function(leaf, from, to, labels) {
        reshaped(sliced(matrix, c(1L, from), c(count, to)), c(count, leaf@shape))
      })
    }
  )
}

flat_state <- function(leaves) joined(lapply(leaves, function(leaf) reshaped(leaf, as.integer(prod(leaf@shape)))))

# Where the elements of an array of R's, column by column, are in the state, which has them row by row
by_columns <- function(shape) as.vector(aperm(array(seq_len(prod(shape)), rev(c(1L, shape)))))

# The names of elements, for events: those of a vector, or of single numbers in a list; "" for those without
state_names <- function(y, sizes, labels) {
  if (!is_branch(y)) {
    return(if (length(labels[[1L]]) == 1L) labels[[1L]][[1L]])
  }
  if (length(y) == length(sizes)) rep(ifelse(sizes == 1, names2(y), ""), sizes)
}

ode_times <- function(times, dtype, call) {
  refuse <- function(text) {
    abort(sprintf("hlo_ode: `times` must %s", text), op = "hlo_ode", operand = "times", call = call)
  }
  known <- !is_value(times)
  value <- as_value(times, "times", call = call, op = "hlo_ode")
  if (length(value@shape) > 1L || !length(value)) refuse(sprintf("be a vector of times, not %s", type_text(value)))
  value <- reshaped(converted(value, dtype), as.integer(length(value)))
  if (known) {
    change <- diff(as.double(times))
    if (!all(is.finite(as.double(times)))) refuse(sprintf("be finite, not %s", values_text(times)))
    if (any(change < 0) && any(change > 0)) refuse("go up or down, but they go both ways")
    return(value)
  }
  # Times that turn round are found when the program runs.
  count <- length(value)
  if (count < 3L) {
    return(value)
  }
  change <- sliced(value, 2L, count) - sliced(value, 1L, count - 1L)
  way <- sign_of(reshaped(sliced(value, count, count) - sliced(value, 1L, 1L), integer()))
  least <- reduced("reduce_min", change * way, NULL, "hlo_ode")
  value + hlo_select(least >= 0, filled(0, least), filled(NaN, least))
}

ode_tolerances <- function(rtol, atol, start, call) {
  both <- Map(ode_tolerance, list(rtol = rtol, atol = atol), c("rtol", "atol"), list(start), list(call))
  if (!is_value(rtol) && !is_value(atol) && any(rtol == 0 & atol == 0)) {
    abort("hlo_ode: `rtol` and `atol` must not both be 0: no step has an error of 0",
      op = "hlo_ode", operand = "rtol", call = call
    )
  }
  both
}

ode_tolerance <- function(x, name, start, call) {
  known <- !is_value(x)
  value <- as_value(x, name, new_type(start$dtype, integer()), call, "hlo_ode")
  fits <- length(value@shape) < 2L && length(value) %in% c(1L, start$size)
  if (!fits || value@dtype != start$dtype || (known && !all(is.finite(x) & x >= 0))) {
    abort(sprintf("hlo_ode: `%s` must be a number from 0, or one for each of the %d elements of `y`, not %s", name,
      start$size, if (known) values_text(x) else type_text(value)
    ), op = "hlo_ode", operand = name, call = call)
  }
  if (length(value) == 1L) reshaped(value, integer()) else taken(value, order(start$order), 1L)
}

# The functions of time and state as regions, of which what they take from outside is known. `further`: whether a
# function has further results behind the derivative.
ode_regions <- function(functions, start, more, call) {
  Map(function(f, kind) {
    if (is.null(f)) {
      return(NULL)
    }
    name <- c(f = "func", root = "rootfunc", jump = "func of events", root_jump = "func of events")[[kind]]
    further <- FALSE
    region <- trace_region(function(params) {
      arguments <- c(list(params[[1L]], start$state(params[[2L]])), more)
      check_takes(f, arguments, "hlo_ode", name, call)
      looped({
        out <- call_written(f, arguments, "func")
        # As deSolve's functions have them
        further <<- kind == "f" && !is_branch(start$tree) && is_branch(out) && length(out) > 1L
        if (further) out <- out[1L]
        list(if (kind == "root") root_number(out, start, call) else same_as_state(out, name, start, call))
      })
    }, list(new_type(start$dtype, integer()), new_type(start$dtype, start$size)))
    c(region, list(further = further))
  }, functions, names(functions))
}

same_as_state <- function(out, name, start, call) {
  what <- if (name == "func") "the derivative" else "the state"
  refuse <- function(text) {
    wanted <- types_text(start$leaves)
    abort(sprintf("hlo_ode: `%s` must return %s in the shape of `y`, %s: %s", name, what, wanted, text),
      op = "hlo_ode", operand = name, call = call
    )
  }
  # deSolve's functions return a list with the derivative in front.
  plain <- !is_branch(start$tree)
  if (is_branch(out) && (plain || (length(out) == 1L && is_branch(out[[1L]])))) {
    if (length(out) != 1L) refuse(sprintf("it returns a list of %d", length(out)))
    out <- out[[1L]]
  }
  leaves <- tree_match(start$tree, out, refuse)
  flat_state(Map(function(leaf, like) {
    if (is.null(leaf)) refuse("it returns NULL")
    leaf <- as_value(leaf, name, if (length(like) == 1L) like, call, "hlo_ode")
    dtype <- if (leaf@dtype == like@dtype) leaf@dtype else promoted_dtype(c(like@dtype, leaf@dtype))
    # A product of a matrix and the state is a column.
    column <- if (length(like@shape) == 1L) c(like@shape, 1L)
    same <- identical(leaf@shape, like@shape) || identical(leaf@shape, column)
    same_size <- same || max(length(leaf), length(like)) == 1L
    if (!identical(dtype, like@dtype) || !same_size) refuse(sprintf("it returns %s", type_text(leaf)))
    reshaped(converted(leaf, like@dtype), like@shape)
  }, leaves, start$leaves))
}

root_number <- function(out, start, call) {
  out <- as_value(if (is_branch(out) && length(out) == 1L) out[[1L]] else out, "rootfunc",
    new_type(start$dtype, integer()), call, "hlo_ode"
  )
  if (length(out) != 1L || out@dtype != start$dtype) {
    abort(sprintf("hlo_ode: `rootfunc` must return one number, %s(), not %s", start$dtype, type_text(out)),
      op = "hlo_ode", operand = "rootfunc", call = call,
      hint = "The least of several numbers of one sign, or their product, has their roots."
    )
  }
  reshaped(out, integer())
}
