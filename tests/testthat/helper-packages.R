# The folder of a library with a package made for a test: a stand-in for one that need not be here.
local_package <- function(name, exports, code, envir = parent.frame()) {
  library <- withr::local_tempdir(.local_envir = envir)
  source <- file.path(withr::local_tempdir(.local_envir = envir), name)
  dir.create(file.path(source, "R"), recursive = TRUE)
  writeLines(c(
    paste("Package:", name), "Version: 0.5.0", "Title: Stand-in", "Description: Stands in.",
    "License: MIT", "Author: nobody", "Maintainer: nobody <nobody@example.com>"
  ), file.path(source, "DESCRIPTION"))
  writeLines(sprintf("export(%s)", toString(exports)), file.path(source, "NAMESPACE"))
  writeLines(code, file.path(source, "R", "code.R"))
  utils::install.packages(source, library,
    repos = NULL, type = "source", quiet = TRUE,
    INSTALL_opts = c("--no-docs", "--no-byte-compile", "--no-test-load")
  )
  library
}

# R code that looks for packages there first.
use_library <- function(library) sprintf(".libPaths(c('%s', .libPaths()))", library)
