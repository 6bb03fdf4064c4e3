test_that("there is one client per platform", {
  skip_without_plugin()
  client <- pjrt_client()
  expect_s3_class(client, "xlaffi_client")
  expect_identical(pjrt_client("cpu"), client)
  expect_identical(as_pjrt_client(client), client)
  expect_identical(as_pjrt_client(NULL), client)
  expect_identical(platform(client), "cpu")
  expect_snapshot(client)
})

test_that("options come with the first call only", {
  skip_without_plugin()
  pjrt_client("cpu")
  expect_snapshot(error = TRUE, pjrt_client("cpu", cpu_device_count = 2L))
})

test_that("the included plugin takes the options that are documented", {
  skip_unless_included("options `num_threads` and `collective_timeout`")
  run <- run_r('
    client <- pjrt_client("cpu", cpu_device_count = 2, num_threads = 2L, asynchronous = FALSE)
    length(devices(client))
    as_array(pjrt_buffer(1))
  ')
  expect_identical(run$output, c("[1] 2", "[1] 1"))
})

test_that("without asynchronous execution programs that are not quick leave R's thread free", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r('
    invisible(pjrt_client("cpu", asynchronous = FALSE))
    x <- pjrt_buffer(matrix(1e-3, 2000, 2000), "f64")
    run <- function(f) {
      program <- pjrt_compile(pjrt_program(xla_program(f, x)))
      first <- .Call(xlaffi:::wrap__executable_execute, program, list(x), NULL, TRUE, FALSE, FALSE)
      second <- .Call(xlaffi:::wrap__executable_execute, program, list(x), NULL, TRUE, FALSE, FALSE)
      list(class(second), as_array(xlaffi:::finish(second, NULL)[[1]]))
    }
    slow <- run(function(x) sum(x %*% x))
    quick <- run(function(x) x[1, 1] + 1)
    stopifnot(all.equal(slow[[2]], 8000), all.equal(quick[[2]], 1.001))
    c(slow[[1]], quick[[1]])
  ')
  expect_identical(run$output, '[1] "xlaffi_launched" "list"           ')
})

test_that("bad options are named", {
  expect_snapshot(error = TRUE, {
    xlaffi:::client_options("cpu", list(1L))
    xlaffi:::client_options("cpu", list(cpu_device_count = 1:2))
    xlaffi:::client_options("cpu", list(num_threads = NULL, cpu_device_count = NA))
    as_pjrt_client(1)
  })
  for (count in c("many", "2.5", "1025")) {
    withr::local_envvar(PJRT_CPU_DEVICE_COUNT = count)
    expect_snapshot(error = TRUE, xlaffi:::client_options("cpu", list()))
  }
  withr::local_envvar(PJRT_CPU_DEVICE_COUNT = "")
  expect_identical(xlaffi:::client_options("cpu", list()), list(cpu_device_count = 1L))
})

test_that("the environment sets platform and number of devices", {
  skip_without_plugin()
  run <- run_r(
    c("length(devices())", "pjrt_device('cpu:2')", "try(pjrt_device('cpu:3'))"),
    c(PJRT_CPU_DEVICE_COUNT = "3")
  )
  expect_identical(run$output[1:2], c("[1] 3", "<CpuDevice(id=2)>"))
  expect_match(paste(trimws(run$output), collapse = " "), "Device index 3 out of range: platform \"cpu\" has 3 devices")

  run <- run_r("pjrt_buffer(1)", c(PJRT_PLATFORM = "nowhere"))
  expect_match(paste(trimws(run$output), collapse = " "), "Invalid platform: there is no plugin for \"nowhere\"")
})
