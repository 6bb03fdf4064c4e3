# diag(), outer(), kronecker().

overload_diag <- function(x = 1, nrow, ncol, names = TRUE) {
  call <- method_call("diag")
  if (is_sparse(x)) {
    return(sparse_diagonal(x))
  }
  x <- as_value(x, "x", call = call)
  if (length(x@shape) == 2L) {
    if (!missing(nrow) || !missing(ncol)) {
      abort("diag(): `nrow` and `ncol` go with vectors only, and `x` is a matrix", operand = "nrow", call = call)
    }
    return(diagonal_of(x))
  }
  if (length(x@shape) > 2L) {
    abort(sprintf("diag(): `x` must be a vector or a matrix, not %s", type_text(x)), operand = "x", call = call)
  }
  x <- as_column(x)
  if (length(x) == 1L && missing(nrow) && missing(ncol)) {
    abort("diag() of one number is the identity of that size, which must be known while the program is written",
      operand = "x", hint = "`diag(x, 1)` is the matrix of that number.", call = call, unknown = TRUE
    )
  }
  rows <- if (!missing(nrow)) check_count(nrow, "nrow", call) else if (missing(ncol)) length(x) else NULL
  columns <- if (missing(ncol)) rows else check_count(ncol, "ncol", call)
  rows <- if (is.null(rows)) length(x) else rows
  if (!length(x) && (rows || columns)) {
    abort("diag(): `x` has no elements", operand = "x", call = call)
  }
  diagonal_matrix(x, rows, columns)
}

shape_overload("diag", overload_diag, differs = "`diag(x)` of one number that is a value is an error: give `nrow`.")

# By rows the diagonal comes in equal steps.
diagonal_of <- function(x) {
  count <- min(x@shape)
  step <- x@shape[[2L]] + 1L
  sliced(reshaped(x, as.integer(length(x))), 1L, if (count) (count - 1L) * step + 1L else 0L, step)
}

diagonal_matrix <- function(x, rows, columns) {
  shape <- as.integer(c(rows, columns))
  count <- min(shape)
  if (!count) {
    return(constant(if (x@dtype == "pred") FALSE else 0, x@dtype, shape, "x"))
  }
  zero <- constant(if (x@dtype == "pred") FALSE else 0, x@dtype, integer(), "x")
  x <- cycled(x, count)
  rest <- prod(shape) - ((count - 1) * (columns + 1) + 1)
  reshaped(padded(x, zero, 0L, as.integer(rest), as.integer(columns)), shape)
}

shape_overload("diag<-", function(x, value) {
  call <- quote(`diag<-`(x, value))
  both <- common(list(x, value), "diag<-", c("x", "value"), call)
  given <- as_value(x, "x", call = call)
  x <- both[[1L]]
  if (length(x@shape) != 2L) {
    abort(sprintf("diag<-: `x` must be a matrix, not %s", type_text(x)), operand = "x", call = call)
  }
  count <- min(x@shape)
  value <- as_column(both[[2L]])
  if (!length(value) %in% c(1L, count)) {
    abort(sprintf("diag<-: `value` must have 1 or %d elements, not %d", count, length(value)),
      operand = "value", call = call
    )
  }
  if (!count) {
    return(given)
  }
  here <- hlo_iota("i32", x@shape, 1L)
  here <- compared(here, hlo_iota("i32", x@shape, 2L), "EQ", "diag<-")
  longer <- if (length(value) == 1L) value else filling(value, x@shape[[1L]], call)
  longer <- if (length(longer) == 1L) reshaped(longer, integer()) else longer
  selected(here, broadcast(longer, x@shape, seq_along(longer@shape)), x)
})

overload_outer <- function(X, Y, FUN = "*", ...) {
  call <- method_call("outer")
  if (is_sparse(X) || is_sparse(Y)) dense_result("outer", call)
  f <- products_as_doubles(FUN, called_function(FUN))
  if (!is_value(X) && !is_value(Y)) {
    # The numbers stay R's where `FUN` takes no value from elsewhere.
    z <- f(rep(X, times = length(Y)), rep(Y, rep.int(length(X), length(Y))), ...)
    if (!is_value(z)) {
      return(base::outer(X, Y, function(...) z))
    }
    f <- function(...) z
  }
  outer_of(X, Y, function(x, y) f(x, y, ...), "outer()", call)
}

# `f` of all pairs, in R's order, as R does it: one call with vectors.
outer_of <- function(x, y, f, shown, call) {
  both <- list(value_beside(x, y, "X", call), value_beside(y, x, "Y", call))
  x <- both[[1L]]
  y <- both[[2L]]
  sizes <- as.integer(c(length(y), length(x)))
  spread <- function(part, axis) {
    reshaped(broadcast(as_column(part), sizes, axis), flat_length(sizes))
  }
  z <- f(spread(x, 2L), spread(y, 1L))
  dim <- c(dim_of(x), dim_of(y))
  z <- as_value(z, "FUN", call = call)
  if (length(z) != prod(dim)) {
    abort(sprintf("%s: `FUN` must give %.0f elements, one for each pair, not %s", shown, prod(dim), type_text(z)),
      operand = "FUN", call = call
    )
  }
  from_column(as_column(z), dim)
}

# One number is a vector of length one.
dim_of <- function(x) if (length(x@shape)) x@shape else 1L

# R multiplies matrices for "*", in doubles.
products_as_doubles <- function(name, f) {
  if (identical(name, "*")) function(x, y) 1 * x * y else f
}

shape_overload("outer", overload_outer, differs = "Names are dropped.", functional = TRUE)
shape_overload("%o%", function(X, Y) overload_outer(X, Y), differs = "Names are dropped.")

overload_kronecker <- function(X, Y, FUN = "*", make.dimnames = FALSE, ...) {
  call <- method_call("kronecker")
  f <- products_as_doubles(FUN, called_function(FUN))
  kronecker_of(X, Y, function(x, y) f(x, y, ...), call)
}

kronecker_of <- function(x, y, f, call) {
  both <- list(value_beside(x, y, "X", call), value_beside(y, x, "Y", call))
  x <- both[[1L]]
  y <- both[[2L]]
  rank <- max(length(x@shape), length(y@shape), 1L)
  longer <- function(x) reshaped(x, c(x@shape, rep(1L, rank - length(x@shape))))
  x <- longer(x)
  y <- longer(y)
  pairs <- outer_of(x, y, f, "kronecker()", call)
  # By rows the axes of `y` run faster than those of `x`.
  together <- transposed(pairs, as.vector(rbind(seq_len(rank), rank + seq_len(rank))))
  reshaped(together, x@shape * y@shape)
}

shape_overload("kronecker", overload_kronecker, differs = "Names are dropped.")
shape_overload("%x%", function(X, Y) overload_kronecker(X, Y), differs = "Names are dropped.")
