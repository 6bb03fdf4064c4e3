# The Cholesky factor of a sparse matrix in its own order. Its derivatives are handlers: `sparse_own_factor` gives the
# derivative of the factor in directions, and `sparse_own_factor_pullback` that of the sum of weights times the factor.
# The first one is symmetric in its directions, and the sum of its entries times weights is that of the other one's
# times one of the directions. So each is a transpose of the other, and both have derivatives of their own kind.

# chol(): the upper triangular matrix U with A = t(U) U
sparse_chol <- function(a) {
  pattern <- a@pattern
  places <- own_factor(pattern)
  rows <- places$i
  columns <- rep(seq_len(pattern$nrow) - 1L, diff(places$p))
  sparse_from(columns, rows, factor_derivative(pattern, list(a@values)), pattern$nrow, pattern$ncol)
}

# The entries of the factor, below the diagonal: where columns begin and rows, from 0
own_factor <- function(pattern) {
  pattern_fact(pattern, "own factor", function() {
    check(.Call(wrap__sparse_own_factor, pattern$nrow, pattern$p, pattern$i))
  })
}

# The derivative of the factor of A in directions; `arguments` are the values of A and of the directions.
factor_derivative <- function(pattern, arguments) {
  check_factor_order(length(arguments) - 1L)
  call <- function(...) {
    result <- stacked_type(..1, length(own_factor(pattern)$i), less = 1L)
    pattern_call(pattern, "sparse_own_factor", list(...), result, rep(FALSE, ...length()), FALSE)
  }
  op <- pattern_op(pattern, "chol", paste("chol", length(arguments) - 1L), call,
    jvp = function(primals, results, tangents) {
      changes_along(primals, tangents, function(arguments) factor_derivative(pattern, arguments))
    },
    transpose = function(primals, cotangents) {
      primals <- unname(primals)
      share <- function(linear) factor_pullback(pattern, c(primals[1L], list(cotangents), primals[-c(1L, linear)]))
      in_its_place(primals, share)
    }
  )
  do.call(op, arguments)
}

# The derivative by A of the sum of weights times the factor, in directions; `arguments` are the values of A, the
# weights and the values of the directions.
factor_pullback <- function(pattern, arguments) {
  check_factor_order(length(arguments) - 2L)
  call <- function(...) {
    pattern_call(pattern, "sparse_own_factor_pullback", list(...), type_of(..1), rep(FALSE, ...length()), FALSE)
  }
  op <- pattern_op(pattern, "chol", paste("chol pullback", length(arguments) - 2L), call,
    jvp = function(primals, results, tangents) {
      changes_along(primals, tangents, function(arguments) factor_pullback(pattern, arguments))
    },
    transpose = function(primals, cotangents) {
      primals <- unname(primals)
      in_its_place(primals, function(linear) {
        if (linear == 2L) {
          return(factor_derivative(pattern, c(primals[1L], primals[-(1:2)], list(cotangents))))
        }
        factor_pullback(pattern, replace(primals, linear, list(cotangents)))
      })
    }
  )
  do.call(op, arguments)
}

# The sum of what each change leads to, where `of` the arguments is linear in all but the first one
changes_along <- function(primals, tangents, of) {
  primals <- unname(primals)
  parts <- lapply(which(!vapply(tangents, is.null, NA)), function(k) {
    of(if (k == 1L) c(primals, unname(tangents[1L])) else replace(primals, k, unname(tangents[k])))
  })
  do.call(hlo_add, unname(parts))
}

# For each argument its cotangent: `share(k)` for the one that is linear, number k, which has no value
in_its_place <- function(primals, share) {
  linear <- which(vapply(primals, is.null, NA))
  replace(replace(primals, seq_along(primals), list(NULL)), linear, list(share(linear)))
}

check_factor_order <- function(order) {
  if (order > highest_order) {
    abort(
      sprintf("the Cholesky factor of a sparse matrix has derivatives up to order %d here, not %d", highest_order,
        order
      ), "UNIMPLEMENTED", op = "chol", call = NULL
    )
  }
}
