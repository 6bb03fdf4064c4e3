module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=4, "columns"=2]> {stablehlo.mesh = {axes = [{name = "rows", size = 4 : i64}, {name = "columns", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {"columns"}]>}, %arg1: tensor<8x4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"columns"}, {}]>}) -> (tensor<16x4xf64> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x8xf64>, tensor<8x4xf64>) -> tensor<16x4xf64>
    return %0 : tensor<16x4xf64>
  }
}
