test_that("an op is called as functions are, with its arguments by name or place", {
  skip_without_plugin()
  op <- ffi_op(function(x, by) list(sum = x + by, product = x * by), name = "both")
  expect_identical(lapply(op(1, 2), as.vector), list(sum = 3, product = 2))
  expect_identical(lapply(op(by = 1, 2), as.vector), list(sum = 3, product = 2))
  expect_snapshot(op)
  expect_snapshot(error = TRUE, {
    ffi_op(1)
    ffi_op(identity, jvp = 1)
    ffi_op(identity, name = "")
  })
})

test_that("a rule that takes other arguments than it is called with is refused", {
  f <- function(x) x
  expect_snapshot(error = TRUE, {
    ffi_op(f, jvp = function(primals, tangents) NULL, name = "f")
    ffi_op(f, jvp = function() NULL, name = "f")
    ffi_op(f, vjp = function(x, cotangent, attributes) NULL, name = "f")
    ffi_op(f, vjp = function(primals, results, cotangents, more) NULL, name = "f")
    ffi_op(f, vjp = list(forward = f, reverse = function(cotangents) NULL), name = "f")
    ffi_op(f, transpose = function(cotangents) NULL, name = "f")
    ffi_op(f, vmap = function(arguments, axes) NULL, name = "f")
    ffi_call("f", "f64", jvp = function(primals) NULL)
  })
  fits <- list(
    function(...) NULL, function(primals, ...) NULL, function(a, b, c) NULL, function(a, b, c, more = 1) NULL, list
  )
  for (rule in fits) {
    expect_s3_class(ffi_op(f, jvp = rule, vjp = rule), "xlaffi_op")
  }
})

test_that("what a rule returns is refused with the name of the op", {
  skip_without_plugin()
  op <- ffi_op(function(x) x, jvp = function(primals, results, tangents) "a", name = "named")
  expect_snapshot(error = TRUE, xla_jvp(op)(1, 1))
})
