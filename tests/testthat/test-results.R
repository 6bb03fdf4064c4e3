test_that("results of all kinds are right or refused", {
  skip_without_plugin()
  # tools/fuzz/results.R goes on from here.
  expect_identical(unlist(lapply(1:(if (all_run()) 80 else 20), fuzz_result)), NULL)
})

test_that("what the fuzzer found is refused, or right", {
  skip_without_plugin()
  forged <- lapply(c("xlaffi_type", "xlaffi_value"), function(class) structure(list(), class = class))
  for (x in forged) {
    refused <- "the function's result must be values of the program"
    expect_error(xla_jit(function(y) x)(1), refused, class = "xlaffi_error_invalid_argument")
    expect_error(xla_jit(function(y) hlo_sum(x))(1), "must be a value", class = "xlaffi_error_invalid_argument")
    expect_error(ffi_call("lu", x), "must be types", class = "xlaffi_error_invalid_argument")
  }
  expect_no_warning(found <- xla_jit(function(x) c(x, NA, NaN, Inf, 0.1))(1))
  expect_identical(is.na(found), c(FALSE, TRUE, TRUE, FALSE, FALSE))
})
