#' Sums and products
#'
#' `hlo_sum()` adds up along axes. `hlo_dot()` is the general product: it multiplies elements and
#' adds up along the pairs of axes `contract`, side by side along the pairs of axes `batch`.
#' `hlo_matmul()` multiplies matrices, the last two axes, side by side along the axes before;
#' `hlo_triangular_solve()` solves `A X = B` or (`left = FALSE`) `X A = B` for a triangular A.
#'
#' @param x,y,a,b [Values][xlaffi_value], or R arrays beside a value.
#' @param axes The axes that go; `NULL` means all.
#' @param contract,batch Two vectors of axes, counted from 1: `list(<of x>, <of y>)`. The result
#'   has the batch axes, then what is left of `x`, then what is left of `y`.
#' @param left Whether A stands left of X.
#' @param lower Whether the lower triangle of `a` is A; the other one is not read.
#' @param unit_diagonal Whether the diagonal is taken to be 1, and not read.
#' @param transpose What becomes of A: `"none"`, `"transpose"` or `"adjoint"` (conjugated too).
#' @return A value. `hlo_dot()`, `hlo_matmul()` and `hlo_sum()` work in the operands' dtype.
#' @details
#' `hlo_matmul()`: `(..., m, k)` and `(..., k, n)` give `(..., m, n)`. The batch axes are equal, or
#' one side has none. A vector (k) stands for a row on the left and for a column on the right.
#' `hlo_triangular_solve()`: `a` is `(..., n, n)`, `b` `(..., n, k)` (`(..., k, n)` with
#' `left = FALSE`), of equal batch axes.
#' @section Errors:
#' Axes that are not there, and shapes or dtypes that do not fit together, are an error that shows both types.
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(hlo_matmul)(matrix(1:4 / 2, 2), diag(2))
#' xla_jit(function(x) hlo_sum(x, axes = 1))(matrix(1:4 / 2, 2))
#' # Column i of one matrix times column i of another
#' columns <- function(x, y) hlo_dot(x, y, contract = list(1, 1), batch = list(2, 2))
#' xla_jit(columns)(matrix(1:4 / 2, 2), diag(2))
#' xla_jit(hlo_triangular_solve)(matrix(c(2, 1, 0, 4), 2), matrix(c(2, 9), 2))
#' @export
hlo_sum <- function(x, axes = NULL) reduced("reduce_add", x, axes, "hlo_sum")

reduced <- function(op, x, axes, shown, call = rlang::caller_env()) {
  x <- as_value(x, "x", call = call)
  if (!op %in% c("reduce_and", "reduce_or")) {
    x <- as_numbers(x)
  }
  check_kind(x, reduction_kinds[[op]], shown, "x", call)
  axes <- if (is.null(axes)) seq_along(x@shape) else sort(check_axes(axes, "axes", length(x@shape), call = call))
  if (!length(axes)) {
    return(x)
  }
  record(op, list(x, reduction_start(op, x)), x@dtype, x@shape[-axes], list(axes = axes))
}

#' @rdname hlo_sum
#' @export
hlo_dot <- function(x, y, contract, batch = list(integer(), integer())) {
  both <- same_dtype(x, y, "hlo_dot")
  x <- both[[1L]]
  y <- both[[2L]]
  contract <- check_axis_pairs(contract, "contract", x, y)
  batch <- check_axis_pairs(batch, "batch", x, y)
  twice <- vapply(1:2, function(i) anyDuplicated(c(contract[[i]], batch[[i]])) > 0L, NA)
  if (any(twice)) {
    abort("hlo_dot: an axis is both in `contract` and in `batch`", op = "hlo_dot", operand = "batch")
  }
  dot(x, y, contract, batch)
}

dot <- function(x, y, contract, batch) {
  shape <- c(
    x@shape[batch[[1L]]], kept(x@shape, c(contract[[1L]], batch[[1L]])), kept(y@shape, c(contract[[2L]], batch[[2L]]))
  )
  record("dot_general", list(x, y), x@dtype, shape, list(contract = contract, batch = batch))
}

# What is left of `x` without the positions `axes`.
kept <- function(x, axes) x[setdiff(seq_along(x), axes)]

same_dtype <- function(x, y, op, names = c("x", "y"), call = rlang::caller_env()) {
  both <- common(list(x, y), op, names, call)
  if (both[[1L]]@dtype == "pred") {
    both <- lapply(both, as_numbers)
  }
  check_kind(both[[1L]], "a number", op, names[[1L]], call)
  both
}

check_axis_pairs <- function(axes, name, x, y, call = rlang::caller_env()) {
  if (!is.list(axes) || length(axes) != 2L || length(axes[[1L]]) != length(axes[[2L]])) {
    abort(sprintf("hlo_dot: `%s` must be a list of two vectors of axes of one length", name),
      op = "hlo_dot", operand = name, call = call
    )
  }
  axes <- list(
    check_axes(axes[[1L]], name, length(x@shape), call = call),
    check_axes(axes[[2L]], name, length(y@shape), call = call)
  )
  if (!identical(x@shape[axes[[1L]]], y@shape[axes[[2L]]])) {
    abort(
      sprintf(
        "hlo_dot: axes (%s) of `x` %s and axes (%s) of `y` %s must have the same lengths",
        toString(axes[[1L]]), type_text(x), toString(axes[[2L]]), type_text(y)
      ),
      op = "hlo_dot", operand = name, call = call
    )
  }
  axes
}

#' @rdname hlo_sum
#' @export
hlo_matmul <- function(x, y) {
  both <- same_dtype(x, y, "hlo_matmul")
  x <- both[[1L]]
  y <- both[[2L]]
  ranks <- c(length(x@shape), length(y@shape))
  refuse <- function() {
    abort(
      sprintf(
        "hlo_matmul: `x` must be (..., m, k) and `y` (..., k, n) of equal batch axes, not %s and %s",
        type_text(x), type_text(y)
      ),
      op = "hlo_matmul", operand = "y"
    )
  }
  if (any(ranks < 1L)) {
    refuse()
  }
  inner <- c(ranks[[1L]], max(1L, ranks[[2L]] - 1L))
  leading <- pmax(ranks - 2L, 0L)
  shared <- if (all(leading > 0L)) seq_len(leading[[1L]]) else integer()
  fits <- x@shape[[inner[[1L]]]] == y@shape[[inner[[2L]]]] &&
    (!length(shared) || identical(x@shape[shared], y@shape[seq_len(leading[[2L]])]))
  if (!fits) {
    refuse()
  }
  product <- dot(x, y, as.list(inner), list(shared, shared))
  if (leading[[2L]] > 0L && !length(shared) && ranks[[1L]] == 2L) {
    # The rows of x came before the batch axes of y.
    rank <- length(product@shape)
    product <- transposed(product, c(seq_len(leading[[2L]]) + 1L, 1L, rank))
  }
  product
}

#' @rdname hlo_sum
#' @export
hlo_triangular_solve <- function(a, b, left = TRUE, lower = TRUE, unit_diagonal = FALSE,
                                 transpose = c("none", "transpose", "adjoint")) {
  transpose <- check_choice(transpose, "transpose", c("none", "transpose", "adjoint"))
  check_flag(left, "left")
  check_flag(lower, "lower")
  check_flag(unit_diagonal, "unit_diagonal")
  both <- same_dtype(a, b, "hlo_triangular_solve", c("a", "b"))
  a <- both[[1L]]
  b <- both[[2L]]
  check_kind(a, "a floating-point or complex number", "hlo_triangular_solve", "a", environment())
  rank <- length(a@shape)
  side <- if (left) rank - 1L else rank
  fits <- rank >= 2L && length(b@shape) == rank && a@shape[[rank]] == a@shape[[rank - 1L]] &&
    identical(a@shape[seq_len(rank - 2L)], b@shape[seq_len(rank - 2L)]) && a@shape[[rank]] == b@shape[[side]]
  if (!fits) {
    abort(
      sprintf(
        "hlo_triangular_solve: `a` must be (..., n, n) and `b` %s of equal batch axes, not %s and %s",
        if (left) "(..., n, k)" else "(..., k, n)", type_text(a), type_text(b)
      ),
      op = "hlo_triangular_solve", operand = "b"
    )
  }
  triangular_solve(a, b, list(left = left, lower = lower, unit = unit_diagonal, transpose = transpose))
}

triangular_solve <- function(a, b, params) record("triangular_solve", list(a, b), b@dtype, b@shape, params)
