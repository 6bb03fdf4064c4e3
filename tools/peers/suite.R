# What the scripts of this folder share: running another package's tests and summing up.

# The classes of pjrt and ours.
classes <- c(
  PJRTBuffer = "xlaffi_buffer", PJRTClient = "xlaffi_client", PJRTDevice = "xlaffi_device",
  PJRTProgram = "xlaffi_program", PJRTPlugin = "xlaffi_plugin",
  PJRTLoadedExecutable = "xlaffi_executable", PJRTElementType = "xlaffi_dtype",
  PJRTArrayPromise = "xlaffi_array_promise", PJRTExecuteOptions = "xlaffi_execution_options",
  RTree = "xlaffi_tree", Dispatcher = "xlaffi_dispatcher", FlattenedFunction = "xlaffi_flattened_function"
)

# A folder's contents in a temporary one.
copy_of <- function(folder) {
  copy <- tempfile("suite")
  dir.create(copy)
  file.copy(list.files(folder, full.names = TRUE), copy, recursive = TRUE)
  copy
}

rewrite <- function(files, change) {
  for (file in files) {
    writeLines(change(paste(readLines(file), collapse = "\n")), file)
  }
}

# The last line is "<passed> passed, <failed> failed, <skipped> skipped, <internal> internal", in
# test_that() blocks. Internal are those that end with an error which matches `internal`: they call
# what their package keeps to itself.
run_suite <- function(package, folder, filter = NULL, internal = "^$") {
  Sys.setenv(NOT_CRAN = "true")
  suppressPackageStartupMessages({
    library(testthat)
    library(checkmate)
    library(package, character.only = TRUE)
  })
  results <- test_dir(
    folder,
    filter = filter, package = package, load_package = "installed",
    reporter = CheckReporter$new(), stop_on_failure = FALSE
  )
  blocks <- do.call(rbind, lapply(results, function(block) {
    bad <- Filter(function(r) inherits(r, c("expectation_failure", "expectation_error")), block$results)
    skipped <- Filter(function(r) inherits(r, "expectation_skip"), block$results)
    data.frame(
      test = paste0(block$file, ": ", block$test),
      failed = length(bad) > 0,
      internal = length(bad) > 0 && grepl(internal, conditionMessage(bad[[1]])),
      skipped = length(skipped) > 0 && !length(bad)
    )
  }))
  failed <- blocks$failed & !blocks$internal
  cat("\nFailed:\n", sprintf("  %s\n", blocks$test[failed]), sep = "")
  cat("Internal:\n", sprintf("  %s\n", blocks$test[blocks$internal]), sep = "")
  cat(sprintf(
    "%d passed, %d failed, %d skipped, %d internal\n",
    sum(!blocks$failed & !blocks$skipped), sum(failed), sum(blocks$skipped), sum(blocks$internal)
  ))
}
