# Tests that need several devices are in the folder `devices`: how many there are is settled when a session's client is
# made, so all of them run in one R process of their own, whose CPU has eight. `filter` is for their files.
device_tests <- function(filter = NULL, env = parent.frame()) {
  file <- withr::local_tempfile(fileext = ".rds", .local_envir = env)
  code <- deparse(bquote({
    pjrt_client("cpu", cpu_device_count = 8L)
    found <- testthat::test_dir(
      .(normalizePath(test_path("devices"))),
      filter = .(filter), package = "xlaffi", load_package = "installed", reporter = "silent", stop_on_failure = FALSE
    )
    saveRDS(found, .(file))
  }))
  child <- run_r(code, timeout = 600)
  if (!file.exists(file)) {
    stop("the process with several devices ended early:\n", paste(child$output, collapse = "\n"))
  }
  readRDS(file)
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
