# Operators on sparse matrices. The entries of the result are known from those of the operands.

# An operator of R's; `y` is NULL where there is one operand.
sparse_operator <- function(op, x, y, call) {
  if (is.null(y)) {
    return(switch(op, "+" = x, "-" = negated_sparse(x), dense_result(op, call)))
  }
  x <- sparse_operand(x)
  y <- sparse_operand(y)
  if (op %in% c("+", "-") && is_sparse(x) && is_sparse(y)) {
    check_alike(op, x, y, call)
    return(sparse_sum(x, y, op))
  }
  if (op == "*" && is_sparse(x) && is_sparse(y)) {
    check_alike(op, x, y, call)
    return(sparse_common(x, y))
  }
  if (op == "*" && is_sparse(y)) {
    return(scaled(op, y, x, call))
  }
  if (op %in% c("*", "/") && !is_sparse(y)) {
    return(scaled(op, x, y, call))
  }
  # Zeros stay zeros.
  if (op == "^" && is.numeric(y) && !is.object(y) && length(y) == 1L && isTRUE(y > 0)) {
    return(new_sparse(x@values^y, x@pattern))
  }
  dense_result(op, call)
}

negated_sparse <- function(x) new_sparse(-x@values, x@pattern)

dense_result <- function(op, call) {
  shown <- if (grepl("^[[:alpha:]]", op)) paste0(op, "()") else sprintf("`%s`", op)
  abort(sprintf("%s of a sparse matrix is not available, or would be a dense one", shown), "UNIMPLEMENTED",
    op = op, call = call, hint = "`as.matrix()` of it has all elements, zeros too; `hlo_nonzeros()` the entries."
  )
}

check_alike <- function(op, x, y, call) {
  if (!identical(dim(x), dim(y))) {
    abort(sprintf("`%s`: `e1` %s and `e2` %s do not fit", op, format(x), format(y)),
      op = op, operand = "e2", call = call
    )
  }
  if (x@values@dtype != y@values@dtype) {
    abort(sprintf("`%s`: `e2` has dtype %s, but `e1` has %s", op, y@values@dtype, x@values@dtype),
      op = op, operand = "e2", call = call
    )
  }
}

sparse_sum <- function(x, y, op) {
  if (x@pattern$symmetric != y@pattern$symmetric) {
    x <- as_general(x)
    y <- as_general(y)
  }
  if (op == "-") y <- negated_sparse(y)
  a <- x@pattern
  b <- y@pattern
  if (same_pattern(a, b)) {
    return(new_sparse(x@values + y@values, a))
  }
  sparse_from(
    c(a$i, b$i), c(pattern_columns(a), pattern_columns(b)), joined(list(x@values, y@values)), a$nrow, a$ncol,
    a$symmetric
  )
}

# The product element by element: entries that both have
sparse_common <- function(x, y) {
  if (x@pattern$symmetric != y@pattern$symmetric) {
    x <- as_general(x)
    y <- as_general(y)
  }
  pattern <- x@pattern
  if (same_pattern(pattern, y@pattern)) {
    return(new_sparse(x@values * y@values, pattern))
  }
  at <- match(pattern_keys(pattern), pattern_keys(y@pattern))
  both <- which(!is.na(at))
  values <- taken(x@values, both, 1L) * taken(y@values, at[both], 1L)
  sparse_from(pattern$i[both], pattern_columns(pattern)[both], values, pattern$nrow, pattern$ncol, pattern$symmetric)
}

# By a number, by one for each row, or by a dense matrix; zeros are taken to stay zeros whatever these are.
scaled <- function(op, x, by, call) {
  by <- as_value(by, if (op == "/") "e2" else "e1", new_type(x@values@dtype, integer()), call)
  by <- if (by@dtype == "pred" || is_integer(by@dtype)) converted(by, x@values@dtype) else by
  rank <- rank_of(by)
  if (length(by) == 1L) {
    by <- reshaped(by, integer())
  } else {
    x <- as_general(x)
    pattern <- x@pattern
    if (rank == 1L && length(by) == pattern$nrow) {
      by <- taken(by, pattern$i + 1L, 1L)
    } else if (identical(by@shape, dim(x))) {
      by <- taken(reshaped(by, length(by)), pattern$i * pattern$ncol + pattern_columns(pattern) + 1L, 1L)
    } else {
      abort(sprintf("`%s`: %s goes with a number, one for each row, or a matrix, not with %s", op, format(x),
        type_text(by)
      ), op = op, operand = "e2", call = call)
    }
  }
  new_sparse(if (op == "/") x@values / by else x@values * by, x@pattern)
}

# `%*%`, where one side is sparse
sparse_matrix_product <- function(x, y, call) {
  x <- sparse_operand(x)
  y <- sparse_operand(y)
  if (is_sparse(x) && is_sparse(y)) {
    check_inner(x, y, dim(x)[[2L]], dim(y)[[1L]], call)
    return(sparse_sparse_product(x, y))
  }
  a <- as_general(if (is_sparse(x)) x else y)
  other <- beside_values(a, if (is_sparse(x)) y else x, if (is_sparse(x)) c("x", "y") else c("y", "x"), "`%*%`", call)
  if (rank_of(other) > 2L) {
    abort(sprintf("`%%*%%`: a sparse matrix goes with a vector or a matrix, not with %s", type_text(other)),
      op = "%*%", operand = if (is_sparse(x)) "y" else "x", call = call
    )
  }
  if (is_sparse(x)) {
    if (rank_of(other) < 2L) other <- one_axis(other, length(other) != dim(a)[[2L]])
    check_inner(x, other, dim(a)[[2L]], other@shape[[1L]], call)
    return(sparse_product(a@pattern, a@values, other))
  }
  if (rank_of(other) < 2L) other <- one_axis(other, length(other) == dim(a)[[1L]])
  check_inner(other, y, other@shape[[2L]], dim(a)[[1L]], call)
  hlo_t(sparse_product(a@pattern, a@values, hlo_t(other), transpose = TRUE))
}

# What meets the values of a sparse matrix in a function, with their dtype. `names` are those of both.
beside_values <- function(a, other, names, shown, call) {
  dtype <- a@values@dtype
  other <- as_value(other, names[[2L]], new_type(dtype, integer()), call)
  met <- common(list(a@values, other), shown, names, call)[[2L]]
  if (met@dtype != dtype) refuse_mixture(c(dtype, met@dtype), names, shown, call)
  met
}

as_column_matrix <- function(x) {
  x <- as_value(x, "x")
  if (rank_of(x) < 2L) one_axis(x, FALSE) else x
}

check_inner <- function(x, y, columns, rows, call) {
  if (columns != rows) {
    shown <- function(x) if (is_sparse(x)) format(x) else type_text(x)
    abort(sprintf("`%%*%%`: `x` %s and `y` %s do not fit", shown(x), shown(y)),
      op = "%*%", operand = "y", call = call
    )
  }
}

# The sum of all elements
sparse_total <- function(x) hlo_sum(weighted(pattern_weights(x@pattern), x@values))

# solve(a, b)
sparse_equations <- function(a, b, call) {
  check_symmetric(a, "a", "solve()", call)
  if (is.null(b)) {
    abort("solve(): the inverse of a sparse matrix would be a dense one", "UNIMPLEMENTED",
      op = "solve", operand = "b", call = call,
      hint = "`hlo_sparse_inverse()` gives the inverse where the matrix has entries, `solve(as.matrix(a))` all of it."
    )
  }
  b <- sparse_operand(b)
  if (is_sparse(b)) {
    return(sparse_solutions(a, b, call))
  }
  b <- beside_values(a, b, c("a", "b"), "solve()", call)
  if (!rank_of(b)) b <- reshaped(b, 1L)
  n <- dim(a)[[1L]]
  if (!rank_of(b) %in% 1:2 || b@shape[[1L]] != n) {
    abort(sprintf("solve(): `b` must be a vector of %d elements or a matrix of as many rows, not %s", n, type_text(b)),
      op = "solve", operand = "b", call = call
    )
  }
  columns <- if (rank_of(b) == 1L) one_axis(b, FALSE) else b
  reshaped(sparse_solve(a@pattern, a@values, factor_of(a), columns), b@shape)
}

# ... for a sparse b: only rows that entries of `a` link with those of a column of `b` can be other than zero there.
sparse_solutions <- function(a, b, call) {
  reached <- reached_places(a@pattern, as_general(b)@pattern)
  x <- sparse_equations(a, as.matrix(b), call)
  columns <- dim(b)[[2L]]
  at <- reached$i * as.double(columns) + reached$j + 1
  sparse_from(reached$i, reached$j, taken(reshaped(x, length(x)), at, 1L), dim(a)[[1L]], columns)
}

reached_places <- function(a, b) {
  part <- connected_parts(a)
  touched <- unique(data.frame(part = part[b$i + 1L], column = pattern_columns(b)))
  rows <- split(seq_len(a$nrow) - 1L, part)[as.character(touched$part)]
  list(i = as.integer(unlist(rows)), j = rep(touched$column, lengths(rows)))
}

# The part of a symmetric matrix that each row belongs to, named by its first row: between parts there are no entries.
connected_parts <- function(pattern) {
  first <- seq_len(pattern$nrow)
  i <- pattern$i + 1L
  j <- pattern_columns(pattern) + 1L
  repeat {
    apart <- first[i] != first[j]
    if (!any(apart)) {
      return(first)
    }
    ends <- cbind(first[i], first[j])[apart, , drop = FALSE]
    first[pmax(ends[, 1L], ends[, 2L])] <- pmin(ends[, 1L], ends[, 2L])
    while (any(first != first[first])) first <- first[first]
  }
}

sparse_determinant <- function(x, logarithm, call) {
  check_symmetric(x, "x", "determinant()", call)
  modulus <- sparse_logdet(x@pattern, x@values, factor_of(x))
  list(modulus = if (logarithm) modulus else exp(modulus), sign = as_sign(filled(1, modulus)))
}
