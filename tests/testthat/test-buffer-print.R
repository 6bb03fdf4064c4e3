test_that("buffers print as in pjrt", {
  skip_without_plugin()
  expect_snapshot({
    pjrt_buffer(c(1, 2.5))
    pjrt_buffer(matrix(1:10, nrow = 2))
    pjrt_scalar(-10.1213, "f64")
    pjrt_scalar(TRUE)
    pjrt_buffer(1:24, "f32", shape = c(2, 3, 4))
    pjrt_buffer(c(Inf, -Inf, NaN, 1))
    pjrt_buffer(c(1e10, 1e-10))
    pjrt_buffer(1:100, "f32", shape = c(2, 50))
    pjrt_buffer(1:50)
    pjrt_buffer(c(1 + 2i, -1i))
    pjrt_empty("f32", c(0, 3))
  })
})

test_that("limits, header and footer", {
  skip_without_plugin()
  x <- pjrt_buffer(1:100)
  expect_snapshot({
    print(x, max_rows = 2)
    print(pjrt_buffer(matrix(1:30, 2)), max_width = 20)
    print(pjrt_buffer(1:24, shape = c(2, 3, 4)), max_rows_slice = 1)
    print(pjrt_buffer(1:2), header = FALSE, footer = "")
    print(pjrt_buffer(1:2), footer = "the end")
  })
  expect_length(capture.output(print(x, max_rows = -1)), 102)
  withr::local_options(pjrt.print_max_rows = 3L)
  expect_length(capture.output(x), 6)
  expect_snapshot(error = TRUE, {
    print(x, max_rows = 0)
    print(x, max_width = 1)
    print(x, max_rows_slice = NA)
    print(x, header = "no")
  })
})

test_that("elements as StableHLO writes them", {
  skip_without_plugin()
  expect_snapshot({
    format_buffer(pjrt_buffer(c(1.23, NaN, Inf, -Inf), "f32"))
    format_buffer(pjrt_buffer(c(1.23, -3.33e100, NaN), "f64"))
    format_buffer(pjrt_buffer(c(1.5, Inf), "f16"))
    format_buffer(pjrt_buffer(c(1.5, Inf), "bf16"))
    format_buffer(pjrt_buffer(1 - 2i, "c64"))
  })
  expect_identical(format_buffer(pjrt_buffer(c(TRUE, FALSE))), array(c("true", "false")))
  expect_identical(format_buffer(pjrt_buffer(matrix(-2:3, 2))), array(as.character(-2:3), c(2, 3)))
  expect_identical(format_buffer(pjrt_scalar(3L, "ui8")), "3")
  expect_identical(format_buffer(pjrt_empty("i32", c(2, 0))), array(character(), c(2, 0)))
  expect_error(format_buffer(1), class = "xlaffi_error_invalid_argument")
})

test_that("what format_buffer() writes is read back exactly", {
  skip_without_plugin()
  for (name in c("f16", "bf16", "f32", "f64")) {
    x <- pjrt_buffer(c(0.1, 1 / 3, -1e-5, 12345, Inf), name)
    text <- paste(format_buffer(x), collapse = ", ")
    exec <- compile(sprintf(
      "func.func @main() -> tensor<5x%s> {
        %%r = stablehlo.constant dense<[%s]> : tensor<5x%s>
        return %%r : tensor<5x%s>
      }", name, text, name, name
    ))
    expect_identical(as_raw(pjrt_execute(exec), TRUE), as_raw(x, TRUE), info = name)
  }
})

test_that("what did not survive saving and loading is shown as gone", {
  skip_without_plugin()
  x <- pjrt_buffer(c(1, 2))
  program <- pjrt_program("
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      return %x : tensor<2xf32>
    }
  ")
  saved <- list(
    x = x, later = as_array_async(x), program = program, executable = pjrt_compile(program), device = device(x),
    client = pjrt_client(), plugin = pjrt_plugin("cpu"), mesh = xla_mesh(c(data = 1)),
    shards = xla_shards(xla_shard(1:2, xla_mesh(c(data = 1)), "data"))
  )
  lost <- unserialize(serialize(saved, NULL))
  local_reproducible_output()
  expect_snapshot({
    print(lost)
    str(lost$x)
    for (name in c("program", "device", "client", "plugin", "mesh")) cat(format(lost[[name]]), "\n")
  })
  expect_output(str(lost), "gone, as it does not survive")
  expect_output(str(saved), "xlaffi_buffer")
  expect_error(as_array(lost$x), "no longer exists")
})
