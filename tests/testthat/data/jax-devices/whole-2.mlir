module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=2, "columns"=1]> {stablehlo.mesh = {axes = [{name = "rows", size = 2 : i64}, {name = "columns", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<4x3xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x3xf64> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x4xf64>, tensor<4x3xf64>) -> tensor<8x3xf64>
    return %0 : tensor<8x3xf64>
  }
}
