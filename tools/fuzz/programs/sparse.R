# Sparse matrices in random programs: what patterns call that R has as dense matrices and programs as sparse ones. Where
# there are entries depends on the dimensions alone.

sparse_places <- function(rows, columns) {
  which(outer(seq_len(rows), seq_len(columns), function(i, j) (i * j + i + 2 * j) %% 3 != 0), arr.ind = TRUE)
}

sparse_words <- list(
  # Some of the entries of a matrix
  sparse_matrix = function(x) {
    at <- sparse_places(nrow(x), ncol(x))
    if (xlaffi:::is_tracing()) {
      return(xlaffi::hlo_sparse(x[at], at[, 1L], at[, 2L], dim(x)))
    }
    y <- array(0, dim(x))
    y[at] <- x[at]
    y
  },
  # A positive definite matrix of one that is: off the diagonal some entries, divided by the number of rows
  sparse_definite = function(x) {
    n <- nrow(x)
    at <- sparse_places(n, n)
    at <- rbind(cbind(seq_len(n), seq_len(n)), at[at[, 1L] > at[, 2L], , drop = FALSE])
    entries <- x[at] * ifelse(at[, 1L] == at[, 2L], 1, 1 / n)
    if (xlaffi:::is_tracing()) {
      return(xlaffi::hlo_sparse(entries, at[, 1L], at[, 2L], c(n, n), symmetric = TRUE))
    }
    y <- array(0, dim(x))
    y[at] <- entries
    y[at[, 2:1, drop = FALSE]] <- entries
    y
  },
  # The inverse of a positive definite matrix where that has entries
  sparse_inverse = function(a) if (is.matrix(a)) solve(a) * (a != 0) else xlaffi::hlo_sparse_inverse(a)
)

sparse_grammar <- alist(
  as.matrix(sparse_matrix(.m)), as.matrix(t(sparse_matrix(.m))), as.matrix(-sparse_matrix(.m)), diag(sparse_matrix(.m)),
  sparse_matrix(.m) %*% t(.m), sparse_matrix(.m) %*% .m, .m %*% sparse_matrix(.m), sparse_matrix(.m) %*% .v,
  .v %*% sparse_matrix(.m), crossprod(sparse_matrix(.m), .m), tcrossprod(sparse_matrix(.m), .m),
  as.matrix(crossprod(sparse_matrix(.m))), as.matrix(tcrossprod(sparse_matrix(.m))),
  as.matrix(sparse_matrix(.m) %*% t(sparse_matrix(.m))), as.matrix(sparse_matrix(.m) + sparse_matrix(.m)),
  as.matrix(sparse_matrix(.m) - sparse_matrix(.m)), as.matrix(sparse_matrix(.m) * sparse_matrix(.m)),
  as.matrix(sparse_matrix(.m) * .s), as.matrix(sparse_matrix(.m) / .c), as.matrix(.m * sparse_matrix(.m)),
  rowSums(sparse_matrix(.m)), colSums(sparse_matrix(.m)), colMeans(sparse_matrix(.m)), sum(sparse_matrix(.m)),
  dim(sparse_matrix(.m)), as.matrix(sparse_definite(.S)), as.matrix(sparse_definite(.S) + sparse_matrix(.q)),
  as.matrix(sparse_definite(.S) * 2 - sparse_definite(.S)), sparse_definite(.S) %*% .v,
  as.matrix(sparse_definite(.S) %*% sparse_definite(.S)), solve(sparse_definite(.S), .v),
  solve(sparse_definite(.S), .m),
  solve(sparse_definite(.S) + sparse_definite(.S), .v), det(sparse_definite(.S)), diag(sparse_definite(.S)),
  determinant(sparse_definite(.S))$modulus[1], determinant(sparse_definite(.S) / .u[1])$modulus[1],
  as.matrix(sparse_inverse(sparse_definite(.S))), diag(sparse_inverse(sparse_definite(.S))),
  as.matrix(sparse_definite(.S) * .q), rowSums(sparse_definite(.S))
)
