module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=2, "columns"=2]> {stablehlo.mesh = {axes = [{name = "rows", size = 2 : i64}, {name = "columns", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {"columns"}]>}) -> (tensor<16x8xf64> {jax.result_info = "result[0]"}, tensor<8x16xf64> {jax.result_info = "result[1]"}, tensor<16xf64> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<16x8xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<16x8xf64>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x8xf64>) -> tensor<8x16xf64>
    %3 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<16x8xf64>, tensor<f64>) -> tensor<16xf64>
    return %1, %2, %3 : tensor<16x8xf64>, tensor<8x16xf64>, tensor<16xf64>
  }
}
