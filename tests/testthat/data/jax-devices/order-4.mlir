module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=2, "columns"=2]> {stablehlo.mesh = {axes = [{name = "rows", size = 2 : i64}, {name = "columns", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {"columns"}]>}, %arg1: tensor<8x8xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"columns"}, {}]>}) -> (tensor<8x8xf64> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"columns"}, {}]>}, tensor<8x8xf64> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>}) {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<8x8xf64>
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x8xf64>) -> tensor<8x8xf64>
    return %0, %1 : tensor<8x8xf64>, tensor<8x8xf64>
  }
}
