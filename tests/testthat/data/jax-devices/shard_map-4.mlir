module @jit_mean attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=4, "columns"=1]> {stablehlo.mesh = {axes = [{name = "rows", size = 4 : i64}, {name = "columns", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<16x3xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>}) -> (tensor<3xf64> {jax.result_info = "result[0]"}, tensor<16x3xf64> {jax.result_info = "result[1]"}) {
    %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"rows"}, {}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{"rows"}, {}]>] manual_axes={"rows", "columns"} (%arg1: tensor<4x3xf64>) {
      %c = stablehlo.constant dense<4> : tensor<ui32>
      %c_0 = stablehlo.constant dense<1> : tensor<ui32>
      %cst = stablehlo.constant dense<4.000000e+00> : tensor<f64>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %1 = stablehlo.reduce(%arg1 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf64>, tensor<f64>) -> tensor<3xf64>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
        %12 = stablehlo.add %arg2, %arg3 : tensor<f64>
        stablehlo.return %12 : tensor<f64>
      }) : (tensor<3xf64>) -> tensor<3xf64>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
      %4 = stablehlo.divide %2, %3 : tensor<3xf64>
      %5 = stablehlo.partition_id : tensor<ui32>
      %6 = stablehlo.divide %5, %c_0 : tensor<ui32>
      %7 = stablehlo.remainder %6, %c : tensor<ui32>
      %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<i32>
      %9 = stablehlo.convert %8 : (tensor<i32>) -> tensor<f64>
      %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f64>) -> tensor<4x3xf64>
      %11 = stablehlo.subtract %arg1, %10 : tensor<4x3xf64>
      sdy.return %4, %11 : tensor<3xf64>, tensor<4x3xf64>
    } : (tensor<16x3xf64>) -> (tensor<3xf64>, tensor<16x3xf64>)
    return %0#0, %0#1 : tensor<3xf64>, tensor<16x3xf64>
  }
}
