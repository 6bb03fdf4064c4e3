test_that("R data give R data, buffers buffers, values are inlined", {
  skip_without_plugin()
  square <- xla_jit(function(x) x * x)
  expect_identical(as.vector(square(3)), 9)
  expect_identical(as.vector(square(3L)), 9L)
  expect_identical(as.vector(square(1 + 1i)), 2i)
  buffer <- square(pjrt_buffer(c(1, 2), "f32"))
  expect_s3_class(buffer, "xlaffi_buffer")
  expect_identical(as.character(dtype(buffer)), "f32")
  expect_identical(as.vector(as_array(square(buffer))), c(1, 16))
  both <- xla_jit(function(x, y) square(x) + square(y))
  expect_identical(as.vector(both(3, 4)), 25)
  expect_false(grepl("call", ffi_program(both, 3, 4)))
})

test_that("arguments and results may be lists", {
  skip_without_plugin()
  f <- xla_jit(function(data, scale) list(sum = (data$x + data$y) * scale, none = NULL, parts = list(data$x)))
  out <- f(list(x = c(1, 2), y = c(3, 4)), scale = 2)
  expect_identical(names(out), c("sum", "none", "parts"))
  expect_identical(as.vector(out$sum), c(8, 12))
  expect_null(out$none)
  expect_identical(as.vector(out$parts[[1]]), c(1, 2))
  # Names count: another order of named arguments is another program.
  minus <- xla_jit(function(a, b) a - b)
  expect_identical(as.vector(minus(3, 1)), 2)
  expect_identical(as.vector(minus(b = 3, a = 1)), -2)
  expect_identical(as.vector(xla_jit(function(x) list(x, 5))(1)[[2]]), 5)
})

test_that("each signature is traced once", {
  skip_without_plugin()
  traced <- 0
  f <- xla_jit(function(x) {
    traced <<- traced + 1
    x + 1
  })
  for (x in list(1, 2, c(1, 2), c(3, 4), matrix(1))) f(x)
  expect_identical(traced, 3)
})

test_that("a program that was quick before gives the same results, prints and errors again", {
  skip_without_plugin()
  x <- matrix(c(4, 2, 1, 3), 2)
  factors <- xla_jit(function(x) {
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    results <- list(x, ffi_type("i32", 2))
    hlo_custom_call("lu", x, results, operand_layouts = "column", result_layouts = list("column", 1))
  })
  wrong <- xla_jit(function(x) hlo_custom_call("lu", x, list(x, ffi_type("i32", 3))))
  # The first run is on another thread, those after it on R's.
  for (turn in 1:3) {
    expect_output(found <- factors(x), "4 1\n 2 3\n\\[ f64\\{2,2\\} \\]")
    expect_equal(found, list(matrix(c(4, 0.5, 1, 2.5), 2), array(1:2)))
    expect_output(found <- factors(pjrt_buffer(x, "f64")), "4 1\n 2 3")
    expect_equal(as_array(found[[1]]), matrix(c(4, 0.5, 1, 2.5), 2))
    expect_error(wrong(x), "result `pivots` must have shape (2), got (3)", fixed = TRUE, class = "xlaffi_error")
  }
})

test_that("results that R has to wait for arrive as well", {
  skip_without_plugin()
  # More than a moment's work, on XLA's threads and (with a loop) on ours
  f <- xla_jit(function(x) hlo_matmul(x, hlo_matmul(x, x)))
  turn <- function(i, x) list(i + 1L, hlo_matmul(x, x))
  slow <- xla_jit(function(x) hlo_while(function(i, x) i < 4L, turn, list(0L, x))[[2]])
  x <- diag(700) * 2
  expect_identical(f(x), x^3)
  expect_identical(slow(x), x^16)
})

test_that("a signature may be long", {
  skip_without_plugin()
  total <- xla_jit(function(...) Reduce(`+`, xlaffi:::tree_leaves(list(...))))
  many <- as.list(as.double(1:900))
  for (turn in 1:2) {
    expect_identical(as.vector(do.call(total, many)), sum(1:900) + 0)
    expect_identical(as.vector(total(many)), sum(1:900) + 0)
  }
})

test_that("what is not needed is not in the program, what has side effects is", {
  text <- ffi_program(function(x) {
    sin(x)
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    x * 2
  }, ffi_type("f32", 3))
  expect_false(grepl("sine", text))
  expect_match(text, "stablehlo.custom_call @print_tensor(%arg0)", fixed = TRUE)
  skip_without_plugin()
  f <- xla_jit(function(x) {
    hlo_while(function(i) sum(i) < 2L, function(i) {
      hlo_custom_call("print_tensor", i, list(), list(print_footer = ""), has_side_effect = TRUE)
      i + 1L
    }, x)
    x
  })
  expect_output(f(0L), "0.*1")
})

test_that("programs are shown", {
  expect_snapshot(ffi_program(function(x, y) list(x %% y, t(y)), ffi_type("f64"), ffi_type("f64", c(2, 3))))
})

test_that("custom calls have layouts, aliases and attributes", {
  text <- ffi_program(function(a) {
    hlo_custom_call("my target", a, list(a, ffi_type("i32", 3)), list(n = 1L, x = 0.5, on = TRUE, s = "a\"b"),
      operand_layouts = "column", result_layouts = list("column", 1), aliases = c(1, 1)
    )[[2]]
  }, ffi_type("c64", c(5, 2, 2)))
  expect_snapshot(text)
})

test_that("bad arguments are named", {
  f <- xla_jit(function(x) x)
  expect_snapshot(error = TRUE, {
    xla_jit(1)
    ffi_program(1)
    f("a")
    f(list(1, factor("a")))
    xla_jit(function(x) "a")(1)
    xla_jit(function(x) x + pjrt_buffer)(1)
  })
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  expect_snapshot(error = TRUE, {
    hlo_custom_call("", x, x)
    hlo_custom_call("t", x, "f64")
    hlo_custom_call("t", x, x, operand_layouts = list("rows"))
    hlo_custom_call("t", x, x, operand_layouts = list(1, 1))
    hlo_custom_call("t", x, x, aliases = list(c(1, 2)))
    hlo_custom_call("t", x, ffi_type("f32", 3), aliases = list(c(1, 1)))
    ffi_type("f63")
    ffi_type("f64", -1)
  })
})
