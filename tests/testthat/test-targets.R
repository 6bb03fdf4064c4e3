test_that("our targets are listed with their operands", {
  targets <- ffi_targets()
  expect_identical(
    names(targets),
    c("target", "platforms", "operands", "results", "attributes", "dtypes", "package")
  )
  ours <- targets[targets$package %in% "xlaffi", ]
  expect_true(all(c("lu", "print_tensor") %in% ours$target))
  expect_false(is.unsorted(targets$target))
  lu <- ours[ours$target == "lu", ]
  expect_identical(lu$operands, "a")
  expect_identical(lu$results, "lu, pivots")
  expect_match(lu$platforms, "host")
  expect_match(lu$dtypes, "f32, f64")
  expect_match(ours$attributes[ours$target == "print_tensor"], "print_header")
})

test_that("ffi_handler() gives a pointer, or says what there is", {
  expect_identical(typeof(ffi_handler("lu", "host")), "externalptr")
  expect_identical(ffi_handler("lu", "cpu"), ffi_handler("lu", "Host"))
  expect_snapshot(error = TRUE, {
    ffi_handler("no_such", "host")
    ffi_handler("lu", "tpu")
    ffi_handler(1, "host")
  })
})
