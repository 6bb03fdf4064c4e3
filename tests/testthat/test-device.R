test_that("devices are listed, found and printed", {
  skip_without_plugin()
  device <- pjrt_device("cpu:0")
  expect_s3_class(device, "xlaffi_device")
  expect_identical(devices()[[1]], device)
  expect_identical(devices(pjrt_client("cpu"))[[1]], device)
  expect_identical(as_pjrt_device(NULL), device)
  expect_identical(pjrt_device(device), device)
  expect_identical(platform(device), "cpu")
  expect_true(device == pjrt_device("cpu"))
  expect_false(device != pjrt_device("cpu"))
  expect_false(device == "cpu")
  expect_snapshot(device)
})

test_that("bad names", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    pjrt_device(NULL)
    pjrt_device("")
    pjrt_device("cpu:x")
    pjrt_device("cpu:99")
    pjrt_device(1)
    pjrt_device("tpu")
  })
})

test_that("programs and buffers go to the device they are told", {
  skip_without_plugin()
  run <- run_r("
    src <- 'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }'
    f <- pjrt_compile(pjrt_program(src), device = 'cpu:1')
    x <- pjrt_buffer(c(1, 2), device = 'cpu:1')
    y <- pjrt_execute(f, x)
    device(x); device(y); devices(f)
    as_array(y)
    z <- copy_buffer(y, 'cpu:0')
    device(z); as_array(z); device(y) == device(z); identical(copy_buffer(z, 'cpu:0'), z)
    try(pjrt_execute(f, z))
  ", c(PJRT_CPU_DEVICE_COUNT = "2"))
  expect_identical(run$status, 0L)
  expect_identical(run$output[1:3], c("<CpuDevice(id=1)>", "<CpuDevice(id=1)>", "[[1]]"))
  expect_identical(run$output[4:11], c(
    "<CpuDevice(id=1)>", "", "[1] 2 4", "<CpuDevice(id=0)>", "[1] 2 4", "[1] FALSE", "[1] TRUE",
    run$output[[11]]
  ))
  expect_match(run$output[[11]], "Error in ")
})

test_that("a variable that is set to nothing counts as not set", {
  skip_without_plugin()
  withr::local_envvar(PJRT_PLATFORM = "")
  expect_identical(as_pjrt_device(NULL), pjrt_device("cpu"))
  expect_identical(platform(pjrt_client()), "cpu")
  expect_true(plugins_downloaded())
  expect_identical(xla_graph(function(x) x, 1)$platform, "cpu")
})
