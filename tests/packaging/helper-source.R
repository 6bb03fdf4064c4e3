# Files of the source tree.
source_file <- function(...) file.path(Sys.getenv("XLAFFI_SOURCE"), ...)
source_lines <- function(...) readLines(source_file(...), warn = FALSE)
