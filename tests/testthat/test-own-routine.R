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
  expect_equal(as_array(ffi_jvp(cube)(list(pjrt_buffer(2, "f64")), list(pjrt_buffer(1, "f64")))$tangent), array(12))
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
