module @jit_mean attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x3xf64> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) -> (tensor<3xf64> {jax.result_info = "result[0]"}, tensor<16x3xf64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<16x3xf64>) -> tensor<16x3xf64>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<16x3xf64>) -> tensor<4x3xf64>
    %2:2 = call @shmap_body(%1) : (tensor<4x3xf64>) -> (tensor<3xf64>, tensor<4x3xf64>)
    %3 = stablehlo.custom_call @Sharding(%2#0) {mhlo.sharding = "{manual}"} : (tensor<3xf64>) -> tensor<3xf64>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{replicated}"} : (tensor<3xf64>) -> tensor<3xf64>
    %5 = stablehlo.custom_call @Sharding(%2#1) {mhlo.sharding = "{manual}"} : (tensor<4x3xf64>) -> tensor<4x3xf64>
    %6 = stablehlo.custom_call @SPMDShardToFullShape(%5) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<4x3xf64>) -> tensor<16x3xf64>
    return %4, %6 : tensor<3xf64>, tensor<16x3xf64>
  }
  func.func private @shmap_body(%arg0: tensor<4x3xf64>) -> (tensor<3xf64> {jax.result_info = "[None]"}, tensor<4x3xf64> {jax.result_info = "[('rows',), None]"}) {
    %c = stablehlo.constant dense<4> : tensor<ui32>
    %c_0 = stablehlo.constant dense<1> : tensor<ui32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf64>, tensor<f64>) -> tensor<3xf64>
    %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %11 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %11 : tensor<f64>
    }) : (tensor<3xf64>) -> tensor<3xf64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %3 = stablehlo.divide %1, %2 : tensor<3xf64>
    %4 = stablehlo.partition_id : tensor<ui32>
    %5 = stablehlo.divide %4, %c_0 : tensor<ui32>
    %6 = stablehlo.remainder %5, %c : tensor<ui32>
    %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<i32>
    %8 = stablehlo.convert %7 : (tensor<i32>) -> tensor<f64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f64>) -> tensor<4x3xf64>
    %10 = stablehlo.subtract %arg0, %9 : tensor<4x3xf64>
    return %3, %10 : tensor<3xf64>, tensor<4x3xf64>
  }
}
