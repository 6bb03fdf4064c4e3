# Random vectors: each component has its distribution, and they have their covariances.

test_that("normal vectors have their means and covariances", {
  skip_without_plugin()
  n <- 1e5
  sigma <- matrix(c(4, 1, -1, 1, 2, 0.5, -1, 0.5, 1), 3)
  mean <- c(1, -2, 30)
  y <- xla_jit(function(seed, mean, sigma) hlo_rmvnorm(hlo_key(seed), n, mean, sigma))(1L, mean, sigma)
  y <- as.matrix(y)
  expect_identical(dim(y), c(as.integer(n), 3L))
  # Independent standard normal numbers again
  z <- (y - rep(mean, each = n)) %*% solve(chol(sigma))
  for (i in 1:3) {
    expect_gt(stats::ks.test(z[, i], "pnorm")$p.value, 1e-4)
  }
  expect_lt(max(abs(stats::cov(z) - diag(3))), 0.02)
  expect_lt(max(abs(stats::cov(y) - sigma)), 0.08)
})

test_that("Dirichlet vectors have beta numbers as components", {
  skip_without_plugin()
  skip_unless_all()
  n <- 1e5
  alpha <- c(0.5, 2, 7)
  out <- xla_jit(function(seed, alpha) {
    keys <- hlo_split(hlo_key(seed), 2)
    list(hlo_rdirichlet(keys[1, ], n, alpha), tiny = hlo_rdirichlet(keys[2, ], n, c(1e-3, 2e-3)))
  })(4L, alpha)
  y <- as.matrix(out[[1]])
  for (i in 1:3) {
    p <- stats::ks.test(y[, i], function(q) stats::pbeta(q, alpha[[i]], sum(alpha[-i])))$p.value
    expect_gt(p, 1e-4)
  }
  expect_lt(max(abs(rowSums(y) - 1)), 1e-14)
  expected <- -outer(alpha, alpha) / (sum(alpha)^2 * (sum(alpha) + 1))
  expect_lt(max(abs((stats::cov(y) - expected)[upper.tri(expected)])), 1e-3)
  expect_lt(abs(mean(as.matrix(out$tiny)[, 1]) - 1 / 3), 0.01)
})

test_that("shapes, dtypes, derivatives and parameters at the edge", {
  skip_without_plugin()
  out <- xla_jit(function(seed, sigma, s) {
    key <- hlo_key(seed)
    f <- function(sigma) sum(hlo_rmvnorm(key, 3, 0, sigma) * c(1, 2, 4))
    list(
      one = hlo_rmvnorm(key, integer(), c(5, 6), sigma), array = hlo_rmvnorm(key, c(2, 3), 0, sigma),
      f32 = hlo_rmvnorm(key, 2, 1, hlo_convert(sigma, "f32")), none = hlo_rmvnorm(key, 2, 1, -sigma),
      one_alpha = hlo_rdirichlet(key, integer(), c(1, 1)), edge = hlo_rdirichlet(key, 2, c(0, 1, 2)),
      bad = hlo_rdirichlet(key, 2, c(-1, 1)), endless = hlo_rdirichlet(key, 2, c(Inf, 1)),
      value = f(s * sigma), slope = xla_grad(function(s) f(s * sigma))(s)
    )
  })(9L, diag(c(4, 9)), 2)
  expect_length(out$one, 2)
  expect_identical(dim(out$array), c(2L, 3L, 2L))
  expect_true(all(is.nan(as.vector(out$none))))
  expect_equal(sum(as.vector(out$one_alpha)), 1)
  expect_identical(as.matrix(out$edge)[, 1], c(0, 0))
  expect_true(all(is.nan(c(as.vector(out$bad), as.vector(out$endless)))))
  # All numbers grow with sqrt(s)
  expect_equal(as.vector(out$slope), as.vector(out$value) / 4)
})

test_that("parameters that do not fit are refused", {
  skip_without_plugin()
  run <- function(f, ...) xla_jit(f)(...)
  expect_snapshot(error = TRUE, {
    run(function() hlo_rmvnorm(hlo_key(1), 3, c(0, 0), matrix(1, 2, 3)))
    run(function() hlo_rmvnorm(hlo_key(1), 3, c(0, 0, 0), diag(2)))
    run(function() hlo_rmvnorm(hlo_key(1), 3, 1i, diag(2)))
    run(function() hlo_rdirichlet(hlo_key(1), 3, diag(2)))
    run(function() hlo_rdirichlet(hlo_key(1), 3, numeric()))
    run(function(a) hlo_rdirichlet(a, 3, 1), 1)
  })
})
