# Matrices of the package Matrix in programs: beside values, as arguments, results and data, in loops and derivatives.
# What R's functions give for them outside of programs is the reference.

skip_if_not_installed("Matrix")

tall <- Matrix::sparseMatrix(c(1, 2, 4, 2, 1, 3, 2, 4), c(1, 1, 1, 2, 3, 3, 4, 4), dims = c(5, 4),
  x = c(0.7, -0.5, 1.25, 0.3, 2, -1.5, 0.25, 1)
)
other <- Matrix::sparseMatrix(c(1, 5, 3, 2), c(1, 2, 3, 4), x = c(2, 1, -1, 0.5), dims = c(5, 4))
square <- Matrix::crossprod(tall) + Matrix::Diagonal(4)
kinds <- list(
  general = tall, triplets = methods::as(tall, "TsparseMatrix"), rows = methods::as(tall, "RsparseMatrix"),
  logical = tall > 0, pattern = methods::as(tall, "nMatrix"), upper = square,
  lower = Matrix::forceSymmetric(square, "L"), triangular = Matrix::triu(square),
  unit = methods::as(Matrix::Diagonal(3), "triangularMatrix"), permutation = methods::as(3:1, "pMatrix"),
  diagonal = Matrix::Diagonal(3, c(2, 0, 1)), ones = Matrix::Diagonal(2), empty = Matrix::sparseMatrix(
    integer(), integer(), x = numeric(), dims = c(0, 3)
  )
)

plain <- function(x) if (is.list(x)) lapply(x, plain) else if (isS4(x)) unname(as.matrix(x)) else x

# A function as it is where the package Matrix is attached
attached <- function(f) {
  exports <- asNamespace("Matrix")[[".__NAMESPACE__."]]$exports
  environment(f) <- list2env(mget(ls(exports), asNamespace("Matrix"), inherits = TRUE), parent = environment(f))
  f
}

# The same of a function in a program, whether the package is attached or not, and outside of it
expect_as_matrix <- function(f, ...) {
  outside <- attached(f)(...)
  sparse <- vapply(outside, methods::is, NA, "sparseMatrix")
  for (program in list(f, attached(f))) {
    inside <- xla_jit(program)(...)
    expect_equal(lapply(inside, plain), lapply(outside, plain), ignore_attr = TRUE)
    expect_true(all(vapply(inside[sparse], methods::is, NA, "CsparseMatrix")))
  }
}

test_that("matrices of every kind enter and leave with the entries that they have", {
  skip_without_plugin()
  out <- xla_jit(function(kinds) kinds)(kinds)
  for (name in names(kinds)) {
    x <- kinds[[name]]
    expect_equal(plain(out[[name]]), plain(x) * 1, info = name)
    symmetric <- methods::is(x, "symmetricMatrix") || methods::is(x, "diagonalMatrix")
    expect_s4_class(out[[name]], if (symmetric) "dsCMatrix" else "dgCMatrix")
    expect_true(methods::validObject(out[[name]], test = TRUE))
  }
  single <- xla_jit(function(x, b) list(x * b, sum(x)))(tall, pjrt_buffer(2, "f64"))
  expect_identical(single[[1L]], tall * 2)
  expect_s3_class(single[[2L]], "xlaffi_buffer")
})

test_that("a program is for a pattern, whatever the numbers are", {
  skip_without_plugin()
  traced <- 0
  f <- xla_jit(function(x, y) {
    traced <<- traced + 1
    x %*% y
  })
  for (s in 1:3) expect_equal(f(tall * s, 1:4), plain(tall %*% (1:4)) * s)
  f(methods::as(tall, "TsparseMatrix"), 1:4)
  expect_identical(traced, 1)
  expect_equal(f(other, 1:4), plain(other %*% (1:4)))
  expect_identical(traced, 2)
})

test_that("R's functions give what they give for matrices of the package Matrix", {
  skip_without_plugin()
  expect_as_matrix(function(a) {
    list(
      sum(a), mean(a), sum(a, 2), norm(a), norm(a, "I"), norm(a, "F"), norm(a, "M"), a[2:3, ], a[c(1, 1, 3), -1],
      a[2, ], a[, 3], a[2, 1], a[c(TRUE, FALSE, TRUE, FALSE, TRUE), , drop = FALSE], a[1, , drop = FALSE],
      a[cbind(c(1, 2, 2), c(1, 1, 2))], cbind(a, a * 2), rbind(a, 1:4), cbind(1:5, a), cbind(a, 1), kronecker(a, a),
      a %x% matrix(1:2, 1), a^2, a^0.5 * 0, sqrt(abs(a)), sign(a), sin(a), expm1(a), round(a, 1), trunc(a),
      log1p(abs(a)), Matrix::tril(a), Matrix::triu(a, 1), Matrix::bdiag(a, a), -a, a / 2, a %*% t(a),
      Matrix::crossprod(a), Matrix::tcrossprod(a), Matrix::rowSums(a), dim(a), methods::cbind2(a, a),
      methods::rbind2(a, a * 2), a[integer(), ], a[, 0, drop = FALSE]
    )
  }, abs(tall))
  expect_as_matrix(function(q) {
    list(
      q[3:1, 3:1], q[c(2, 4), c(4, 2)], kronecker(q, q), norm(q, "F"), norm(q), sum(q), mean(q), q^2, rbind(q, q),
      Matrix::forceSymmetric(Matrix::triu(q)), Matrix::forceSymmetric(Matrix::tril(q), "L"), Matrix::bdiag(q, q),
      q %*% q
    )
  }, square)
  named <- xla_jit(function(q, a) list(crossprod(a), q[2:1, 2:1], kronecker(q, q), part = q[1:2, 2:1]))(square, tall)
  expect_identical(vapply(named, class, ""), c("dsCMatrix", "dsCMatrix", "dsCMatrix", part = "dgCMatrix"))
})

test_that("elements are replaced, extremes and solutions found as the package Matrix does it", {
  skip_without_plugin()
  blocks <- Matrix::forceSymmetric(Matrix::bdiag(square, Matrix::Diagonal(3, 2)))
  right <- Matrix::sparseMatrix(c(1, 5, 6, 6), c(1, 2, 2, 4), x = 1:4, dims = c(7, 4))
  expect_as_matrix(function(a, q, b) {
    zeros <- a
    zeros[2, ] <- 0
    some <- a
    some[1, 2:3] <- c(7, 8)
    some[-(1:4), 4] <- 5
    some[c(TRUE, FALSE, TRUE, FALSE, FALSE), 1] <- 6
    some[cbind(c(5, 5, 2), c(1, 2, 1))] <- c(3, 4, 0)
    twice <- a
    twice[c(1, 1), 2] <- c(1, 2)
    rows <- a
    rows[1:2, ] <- a[4:5, ]
    dense <- a
    dense[2:3, 1:2] <- matrix(1:4, 2)
    diagonal <- q
    diag(diagonal) <- 1:7
    long <- a
    diag(long) <- 9
    block <- q
    block[1:2, 1:2] <- 9
    part <- q
    part[c(2, 5), c(2, 5)] <- q[c(1, 6), c(1, 6)]
    other <- q
    other[2, 3] <- 5
    list(
      max(a), min(a), range(a), max(a, 3), max(abs(q)), range(q), min(abs(q)), max(a[1:2, 1]), Matrix::solve(q, b),
      Matrix::solve(q[5:7, 5:7], b[5:7, ]), zeros, some, twice, rows, dense, diagonal, long, block, part, other
    )
  }, tall, blocks, right)
  expect_as_matrix(function(x) {
    a <- tall
    a[2:3, 1] <- x[1:2]
    q <- square
    diag(q) <- x
    list(a, q)
  }, c(1.5, -2, 0.5, 3))
  # Both stay symmetric; parts that no entry links with the right side have none in the solution.
  f <- xla_jit(function(q, b) {
    same <- q
    same[1:2, 1:2] <- 3
    list(same, solve(q, b))
  })
  found <- f(blocks, right)
  expect_s4_class(found[[1L]], "dsCMatrix")
  expect_identical(found[[2L]]@p, c(0L, 4L, 6L, 6L, 7L))
})

test_that("Cholesky factors are those of the package Matrix, and have derivatives of dense ones", {
  skip_without_plugin()
  ring <- Matrix::sparseMatrix(c(1:6, 2:6, 6, 5), c(1:6, 1:5, 1, 2), x = c(rep(5, 6), sin(1:7)), symmetric = TRUE)
  missing <- Matrix::sparseMatrix(1:2, 1:2, x = c(4, 9), dims = c(3, 3), symmetric = TRUE)
  out <- xla_jit(function(q, ring, missing) list(chol(q), chol(ring), chol(missing), chol(q * -1)))(
    square, ring, missing
  )
  expect_equal(plain(out[[1L]]), plain(Matrix::chol(square)), ignore_attr = TRUE)
  expect_equal(plain(out[[2L]]), plain(Matrix::chol(ring)), ignore_attr = TRUE)
  expect_s4_class(out[[2L]], "dgCMatrix")
  expect_true(all(is.nan(out[[3L]]@x)) && all(is.nan(out[[4L]]@x)))
  skip_unless_all()
  # Derivatives of the third order, and of the second one in both modes
  at <- which(lower.tri(diag(6), TRUE) & plain(ring) != 0, arr.ind = TRUE)
  entries <- plain(ring)[at]
  made <- function(change) {
    function(x) {
      u <- chol(change(hlo_sparse(x, at[, 1L], at[, 2L], symmetric = TRUE)))
      sum(as.matrix(u)^2 * cos(1:36)) + sum(as.matrix(u))
    }
  }
  both <- xla_jit(function(x) {
    lapply(list(identity, as.matrix), function(change) {
      f <- made(change)
      slope <- function(x) sum(xla_grad(f)(x) * cos(x))
      along <- function(g) function(x) xla_jvp(g)(x, sin(x))$tangent
      list(
        f(x), xla_grad(f)(x), xla_hessian(f)(x), xla_grad(slope)(x), along(xla_grad(f))(x),
        xla_grad(function(x) sum(xla_grad(slope)(x) * sin(x)))(x), along(along(along(f)))(x),
        xla_vmap(xla_grad(f))(rbind(x, 2 * x))
      )
    })
  })(entries)
  expect_equal(both[[1L]], both[[2L]], tolerance = 1e-11)
})

test_that("replaced elements, extremes and solutions have derivatives, and batches of entries", {
  skip_without_plugin()
  skip_unless_all()
  words <- list(
    solved = function(a, q) sum(sin(solve(q, crossprod(a)[, 1:2]))),
    factor = function(a, q) {
      u <- chol(q)
      sum(as.matrix(u)^3) + sum(log(diag(u))) + sum(sin(u %*% (1:4)))
    },
    extremes = function(a, q) max(a)^2 * min(q) + sum(range(a, q)^3),
    replaced = function(a, q) {
      a[2:3, 1] <- q[1:2, 3]
      a[cbind(1:2, 2:3)] <- sum(a)
      diag(q) <- a[3, ]
      q[1:2, 1:2] <- a[1, 4]
      sum((a %*% q)^2)
    }
  )
  made <- function(f, change) {
    function(x, y) {
      f(change(hlo_sparse(x, tall@i + 1, rep(1:4, diff(tall@p)), c(5, 4))), change(hlo_sparse(y, at[, 1], at[, 2],
        symmetric = TRUE
      )))
    }
  }
  at <- which(upper.tri(diag(4), TRUE) & plain(square) != 0, arr.ind = TRUE)
  x <- tall@x
  y <- plain(square)[at]
  both <- xla_jit(function(x, y) {
    lapply(words, function(f) {
      lapply(list(identity, as.matrix), function(change) {
        g <- made(f, change)
        second <- xla_hessian(function(all) g(all[1:8], all[-(1:8)]))
        list(
          g(x, y), xla_vjp(g)(list(x, y), 1)$gradients, xla_jvp(g)(list(x, y), list(cos(x), cos(y)))$tangent,
          second(c(x, y)), xla_vmap(g)(rbind(x, 2 * x), rbind(y, 1.5 * y))
        )
      })
    })
  })(x, y)
  for (name in names(words)) expect_equal(both[[name]][[1L]], both[[name]][[2L]], tolerance = 1e-12, label = name)
})

test_that("variables of a function may be such matrices", {
  skip_without_plugin()
  triplets <- kinds$triplets
  diagonal <- Matrix::Diagonal(4, 1:4)
  dense <- Matrix::Matrix(1:20 / 7, 5)
  data <- list(z = tall)
  expect_as_matrix(function(a) {
    list(
      a + other, other + a, a * other, other - a, Matrix::t(other) %*% a, Matrix::crossprod(other, a), a %*% diagonal,
      other %*% Matrix::crossprod(a), triplets %*% t(a)
    )
  }, tall)
  expect_as_matrix(function(x) {
    list(
      tall %*% x, x %*% square, square * x[1], x[1] * square, square / x[2], square + x[1] * diagonal, diagonal * x[2],
      triplets %*% x, diagonal %*% x, x %*% diagonal, cbind(square, x), Matrix::crossprod(square, x), square * x,
      kronecker(Matrix::Diagonal(2), square * x[1]), data$z %*% x, Matrix::solve(square, x)
    )
  }, c(1.5, -2, 0.5, 3))
  inside <- xla_jit(function(x) list(dense * x[1], x[1] + dense, dense %*% x))(c(2, 2, 2, 2))
  expect_equal(inside, list(plain(dense) * 2, plain(dense) + 2, plain(dense) %*% rep(2, 4)))
})

test_that("sparse matrices are made of values as the package Matrix makes them of numbers", {
  skip_without_plugin()
  expect_as_matrix(function(x) {
    list(
      Matrix::sparseMatrix(1:4, c(2, 1, 3, 2), x = x),
      Matrix::sparseMatrix(i = 1:4, p = c(0, 2, 2, 4), x = x, dims = c(5, 3)),
      Matrix::sparseMatrix(j = 1:4, p = c(0, 2, 2, 4), x = x),
      Matrix::sparseMatrix(c(0, 1), 0:1, x = x[1:2], index1 = FALSE),
      Matrix::sparseMatrix(c(1, 2, 1, 2), c(1, 1, 1, 2), x = x),
      Matrix::sparseMatrix(1:4, c(1, 1, 3, 4), x = x, symmetric = TRUE), Matrix::Diagonal(4, x),
      Matrix::Diagonal(x = x), Matrix::Diagonal(3, x[1]), Matrix::bdiag(list(Matrix::Diagonal(x = x), tall)),
      Matrix::.bdiag(list(Matrix::Diagonal(x = x), tall)), Matrix::drop0(Matrix::band(x * tall[1:4, ], -1, 1)),
      Matrix::sparseMatrix(c(1, 2, 1, 2), c(1, 1, 1, 2), x = x, use.last.ij = TRUE, check = FALSE),
      Matrix::sparseMatrix(c(1, 1, 2), c(1, 1, 2), x = x[1], use.last.ij = TRUE, triangular = TRUE)
    )
  }, c(1.5, -2, 0.5, 3))
})

test_that("derivatives in a matrix are matrices of its pattern, of every order", {
  skip_without_plugin()
  skip_unless_all()
  x <- c(1.5, -2, 0.5, 3)

  f <- function(a, x) sum((a %*% x)^3) + sum(crossprod(a)[1:2, ]^2) + norm(a, "F") + sum(sin(a) %x% a)
  dense <- function(a, x) sum((a %*% x)^3) + sum(crossprod(a)[1:2, ]^2) + norm(a, "F") + sum(sin(a) %x% a)
  by_dense <- xla_grad(dense)(as.matrix(tall), x)
  slope <- xla_grad(f)(tall, x)
  expect_s4_class(slope, "dgCMatrix")
  expect_identical(slope@i, tall@i)
  expect_equal(plain(slope), by_dense * (plain(tall) != 0))
  # Second derivatives along a direction
  along <- function(f, x) function(a, d) xla_jvp(function(a) xla_grad(function(a) f(a, x))(a))(a, d)$tangent
  d <- tall
  d@x <- sin(1:8)
  second <- xla_jit(along(f, x))(tall, d)
  expect_equal(plain(second), xla_jit(along(dense, x))(as.matrix(tall), as.matrix(d)) * (plain(tall) != 0))
  # Of a symmetric one an entry off the diagonal stands for two.
  g <- xla_grad(function(q, x) determinant(q)$modulus + sum(x * solve(q, x)))(square, x)
  by_dense <- xla_grad(function(q, x) determinant(q)$modulus + sum(x * solve(q, x)))(as.matrix(square), x)
  both <- by_dense + t(by_dense) - diag(diag(by_dense))
  expect_s4_class(g, "dsCMatrix")
  expect_equal(plain(g), both * (plain(square) != 0))
  whole <- xla_vjp(function(a, x) a %*% x)(list(tall, x), matrix(1, 5))
  expect_equal(plain(whole$gradients[[1L]]), outer(rep(1, 5), x) * (plain(tall) != 0))
  expect_equal(dim(xla_jacobian(function(a) a %*% x)(tall)), c(5L, 1L, 8L))
  linear <- xla_linearize(function(a) a * a)(tall)
  expect_equal(linear$value, tall^2)
  expect_equal(linear$jvp(d), 2 * tall * d)
})

test_that("loops, branches, batches and objectives take sparse matrices", {
  skip_without_plugin()
  f <- function(a, q, x) {
    halved <- hlo_while(function(a) norm(a, "F") > 1, function(a) a / 2, a)
    counted <- hlo_fori(1, 3, function(i, s) list(q = s$q * 2, x = q %*% s$x), list(q = q, x = x))
    scanned <- hlo_scan(function(a, by) list(a * by, sum(a)), a, c(1, 2, 3))
    chosen <- hlo_cond(sum(x) > 0, function() a, function() -a)
    batch <- xla_vmap(function(x) a %*% x)(rbind(c(x), 2 * c(x)))
    list(halved, counted$q, counted$x, scanned$carry, scanned$y, chosen, batch, xla_checkpoint(function(a) a * 2)(a))
  }
  x <- matrix(c(1.5, -2, 0.5, 3))
  norm <- sqrt(sum(tall@x^2))
  moved <- plain(tall %*% x)
  expect_equal(plain(xla_jit(f)(tall, square, x)), plain(list(
    tall / 2^ceiling(log2(norm)), square * 8, square %*% square %*% square %*% x, tall * 6, sum(tall) * c(1, 1, 2),
    tall, aperm(array(c(moved, 2 * moved), c(5, 1, 2)), c(3, 1, 2)), tall * 2
  )))
  objective <- xla_objective(function(p, z, y) sum((z %*% p - y)^2), rep(0, 4), z = tall, y = 1:5)
  expect_equal(objective$gr(1:4), c(plain(2 * Matrix::crossprod(tall, tall %*% (1:4) - 1:5))), ignore_attr = TRUE)
  expect_equal(objective$he(1:4), plain(2 * Matrix::crossprod(tall)), ignore_attr = TRUE)
  again <- update(objective, z = tall * 2)
  expect_equal(again$fn(1:4), sum((2 * tall %*% (1:4) - 1:5)^2))
  expect_equal(update(objective, z = other)$fn(1:4), sum((other %*% (1:4) - 1:5)^2))
})

test_that("what sparse matrices cannot be is refused", {
  skip_without_plugin()
  # Digests of patterns are others with another version of R.
  undigested <- function(lines) gsub(", [0-9a-f]{6}>", ", digest>", lines)
  said <- function(f, ...) expect_snapshot(f(...), error = TRUE, cran = TRUE, transform = undigested)
  said(xla_vmap(function(a, x) a %*% x), tall, diag(4))
  said(xla_vmap(function(x) hlo_sparse(x, 1:4, 1:4)), diag(4))
  said(xla_jit(function(x) hlo_sparse(x, c(NA, 2), 1:2)), 1:2)
  said(xla_jit(function(x) hlo_sparse(x, 1:2, c(2, 1.5))), 1:2)
  said(xla_jit(function(x) hlo_sparse(x, "a", 0)), 1)
  said(xla_jit(function(a) hlo_cond(sum(a) > 0, function() a, function() a[5:1, ])), tall)
  said(xla_jit(function(a) hlo_fori(1, 3, function(i, a) a + other, a)), tall)
  said(xla_jit(function(a) hlo_while(function(a) sum(a) > 0, function(a) a + other, a)), tall)
  said(xla_jit(function(a) hlo_scan(function(s, x) list(s, a), 0, length = 2L)), tall)
  said(xla_jit(function(a) hlo_scan(function(s, x) list(s, s), 0, a)), tall)
  said(xla_jit(function(a, i) a[i, ]), tall, 1L)
  said(xla_jit(function(a) a[7, ]), tall)
  said(xla_jit(function(a) a[1:2]), tall)
  said(xla_jit(function(a) prod(a)), tall)
  said(xla_jit(function(a, i) {
    a[i, ] <- 1
    a
  }), tall, 1L)
  said(xla_jit(function(a) {
    a[6, 1] <- 1
    a
  }), tall)
  said(xla_jit(function(a) {
    a[1:2, ] <- t(a)
    a
  }), tall)
  said(xla_jit(function(a) {
    a[1, 1:3] <- 1:2
    a
  }), tall)
  said(xla_jit(function(a) {
    diag(a) <- 1:3
    a
  }), tall)
  said(xla_jit(function(a) norm(a, "2")), tall)
  said(xla_jit(function(a) a^0), tall)
  said(xla_jit(function(a) a > 0), tall)
  said(xla_jit(function(a) rbind(a, t(a))), tall)
  said(xla_jit(function(a) kronecker(a, a, "+")), tall)
  said(xla_jit(function(a) solve(a, a)), tall)
  said(xla_jit(function(a) determinant(a)), tall)
  said(xla_jit(function(q) chol(q, pivot = TRUE)), square)
  said(xla_jit(function(a) chol(a)), tall)
  said(xla_jit(function(x) Matrix::sparseMatrix(1:4, x = x)), 1:4 / 2)
  said(xla_jit(function(a) Matrix::forceSymmetric(a)), tall)
  said(xla_jit(function(a) Matrix::forceSymmetric(Matrix::tril(a))), square)
  said(xla_jit(function(a) Matrix::forceSymmetric(a, "X")), square)
  said(xla_hessian(function(a) sum(a^2)), tall)
  said(xla_jvp(function(a) sum(a^2)), tall, other)
  said(xla_objective, function(a) sum(a^2), tall)
})
