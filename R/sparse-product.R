# Products of a sparse matrix with dense ones, and a product of dense ones at the entries of a pattern. Each is the
# other's derivative.

# A X, or t(A) X, for `values` (..., nnz) of A and X (..., rows, k)
sparse_product <- function(pattern, values, x, transpose = FALSE) {
  product_op(pattern, transpose)(values, x)
}

product_op <- function(pattern, transpose) {
  call <- function(values, x) {
    rows <- if (transpose) pattern$ncol else pattern$nrow
    pattern_call(pattern, "sparse_matmul", list(values, x), stacked_type(x, c(rows, x@shape[[rank_of(x)]])),
      c(FALSE, TRUE), TRUE, list(transpose = transpose),
      square = FALSE
    )
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
    pattern_call(pattern, "sparse_sampled_product", list(u, v), stacked_type(u, length(pattern$i)), c(TRUE, TRUE),
      FALSE,
      square = FALSE
    )
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
  i <- a@pattern$i[at$a]
  j <- pattern_columns(b@pattern)[at$b]
  kept <- if (symmetric) which(i >= j) else seq_along(i)
  values <- taken(a@values, at$a[kept], 1L) * taken(b@values, at$b[kept], 1L)
  sparse_from(i[kept], j[kept], values, a@pattern$nrow, b@pattern$ncol, symmetric)
}

# The entries of two matrices that are multiplied with each other in their product
product_places <- function(a, b) {
  counts <- diff(a$p)[b$i + 1L]
  list(a = sequence(counts, a$p[b$i + 1L] + 1L), b = rep(seq_along(b$i), counts))
}
