# The sum of two halves of a vector, each on a device of its own.
halves <- '
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f64>, tensor<4xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
  %twice = stablehlo.add %x, %x : tensor<4xf64>
  return %sum, %twice : tensor<f64>, tensor<4xf64>
}'

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
