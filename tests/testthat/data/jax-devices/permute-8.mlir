module @jit_permute attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=8, "columns"=1]> {stablehlo.mesh = {axes = [{name = "rows", size = 8 : i64}, {name = "columns", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<16x2xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>}) -> (tensor<16x2xf64> {jax.result_info = "result[0]"}, tensor<16x2xf64> {jax.result_info = "result[1]"}, tensor<128x2xf64> {jax.result_info = "result[2]"}) {
    %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"rows"}, {}]>] out_shardings=[<@mesh, [{"rows"}, {}]>, <@mesh, [{"rows"}, {}]>, <@mesh, [{"rows"}, {}]>] manual_axes={"rows", "columns"} (%arg1: tensor<2x2xf64>) {
      %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<2x2xf64>) -> tensor<2x2xf64>
      %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<2x2xf64>) -> tensor<16x2xf64>
      %3 = "stablehlo.reduce_scatter"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
        %5 = stablehlo.add %arg2, %arg3 : tensor<f64>
        stablehlo.return %5 : tensor<f64>
      }) : (tensor<16x2xf64>) -> tensor<2x2xf64>
      %4 = "stablehlo.all_to_all"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<16x2xf64>) -> tensor<16x2xf64>
      sdy.return %1, %3, %4 : tensor<2x2xf64>, tensor<2x2xf64>, tensor<16x2xf64>
    } : (tensor<16x2xf64>) -> (tensor<16x2xf64>, tensor<16x2xf64>, tensor<128x2xf64>)
    return %0#0, %0#1, %0#2 : tensor<16x2xf64>, tensor<16x2xf64>, tensor<128x2xf64>
  }
}
