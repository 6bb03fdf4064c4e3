use_both <- "
  l <- pjrt_compile(pjrt_program('
    func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0:2 = stablehlo.custom_call @lu(%x) {api_version = 4 : i32} :
        (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>)
      return %0#0 : tensor<2x2xf32>
    }'))
  for (i in 1:3) {
    invisible(as_array(pjrt_execute(l, pjrt_buffer(diag(2)))))
    invisible(reticulate::py_run_string('x = [i for i in range(1000)]'))
  }
  cat('both\\n')"
start_reticulate <- "
  reticulate::use_python(Sys.getenv('XLAFFI_PYTHON'), required = TRUE)
  invisible(reticulate::py_run_string('y = 1'))"

test_that("reticulate and the plugin share a Python, whichever starts it", {
  skip_without_plugin()
  skip_if_not_installed("reticulate")
  theirs_first <- run_r(c(start_reticulate, use_both), timeout = 60)
  expect_identical(theirs_first, list(output = "both", status = 0L))
  ours_first <- run_r(c("invisible(pjrt_buffer(1))", start_reticulate, use_both), timeout = 60)
  expect_identical(ours_first, list(output = "both", status = 0L))
})
