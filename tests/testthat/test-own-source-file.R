source_file <- function(lines, extension, envir = parent.frame()) {
  withr::local_tempfile(fileext = extension, lines = lines, .local_envir = envir)
}

test_that("a file in C holds several ops", {
  skip_without_plugin()
  file <- source_file(c(
    "#include <xlaffi.h>",
    "static double factor(void) { return 2; }",
    "// xlaffi: times(x: f64[n], y: f64[] -> z: f64[n])",
    "void times(int64_t n, const double *x, const double *y, double *z) {",
    "  for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;",
    "}",
    "",
    "// xlaffi: check(x: f64[n]; limit: f64 = 1",
    "//   -> z: f64[n])",
    "int32_t check(const xlaffi_call *call, const double x[], int n, double limit,",
    "              double *z) {",
    "  if (x[0] > limit) return xlaffi_fail(call, XLAFFI_OUT_OF_RANGE, \"%g\", x[0]);",
    "  z[0] = n * factor();",
    "  return 0;",
    "}",
    "// xlaffi: text(x: f64[] -> z: f64[])",
    "static const char *text(const double *x, double *z) { *z = *x; return *x < 0 ? \"negative\" : NULL; }"
  ), ".c")
  ops <- ffi_source(file = file)
  expect_identical(names(ops), c("times", "check", "text"))
  expect_equal(ops$times(c(1, 2), 3), c(3, 6))
  expect_equal(ops$check(0), 2)
  error <- error_of(ops$check(3, limit = 2))
  expect_s3_class(error, "xlaffi_error_out_of_range")
  expect_match(conditionMessage(error), "check: 3")
  expect_match(conditionMessage(error_of(ops$text(-1))), "text: negative")
  expect_equal(ffi_source(file = file, name = "times")(c(1, 2), 3), c(3, 6))
  expect_equal(ffi_source("x: f64[n], y: f64[] -> z: f64[n]", file = file, name = "times")(c(1, 2), 3), c(3, 6))
  # What follows an edit is the new code.
  lines <- readLines(file)
  writeLines(sub("x[i] * *y", "x[i] / *y", lines, fixed = TRUE), file)
  expect_equal(ffi_source(file = file, name = "times")(c(1, 2), 4), c(0.25, 0.5))
  writeLines(sub("x[i] * *y", "x[i] * q", lines, fixed = TRUE), file)
  error <- error_of(ffi_source(file = file))
  expect_match(conditionMessage(error), sprintf("line 5 of %s: ", basename(file)), fixed = TRUE)
})

test_that("functions in files may be for several dtypes", {
  skip_unless_all()
  c <- source_file(c(
    "#ifndef XLAFFI_TYPED", "typedef float T;", "#endif", "#include <stdint.h>",
    "// xlaffi: twice(x: T[n] -> z: T[n]) dtypes T = f32, f64, i32",
    "void twice(int64_t n, const T *x, T *z) { for (int64_t i = 0; i < n; i++) z[i] = 2 * x[i]; }",
    "// xlaffi: first(x: f64[n] -> z: f64[])",
    "void first(const double *x, double *z) { *z = *x; }"
  ), ".c")
  cpp <- source_file(c(
    "#include <cstdint>",
    "// xlaffi: twice(x: T[n] -> z: T[n]) dtypes T = f32, f64, i32",
    "template <typename T>", "void twice(std::int64_t n, const T *x, T *z) {",
    "  for (std::int64_t i = 0; i < n; i++) z[i] = 2 * x[i];", "}"
  ), ".cpp")
  rust <- source_file(c(
    "// xlaffi: twice(x: T[n] -> z: T[n]) dtypes T = f32, f64, i32",
    "fn twice<T: Copy + std::ops::Add<Output = T>>(x: &[T], z: &mut [T]) -> Result<(), String> {",
    "    if x.len() > 4 { return Err(format!(\"{} is too many\", x.len())); }",
    "    for (z, x) in z.iter_mut().zip(x) { *z = *x + *x; }",
    "    Ok(())", "}"
  ), ".rs")
  for (file in c(c, cpp, rust)) {
    skip_without_compiler(if (file == rust) "rust" else "c")
    twice <- ffi_source(file = file)$twice
    expect_equal(as_array(twice(pjrt_buffer(1:3))), array(c(2L, 4L, 6L)))
    expect_equal(as_array(twice(pjrt_buffer(c(1, 2.5), "f64"))), array(c(2, 5)))
    expect_equal(twice(c(1, 2)), c(2, 4))
  }
  expect_match(conditionMessage(error_of(twice(1:5))), "twice: 5 is too many")
  expect_equal(ffi_source(file = c)$first(c(3, 4)), 3)
})

test_that("a file in Fortran holds subroutines", {
  skip_without_compiler("fortran")
  file <- source_file(c(
    "! xlaffi: times(x: f64[n], y: f64[] -> z: f64[n])",
    "subroutine times(n, x, y, &", "    z)",
    "  use iso_c_binding", "  implicit none",
    "  integer(c_int64_t), intent(in) :: n", "  real(c_double), intent(in) :: x(n), y",
    "  real(c_double), intent(out) :: z(n)", "  z = x * y", "end subroutine"
  ), ".f90")
  expect_equal(ffi_source(file = file)$times(c(1, 2), 3), c(3, 6))
})

test_that("what is wrong with a file's comments is told", {
  error_in <- function(..., name = NULL) {
    file <- source_file(c(...), ".c")
    error <- error_of(ffi_source(file = file, name = name))
    cat(gsub(basename(file), "op.c", conditionMessage(error), fixed = TRUE), "\n", sep = "")
  }
  good <- c("// xlaffi: f(x: f64[n] -> z: f64[n])", "void f(const double *x, double *z) {}")
  expect_snapshot({
    error_in("int f;")
    error_in("// xlaffi: f x: f64[n] -> z: f64[n]")
    error_in("// xlaffi: f(x: f64[n -> z: f64[n])", good[[2]])
    error_in("// xlaffi: f(x: f64[n] -> z: f64[n])", "void g(const double *x, double *z) {}")
    error_in("// xlaffi: f(x: f64[n] -> z: f64[n])", "void f(const double *x, double *y) {}")
    error_in("// xlaffi: f(x: f64[n] -> z: f64[n])", "void f(const double *x) {}")
    error_in("// xlaffi: f(x: f64[n] -> z: f64[n]) dtypes T = f32", good[[2]])
    error_in(good, good)
    error_in(good, name = "g")
  })
})
