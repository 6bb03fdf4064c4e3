# The code of two articles, in which other packages use derivatives and densities of ours, run with these packages, and
# what they return beside computations that use nothing of this package: survreg() of survival with its own sandwich,
# R's optimHess() and optim(), sums over a grid, loo of densities in R. A line for each comparison; ends with status 1
# where one is further off than it may be.
#
#   Rscript check-adapters.R
#
# Needs numDeriv, nloptr, maxLik, sandwich, car, survival, mcmc, bridgesampling and loo.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
articles <- file.path(here, "..", "..", "vignettes", "articles")

# The objects that an article's code makes
run_article <- function(name) {
  code <- tempfile(fileext = ".R")
  knitr::purl(file.path(articles, paste0(name, ".Rmd")), code, documentation = 0L, quiet = TRUE)
  made <- new.env(parent = globalenv())
  utils::capture.output(suppressMessages(sys.source(code, made)))
  made
}

failed <- FALSE
expect_near <- function(what, found, known, tolerance, scale = pmax(1, abs(known))) {
  apart <- max(abs(unname(as.vector(found)) - unname(as.vector(known))) / as.vector(scale))
  ok <- isTRUE(apart <= tolerance)
  cat(sprintf("%-66s %.1e of %.0e%s\n", what, apart, tolerance, if (ok) "" else "   FAILS"))
  if (!ok) failed <<- TRUE
}

# --- derivatives --------------------------------------------------------------------------------

made <- run_article("derivatives-for-packages")
data <- data.frame(time = made$time, event = made$event, treated = made$treated)
like <- survival::survreg(survival::Surv(time, event) ~ treated, data,
  control = survival::survreg.control(rel.tolerance = 1e-14)
)
known <- c(coef(like), log(like$scale))
for (name in c("fit", "bhhh")) {
  expect_near(paste("maxLik, coefficients:", name, "beside survreg()"), coef(made[[name]]), known,
    if (name == "fit") 1e-6 else 1e-3)
}
expect_near("maxLik, log-likelihood", made$fit$maximum, like$loglik[[2L]], 1e-9)
expect_near("maxLik, covariances", vcov(made$fit), vcov(like), 1e-6)
robust <- survival::survreg(survival::Surv(time, event) ~ treated, data, robust = TRUE)
expect_near("sandwich beside survreg(robust = TRUE)", sandwich::sandwich(made$fit), vcov(robust), 1e-5)
expect_near("nloptr, without a constraint", made$free$solution, known, 1e-5)
# With the constraint put into the function: the first coefficient follows from the others.
by_constraint <- function(p) c(log(40) - lgamma(1 + exp(p[[2L]])) - p[[1L]], p)
bound <- optim(c(1, 0), function(p) -made$by_r(by_constraint(p)), method = "BFGS", control = list(reltol = 1e-15))
expect_near("nloptr, with a constraint", made$bound$solution, by_constraint(bound$par), 1e-4)
expect_near("nloptr, its minimum", made$bound$objective, bound$value, 1e-8)
expect_near("numDeriv's gradient", numDeriv::grad(made$by_r, made$start),
  made$grad(made$likelihood, made$start, made$time, made$event, made$treated), 1e-8)
expect_near("numDeriv's Hessian", numDeriv::hessian(made$by_r, made$start),
  made$hessian(made$likelihood, made$start, made$time, made$event, made$treated), 1e-5)
expect_near("numDeriv's Jacobian", numDeriv::jacobian(made$remission, coef(made$fit), week = made$weeks),
  made$slopes, 1e-8)
expect_near("car, estimate and error", unlist(made$difference_12[c("Estimate", "SE")]),
  unlist(made$effects[2L, c("difference", "error")]), 1e-10)

# --- densities ----------------------------------------------------------------------------------

made <- run_article("densities-for-packages")
density_of <- function(name) {
  function(p) {
    eta <- p[[1L]] + p[[2L]] * cars$speed
    scale <- exp(p[[3L]])
    each <- switch(name,
      t = dt((cars$dist - eta) / scale, 4, log = TRUE) - p[[3L]],
      normal = dnorm(cars$dist, eta, scale, log = TRUE)
    )
    sum(each) + sum(dnorm(p, c(0, 0, 2), c(50, 10, 1), log = TRUE))
  }
}
# Sums over a grid that is turned and stretched by the Hessian at the mode, 7 standard deviations to each side: of a
# smooth density that falls so far they are exact to many digits.
on_grid <- function(f) {
  size <- c(5, 0.5, 0.1)
  control <- list(fnscale = -1, reltol = 1e-14, parscale = size)
  mode <- optim(c(-15, 4, 2.5), f, method = "BFGS", control = control)
  root <- t(chol(solve(-optimHess(mode$par, f, control = list(parscale = size)))))
  z <- seq(-7, 7, length.out = 41)
  points <- as.matrix(expand.grid(z, z, z)) %*% t(root) + rep(mode$par, each = 41^3)
  values <- apply(points, 1L, f)
  weights <- exp(values - max(values))
  list(
    evidence = max(values) + log(sum(weights) * diff(z[1:2])^3) + sum(log(diag(root))),
    mean = colSums(points * weights) / sum(weights)
  )
}
normal <- on_grid(density_of("normal"))
t <- on_grid(density_of("t"))
expect_near("objective beside the density in R", -made$heavy$fn(c(-10, 3, 2)), density_of("t")(c(-10, 3, 2)), 1e-13)
spread <- apply(as.matrix(made$draws_t[c("a", "b", "log_scale")]), 2L, sd)
walk <- made$walk$batch
expect_near("mcmc, means in standard errors", colMeans(walk), t$mean, 4, apply(walk, 2L, sd) / sqrt(nrow(walk)))
expect_near("xla_sample(), means in standard errors", made$own$mean, t$mean, 4, made$own$mcse_mean)
expect_near("bridgesampling, evidence with normal errors", made$evidence_normal$logml, normal$evidence, 0.02, 1)
expect_near("bridgesampling, evidence with errors of a t", made$evidence_t$logml, t$evidence, 0.02, 1)
points <- as.matrix(made$draws_t[c("a", "b", "log_scale")])
expect_near("a batch of densities", made$values, apply(points, 1L, density_of("t")), 1e-12)
expect_near("and one by one", made$values, -apply(points, 1L, made$heavy$fn), 1e-12)
in_r <- vapply(seq_len(nrow(cars)), function(i) {
  dt((cars$dist[[i]] - points[, 1L] - points[, 2L] * cars$speed[[i]]) / exp(points[, 3L]), 4, log = TRUE) - points[, 3L]
}, numeric(nrow(points)))
chains <- rep(1:4, each = nrow(points) / 4)
known <- loo::loo(in_r, r_eff = loo::relative_eff(exp(in_r), chain_id = chains))
expect_near("loo, of each observation", made$loo_t$pointwise[, "elpd_loo"], known$pointwise[, "elpd_loo"], 1e-9)

peers <- c("numDeriv", "nloptr", "maxLik", "sandwich", "car", "mcmc", "bridgesampling", "loo")
versions <- vapply(peers, function(name) paste(name, utils::packageVersion(name)), "")
cat("With", toString(versions), "\n")
quit(status = if (failed) 1L else 0L)
