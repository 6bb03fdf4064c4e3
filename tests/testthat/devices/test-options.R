test_that("a program needs as many devices as its options say", {
  expect_snapshot(error = TRUE, {
    compile(halves, pjrt_compile_options(num_partitions = 9L))
    compile(halves, pjrt_compile_options(num_replicas = 3L, num_partitions = 4L))
    compile(halves, pjrt_compile_options(num_partitions = 2L), device = "cpu:1")
    compile(halves, pjrt_compile_options(num_partitions = 2L, devices = c("cpu:0", "cpu:1")), device = "cpu")
    pjrt_compile_options(num_partitions = 2L, devices = "cpu:0")
    pjrt_compile_options(num_partitions = 2L, devices = c("cpu:0", "cpu:0"))
    pjrt_compile_options(num_partitions = 2L, devices = c("cpu:0", "cpu:8"))
    pjrt_compile_options(num_partitions = 2L, devices = 1:2)
    pjrt_compile_options(num_partitions = 0L)
    pjrt_compile_options(num_replicas = "two")
    pjrt_compile_options(shardy = NA)
  })
  expect_snapshot({
    pjrt_compile_options()
    pjrt_compile_options(2L, 2L, c("cpu:0", "cpu:1", "cpu:2", "cpu:3"), shardy = FALSE)
  })
})
