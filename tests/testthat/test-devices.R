# What the tests in the folder `devices` found, told here one by one.
if (plugins_downloaded("cpu")) {
  filter <- Sys.getenv("XLAFFI_DEVICE_TESTS")
  for (test in device_tests(if (nzchar(filter)) filter)) {
    test_that(paste0(sub("^test-(.*)\\.R$", "\\1", test$file), ": ", test$test), {
      for (result in test$results) {
        testthat::exp_signal(result)
      }
    })
  }
} else {
  test_that("programs run on several devices", skip_without_plugin())
}
