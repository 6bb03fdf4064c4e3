# The second half of check-anvl.sh.
args <- commandArgs(trailingOnly = TRUE)
source(file.path(Sys.getenv("XLAFFI_TOOLS"), "suite.R"))
mode <- match.arg(args[[1]], c("plugin", "functions", "handlers"))
checkout <- args[[2]]
filter <- if (nzchar(args[[3]])) args[[3]]

# The one import that is changed, and the names of classes.
to_ours <- function(text) {
  for (class in names(classes)) {
    text <- gsub(sprintf("\\b%s\\b", class), classes[[class]], text)
  }
  text <- gsub("\\bpjrt( \\([^)]*\\))?,", "xlaffi,", text)
  gsub("pjrt::", "xlaffi::", gsub("(pjrt,", "(xlaffi,", text, fixed = TRUE), fixed = TRUE)
}

folder <- copy_of(file.path(checkout, "tests", "testthat"))
if (mode == "functions") {
  library <- tempfile("library")
  dir.create(library)
  .libPaths(c(library, .libPaths()))
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = ":"))
  also <- Sys.getenv("ALSO")
  for (package in c(if (nzchar(also)) also, checkout)) {
    source <- copy_of(package)
    files <- list.files(file.path(source, "R"), full.names = TRUE)
    rewrite(c(file.path(source, c("DESCRIPTION", "NAMESPACE")), files), to_ours)
    install.packages(source, library,
      repos = NULL, type = "source", INSTALL_opts = c("--no-docs", "--no-test-load")
    )
  }
  rewrite(list.files(folder, "[.]R$", full.names = TRUE), to_ours)
}
if (mode == "handlers") {
  options(xlaffi.pjrt = "replace")
  loadNamespace("xlaffi")
}
# A test of the dtypes' class may expect tengen's, as pjrt loads it.
loadNamespace("tengen")
run_suite("anvl", folder, filter)
