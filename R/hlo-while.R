#' Loops
#'
#' `hlo_while()` repeats `body` while `cond` holds.
#'
#' @details
#' What the loop carries keeps its names, dtypes and shapes from turn to turn. Both functions may use
#' values from outside. Derivatives: forward mode ([xla_jvp()]) goes through loops. Reverse mode ([xla_vjp()]) needs a
#' bound, `max_iter`: it keeps what the derivative of each turn needs, and has to know for how many turns there must be
#' room. The loop then ends after so many turns even if `cond` still holds. Loops of a known number of turns are
#' [hlo_scan()] and [hlo_fori()]. XLA takes it that loops end: one that never would, and has no side effects, may be
#' left out.
#'
#' @param cond A function of the carried values (as separate arguments) that gives a scalar of dtype
#'   pred.
#' @param body A function of them that gives the new ones, as `init` is: a value or a list.
#' @param init What is carried at first: a value or a (named) list of values. One number of R is a scalar.
#' @param max_iter `NULL`, or a number: no more turns than that.
#' @param checkpoint With `max_iter`: whether reverse mode keeps the carry only, and computes the rest of a turn again.
#' @return What is carried at last, as `init`.
#' @examplesIf plugins_downloaded()
#' # Newton's method for a square root
#' root <- xla_jit(function(y) {
#'   hlo_while(
#'     cond = function(x) abs(x * x - y) > 1e-12,
#'     body = function(x) (x + y / x) / 2,
#'     init = y
#'   )
#' })
#' root(2)
#' @export
hlo_while <- function(cond, body, init, max_iter = NULL, checkpoint = FALSE) {
  for (name in c("cond", "body")) {
    if (!is.function(get(name))) {
      abort(sprintf("hlo_while: `%s` must be a function, not %s", name, describe(get(name))),
        op = "hlo_while", operand = name
      )
    }
  }
  call <- environment()
  max_iter <- check_max_iter(max_iter, "hlo_while", call)
  check_flag(checkpoint, "checkpoint")
  start <- carried_leaves(init, "hlo_while", call)
  types <- lapply(start, type_of)
  run <- function(f, leaves, name) {
    arguments <- as_arguments(tree_fill(init, leaves))
    check_takes(f, arguments, "hlo_while", name, call)
    tree_leaves(call_written(f, arguments, name))
  }
  test <- function(leaves) loop_test(run(cond, leaves, "cond"), call)
  turn <- function(leaves) loop_turn(run(body, leaves, "body"), types, call)
  values <- if (is.null(max_iter)) {
    while_loop(test, turn, start)
  } else {
    counted <- function(carry, x) list(carry = c(list(carry[[1L]] + 1L), turn(carry[-1L])), ys = list())
    scan_node(counted, c(list(constant(0L, "i32", integer(), "turns")), start), list(), max_iter,
      keep = !checkpoint, stop = function(carry) test(carry[-1L])
    )[-1L]
  }
  tree_fill(init, values)
}

word("hlo_while", "xlaffi", hlo_while,
  by = "own", topic = "Logic and control", dtypes = "all", derivative = "yes; forward only without `max_iter`"
)

# `cond` and `body` are functions of lists of values. They are kept, since a loop with
# derivatives is another loop; a `silent` one has no side effects, since the first one has them.
while_loop <- function(cond, body, start, silent = FALSE) {
  types <- lapply(start, type_of)
  regions <- list(trace_region(cond, types, silent), trace_region(body, types, silent))
  captured <- unique_values(unlist(lapply(regions, region_captures), recursive = FALSE))
  params <- list(cond = cond, body = body, regions = regions)
  node <- new_node("while", c(start, captured), types, params)
  if (!silent && any(lengths(lapply(regions, function(region) region$effects)))) {
    record_effect(node)
  }
  node_values(node)
}

loop_test <- function(leaves, call) {
  test <- lapply(leaves, as_value, "cond", call = call)
  if (length(test) != 1L || test[[1L]]@dtype != "pred" || length(test[[1L]]) != 1L) {
    abort(sprintf("hlo_while: `cond` must give one value pred(), not %s", types_text(test)),
      op = "hlo_while", operand = "cond", call = call
    )
  }
  list(reshaped(test[[1L]], integer()))
}

loop_turn <- function(leaves, types, call) {
  like <- c(types, rep(list(NULL), max(0L, length(leaves) - length(types))))[seq_along(leaves)]
  leaves <- Map(function(leaf, like) {
    leaf <- as_value(leaf, "body", like, call)
    # One number of R in `init` is a scalar.
    scalar <- !is.null(like) && !length(like@shape) && identical(leaf@shape, 1L)
    if (scalar) reshaped(leaf, integer()) else leaf
  }, leaves, like)
  check_carried(leaves, types, "hlo_while", "body", call)
  leaves
}

# A body gives what it was given, type by type.
check_carried <- function(leaves, types, op, name, call) {
  if (length(leaves) == length(types) && all(mapply(same_type, leaves, types))) {
    return(invisible())
  }
  hint <- if (length(leaves) == length(types) && any(mapply(is_widened, leaves, types))) {
    "An integer and a double make a double, as in R: write `i + 1L`, not `i + 1`, or begin with a double."
  }
  abort(
    sprintf("%s: `%s` must give what `init` has, %s, not %s", op, name, types_text(types), types_text(leaves)),
    op = op, operand = name, hint = hint, call = call
  )
}

is_widened <- function(value, type) value@dtype == "f64" && type@dtype == "i32" && identical(value@shape, type@shape)
