# Programs that JAX exported for several devices, run on whole arrays and compared with JAX's results.
expect_device_programs_agree <- function(folder, least) {
  programs <- jax_programs(folder)
  expect_gte(length(programs), least)
  for (name in names(programs)) {
    expect_lt(device_errors(programs[[name]]), 300, label = sprintf("the error of %s in eps", name))
  }
}

test_that("programs that JAX exported for several devices give JAX's recorded results", {
  skip_unless_all()
  expect_device_programs_agree(test_path("..", "data", "jax-devices"), 12)
})

test_that("programs that this JAX exports for several devices give its results", {
  skip_unless_all()
  script <- file.path(Sys.getenv("XLAFFI_SOURCE"), "tools/jax/devices.py")
  skip_if_not(nzchar(Sys.getenv("XLAFFI_SOURCE")) && file.exists(script), "the sources are not here")
  python <- plugin_python()
  has_jax <- system2(python, c("-c", shQuote("import jax")), stdout = FALSE, stderr = FALSE) == 0
  skip_if_not(has_jax, "Python has no jax")
  folder <- withr::local_tempdir()
  expect_identical(system2(python, c(shQuote(script), shQuote(folder), "--few")), 0L)
  expect_device_programs_agree(folder, 13)
})
