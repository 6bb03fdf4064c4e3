# Sampling from published models beside rstan, where that is installed, and numpyro, where XLAFFI_NUMPYRO names a Python
# that has it: effective draws (the least of all parameters, in bulk) a second, with and without compilation. Every run
# is a session of its own, without programs on disk. The posteriors must agree. Writes results-sample.md.
#
#   Rscript sample.R              all; runs whose numbers XLAFFI_BENCH_KEEP, a folder, has are not made again
#   Rscript sample.R PEER MODEL   one run, whose numbers go to standard output

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
arguments <- commandArgs(TRUE)
suppressMessages(library(xlaffi))
source(file.path(here, "sample-models.R"))
source(file.path(here, "sample-run.R"))
models <- sample_models()

run_numpyro <- function(name, model) {
  folder <- tempfile("numpyro")
  dir.create(folder)
  jsonlite::write_json(model$data, file.path(folder, "data.json"), digits = NA, auto_unbox = TRUE)
  status <- system2(Sys.getenv("XLAFFI_NUMPYRO"), c(file.path(here, "sample.py"), name, folder), stdout = FALSE)
  if (status != 0) stop("numpyro failed")
  times <- jsonlite::read_json(file.path(folder, "times.json"), simplifyVector = TRUE)
  shape <- times$shape
  numbers <- readBin(file.path(folder, "draws.bin"), "double", prod(shape))
  draws <- aperm(array(numbers, rev(shape)), c(2, 3, 1))
  list(draws = draws, whole = times$whole, sampling = times$sampling, steps = times$steps)
}

if (length(arguments) == 2L) {
  model <- models[[arguments[[2]]]]
  run <- switch(arguments[[1]],
    xlaffi = run_xlaffi(model), rstan = run_rstan(model), numpyro = run_numpyro(arguments[[2]], model)
  )
  table <- table_of_draws(model, run$draws)
  kept <- list(table = table, ess = min(table$ess_bulk), run = run[c("whole", "sampling", "steps")])
  saveRDS(kept, Sys.getenv("XLAFFI_BENCH_RESULT", tempfile()))
  cat(sprintf("%s %s: %.2f s (%.2f of processors) with, %.2f (%.2f) without compilation, %.0f effective draws\n",
    arguments[[1]], arguments[[2]], run$whole[[1]], run$whole[[2]], run$sampling[[1]], run$sampling[[2]],
    min(table$ess_bulk)
  ))
  quit("no")
}

peers <- c(
  "xlaffi", if (requireNamespace("rstan", quietly = TRUE)) "rstan", if (nzchar(Sys.getenv("XLAFFI_NUMPYRO"))) "numpyro"
)
keep <- Sys.getenv("XLAFFI_BENCH_KEEP", tempdir())
one_run <- function(peer, name) {
  file <- file.path(keep, paste0(peer, "-", name, ".rds"))
  if (file.exists(file)) {
    return(readRDS(file))
  }
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", file.path(here, "sample.R"), peer, name),
    env = c(paste0("XLAFFI_BENCH_RESULT=", file), "XLAFFI_PROGRAM_CACHE=off")
  )
  if (status != 0) stop("a run failed")
  readRDS(file)
}
# With JAX's own solver of differential equations numpyro takes more than nine minutes.
results <- lapply(stats::setNames(nm = names(models)), function(name) {
  lapply(stats::setNames(nm = setdiff(peers, if (name == "lotka") "numpyro")), one_run, name)
})

# Means as many Monte Carlo errors apart as the peers' are from ours, at most
apart <- function(result) {
  own <- result$xlaffi$table
  vapply(result[-1], function(peer) {
    max(abs(own$mean - peer$table$mean) / sqrt(own$mcse_mean^2 + peer$table$mcse_mean^2))
  }, 0)
}
in_columns <- function(cells) paste(ifelse(peers %in% names(cells), cells[peers], ""), collapse = " | ")
number <- function(x) vapply(x, function(x) format(signif(x, 3), big.mark = ",", scientific = FALSE), "")
rate <- function(run, which, clock) run$ess / run$run[[which]][[clock]]
table_of <- function(which, clock) {
  rows <- vapply(names(results), function(name) {
    rates <- vapply(results[[name]], rate, 0, which, clock)
    beside <- sprintf("%s (%.2g x)", number(rates), rates[["xlaffi"]] / rates)
    cells <- stats::setNames(ifelse(names(rates) == "xlaffi", number(rates), beside), names(rates))
    sprintf("| %s | %s |", name, in_columns(cells))
  }, "")
  c(sprintf("| | %s |", paste(peers, collapse = " | ")), paste0("|", strrep("---|", length(peers) + 1)), rows)
}
details <- vapply(names(results), function(name) {
  own <- results[[name]]
  cells <- vapply(own, FUN.VALUE = "", function(peer) {
    step <- 1e6 * peer$run$sampling[[2]] / peer$run$steps / 2
    sprintf("%s, %s, %.1f us", number(peer$ess), number(peer$run$steps / 4000), step)
  })
  sprintf("| %s | %s | %s |", name, in_columns(cells), paste(sprintf("%.1f", apart(own)), collapse = ", "))
}, "")
writeLines(c(
  "# Sampling", "",
  paste(
    "4 chains of 1,000 draws after 1,000 of warm-up, on 2 cores, two chains at a time (numpyro: four threads). Models",
    "of `sample-models.R`, with simulated data. Effective draws are the least of all parameters, in bulk (Vehtari et",
    "al. 2021), computed by the same code for all; of the others, in parentheses, ours by theirs."
  ), "",
  sprintf("%s, R %s%s.", Sys.Date(), getRversion(), if ("rstan" %in% peers) {
    paste(", rstan", utils::packageVersion("rstan"))
  } else {
    ""
  }), "",
  "## Effective draws a second of time on the clock, compilation included", "", table_of("whole", 1), "",
  "## ... without compilation", "", table_of("sampling", 1), "",
  "## Effective draws a second of processors, compilation included", "", table_of("whole", 2), "",
  "## ... without compilation", "", table_of("sampling", 2), "",
  "## Effective draws, leapfrog steps a draw, and processor time a step (half of the run, with its warm-up)", "",
  sprintf("| | %s | means apart (Monte Carlo errors) |", paste(peers, collapse = " | ")),
  paste0("|", strrep("---|", length(peers) + 2)), details
), file.path(here, "results-sample.md"))
