# A V = V diag(w). With M = Vᴴ dA V the eigenvalues change by the (real) diagonal of M, and
# dV = V C with C[i, j] = M[i, j] / (w[j] - w[i]) off the diagonal (Giles 2008, 3.1; Seeger et al.
# 2017). C's diagonal is free within what Vᴴ V = I leaves (a sign for real matrices, a phase for
# complex ones); zero is taken, so that vᴴ dv = 0. Equal eigenvalues divide by zero.
eigh_jvp <- function(uplo) {
  force(uplo)
  function(primals, results, tangents) {
    w <- results[[1L]]
    v <- results[[2L]]
    inside <- eigh_inside(v, tangents[[1L]], uplo)
    weights <- like_matrix(inverse_gaps(gaps(w, v@shape)), v)
    list(Re(diagonal(inside)), hlo_matmul(v, weights * inside))
  }
}

# The eigenvalues' derivatives alone exist where the eigenvectors' do not.
eigh_values_jvp <- function(uplo) {
  force(uplo)
  function(primals, results, tangents) {
    v <- eigh_op(uplo, TRUE)(primals[[1L]])[[2L]]
    list(Re(diagonal(eigh_inside(v, tangents[[1L]], uplo))))
  }
}

eigh_inside <- function(v, change, uplo) {
  hlo_matmul(adjoint(v), hlo_matmul(hermitian_of(change, uplo), v))
}
