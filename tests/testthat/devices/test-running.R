# What holds for programs on one device holds for those on several.

test_that("Ctrl-C ends the wait for devices that compute, or wait for each other", {
  skip_on_os("windows")
  # Device 0 takes many minutes, and the others wait for it in a sum over all.
  file <- withr::local_tempfile(lines = slow_program('
    %all = "stablehlo.all_reduce"(%r#1) ({
    ^bb0(%p: tensor<i64>, %q: tensor<i64>):
      %s = stablehlo.add %p, %q : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
    return %all : tensor<i64>
  '))
  run <- run_r(sprintf("
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    exec <- pjrt_compile(pjrt_program(path = '%s'), pjrt_compile_options(num_replicas = 2L))
    steps <- function(...) Map(function(n, device) pjrt_buffer(n, 'i64', device, integer()), list(...), devices(exec))
    invisible(lapply(pjrt_execute(exec, steps(10, 20)), as_array))
    interrupted <- function(code) {
      system(paste('(sleep 1; kill -INT', Sys.getpid(), ') &'))
      start <- Sys.time()
      tryCatch({code; cat('finished\\n')}, interrupt = function(e) cat('interrupted\\n'))
      cat('quick:', as.numeric(Sys.time() - start, units = 'secs') < 8, '\\n')
    }
    interrupted(lapply(pjrt_execute(exec, steps(1e12, 0)), as_array))
    as_array(pjrt_buffer(c(1, 2)))
  ", file))
  expect_identical(run$output, c("interrupted", "quick: TRUE ", "[1] 1 2"))
  expect_identical(run$status, 0L)
})

test_that("each device prints, also in a program that is partitioned", {
  exec <- compile('func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
    stablehlo.custom_call @print_tensor(%x) {
      has_side_effect = true, api_version = 4 : i32, backend_config = {print_header = "part", print_footer = ""}
    } : (tensor<2xf64>) -> ()
    return %x : tensor<2xf64>
  }', pjrt_compile_options(num_replicas = 2L))
  x <- Map(pjrt_buffer, list(c(1, 2), c(3, 4)), "f64", devices(exec))
  text <- capture.output(found <- lapply(pjrt_execute(exec, x), as_array))
  expect_identical(found, list(array(c(1, 2)), array(c(3, 4))))
  expect_identical(sum(text == "part"), 2L)
  expect_identical(sort(trimws(text[nzchar(text) & text != "part"])), as.character(1:4))
})

test_that("R functions answer each device, and cannot start what would wait for it", {
  mesh <- xla_mesh(c(d = 4L))
  x <- as.double(1:8)
  calls <- 0
  twice <- ffi_callback(function(x) {
    calls <<- calls + 1
    2 * x
  }, "x: f64[n] -> y: f64[n]")
  found <- xla_jit(function(x) twice(x) + 1)(xla_shard(x, mesh, "d"))
  expect_identical(as.vector(as_array(found)), 2 * x + 1)
  expect_gte(calls, 4)
  inner <- xla_jit(function(x) x + 1)
  sharded <- xla_shard(x, mesh, "d")
  nested <- ffi_callback(function(x) as.vector(as_array(inner(sharded))), "x: f64[n] -> y: f64[n]")
  expect_error(
    as_array(xla_jit(function(x) nested(x))(xla_shard(x, mesh, "d"))),
    "a program over several devices cannot be started by an R function that a program calls"
  )
  # It goes on afterwards.
  expect_identical(as.vector(as_array(inner(sharded))), x + 1)
  failing <- ffi_callback(function(x) stop("not today"), "x: f64[n] -> y: f64[n]")
  expect_error(as_array(xla_jit(function(x) failing(x))(sharded)), "not today")
})

test_that("where memory is short R collects, and tries once more", {
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  skip_if_not(nzchar(Sys.which("prlimit")), "there is no program prlimit")
  run <- run_r("
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    status <- function(what) {
      lines <- readLines('/proc/self/status')
      as.numeric(gsub('[^0-9]', '', grep(paste0('^', what, ':'), lines, value = TRUE))) / 1024
    }
    exec <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<f64>) -> tensor<6000000xf64> {
      %r = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<6000000xf64>
      return %r : tensor<6000000xf64>
    }'), pjrt_compile_options(num_replicas = 2L))
    one <- lapply(devices(exec), function(device) pjrt_scalar(1, 'f64', device))
    run <- function() lapply(pjrt_execute(exec, one), await)
    invisible(run())
    invisible(gc())
    # A run needs 96 MB, and R has no reason of its own to collect: there is room for one, not for two.
    limit <- (status('VmSize') + 170) * 2^20
    system2('prlimit', c('--pid', Sys.getpid(), paste0('--as=', format(limit, scientific = FALSE))))
    for (i in 1:4) invisible(run())
    kept <- list()
    # The C library may have some from before.
    class(tryCatch(for (i in 1:12) kept[[i]] <- run(), error = identity))[[1]]
  ", timeout = 300)
  expect_identical(run$output, '[1] "xlaffi_error_resource_exhausted"')
})

test_that("compiled programs for several devices are written down and loaded, on the same devices or others", {
  exec <- compile(halves, pjrt_compile_options(num_partitions = 2L))
  bytes <- pjrt_serialize(exec)
  expected <- list(10, array(2 * 1:4))
  whole <- function(exec) pjrt_gather(exec, do.call(pjrt_execute, c(exec, pjrt_shard(exec, 1:4))))
  expect_identical(whole(exec), expected)
  again <- pjrt_deserialize(bytes)
  expect_identical(devices(again), devices("cpu")[1:2])
  expect_identical(pjrt_shardings(again), pjrt_shardings(exec))
  expect_identical(whole(again), expected)
  elsewhere <- pjrt_deserialize(bytes, device = c("cpu:6", "cpu:2"))
  expect_identical(devices(elsewhere), devices("cpu")[c(7, 3)])
  expect_identical(whole(elsewhere), expected)
  expect_identical(pjrt_serialize(again), bytes)
  expect_snapshot(error = TRUE, {
    pjrt_deserialize(bytes, device = c("cpu:6", "cpu:2", "cpu:1"))
    pjrt_deserialize(bytes, device = "cpu:6")
  })
  file <- withr::local_tempfile(pattern = "program")
  pjrt_serialize(exec, file)
  alone <- run_r(sprintf("
    error <- tryCatch(pjrt_deserialize(path = '%s'), error = identity)
    class(error)[[1]]
    sub('\\n.*', '', conditionMessage(error))
  ", file))
  expect_identical(alone$output, c(
    '[1] "xlaffi_error_failed_precondition"', '[1] "the program is for 2 devices, platform \\"cpu\\" has 1"'
  ))
})

test_that("programs on disk are those for their devices and options", {
  device <- pjrt_device("cpu:0")
  key <- function(...) {
    options <- pjrt_compile_options(...)
    if (is.null(options$devices)) options$devices <- devices("cpu")[seq_len(options$replicas * options$partitions)]
    xlaffi:::program_key("text", device, options)
  }
  keys <- c(
    xlaffi:::program_key("text", device), key(num_partitions = 2L), key(num_replicas = 2L),
    key(num_partitions = 2L, shardy = TRUE), key(num_partitions = 2L, devices = c("cpu:0", "cpu:2"))
  )
  expect_false(anyDuplicated(keys) > 0)
  expect_identical(key(num_partitions = 2L), keys[[2]])
})

test_that("after XLA ran on several devices, a forked child refuses", {
  skip_unless_all()
  skip_on_os("windows")
  run <- run_r("
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    exec <- pjrt_compile(
      pjrt_program('func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }'),
      pjrt_compile_options(num_replicas = 2L)
    )
    x <- lapply(devices(exec), function(device) pjrt_scalar(1, 'f32', device))
    met <- parallel::mclapply(1:2, function(i) {
      tryCatch(pjrt_execute(exec, x), xlaffi_error = function(e) class(e)[[1]])
    }, mc.cores = 2)
    unlist(met)
    vapply(pjrt_execute(exec, x), as_array, 0)
  ", timeout = 60)
  expect_identical(run$output, c(
    '[1] "xlaffi_error_failed_precondition" "xlaffi_error_failed_precondition"', "[1] 1 1"
  ))
})
