# A process of tools/test.R: runs files of tests of FOLDER, one after the other. It finds the name of the next in HOME,
# and writes there what came of it.
args <- commandArgs(trailingOnly = TRUE)
folder <- normalizePath(args[[1]])
home <- args[[2]]
parent <- as.integer(args[[3]])

# Processes that tests start have R's usual heap: some measure their memory.
heap <- Sys.getenv(c("R_NSIZE", "R_VSIZE"))
Sys.unsetenv(names(heap))
options(xlaffi.test_heap = heap)

library(testthat)
library(xlaffi)

# Helpers are read once, so what they keep is kept from file to file.
env <- test_env("xlaffi")
invisible(source_test_helpers(folder, env))

# Notes which test runs, for the case that the process does not survive it.
Noting <- R6::R6Class("Noting", inherit = SummaryReporter, public = list(
  start_test = function(context, test) writeLines(gsub("\n", " ", test), file.path(home, "test"))
))

# testthat calls its reporters by one of this class, which sets options to the user's at each expectation: that takes as
# long as all comparisons, and here they are those of all tests (tools/test.sh).
MultiReporter$set("public", "local_user_output", function(.env) NULL)

outside <- "(outside of a test)"

# A test's reason for being skipped, or NA.
skip_reason <- function(test) {
  skips <- Filter(function(x) inherits(x, "expectation_skip"), test$results)
  if (length(skips)) conditionMessage(skips[[1]]) else NA_character_
}

# One file's tests, what is to be printed of them, and what they took. What processes took that did not wait to be
# looked after by this one is not known. Each file begins with R's own generator and without a seed, whatever the file
# before it has left: which one that was depends on the machine.
run <- function(file) {
  RNGkind("default", "default", "default")
  suppressWarnings(rm(".Random.seed", envir = globalenv()))
  name <- sub("^test-(.*)\\.R$", "\\1", file)
  summary <- file.path(home, "summary")
  before <- proc.time()
  tests <- tryCatch(
    test_dir(folder,
      filter = paste0("^", gsub(".", "\\.", name, fixed = TRUE), "$"),
      env = env, load_helpers = FALSE, package = "xlaffi", load_package = "installed",
      reporter = Noting$new(show_praise = FALSE, file = summary), stop_on_failure = FALSE
    ),
    error = function(error) conditionMessage(error)
  )
  took <- proc.time() - before
  results <- if (is.character(tests)) {
    data.frame(file = file, test = paste("cannot be run:", tests), failed = TRUE, reason = NA_character_, ran = FALSE)
  } else {
    blocks <- as.data.frame(tests)
    data.frame(
      file = rep(file, nrow(blocks)), test = ifelse(is.na(blocks$test), outside, blocks$test),
      failed = blocks$failed > 0 | blocks$error, reason = vapply(tests, skip_reason, ""), ran = blocks$passed > 0
    )
  }
  # Of what the reporter writes, what there is to tell beside how many passed and what is left to `make test-all`.
  lines <- if (file.exists(summary)) readLines(summary, warn = FALSE) else character()
  unlink(summary)
  shown <- grep("^(\u2550\u2550|==) ", lines)
  shown <- lines[cumsum(seq_along(lines) %in% shown) > 0 & nzchar(lines) & !grepl(" DONE [=\u2550]+$", lines)]
  shown <- grep(" - Reason: only in `make test-all`$", shown, value = TRUE, invert = TRUE)
  is_head <- grepl("^(\u2550\u2550|==) ", shown)
  shown <- shown[!(is_head & c(is_head[-1L], TRUE)[seq_along(is_head)])]
  count <- sum(lengths(if (is.list(tests)) lapply(tests, `[[`, "results")))
  head <- sprintf("%s: %d expectations in %d tests, %.1f s", name, count, nrow(results), took[["elapsed"]])
  list(
    # After such an error the driver answers every call of a process with it.
    lost = any(grepl("CUDA_ERROR_", shown, fixed = TRUE)),
    tests = results, summary = paste0(c(head, shown), "\n", collapse = ""), seconds = took[["elapsed"]],
    cpu = sum(took[c("user.self", "sys.self", "user.child", "sys.child")])
  )
}

repeat {
  wanted <- file.path(home, "next")
  while (!file.exists(wanted)) {
    if (!tools::pskill(parent, 0L)) quit(save = "no")
    Sys.sleep(0.02)
  }
  file <- readLines(wanted)
  unlink(wanted)
  if (!nzchar(file)) quit(save = "no")
  made <- file.path(home, "making-done")
  saveRDS(run(file), made)
  file.rename(made, file.path(home, "done"))
}
