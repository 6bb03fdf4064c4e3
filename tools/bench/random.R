# Models with random effects beside TMB, where that is installed: value and gradient at new points, whole fits by
# nlminb() from the same start, what the first call costs in a new session, and the memory that many effects take.
# Where both are there they must agree. Writes results-random.md.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
arguments <- commandArgs(TRUE)
source(file.path(here, "random-models.R"))

# In a session of its own: the seconds of the first value and gradient, with the objective, and the most memory (GB)
if (length(arguments)) {
  suppressMessages(library(xlaffi))
  invisible(xla_chol(diag(2)))
  model <- random_model(arguments[[1]])
  seconds <- system.time({
    objective <- random_objective(model)
    objective$gr(objective$par)
  })[["elapsed"]]
  status <- if (file.exists("/proc/self/status")) readLines("/proc/self/status")
  peak <- as.numeric(gsub("\\D", "", grep("^VmHWM", status, value = TRUE))) / 1e6
  cat(seconds, if (length(peak)) peak else NA, "\n")
  quit("no")
}

library(xlaffi)
source(file.path(here, "timing.R"))
folder <- tempfile("programs")
in_new_session <- function(name) {
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", file.path(here, "random.R"), name),
    stdout = TRUE, env = paste0("XLAFFI_PROGRAM_CACHE=", folder)
  )
  if (!is.null(attr(said, "status"))) stop("a session failed")
  as.numeric(strsplit(trimws(said[[length(said)]]), " ")[[1]])
}

with_tmb <- requireNamespace("TMB", quietly = TRUE)
if (with_tmb) {
  built <- file.path(dirname(tempdir()), "xlaffi-bench-tmb")
  dir.create(built, showWarnings = FALSE)
  source <- file.path(built, "random.cpp")
  if (!identical(unname(tools::md5sum(source)), unname(tools::md5sum(file.path(here, "random.cpp"))))) {
    file.copy(file.path(here, "random.cpp"), source, overwrite = TRUE)
  }
  withr::with_dir(built, TMB::compile("random.cpp", "-O2 -Wno-ignored-attributes", framework = "TMBad"))
  dyn.load(TMB::dynlib(file.path(built, "random")))
}

at_new_points <- function(functions) {
  start <- unname(functions$par)
  turn <- 0
  function() {
    turn <<- turn + 1
    x <- start + 1e-4 * (turn %% 100)
    functions$fn(x)
    functions$gr(x)
  }
}

fit <- function(functions) nlminb(unname(functions$par), functions$fn, functions$gr)

errors <- function(hessian) sqrt(diag(solve(hessian)))

# Relative to the larger one's size, or absolutely below one
apart <- function(x, y) max(abs(x - y) / pmax(1, abs(y)))

measured <- function(name) {
  first <- in_new_session(name)
  again <- in_new_session(name)
  model <- random_model(name)
  ours <- random_objective(model)
  functions <- list(xlaffi = ours)
  if (with_tmb) functions$TMB <- TMB::MakeADFun(model$tmb, model$par, random = "u", DLL = "random", silent = TRUE)
  points <- alternate(lapply(functions, function(f) batches(at_new_points(f), 0.1)), 9L)
  ends <- lapply(functions, fit)
  fits <- alternate(lapply(functions, function(f) batches(function() fit(f), 0.05)), 3L)
  differences <- if (with_tmb) {
    tmb <- functions$TMB
    # Both at one point: the searches end where the function is flat up to rounding.
    at <- unname(ends$TMB$par)
    found <- c(
      value = apart(ends$xlaffi$objective, ends$TMB$objective), estimates = apart(unname(ends$xlaffi$par), at),
      errors = apart(unname(errors(ours$he(at))), errors(optimHess(at, tmb$fn, tmb$gr)))
    )
    stopifnot(found[["value"]] < 1e-6, found[["estimates"]] < 1e-5, found[["errors"]] < 1e-4)
    found
  }
  list(points = points, fits = fits, first = first[[1]], again = again[[1]], differences = differences)
}

cases <- c(
  "cbpp" = "cbpp, 15 effects, `dbinom()`", "volatility" = "stochastic volatility, T = 1000",
  "45" = "counts on a grid of 2,025", "100" = "counts on a grid of 10,000"
)
results <- lapply(names(cases), measured)
cells <- function(times, goal) {
  c(
    vapply(names(times), function(peer) duration(times[[peer]]), ""), if (!with_tmb) "",
    if (with_tmb) sprintf("%.2g", times[["xlaffi"]] / times[["TMB"]]) else "", goal
  )
}
row <- function(...) sprintf("| %s |", paste(c(...), collapse = " | "))
rows <- function(what, part, goals) {
  c(
    row(what, "xlaffi", "TMB", "xlaffi / TMB", "goal"), "|---|---|---|---|---|",
    vapply(seq_along(cases), function(k) row(cases[[k]], cells(results[[k]][[part]], goals[[k]])), "")
  )
}
many <- in_new_session("316")
unlink(folder, recursive = TRUE)
text <- c(
  rows("value and gradient", "points", c("1", "0.3", "0.3", "0.5")), "",
  rows("fit by nlminb()", "fits", rep("1", 4L)), "",
  row("objective and first gradient of a session, s", "to be compiled", "goal", "from disk", "goal"),
  "|---|---|---|---|---|",
  vapply(seq_along(cases), function(k) {
    row(cases[[k]], sprintf("%.2g", results[[k]]$first), "5", sprintf("%.2g", results[[k]]$again), "0.3")
  }, ""), "",
  sprintf("Counts on a grid of 99,856: the first gradient takes %.3g s and %.2g GB of memory (goal: 4).",
    many[[1]], many[[2]]
  ),
  if (with_tmb) {
    worst <- Reduce(pmax, lapply(results, function(result) result$differences))
    sprintf("Beside TMB: log-likelihoods within %.1g, estimates within %.1g, standard errors within %.1g.",
      worst[[1]], worst[[2]], worst[[3]]
    )
  },
  "",
  sprintf("xlaffi %s, R %s, %s; medians in turn; fits without compiling, TMB's templates included; %s.",
    packageVersion("xlaffi"), getRversion(), if (with_tmb) paste("TMB", packageVersion("TMB")) else "no TMB", Sys.Date()
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-random.md"))
