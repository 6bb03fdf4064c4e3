# The Cholesky factor of a sparse matrix A, a buffer that handlers read (see the crate `sparse`), and what is computed
# with it: solutions, the logarithm of the determinant, and the inverse at the entries of A. Derivatives never go
# through the factor: what is computed with it has rules in terms of A, of which it is another form.
#
# With W for what counts each entry off the diagonal twice, log det(A + D) changes by sum(W * D * inverse of A). The
# k-th derivative of the inverse in directions D1, ..., Dk, multiplied with W * D0 and summed up, is symmetric in all of
# D0, ..., Dk, as it is a derivative of the logarithm of the determinant. So one handler gives the derivatives of every
# order, and their transposes.

# `a` are values (..., nnz).
sparse_factor <- function(pattern, a) {
  op <- pattern_op(pattern, "sparse Cholesky factor", "factor", function(a) {
    length <- pattern_analysis(pattern)$factor_length
    pattern_call(pattern, "sparse_cholesky", list(a),
      list(factor = stacked_type(a, length, less = 1L), info = stacked_type(a, integer(), "i32", less = 1L)),
      FALSE, FALSE
    )
  }, jvp = function(primals, results, tangents) list(factor = NULL, info = NULL))
  op(a)$factor
}

# A X = B for B (..., n, k)
sparse_solve <- function(pattern, a, factor, b) {
  op <- pattern_op(pattern, "solve", "solve", function(a, factor, b) {
    pattern_call(pattern, "sparse_solve", list(factor, b), type_of(b), c(FALSE, TRUE), TRUE)
  }, jvp = function(primals, results, tangents) {
    change <- tangents$b
    if (!is.null(tangents$a)) {
      pull <- symmetric_product(pattern, tangents$a, results)
      change <- if (is.null(change)) -pull else change - pull
    }
    sparse_solve(pattern, primals$a, primals$factor, change)
  }, transpose = function(primals, cotangents) {
    list(a = NULL, factor = NULL, b = sparse_solve(pattern, primals$a, primals$factor, cotangents))
  })
  op(a, factor, b)
}

symmetric_product <- function(pattern, a, x) {
  whole <- as_general(new_sparse(a, pattern))
  sparse_product(whole@pattern, whole@values, x)
}

# The logarithm of the determinant, (...)
sparse_logdet <- function(pattern, a, factor) {
  op <- pattern_op(pattern, "determinant", "logdet", function(a, factor) {
    last <- rank_of(factor)
    on_diagonal <- taken(factor, pattern_analysis(pattern)$diagonal + 1L, last)
    hlo_sum(log(on_diagonal), last) * 2
  }, jvp = function(primals, results, tangents) {
    inverse <- sparse_inverse(pattern, primals$a, primals$factor)
    hlo_sum(weighted(pattern_weights(pattern), inverse) * tangents$a, rank_of(tangents$a))
  })
  op(a, factor)
}

weighted <- function(weights, x) {
  x * hlo_broadcast(constant(weights, x@dtype, length(weights), "weights"), x@shape, rank_of(x))
}

# The inverse at the entries of A, (..., nnz)
sparse_inverse <- function(pattern, a, factor) {
  op <- pattern_op(pattern, "sparse inverse", "inverse", function(a, factor) {
    pattern_call(pattern, "sparse_inverse", list(factor), type_of(a), FALSE, FALSE)
  }, jvp = function(primals, results, tangents) inverse_derivative(pattern, list(primals$a, tangents$a)))
  op(a, factor)
}

highest_order <- 4L

# `arguments` are the values of A and of the directions.
inverse_derivative <- function(pattern, arguments) {
  count <- length(arguments) - 1L
  if (count > highest_order) {
    abort(
      sprintf("the inverse of a sparse matrix has derivatives up to order %d here, not %d", highest_order, count),
      "UNIMPLEMENTED", op = "determinant", call = NULL
    )
  }
  call <- function(...) {
    pattern_call(pattern, "sparse_inverse_derivative", list(...), type_of(..1), rep(FALSE, ...length()), FALSE)
  }
  op <- pattern_op(pattern, "sparse inverse", paste("derivative", count), call,
    jvp = function(primals, results, tangents) {
      changed <- which(!vapply(tangents, is.null, NA))
      parts <- lapply(changed, function(k) {
        directions <- if (k == 1L) c(primals, tangents[1L]) else replace(primals, k, tangents[k])
        inverse_derivative(pattern, unname(directions))
      })
      do.call(hlo_add, parts)
    },
    transpose = function(primals, cotangents) {
      linear <- which(vapply(primals, is.null, NA))
      weights <- pattern_weights(pattern)
      one <- weighted(1 / weights, cotangents)
      share <- weighted(weights, inverse_derivative(pattern, unname(replace(primals, linear, list(one)))))
      replace(replace(primals, seq_along(primals), list(NULL)), linear, list(share))
    }
  )
  do.call(op, arguments)
}
