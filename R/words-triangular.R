# Triangular systems: backsolve(), forwardsolve() and chol2inv().

word_backsolve <- function(r, x, k = ncol(r), upper.tri = TRUE, transpose = FALSE) { # nolint
  call <- method_call("backsolve")
  triangular_word("backsolve()", list(r = r, x = x), if (!missing(k)) k, upper.tri, transpose, call)
}

word_forwardsolve <- function(l, x, k = ncol(l), upper.tri = FALSE, transpose = FALSE) { # nolint
  call <- method_call("forwardsolve")
  triangular_word("forwardsolve()", list(l = l, x = x), if (!missing(k)) k, upper.tri, transpose, call)
}

# Whatever lies in the other triangle is not read. `size` is R's `k`, NULL for all columns.
triangular_word <- function(shown, operands, size, upper, transpose, call) {
  check_flag(upper, "upper.tri", call)
  check_flag(transpose, "transpose", call)
  both <- same_dtype(operands[[1L]], operands[[2L]], shown, names(operands), call)
  both <- lapply(both, as_doubles)
  a <- both[[1L]]
  x <- both[[2L]]
  check_kind(a, "a floating-point number", shown, names(operands)[[1L]], call)
  if (length(a) == 1L) {
    a <- reshaped(a, c(1L, 1L))
  }
  vector <- rank_of(x) < 2L
  if (vector) {
    x <- reshaped(x, c(length(x), 1L))
  }
  if (rank_of(a) != 2L || rank_of(x) != 2L) {
    abort(
      sprintf("%s: `%s` and `x` must be matrices, not %s and %s", shown, names(operands)[[1L]], type_text(a),
        type_text(x)
      ),
      op = shown, operand = "x", call = call
    )
  }
  size <- check_system_size(size, stats::setNames(list(a, x), names(operands)), shown, "k", call)
  a <- sliced(a, c(1L, 1L), c(size, size))
  x <- sliced(x, c(1L, 1L), c(size, x@shape[[2L]]))
  solved <- triangular_solve(a, x, list(
    left = TRUE, lower = !upper, unit = FALSE, transpose = if (transpose) "transpose" else "none"
  ))
  if (vector) reshaped(solved, size) else solved
}

# `operands` are the matrices by name, the system's own first, `argument` the name of `size`.
check_system_size <- function(size, operands, shown, argument, call) {
  if (is.null(size)) {
    size <- operands[[1L]]@shape[[2L]]
  }
  if (is_value(size) || !is.numeric(size) || length(size) != 1L || is.na(size) || size < 1 || size != trunc(size)) {
    what <- if (is_value(size)) type_text(size) else describe(size)
    abort(sprintf("%s: `%s` must be a whole number from 1, not %s", shown, argument, what),
      op = shown, operand = argument, call = call
    )
  }
  rows <- vapply(operands, function(x) x@shape[[1L]], 0L)
  if (size > min(rows, operands[[1L]]@shape)) {
    what <- paste(sprintf("`%s` %s", names(operands), vapply(operands, type_text, "")), collapse = " and ")
    abort(sprintf("%s: a system of %.0f rows does not fit %s", shown, size, what),
      op = shown, operand = names(operands)[[1L]], call = call
    )
  }
  as.integer(size)
}

word_chol2inv <- function(x, size = NCOL(x), LINPACK = FALSE) { # nolint
  call <- method_call("chol2inv")
  if (!missing(LINPACK)) {
    abort("chol2inv(): R has no `LINPACK` any more", op = "chol2inv", operand = "LINPACK", call = call)
  }
  x <- as_doubles(as_value(x, "x", call = call))
  check_kind(x, "a floating-point number", "chol2inv()", "x", call)
  if (length(x) == 1L) {
    x <- reshaped(x, c(1L, 1L))
  }
  if (rank_of(x) != 2L) {
    abort(sprintf("chol2inv(): `x` must be a matrix, not %s", type_text(x)),
      op = "chol2inv", operand = "x", call = call
    )
  }
  size <- check_system_size(if (!missing(size)) size, list(x = x), "chol2inv()", "size", call)
  inverse <- triangular_word("chol2inv()", list(x = x, x = unit_rows(size, x@dtype)), size, TRUE, FALSE, call)
  hlo_matmul(inverse, transposed(inverse, c(2L, 1L)))
}

for (name in c("backsolve", "forwardsolve", "chol2inv")) {
  word(name, "base", get(paste0("word_", name)),
    topic = "Linear algebra", dtypes = "real numbers",
    differs = "A singular matrix gives infinities or NaN where R has an error."
  )
}
rm(name)
