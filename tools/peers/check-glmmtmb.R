# Seventeen models of glmmTMB's documentation and of data that come with R, fitted by xla_fit() and by glmmTMB: their
# log-likelihoods and estimates must be within 1e-6 of each other, standard errors within 1e-4. Both optima are polished
# by Newton steps first: searches end where the function is flat up to rounding. glmmTMB's Hessian is that of
# differences of its gradient. Writes results-glmmtmb.md beside itself; ends with status 1 where a model is further off.
#
#   Rscript check-glmmtmb.R [PATTERN OF MODELS' NAMES]

suppressMessages(suppressWarnings(library(glmmTMB)))
library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "glmmtmb-models.R"))

errors <- function(hessian) sqrt(diag(solve(hessian)))

# The optimum, as far as the gradient tells, and the Hessian there
polished <- function(x, gradient, hessian) {
  for (turn in 1:3) {
    curvature <- hessian(x)
    x <- x - solve(curvature, as.vector(gradient(x)))
  }
  list(par = unname(x), errors = errors(curvature))
}

by_differences <- function(functions) {
  function(x) stats::optimHess(x, functions$fn, functions$gr, control = list(ndeps = rep(1e-4, length(x))))
}

# Relative to the larger one's size, or absolutely below one
apart <- function(x, y) max(abs(x - y) / pmax(1, abs(y)))

compared <- function(name) {
  model <- glmmtmb_models[[name]]
  seconds <- c(
    peer = system.time(peer <- suppressWarnings(model$peer()))[["elapsed"]],
    ours = system.time({
      objective <- do.call(xla_objective, c(list(model$f, model$par), model$data, list(random = "b")))
      fit <- xla_fit(objective)
      vcov(fit)
    })[["elapsed"]]
  )
  known <- polished(peer$fit$par, peer$obj$gr, by_differences(peer$obj))
  own <- polished(fit$par, objective$gr, objective$he)
  found <- c(
    value = apart(objective$fn(own$par), peer$obj$fn(known$par)), estimates = apart(own$par, known$par),
    errors = max(abs(own$errors / known$errors - 1))
  )
  ok <- all(found <= c(1e-6, 1e-6, 1e-4)) && fit$convergence == 0L
  cat(sprintf("%-45s %s %s (%.1f s, glmmTMB %.1f s)\n", name, toString(sprintf("%.1e", found)), if (ok) "" else "FAILS",
    seconds[["ours"]], seconds[["peer"]]
  ))
  list(likelihood = c(logLik(fit)), found = found, ok = ok)
}

chosen <- grep(c(commandArgs(TRUE), "")[[1L]], names(glmmtmb_models), value = TRUE)
results <- sapply(chosen, compared, simplify = FALSE)
ok <- vapply(results, `[[`, NA, "ok")
if (length(chosen) == length(glmmtmb_models)) {
  rows <- vapply(chosen, function(name) {
    result <- results[[name]]
    sprintf("| %s | %.4f | %.0e | %.0e | %.0e |", name, result$likelihood, result$found[[1L]], result$found[[2L]],
      result$found[[3L]]
    )
  }, "")
  writeLines(c(
    "| model | log-likelihood | apart by | estimates | standard errors |", "|---|---|---|---|---|", rows, "",
    sprintf("xlaffi %s, R %s, glmmTMB %s, TMB %s.", packageVersion("xlaffi"), getRversion(), packageVersion("glmmTMB"),
      packageVersion("TMB")
    )
  ), file.path(here, "results-glmmtmb.md"))
}
quit(status = if (all(ok)) 0L else 1L)
