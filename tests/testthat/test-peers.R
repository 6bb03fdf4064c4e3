test_that("buffers are compared by what they hold", {
  skip_without_plugin()
  expect_equal(pjrt_buffer(c(1, 2)), pjrt_buffer(c(1, 2)))
  expect_equal(list(pjrt_buffer(1:3)), list(pjrt_buffer(1:3)))
  expect_failure(expect_equal(pjrt_buffer(c(1, 2)), pjrt_buffer(c(1, 3))))
  expect_failure(expect_equal(pjrt_buffer(1), pjrt_scalar(1)))
  expect_failure(expect_equal(pjrt_buffer(1, "f64"), pjrt_buffer(1)))
  expect_failure(expect_equal(pjrt_empty("f32", c(0, 3)), pjrt_empty("f32", c(0, 4))))
  expect_equal(as_array_async(pjrt_buffer(1:3)), as_array_async(pjrt_buffer(1:3)))
  expect_failure(expect_equal(as_array_async(pjrt_buffer(1:3)), as_array_async(pjrt_buffer(3:1))))
})

test_that("element types are equal to their other names", {
  skip_without_plugin()
  x <- pjrt_buffer(TRUE)
  expect_true(elt_type(x) == "bool")
  expect_true("i1" == elt_type(x))
  expect_true(elt_type(pjrt_buffer(1:2, "u8")) == "ui8")
  expect_true(elt_type(x) != "i8")
  expect_false(elt_type(x) == "no dtype")
  expect_false(elt_type(x) == NULL)
})

test_that("tengen's generics answer for our objects, and its class of dtypes is given", {
  skip_without_plugin()
  generics <- c("as_array", "as_raw", "shape", "dtype", "device")
  library <- local_package("tengen", c(generics, "as_dtype"), c(
    sprintf("%s <- function(x, ...) UseMethod('%s')", generics, generics),
    "as_dtype <- function(x) if (x == 'bf16') stop('unknown') else paste('tengen', x)"
  ))
  run <- run_r(c(
    use_library(library), "x <- pjrt_buffer(1:2)", "dtype(x)",
    "tengen::shape(x)", "tengen::as_array(x)", "tengen::dtype(x)",
    "tengen::device(x)", "tengen::as_raw(x, row_major = TRUE)", "dtype(pjrt_buffer(TRUE))",
    "dtype(pjrt_buffer(1, 'bf16'))", "elt_type(pjrt_buffer(TRUE))",
    "f <- pjrt_compile(pjrt_program('func.func @main() -> tensor<f32> {",
    "  %r = stablehlo.constant dense<1.0> : tensor<f32> return %r : tensor<f32> }'))", "tengen::device(f)",
    "tengen::as_array(as_array_async(x))"
  ))
  expect_identical(run$output, c(
    "<i32>", "[1] 2", "[1] 1 2", "[1] \"tengen i32\"", "<CpuDevice(id=0)>", "[1] 01 00 00 00 02 00 00 00",
    "[1] \"tengen bool\"", "<bf16>", "<pred>", "<CpuDevice(id=0)>", "[1] 1 2"
  ))
})
