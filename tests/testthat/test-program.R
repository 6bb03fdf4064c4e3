source_code <- "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.add %0, %x : tensor<2xf32>
  %2 = stablehlo.add %1, %x : tensor<2xf32>
  return %2 : tensor<2xf32>
}"

test_that("a program prints its beginning", {
  program <- pjrt_program(source_code)
  expect_s3_class(program, "xlaffi_program")
  expect_snapshot({
    program
    print(program, n = 2)
  })
  expect_match(format(program), "return %2", fixed = TRUE)
})

test_that("a program comes from a string, bytes or a file", {
  file <- withr::local_tempfile(lines = source_code)
  expect_match(format(pjrt_program(path = file)), "@main", fixed = TRUE)
  expect_match(format(pjrt_program(charToRaw(source_code))), "@main", fixed = TRUE)
  expect_output(print(pjrt_program(as.raw(c(0, 255, 1)), format = "hlo")), "code_size=3")
})

test_that("an HLO proto prints as its fields", {
  # x + x with a shape, an unknown field and text that is no word
  message <- function(field, content) as.raw(c(field * 8 + 2, length(content), content))
  text <- function(field, word) message(field, as.integer(charToRaw(word)))
  shape <- as.integer(c(2 * 8, 11, message(3, c(2, 200, 1)), message(5, message(1, 0:1))))
  instruction <- as.integer(c(text(1, "add.1"), text(2, "add"), message(3, shape), as.raw(c(176, 6, 5))))
  computation <- as.integer(c(text(1, "main"), message(2, instruction), as.raw(c(48, 3))))
  bytes <- c(text(1, "sum \"x\""), message(3, computation), as.raw(c(40, 172, 2)), text(6, "\001"))
  program <- pjrt_program(bytes, format = "hlo")
  expect_snapshot({
    program
    print(program, n = 100)
  })
  # Half of it is no message.
  expect_output(print(pjrt_program(bytes[1:30], format = "hlo")), "code_size=30)\n<30 bytes>", fixed = TRUE)
})

test_that("bad arguments", {
  expect_snapshot(error = TRUE, {
    pjrt_program()
    pjrt_program("a", path = "b")
    pjrt_program(path = "/no/such/file.mlir")
    pjrt_program(c("a", "b"))
    pjrt_program(1)
    pjrt_program("a", format = "onnx")
  })
  expect_error(pjrt_program(path = tempdir()), "is a folder", class = "xlaffi_error")
})

test_that("malformed programs do not compile", {
  skip_without_plugin()
  error <- error_of(compile("func.func @main( this is {no} program"))
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  error <- error_of(compile("module {}"))
  expect_s3_class(error, "xlaffi_error")
  expect_error(pjrt_compile(pjrt_program(as.raw(1:10), format = "hlo")), class = "xlaffi_error")
  expect_snapshot(error = TRUE, {
    pjrt_compile("func.func @main() {}")
    pjrt_compile(pjrt_program(source_code), compile_options = list())
  })
})

test_that("StableHLO bytecode and HLO protos are read", {
  skip_without_plugin()
  # A module that doubles its argument, as jaxlib serializes it.
  python <- plugin_python()
  code <- sprintf("
import sys
from jaxlib._jax import mlir as m
text = '''%s'''
portable = m.serialize_portable_artifact(text, '1.0.0')
open(sys.argv[1], 'wb').write(portable)
", source_code)
  script <- withr::local_tempfile(lines = code)
  artifact <- withr::local_tempfile()
  status <- suppressWarnings(system2(python, c(script, artifact), stdout = FALSE, stderr = FALSE))
  skip_if(status != 0, "this jaxlib cannot serialize a portable artifact")
  exec <- pjrt_compile(pjrt_program(path = artifact))
  expect_equal(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(c(1, 2))))), c(4, 8))
})

test_that("bytecode of arrays that no memory holds is refused", {
  skip_without_plugin()
  skip_unless_all()
  # XLA would end the process.
  script <- withr::local_tempfile(lines = "
import sys
from jaxlib._jax import mlir as m
text = '''func.func @main(%x: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<2147483647x2147483647xf64>
  %1 = stablehlo.slice %0 [0:1, 0:1] : (tensor<2147483647x2147483647xf64>) -> tensor<1x1xf64>
  %2 = stablehlo.reshape %1 : (tensor<1x1xf64>) -> tensor<f64>
  return %2 : tensor<f64>
}'''
open(sys.argv[1], 'wb').write(m.serialize_portable_artifact(text, '1.0.0'))
")
  artifact <- withr::local_tempfile()
  status <- suppressWarnings(system2(plugin_python(), c(script, artifact), stdout = FALSE, stderr = FALSE))
  skip_if(status != 0, "this jaxlib cannot serialize a portable artifact")
  error <- error_of(pjrt_compile(pjrt_program(path = artifact)))
  expect_s3_class(error, "xlaffi_error_resource_exhausted")
  expect_match(conditionMessage(error), "an array of the program does not fit into any memory", fixed = TRUE)
})

test_that("programs of arrays that no memory holds are refused", {
  skip_without_plugin()
  # XLA would end the process.
  read <- function(type) {
    pjrt_program(gsub("T", type, "func.func @main(%x: tensor<T>) -> tensor<T> { return %x : tensor<T> }"))
  }
  huge <- c(
    "2147483647x2147483647xf64", "2147483647x2147483647x0xf64", "65536x65536x65536x65536xi1",
    "9223372036854775807x?xcomplex<f32>", "?x4503599627370497xf32"
  )
  for (type in huge) {
    error <- error_of(read(type))
    expect_s3_class(error, "xlaffi_error_resource_exhausted")
    expect_identical(conditionMessage(error), sprintf("tensor<%s> does not fit into any memory", type))
  }
  for (type in c("4194304x1073741824x0xf32", "0x2147483647x2xi1")) {
    expect_identical(
      conditionMessage(error_of(read(type))),
      sprintf("tensor<%s> is empty, but XLA would look at more than 2^31 places of it", type)
    )
  }
  for (type in c("2147483648x0xf32", "f64", "4503599627370496xf32", "?x2xcomplex<f64>", "*xf32")) {
    expect_s3_class(read(type), "xlaffi_program")
  }
})
