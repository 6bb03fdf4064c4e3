#' Loops along an axis
#'
#' `hlo_scan()` goes along the first axis of `xs` with a carry: `f(carry, x)` gives the next carry and a result, and the
#' results are stacked: those of one element to a vector, vectors to the rows of a matrix. `hlo_fori()` counts from
#' `lower` to `upper`.
#'
#' @details
#' The program holds `f` once, however long the loop is. The carry keeps its structure, dtypes and shapes from turn to
#' turn: logicals and integers that come for doubles become doubles, and one number of R in `init` is a scalar. Values
#' from outside may be used.
#'
#' Derivatives: forward and reverse mode, any number of times. Reverse mode keeps, for every turn, what the derivative
#' of `f` needs; with `checkpoint = TRUE` only the carry, and computes the rest again; with `checkpoint = k` the carry
#' of every k-th turn, and the k turns between two of them again, one stretch at a time. `k` about the root of the
#' length takes the least memory. A value from outside whose gradient is asked costs an addition of its whole size per
#' turn: what differs from turn to turn belongs into `xs`.
#'
#' `hlo_fori()` with numbers of R as bounds is such a loop. With bounds that are values it has forward mode only, unless
#' `max_iter` bounds their number: then at most so many turns are made.
#'
#' @param f A function of the carry and of one element of `xs`, each as a value or a list as `init` and `xs` are (of the
#'   carry alone where `xs` is `NULL`). It returns `list(carry, y)`; `y` is a value, a (nested) list of them, or `NULL`.
#' @param init The carry at first: a value or a (nested) list of values.
#' @param xs A value or a (nested) list of values of one length along their first axis, or `NULL`.
#' @param length The number of turns, where `xs` is `NULL`.
#' @param reverse Whether to go from the last element to the first one. Results stay at the place of their element.
#' @param checkpoint What reverse mode keeps: `FALSE`, `TRUE` or a number of turns.
#' @param lower,upper The first and the last number, both included: numbers of R, or scalar integer values. There are no
#'   turns if `upper` is below `lower`.
#' @param body A function of the number, a scalar i32, and of the carry, which gives the next carry.
#' @param max_iter `NULL`, or a number: no more turns than that, see [hlo_while()].
#' @return `hlo_scan()`: `list(carry = , y = )`, the last carry and the stacked results. `hlo_fori()`: the last carry.
#' @section Errors:
#' A carry that changes its structure, dtypes or shapes, an `f` that does not return `list(carry, y)`, and `xs` of
#' different lengths are errors that show both types.
#'
#' @examplesIf plugins_downloaded()
#' # An autoregressive process from its innovations
#' ar <- xla_jit(function(phi, e) {
#'   hlo_scan(function(last, e) {
#'     now <- phi * last + e
#'     list(now, now)
#'   }, init = 0, xs = e)$y
#' })
#' ar(0.5, c(1, 0, 0, 2))
#' xla_grad(function(phi, e) sum(ar(phi, e)^2))(0.5, c(1, 0, 0, 2))
#'
#' xla_jit(function(x) hlo_fori(1, 10, function(i, x) x + 1 / i, x))(0)
#' @export
hlo_scan <- function(f, init, xs = NULL, length = NULL, reverse = FALSE, checkpoint = FALSE) {
  call <- environment()
  op <- "hlo_scan"
  if (!is.function(f)) {
    abort(sprintf("hlo_scan: `f` must be a function, not %s", describe(f)), op = op, operand = "f", call = call)
  }
  check_flag(reverse, "reverse")
  start <- carried_leaves(init, op, call)
  check_not_sparse(xs, "xs", op, call)
  slices <- lapply(tree_leaves(xs), as_value, "xs", call = call, op = op)
  turns <- scan_length(slices, length, op, call)
  checkpoint <- check_checkpoint(checkpoint, op, call)
  tree <- NULL
  body <- function(carry, x) {
    carry <- tree_fill(init, carry)
    x <- tree_fill(xs, x)
    arguments <- if (is.null(xs)) list(carry) else list(carry, x)
    check_takes(f, arguments, op, "f", call)
    values <- looped({
      out <- call_written(f, arguments)
      out <- scan_parts(out, op, call)
      tree <<- out$y
      check_not_sparse(tree, "f", op, call)
      c(next_carry(out$carry, init, start, op, "f", call), lapply(tree_leaves(out$y), scan_result, op, call))
    })
    list(carry = values[seq_along(start)], ys = beyond(values, length(start)))
  }
  values <- scan_loop(body, start, slices, turns, reverse, checkpoint)
  own <- seq_along(start)
  list(carry = tree_fill(init, values[own]), y = tree_fill(tree, beyond(values, length(start))))
}

# The result of `f` by its two parts
scan_parts <- function(out, op, call) {
  parts <- c("carry", "y")
  named <- !is.null(names(out)) && setequal(names(out), parts)
  if (!is_branch(out) || length(out) != 2L || !(named || is.null(names(out)))) {
    given <- if (is_branch(out)) sprintf("a list of %d", length(out)) else describe_leaf(out)
    abort(sprintf("%s: `f` must return list(carry, y), not %s", op, given),
      op = op, operand = "f", call = call, hint = "`list(carry, NULL)` has no results to stack."
    )
  }
  if (named) out[parts] else stats::setNames(out, parts)
}

# A stack of sparse matrices is none.
check_not_sparse <- function(x, name, op, call) {
  if (has_sparse(x)) {
    what <- if (name == "f") "its results" else "`xs`"
    abort(sprintf("%s: %s cannot have sparse matrices, only the carry can", op, what),
      op = op, operand = name, call = call, hint = "`hlo_nonzeros()` gives the entries."
    )
  }
}

describe_leaf <- function(x) if (is_value(x)) type_text(x) else describe(x)

scan_result <- function(leaf, op, call) {
  leaf <- scalar_value(leaf, "f", op, call)
  check_no_token(leaf, op, "f", call)
  if (length(leaf) == 1L && length(leaf@shape) == 1L) reshaped(leaf, integer()) else leaf
}

# One number of R is a scalar.
scalar_value <- function(x, name, op, call) {
  one <- !is_value(x) && is_data(x) && length(x) == 1L && is.null(dim(x))
  as_value(x, name, if (one) new_type(r_dtype(x), integer()), call, op)
}

carried_leaves <- function(init, op, call) {
  check_not_missing(init, "init", call)
  lapply(tree_leaves(init), scalar_value, "init", op, call)
}

carry_hint <- function(before, leaf) {
  if (!identical(before@shape, leaf@shape)) {
    "The carry keeps its shape: `init` must have it from the start."
  } else if (before@dtype == "i32" && leaf@dtype == "f64") {
    "`1` is a double and makes doubles of integers, `1L` is an integer. Or let `init` be a double."
  } else {
    "`hlo_convert()` changes the dtype."
  }
}

scan_length <- function(slices, length, op, call) {
  check_length <- function() {
    fine <- is.numeric(length) && length(length) == 1L && !is.na(length) && length >= 0 && length == trunc(length)
    if (!fine || length >= 2^31) {
      abort(sprintf("%s: `length` must be a whole number from 0, not %s", op, describe_leaf(length)),
        op = op, operand = "length", call = call
      )
    }
  }
  sizes <- vapply(slices, function(x) if (length(x@shape)) x@shape[[1L]] else NA_integer_, 0L)
  if (anyNA(sizes) || length(unique(sizes)) > 1L) {
    abort(sprintf("%s: `xs` must have one length along their first axis, not %s", op, types_text(slices)),
      op = op, operand = "xs", call = call
    )
  }
  if (is.null(length) && !length(sizes)) {
    abort(sprintf("%s: `length` must be given where `xs` is NULL", op), op = op, operand = "length", call = call)
  }
  if (!is.null(length)) {
    check_length()
    if (length(sizes) && sizes[[1L]] != length) {
      abort(sprintf("%s: `length` is %.0f, but `xs` has %d elements", op, length, sizes[[1L]]),
        op = op, operand = "length", call = call
      )
    }
  }
  if (length(sizes)) sizes[[1L]] else as.integer(length)
}

# 0: all is kept; otherwise the number of turns from one carry that is kept to the next.
check_checkpoint <- function(checkpoint, op, call) {
  fine <- (is.logical(checkpoint) || is.numeric(checkpoint)) && length(checkpoint) == 1L && !is.na(checkpoint) &&
    checkpoint >= 0 && checkpoint == trunc(checkpoint) && checkpoint < 2^31
  if (!fine) {
    abort(sprintf("%s: `checkpoint` must be TRUE, FALSE or a number of turns, not %s", op, describe(checkpoint)),
      op = op, operand = "checkpoint", call = call
    )
  }
  as.integer(checkpoint)
}

# The leaves of what a turn gave, as `start` has them.
next_carry <- function(out, init, start, op, name, call) {
  leaves <- tree_match(init, out, function(text) {
    abort(sprintf("%s: the carry that `%s` gives must be like `init`: %s", op, name, text),
      op = op, operand = name, call = call
    )
  })
  like <- new_tree(tree_map(init, function(leaf) TRUE))
  Map(function(leaf, before, i) {
    path <- tree_path(like, i)
    what <- if (nzchar(path)) sprintf("`%s` of the carry", path) else "the carry"
    if (is.null(leaf)) {
      abort(sprintf("%s: `%s` gives NULL for %s", op, name, what), op = op, operand = name, call = call)
    }
    leaf <- as_value(leaf, name, before, call, op)
    type <- agreed_type(before, leaf)
    if (is.null(type) || !same_type(type, before)) {
      abort(
        sprintf("%s: %s is %s in `init`, but `%s` gives %s", op, what, type_text(before), name, type_text(leaf)),
        op = op, operand = name, call = call, hint = carry_hint(before, leaf)
      )
    }
    reshaped(converted(leaf, type@dtype), type@shape)
  }, leaves, start, seq_along(leaves))
}

# `body` is a function of lists of values, carry and slices, that gives list(carry, ys). The values are the last carry,
# then the stacks.
scan_loop <- function(body, start, slices, turns, reverse = FALSE, checkpoint = 0L, ...) {
  if (checkpoint <= 1L || checkpoint >= turns) {
    return(scan_node(body, start, slices, turns, reverse, keep = checkpoint == 0L, ...))
  }
  stretches <- turns %/% checkpoint
  rest <- turns %% checkpoint
  whole <- stretches * checkpoint
  # The elements that do not fill a stretch come last in the order of the turns.
  places <- if (reverse) c(rest, turns) else c(0L, whole)
  cut <- function(from, to) {
    lapply(slices, function(x) {
      rank <- length(x@shape)
      sliced(x, c(from + 1L, rep(1L, rank - 1L)), c(to, x@shape[-1L]))
    })
  }
  own <- seq_along(start)
  stretched <- lapply(cut(places[[1L]], places[[2L]]), function(x) reshaped(x, c(stretches, checkpoint, x@shape[-1L])))
  stretch <- function(carry, x) {
    values <- scan_node(body, carry, x, checkpoint, reverse)
    list(carry = values[own], ys = beyond(values, length(start)))
  }
  values <- scan_node(stretch, start, stretched, stretches, reverse, keep = FALSE)
  stacks <- lapply(beyond(values, length(start)), function(x) reshaped(x, c(whole, x@shape[-(1:2)])))
  if (!rest) {
    return(c(values[own], stacks))
  }
  tail <- scan_node(body, values[own], if (reverse) cut(0L, rest) else cut(whole, turns), rest, reverse)
  ends <- beyond(tail, length(start))
  joined <- Map(function(x, y) concatenated(if (reverse) list(y, x) else list(x, y), 1L, NULL), stacks, ends)
  c(tail[own], unname(joined))
}

overload("hlo_scan", "xlaffi", hlo_scan, by = "own", topic = "Logic and control", dtypes = "all")
