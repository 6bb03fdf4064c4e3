# Points of an objective that are computed at once, as nothing but the point is new: they are as those before.

test_that("each point has the value, the gradient and the counts that it would have alone", {
  skip_without_plugin()
  y <- c(1.5, 0.2, 3)
  f <- function(beta, y) sum((exp(beta[1]) - y * beta[2])^2)
  value <- function(p) sum((exp(p[1]) - y * p[2])^2)
  slope <- function(p) {
    r <- exp(p[[1]]) - y * p[[2]]
    c(2 * sum(r) * exp(p[[1]]), -2 * sum(r * y))
  }
  for (dtype in c("f64", "f32")) {
    o <- xla_objective(f, c(a = 0, b = 0), y = y, dtype = dtype)
    near <- if (dtype == "f64") 1e-12 else 1e-5
    for (turn in 1:4) {
      p <- c(turn / 7, 1 / turn)
      # Names or none, a matrix of one column, integers
      expect_equal(o$fn(p), value(p), tolerance = near)
      expect_equal(o$gr(c(a = p[1], b = p[2])), c(a = slope(p)[1], b = slope(p)[2]), tolerance = near)
      expect_identical(o$gr(matrix(p)), o$gr(p))
      expect_identical(o$evaluations()[["gradient"]], turn)
      expect_equal(o$fn(c(1L, 2L)), value(c(1, 2)), tolerance = near)
      expect_identical(o$fn(p), o$fn_gr(p)[[1]])
      o <- update(o, y = y)
      for (i in seq_len(turn)) expect_equal(o$gr(p + i), c(a = slope(p + i)[1], b = slope(p + i)[2]), tolerance = near)
    }
    expect_error(o$fn(c(b = 1, a = 2)), "the names of `par` must be a, b, not b, a", fixed = TRUE)
    expect_error(o$gr(c(1, 2, 3)), "`par` must be a vector of 2 numbers, not 3", fixed = TRUE)
    expect_error(o$gr("1"), "`par` must be a vector of 2 numbers", fixed = TRUE)
    expect_error(o$fn(factor(1:2)), "`par` must be a vector of 2 numbers", fixed = TRUE)
  }
})

test_that("what a point has is known to all functions, and nothing is computed twice", {
  skip_without_plugin()
  o <- xla_objective(function(x) sum(x^4), c(1, 2))
  for (turn in 1:3) {
    p <- c(turn, 2)
    expect_identical(list(o$fn(p), o$gr(p)), list(sum(p^4), 4 * p^3))
    expect_equal(o$he(p), diag(12 * p^2))
    expect_identical(o$evaluations(), c(value = turn, gradient = turn, hessian = turn))
  }
  # What is given stays what it was, as does what comes.
  gradient <- o$gr(p)
  gradient[1] <- 0
  expect_identical(o$gr(p), 4 * p^3)
  value <- o$fn(p)
  p[1] <- 9
  expect_identical(c(value, o$fn(p)), c(3^4, 9^4) + 16)
  expect_identical(o$fn(c(NA, 2)), NaN + NA_real_ * 0)
  expect_identical(is.nan(o$gr(c(NaN, 2))), c(TRUE, TRUE))
  root <- xla_objective(function(x) sqrt(x[1]) + x[2], c(1, 2))
  for (turn in 1:3) {
    expect_equal(root$gr(c(turn, 2)), c(0.5 / sqrt(turn), 1))
    expect_error(root$gr(c(0, turn)), "the gradient is not finite where the value is: parameter 1", fixed = TRUE)
    expect_identical(root$fn(c(0, turn)), as.double(turn))
    expect_identical(root$gr(c(-1, turn)), c(NaN, NaN))
  }
})

test_that("a point sees what has changed since the one before", {
  skip_without_plugin()
  shift <- 1
  o <- xla_objective(function(x) sum((x - shift)^2), c(0, 0))
  for (turn in 1:3) expect_identical(o$fn(c(turn, 1)), (turn - 1)^2)
  shift <- 3
  expect_identical(o$fn(c(3, 1)), 4)
  expect_identical(o$gr(c(3, 1)), c(0, -4))
  # Also where the sampler has noticed it first
  shift <- 5
  if (all_run()) {
    xla_sample(o, chains = 1, draws = 50, warmup = 200, seed = 1)
  } else {
    xlaffi:::model_of_objective(o, NULL, NULL, environment())
  }
  expect_identical(o$fn(c(3, 1)), 20)
  expect_identical(o$gr(c(3, 1)), c(-4, -8))
  shift <- 3
  forget_session()
  expect_identical(o$gr(c(4, 1)), c(2, -4))
  expect_gt(nrow(xla_cache()), 0L)
  # Numbers beside the arguments, and what is computed of the data alone
  table <- as.double(1:600)
  large <- xla_objective(function(x, y) sum(x * table * exp(lgamma(y) / 100)), 1, y = table)
  expected <- sum(table * exp(lgamma(table) / 100))
  for (turn in 1:3) expect_equal(c(large$fn(turn), large$gr(turn)), c(turn, 1) * expected)
  table <- table * 2
  expect_equal(c(large$fn(3), large$gr(3)), c(3, 1) * 2 * expected)
  # From a file, where there is no program
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(o, file)
  again <- readRDS(file)
  for (turn in 1:3) expect_identical(again$gr(c(turn, 3)), c(2 * (turn - 3), 0))
})

test_that("a point waits for R where its program calls R, and its errors are told", {
  skip_without_plugin()
  calls <- 0L
  square <- ffi_callback(
    function(x) {
      calls <<- calls + 1L
      if (any(x > 5)) stop("too large")
      x^2
    }, "x: f64[n] -> y: f64[n]", jvp = "numeric", vectorized = TRUE
  )
  o <- xla_objective(function(x) sum(square(x)), c(1, 2))
  for (turn in 1:3) expect_equal(c(o$fn(c(turn, 1)), o$gr(c(turn, 1))), c(turn^2 + 1, 2 * turn, 2), tolerance = 1e-6)
  expect_gte(calls, 3L)
  expect_error(o$fn(c(6, 1)), "too large")
  expect_identical(o$fn(c(4, 1)), 17)
  # More than a moment's work
  y <- diag(if (all_run()) 2000 else 900)
  long <- xla_objective(function(x, y) sum(diag(hlo_matmul(y * x[1], hlo_matmul(y, y * x[1])))) * x[2], c(1, 2), y = y)
  for (turn in 1:4) {
    p <- c(turn, 3)
    values <- list(long$fn(p), long$gr(p), long$evaluations()[["value"]])
    expect_equal(values, list(3 * nrow(y) * turn^2, nrow(y) * turn * c(6, turn), turn))
  }
  printing <- xla_objective(function(x) {
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    sum(x^2)
  }, c(1, 2))
  for (turn in 1:3) expect_output(expect_identical(printing$fn(c(turn, 2)), turn^2 + 4), sprintf(" %d\n 2", turn))
})
