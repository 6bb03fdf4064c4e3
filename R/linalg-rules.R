# What the derivative rules of linear algebra share. Matrices are the last two axes of a value,
# all others are batch axes. The rules are built of differentiable pieces only, so they have
# derivatives themselves.
#
# Where the formulas come from: M. Giles, "An extended collection of matrix derivative results
# for forward and reverse mode algorithmic differentiation", Oxford University Computing
# Laboratory, report NA-08/01 (2008); M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. Lawrence,
# "Auto-Differentiating Linear Algebra", arXiv:1710.08717 (2017); I. Murray, "Differentiation of
# the Cholesky decomposition", arXiv:1602.07527 (2016). Each file derives its own.

adjoint <- function(x) if (is_complex(x@dtype)) hlo_conj(hlo_t(x)) else hlo_t(x)

# Row minus column of every place of a matrix shaped like `x`
place <- function(x) {
  rank <- rank_of(x)
  hlo_iota("i32", x@shape, rank - 1L) - hlo_iota("i32", x@shape, rank)
}

# The places where `keep` holds of row minus column; zero elsewhere, also where x is NaN.
keep_where <- function(x, keep) hlo_select(keep(place(x)), x, filled(0, x))

upper <- function(x) keep_where(x, function(p) p <= 0L)
lower <- function(x) keep_where(x, function(p) p >= 0L)
strict_lower <- function(x) keep_where(x, function(p) p > 0L)
on_diagonal <- function(x) keep_where(x, function(p) p == 0L)

# Identity matrices shaped like `x`
identity_like <- function(x) hlo_convert(place(x) == 0L, x@dtype)

# The diagonals of square matrices, (..., n)
diagonal <- function(x) hlo_sum(on_diagonal(x), rank_of(x))

# A triangle with half of its diagonal: what is left of a Hermitian matrix so that it plus its
# adjoint is the matrix.
half_triangle <- function(x, uplo) {
  triangle <- if (uplo == "L") lower(x) else upper(x)
  triangle - on_diagonal(x) * 0.5
}

# The Hermitian matrix that a function sees which reads one triangle.
hermitian_of <- function(x, uplo) {
  half <- half_triangle(x, uplo)
  half + adjoint(half)
}

# A vector as a matrix of one row or of one column
one_axis <- function(x, row) reshaped(x, if (row) c(1L, length(x)) else c(length(x), 1L))

# Numbers (..., n) as matrices (..., m, n) that are constant down the columns, or (rows) (..., n, m)
# that are constant along the rows
each_column <- function(v, shape) {
  rank <- length(shape)
  hlo_broadcast(v, shape, c(seq_len(rank - 2L), rank))
}
each_row <- function(v, shape) hlo_broadcast(v, shape, seq_len(length(shape) - 1L))

# Real numbers in the dtype of a matrix
like_matrix <- function(v, x) if (v@dtype == x@dtype) v else hlo_convert(v, x@dtype)

# x[..., rows, columns] for the leading rows or columns
leading <- function(x, rows = NULL, columns = NULL) {
  rank <- rank_of(x)
  limit <- x@shape
  if (!is.null(rows)) limit[[rank - 1L]] <- rows
  if (!is.null(columns)) limit[[rank]] <- columns
  if (identical(as.integer(limit), x@shape)) x else sliced(x, rep(1L, rank), limit, rep(1L, rank))
}

# Differences between the numbers (..., n) of a matrix: [i, j] is v[j] - v[i], and 1 on the
# diagonal, so that its inverse less the identity is finite there, and so are its derivatives.
gaps <- function(v, shape) {
  gap <- each_column(v, shape) - each_row(v, shape)
  gap + identity_like(gap)
}
inverse_gaps <- function(gap) 1 / gap - identity_like(gap)

# Zeros after the last rows and columns, up to `shape`
pad_to <- function(x, shape) {
  if (identical(x@shape, shape)) x else hlo_pad(x, high = shape - x@shape)
}

# Systems with triangular matrices, upper ones and lower ones with ones on the diagonal
solve_upper <- function(a, b, left = TRUE, adjoint = FALSE) {
  transpose <- if (!adjoint) "none" else if (is_complex(a@dtype)) "adjoint" else "transpose"
  hlo_triangular_solve(a, b, left, lower = FALSE, transpose = transpose)
}
solve_unit_lower <- function(a, b) hlo_triangular_solve(a, b, lower = TRUE, unit_diagonal = TRUE)
