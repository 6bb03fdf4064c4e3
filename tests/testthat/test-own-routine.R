test_that("Fortran routines of stats are ops, in programs and batches", {
  skip_without_plugin()
  # Levinson and Durbin: solves toeplitz(r[1:i]) f = g for i = 1, ..., lr.
  eureka <- ffi_routine(
    "r: f64[..., lr + 1], g: f64[..., k]; lr: i32 -> f: f64[..., lr, lr] column, var: f64[..., lr]; a: f64[lr]",
    getDLLRegisteredRoutines("stats")$.Fortran$eureka, c("lr", "r", "g", "f", "var", "a")
  )
  series <- as.numeric(lynx)
  r <- as.vector(acf(series, 4, "covariance", plot = FALSE)$acf)
  reference <- function(r) solve(toeplitz(r[1:4]), r[2:5])
  found <- eureka(pjrt_buffer(r, "f64"), pjrt_buffer(r, "f64"), lr = 4L)
  expect_equal(as_array(found$f)[4, ], reference(r), tolerance = 1e-10)
  expect_equal(as_array(found$f)[2, 1:2], solve(toeplitz(r[1:2]), r[2:3]), tolerance = 1e-10)
  other <- r * c(1.2, 1, 1, 1, 1)
  both <- rbind(r, other)
  many <- eureka(pjrt_buffer(both, "f64"), pjrt_buffer(both, "f64"), lr = 4L)
  expect_equal(as_array(many$f)[1, 4, ], reference(r), tolerance = 1e-10)
  expect_equal(as_array(many$f)[2, 4, ], reference(other), tolerance = 1e-10)
})

test_that("C routines of stats are ops", {
  skip_without_plugin()
  lloyd <- ffi_routine(
    paste(
      "x: f64[n, p] column, centers: f64[k, p] column; steps: i32 = 10",
      "-> centers: f64[k, p] column, cluster: i32[n], counts: i32[k], wss: f64[k]"
    ),
    getDLLRegisteredRoutines("stats")$.C$kmeans_Lloyd,
    c("x", "n", "p", "centers", "k", "cluster", "steps", "counts", "wss"),
    name = "lloyd"
  )
  x <- as.matrix(iris[, 1:4])
  dimnames(x) <- NULL
  start <- x[c(1, 51, 101), ]
  found <- lloyd(pjrt_buffer(x, "f64"), pjrt_buffer(start, "f64"), steps = 50L)
  expected <- kmeans(x, start, 50, algorithm = "Lloyd")
  expect_equal(as_array(found$centers), unname(expected$centers))
  expect_equal(as.vector(as_array(found$cluster)), unname(expected$cluster))
  expect_equal(as.vector(as_array(found$wss)), expected$withinss)
})

test_that("a rule in R makes a routine differentiable", {
  skip_without_plugin()
  library <- shared_library("
    void cube(double *x, int *n, double *z) { for (int i = 0; i < *n; i++) z[i] = x[i] * x[i] * x[i]; }
  ", "routines")
  loaded <- dyn.load(library)
  withr::defer(dyn.unload(library))
  cube <- ffi_routine("x: f64[n] -> z: f64[n]", getNativeSymbolInfo("cube", loaded), c("x", "n", "z"),
    jvp = function(primals, results, tangents) 3 * primals$x^2 * tangents$x
  )
  expect_equal(cube(c(1, 2)), c(1, 8))
  expect_equal(as_array(xla_jvp(cube)(list(pjrt_buffer(2, "f64")), list(pjrt_buffer(1, "f64")))$tangent), array(12))
})

routines <- function(code, name = "routines", envir = parent.frame()) {
  loaded <- dyn.load(shared_library(code, name, envir))
  withr::defer(dyn.unload(loaded[["path"]]), envir)
  function(name) getNativeSymbolInfo(name, loaded)
}

test_that("a routine may use all of R on R's thread, and its error is the program's", {
  skip_without_plugin()
  routine <- routines("
    #include <R.h>
    void root(double *x, int *n, double *z) {
      double *copy = (double *) R_alloc(*n, sizeof(double));
      for (int i = 0; i < *n; i++) {
        if (x[i] < 0) error(\"x[%d] is %g\", i + 1, x[i]);
        copy[i] = sqrt(x[i]);
      }
      for (int i = 0; i < *n; i++) z[i] = copy[i];
    }
    void noise(double *z) {
      GetRNGstate();
      *z = unif_rand();
      PutRNGstate();
    }
  ")
  root <- ffi_routine("x: f64[..., n] -> z: f64[..., n]", routine("root"), c("x", "n", "z"))
  expect_equal(root(c(4, 9)), c(2, 3))
  expect_equal(root(rbind(c(4, 9), c(16, 25))), rbind(c(2, 3), c(4, 5)))
  error <- error_of(xla_jit(function(x) root(x) + 1)(c(4, -9)))
  expect_s3_class(error, "xlaffi_error")
  expect_identical(conditionMessage(error$parent), "x[2] is -9")
  expect_equal(root(4), 2)
  noise <- ffi_routine("-> z: f64[]", routine("noise"), "z", side_effect = TRUE)
  set.seed(1)
  expected <- runif(2)
  set.seed(1)
  expect_identical(c(noise(), noise()), expected)
})

test_that("a routine gets all numbers there are, and operands of any name", {
  skip_without_plugin()
  routine <- routines("
    void same(double *x, int *n, double *z) { for (int i = 0; i < *n; i++) z[i] = x[i]; }
  ")
  numbers <- c(NA, NaN, Inf, -Inf, 1)
  for (thread in c("r", "any")) {
    op <- ffi_routine("routine: f64[n] -> z: f64[n]", routine("same"), c("routine", "n", "z"), thread = thread)
    expect_equal(op(numbers), numbers)
  }
})

test_that("a dimension that no int can hold is refused", {
  routine <- getDLLRegisteredRoutines("stats")$.C$kmeans_Lloyd
  parts <- xlaffi:::read_signature("x: f64[n] -> z: f64[]")
  caller <- xlaffi:::routine_caller(parts, routine, c("x", "n", "z"), "long")
  # An operand of that length would take 16 GiB.
  assign("routine_sizes", function(parts, given) list(n = 2^31), environment(caller))
  error <- error_of(caller(1))
  expect_s3_class(error, "xlaffi_error_out_of_range")
  expect_identical(conditionMessage(error), "long: the dimension `n` is 2147483648, which is no `int`")
})

test_that("a routine gets the same memory on R's thread and on XLA's", {
  skip_without_plugin()
  routine <- routines("
    void all(int *k, double *a, double *b, int *m, int *n, double *w, int *p, double *sums, int *counts, double *work) {
      for (int i = 0; i < *m * *n; i++) b[i] = *k * b[i] + a[i] * (i + 1);
      for (int i = 0; i < *m * *n; i++) work[i] = b[i];
      for (int i = 0; i < 2; i++) { sums[i] = work[i] + w[i % *p]; counts[i] = *n - i; }
    }
  ")
  signature <- paste(
    "a: f64[..., m, n], b: f64[..., m, n] column; k: i32 = 2, w: f64[p] ->",
    "b: f64[..., m, n] column, sums: f64[..., (m + 1) / 2], counts: i32[..., 2]; work: f64[m * n]"
  )
  arguments <- c("k", "a", "b", "m", "n", "w", "p", "sums", "counts", "work")
  op <- function(thread) ffi_routine(signature, routine("all"), arguments, thread = thread, name = thread)
  a <- array(as.double(1:24), c(2, 3, 4))
  b <- array(as.double(24:1), c(2, 3, 4))
  expect_equal(op("r")(a, b, w = c(1, 2)), op("any")(a, b, w = c(1, 2)))
  expect_equal(op("r")(a[1, , ], b[1, , ], w = 7, k = 3L), op("any")(a[1, , ], b[1, , ], w = 7, k = 3L))
})

test_that("what a routine throws is caught", {
  skip_without_plugin()
  folder <- withr::local_tempdir()
  source <- file.path(folder, "throwing.cpp")
  writeLines(c(
    "#include <stdexcept>",
    "extern \"C\" void check(double *x, int *n, double *z) {",
    "  for (int i = 0; i < *n; i++) {",
    "    if (x[i] < 0) throw std::domain_error(\"negative\");",
    "    if (x[i] > 9) throw 1;",
    "    z[i] = x[i];",
    "  }",
    "}"
  ), source)
  system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", shQuote(source)), stdout = FALSE, stderr = FALSE)
  loaded <- dyn.load(file.path(folder, paste0("throwing", .Platform$dynlib.ext)))
  withr::defer(dyn.unload(loaded[["path"]]))
  check <- ffi_routine("x: f64[..., n] -> z: f64[..., n]", getNativeSymbolInfo("check", loaded), c("x", "n", "z"),
    thread = "any"
  )
  on_r <- ffi_routine("x: f64[..., n] -> z: f64[..., n]", getNativeSymbolInfo("check", loaded), c("x", "n", "z"))
  for (i in 1:3) {
    expect_equal(on_r(c(1, 2)), c(1, 2))
    expect_match(conditionMessage(error_of(on_r(c(1, -2)))), "check: threw a C++ exception: negative", fixed = TRUE)
    expect_match(conditionMessage(error_of(on_r(rbind(c(1, 2), c(3, 10))))), "that is not a std::exception")
  }
  expect_s3_class(error_of(on_r(-1)), "xlaffi_error_internal")
  expect_equal(check(c(1, 2)), c(1, 2))
  expect_snapshot(check(c(1, -2)), error = TRUE)
  expect_snapshot(check(rbind(c(1, 2), c(3, 10))), error = TRUE)
  expect_equal(check(c(1, 2)), c(1, 2))
})

test_that("what .C() does not know is refused on R's thread", {
  routine <- getDLLRegisteredRoutines("stats")$.C$kmeans_Lloyd
  routine$numParameters <- -1L
  expect_snapshot(error = TRUE, {
    ffi_routine("x: f32[n] -> z: f32[n]", routine, c("x", "n", "z"))
    ffi_routine("x: T[n] -> z: T[n]", routine, c("x", "n", "z"))
    ffi_routine("x: f64[n]; s: str -> z: f64[n]", routine, c("x", "n", "z", "s"))
    ffi_routine("x: f64[n], y: f64[n]? -> z: f64[n]", routine, c("x", "y", "n", "z"))
    ffi_routine("x: f64[n] -> x: f64[n]", routine, c("x", "x", "n"))
    ffi_routine("x: f64[n] -> z: f64[n]", routine, c("x", "n", "z"), thread = "R")
  })
})

test_that("routines that take R objects are refused", {
  signature <- "x: f64[n] -> z: f64[n]"
  expect_snapshot(error = TRUE, {
    ffi_routine(signature, "eureka", "x")
    ffi_routine(signature, getDLLRegisteredRoutines("stats")$.Call$cor, "x")
    ffi_routine(signature, getDLLRegisteredRoutines("stats")$.Fortran$eureka, c("x", "z"))
    ffi_routine(signature, getDLLRegisteredRoutines("stats")$.Fortran$eureka, c("x", "n", "z", "x", "x", "q"))
    ffi_routine(signature, getDLLRegisteredRoutines("stats")$.Fortran$eureka, c("x", "n", "x", "x", "x", "x"))
    ffi_routine(signature, getDLLRegisteredRoutines("stats")$.Fortran$eureka, c("n", "z", "z", "z", "z", "z"))
  })
})
