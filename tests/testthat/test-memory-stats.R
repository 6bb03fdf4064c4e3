test_that("the CPU plugin tells what its buffers hold", {
  skip_unless_included("memory statistics")
  run <- run_r("
    client <- pjrt_client('cpu', cpu_device_count = 2L)
    now <- function(device = NULL) pjrt_memory_stats(device)[['bytes_in_use']]
    x <- pjrt_buffer(rnorm(1e5), 'f64')
    invisible(gc())
    base <- now()
    y <- pjrt_buffer(1:10)
    z <- pjrt_buffer(rnorm(1e5), 'f64', device = 'cpu:1')
    cat(base, now() - base, now('cpu:1'), '\n')
    cat(names(pjrt_memory_stats()), '\n')
    double <- pjrt_compile(pjrt_program('
    func.func @main(%x: tensor<100000xf64> {tf.aliasing_output = 0 : i32}) -> tensor<100000xf64> {
      %r = stablehlo.add %x, %x : tensor<100000xf64>
      return %r : tensor<100000xf64>
    }'))
    # What is donated is counted once.
    r <- await(pjrt_execute(double, x))
    cat(now() - base, '\n')
    rm(x, y, z, r)
    invisible(gc())
    cat(now(), now('cpu:1'), '\n')
    stats <- pjrt_memory_stats()
    cat(stats[['peak_bytes_in_use']] >= 800040, stats[['num_allocs']] >= 3, stats[['largest_alloc_size']], '\n')
  ")
  expect_identical(trimws(run$output), c(
    "8e+05 40 8e+05", "bytes_in_use peak_bytes_in_use num_allocs largest_alloc_size",
    "40", "0 0", "TRUE TRUE 8e+05"
  ))
})
