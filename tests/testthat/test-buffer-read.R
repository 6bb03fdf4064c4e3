test_that("values that R takes for NA can be refused", {
  skip_without_plugin()
  lowest <- pjrt_buffer(NA_integer_)
  expect_identical(as.vector(as_array(lowest)), NA_integer_)
  big <- pjrt_buffer(as.raw(rep(255, 8)), dtype = "ui64", shape = 1, row_major = TRUE)
  expect_true(as_array(big) < 0)
  expect_snapshot(error = TRUE, {
    as_array(lowest, check = TRUE)
    as_array(pjrt_buffer(bit64::as.integer64(NA)), check = TRUE)
    as_array(big, check = TRUE)
  })
  expect_identical(as.vector(as_array(pjrt_buffer(1:2), check = TRUE)), 1:2)
  expect_identical(as.vector(as_array(pjrt_buffer(NaN), check = TRUE)), NaN)
})

test_that("waiting, looking and promises", {
  skip_without_plugin()
  buffer <- pjrt_buffer(c(1, 2))
  expect_identical(withVisible(await(buffer)), list(value = buffer, visible = FALSE))
  expect_true(is_ready(buffer))
  promise <- as_array_async(buffer)
  expect_s3_class(promise, "xlaffi_array_promise")
  expect_true(is_ready(promise))
  expect_snapshot(promise)
  expect_identical(value(promise), array(c(1, 2)))
  expect_identical(as_array(promise), array(c(1, 2)))
  expect_identical(await(promise), promise)
  expect_snapshot(promise)
  expect_error(as_array_async(1))
})

test_that("a layout that is not row-major is read right", {
  skip_without_plugin()
  # The result has the layout {0,1}: column-major in memory.
  exec <- compile('
    module attributes {mhlo.num_partitions = 1 : i32} {
      func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
        %0 = stablehlo.add %x, %x : tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
      }
    }')
  x <- matrix(as.double(1:6), 2)
  out <- pjrt_execute(exec, pjrt_buffer(x))
  expect_identical(as_array(out), 2 * x)
  expect_identical(as_raw(out, row_major = TRUE), as_raw(pjrt_buffer(2 * x), row_major = TRUE))
})

test_that("a subclass keeps its own method of as_array()", {
  skip_without_plugin()
  registerS3method("as_array", "my_buffer", function(x, ...) "mine", envir = asNamespace("xlaffi"))
  withr::defer(rm("as_array.my_buffer", envir = asNamespace("xlaffi")[[".__S3MethodsTable__."]]))
  x <- pjrt_buffer(1:3)
  expect_equal(as_array(x), array(1:3))
  class(x) <- c("my_buffer", class(x))
  expect_equal(as_array(x), "mine")
})

test_that("bit64 is loaded with the first 64-bit integers", {
  skip_without_plugin()
  run <- run_r("
    isNamespaceLoaded('bit64')
    x <- as_array(pjrt_buffer(c(2, 3), 'i64'))
    print(as.character(x + 1))
    y <- structure(x, dim = NULL)
    print(as.character(xla_jit(function(x) x * 2L)(y)))
  ")
  expect_identical(run$output, c("[1] FALSE", '[1] "3" "4"', '[1] "4" "6"'))
  expect_identical(run$status, 0L)
  seen <- run_r("
    x <- structure(c(1e-323, 1.5e-323), class = 'integer64')
    xla_program(function(x) x, x)
    isNamespaceLoaded('bit64')
  ")
  expect_identical(seen$output[[length(seen$output)]], "[1] TRUE")
})
