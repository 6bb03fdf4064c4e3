# tools/repository.sh with a small package.

test_that("a repository has the sources and a binary, which is installed without compiling", {
  skip_unless_all()
  skip_on_os(c("windows", "mac"))
  dir <- withr::local_tempdir()
  package <- file.path(dir, "tinyxlaffi")
  dir.create(file.path(package, "src"), recursive = TRUE)
  dir.create(file.path(package, "R"))
  write.dcf(list(
    Package = "tinyxlaffi", Version = "0.2.0", Title = "Tiny", Description = "Tiny.", License = "MIT",
    Author = "Nobody", Maintainer = "Nobody <nobody@example.org>"
  ), file.path(package, "DESCRIPTION"))
  writeLines(c("useDynLib(tinyxlaffi)", "export(one)"), file.path(package, "NAMESPACE"))
  writeLines("one <- function() .Call(\"tiny_one\", PACKAGE = \"tinyxlaffi\")", file.path(package, "R", "one.R"))
  writeLines(c("#include <Rinternals.h>", "SEXP tiny_one(void) { return Rf_ScalarInteger(1); }"),
    file.path(package, "src", "one.c")
  )
  run <- function(command, arguments, env = character()) {
    output <- suppressWarnings(system2(command, shQuote(arguments), stdout = TRUE, stderr = TRUE, env = env))
    expect_null(attr(output, "status"), info = paste(output, collapse = "\n"))
    output
  }
  withr::with_dir(dir, run(file.path(R.home("bin"), "R"), c("CMD", "build", package)))
  tarball <- file.path(dir, "tinyxlaffi_0.2.0.tar.gz")
  folder <- file.path(dir, "repository")
  # What an earlier version left goes, what others put there stays.
  dir.create(file.path(folder, "src", "contrib"), recursive = TRUE)
  file.create(file.path(folder, "src", "contrib", "tinyxlaffi_0.1.0.tar.gz"))
  output <- run(source_file("tools", "repository.sh"), c(folder, tarball))
  address <- utils::tail(output, 1L)
  expect_match(address, "^file:///.*/bin/linux/[a-z0-9]+-[a-z0-9_]+/[0-9]+[.][0-9]+$")

  repos <- paste0("file://", normalizePath(folder))
  sources <- utils::available.packages(repos = repos, type = "source", filters = list())
  expect_identical(unname(sources[, c("Package", "Version")]), c("tinyxlaffi", "0.2.0"))
  expect_identical(list.files(file.path(folder, "src", "contrib"), "gz$"), c("PACKAGES.gz", basename(tarball)))

  library <- withr::local_tempdir()
  code <- sprintf("install.packages('tinyxlaffi', lib = '%s', repos = '%s')", library, address)
  # A make that fails shows that none is called.
  output <- run(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", code), env = "MAKE=false")
  expect_match(output, "installing [*]binary[*] package", all = FALSE)
  code <- sprintf("cat(loadNamespace('tinyxlaffi', lib.loc = '%s')$one())", library)
  expect_identical(run(file.path(R.home("bin"), "Rscript"), c("-e", code)), "1")
})
