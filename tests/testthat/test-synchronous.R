# Programs of R data run by a client of their own, on the thread that calls; buffers lie on the default one.

test_that("a function gives the same of R data and of buffers, which different clients run", {
  skip_unless_included("a client that runs programs on R's thread")
  f <- xla_jit(function(x, y) list(sum(exp(x) * y), x + y))
  x <- c(0.5, -1, 2)
  y <- c(3, 1, -2)
  of_data <- f(x, y)
  of_buffers <- f(pjrt_buffer(x, "f64"), y)
  expect_equal(of_data, list(sum(exp(x) * y), x + y))
  expect_identical(lapply(of_buffers, function(x) as.vector(as_array(x))), of_data)
  expect_identical(device(of_buffers[[2]]), as_pjrt_device(NULL))
  synchronous <- synchronous_device()
  expect_false(synchronous == as_pjrt_device(NULL))
  expect_identical(format(synchronous), format(as_pjrt_device(NULL)))
  # Nobody is given that client, and copies between the two are made.
  expect_length(devices(), length(devices(as_pjrt_client("cpu"))))
  there <- copy_buffer(of_buffers[[2]], synchronous)
  expect_identical(device(there), synchronous)
  expect_identical(as_array(copy_buffer(there, "cpu")), as_array(of_buffers[[2]]))
  expect_error(f(copy_buffer(pjrt_buffer(c(1L, NA, 3L)), synchronous), y), "NA")
})

test_that("an objective takes R data and buffers in turns, and predictions take both", {
  skip_without_plugin()
  x <- c(-1, 0, 0.5, 1, 2)
  y <- c(0, 1, 2, 4, 9)
  f <- function(b, x, y) -sum(dpois(y, exp(b[1] + b[2] * x), log = TRUE))
  of_data <- xla_objective(f, c(0, 0), x = x, y = y)
  of_buffers <- update(of_data, y = pjrt_buffer(y, "f64"))
  at <- c(0.2, 0.8)
  for (name in c("fn", "gr", "he", "fn")) {
    expect_identical(of_buffers[[name]](at), of_data[[name]](at), label = name)
  }
  expect_identical(update(of_buffers, y = y)$gr(at), of_data$gr(at))
  g <- function(b, z) exp(b[1] + b[2] * z)
  found <- lapply(list(of_data, of_buffers), function(objective) {
    fit <- xla_fit(objective)
    list(
      predict(fit, g, z = c(1, 2), se.fit = TRUE),
      predict(fit, g, z = pjrt_buffer(c(1, 2), "f64"), se.fit = TRUE)
    )
  })
  expect_equal(found[[1]][[2]], found[[1]][[1]])
  expect_equal(found[[2]], found[[1]])
})

test_that("the memory of an objective's data is counted", {
  skip_unless_included("memory statistics")
  # What other tests left is not to go meanwhile.
  gc()
  before <- pjrt_memory_stats()
  objective <- xla_objective(function(m, x) sum((x - m)^2), 0, x = as.double(1:1e4))
  expect_equal(objective$fn(0), sum((1:1e4)^2))
  after <- pjrt_memory_stats()
  expect_identical(names(after), names(before))
  expect_gte(after[["bytes_in_use"]] - before[["bytes_in_use"]], 8e4)
  expect_gte(after[["largest_alloc_size"]], 8e4)
})

test_that("functions of R that a program calls run programs", {
  skip_without_plugin()
  inner <- xla_jit(function(x) x * 2)
  twice <- ffi_callback(function(x) inner(x), "x: f64[n] -> y: f64[n]")
  outer <- xla_jit(function(x) twice(twice(x)) + 1)
  expect_identical(outer(c(1, 2)), c(5, 9))
  expect_identical(as.vector(as_array(outer(pjrt_buffer(c(1, 2), "f64")))), c(5, 9))
})

test_that("what the user says of a client holds for all programs", {
  skip_unless_included("a client that runs programs on R's thread")
  run <- run_r('
    invisible(pjrt_client("cpu", asynchronous = TRUE))
    identical(xlaffi:::synchronous_device(), as_pjrt_device(NULL))
    xla_jit(function(x) x + 1)(1)
  ')
  expect_identical(run$output, c("[1] TRUE", "[1] 2"))
})
