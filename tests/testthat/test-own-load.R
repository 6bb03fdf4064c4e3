# A library of plain functions; `made` in its name.
prebuilt <- function(code, envir = parent.frame()) {
  shared_library(code, "prebuilt", envir)
}

test_that("plain functions of a library are ops", {
  skip_without_plugin()
  library <- prebuilt("
    #include <stdint.h>
    void twice(double *x, int *n) { for (int i = 0; i < *n; i++) x[i] *= 2; }
    void scale_f(const float *x, int64_t n, const double *by, float *z) {
      for (int64_t i = 0; i < n; i++) z[i] = x[i] * *by;
    }
    void scale_d(const double *x, int64_t n, const double *by, double *z) {
      for (int64_t i = 0; i < n; i++) z[i] = x[i] * *by;
    }
    int strict(const double *x, double *z) { *z = *x; return *x < 0; }
  ")
  twice <- ffi_load(library, "twice", "x: f64[n] -> x: f64[n]", c("x", "*n"))
  x <- pjrt_buffer(c(1, 2, 3), "f64")
  expect_equal(as_array(twice(x)), array(c(2, 4, 6)))
  expect_equal(as_array(x), array(c(1, 2, 3)))
  symbols <- c(f32 = "scale_f", f64 = "scale_d")
  scale <- ffi_load(library, symbols, "x: T[n]; by: f64 -> z: T[n]", c("x", "n", "*by", "z"), name = "scale")
  expect_equal(scale(c(1, 2), by = 3), c(3, 6))
  expect_equal(as_array(scale(pjrt_buffer(c(1, 2), "f64"), by = 0.1)), array(c(0.1, 0.2)))
  strict <- ffi_load(library, "strict", "x: f64[] -> z: f64[]", c("x", "z"), status = TRUE)
  expect_equal(strict(1), 1)
  expect_match(conditionMessage(error_of(strict(-1))), "^strict")
  # The library stays while an op of it is there.
  unlink(library)
  invisible(gc())
  expect_equal(twice(4), 8)
})

test_that("functions for several dtype variables are told by their dtypes", {
  skip_unless_all()
  skip_without_plugin()
  library <- prebuilt("
    void f(const float *x, const int *y, double *z) { *z = *x + *y + 0.1; }
    void g(const double *x, const int *y, double *z) { *z = *x + *y + 0.2; }
  ")
  signature <- "x: T[], y: U[] -> z: wider(T, U)[]"
  op <- ffi_load(library, c("f64, i32" = "g", "f32, i32" = "f"), signature, c("x", "y", "z"), name = "told")
  expect_equal(as_array(op(pjrt_scalar(1, "f32"), pjrt_scalar(2L, "i32"))), 3.1)
  expect_equal(as_array(op(pjrt_scalar(1, "f64"), pjrt_scalar(2L, "i32"))), 3.2)
  for (symbols in list(c("f64" = "g"), c("f64, i32" = "g", "f32, ui8" = "f"), c("f64, i32" = "g", "f64, i32" = "f"))) {
    expect_s3_class(error_of(ffi_load(library, symbols, signature, c("x", "y", "z"))), "xlaffi_error_invalid_argument")
  }
})

test_that("functions that change places, and another way to call them, are another op", {
  skip_unless_all()
  skip_without_plugin()
  library <- prebuilt("
    int f(const void *x, double *z) { *z = 1; return 0; }
    int g(const void *x, double *z) { *z = 2; return 0; }
  ")
  load <- function(symbols, ...) ffi_load(library, symbols, "x: T[] -> z: f64[]", c("x", "z"), name = "places", ...)
  value <- function(op) op(pjrt_scalar(1, "f32"))
  ops <- list(
    load(c(f32 = "f", f64 = "g")), load(c(f64 = "f", f32 = "g")), load(c(f32 = "f", f64 = "g"), threads = FALSE),
    load(c(f32 = "f", f64 = "g"), status = TRUE)
  )
  expect_identical(vapply(ops, function(op) as.vector(as_array(value(op))), 0), c(1, 2, 1, 1))
  expect_identical(anyDuplicated(vapply(ops, own_digest, "")), 0L)
})

test_that("functions that take a call are ops", {
  skip_unless_all()
  skip_without_plugin()
  include <- system.file("include", "xlaffi.h", package = "xlaffi")
  library <- prebuilt(sprintf("
    #include \"%s\"
    int32_t first(const xlaffi_call *call) {
      if (call->dims[0] < 1) return xlaffi_fail(call, XLAFFI_OUT_OF_RANGE, \"nothing there\");
      *(double *) call->buffers[1] = *(const double *) call->buffers[0];
      return XLAFFI_OK;
    }", include))
  first <- ffi_load(library, "first", "x: f64[n] -> z: f64[]")
  expect_equal(first(c(5, 6)), 5)
  expect_s3_class(error_of(first(numeric())), "xlaffi_error_out_of_range")
})

test_that("handlers of a library are registered", {
  skip_without_plugin()
  expect_identical(ffi_load(handlers("library")[["path"]], c(loaded_twice = "twice")), "loaded_twice")
  expect_true("loaded_twice" %in% ffi_targets()$target)
  ffi_unregister("loaded_twice", "host")
})

test_that("what cannot be loaded is told", {
  library <- prebuilt("void f(double *x, double *z) { *z = *x; }")
  signature <- "x: f64[] -> z: f64[]"
  tell <- function(expression) {
    cat(gsub(library, "prebuilt.so", conditionMessage(error_of(expression)), fixed = TRUE), "\n", sep = "")
  }
  expect_snapshot({
    tell(ffi_load("no/such/file.so", "f"))
    tell(ffi_load(library, "g", signature))
    tell(ffi_load(library, character(), signature))
    tell(ffi_load(library, "f", signature, c("x", "y")))
    tell(ffi_load(library, "f", signature, rep("x", 66)))
    tell(ffi_load(library, "f", "x: T[] -> z: T[]", c("x", "z")))
    tell(ffi_load(library, c(f32 = "f"), signature, c("x", "z")))
    tell(ffi_load(library, "f", "x: T[], y: U[] -> z: T[]", c("x", "z")))
  })
  expect_error(ffi_load(tempdir(), "f", signature), "is a folder", class = "xlaffi_error")
  text <- withr::local_tempfile(lines = "no library")
  expect_s3_class(error_of(ffi_load(text, "f", signature)), "xlaffi_error_failed_precondition")
})

test_that("a library that was built again is the new one", {
  skip_unless_all()
  skip_without_compiler("c")
  folder <- withr::local_tempdir()
  file <- file.path(folder, paste0("again", .Platform$dynlib.ext))
  ops <- lapply(c(1, 2, 1), function(value) {
    writeLines(sprintf("void again(double *z) { *z = %g; }", value), file.path(folder, "again.c"))
    unlink(c(file, file.path(folder, "again.o")))
    withr::with_dir(folder, system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "again.c"), stdout = TRUE))
    ffi_load(file, "again", "z: f64[] -> z: f64[]", "z")
  })
  expect_identical(vapply(ops, function(op) op(0), 0), c(1, 2, 1))
  expect_identical(ops[[1L]](0), 1)
})

test_that("what a function of a library throws is caught, by either convention", {
  skip_without_plugin()
  folder <- withr::local_tempdir()
  source <- file.path(folder, "throws.cpp")
  writeLines(c(
    sprintf("#include \"%s\"", system.file("include", "xlaffi.h", package = "xlaffi")),
    "#include <stdexcept>",
    "extern \"C\" int32_t called(const xlaffi_call *call) {",
    "  double x = *(const double *) call->buffers[0];",
    "  if (x < 0) throw std::range_error(\"less than nothing\");",
    "  if (x > 9) return xlaffi_fail(call, XLAFFI_OUT_OF_RANGE, \"too large\");",
    "  *(double *) call->buffers[1] = x;",
    "  return XLAFFI_OK;",
    "}",
    "extern \"C\" void plain(const double *x, double *z) {",
    "  if (*x < 0) throw std::range_error(\"less than nothing\");",
    "  *z = *x;",
    "}"
  ), source)
  system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", shQuote(source)), stdout = FALSE, stderr = FALSE)
  library <- file.path(folder, paste0("throws", .Platform$dynlib.ext))
  called <- ffi_load(library, "called", "x: f64[] -> z: f64[]")
  plain <- ffi_load(library, "plain", "x: f64[] -> z: f64[]", c("x", "z"))
  expect_identical(c(called(1), plain(2)), c(1, 2))
  expect_match(conditionMessage(error_of(called(10))), "too large")
  for (op in list(called, plain)) {
    error <- error_of(op(-1))
    expect_s3_class(error, "xlaffi_error_internal")
    expect_match(conditionMessage(error), "threw a C++ exception: less than nothing", fixed = TRUE)
  }
})
