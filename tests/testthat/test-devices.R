# What the tests in the folder `devices` found, told here one by one.
if (plugins_downloaded("cpu") && xlaffi:::is_included(pjrt_plugin("cpu"))) {
  filter <- Sys.getenv("XLAFFI_DEVICE_TESTS")
  for (test in device_tests(if (nzchar(filter)) filter)) {
    test_that(paste0(sub("^test-(.*)\\.R$", "\\1", test$file), ": ", test$test), {
      for (result in test$results) {
        testthat::exp_signal(result)
      }
    })
  }
} else {
  test_that("programs run on several devices", {
    skip_unless_included("programs over several devices")
  })
}

test_that("of the process with several devices the error names the test that did not end", {
  skip_without_plugin()
  folder <- withr::local_tempdir()
  tests <- c(
    'test_that("the one before", expect_true(TRUE))', 'test_that("the one that ends R", quit(status = 3))',
    'test_that("the one that waits", Sys.sleep(600))'
  )
  writeLines(tests[1:2], file.path(folder, "test-ends.R"))
  writeLines(tests[c(1, 3)], file.path(folder, "test-waits.R"))
  expect_error(device_tests("ends", folder = folder), "several devices ended early, in: the one that ends R")
  skip_unless_all()
  expect_error(
    device_tests("waits", folder = folder, limit = 40),
    "several devices took more than 40 seconds, in: the one that waits"
  )
})
