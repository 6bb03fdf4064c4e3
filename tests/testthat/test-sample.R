# Draws beside distributions that are known
set.seed(3)
observed <- stats::rnorm(12, 1.5, 2)
known_error <- function(p, y, sd) {
  sum(dnorm(y, p$mu, sd, log = TRUE)) + sum(dnorm(c(p$mu, p$free), 0, c(3, 2), log = TRUE))
}
# What p$mu is distributed as
precision <- 12 / 4 + 1 / 9
posterior <- c(mean = sum(observed) / 4 / precision, sd = 1 / sqrt(precision))
predicted <- function(p, y, sd, key) {
  list(half = p$mu / 2, new = hlo_rnorm(key, 2, p$mu, 1), pair = outer(c(1, 2), 1:2) * p$free)
}
# Functions that are saved take no environment of the tests with them.
environment(known_error) <- environment(predicted) <- globalenv()
sampled <- function(..., draws = 150, warmup = 100, chains = 2, seed = 7) {
  xla_sample(known_error, list(mu = 0, free = 1),
    y = observed, sd = 2, generated = predicted, draws = draws, warmup = warmup, chains = chains, seed = seed, ...
  )
}
# What several tests compare with
whole_draws <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- sampled()
    made
  }
})
same_draws <- function(a, b) {
  expect_identical(a$draws, b$draws)
  expect_identical(a$diagnostics, b$diagnostics)
}
# The first execution of a chain makes so many draws, all others make one.
in_pieces <- function(first, env = parent.frame()) {
  before <- mget(c("first", "seconds"), chain_pace)
  withr::defer(list2env(before, chain_pace), env)
  list2env(list(first = first, seconds = 1e-9), chain_pace)
}

test_that("means and deviations are those of the distribution, and energies those of its draws", {
  skip_without_plugin()
  fit <- sampled(draws = 1000, warmup = 300, chains = 4)
  table <- summary(fit)
  row <- function(name) table[table$variable == name, ]
  mu <- row("mu")
  expect_lt(abs(mu$mean - posterior[["mean"]]), 4 * mu$mcse_mean)
  expect_lt(abs(mu$sd - posterior[["sd"]]), 4 * mu$mcse_sd)
  free <- row("free")
  expect_lt(abs(free$mean), 4 * free$mcse_mean)
  expect_lt(abs(free$sd - 2), 4 * free$mcse_sd)
  expect_true(all(table$rhat < 1.02))
  # The sampler's program is among those that are kept, and makes room for others.
  local({
    withr::local_options(xlaffi.cache_size = 1)
    expect_equal(xla_jit(function(x) x + 41)(1), 42)
    expect_identical(nrow(xla_cache()), 1L)
  })
  # Generated quantities are those of their draws.
  pairs <- c("pair[1,1]", "pair[2,1]", "pair[1,2]", "pair[2,2]")
  expect_identical(table$variable[-(1:2)], c("half", "new[1]", "new[2]", pairs))
  expect_equal(as.array(fit["half"])[], as.array(fit["mu"])[] / 2, ignore_attr = TRUE)
  expect_equal(c(as.array(fit["pair[2,2]"])), 4 * c(as.array(fit["free"])))
  noise <- c(as.array(fit["new[1]"]) - as.array(fit["mu"]))
  expect_gt(stats::ks.test(noise, "pnorm")$p.value, 1e-4)
  expect_lt(abs(stats::cor(noise, c(as.array(fit["new[2]"]) - as.array(fit["mu"])))), 0.1)
  # lp__ is the density at the draw, which the momentum's energy comes to.
  at <- as.matrix(fit)[1:5, ]
  lp <- apply(at, 1, function(x) {
    sum(stats::dnorm(observed, x[["mu"]], 2, log = TRUE)) + sum(stats::dnorm(x[1:2], 0, c(3, 2), log = TRUE))
  })
  expect_equal(unname(lp), fit$diagnostics$lp__[1:5, 1], ignore_attr = TRUE)
  expect_true(all(fit$diagnostics$energy__ + fit$diagnostics$lp__ > 0))
  kinetic <- 2 * (fit$diagnostics$energy__ + fit$diagnostics$lp__)
  expect_equal(mean(kinetic), 2, tolerance = 0.25)
  expect_true(all(fit$diagnostics$n_leapfrog__ <= 2^fit$diagnostics$treedepth__ + 2^fit$diagnostics$treedepth__ - 1))
  expect_equal(mean(fit$diagnostics$accept_stat__), 0.8, tolerance = 0.15)
  expect_length(unique(c(fit$diagnostics$stepsize__)), 4)
  expect_equal(unname(fit$diagnostics$stepsize__[1, ]), fit$warmup$step_size)
  # The metric is near the variances.
  metric <- Reduce(`+`, fit$warmup$inverse_metric) / 4
  expect_equal(metric, c(posterior[["sd"]]^2, 4), tolerance = 0.5)
  # Numbers at other places of the key are other ones.
  expect_lt(abs(stats::cor(fit$draws[, 1, "mu"], fit$draws[, 2, "mu"])), 0.2)
})

test_that("the same seed gives the same draws, in however many pieces and however many chains", {
  skip_without_plugin()
  skip_unless_all()
  whole <- whole_draws()
  same_draws(sampled(cores = 1), whole)
  local({
    in_pieces(13)
    same_draws(sampled(), whole)
  })
  expect_identical(sampled(chains = 3)$draws[, 1:2, ], whole$draws)
  expect_false(identical(sampled(seed = NULL)$draws, whole$draws))
  # A key is a seed.
  key <- xla_jit(function() hlo_key(7))()
  again <- xla_sample(known_error, list(mu = 0, free = 1),
    y = observed, sd = 2, generated = predicted, draws = 150, warmup = 100, chains = 2, seed = key
  )
  same_draws(again, whole)
})

test_that("chains go on as if they had not stopped", {
  skip_without_plugin()
  whole <- whole_draws()
  part <- sampled(draws = 40)
  same_draws(update(part, draws = 110), whole)
  expect_snapshot(error = TRUE, {
    update(whole["mu"])
    update(whole, draws = 0)
    update(whole, n = 3)
  })
  skip_unless_all()
  file <- withr::local_tempfile()
  saveRDS(part, file)
  same_draws(update(readRDS(file), draws = 110, cores = 1), whole)
  thinned <- sampled(draws = 150, thin = 4)
  expect_identical(thinned$draws[], whole$draws[seq(4, 148, 4), , ], ignore_attr = TRUE)
  same_draws(update(sampled(draws = 50, thin = 4), draws = 100), thinned)
  expect_identical(thinned$info[c("thin", "warmup", "chains")], list(thin = 4L, warmup = 100L, chains = 2L))
  part <- update(sampled(draws = 50), draws = 30)
  expect_identical(part$info$iterations, 80L)
})

test_that("an interruption leaves the draws so far, which can be continued", {
  skip_without_plugin()
  whole <- whole_draws()
  numbers <- NULL
  stop_at <- function(count) {
    function(now) {
      numbers <<- now
      if (now$done >= count) rlang::interrupt()
    }
  }
  in_pieces(20)
  # One chain is further than the other one.
  expect_warning(part <- sampled(progress = stop_at(281), cores = 1), "each chain has [0-9]+ draws",
    class = "xlaffi_warning_interrupted"
  )
  count <- nrow(part$draws)
  expect_true(part$info$interrupted && count > 20 && count < 60)
  expect_identical(part$draws, whole$draws[seq_len(count), , ])
  same_draws(update(part, draws = 150 - count), whole)
  expect_named(numbers, c("done", "total", "warming", "accept", "divergent", "left"))
  expect_identical(numbers[c("total", "warming", "divergent")], list(total = 500, warming = 0L, divergent = 0))
  skip_unless_all()
  expect_warning(more <- update(part, draws = 60, progress = stop_at(31)), class = "xlaffi_warning_interrupted")
  same_draws(update(more, draws = 150 - nrow(more$draws)), whole)
  expect_error(sampled(progress = stop_at(10)), "during the warm-up", class = "xlaffi_error_cancelled")
  # An interruption when all is done comes too late.
  expect_no_warning(same_draws(sampled(progress = stop_at(500)), whole))
})

test_that("an interactive session sees a bar", {
  skip_without_plugin()
  skip_unless_all()
  withr::local_options(cli.dynamic = TRUE, cli.ansi = FALSE, cli.progress_show_after = 0, cli.width = 100)
  f <- function(p) -sum(p^2) / 2
  lines <- cli::cli_fmt(xla_sample(f, numeric(2), draws = 50, warmup = 50, seed = 1, progress = TRUE))
  expect_match(paste(lines, collapse = "\n"), "Sampling .* [0-9]+% ")
})

test_that("parameters obey their constraints and have the density on their own scale; the warm-up can be kept", {
  skip_without_plugin()
  f <- function(p) {
    dgamma(p$scale, 3, 2, log = TRUE) + dbeta(p$share, 2, 3, log = TRUE) + sum(c(1, 2, 3) * log(p$parts)) +
      sum(dnorm(p$both, log = TRUE))
  }
  start <- list(scale = 1, share = 0.5, parts = rep(1 / 4, 4)[1:3] * 4 / 3, both = c(-1, 1))
  draws <- xla_sample(f, start, draws = 700, warmup = 200, seed = 5, save_warmup = TRUE, constraints = list(
    scale = xla_positive(), share = xla_interval(0, 1), parts = xla_simplex(), both = xla_ordered()
  ))
  flat <- as.matrix(draws)
  expect_true(all(flat[, "scale"] > 0), all(flat[, "share"] > 0 & flat[, "share"] < 1))
  expect_equal(rowSums(flat[, 3:5]), rep(1, 2800), ignore_attr = TRUE)
  expect_true(all(flat[, "both[1]"] < flat[, "both[2]"]))
  # Gamma, beta, Dirichlet(2, 3, 4), and the smaller and the larger of two normal numbers
  known <- c(1.5, 0.4, 2 / 9, 3 / 9, 4 / 9, -1 / sqrt(pi), 1 / sqrt(pi))
  table <- summary(draws)
  expect_true(all(abs(table$mean - known) < 4.5 * table$mcse_mean))
  # The chain goes on where the warm-up ended, of which every draw is there.
  expect_identical(dim(draws$warmup$draws), c(200L, 4L, 7L))
  expect_named(draws$warmup$diagnostics, names(draws$diagnostics))
  expect_true(all(draws$warmup$diagnostics$stepsize__[200, ] != draws$warmup$step_size))
  expect_snapshot(error = TRUE, xla_sample(f, start, constraints = list(skale = xla_positive())))
  skip_unless_all()
  without <- xla_sample(f, start, draws = 50, warmup = 200, seed = 5, chains = 1, constraints = list(
    scale = xla_positive(), share = xla_interval(0, 1), parts = xla_simplex(), both = xla_ordered()
  ))
  expect_identical(without$draws[, 1, ], draws$draws[1:50, 1, ])
  expect_null(without$warmup$draws)
})

test_that("ranks of true parameters among draws of their posteriors are uniform", {
  skip_unless_all()
  skip_without_plugin()
  # Simulation-based calibration (S. Talts and others 2018): parameters of the prior, data of these, draws given those
  f <- function(p, y, x) {
    dnorm(p$a, log = TRUE) + dnorm(p$b, log = TRUE) + dexp(p$sd, log = TRUE) +
      sum(dnorm(y, p$a + p$b * x, p$sd, log = TRUE))
  }
  x <- c(-1, -0.5, 0, 0.3, 1, 2)
  set.seed(12)
  ranks <- vapply(1:200, function(i) {
    truth <- c(stats::rnorm(2), stats::rexp(1))
    y <- truth[[1]] + truth[[2]] * x + stats::rnorm(6, 0, truth[[3]])
    draws <- suppressWarnings(xla_sample(f, list(a = 0, b = 0, sd = 1),
      y = y, x = x, constraints = list(sd = xla_positive()), draws = 760, warmup = 400, chains = 1, thin = 40, seed = i,
      target_accept = 0.95
    ))
    colSums(as.matrix(draws) < rep(truth, each = 19))
  }, numeric(3))
  # Ranks are whole numbers from 0 to 19.
  for (k in 1:3) {
    expect_gt(stats::chisq.test(table(factor(ranks[k, ], 0:19)))$p.value, 1e-3)
  }
})

test_that("objectives and fits are sampled with their random effects", {
  skip_without_plugin()
  skip_unless_all()
  group <- rep(1:3, each = 4)
  joint <- function(p, y, group) {
    -sum(dnorm(y, p$mu + p$u[group], 1, log = TRUE)) - sum(dnorm(p$u, 0, exp(p$log_sd), log = TRUE))
  }
  start <- list(mu = 0, u = c(a = 0, b = 0, c = 0), log_sd = 0.5)
  model <- xla_objective(joint, start, observed, group, random = "u", map = list(log_sd = NA))
  fit <- xla_fit(model)
  draws <- xla_sample(fit, draws = 1000, warmup = 300, seed = 2, metric = "dense")
  expect_identical(dimnames(draws$draws)[[3]], c("mu", "u[a]", "u[b]", "u[c]", "log_sd"))
  expect_true(all(draws$draws[, , "log_sd"] == 0.5))
  # With a flat prior of mu the posterior is normal.
  z <- cbind(1, outer(group, 1:3, "==") * 1)
  covariance <- solve(crossprod(z) + diag(c(0, rep(exp(-1), 3))))
  mean <- covariance %*% crossprod(z, observed)
  table <- summary(draws)[1:4, ]
  expect_true(all(abs(table$mean - mean) < 4 * table$mcse_mean))
  expect_true(all(abs(table$sd - sqrt(diag(covariance))) < 4 * table$mcse_sd))
  expect_equal(stats::cor(as.matrix(draws)[, 1:4]), stats::cov2cor(covariance), tolerance = 0.1, ignore_attr = TRUE)
  metric <- Reduce(`+`, draws$warmup$inverse_metric) / 4
  expect_equal(metric, covariance, tolerance = 0.3)
  expect_identical(names(coef(draws)), c("mu", "u", "log_sd"))
  # An objective is minimised, so its function is minus the logarithm of the density, unless it is told otherwise.
  level <- c(level = 0)
  minus <- xla_objective(function(p, y) -sum(dnorm(y, p, 1, log = TRUE)), level, y = observed, dtype = "f32")
  plus <- xla_objective(function(p, y) sum(dnorm(y, p, 1, log = TRUE)), level,
    y = observed, dtype = "f32", negate = TRUE
  )
  both <- lapply(list(minus, plus), xla_sample, draws = 400, warmup = 200, chains = 2, seed = 1)
  expect_equal(both[[1]]$draws, both[[2]]$draws, tolerance = 1e-4)
  level <- summary(both[[1]])
  expect_identical(level$variable, "level")
  expect_lt(abs(level$mean - mean(observed)), 4 * level$mcse_mean)
  expect_lt(abs(level$sd - 1 / sqrt(12)), 4 * level$mcse_sd)
})

test_that("divergences, deep trees and slow energies are warned of", {
  skip_without_plugin()
  skip_unless_all()
  funnel <- function(p) dnorm(p$v, 0, 3, log = TRUE) + sum(dnorm(p$x, 0, exp(p$v / 2), log = TRUE))
  caught <- list()
  draws <- withCallingHandlers(
    xla_sample(funnel, list(v = 0, x = numeric(9)), draws = 400, warmup = 200, seed = 4, max_treedepth = 4, inits = 1),
    warning = function(condition) {
      caught[[length(caught) + 1L]] <<- class(condition)[[1]]
      invokeRestart("muffleWarning")
    }
  )
  expect_identical(unlist(caught[1:2]), c("xlaffi_warning_divergent", "xlaffi_warning_treedepth"))
  expect_gt(sum(draws$diagnostics$divergent__), 0)
  expect_lte(max(draws$diagnostics$treedepth__), 4)
  expect_lte(max(draws$diagnostics$n_leapfrog__), 15)
  # A draw of a trajectory that diverged stays a point with a finite density.
  expect_true(all(is.finite(draws$draws)), all(is.finite(draws$diagnostics$energy__)))
  draws$diagnostics$energy__[] <- cumsum(rep(1, 1600))
  draws$diagnostics$divergent__[] <- draws$diagnostics$treedepth__[] <- 0
  expect_snapshot(warn_of_troubles(draws))
})

test_that("chains begin where they are told to, and say why they cannot", {
  skip_without_plugin()
  # A density on positive numbers only
  half <- function(x) ifelse(x > 0, -x, -Inf)
  draws <- suppressWarnings(xla_sample(half, 0, draws = 200, warmup = 0, chains = 2, seed = 1))
  expect_true(all(draws$draws > 0))
  expect_identical(dimnames(draws$draws)[[3]], "par")
  skip_unless_all()
  one <- suppressWarnings(xla_sample(half, 0,
    inits = list(3, 5), draws = 1, warmup = 0, chains = 2, seed = 1, max_treedepth = 1
  ))
  expect_true(all(one$draws > 0 & one$draws < 20))
  # A gradient that is no number does not stay: most points around -1 are refused.
  root <- suppressWarnings(xla_sample(function(x) sqrt(x) - x, -1.9, draws = 50, warmup = 0, chains = 2, seed = 1))
  expect_true(all(root$draws > 0))
  # Of several chains it is by chance which one says so first.
  expect_snapshot(error = TRUE, {
    xla_sample(half, -9, chains = 1, seed = 1)
    xla_sample(function(x) 0 * x, 0, chains = 1, seed = 1)
    xla_sample(half, 0, inits = list(-1), chains = 1, seed = 1)
  })
})

test_that("wrong arguments are told", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(p, y) sum(dnorm(y, p$mu, 1, log = TRUE))
  start <- list(mu = 0)
  two <- xla_objective(function(x) x, c(1, 2))
  good <- xla_objective(function(p) sum(p$a^2), list(a = c(1, 2)))
  expect_snapshot(error = TRUE, {
    xla_sample(1, start)
    xla_sample(f)
    xla_sample(f, list(mu = 0L), y = 1)
    xla_sample(f, list(mu = "a"), y = 1)
    xla_sample(f, list(mu = NA_real_), y = 1)
    xla_sample(f, start)
    xla_sample(f, start, z = 1)
    xla_sample(function(p, y) dnorm(y, p$mu, 1, log = TRUE), start, y = c(1, 2))
    xla_sample(function(p, y) list(p$mu, y), start, y = c(1, 2))
    xla_sample(function(p, y) p$mu > y, start, y = 1)
    xla_sample(f, start, y = 1, draws = 0)
    xla_sample(f, start, y = 1, draws = c(1, 2))
    xla_sample(f, start, y = 1, warmup = -1)
    xla_sample(f, start, y = 1, chains = 1.5)
    xla_sample(f, start, y = 1, draws = 3, thin = 5)
    xla_sample(f, start, y = 1, target_accept = 1)
    xla_sample(f, start, y = 1, metric = "full")
    xla_sample(f, start, y = 1, max_treedepth = 30)
    xla_sample(f, start, y = 1, seed = "a")
    xla_sample(f, start, y = 1, cores = 0)
    xla_sample(f, start, y = 1, progress = 3)
    xla_sample(f, start, y = 1, inits = -1)
    xla_sample(f, start, y = 1, inits = list(start))
    xla_sample(f, start, y = 1, inits = list(start, list(nu = 1)), chains = 2)
    xla_sample(f, start, y = 1, generated = 3)
    xla_sample(f, start, y = 1, generated = function(p, y) "a")
    xla_sample(f, start, y = 1, generated = function(p, y) hlo_complex(p$mu, p$mu))
    xla_sample(f, start, y = 1, constraints = 3)
    xla_sample(good, y = 1)
    xla_sample(good, c(1, 2, 3))
    xla_sample(good, constraints = list(a = 1))
    xla_sample(two)
  })
})
