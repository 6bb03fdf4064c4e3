module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=2, "columns"=1]> {stablehlo.mesh = {axes = [{name = "rows", size = 2 : i64}, {name = "columns", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<16xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}]>, tf.aliasing_output = 0 : i32}) -> (tensor<16xf64> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"rows"}]>}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<16xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<16xf64>
    return %1 : tensor<16xf64>
  }
}
