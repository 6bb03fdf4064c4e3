module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=2, "columns"=1]> {stablehlo.mesh = {axes = [{name = "rows", size = 2 : i64}, {name = "columns", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<16x3xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>}) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x3xf64>, tensor<f64>) -> tensor<f64>
    return %0 : tensor<f64>
  }
}
