# Products of a sparse matrix with dense ones, and a product of dense ones at the entries of a pattern. Each is the
# other's derivative.

# A X, or t(A) X, for `values` (..., nnz) of A and X (..., rows, k)
sparse_product <- function(pattern, values, x, transpose = FALSE) {
  product_op(pattern, transpose)(values, x)
}

product_op <- function(pattern, transpose) {
  call <- function(values, x) {
    rows <- if (transpose) pattern$ncol else pattern$nrow
    result <- pattern_call(pattern, "sparse_matmul", list(values, x), stacked_type(x, c(rows, x@shape[[rank_of(x)]])),
      c(FALSE, TRUE), TRUE, list(transpose = transpose),
      square = FALSE
    )
    with_sparsity(result, product_dependence(pattern, transpose))
  }
  pattern_op(pattern, "%*%", paste("product", transpose), call,
    jvp = function(primals, results, tangents) {
      hlo_add(
        if (!is.null(tangents$values)) sparse_product(pattern, tangents$values, primals$x, transpose),
        if (!is.null(tangents$x)) sparse_product(pattern, primals$values, tangents$x, transpose)
      )
    },
    transpose = function(primals, cotangents) {
      if (is.null(primals$x)) {
        return(list(values = NULL, x = sparse_product(pattern, primals$values, cotangents, !transpose)))
      }
      both <- if (transpose) list(primals$x, cotangents) else list(cotangents, primals$x)
      list(values = sampled_product(pattern, both[[1L]], both[[2L]]), x = NULL)
    }
  )
}

# U t(V) at the entries of the pattern
sampled_product <- function(pattern, u, v) sampled_op(pattern)(u, v)

sampled_op <- function(pattern) {
  call <- function(u, v) {
    result <- pattern_call(pattern, "sparse_sampled_product", list(u, v), stacked_type(u, length(pattern$i)),
      c(TRUE, TRUE), FALSE,
      square = FALSE
    )
    with_sparsity(result, sampled_dependence(pattern))
  }
  pattern_op(pattern, "sampled product", "sampled", call,
    jvp = function(primals, results, tangents) {
      hlo_add(
        if (!is.null(tangents$u)) sampled_product(pattern, tangents$u, primals$v),
        if (!is.null(tangents$v)) sampled_product(pattern, primals$u, tangents$v)
      )
    },
    transpose = function(primals, cotangents) {
      if (is.null(primals$u)) {
        return(list(u = sparse_product(pattern, cotangents, primals$v), v = NULL))
      }
      list(u = NULL, v = sparse_product(pattern, cotangents, primals$u, TRUE))
    }
  )
}

# The product of two sparse matrices: which entries meet is known. Of a `symmetric` one the lower triangle is computed.
sparse_sparse_product <- function(a, b, symmetric = FALSE) {
  a <- as_general(a)
  b <- as_general(b)
  at <- product_places(a@pattern, b@pattern)
  values_at <- function(kept) taken(a@values, at$a[kept], 1L) * taken(b@values, at$b[kept], 1L)
  sparse_at(a@pattern$i[at$a], pattern_columns(b@pattern)[at$b], values_at, a@pattern$nrow, b@pattern$ncol, symmetric)
}

# The entries of two matrices that are multiplied with each other in their product
product_places <- function(a, b) {
  counts <- diff(a$p)[b$i + 1L]
  list(a = sequence(counts, a$p[b$i + 1L] + 1L), b = rep(seq_along(b$i), counts))
}

# A custom call with a rule of its own for what its results depend on
with_sparsity <- function(result, rule) {
  result@node$params$sparsity <- rule
  result
}

# Elements of matrices (..., rows, k) as an array of k, rows and batch
stacked_rows <- function(ids, shape) {
  last <- length(shape)
  array(ids, c(shape[[last]], shape[[last - 1L]], prod(shape[seq_len(last - 2L)])))
}

product_dependence <- function(pattern, transpose) {
  function(node, given, sets, known) {
    shape <- node$types[[1L]]@shape
    count <- as.integer(prod(shape))
    j <- pattern_columns(pattern) + 1L
    to <- if (transpose) j else pattern$i + 1L
    from <- if (transpose) pattern$i + 1L else j
    group <- stacked_rows(seq_len(count), shape)[, to, , drop = FALSE]
    by_x <- if (!is.null(given[[2L]])) {
      met <- stacked_rows(given[[2L]], node$inputs[[2L]]@shape)[, from, , drop = FALSE]
      grouped_sets(sets, as.vector(met), as.vector(group), count)
    }
    by_values <- if (!is.null(given[[1L]])) {
      grouped_sets(sets, rep(given[[1L]], each = dim(group)[[1L]]), as.vector(group), count)
    }
    list(united(sets, by_values, by_x))
  }
}

sampled_dependence <- function(pattern) {
  function(node, given, sets, known) {
    shape <- node$types[[1L]]@shape
    count <- as.integer(prod(shape))
    parts <- Map(function(ids, input, at) {
      if (!is.null(ids)) {
        met <- stacked_rows(ids, input@shape)[, at + 1L, , drop = FALSE]
        grouped_sets(sets, as.vector(met), rep(seq_len(count), each = dim(met)[[1L]]), count)
      }
    }, given, node$inputs, list(pattern$i, pattern_columns(pattern)))
    list(all_united(sets, parts))
  }
}
