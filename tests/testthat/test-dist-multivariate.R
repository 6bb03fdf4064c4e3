# Densities of vectors, series and fields, beside formulas with dense matrices in R.

normal_density <- function(x, mean, sigma) {
  z <- x - mean
  -0.5 * (length(x) * log(2 * pi) + c(determinant(sigma)$modulus) + sum(z * solve(sigma, z)))
}

ar1_covariance <- function(n, phi, sd = 1) sd^2 * phi^abs(outer(seq_len(n), seq_len(n), "-"))

x <- rbind(c(0.3, -1, 0.7, 0.2), c(1.2, 0.4, -0.6, 2), c(0, 0.1, 0.5, -0.3))
centre <- c(0.1, -0.2, 0.3, 0)
sigma <- crossprod(matrix(sin(1:16), 4)) + diag(4)
theta <- c(0.3, -1.2, 0.5, 2, 0.1, -0.4)

# A mesh of 4 x 3 nodes, two triangles in each cell, some moved
nodes <- as.matrix(expand.grid(1:4, 1:3)) + 0.2 * matrix(sin(1:24), 12)
corner <- c(outer(1:3, 4 * (0:1), "+"))
triangles <- rbind(cbind(corner, corner + 1, corner + 5), cbind(corner + 5, corner + 4, corner))

field_precision <- function(fem, kappa, tau) {
  g <- matrix(0, 12, 12)
  g[cbind(fem$g$i, fem$g$j)] <- fem$g$x
  g[cbind(fem$g$j, fem$g$i)] <- fem$g$x
  tau^2 * (kappa^4 * diag(fem$c) + 2 * kappa^2 * g + g %*% (g / fem$c))
}

test_that("normal densities of vectors and of rows are those of R's formulas, in all forms", {
  skip_without_plugin()
  f <- function(x, mean, sigma, phi) {
    r <- chol(sigma)
    q <- chol2inv(r)
    list(
      hlo_dmvnorm(x, mean, sigma, log = TRUE), hlo_dmvnorm(x, mean, chol = r), hlo_dmvnorm(x, mean, precision = q),
      hlo_dmvnorm(x, mean, precision = hlo_ar1_precision(4, phi, 2), log = TRUE), hlo_dar1(x, phi, mean, 2, log = TRUE),
      one = hlo_dmvnorm(x[1, ], 0.5, sigma), series = hlo_dar1(x[1, ], phi), mean = hlo_dmvnorm(x, x[3:1, ], sigma),
      each = hlo_dar1(x, c(0.1, -0.5, 0.9), 0, c(1, 2, 0.5)),
      scalar = hlo_dmvnorm(x[1, 1], 1, 4), short = hlo_dar1(x[1, 1], phi, sd = 3),
      precision = as.matrix(hlo_ar1_precision(4, phi, 2)), least = as.matrix(hlo_ar1_precision(1, phi, 2))
    )
  }
  rows <- function(mean, sigma) apply(x, 1, normal_density, mean, sigma)
  normal <- rows(centre, sigma)
  series <- ar1_covariance(4, 0.7, 2)
  each <- Map(function(i, phi, sd) exp(normal_density(x[i, ], 0, ar1_covariance(4, phi, sd))),
    1:3, c(0.1, -0.5, 0.9), c(1, 2, 0.5)
  )
  expected <- list(
    normal, exp(normal), exp(normal), rows(centre, series), rows(centre, series),
    one = exp(normal_density(x[1, ], 0.5, sigma)), series = exp(normal_density(x[1, ], 0, ar1_covariance(4, 0.7))),
    mean = exp(vapply(1:3, function(i) normal_density(x[i, ], x[4 - i, ], sigma), 0)), each = unlist(each),
    scalar = dnorm(0.3, 1, 2), short = dnorm(0.3, 0, 3),
    precision = solve(series), least = matrix(0.25)
  )
  expect_equal(xla_jit(f)(x, centre, sigma, 0.7), expected)
  single <- xla_jit(f)(pjrt_buffer(x, "f32"), pjrt_buffer(centre, "f32"), pjrt_buffer(sigma, "f32"),
    pjrt_scalar(0.7, "f32"))
  expect_identical(unique(vapply(single, function(x) format(dtype(x)), "")), "<f32>")
  expect_equal(lapply(single, as_array), expected, tolerance = 1e-5, ignore_attr = TRUE)
})

test_that("derivatives by a covariance are those by its factor, to the third order, alone and in batches", {
  skip_without_plugin()
  skip_unless_all()
  lags <- abs(outer(1:4, 1:4, "-"))
  density <- function(by_sigma, rows) {
    function(p) {
      s <- exp(-lags * exp(p[1])) * p[2]^2 + diag(4) * p[3]
      z <- rows * p[4]
      mean <- rep(p[5], 4)
      found <- if (by_sigma) hlo_dmvnorm(z, mean, s, log = TRUE) else hlo_dmvnorm(z, mean, chol = chol(s), log = TRUE)
      sum(found * seq_along(found))
    }
  }
  p <- c(0.2, 1.3, 0.5, 0.9, 0.3)
  along <- cos(1:5)
  orders <- function(f) {
    third <- function(p) sum(xla_hessian(f)(p) * outer(along, along))
    batch <- rbind(p, p + 0.1, p * 0.8)
    list(
      xla_grad(f)(p), xla_hessian(f)(p), xla_vmap(xla_grad(f))(batch), f(p), xla_grad(third)(p),
      xla_jvp(xla_grad(f))(p, along)$tangent, xla_vmap(f)(batch)
    )
  }
  for (rows in list(x, x[1, ])) {
    both <- xla_jit(function() lapply(c(TRUE, FALSE), function(by_sigma) orders(density(by_sigma, rows))))()
    expect_equal(both[[1]], both[[2]], tolerance = 1e-9)
  }
  # Only what is above the diagonal counts, also for the gradient.
  half <- sigma
  half[lower.tri(half)] <- NaN
  slopes <- function(sigma) xla_grad(function(s) sum(hlo_dmvnorm(x, centre, s, log = TRUE)))(sigma)
  expect_equal(slopes(half), xla_grad(function(s) sum(hlo_dmvnorm(x, centre, chol = chol(s), log = TRUE)))(sigma))
  # A density alone makes no inverse, and a Hessian makes one.
  value <- function(s) sum(hlo_dmvnorm(x, centre, s, log = TRUE))
  calls <- function(f) as.integer(sum(ffi_profile(xla_jit(f)(sigma))$calls))
  expect_identical(calls(value), 2L)
  expect_identical(c(calls(xla_grad(value)), calls(xla_hessian(value))), c(4L, 4L))
})

test_that("separable densities are those of Kronecker products", {
  skip_without_plugin()
  z <- array(sin(1:24), c(4, 3, 2))
  dense <- crossprod(matrix(cos(1:9), 3)) + diag(3)
  f <- function(z, dense, phi) {
    q <- list(hlo_ar1_precision(4, phi), dense, hlo_ar1_precision(2, -0.3, 2))
    list(
      hlo_dseparable(z, q, log = TRUE), hlo_dseparable(z, q, 0.2), hlo_dseparable(z[, , 1], q[1:2], z[, , 2], TRUE),
      hlo_dseparable(z[, 1, 1], q[1], log = TRUE)
    )
  }
  a <- ar1_covariance(4, 0.7)
  b <- solve(dense)
  whole <- ar1_covariance(2, -0.3, 2) %x% b %x% a
  expect_equal(xla_jit(f)(z, dense, 0.7), list(
    normal_density(as.vector(z), 0, whole), exp(normal_density(as.vector(z), 0.2, whole)),
    normal_density(as.vector(z[, , 1] - z[, , 2]), 0, b %x% a), normal_density(z[, 1, 1], 0, a)
  ))
})

test_that("correlations of unconstrained numbers are those of TMB", {
  skip_without_plugin()
  f <- xla_jit(function(theta, sd) {
    list(hlo_corr_chol(theta), crossprod(hlo_corr_chol(theta, sd)), hlo_corr_chol(numeric(), sd[1]))
  })
  # UNSTRUCTURED_CORR(): L has ones on its diagonal and theta by rows below; the covariance of L is scaled.
  lower <- diag(4)
  for (i in 2:4) lower[i, seq_len(i - 1)] <- theta[(i - 1) * (i - 2) / 2 + seq_len(i - 1)]
  correlation <- cov2cor(tcrossprod(lower))
  expect_equal(f(theta, 1:4), list(chol(correlation), correlation * outer(1:4, 1:4), matrix(1)))
})

test_that("precision matrices of meshes are those of finite elements", {
  skip_without_plugin()
  fem <- fem_matrices(nodes, triangles)
  expect_equal(sum(fem$c), sum(apply(triangles, 1, function(t) abs(det(cbind(1, nodes[t, ]))) / 2)))
  # Gradients of linear functions: integrals of their products
  g <- field_precision(fem, 1, 1) - diag(fem$c)
  stiffness <- matrix(0, 12, 12)
  for (k in seq_len(nrow(triangles))) {
    at <- triangles[k, ]
    plane <- solve(cbind(1, nodes[at, ]))[-1, ]
    stiffness[at, at] <- stiffness[at, at] + crossprod(plane) * abs(det(cbind(1, nodes[at, ]))) / 2
  }
  expect_equal(g, 2 * stiffness + stiffness %*% (stiffness / fem$c))
  field <- cos(1:12)
  expected <- field_precision(fem, 0.8, 1.5)
  f <- function(kappa, tau, c, g) {
    q <- hlo_spde_precision(fem$c, fem$g, kappa, tau)
    by_values <- hlo_spde_precision(c, fem$g, kappa, tau)
    moved <- hlo_spde_precision(c, hlo_sparse(g, fem$g$i, fem$g$j, symmetric = TRUE), kappa, tau)
    list(
      as.matrix(q), as.matrix(by_values), as.matrix(moved), as.matrix(hlo_spde_precision(fem$c, fem$g, kappa)),
      hlo_dmvnorm(field, precision = q, log = TRUE),
      hlo_dseparable(matrix(sin(1:36), 12), list(q, hlo_ar1_precision(3, 0.4)), log = TRUE)
    )
  }
  expect_equal(xla_jit(f)(0.8, 1.5, fem$c, fem$g$x), list(
    expected, expected, expected, field_precision(fem, 0.8, 1), normal_density(field, 0, solve(expected)),
    normal_density(sin(1:36), 0, ar1_covariance(3, 0.4) %x% solve(expected))
  ))
})

test_that("matrices of the package Matrix make precision matrices", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  fem <- fem_matrices(nodes, triangles)
  field <- cos(1:12)
  mass <- Matrix::Diagonal(x = fem$c)
  symmetric <- Matrix::sparseMatrix(fem$g$i, fem$g$j, x = fem$g$x, symmetric = TRUE)
  general <- methods::as(methods::as(symmetric, "generalMatrix"), "TsparseMatrix")
  f <- function(kappa) {
    list(
      as.matrix(hlo_spde_precision(mass, symmetric, kappa)), as.matrix(hlo_spde_precision(mass, general, kappa)),
      hlo_dmvnorm(field, precision = hlo_sparse(symmetric + mass))
    )
  }
  expected <- field_precision(fem, 0.8, 1)
  density <- exp(normal_density(field, 0, solve(as.matrix(symmetric + mass))))
  expect_equal(xla_jit(f)(0.8), list(expected, expected, density))
})

test_that("densities of vectors work in batches, with derivatives of what is in the batch", {
  skip_without_plugin()
  skip_unless_all()
  fem <- fem_matrices(nodes, triangles)
  f <- function(p, x) {
    field <- hlo_dmvnorm(x, precision = hlo_spde_precision(fem$c, fem$g, exp(p[1]), exp(p[2])), log = TRUE)
    grid <- hlo_dseparable(matrix(x, 4), list(hlo_ar1_precision(4, tanh(p[1])), hlo_ar1_precision(3, tanh(p[2]))))
    field + grid + hlo_dar1(x, tanh(p[1]), p[2], exp(p[1]), log = TRUE)
  }
  p <- rbind(c(0.1, 0.4), c(-0.3, 0.2), c(0.5, -0.6))
  data <- matrix(sin(1:36), 3)
  together <- xla_jit(function(p, x) list(xla_vmap(f)(p, x), xla_vmap(xla_grad(f))(p, x)))(p, data)
  one <- lapply(1:3, function(i) list(xla_jit(f)(p[i, ], data[i, ]), xla_grad(f)(p[i, ], data[i, ])))
  expect_equal(together, list(vapply(one, `[[`, 0, 1), t(vapply(one, `[[`, c(0, 0), 2))))
})

test_that("what is no covariance, and no parameter of a series, gives NaN", {
  skip_without_plugin()
  f <- function(x, sigma, phi, sd) {
    list(
      hlo_dmvnorm(x, 0, sigma), hlo_dmvnorm(x, 0, precision = sigma),
      hlo_dmvnorm(x, 0, precision = hlo_sparse(sigma[c(1, 2, 4)], c(1, 2, 2), c(1, 1, 2), symmetric = TRUE)),
      hlo_dar1(rbind(x, x, x, x), phi, 0, sd), hlo_dmvnorm(x, precision = hlo_ar1_precision(2, 1, 1))
    )
  }
  found <- xla_jit(f)(c(1, 2), matrix(c(1, 2, 2, 1), 2), c(0.5, 1, -1.5, 0.5), c(1, 1, 1, -1))
  fine <- exp(normal_density(c(1, 2), 0, ar1_covariance(2, 0.5)))
  expect_equal(found, list(NaN, NaN, NaN, c(fine, NaN, NaN, NaN), NaN))
})

test_that("vectors and matrices that do not fit are refused", {
  skip_without_plugin()
  said <- function(f) expect_snapshot(xla_jit(f)(c(2, 1, 3)), error = TRUE, cran = TRUE)
  said(function(x) hlo_dmvnorm(x))
  said(function(x) hlo_dmvnorm(x, 0, diag(3), precision = diag(3)))
  said(function(x) hlo_dmvnorm(x, 0, diag(2)))
  said(function(x) hlo_dmvnorm(x, 1:2, diag(3)))
  said(function(x) hlo_dmvnorm(x, 0, x))
  said(function(x) hlo_dmvnorm(x, 0, diag(3), log = 1))
  said(function(x) hlo_dmvnorm(x, precision = hlo_sparse(x, 1:3, 1:3)))
  said(function(x) hlo_dmvnorm(x, chol = hlo_sparse(x, 1:3, 1:3)))
  said(function(x) hlo_dmvnorm(x, sigma = hlo_ar1_precision(3, 0.5)))
  said(function(x) hlo_dmvnorm(array(1, c(1, 1, 1)), 0, x))
  said(function(x) hlo_dar1(x, 0.5, sd = x))
  said(function(x) hlo_dar1(x, "a"))
  said(function(x) hlo_ar1_precision(x, 0.5))
  said(function(x) hlo_ar1_precision(3, x))
  said(function(x) hlo_ar1_precision(0, 0.5))
  said(function(x) hlo_corr_chol(x[1:2]))
  said(function(x) hlo_corr_chol(x, x[1:2]))
  said(function(x) hlo_dseparable(x, diag(3)))
  said(function(x) hlo_dseparable(matrix(x, 3, 2), list(diag(3), diag(3))))
  said(function(x) hlo_dseparable(x, list(diag(3)), 1:2))
  said(function(x) hlo_spde_precision(x, 1, 1, 1))
  said(function(x) hlo_spde_precision(x, list(i = 1:4, j = 1:4, x = 1:4), 1, 1))
  said(function(x) hlo_spde_precision(c(1, -1), list(i = 1:2, j = 1:2, x = 1:2), 1, 1))
  said(function(x) hlo_spde_precision(1:2, list(i = 1:2, j = 2:1, x = 1:2), 1, 1))
  said(function(x) hlo_spde_precision(1:2, list(i = 1:2, j = 1:2, x = 1:2), x))
  expect_snapshot(error = TRUE, cran = TRUE, {
    fem_matrices(1:3, 1:3)
    fem_matrices(diag(2), cbind(1, 2, 3))
    fem_matrices(cbind(1:3, 1:3), cbind(1, 2, 3))
  })
})
