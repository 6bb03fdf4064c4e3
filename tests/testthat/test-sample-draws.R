# Tables, parts and conversions of draws; their convergence beside {posterior}.

columns <- function(x, ...) as.data.frame(xlaffi:::summary_columns(x, ...))

test_that("diagnostics of chains are those of the literature", {
  # posterior 1.4.0
  expected <- rbind(
    free = c(1.08054275585, 74.2703191383, 57.7369255151, 0.112564332287, 0.0734876343036, 0.501286557319,
      0.195465598687),
    slow = c(1.5104364127, 7.60760563147, 39.0383373122, 0.703460561047, 0.204177823782, 0.409150106038,
      0.274535788325),
    against = c(1.14694486119, 133.727939743, 16.0721533258, 0.187260434939, 0.427941907291, 1.07676694296,
      1.15879341096),
    apart = c(1.12120979617, 21.4332617446, 57.7369255151, 0.248648697996, 0.104937084429, 0.356875926196,
      0.395185813149),
    heavy = c(0.99963009787, 92.4104416737, 96.1875, 23.8065855594, 100.848036055, 2.21427093358, 5.79338376476),
    whole = c(1.00703264202, 60.9743629562, NA, 0.149667248694, 0.103862193587, 0, NA),
    turning = c(1.28870263064, 11.2219407392, NA, 0.385897586479, 0.0569728650707, 0.5, NA),
    far = c(1.01739801656, 88.8432491904, 56.9644462607, 88.9719657021, 69.8898467724, 130.631120026, 215.335135818)
  )
  x <- series(25L, 3L)
  found <- columns(x)
  rownames(found) <- dimnames(x)[[3L]]
  expect_equal(found[rownames(expected), -(1:6)], as.data.frame(expected), tolerance = 1e-9, ignore_attr = TRUE)
  expect_true(all(is.na(found[c("same", "missing"), -(1:6)])) && all(is.na(found["infinite", -(1:8)])))
  expect_equal(found[1:2, "mean"], unname(apply(x, 3L, mean)[1:2]))
  expect_equal(found$sd[c(1:9, 11)], unname(apply(x, 3L, sd)[c(1:9, 11)]))
  # Numbers of a small scale do not count as constant. One variable at a time is the same as all.
  expect_equal(found["small", 7:9], columns(x[, , "small", drop = FALSE] * 1e9)[, 7:9], ignore_attr = TRUE)
  expect_equal(columns(x[, , "far", drop = FALSE]), found["far", ], ignore_attr = TRUE)
  expect_identical(dim(columns(x[, , 0L, drop = FALSE])), c(0L, 13L))
  # A long autoregressive series has the known effective size.
  set.seed(3)
  long <- array(replicate(4, stats::filter(stats::rnorm(3e4), 0.6, "recursive")), c(3e4, 4, 1))
  expect_equal(columns(long, errors = FALSE)$ess_bulk, 12e4 * 0.4 / 1.6, tolerance = 0.05)
  energy <- cbind(sin(1:50), cumsum(cos(1:50)))
  expect_equal(xlaffi:::ebfmi(energy), apply(energy, 2, function(e) sum(diff(e)^2) / 50 / var(e)))
  expect_identical(xlaffi:::ebfmi(energy[1:2, ]), c(NA_real_, NA_real_))
})

test_that("draws are those of posterior and coda, at awkward sizes too", {
  skip_if_not_installed("posterior")
  measures <- c("mean", "median", "sd", "mad", "quantile2", "rhat", "ess_bulk", "ess_tail", "mcse_mean", "mcse_sd",
    "mcse_quantile")
  for (size in if (all_run()) c(1, 4:9, 16, 25, 101) else c(1, 4, 25)) for (chains in c(1, 4)) {
    x <- series(size, chains)
    known <- suppressWarnings(posterior::summarise_draws(posterior::as_draws_array(x), measures))
    known <- vapply(known[-1L], as.numeric, numeric(dim(x)[[3L]]))
    known[dimnames(x)[[3L]] == "small", "mcse_sd"] <- columns(x)$mcse_sd[[9L]]
    found <- columns(x)
    # Chains that do not vary, each for itself, are infinitely far apart.
    known[is.infinite(found$rhat) & known[, "rhat"] > 1e10, "rhat"] <- Inf
    expect_equal(is.na(found), is.na(known), ignore_attr = TRUE, label = sprintf("%d x %d", size, chains))
    expect_equal(found, as.data.frame(known), tolerance = 1e-9, ignore_attr = TRUE,
      label = sprintf("%d x %d", size, chains)
    )
  }
  draws <- made_draws()
  taken <- posterior::as_draws_array(draws)
  expect_identical(unclass(taken), as.array(draws))
  expect_identical(posterior::variables(posterior::as_draws_df(draws)), dimnames(draws$draws)[[3L]])
  frame <- as.data.frame(draws)
  expect_identical(frame, as.data.frame(posterior::as_draws_df(draws))[names(frame)], ignore_attr = TRUE)
  expect_identical(as.matrix(draws), unclass(posterior::as_draws_matrix(draws)), ignore_attr = TRUE)
  mine <- summary(draws)
  known <- suppressWarnings(as.data.frame(posterior::summarise_draws(draws)))
  expect_equal(mine[names(known)], known, tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("coda takes draws", {
  skip_if_not_installed("coda")
  draws <- made_draws()
  chains <- coda::as.mcmc.list(draws)
  expect_identical(c(coda::nchain(chains), coda::niter(chains), coda::thin(chains)), c(4, 100, 2))
  expect_identical(coda::varnames(chains), dimnames(draws$draws)[[3L]])
  expect_identical(as.vector(chains[[3L]][, "tau"]), unname(draws$draws[, 3L, "tau"]))
})

test_that("draws print as a table with what went wrong", {
  draws <- made_draws()
  expect_snapshot({
    draws
    print(draws[c("u", "tau")], n = 2)
    summary(draws, c("deep", "L", "lp__"), probs = 0.5)
    summary(subset(draws, "mu", chains = 1, iterations = 1:5))[, 1:3]
  }, cran = TRUE)
})

test_that("parts of draws, and means in the parameters' form", {
  draws <- made_draws()
  x <- as.array(draws)
  expect_identical(as.array(draws["u"]), x[, , c("u[a]", "u[b]", "u[c]")])
  expect_identical(as.array(draws[c("tau", "deep")]), x[, , c("tau", "deep.s")])
  expect_identical(as.array(draws[2:1]), x[, , 2:1])
  expect_identical(draws[], draws)
  part <- subset(draws, "L", chains = c(3, 1), iterations = 11:20)
  expect_identical(as.array(part), x[11:20, c(3, 1), 6:9])
  expect_identical(part$diagnostics$energy__, draws$diagnostics$energy__[11:20, c(3, 1)])
  expect_identical(part$info$sampling_time, c(0.1, 0.1))
  expect_null(part$state)
  means <- apply(x, 3L, mean)
  expect_equal(coef(draws), list(
    mu = means[[1]], tau = means[[2]], u = c(a = means[[3]], b = means[[4]], c = means[[5]]),
    L = matrix(means[6:9], 2), deep = list(s = means[[10]])
  ))
  expect_equal(coef(draws["u"], quantile, probs = 0.5), apply(x[, , 3:5], 3L, median))
  expect_identical(dimnames(as.matrix(draws)), list(draw = as.character(1:400), variable = dimnames(x)[[3L]]))
  frame <- as.data.frame(draws)
  expect_identical(as.data.frame(draws, stringsAsFactors = FALSE), frame)
  expect_identical(frame[["u[b]"]], as.vector(x[, , "u[b]"]))
  expect_identical(frame$.iteration, rep(1:100, 4))
  names <- xlaffi:::variable_names
  expect_identical(names(list(a = numeric(0), 7, b = array(1, c(1, 2, 1)))), c("2", "b[1,1,1]", "b[1,2,1]"))
  expect_identical(names(c(x = 1, y = 2)), c("x", "y"))
  expect_identical(names(c(1, 2)), c("par[1]", "par[2]"))
  expect_identical(names(list(a = list(b = 1:2), a.b = 1:2)), c("a.b[1]", "a.b[2]", "a.b[1]_1", "a.b[2]_1"))
  expect_identical(names(list(m = matrix(0, 1, 2, dimnames = list(NULL, c("p", "q"))))), c("m[1,p]", "m[1,q]"))
})

test_that("what is no part of draws is refused", {
  draws <- made_draws()
  said <- function(code) expect_snapshot(code, error = TRUE, cran = TRUE)
  said(draws["v"])
  said(draws["taw"])
  said(draws[11])
  said(draws[NA])
  said(draws[1, 2])
  said(subset(draws, chains = 5))
  said(subset(draws, iterations = c(1, 1)))
  said(subset(draws, variable = 1, chains = 1, place = 2))
  said(summary(draws, "energy"))
  said(summary(draws, probs = 2))
  said(coef(draws, 1))
  said(coef(draws, range))
  said(coef(draws, fun = sd))
  said(coef(draws, sd, chains = 1))
  said(as.matrix(draws, chains = 1))
  said(as.data.frame(draws, chains = 1))
  said(as.array(draws, foo = 1))
  said(plot(draws, "violin"))
  said(plot(draws, "energy", "mu"))
  said(plot(draws, "pairs", "mu"))
  said(plot(draws, "trace", "nu"))
  said(plot(subset(draws, iterations = 1:2), "energy"))
  said(plot(subset(draws, iterations = integer()), "trace"))
})

test_that("what would be lost at the end, and points of another form, are refused before chains begin", {
  skip_without_plugin()
  refused <- function(text, f, ...) expect_error(xla_sample(f, ..., chains = 1), text, class = "xlaffi_error")
  normal <- function(p) -sum(p$x^2)
  start <- list(x = 1)
  refused("not <sparse matrix 1 x 2 .* entries>", normal, start, generated = function(p) hlo_sparse(p$x, 1, 2))
  refused("`x`, which is the name of a parameter", normal, start, generated = function(p) list(y = 1, x = p$x * 1:2))
  refused("`inits.*` must have the form of `start`", function(x) -x^2, 1, inits = list(list(zz = 1)))
  refused("`inits.*` must have the form of `start`", normal, start, inits = list(list(x = list(1))))
  refused("no parameter is free", function(p) sum(log(p$w)), list(w = 1), constraints = list(w = xla_simplex()))
})

test_that("plots leave the device as it was, and show what is not finite as such", {
  draws <- made_draws(60L)
  draws$draws[5, 2, "u[c]"] <- NaN
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  before <- graphics::par(no.readonly = TRUE)
  for (type in c("trace", "rank", "density", "interval", "acf", "energy")) {
    expect_identical(expect_invisible(plot(draws, type)), draws)
    expect_silent(plot(subset(draws, chains = 1), type))
  }
  expect_silent(plot(draws, "pairs", c("mu", "tau", "lp__")))
  expect_message(plot(draws[c(1:4, 6:10)], "pairs"), "the first 5 of 7 variables; `variables = ` chooses others")
  expect_snapshot(plot(draws, "pairs", "u"), error = TRUE, cran = TRUE)
  # Constants have a place if they are asked for.
  for (type in c("trace", "rank", "density", "interval", "acf", "pairs")) expect_silent(plot(draws, type, "L"))
  # One panel goes where others would.
  graphics::par(mfrow = c(2, 2))
  plot(draws, "trace", "mu")
  plot(draws, "density", "mu")
  expect_identical(graphics::par("mfrow", "mfg"), list(mfrow = c(2L, 2L), mfg = c(1L, 2L, 2L, 2L)))
  graphics::par(mfrow = c(1, 1))
  after <- graphics::par(no.readonly = TRUE)
  same <- c("mar", "mgp", "las", "oma", "tcl", "cex", "mai")
  expect_equal(after[same], before[same])
})
