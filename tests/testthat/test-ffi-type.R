test_that("the table of element types says what is what", {
  all <- the$dtypes$name
  expect_setequal(all[is_float(all)], c("f16", "bf16", "f32", "f64"))
  expect_setequal(all[is_complex(all)], c("c64", "c128"))
  expect_setequal(all[is_integer(all)], c(paste0("i", 2^(3:6)), paste0("ui", 2^(3:6))))
  expect_identical(is_inexact(all), is_float(all) | is_complex(all))
  expect_identical(vapply(all, real_dtype, "")[c("c64", "c128", "f16")], c(c64 = "f32", c128 = "f64", f16 = "f16"))
  expect_identical(lapply(c("f32", "f64", "i32", "c64"), complex_dtype), list("c64", "c128", NULL, NULL))
  spelled <- vapply(all, mlir_dtype, "")[c("pred", "c128", "ui8")]
  expect_identical(spelled, c(pred = "i1", c128 = "complex<f64>", ui8 = "ui8"))
})
