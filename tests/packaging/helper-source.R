# Files of the source tree.
source_file <- function(...) file.path(Sys.getenv("XLAFFI_SOURCE"), ...)
source_lines <- function(...) readLines(source_file(...), warn = FALSE)

# As in tests/testthat: runs in `make test-all` only.
source(source_file("tests", "testthat", "helper-all.R"), local = TRUE)
