# Eight posteriors beside long runs of rstan: means and standard deviations of xla_sample()'s 4 chains of 1,000 draws
# must be those of 4 chains of 10,000, within 3 Monte Carlo errors of both. Among so many numbers some are further off
# by chance: as many as a normal distribution has, and none by more than 4.5. All Rhat must be at most 1.01. Writes
# results-sample.md beside itself; ends with status 1 where this is not so.
#
# rstan runs in a process of its own for each model: R ended with a segmentation fault at the sixth model in one.
#
#   Rscript check-sample.R [PATTERN OF MODELS' NAMES]
#   Rscript check-sample.R long MODEL FILE               rstan's run alone, whose numbers go to the file

suppressMessages(library(xlaffi))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
bench <- file.path(here, "..", "bench")
source(file.path(bench, "sample-models.R"))
source(file.path(bench, "sample-run.R"))
models <- sample_models()
arguments <- commandArgs(TRUE)
if (length(arguments) == 3L) {
  model <- models[[arguments[[2]]]]
  saveRDS(table_of_draws(model, run_rstan(model, iter = 11000)$draws), arguments[[3]])
  quit("no")
}
if (length(arguments)) models <- models[grepl(arguments, names(models))]

long_run <- function(name) {
  file <- tempfile(fileext = ".rds")
  script <- file.path(here, "check-sample.R")
  status <- system2(file.path(R.home("bin"), "Rscript"), c(script, "long", name, file), stdout = FALSE)
  if (status != 0) stop("rstan failed")
  readRDS(file)
}

compared <- function(name) {
  model <- models[[name]]
  long <- long_run(name)
  ours <- table_of_draws(model, run_xlaffi(model)$draws)
  apart <- function(of) {
    error <- paste0("mcse_", of)
    abs(ours[[of]] - long[[of]]) / sqrt(ours[[error]]^2 + long[[error]]^2)
  }
  list(name = name, mean = apart("mean"), sd = apart("sd"), rhat = max(ours$rhat), long_rhat = max(long$rhat))
}
results <- lapply(names(models), function(name) {
  result <- compared(name)
  cat(sprintf(
    "%s: %d parameters, means apart by up to %.1f, standard deviations by %.1f Monte Carlo errors, Rhat %.4f\n",
    name, length(result$mean), max(result$mean), max(result$sd), result$rhat
  ))
  result
})

all <- unlist(lapply(results, function(result) c(result$mean, result$sd)))
beyond <- mean(all > 3)
rows <- vapply(results, function(result) {
  sprintf(
    "| %s | %d | %.1f | %.1f | %.4f | %.4f |", result$name, length(result$mean), max(result$mean), max(result$sd),
    result$rhat, result$long_rhat
  )
}, "")
writeLines(c(
  "# Posteriors beside long runs of rstan", "",
  "Models of `tools/bench/sample-models.R`: `xla_sample()` with 4 chains of 1,000 draws, rstan with 4 of 10,000.",
  "Distances are in Monte Carlo errors of both, the largest of all parameters.", "",
  sprintf("%s, R %s, rstan %s.", Sys.Date(), getRversion(), utils::packageVersion("rstan")), "",
  "| | parameters | means | standard deviations | Rhat | Rhat of the long run |", "|---|---|---|---|---|---|", rows, "",
  sprintf(
    "Of %d distances %.1f %% are above 1, %.1f %% above 2, %.1f %% above 3 (of normal numbers: 31.7, 4.6, 0.3).",
    length(all), 100 * mean(all > 1), 100 * mean(all > 2), 100 * beyond
  )
), file.path(here, "results-sample.md"))
quit(status = if (max(all) > 4.5 || max(vapply(results, function(r) r$rhat, 0)) > 1.01) 1 else 0)
