# Patterns in programs: what handlers are told of one, and matrices and ops of one pattern. base-pattern.R has patterns.

# A number for each place of a matrix, in R's order
pattern_keys <- function(pattern) pattern$i + as.double(pattern$nrow) * pattern_columns(pattern)

# What handlers of symmetric matrices, and those of products, are told of a pattern. It is in the text of a program for
# each call, and twice in what XLA compiles of it: the numbers themselves would be five times as long.
pattern_attributes <- function(pattern, square) {
  written <- pattern_fact(pattern, "attributes", function() {
    list(colptr = differences_text(pattern$p), rowind = differences_text(pattern$i))
  })
  size <- if (square) {
    list(n = raw_attribute(pattern$nrow, "i64"))
  } else {
    list(nrow = raw_attribute(pattern$nrow, "i64"), ncol = raw_attribute(pattern$ncol, "i64"))
  }
  c(size, written)
}

base64_digits <- c(LETTERS, letters, 0:9, "+", "/")

# The differences of neighbours, the first from 0, in Base64 VLQ, as source maps have them: digits of five bits, the
# lowest first, with 32 added where another one follows; the lowest bit of a number is its sign.
differences_text <- function(numbers) {
  change <- diff(c(0, numbers))
  rest <- 2 * abs(change) + (change < 0)
  of <- seq_along(rest)
  digits <- positions <- list()
  while (length(of)) {
    low <- rest %% 32
    rest <- rest %/% 32
    digits <- c(digits, list(low + 32 * (rest > 0)))
    positions <- c(positions, list(of))
    of <- of[rest > 0]
    rest <- rest[rest > 0]
  }
  # The sort is stable.
  paste(base64_digits[unlist(digits)[order(as.integer(unlist(positions)))] + 1], collapse = "")
}

# The order of elimination of a symmetric pattern and what follows from it; see the crate `sparse`.
pattern_analysis <- function(pattern) {
  pattern_fact(pattern, "analysis", function() {
    check(.Call(wrap__sparse_analyse, pattern$nrow, pattern$p, pattern$i))
  })
}

# How often each stored entry stands in the whole matrix
pattern_weights <- function(pattern) {
  if (pattern$symmetric) ifelse(pattern$i == pattern_columns(pattern), 1, 2) else rep(1, length(pattern$i))
}

# A matrix of `values` at rows `i` and columns `j`, which count from 0 and come in any order; where several fall on one
# place they are summed.
sparse_from <- function(i, j, values, nrow, ncol, symmetric = FALSE) {
  ordered <- order(j, i)
  i <- i[ordered]
  j <- j[ordered]
  first <- !(duplicated(i + as.double(nrow) * j))
  pattern <- new_pattern(nrow, ncol, i[first], j[first], symmetric)
  if (all(first)) {
    if (is.unsorted(ordered)) values <- taken(values, ordered, 1L)
  } else {
    at <- integer(length(i))
    at[ordered] <- cumsum(first) - 1L
    zeros <- filled(0, new_type(values@dtype, sum(first)))
    values <- scattered("add", zeros, constant(at, "i32", length(at), "index"), values, 1L)
  }
  new_sparse(values, pattern)
}

# The same of rows and columns in both triangles; of a symmetric matrix those of the lower one are kept. `values_at`
# gives the values at some of these places.
sparse_at <- function(i, j, values_at, nrow, ncol, symmetric) {
  kept <- if (symmetric) which(i >= j) else seq_along(i)
  sparse_from(i[kept], j[kept], values_at(kept), nrow, ncol, symmetric)
}

# The same matrix with both triangles stored
as_general <- function(x) {
  pattern <- x@pattern
  if (!pattern$symmetric) {
    return(x)
  }
  map <- pattern_fact(pattern, "general", function() {
    j <- pattern_columns(pattern)
    below <- which(pattern$i != j)
    rows <- c(pattern$i, j[below])
    columns <- c(j, pattern$i[below])
    ordered <- order(columns, rows)
    list(
      at = c(seq_along(j), below)[ordered],
      pattern = new_pattern(pattern$nrow, pattern$ncol, rows[ordered], columns[ordered], FALSE)
    )
  })
  new_sparse(taken(x@values, map$at, 1L), map$pattern)
}

# An op on the values of matrices of one pattern, made once for it. A batch of its arguments is one of more axes.
pattern_op <- function(pattern, name, key, call, jvp, transpose = NULL) {
  pattern_fact(pattern, paste("op", key), function() {
    ffi_op(call, jvp, batch_in_front(call), transpose, name = name)
  })
}

# A call of a handler. `matrices` says which operands, and `given` whether the first result, are column-major matrices.
pattern_call <- function(pattern, target, operands, results, matrices, given, attributes = list(), square = TRUE) {
  if (!on_cpu()) {
    abort(sprintf("%s: sparse matrices are for the CPU; there is no handler for %s", target, default_platform()),
      "UNIMPLEMENTED", op = target, call = NULL
    )
  }
  layouts <- function(columns, count) lapply(seq_len(count), function(k) if (k %in% columns) "column")
  hlo_custom_call(private_target(target), operands, results, c(attributes, pattern_attributes(pattern, square)),
    operand_layouts = layouts(which(matrices), length(operands)),
    result_layouts = layouts(if (given) 1L, length(tree_leaves(results)))
  )
}
