# tools/peers/check.sh with stand-ins for the suites and for R.
check_peers <- function(what, ...) {
  suites <- c(...)
  dir <- withr::local_tempdir()
  script <- function(name, code) {
    writeLines(c("#!/bin/sh", code), file.path(dir, name))
    Sys.chmod(file.path(dir, name), "755")
  }
  stopifnot(file.copy(source_file("tools", "peers", "check.sh"), dir))
  for (name in names(suites)) script(sprintf("check-%s.sh", name), suites[[name]])
  # R is asked for the packages that are lacking, and knows of none.
  script("Rscript", "")
  dir.create(file.path(dir, "checkout", "tests", "testthat"), recursive = TRUE)
  withr::local_path(dir)
  arguments <- c(file.path(dir, "check.sh"), what, file.path(dir, "checkout"), dir)
  output <- suppressWarnings(system2("bash", arguments, stdout = TRUE, stderr = TRUE))
  status <- attr(output, "status")
  list(printed = as.character(output), status = if (is.null(status)) 0L else status)
}

test_that("what is wrong in a suite or in the bridge is the status of the whole", {
  skip_on_os("windows")
  counts <- "echo '3 passed, 1 failed'"
  right <- check_peers("anvl", anvl = counts, bridge = "echo '0 wrong'")
  expect_identical(right$status, 0L)
  last <- c("== anvl", "plugin: 3 passed, 1 failed", "handlers: 3 passed, 1 failed",
    "functions: not run, STABLEHLO is not given", "bridge: right")
  expect_identical(tail(right$printed, 5L), last)

  wrong <- check_peers("anvl", anvl = counts, bridge = "echo '2 wrong'; exit 1")
  expect_identical(wrong$status, 1L)
  expect_identical(tail(wrong$printed, 1L), "bridge: WRONG")

  ended <- check_peers("pjrt", pjrt = "[ $1 = functions ] || exit 7; echo '3 passed, 1 failed'")
  expect_identical(ended$status, 1L)
  expect_identical(tail(ended$printed, 2L), c("plugin: did not run to its end", "functions: 3 passed, 1 failed"))
})
