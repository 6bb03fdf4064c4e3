# Functions of R on several devices that fail, that wait, and that start programs.

test_that("an R function that fails on one device is an error of the program, and the devices are free again", {
  mesh <- xla_mesh(c(d = 4L))
  fails_for <- 2
  picky <- ffi_callback(function(x) {
    if (any(x == fails_for)) stop("no ", fails_for)
    x
  }, "x: f64[n] -> y: f64[n]")
  for (large in c(FALSE, TRUE)) {
    total <- xla_shard_map(function(x) {
      y <- picky(x)
      # XLA runs what is large behind the launch.
      if (large) y <- y + 0 * sum(hlo_broadcast(y[1], c(300L, 300L)) %*% hlo_broadcast(y[1], c(300L, 300L)))
      hlo_psum(sum(y), "d")
    }, mesh, "d", NULL)
    fails_for <- 2
    expect_error(total(c(0, 1, 2, 3)), "no 2")
    fails_for <- 9
    expect_equal(total(c(0, 1, 2, 3)), 6)
  }
})

test_that("a program over several devices does not start out of one that waits for R", {
  mesh <- xla_mesh(c(d = 4L))
  total <- xla_shard_map(function(x) hlo_psum(sum(x), "d"), mesh, "d", NULL)
  inner <- ffi_callback(function(x) total(c(1, 2, 3, 4)) + x, "x: f64[n] -> y: f64[n]")
  outer <- xla_shard_map(function(x) hlo_psum(sum(inner(x)), "d"), mesh, "d", NULL)
  expect_error(outer(c(1, 2, 3, 4)), "over several devices cannot be started")
  expect_error(inner(1), "over several devices cannot be started")
  expect_equal(total(c(1, 2, 3, 4)), 10)
})

test_that("a loop over a handler that fails on one device ends", {
  skip_unless_all()
  ran <- processes(1L, '
    invisible(pjrt_client("cpu", cpu_device_count = 4))
    mesh <- xla_mesh(c(d = 4L))
    said <- function(f, x) writeLines(format(tryCatch(f(x), error = conditionMessage)))
    for (type in c("f64", "f32", "c64")) {
      checked <- ffi_source(sprintf("x: %s[n] -> z: %s[n]", type, type),
        code = "for (int64_t i = 0; i < n; i++) { if (crealf(x[i]) > 3) FAIL(\\"too large\\"); z[i] = x[i]; }",
        support = "#include <complex.h>"
      )
      least <- function(x) hlo_pmin(min(Re(checked(hlo_convert(x, type)))), "d")
      f <- xla_shard_map(function(x) {
        hlo_while(function(s) s < 3, function(s) s + hlo_convert(least(x), "f64"), hlo_psum(sum(0 * x), "d"))
      }, mesh, "d", NULL)
      said(f, c(1, 1, 1, 1))
      said(f, c(1, 2, 4, 3))
    }
  ')[[1L]]
  expect_identical(ran$status, 0L)
  expect_match(ran$output[c(2L, 4L, 6L)], "too large.*on device.*one of 4")
  expect_identical(trimws(ran$output[c(1L, 3L, 5L)]), rep("3", 3))
})
