test_that("the table of element types says what is what", {
  all <- type_state$dtypes$name
  expect_setequal(all[is_float(all)], c("f16", "bf16", "f32", "f64"))
  expect_setequal(all[is_complex(all)], c("c64", "c128"))
  expect_setequal(all[is_integer(all)], c(paste0("i", 2^(3:6)), paste0("ui", 2^(3:6))))
  expect_identical(is_inexact(all), is_float(all) | is_complex(all))
  expect_identical(vapply(all, real_dtype, "")[c("c64", "c128", "f16")], c(c64 = "f32", c128 = "f64", f16 = "f16"))
  expect_identical(lapply(c("f32", "f64", "i32", "c64"), complex_dtype), list("c64", "c128", NULL, NULL))
  spelled <- vapply(all, mlir_dtype, "")[c("pred", "c128", "ui8")]
  expect_identical(spelled, c(pred = "i1", c128 = "complex<f64>", ui8 = "ui8"))
})

test_that("arrays that no memory holds are refused where they are written", {
  values_anywhere()
  skip_without_plugin()
  # XLA would end the process.
  most <- .Machine$integer.max
  calls <- list(
    function() ffi_type("f64", c(most, most)),
    function() ffi_type("f64", c(most, most, most, 0)),
    function() xla_jit(function(x) hlo_broadcast(x, c(most, most, 1)))(1),
    function() xla_jit(function(x) hlo_iota("i8", c(65536, 65536, 65536, 65536)))(1),
    function() xla_jit(function(x) hlo_constant(1, shape = c(most, most)))(1),
    function() xla_jit(function(x) hlo_pad(x, low = most, high = most))(1),
    function() xla_jit(function(x) outer(x, x))(numeric(5e4)),
    function() xla_jit(function(x) hlo_concatenate(hlo_broadcast(x, most), hlo_broadcast(x, most)))(1)
  )
  for (call in calls) {
    expect_error(expect_no_warning(call()), "does not fit into any memory", class = "xlaffi_error_resource_exhausted")
  }
  expect_snapshot(error = TRUE, {
    ffi_type("f64", c(65536, 65536, 65536, 65536))
    ffi_type("f64", c(4194304, 1073741824, 0))
    hlo_broadcast(hlo_constant(1, shape = c(1, 1, 0)), c(65536, 65536, 0))
    hlo_reshape(hlo_constant(1), c(65536, 65536))
    hlo_pad(hlo_constant(1), low = 2^33)
    hlo_constant(1:2, shape = c(65536, 65536))
  })
  expect_identical(length(hlo_iota("i8", c(65536, 65536))), 2^32)
})
