# For what is slow by nature: it runs in `make test-all` only. tools/test.R counts it as not run, not as skipped.
skip_unless_all <- function() {
  testthat::skip_if_not(identical(Sys.getenv("XLAFFI_TEST_ALL"), "true"), "only in `make test-all`")
}
