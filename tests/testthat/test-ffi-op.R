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
