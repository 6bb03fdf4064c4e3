# Where a sparse matrix has entries: known while a program is written. A pattern has `nrow` and `ncol`, `p`, where each
# column begins, and `i`, the row of each entry, ascending in a column; all count from 0. Of a `symmetric` one only the
# lower triangle counts. `made` keeps what is found out about it: ops, the text of its attributes, the analysis of its
# factor.

new_pattern <- function(nrow, ncol, i, j, symmetric) {
  pattern_of_columns(nrow, ncol, c(0L, cumsum(tabulate(j + 1L, ncol))), i, symmetric)
}

pattern_of_columns <- function(nrow, ncol, p, i, symmetric) {
  pattern <- new.env(parent = emptyenv())
  pattern$nrow <- as.integer(nrow)
  pattern$ncol <- as.integer(ncol)
  pattern$p <- p
  pattern$i <- as.integer(i)
  pattern$symmetric <- symmetric
  pattern$made <- new.env(parent = emptyenv())
  pattern
}

# A pattern as plain data, of which pattern_of_columns() makes one again
columns_of_pattern <- function(pattern) as.list(pattern)[c("nrow", "ncol", "p", "i", "symmetric")]

pattern_fact <- function(pattern, name, find) {
  found <- pattern$made[[name]]
  if (is.null(found)) {
    found <- find()
    pattern$made[[name]] <- found
  }
  found
}

# The column of each entry
pattern_columns <- function(pattern) {
  pattern_fact(pattern, "columns", function() rep(seq_len(pattern$ncol) - 1L, diff(pattern$p)))
}

# Which entries are on the diagonal
diagonal_entries <- function(pattern) which(pattern$i == pattern_columns(pattern))

same_pattern <- function(a, b) {
  identical(a, b) || (
    a$nrow == b$nrow && a$symmetric == b$symmetric && identical(a$p, b$p) && identical(a$i, b$i)
  )
}

# A string that is the same for patterns that are
pattern_key <- function(pattern) {
  # Additions make plain vectors: sequences that R keeps by their ends have another hash.
  pattern_fact(pattern, "key", function() {
    rlang::hash(list(pattern$nrow, pattern$ncol, pattern$p + 0L, pattern$i + 0L, pattern$symmetric))
  })
}

# As structures of trees show it: patterns of one size differ in their keys.
pattern_text <- function(pattern) {
  sprintf("sparse<%d x %d, %d entries, %s>", pattern$nrow, pattern$ncol, length(pattern$i),
    substr(pattern_key(pattern), 1L, 6L)
  )
}

# In trees a sparse matrix is a branch with one leaf, `values`: values of a program, numbers, types, or whatever a tree
# has at its leaves.
new_sparse <- function(values, pattern) new("xlaffi_sparse", values = values, pattern = pattern)

# A tree in which sparse matrices are the arrays of their entries
unwrapped <- function(x) {
  if (is_sparse(x)) x@values else if (is_branch(x)) lapply(x, unwrapped) else x
}

# For each leaf of a tree the pattern whose entries it has, or NULL
leaf_patterns <- function(x) {
  if (is.null(x)) {
    list()
  } else if (is_sparse(x)) {
    rep(list(x@pattern), length(tree_leaves(x@values)))
  } else if (is_branch(x)) {
    do.call(c, c(list(list()), lapply(unname(x), leaf_patterns)))
  } else {
    list(NULL)
  }
}

has_sparse <- function(x) is_sparse(x) || (is_branch(x) && any(vapply(x, has_sparse, NA)))

is_sparse_matrix <- function(x) {
  isS4(x) && identical(attr(class(x), "package"), "Matrix") && requireNamespace("Matrix", quietly = TRUE) &&
    (methods::is(x, "sparseMatrix") || methods::is(x, "diagonalMatrix"))
}

# What an argument or a result of a program stands for: data, or a sparse matrix with its entries.
program_data <- function(x) if (is_sparse_matrix(x)) sparse_data(x) else r_data(x)

# A sparse matrix of the package Matrix with its entries, doubles in the order of a pattern. Equal patterns that came
# lately are one.
sparse_data <- function(x) {
  parts <- if (methods::is(x, "diagonalMatrix")) diagonal_parts(x) else column_parts(x)
  source <- parts$source
  found <- Find(function(known) identical(known$source, source), pattern_sources$known)
  if (is.null(found)) {
    found <- c(list(source = source), source_pattern(source))
    same <- Find(function(known) same_pattern(known$pattern, found$pattern), pattern_sources$known)
    if (!is.null(same)) found$pattern <- same$pattern
    pattern_sources$known <- utils::head(c(list(found), pattern_sources$known), most_sources)
  }
  new_sparse(if (is.null(found$order)) parts$numbers else parts$numbers[found$order], found$pattern)
}

pattern_sources <- new.env(parent = emptyenv())

most_sources <- 16L

diagonal_parts <- function(x) {
  n <- x@Dim[[1L]]
  list(
    source = list("symmetric", c(n, n), seq.int(0L, n), seq_len(n) - 1L),
    numbers = if (x@diag == "U") rep(1, n) else as.double(x@x)
  )
}

column_parts <- function(x) {
  if (!methods::is(x, "CsparseMatrix")) x <- methods::as(x, "CsparseMatrix")
  # The ones on the diagonal of some triangular matrices are not stored.
  if (methods::is(x, "triangularMatrix")) x <- Matrix::diagU2N(x)
  kind <- if (methods::is(x, "symmetricMatrix")) paste("symmetric", if (x@uplo == "U") "upper") else "general"
  list(
    source = list(trimws(kind), x@Dim, x@p, x@i),
    numbers = if (methods::.hasSlot(x, "x")) as.double(x@x) else rep(1, length(x@i))
  )
}

# The pattern, and the order of its entries among those of the matrix, NULL where it is the same
source_pattern <- function(source) {
  dims <- source[[2L]]
  p <- source[[3L]]
  i <- source[[4L]]
  if (source[[1L]] != "symmetric upper") {
    return(list(pattern = pattern_of_columns(dims[[1L]], dims[[2L]], p, i, source[[1L]] == "symmetric")))
  }
  columns <- rep(seq_len(dims[[2L]]) - 1L, diff(p))
  ordered <- order(i, columns)
  list(order = ordered, pattern = new_pattern(dims[[1L]], dims[[2L]], columns[ordered], i[ordered], TRUE))
}

# The tree of what a program gave, with matrices of the package Matrix for the sparse ones
with_matrices <- function(x) {
  if (is_sparse(x)) matrix_of(x) else if (is_branch(x)) lapply(x, with_matrices) else x
}

matrix_of <- function(x) {
  if (!requireNamespace("Matrix", quietly = TRUE)) {
    abort("a sparse matrix as a result needs the package Matrix", "FAILED_PRECONDITION",
      hint = "`hlo_nonzeros()` gives the entries.", call = NULL
    )
  }
  pattern <- x@pattern
  numbers <- x@values
  if (inherits(numbers, c("xlaffi_buffer", "xlaffi_sharded"))) numbers <- as_array(numbers)
  parts <- list(i = pattern$i, p = pattern$p, Dim = c(pattern$nrow, pattern$ncol), x = as.double(numbers))
  if (pattern$symmetric) do.call(new, c("dsCMatrix", parts, uplo = "L")) else do.call(new, c("dgCMatrix", parts))
}
