# Random arrays, real or complex, the same on every run.
random_array <- function(dims, complex = FALSE, seed = 1) {
  withr::with_seed(seed + sum(dims), {
    x <- stats::rnorm(prod(dims))
    if (complex) x <- complex(real = x, imaginary = stats::rnorm(prod(dims)))
    array(x, dims)
  })
}

# Hermitian and positive definite matrices; the last two dimensions are equal
random_definite <- function(dims, complex = FALSE) {
  n <- utils::tail(dims, 1L)
  each_matrix(random_array(dims, complex), function(x) (x %*% adj(x) + n * diag(n)) / (n + 1))
}

adj <- function(x) Conj(t(x))

# The dimensions of an array or of a plain vector
dims_of <- function(x) if (is.null(dim(x))) length(x) else dim(x)

# The matrices of a batch, or (inner = 1) its vectors, as a list, batch axes as R counts them
unstack <- function(x, inner = 2L) {
  dims <- dims_of(x)
  keep <- seq_len(length(dims) - inner)
  count <- prod(dims[keep])
  tail <- dims[-keep]
  if (!length(keep)) tail <- dims
  flat <- array(x, c(count, prod(tail)))
  lapply(seq_len(count), function(i) array(flat[i, ], tail))
}

# Back to an array with the batch dimensions `batch`
stack <- function(parts, batch, tail) {
  array(do.call(rbind, c(list(matrix(0, 0L, prod(tail))), lapply(parts, as.vector))), c(batch, tail))
}

each_matrix <- function(x, f) {
  batch <- dim(x)[seq_len(length(dim(x)) - 2L)]
  parts <- lapply(unstack(x), f)
  stack(parts, batch, if (length(parts)) dim(parts[[1L]]) else utils::tail(dim(x), 2L))
}

# Compares every matrix of a batch; `f` gets one matrix of each array
expect_each <- function(arrays, f, inner = rep(2L, length(arrays))) {
  parts <- Map(unstack, arrays, inner)
  expect_gt(length(parts[[1L]]), 0L)
  do.call(Map, c(list(f), unname(parts)))
  invisible()
}

expect_close <- function(x, y, tolerance = 1e-12) {
  expect_identical(dims_of(x), dims_of(y))
  expect_lt(max(0, Mod(x - y)) / max(1, Mod(y)), tolerance)
}

expect_orthonormal <- function(q, tolerance = 1e-12) expect_close(crossprod(Conj(q), q), diag(1, ncol(q)), tolerance)

# Shapes that the factorisations are tested with
shapes <- list(
  c(1, 1), c(2, 2), c(3, 3), c(5, 5), c(17, 17), c(65, 65), c(5, 2), c(2, 5), c(17, 3), c(65, 17), c(3, 17),
  c(4, 3, 3), c(3, 5, 2), c(2, 3, 2, 5), c(1, 17, 17)
)
empty_shapes <- list(c(0, 0), c(0, 3), c(3, 0), c(0, 3, 3), c(2, 0, 3), c(2, 3, 0), c(0, 2, 0, 3))
square_shapes <- list(
  c(1, 1), c(2, 2), c(3, 3), c(5, 5), c(17, 17), c(65, 65), c(4, 3, 3), c(2, 3, 5, 5), c(1, 17, 17)
)
empty_squares <- list(c(0, 0), c(0, 3, 3), c(2, 0, 0))
