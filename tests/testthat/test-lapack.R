# What a session computes with, and what it says of that.
compute <- "
  a <- outer(1:150, 1:150, function(i, j) cos(i * j)) + diag(150)
  same <- function(x, y) max(abs(x - y)) < 1e-9
  theirs <- list(d = svd(a)$d, product = crossprod(a), inverse = solve(a))
  cat('values:', same(xla_svd(a)$d, theirs$d), '\\n')
  cat('solution:', same(xla_solve(a, diag(150)), theirs$inverse), '\\n')
  cat('R:', same(svd(a)$d, theirs$d), identical(crossprod(a), theirs$product), '\\n')
  cat(suppressMessages(xlaffi_sitrep())$lapack$place, '\\n')"
computed <- c("values: TRUE ", "solution: TRUE ", "R: TRUE TRUE ")

expect_computed <- function(run, beside = TRUE) {
  expect_identical(run$status, 0L)
  expect_identical(run$output[1:3], computed)
  expect_identical(run$output[[4]] == "beside jaxlib ", beside)
}

test_that("LAPACK beside jaxlib is used, and R's own stays R's", {
  skip_without_plugin()
  run <- run_r(compute, env = c(XLAFFI_LAPACK = NA))
  expect_computed(run)
  # A runtime without Python looks into no Python's packages unless it is told of one.
  if (!is_included_plugin()) {
    run <- run_r(c("Sys.unsetenv('XLAFFI_PYTHON')", compute), env = c(XLAFFI_LAPACK = NA))
    expect_computed(run, beside = FALSE)
  }
})

test_that("numpy's and SciPy's libraries may be in the process before and after", {
  skip_without_plugin()
  skip_unless_all()
  skip_without_reticulate()
  numpy <- "
    reticulate::use_python(Sys.getenv('XLAFFI_PYTHON'), required = TRUE)
    reticulate::py_run_string('import numpy, scipy.linalg; s = scipy.linalg.svdvals(numpy.eye(99) * 2).sum()')
    stopifnot(reticulate::py$s == 198)"
  for (session in list(c(numpy, compute), c(compute, numpy))) {
    run <- run_r(session, env = c(XLAFFI_LAPACK = NA), timeout = 60)
    expect_computed(run)
  }
})

test_that("XLAFFI_LAPACK takes what R is linked to", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r(compute, env = c(XLAFFI_LAPACK = "r"))
  expect_identical(run$output[1:4], c(computed, "R's "))
})

test_that("a LAPACK that is asked for and cannot be used is an error", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r(
    "tryCatch(xla_svd(diag(99)), error = function(e) cat(class(e)[[1L]], conditionMessage(e)))",
    env = c(XLAFFI_LAPACK = "/nowhere.so", XLAFFI_KERNELS = "0")
  )
  text <- paste(trimws(run$output), collapse = " ")
  expect_match(text, "xlaffi_error_failed_precondition", fixed = TRUE)
  expect_match(text, "no LAPACK can be used (XLAFFI_LAPACK is \"/nowhere.so\")", fixed = TRUE)
})
