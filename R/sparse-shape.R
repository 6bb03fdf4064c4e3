# Parts of sparse matrices, and sparse matrices of parts: which entries go where is known.

# x[rows, columns] for positions from 1, in any order and as often as they come
sparse_part <- function(x, rows, columns) {
  # The same rows and columns of a symmetric matrix are one.
  symmetric <- x@pattern$symmetric && identical(as.integer(rows), as.integer(columns))
  x <- as_general(x)
  pattern <- x@pattern
  counts <- diff(pattern$p)[columns]
  entries <- sequence(counts, pattern$p[columns] + 1L)
  j <- rep(seq_along(columns), counts)
  # Each entry goes to all places of its row among `rows`.
  from <- pattern$i[entries] + 1L
  times <- tabulate(rows, pattern$nrow)
  begins <- c(0L, cumsum(times))
  copies <- times[from]
  i <- order(rows)[sequence(copies, begins[from] + 1L)]
  j <- rep(j, copies)
  entries <- rep(entries, copies)
  values_at <- function(kept) taken(x@values, entries[kept], 1L)
  sparse_at(i - 1L, j - 1L, values_at, length(rows), length(columns), symmetric)
}

# The elements at rows `i` and columns `j`, counted from 1, as a value of one axis
sparse_elements <- function(x, i, j) {
  x <- as_general(x)
  at <- match(i - 1L + as.double(x@pattern$nrow) * (j - 1L), pattern_keys(x@pattern))
  there <- which(!is.na(at))
  values <- taken(x@values, at[there], 1L)
  if (length(there) == length(at)) values else scattered_at(values, there - 1L, length(at))
}

# Zeros with `values` at places that count from 0
scattered_at <- function(values, at, size) {
  zeros <- filled(0, new_type(values@dtype, as.integer(size)))
  scattered("set", zeros, constant(at, "i32", length(at), "index"), values, 1L)
}

# A matrix of a program with an entry for each of its elements
all_entries <- function(x) {
  rows <- x@shape[[1L]]
  columns <- x@shape[[2L]]
  i <- rep(seq_len(rows) - 1L, columns)
  pattern <- new_pattern(rows, columns, i, rep(seq_len(columns) - 1L, each = rows), FALSE)
  new_sparse(reshaped(hlo_t(x), as.integer(rows * columns)), pattern)
}

# Matrices side by side (`axis` 2) or one below the other; vectors are columns or rows.
sparse_bound <- function(parts, axis, shown, call) {
  parts <- Filter(Negate(is.null), unname(parts))
  sparse <- vapply(parts, is_sparse, NA)
  dtype <- Find(is_sparse, parts)@values@dtype
  other <- 3L - axis
  size <- dim(Find(is_sparse, parts))[[other]]
  parts[!sparse] <- lapply(parts[!sparse], function(part) {
    part <- as_doubles(as_value(part, "...", new_type(dtype, integer()), call))
    if (rank_of(part) < 2L) {
      if (length(part) == 1L) part <- broadcast(reshaped(part, integer()), size, integer())
      part <- one_axis(part, axis == 1L)
    }
    all_entries(part)
  })
  parts <- lapply(parts, as_general)
  dims <- vapply(parts, dim, integer(2))
  alike <- all(vapply(parts, function(part) part@values@dtype == dtype, NA))
  if (any(dims[other, ] != size) || !alike) {
    abort(sprintf("%s: all must have %d %s and dtype %s, not %s", shown, size, c("rows", "columns")[[other]], dtype,
      toString(vapply(parts, format, ""))
    ), op = sub("()", "", shown, fixed = TRUE), operand = "...", call = call)
  }
  begins <- cumsum(dims[axis, ]) - dims[axis, ]
  places <- function(find, shifts) {
    unlist(Map(function(part, begin) find(part@pattern) + shifts * begin, parts, begins))
  }
  size <- replace(rep(size, 2L), axis, sum(dims[axis, ]))
  sparse_from(
    places(function(pattern) pattern$i, axis == 1L), places(pattern_columns, axis == 2L),
    joined(lapply(parts, function(part) part@values)), size[[1L]], size[[2L]]
  )
}

# Matrices along the diagonal of a larger one
sparse_blocks <- function(parts) {
  symmetric <- all(vapply(parts, function(part) part@pattern$symmetric, NA))
  if (!symmetric) parts <- lapply(parts, as_general)
  dims <- vapply(parts, dim, integer(2))
  places <- function(find, sizes) {
    unlist(Map(function(part, begin) find(part@pattern) + begin, parts, cumsum(sizes) - sizes))
  }
  sparse_from(
    places(function(pattern) pattern$i, dims[1L, ]), places(pattern_columns, dims[2L, ]),
    joined(lapply(parts, function(part) part@values)), sum(dims[1L, ]), sum(dims[2L, ]), symmetric
  )
}

# Kronecker's product
sparse_kronecker <- function(x, y) {
  symmetric <- x@pattern$symmetric && y@pattern$symmetric
  x <- as_general(x)
  y <- as_general(y)
  in_x <- rep(seq_along(x@pattern$i), each = length(y@pattern$i))
  in_y <- rep(seq_along(y@pattern$i), times = length(x@pattern$i))
  rows <- y@pattern$nrow
  columns <- y@pattern$ncol
  i <- x@pattern$i[in_x] * rows + y@pattern$i[in_y]
  j <- pattern_columns(x@pattern)[in_x] * columns + pattern_columns(y@pattern)[in_y]
  values_at <- function(kept) taken(x@values, in_x[kept], 1L) * taken(y@values, in_y[kept], 1L)
  sparse_at(i, j, values_at, x@pattern$nrow * rows, x@pattern$ncol * columns, symmetric)
}

# The entries for which `keep` holds of rows and columns, of a matrix of which both triangles are stored
sparse_where <- function(x, keep) {
  pattern <- x@pattern
  columns <- pattern_columns(pattern)
  kept <- which(keep(pattern$i, columns))
  sparse_from(pattern$i[kept], columns[kept], taken(x@values, kept, 1L), pattern$nrow, pattern$ncol)
}

# The symmetric matrix with the lower triangle of a square one
lower_as_symmetric <- function(x) {
  pattern <- x@pattern
  values_at <- function(kept) taken(x@values, kept, 1L)
  sparse_at(pattern$i, pattern_columns(pattern), values_at, pattern$nrow, pattern$ncol, TRUE)
}
