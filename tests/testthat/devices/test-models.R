test_that("the models of the vignette agree with R's on the whole of the data", {
  skip_unless_all()
  m <- new.env()
  sys.source(system.file("examples/devices.R", package = "xlaffi", mustWork = TRUE), m)
  x <- m$x
  like <- unname(summary(lm(m$y ~ x - 1))$coefficients)
  expect_lt(max(abs(as.vector(m$linear$beta) - like[, 1])), 1e-10)
  expect_lt(max(abs(as.vector(m$linear$error) - like[, 2])), 1e-10)
  precise <- list(epsilon = 1e-14)
  like <- unname(summary(glm(m$event ~ x - 1, family = binomial, control = precise))$coefficients)
  expect_lt(max(abs(as.vector(m$logistic$beta) - like[, 1])), 1e-10)
  expect_lt(max(abs(as.vector(m$logistic$error) - like[, 2])), 1e-10)

  # The prior is weak: the draws are where the likelihood is.
  few <- glm(m$event[1:2000] ~ x[1:2000, ] - 1, family = binomial)
  draws <- m$samples$beta[, -(1:20), ]
  expect_gt(mean(m$samples$taken), 0.8)
  expect_lt(max(abs(apply(draws, 3, mean) - coef(few)) / sqrt(diag(vcov(few)))), 0.3)
  expect_lt(max(abs(log(apply(draws, 3, sd) / sqrt(diag(vcov(few)))))), 0.3)
  # Chains of their own, be they on one device or on two
  expect_identical(anyDuplicated(as.vector(m$samples$beta[, 250, ])), 0L)

  n <- length(m$height)
  whole <- function(p) {
    k <- exp(2 * p[[1]] - outer(m$place, m$place, "-")^2 / (2 * exp(2 * p[[2]]))) + diag(exp(2 * p[[3]]), n)
    root <- chol(k)
    sum(backsolve(root, m$height, transpose = TRUE)^2) / 2 + sum(log(diag(root))) + n / 2 * log(2 * pi)
  }
  at <- c(size = 0.1, length = -0.3, noise = -1)
  expect_equal(m$gp$fn(at), whole(at), tolerance = 1e-10)
  slope <- vapply(1:3, function(i) {
    step <- replace(numeric(3), i, 1e-5)
    (whole(at + step) - whole(at - step)) / 2e-5
  }, 0)
  expect_equal(unname(m$gp$gr(at)), slope, tolerance = 1e-7)
  expect_identical(m$best$convergence, 0L)
})

test_that("products of tall matrices are the handler's on each device, and XLA's where it shares out", {
  n <- 8 * 1024
  x <- matrix(sin((1:(3 * n))^2), n)
  w <- cos(1:n)^2
  mesh <- xla_mesh(c(rows = 8))
  in_parts <- function(f) xla_shard_map(f, mesh, in_specs = "rows", out_specs = xla_spec())
  turned <- function(x, w) {
    # What was transposed outside has no other name inside.
    across <- t(x[1:1024, ])
    list(
      in_parts(function(w) hlo_psum(across %*% (x[1:1024, ] * w), "rows"))(w),
      in_parts(function(x, w) hlo_psum(crossprod(x, x * w), "rows"))(x, w)
    )
  }
  by_device <- lapply(0:7, function(i) crossprod(x[1:1024, ], x[1:1024, ] * w[i * 1024 + 1:1024]))
  expect_equal(xla_jit(turned)(x, w), list(Reduce(`+`, by_device), crossprod(x, x * w)), tolerance = 1e-12)
  expect_identical(times_in(xla_program(turned, x, w), "@xlaffi.crossprod("), 1L)
  shared <- list(xla_shard(x, mesh, "rows"), xla_shard(w, mesh, "rows"))
  expect_equal(
    as_array(xla_jit(function(x, w) crossprod(x, x * w))(shared[[1]], shared[[2]])), crossprod(x, x * w),
    tolerance = 1e-12
  )
  expect_identical(times_in(do.call(xla_program, c(function(x, w) crossprod(x, x * w), shared)), "crossprod"), 0L)
})
