# Runs one folder of testthat tests on the installed package and writes
# "<passed> <failed> <skipped>", counted in test_that() blocks, to a file.
args <- commandArgs(trailingOnly = TRUE)
folder <- args[[1]]
result_file <- args[[2]]
filter <- if (length(args) > 2 && nzchar(args[[3]])) args[[3]]

# Snapshots are compared only where NOT_CRAN says so.
Sys.setenv(NOT_CRAN = "true", XLAFFI_SOURCE = normalizePath("."))
files <- list.files(folder, "^test-.*\\.R$")
if (!is.null(filter) && !any(grepl(filter, sub("^test-(.*)\\.R$", "\\1", files)))) {
  writeLines("0 0 0", result_file)
  quit(save = "no", status = 0)
}

results <- testthat::test_dir(
  folder,
  filter = filter, package = "xlaffi", load_package = "installed",
  reporter = testthat::SummaryReporter$new(show_praise = FALSE), stop_on_failure = FALSE
)
results <- as.data.frame(results)
failed <- results$failed > 0 | results$error
skipped <- results$skipped & !failed
writeLines(paste(sum(!failed & !skipped), sum(failed), sum(skipped)), result_file)
