# Whether what is slow by nature runs too: in `make test-all`, as continuous integration runs it.
all_run <- function() identical(Sys.getenv("XLAFFI_TEST_ALL"), "true")

# For a test of that kind. tools/test.R counts it as not run, not as skipped.
skip_unless_all <- function() testthat::skip_if_not(all_run(), "only in `make test-all`")

# Of the cases of a table one in `n`, and in `make test-all` all of them.
one_in <- function(n, cases) if (all_run()) cases else cases[seq(1L, length(cases), by = n)]
