#' @rdname hlo_scan
#' @export
hlo_fori <- function(lower, upper, body, init, max_iter = NULL, checkpoint = FALSE) {
  call <- environment()
  op <- "hlo_fori"
  if (!is.function(body)) {
    abort(sprintf("hlo_fori: `body` must be a function, not %s", describe(body)),
      op = op, operand = "body", call = call
    )
  }
  bounds <- list(lower = lower, upper = upper)
  for (name in names(bounds)) {
    check_bound(bounds[[name]], name, op, call)
  }
  max_iter <- check_max_iter(max_iter, op, call)
  checkpoint <- check_checkpoint(checkpoint, op, call)
  start <- carried_leaves(init, op, call)
  turn <- function(i, carry) {
    arguments <- list(i, tree_fill(init, carry))
    check_takes(body, arguments, op, "body", call)
    looped(next_carry(call_written(body, arguments, "body"), init, start, op, "body", call))
  }
  along <- function(carry, x) list(carry = turn(x[[1L]], carry), ys = list())
  numbers <- function(first, turns) list(hlo_iota("i32", turns) + first)
  known <- !is_value(lower) && !is_value(upper)
  values <- if (known) {
    turns <- max(0, upper - lower + 1)
    scan_loop(along, start, numbers(as.integer(lower), min(turns, max_iter)), min(turns, max_iter), FALSE, checkpoint)
  } else {
    bounds <- lapply(bounds, function(x) reshaped(as_value(x, "lower", new_type("i32", integer())), integer()))
    if (is.null(max_iter)) {
      while_loop(
        function(leaves) list(leaves[[1L]] <= bounds$upper),
        function(leaves) c(list(leaves[[1L]] + 1L), turn(leaves[[1L]], leaves[-1L])),
        c(bounds["lower"], start)
      )[-1L]
    } else {
      count <- hlo_min(hlo_max(bounds$upper - bounds$lower + 1L, 0L), max_iter)
      scan_node(along, start, numbers(bounds$lower, max_iter), max_iter, keep = checkpoint == 0L, count = count)
    }
  }
  tree_fill(init, values)
}

overload("hlo_fori", "xlaffi", hlo_fori,
  by = "own", topic = "Logic and control", dtypes = "all",
  derivative = "yes; forward only with bounds that are values and no `max_iter`"
)

check_bound <- function(x, name, op, call) {
  fine <- if (is_value(x)) {
    x@dtype == "i32" && length(x) == 1L
  } else {
    is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x) && x == trunc(x) && abs(x) < 2^31 - 1
  }
  if (!fine) {
    abort(sprintf("%s: `%s` must be one whole number or a value i32(), not %s", op, name, describe_leaf(x)),
      op = op, operand = name, call = call, hint = if (is_value(x)) "`as.integer()` makes integers."
    )
  }
}

check_max_iter <- function(x, op, call) {
  if (is.null(x)) {
    return(NULL)
  }
  fine <- is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x) && x == trunc(x) && x >= 0 && x < 2^31
  if (!fine) {
    abort(sprintf("%s: `max_iter` must be a whole number from 0, or NULL, not %s", op, describe_leaf(x)),
      op = op, operand = "max_iter", call = call
    )
  }
  as.integer(x)
}
