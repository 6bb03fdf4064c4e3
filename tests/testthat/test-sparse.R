# A symmetric positive definite pattern: a grid of 4 x 3 points and one entry far off
grid <- function() {
  at <- matrix(1:12, 4)
  i <- c(at[-1, ], at[, -1], 12L)
  j <- c(at[-4, ], at[, -3], 1L)
  list(i = c(1:12, i), j = c(1:12, j), off = length(i))
}

lower <- grid()
entries <- c(6 + sin(1:12), cos(seq_len(lower$off)))

# The whole matrix of entries of a lower triangle, in R
whole <- function(x) {
  a <- matrix(0, 12, 12)
  a[cbind(lower$i, lower$j)] <- x
  a[cbind(lower$j, lower$i)] <- x
  a
}

rect <- list(i = c(1, 3, 2, 3, 5, 1), j = c(1, 1, 2, 4, 4, 3), dims = c(5, 4))
numbers <- c(2, -1, 3, 0.5, 4, 1.5)

whole_rect <- function(x) {
  a <- matrix(0, 5, 4)
  a[cbind(rect$i, rect$j)] <- x
  a
}

test_that("sparse matrices compute as dense ones do", {
  skip_without_plugin()
  b <- matrix(sin(1:24), 12)
  f <- function(x, b) {
    a <- hlo_sparse(x, lower$i, lower$j, symmetric = TRUE)
    found <- determinant(a)
    list(
      a = as.matrix(a), product = a %*% b, left = t(b) %*% a, one = a %*% b[, 1], x = solve(a, b), v = solve(a, b[, 2]),
      logdet = found$modulus, sign = found$sign, det = det(a), diag = diag(a), rows = rowSums(a), means = colMeans(a),
      cross = as.matrix(crossprod(a)), twice = as.matrix(a + 2 * a - a / 4), squares = as.matrix(a * a),
      inverse = hlo_nonzeros(hlo_sparse_inverse(a)), scaled = as.matrix(a * b[, 1]), minus = as.matrix(-a)
    )
  }
  a <- whole(entries)
  inverse <- solve(a)
  expected <- list(
    a = a, product = a %*% b, left = t(b) %*% a, one = a %*% b[, 1], x = solve(a, b), v = solve(a, b[, 2]),
    logdet = c(determinant(a)$modulus), sign = 1, det = det(a), diag = diag(a), rows = rowSums(a), means = colMeans(a),
    cross = crossprod(a), twice = a + 2 * a - a / 4, squares = a * a,
    inverse = inverse[lower.tri(a, TRUE) & a != 0], scaled = a * b[, 1], minus = -a
  )
  expect_equal(xla_jit(f)(entries, b), expected)
  g <- function(x, y) {
    a <- hlo_sparse(x, rect$i, rect$j, rect$dims)
    s <- hlo_sparse(y, lower$i, lower$j, symmetric = TRUE)
    u <- hlo_sparse(1, c(1, 3, 3, 5), c(1, 2, 2, 4), rect$dims)
    list(
      a = as.matrix(a), t = as.matrix(t(a)), cross = as.matrix(crossprod(a)), tcross = as.matrix(tcrossprod(a)),
      union = as.matrix(a + u), common = as.matrix(a * u), vector = crossprod(a, 1:5), rows = rowSums(a),
      columns = colSums(a), diag = diag(a), both = as.matrix(s + t(s) %*% s), dim = dim(a)
    )
  }
  r <- whole_rect(numbers)
  u <- matrix(0, 5, 4)
  u[cbind(c(1, 3, 5), c(1, 2, 4))] <- c(1, 2, 1)
  expect_equal(xla_jit(g)(numbers, entries), list(
    a = r, t = t(r), cross = crossprod(r), tcross = tcrossprod(r), union = r + u, common = r * u,
    vector = crossprod(r, 1:5), rows = rowSums(r), columns = colSums(r), diag = diag(r), both = a + t(a) %*% a,
    dim = c(5L, 4L)
  ))
})

test_that("matrices of the package Matrix come in", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  dense <- whole_rect(numbers)
  square <- whole(entries)
  upper <- square * upper.tri(square, TRUE)
  shapes <- list(
    methods::as(dense, "CsparseMatrix"), methods::as(dense, "TsparseMatrix"), methods::as(dense != 0, "CsparseMatrix"),
    Matrix::forceSymmetric(methods::as(square, "CsparseMatrix"), "U"),
    Matrix::forceSymmetric(methods::as(square, "TsparseMatrix"), "L"),
    methods::as(methods::as(upper, "CsparseMatrix"), "triangularMatrix"), Matrix::Diagonal(3),
    Matrix::Diagonal(3, 1:3)
  )
  for (m in shapes) {
    f <- function(s) as.matrix(hlo_sparse(m) * s)
    expect_equal(xla_jit(f)(2), unname(as.matrix(m) * 2))
  }
  s <- shapes[[4]]
  b <- sin(1:12)
  expect_equal(xla_jit(function(b) solve(hlo_sparse(s), b))(b), as.vector(Matrix::solve(s, b)))
})

test_that("derivatives of sparse matrices are those of dense ones, to the third order", {
  skip_without_plugin()
  dense_of <- function(x) as.matrix(hlo_sparse(x, lower$i, lower$j, symmetric = TRUE))
  b <- matrix(cos(1:24), 12)
  sparse <- function(x, b) {
    a <- hlo_sparse(x, lower$i, lower$j, symmetric = TRUE)
    solved <- solve(a, b)
    determinant(a)$modulus + sum(solved^2) + sum(sin(a %*% solved[, 1])) + sum(hlo_nonzeros(hlo_sparse_inverse(a))^2)
  }
  ordered <- order(lower$j, lower$i)
  dense <- function(x, b) {
    a <- dense_of(x)
    inverse <- solve(a)
    solved <- inverse %*% b
    stored <- inverse[cbind(lower$i, lower$j)[ordered, ]]
    determinant(a)$modulus + sum(solved^2) + sum(sin(a %*% solved[, 1])) + sum(stored^2)
  }
  expect_equal(xla_jit(sparse)(entries, b), xla_jit(dense)(entries, b))
  expect_equal(xla_grad(sparse)(entries, b), xla_grad(dense)(entries, b))
  skip_unless_all()
  expect_equal(xla_hessian(sparse)(entries, b), xla_hessian(dense)(entries, b))
  size <- length(entries)
  along <- function(f) {
    one <- function(x) sum(xla_grad(function(x) f(x, b))(x) * sin(seq_len(size)))
    xla_grad(function(x) sum(xla_grad(one)(x) * cos(seq_len(size))))
  }
  expect_equal(along(sparse)(entries), along(dense)(entries))
  # Batches share one analysis.
  batch <- rbind(entries, entries * 1.1, entries * 0.9)
  one <- function(x) sparse(x, b)
  expect_equal(
    xla_jit(function(x) xla_vmap(xla_grad(one))(x))(batch), t(apply(batch, 1, function(x) xla_grad(one)(x))),
    ignore_attr = TRUE
  )
})

test_that("products of rectangular matrices have derivatives of second order", {
  skip_without_plugin()
  x <- matrix(sin(1:8), 4)
  f <- function(v, x) {
    a <- hlo_sparse(v, rect$i, rect$j, rect$dims)
    sum((a %*% x)^3) + sum((crossprod(a, a) * 2) %*% x^2) + sum(as.matrix(tcrossprod(a))^2)
  }
  g <- function(v, x) {
    a <- as.matrix(hlo_sparse(v, rect$i, rect$j, rect$dims))
    sum((a %*% x)^3) + sum((crossprod(a, a) * 2) %*% x^2) + sum(tcrossprod(a)^2)
  }
  expect_equal(xla_grad(f)(numbers, x), xla_grad(g)(numbers, x))
  skip_unless_all()
  expect_equal(xla_hessian(f)(numbers, x), xla_hessian(g)(numbers, x))
})

test_that("matrices may be empty, have one element, or have no entries in some rows, in both dtypes", {
  skip_without_plugin()
  empty <- function(x) determinant(hlo_sparse(x, integer(), integer(), c(0, 0), symmetric = TRUE))$modulus
  expect_equal(xla_jit(empty)(numeric()), 0)
  one <- function(x) {
    a <- hlo_sparse(x, 1, 1, symmetric = TRUE)
    list(determinant(a)$modulus, solve(a, 3), a %*% 2)
  }
  expect_equal(xla_jit(one)(5), list(log(5), 0.6, matrix(10)))
  short <- function(x) {
    a <- hlo_sparse(x, 1:2, 1:2, c(3, 3), symmetric = TRUE)
    list(determinant(a)$modulus, diag(a), rowSums(a))
  }
  expect_equal(xla_jit(short)(c(5, 2)), list(NaN, c(5, 2, 0), c(5, 2, 0)))
  f <- function(x) {
    a <- hlo_sparse(x, c(1, 2, 2), c(1, 1, 2), symmetric = TRUE)
    list(determinant(a)$modulus, solve(a, c(1, 2)), as.matrix(a * 2))
  }
  single <- xla_jit(f)(pjrt_buffer(c(4, 1, 3), "f32"))
  expect_identical(vapply(single, function(x) format(dtype(x)), ""), rep("<f32>", 3))
  expect_equal(lapply(single, as_array), xla_jit(f)(c(4, 1, 3)), tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("products and equations with a value of another dtype are refused while the program is written", {
  skip_without_plugin()
  refused <- function(f, v, message) {
    g <- function(x, v) f(hlo_sparse(x, 1:2, 1:2, symmetric = TRUE), v)
    expect_error(xla_jit(g)(pjrt_buffer(c(2, 4), "f32"), v), message, fixed = TRUE)
  }
  for (v in list(c(1, 2), 1:2)) {
    type <- if (is.integer(v)) "i32" else "f64"
    refused(function(a, v) a %*% v, v, sprintf("`%%*%%`: `y` must have dtype f32 as `x` has, not %s", type))
    refused(function(a, v) crossprod(v, a), v, sprintf("`%%*%%`: `x` must have dtype f32 as `y` has, not %s", type))
    refused(function(a, v) solve(a, v), v, sprintf("solve(): `b` must have dtype f32 as `a` has, not %s", type))
  }
  f <- function(x, v) hlo_sparse(x, 1:2, 1:2, symmetric = TRUE) %*% v
  product <- xla_jit(f)(pjrt_buffer(c(2, 4), "f32"), c(TRUE, FALSE))
  expect_identical(format(dtype(product)), "<f32>")
  expect_identical(as.vector(as_array(product)), c(2, 0))
})

test_that("a matrix that is not positive definite gives NaN", {
  skip_without_plugin()
  f <- function(x) {
    a <- hlo_sparse(x, c(1, 2, 2), c(1, 1, 2), symmetric = TRUE)
    list(determinant(a)$modulus, solve(a, c(1, 1)))
  }
  expect_equal(xla_jit(f)(c(1, 2, 1)), list(NaN, c(NaN, NaN)))
  expect_equal(xla_jit(f)(c(1, NaN, 1)), list(NaN, c(NaN, NaN)))
})

test_that("a semidefinite matrix has a factor with a shift, and its batch is not touched by it", {
  skip_without_plugin()
  # Differences along a line of four, and a plain matrix
  i <- c(1:4, 2:4)
  j <- c(1:4, 1:3)
  walk <- c(1, 2, 2, 1, -1, -1, -1)
  other <- walk + c(1, 1, 1, 1, 0, 0, 0)
  f <- function(x, eps) {
    a <- hlo_sparse(x, i, j, symmetric = TRUE) + eps * hlo_sparse(1, 1:4, 1:4, symmetric = TRUE)
    list(
      logdet = determinant(a)$modulus, x = solve(a, 1:4 / 4), chol = hlo_nonzeros(chol(a)),
      inverse = hlo_nonzeros(hlo_sparse_inverse(a))
    )
  }
  batch <- xla_jit(function(x, eps) xla_vmap(function(x) f(x, eps))(x))
  plain <- function(x, eps) {
    a <- matrix(0, 4, 4)
    a[cbind(i, j)] <- a[cbind(j, i)] <- x
    a <- a + diag(eps, 4)
    stored <- lower.tri(a, TRUE) & a != 0
    factor <- chol(a)
    list(
      logdet = c(determinant(a)$modulus), x = solve(a, 1:4 / 4), chol = factor[factor != 0], inverse = solve(a)[stored]
    )
  }
  found <- batch(rbind(walk, other), 0)
  expect_true(all(is.nan(unlist(lapply(found, function(x) as.matrix(x)[1, ])))))
  row <- function(found, k) lapply(found, function(x) as.matrix(x)[k, ])
  expect_equal(row(found, 2), plain(other, 0))
  shifted <- batch(rbind(walk, other), 1e-3)
  expect_equal(row(shifted, 1), plain(walk, 1e-3), tolerance = 1e-10)
  # By the shift the logarithm of the determinant changes by the trace of the inverse.
  slope <- xla_grad(function(eps) f(walk, eps)$logdet)(1e-3)
  a <- plain(walk, 1e-3)
  expect_equal(slope, sum(a$inverse[c(1, 3, 5, 7)]), tolerance = 1e-10)
})

test_that("what does not fit, or would be dense, is refused", {
  skip_without_plugin()
  a <- function(x, symmetric = TRUE) hlo_sparse(x, c(1, 2, 2), c(1, 1, 2), symmetric = symmetric)
  said <- function(f) expect_snapshot(xla_jit(f)(c(2, 1, 3)), error = TRUE, cran = TRUE)
  said(function(x) a(x) + 1)
  said(function(x) exp(a(x)))
  said(function(x) solve(a(x)))
  said(function(x) solve(a(x, FALSE), x[1:2]))
  said(function(x) a(x) %*% x)
  said(function(x) chol(a(x, FALSE)))
  said(function(x) a(x) + hlo_sparse(x, 1:3, 1:3))
  said(function(x) solve(a(x), x))
  said(function(x) hlo_sparse(x, c(1, 2), c(1, 2)))
  said(function(x) hlo_sparse(x, c(1, 2, 2), c(1, 2, 1), dims = c(2, 1)))
  said(function(x) hlo_sparse(x, c(1, 2, 1), c(1, 1, 2), symmetric = TRUE))
  said(function(x) hlo_sparse(matrix(1, 2, 2)))
  said(function(x) median(a(x)))
  said(function(x) a(x)$x)
})

test_that("what has no meaning for sparse matrices says so, whichever package it is of, and R's data stay R's", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  a <- Matrix::bandSparse(3, k = 0:1, diagonals = list(1:3 / 2, c(1, NaN)))
  functions <- list(
    base = c(
      "all.equal", "as.data.frame", "duplicated", "isSymmetric", "nchar", "qr", "rcond", "summary", "unique", "which",
      "outer", "sapply", "mapply", "Map"
    ),
    Matrix = c(
      "isDiagonal", "isSymmetric", "isTriangular", "symmpart", "skewpart", "nnzero", "%&%", "rcond", "lu", "expm",
      "Schur", "Matrix", "which", "qr"
    )
  )
  two <- c("outer", "%&%")
  for (package in names(functions)) {
    for (name in functions[[package]]) {
      code <- as.call(list(as.name("::"), as.name(package), as.name(name)))
      code <- as.call(c(code, switch(name, mapply = , Map = quote(sin)), quote(a), switch(name, sapply = quote(sin)),
        if (name %in% two) quote(a)
      ))
      text <- paste0(if (name == "sapply") "as[.]list" else name, ".* of a sparse matrix is not available")
      expect_error(xla_jit(eval(bquote(function(a) .(code))))(a), text,
        class = "xlaffi_error_unimplemented", info = paste(package, name)
      )
    }
  }
  refused <- function(f, text) expect_error(xla_jit(f)(a, 1:3 / 2), text, class = "xlaffi_error")
  refused(function(a, x) Matrix::sparseVector(x, 1:3, 5), "sparseVector.* is not available")
  refused(function(a, x) Matrix::bandSparse(3, k = 0, diagonals = list(x)), "bandSparse.* is not available")
  refused(function(a, x) Matrix::sparseMatrix(1:3, 1:3, x = x, repr = "T"), "`repr` must be one of")
  refused(function(a, x) Matrix::sparseMatrix(1:3, 1:3, x = x, give = 1), "unused arguments in `...`: give")
  refused(function(a, x) Matrix::sparseMatrix(1:3, 3:1, x = x, triangular = TRUE), "must lie in one triangle")
  refused(function(a, x) Matrix::sparseMatrix(1:3, 1:3, x = x, dimnames = list("a", NULL)), "`dimnames` must be")
  refused(function(a, x) Matrix::drop0(a, tol = 0.1), "`tol` must be 0")
  refused(function(a, x) rowSums(a, dims = 2), "`dims` must be 1")
  sums <- list(rowSums, colSums, rowMeans, colMeans)
  out <- xla_jit(function(a) lapply(sums, function(f) list(f(a), f(a, na.rm = TRUE))))(a)
  expect_equal(out, lapply(sums, function(f) list(f(as.matrix(a)), f(as.matrix(a), na.rm = TRUE))))
  expect_identical(xla_jit(function(x) x + Matrix::isDiagonal(a) + Matrix::isDiagonal(Matrix::Diagonal(2)))(1), 2)
})

test_that("patterns are told as differences in Base64 VLQ", {
  # As source maps have them: 0, 1, -1, 15, 16 and -16 are A, C, D, e, gB and hB.
  expect_identical(differences_text(cumsum(c(0, 1, -1, 15, 16, -16))), "ACDegBhB")
  expect_identical(differences_text(integer()), "")
  expect_identical(differences_text(c(.Machine$integer.max, -.Machine$integer.max)), "+/////D9/////H")
})
