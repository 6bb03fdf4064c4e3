# Tests that need several devices are in the folder `devices`: how many there are is settled when a session's client is
# made, so all of them run in one R process of their own, whose CPU has eight. `filter` is for their files, `folder` for
# another one. Where the process ends early, or takes longer than `limit` seconds, the error names the test that was
# running: tools/test.R ends a file after XLAFFI_TEST_TIMEOUT seconds and knows nothing of tests in there.
device_tests <- function(filter = NULL, env = parent.frame(), folder = test_path("devices"), limit = device_limit()) {
  file <- withr::local_tempfile(fileext = ".rds", .local_envir = env)
  running <- withr::local_tempfile(lines = "(outside of a test)", .local_envir = env)
  code <- deparse(bquote({
    pjrt_client("cpu", cpu_device_count = 8L)
    noting <- testthat::SilentReporter$new()
    unlockBinding("start_test", noting)
    noting$start_test <- function(context, test) writeLines(test, .(running))
    found <- testthat::test_dir(
      .(normalizePath(folder)),
      filter = .(filter), package = "xlaffi", load_package = "installed", reporter = noting,
      stop_on_failure = FALSE
    )
    saveRDS(found, .(file))
  }))
  # With the heap of tools/test.R's own processes
  child <- run_r(code, getOption("xlaffi.test_heap", character()), limit)
  if (!file.exists(file)) {
    why <- if (child$status == 124L) sprintf("took more than %g seconds", limit) else "ended early"
    test <- paste(readLines(running), collapse = " ")
    stop("the process with several devices ", why, ", in: ", test, "\n", paste(child$output, collapse = "\n"))
  }
  readRDS(file)
}

# Less than tools/test.R gives a file.
device_limit <- function() {
  seconds <- suppressWarnings(as.numeric(Sys.getenv("XLAFFI_TEST_TIMEOUT")))
  0.8 * if (isTRUE(seconds >= 1)) seconds else 600
}

# The sum of two halves of a vector, each on a device of its own.
halves <- '
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f64>, tensor<4xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
  %twice = stablehlo.add %x, %x : tensor<4xf64>
  return %sum, %twice : tensor<f64>, tensor<4xf64>
}'
