any_rows <- "func.func @main(%x: tensor<?x2xf64>) -> tensor<?xf64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x2xf64>, tensor<f64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}"

test_that("a program for any shape runs on arrays of several shapes", {
  skip_without_plugin()
  program <- pjrt_program(any_rows)
  for (n in c(1L, 3L, 0L)) {
    x <- matrix(as.double(seq_len(2L * n)), n, 2L)
    exec <- pjrt_compile(refine_shapes(program, list(dim(x))))
    expect_equal(as_array(pjrt_execute(exec, pjrt_buffer(x, "f64"))), array(rowSums(x), n))
  }
})

test_that("what JAX asserts of shapes is checked", {
  skip_without_plugin()
  program <- pjrt_program(path = test_path("data", "jax", "symbolic-f64.mlir"))
  # Its n is at least its m, and its second argument has n elements.
  expect_s3_class(refine_shapes(program, list(c(4, 4), 4)), "xlaffi_program")
  expect_error(refine_shapes(program, list(c(3, 4), 3)), class = "xlaffi_error_invalid_argument")
  expect_error(refine_shapes(program, list(c(4, 3), 3)), class = "xlaffi_error_invalid_argument")
})

test_that("shapes that do not fit are named", {
  skip_without_plugin()
  program <- pjrt_program(any_rows)
  expect_snapshot(error = TRUE, {
    refine_shapes(program, c(2, 2))
    refine_shapes(program, list())
    refine_shapes(program, list(c(2, 3)))
    refine_shapes(program, list("a"))
    refine_shapes("text", list())
  })
})

test_that("of a program for several platforms the branch of another one fails when it is taken", {
  skip_without_plugin()
  exec <- pjrt_compile(pjrt_program(path = test_path("data", "jax", "platforms-f64.mlir")))
  a <- pjrt_buffer(diag(3) * 4, "f64")
  b <- pjrt_buffer(matrix(1, 3, 2), "f64")
  found <- pjrt_execute(exec, pjrt_scalar(0L, "i64"), a, b)
  expect_equal(as_array(found[[1]]), diag(3) * 2)
  expect_error(
    await(pjrt_execute(exec, pjrt_scalar(1L, "i64"), a, b)[[1]]),
    "no handler `cu.*` is registered for the CPU", class = "xlaffi_error_not_found"
  )
})

test_that("column layouts of arrays without elements compile", {
  skip_without_plugin()
  exec <- pjrt_compile(pjrt_program("
    func.func @main(%x: tensor<64x0x0xf64>) -> (tensor<64x0x0xf64>, tensor<64x0xf64>, tensor<64xi32>) {
      %0:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%x) {
        api_version = 4 : i32, backend_config = {mode = 86 : ui8, uplo = 76 : ui8},
        operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
        result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>,
          dense<0> : tensor<1xindex>]
      } : (tensor<64x0x0xf64>) -> (tensor<64x0x0xf64>, tensor<64x0xf64>, tensor<64xi32>)
      return %0#0, %0#1, %0#2 : tensor<64x0x0xf64>, tensor<64x0xf64>, tensor<64xi32>
    }"))
  found <- pjrt_execute(exec, pjrt_buffer(array(0, c(64, 0, 0)), "f64"))
  expect_identical(shape(found[[2]]), c(64L, 0L))
  expect_equal(as_array(found[[3]]), array(0L, 64))
})
