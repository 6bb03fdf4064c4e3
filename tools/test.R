# Runs one folder of testthat tests on the installed package and writes
# "<passed> <failed> <skipped>", counted in test_that() blocks, to a file.
#
#   Rscript tools/test.R FOLDER RESULT [FILTER] [all]
#
# With `all` the blocks run as well that begin with skip_unless_all(). The files are run by several R processes at once
# (TESTTHAT_CPUS; 3 where there are two cores, as some files wait more than they compute), each one file after the
# other (tools/test-worker.R), those that took longest in the last run first. A process that ends within a file, and one
# that needs more than XLAFFI_TEST_TIMEOUT seconds for it (600, with `all` 1800), is a failed test. One in which CUDA
# failed runs no further file.
#
# Under CI=true a skip fails, but for those that no set-up could help: set-up installs what tests need.
args <- commandArgs(trailingOnly = TRUE)
folder <- args[[1]]
result_file <- args[[2]]
filter <- if (length(args) > 2 && nzchar(args[[3]])) args[[3]]
run_all <- "all" %in% args[-(1:3)]
allowed_skips <- "^Reason: (On (Linux|Mac|Windows)|interactive\\(\\) is TRUE|CUDA: |this CPU plugin )"
left_out <- "^Reason: only in `make test-all`"

is_ci <- identical(Sys.getenv("CI"), "true")

# What a variable says, or `default` where it is not a positive number.
positive <- function(variable, default) {
  value <- suppressWarnings(as.numeric(Sys.getenv(variable)))
  if (isTRUE(value >= 1)) value else default
}
cores <- parallel::detectCores()
workers <- positive("TESTTHAT_CPUS", if (is.na(cores) || cores < 2) 1 else 3)
limit <- positive("XLAFFI_TEST_TIMEOUT", if (run_all) 1800 else 600)

# Snapshots are compared only where NOT_CRAN says so. What compilers make of programs and of ops is kept in target/, by
# content, for the files that follow and for the next run.
kept <- file.path(normalizePath("."), "target", "test")
dir.create(kept, recursive = TRUE, showWarnings = FALSE)
Sys.setenv(
  NOT_CRAN = "true", XLAFFI_SOURCE = normalizePath("."), XLAFFI_TEST_CACHE = kept,
  XLAFFI_TEST_ALL = tolower(run_all)
)

# Programs are kept for a library by its path, size and time. R's installation gives it a new time, so it gets that of
# when the same content was first seen.
library_file <- system.file("libs", paste0("xlaffi", .Platform$dynlib.ext), package = "xlaffi")
if (nzchar(library_file)) {
  times_file <- file.path(kept, "libraries.csv")
  digest <- unname(tools::md5sum(library_file))
  times <- data.frame(digest = character(), time = numeric())
  if (file.exists(times_file)) times <- utils::read.csv(times_file)
  if (!digest %in% times$digest) {
    time <- max(floor(as.numeric(file.mtime(library_file))), times$time + 1)
    times <- rbind(times, data.frame(digest = digest, time = time))
    # Another folder's tests may read it at the same time.
    part <- tempfile("libraries", kept)
    utils::write.csv(times, part, row.names = FALSE)
    file.rename(part, times_file)
  }
  time <- times$time[[match(digest, times$digest)]]
  Sys.setFileTime(library_file, as.POSIXct(time, origin = "1970-01-01"))
}

files <- list.files(folder, "^test-.*\\.R$")
names(files) <- sub("^test-(.*)\\.R$", "\\1", files)
present <- names(files)
if (!is.null(filter)) {
  files <- files[grepl(filter, names(files))]
}
if (!length(files)) {
  writeLines("0 0 0", result_file)
  quit(save = "no", status = 0)
}

# The longest first, by the last run; where there was none, by one of everything, in 2026-11, that took the seconds in
# test-costs.csv. Files that neither names are taken to need a second for each KB.
costs_file <- file.path(kept, paste0("costs-", basename(folder), ".csv"))
costs <- utils::read.csv(if (file.exists(costs_file)) costs_file else file.path("tools", "test-costs.csv"))
size <- file.size(file.path(folder, files)) / 1000
seconds <- costs$seconds[match(names(files), costs$file)]
files <- files[order(ifelse(is.na(seconds), size, seconds), decreasing = TRUE)]

queue <- tempfile("queue")
dir.create(queue)

# A worker is a process that waits for the name of a file in `next`, writes what came of it to `done`, and all its
# output to `output`, of which `shown` bytes have been printed. R begins with the heap that traces need soon: growing
# it step by step, each with a collection of all, takes a fifth of what R computes.
start_worker <- function() {
  home <- tempfile("worker", queue)
  dir.create(home)
  process <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), c("tools/test-worker.R", folder, home, Sys.getpid()),
    stdout = file.path(home, "output"), stderr = "2>&1", cleanup_tree = TRUE,
    env = c("current", R_NSIZE = "6000000", R_VSIZE = "128M")
  )
  list(home = home, process = process, name = NULL, started = NULL, shown = 0)
}

say_next <- function(worker, file) {
  made <- file.path(worker$home, "making")
  writeLines(file, made)
  file.rename(made, file.path(worker$home, "next"))
}

# There is no further file: the process ends, with what it has in its temporary folder.
dismiss <- function(worker) {
  say_next(worker, "")
  worker$process$wait(10000)
  worker$process$kill_tree()
}

give <- function(worker, name) {
  say_next(worker, files[[name]])
  worker$name <- name
  worker$started <- Sys.time()
  worker
}

# The output of a worker since this was last asked.
new_output <- function(worker) {
  file <- file(file.path(worker$home, "output"), "rb")
  on.exit(close(file))
  seek(file, worker$shown)
  text <- readBin(file, "raw", max(0, file.size(file.path(worker$home, "output")) - worker$shown))
  list(text = rawToChar(text[text != 0]), bytes = length(text))
}

finished <- list()
finish <- function(worker, result) {
  output <- new_output(worker)
  said <- trimws(output$text, "right")
  cat(if (nzchar(said)) paste0(said, "\n"), result$summary, sep = "")
  finished[[worker$name]] <<- result
  worker$shown <- worker$shown + output$bytes
  worker["name"] <- list(NULL)
  worker
}

# What is told of a file whose process ended, or was ended, before the file did.
broken <- function(worker, why) {
  running <- file.path(worker$home, "test")
  test <- if (file.exists(running)) readLines(running) else "(outside of a test)"
  list(
    tests = data.frame(file = files[[worker$name]], test = test, failed = TRUE, reason = NA, ran = FALSE),
    summary = sprintf("%s: %s, in: %s\n", worker$name, why, test), cpu = NA,
    seconds = as.numeric(Sys.time() - worker$started, units = "secs")
  )
}

# A worker after a look at it: as it was, free for the next file, or ended (NULL).
look <- function(worker) {
  done <- file.path(worker$home, "done")
  alive <- worker$process$is_alive()
  if (is.null(worker$name)) {
    return(if (alive) worker)
  }
  if (file.exists(done)) {
    result <- readRDS(done)
    name <- worker$name
    unlink(c(done, file.path(worker$home, "test")))
    worker <- finish(worker, result)
    if (result$lost) {
      cat(name, ": its process has lost the device; the files that follow get another one\n", sep = "")
      worker$process$kill_tree()
      return(NULL)
    }
    return(if (alive) worker)
  }
  if (!alive) {
    finish(worker, broken(worker, sprintf("its process ended with status %d", worker$process$get_exit_status())))
    return(NULL)
  }
  if (Sys.time() - worker$started > as.difftime(limit, units = "secs")) {
    worker$process$kill_tree()
    finish(worker, broken(worker, sprintf("ended after %g seconds", limit)))
    return(NULL)
  }
  worker
}

running <- list()
waiting <- names(files)
while (length(waiting) || length(running)) {
  running <- Filter(Negate(is.null), lapply(running, look))
  idle <- vapply(running, function(worker) is.null(worker$name), NA)
  while (length(waiting) && (any(idle) || length(running) < workers)) {
    if (!any(idle)) {
      running <- c(running, list(start_worker()))
      idle <- c(idle, TRUE)
    }
    i <- which(idle)[[1]]
    running[[i]] <- give(running[[i]], waiting[[1]])
    idle[[i]] <- FALSE
    waiting <- waiting[-1]
  }
  for (worker in running[idle]) {
    dismiss(worker)
  }
  running <- running[!idle]
  Sys.sleep(0.05)
}

results <- do.call(rbind, lapply(finished, `[[`, "tests"))
is_only_all <- function(results) grepl(left_out, results$reason) & !results$failed
# A file of which `make test` would show nothing is here, or has a test that takes no time.
only_all <- c("memory-retry", "models", "repository", "rules-linalg-jax", "solve-nested")
if (!run_all) {
  shows <- !is_only_all(results) | results$ran
  none <- setdiff(results$file, c(results$file[shows], sprintf("test-%s.R", only_all)))
  results <- rbind(results, data.frame(
    file = none, test = rep("none of its tests is in `make test`", length(none)), failed = rep(TRUE, length(none)),
    reason = rep(NA_character_, length(none)), ran = rep(FALSE, length(none))
  ))
}
failed <- results$failed
is_left <- is_only_all(results)
not_run <- is_left & !results$ran
skipped <- !is.na(results$reason) & !failed & !is_left
if (is_ci) {
  refused <- skipped & !grepl(allowed_skips, results$reason)
  results$test[refused] <- sprintf(
    "%s (skipped, which CI allows for nothing that set-up installs: %s)", results$test[refused], results$reason[refused]
  )
  failed <- failed | refused
  skipped <- skipped & !refused
}

number <- function(name) vapply(finished, function(result) as.numeric(result[[name]]), 0)
took <- data.frame(file = names(finished), seconds = number("seconds"), cpu = number("cpu"))
dearest <- utils::head(took[order(took$seconds, decreasing = TRUE), ], 10)
cat(sprintf(
  "\n%s: %.0f s of %d processes, %.0f s of processors. The longest:\n", folder, sum(took$seconds), as.integer(workers),
  sum(took$cpu, na.rm = TRUE)
))
cat(sprintf("  %-28s %6.1f s, %6.1f s of processors\n", dearest$file, dearest$seconds, dearest$cpu), sep = "")
others <- costs[!costs$file %in% took$file & costs$file %in% present, c("file", "seconds")]
utils::write.csv(rbind(took[c("file", "seconds")], others), costs_file, row.names = FALSE)

# Snapshots of files that are no more are removed, as testthat does it after all of a folder's tests.
snapshots <- list.files(file.path(folder, "_snaps"), "\\.md$")
unused <- snapshots[!sub("\\.md$", "", snapshots) %in% present]
if (!is_ci && is.null(filter) && length(unused)) {
  cat("Deleting unused snapshots:", unused, "\n")
  unlink(file.path(folder, "_snaps", unused))
}

if (any(is_left)) {
  cat(sprintf("Only in `make test-all`: %d tests, and a part of %d others.\n", sum(not_run), sum(is_left & !not_run)))
}
if (any(failed)) {
  cat("Failed:\n", sprintf("  %s: %s\n", results$file[failed], results$test[failed]), sep = "")
}
writeLines(paste(sum(!failed & !skipped & !not_run), sum(failed), sum(skipped)), result_file)
