test_that("a signature is read and shown", {
  expect_snapshot(ffi_signature("x: T[n], y: T[] -> z: T[n]"))
  expect_snapshot(ffi_signature(paste(
    "a: T[..., m, n] column, w: T[m] ?; alpha: f64=1, lags: i64[p] = [1, 2], mode: str = 'fast'",
    "-> q: wider(T, f32)[..., min(m,n)+1], a: T[..., m, n] column; work: T[2*n]"
  )))
  expect_snapshot(ffi_signature("xs: f64[n]*k -> ys: f64[n]*k"))
  expect_identical(format(ffi_signature("x:T,y:T->z:T")), "x: T[...], y: T[...] -> z: T[...]")
})

test_that("the parts of a signature have R's types", {
  parts <- read_signature(paste(
    "x: T[n, 3], w: T[n]?; a: f32 = -1.5, k: ui8 = 7, b: pred = true, s: str = \"\\\"\",",
    "big: i64[2] = [9007199254740993, -1], few: i32[p] = [1, 2], c: f64 -> x: T[n, 3], y: T[n*k]"
  ))
  expect_identical(names(parts$operands), c("x", "w"))
  expect_identical(parts$operands$x$dims, c("n", "3"))
  expect_identical(parts$operands$w$optional, TRUE)
  expect_identical(parts$results$x$in_place, TRUE)
  expect_identical(parts$results$y$dims, "n*k")
  defaults <- lapply(parts$attributes, `[[`, "default")
  expect_identical(defaults[c("a", "k", "b", "s", "few")], list(a = -1.5, k = 7, b = TRUE, s = "\"", few = c(1, 2)))
  expect_identical(as.character(defaults$big), c("9007199254740993", "-1"))
  expect_null(defaults$c)
  expect_identical(parts$attributes$few$length, "p")
  expect_identical(parts$dims, c("n", "p"))
  expect_identical(parts$dtypes, "T")
})

test_that("what is wrong with a signature is shown at its place, whatever the width", {
  expect_snapshot(ffi_signature("x: T[n] -> z: T[m]"), error = TRUE)
  expect_snapshot(ffi_signature("x: f46[n] -> z: f46[n]"), error = TRUE)
  withr::local_options(width = 20, cli.width = 20)
  expect_snapshot(ffi_signature("x: T[n],   y: {n}   -> z: T[n]"), error = TRUE)
  error <- expect_error(ffi_signature("x: T[n] -> "[0]), class = "xlaffi_error_invalid_argument")
  expect_identical(error$operand, "signature")
  error <- expect_error(ffi_signature("x"), class = "xlaffi_error_invalid_argument")
  expect_identical(error[c("code", "operand")], list(code = "INVALID_ARGUMENT", operand = "signature"))
})

test_that("results that R cannot hold are refused", {
  skip_without_plugin()
  huge <- own_op("huge", "x: f64[n] -> y: f64[n*1500000000]", "root")
  expect_snapshot(huge(c(1, 2)), error = TRUE)
})
