# Elements of sparse matrices replaced by others: where the new ones stand is known.

# A matrix of other elements at rows `i` and columns `j`, which count from 0; the last of several at one place stays.
# Those for which `entry` holds are entries, and have `values` in their order; the rest are zeros from now on. Of a
# symmetric matrix what is above the diagonal is left out.
with_elements <- function(x, i, j, entry, values) {
  pattern <- x@pattern
  keys <- i + as.double(pattern$nrow) * j
  stored <- if (pattern$symmetric) i >= j else TRUE
  kept <- which(entry & stored & !duplicated(keys, fromLast = TRUE))
  rest <- which(!pattern_keys(pattern) %in% keys)
  parts <- list(taken(x@values, rest, 1L), taken(values, cumsum(entry)[kept], 1L))
  both <- common(parts, "`[<-`", c("x", "value"), NULL)
  sparse_from(
    c(pattern$i[rest], i[kept]), c(pattern_columns(pattern)[rest], j[kept]), joined(both), pattern$nrow, pattern$ncol,
    pattern$symmetric
  )
}

# x[i, j] <- value
sparse_assigned <- function(x, given, value, call) {
  cells <- assigned_cells(x, given, call)
  value <- sparse_operand(value)
  # A part of as many rows as columns at the same places is symmetric where the new elements are.
  alike <- is_sparse(value) && value@pattern$symmetric || length(value) == 1L
  if (!cells$mirrored || !alike) x <- as_general(x)
  count <- length(cells$i)
  if (is_sparse(value)) {
    new <- sparse_cells(value, cells, call)
  } else {
    # Zeros that are known are no entries.
    known <- is.numeric(value) && !is_value(value)
    entry <- if (known && length(value) && count %% length(value) == 0) rep_len(is.na(value) | value != 0, count)
    new <- list(entry = if (is.null(entry)) rep(TRUE, count) else entry)
    value <- as_column(as_value(value, "value", new_type(x@values@dtype, integer()), call))
    new$values <- taken(refilled(value, count, call), which(new$entry), 1L)
  }
  with_elements(x, cells$i, cells$j, new$entry, new$values)
}

# The places, by columns, that indices of a matrix say
assigned_cells <- function(x, given, call) {
  if (length(given) == 1L && is_index_matrix(given[[1L]], dim(x))) {
    at <- matrix_positions(given[[1L]], dim(x), call) - 1
    if (anyNA(at)) {
      abort("positions that are replaced must not be NA", operand = "...", call = call)
    }
    return(list(i = as.integer(at %% nrow(x)), j = as.integer(at %/% nrow(x)), mirrored = FALSE))
  }
  at <- index_positions(x, given, call)
  list(
    i = rep(at[[1L]], length(at[[2L]])) - 1L, j = rep(at[[2L]], each = length(at[[1L]])) - 1L, dim = lengths(at),
    mirrored = x@pattern$symmetric && identical(at[[1L]], at[[2L]])
  )
}

# The elements of a sparse matrix as those of a part of another one
sparse_cells <- function(value, cells, call) {
  if (!identical(dim(value), cells$dim)) {
    shown <- if (is.null(cells$dim)) "elements one by one" else paste(cells$dim, collapse = " x ")
    abort(sprintf("%s does not fit where it is to replace %s", format(value), shown), operand = "value", call = call)
  }
  value <- as_general(value)
  at <- match(seq_along(cells$i) - 1L, pattern_keys(value@pattern))
  list(entry = !is.na(at), values = taken(value@values, at[!is.na(at)], 1L))
}

# diag(x) <- value
sparse_diagonal_assigned <- function(x, value, call) {
  count <- min(dim(x))
  if (!length(value) %in% c(1L, count)) {
    abort(sprintf("diag<-: `value` must have 1 or %d elements, not %.0f", count, length(value)),
      operand = "value", call = call
    )
  }
  at <- seq_len(count)
  value <- as_value(value, "value", new_type(x@values@dtype, integer()), call)
  with_elements(x, at - 1L, at - 1L, rep(TRUE, count), refilled(as_column(value), count, call))
}
