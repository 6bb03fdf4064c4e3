# What an objective computes of its data alone is computed once for these data.

n <- 70000L
x <- cos(seq_len(n))
counts <- floor(exp(1 + x) * (seq_len(n) %% 7) / 3)
rates <- function(p, y, x) -sum(dpois(y, exp(p[1] + p[2] * x), log = TRUE))
rates_known <- function(p, y = counts) -sum(stats::dpois(y, exp(p[1] + p[2] * x), log = TRUE))
slope_known <- function(p, y = counts) c(sum(exp(p[1] + p[2] * x) - y), sum(x * (exp(p[1] + p[2] * x) - y)))
at <- c(0.9, 1.1)

# What the calls of this session have apart from their programs
all_terms <- function() Filter(Negate(is.null), lapply(as.list(xlaffi:::jit_state$calls), function(call) call$terms))
parts <- function() sum(startsWith(xla_cache()$name, "data of "))

test_that("objectives have what is theirs, whatever the data are, in whatever order", {
  skip_without_plugin()
  forget_session()
  model <- xla_objective(rates, c(0, 0), counts, x)
  expect_equal(model$fn(at), rates_known(at))
  expect_equal(model$gr(at), slope_known(at))
  weights <- exp(at[1] + at[2] * x)
  expect_equal(model$he(at), crossprod(cbind(1, x), cbind(1, x) * weights), ignore_attr = TRUE)
  expect_gt(parts(), 0)
  # The second derivatives have nothing of the data alone but the data.
  terms <- all_terms()
  expect_length(terms, 1L)
  other <- update(model, y = rev(counts))
  for (i in 1:2) {
    p <- at + i / 8
    expect_equal(other$fn(p), rates_known(p, rev(counts)))
    expect_equal(model$fn(p), rates_known(p))
    expect_equal(other$gr(p), slope_known(p, rev(counts)))
  }
  # They are kept as long as the data are.
  held <- terms[[1L]]
  model$fn(at)
  expect_length(rlang::wref_value(held$last)$buffers, length(held$types))
  rm(model, other)
  gc()
  expect_null(rlang::wref_value(held$last))
})

test_that("data that the function reads, data of both kinds and results of data alone are as in R", {
  skip_without_plugin()
  forget_session()
  y <- counts + 0.5
  g <- function(p, x) sum((log(y) - p[1] * x)^2 + y^x) + mean(lgamma(y))
  known <- function(p) sum((log(y) - p[1] * x)^2 + y^x) + mean(lgamma(y))
  model <- xla_objective(g, 0, x)
  expect_equal(model$fn(0.3), known(0.3))
  expect_equal(model$gr(0.3), sum(-2 * x * (log(y) - 0.3 * x)))
  before <- parts()
  expect_gt(before, 0)
  y <- rev(counts) + 1
  expect_equal(model$fn(0.3), known(0.3))
  expect_equal(model$gr(0.3), sum(-2 * x * (log(y) - 0.3 * x)))
  # All of it
  whole <- xla_objective(function(p, x) sum(exp(x)), 1, x)
  expect_equal(whole$fn(2), sum(exp(x)))
  expect_identical(whole$gr(2), 0)
  # In single precision, and data too small to make a program for
  single <- xla_objective(g, 0, pjrt_buffer(x, "f32"), dtype = "f32")
  expect_equal(single$fn(0.3), known(0.3), tolerance = 1e-5)
  before <- parts()
  few <- xla_objective(rates, c(0, 0), counts[1:9], x[1:9])
  expect_equal(few$fn(at), -sum(stats::dpois(counts[1:9], exp(at[1] + at[2] * x[1:9]), log = TRUE)))
  expect_identical(parts(), before)
})

test_that("loops, branches and matrices take what is computed before", {
  skip_without_plugin()
  skip_unless_all()
  forget_session()
  design <- Matrix::sparseMatrix(i = rep(seq_len(n), 2L), j = c(rep(1:2, n / 2), rep(3L, n)), x = c(exp(x), x))
  f <- function(p, y, design) {
    dear <- log(y + 1) * sqrt(y + 2)
    total <- hlo_fori(1, 3, function(i, sum) sum + mean(dear * p[1]) * i, 0)
    part <- hlo_cond(p[1] > 0, function() mean(exp(-y) + p[2] * dear), function() 2 * p[2])
    eta <- (design * 2) %*% c(p, 1)
    total + part + sum(log1p(y) * eta) / n + mean(dear[1:10])
  }
  known <- function(p) {
    dear <- log(counts + 1) * sqrt(counts + 2)
    part <- if (p[1] > 0) mean(exp(-counts) + p[2] * dear) else 2 * p[2]
    6 * mean(dear) * p[1] + part + 2 * sum(log1p(counts) * as.vector(design %*% c(p, 1))) / n + mean(dear[1:10])
  }
  model <- xla_objective(f, c(0, 0), counts, design)
  for (p in list(c(0.5, 2), c(-0.5, 2))) {
    expect_equal(model$fn(p), known(p))
    slope <- vapply(1:2, function(i) {
      step <- replace(numeric(2), i, 1e-3)
      (known(p + step) - known(p - step)) / 2e-3
    }, 0)
    expect_equal(model$gr(p), slope, tolerance = 1e-7)
  }
  expect_gt(parts(), 0)
})

test_that("calls of R, and what is done besides, come with every point", {
  skip_without_plugin()
  calls <- 0
  looked <- ffi_callback(function(x) {
    calls <<- calls + 1
    x + calls
  }, "x: f64[n] -> y: f64[n]", jvp = function(primals, results, tangents) tangents[[1L]])
  model <- xla_objective(function(p, y) sum(looked(log(y + 1))) * p, 1, counts)
  shown <- model$fn(2)
  before <- calls
  expect_equal(model$fn(4), 2 * (shown + 2 * n * (calls - 1)), tolerance = 1e-12)
  expect_gt(calls, before)
})

test_that("random effects, and objectives that another session has left, have them too", {
  skip_without_plugin()
  skip_unless_all()
  folder <- withr::local_tempdir("programs")
  Sys.chmod(folder, "0700")
  withr::local_options(xlaffi.program_cache = folder)
  forget_session()
  group <- rep(1:5, n / 5)
  mixed <- function() {
    env <- new.env(parent = globalenv())
    eval(quote(f <- function(p, y, x, group) {
      -sum(dnorm(p$u, 0, exp(p$s), log = TRUE)) - sum(dpois(y, exp(p$b * x + p$u[group]), log = TRUE))
    }), env)
    xla_objective(env$f, list(b = 0, s = 0, u = numeric(5)), counts, x, group, random = "u")
  }
  first <- mixed()
  joint <- function(u, p) {
    -sum(stats::dnorm(u, 0, exp(p[2]), log = TRUE)) -
      sum(stats::dpois(counts, exp(p[1] * x + u[group]), log = TRUE))
  }
  p <- c(0.8, -0.2)
  u <- first$random(p)
  curvature <- vapply(1:5, function(k) sum(exp(p[1] * x + u[[k]])[group == k]) + exp(-2 * p[2]), 0)
  expect_equal(first$fn(p), joint(u, p) + sum(log(curvature)) / 2 - 5 * log(2 * pi) / 2, tolerance = 1e-10)
  slope <- first$gr(p)
  count <- length(all_terms())
  expect_gt(count, 0)
  saved <- nrow(xla_cache("saved"))
  forget_session()
  expect_length(all_terms(), 0L)
  again <- mixed()
  expect_identical(again$fn(p), first$fn(p))
  expect_identical(again$gr(p), slope)
  expect_length(all_terms(), count)
  expect_identical(nrow(xla_cache("saved")), saved)
})
