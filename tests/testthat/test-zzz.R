test_that("tengen's generics answer for our buffers", {
  skip_without_plugin()
  library <- withr::local_tempdir()
  source <- file.path(withr::local_tempdir(), "tengen")
  dir.create(file.path(source, "R"), recursive = TRUE)
  writeLines(c("Package: tengen", "Version: 0.1.0", "Title: Stand-in", "Description: Generics.",
    "License: MIT", "Author: nobody", "Maintainer: nobody <nobody@example.com>"),
    file.path(source, "DESCRIPTION"))
  writeLines("export(as_array, as_raw, shape, dtype, device)", file.path(source, "NAMESPACE"))
  generics <- c("as_array", "as_raw", "shape", "dtype", "device")
  writeLines(c(
    sprintf("%s <- function(x, ...) UseMethod('%s')", generics, generics),
    "as_dtype <- function(x) paste('tengen', x)"
  ), file.path(source, "R", "tengen.R"))
  utils::install.packages(source, library, repos = NULL, type = "source", quiet = TRUE,
    INSTALL_opts = c("--no-docs", "--no-byte-compile", "--no-test-load"))
  run <- run_r(c(
    sprintf(".libPaths(c('%s', .libPaths()))", library),
    "x <- pjrt_buffer(1:2)", "tengen::shape(x)", "tengen::as_array(x)", "tengen::dtype(x)",
    "tengen::device(x)", "tengen::as_raw(x, row_major = TRUE)"
  ))
  expect_identical(run$output, c(
    "[1] 2", "[1] 1 2", "[1] \"tengen i32\"", "<CpuDevice(id=0)>", "[1] 01 00 00 00 02 00 00 00"
  ))
})
