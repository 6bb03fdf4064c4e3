module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<51xf32>, %arg1: tensor<150x4xf32>, %arg2: tensor<150xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<51xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.500000e+02> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.slice %arg0 [0:24] : (tensor<51xf32>) -> tensor<24xf32>
    %1 = stablehlo.slice %arg0 [24:30] : (tensor<51xf32>) -> tensor<6xf32>
    %2 = stablehlo.slice %arg0 [30:48] : (tensor<51xf32>) -> tensor<18xf32>
    %3 = stablehlo.slice %arg0 [48:51] : (tensor<51xf32>) -> tensor<3xf32>
    %4 = stablehlo.reshape %0 : (tensor<24xf32>) -> tensor<4x6xf32>
    %5 = stablehlo.reshape %2 : (tensor<18xf32>) -> tensor<6x3xf32>
    %6 = stablehlo.dot_general %arg1, %4, contracting_dims = [1] x [0] : (tensor<150x4xf32>, tensor<4x6xf32>) -> tensor<150x6xf32>
    %7 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<150x6xf32>
    %9 = stablehlo.add %6, %8 : tensor<150x6xf32>
    %10 = stablehlo.tanh %9 : tensor<150x6xf32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<150x6xf32>
    %12 = stablehlo.subtract %11, %10 : tensor<150x6xf32>
    %13 = stablehlo.dot_general %10, %5, contracting_dims = [1] x [0] : (tensor<150x6xf32>, tensor<6x3xf32>) -> tensor<150x3xf32>
    %14 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<150x3xf32>
    %16 = stablehlo.add %13, %15 : tensor<150x3xf32>
    %17:3 = call @log_softmax(%16) : (tensor<150x3xf32>) -> (tensor<150x3xf32>, tensor<150x3xf32>, tensor<150x1xf32>)
    %18 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<150xi32>) -> tensor<150x1xi32>
    %19:2 = call @take_along_axis(%17#0, %18) : (tensor<150x3xf32>, tensor<150x1xi32>) -> (tensor<150x1xf32>, tensor<150x1x1xi32>)
    %20 = stablehlo.reduce(%19#0 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<150x1xf32>, tensor<f32>) -> tensor<f32>
    %21 = stablehlo.divide %20, %cst : tensor<f32>
    %22 = stablehlo.negate %21 : tensor<f32>
    %23 = stablehlo.negate %cst_1 : tensor<f32>
    %24 = stablehlo.divide %23, %cst : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<150x1xf32>
    %26 = call @take_along_axis_0(%19#1, %25) : (tensor<150x1x1xi32>, tensor<150x1xf32>) -> tensor<150x3xf32>
    %27 = call @log_softmax_1(%17#1, %17#2, %26) : (tensor<150x3xf32>, tensor<150x1xf32>, tensor<150x3xf32>) -> tensor<150x3xf32>
    %28 = stablehlo.reduce(%27 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<150x3xf32>, tensor<f32>) -> tensor<3xf32>
    %29 = stablehlo.reshape %28 : (tensor<3xf32>) -> tensor<1x3xf32>
    %30 = stablehlo.reduce(%29 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x3xf32>, tensor<f32>) -> tensor<3xf32>
    %31 = stablehlo.dot_general %27, %10, contracting_dims = [0] x [0] : (tensor<150x3xf32>, tensor<150x6xf32>) -> tensor<3x6xf32>
    %32 = stablehlo.transpose %31, dims = [1, 0] : (tensor<3x6xf32>) -> tensor<6x3xf32>
    %33 = stablehlo.dot_general %27, %5, contracting_dims = [1] x [1] : (tensor<150x3xf32>, tensor<6x3xf32>) -> tensor<150x6xf32>
    %34 = stablehlo.multiply %33, %12 : tensor<150x6xf32>
    %35 = stablehlo.multiply %34, %10 : tensor<150x6xf32>
    %36 = stablehlo.add %34, %35 : tensor<150x6xf32>
    %37 = stablehlo.reduce(%36 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<150x6xf32>, tensor<f32>) -> tensor<6xf32>
    %38 = stablehlo.reshape %37 : (tensor<6xf32>) -> tensor<1x6xf32>
    %39 = stablehlo.reduce(%38 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %40 = stablehlo.dot_general %36, %arg1, contracting_dims = [0] x [0] : (tensor<150x6xf32>, tensor<150x4xf32>) -> tensor<6x4xf32>
    %41 = stablehlo.transpose %40, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %42 = stablehlo.reshape %32 : (tensor<6x3xf32>) -> tensor<18xf32>
    %43 = stablehlo.reshape %41 : (tensor<4x6xf32>) -> tensor<24xf32>
    %44 = stablehlo.concatenate %43, %39, %42, %30, dim = 0 : (tensor<24xf32>, tensor<6xf32>, tensor<18xf32>, tensor<3xf32>) -> tensor<51xf32>
    return %22, %44 : tensor<f32>, tensor<51xf32>
  }
  func.func private @log_softmax(%arg0: tensor<150x3xf32>) -> (tensor<150x3xf32>, tensor<150x3xf32>, tensor<150x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<150x3xf32>, tensor<f32>) -> tensor<150xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<150xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<150xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<150xf32>) -> tensor<150x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<150x1xf32>) -> tensor<150x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<150x3xf32>
    %6 = stablehlo.exponential %5 : tensor<150x3xf32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<150x3xf32>, tensor<f32>) -> tensor<150xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<150xf32>) -> tensor<150x1xf32>
    %9 = stablehlo.log %8 : tensor<150x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<150x1xf32>) -> tensor<150x3xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<150x3xf32>
    return %11, %6, %8 : tensor<150x3xf32>, tensor<150x3xf32>, tensor<150x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<150x3xf32>, %arg1: tensor<150x1xi32>) -> (tensor<150x1xf32>, tensor<150x1x1xi32>) {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<150x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<150x1xi32>, tensor<150x1xi32>) -> tensor<150x1xi1>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<150x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<150x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<150x1xi1>, tensor<150x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<150x1xi32>) -> tensor<150x1x1xi32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<150x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<150x1x1xi32>, tensor<150x1x1xi32>) -> tensor<150x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<150x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<150x1x1xi32>, tensor<150x1x1xi32>) -> tensor<150x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<150x1x1xi1>
    %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<150x1x1xi1>, tensor<i1>) -> tensor<150x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<150x3xf32>, tensor<150x1x1xi32>) -> tensor<150x1xf32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<150x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<150x1xi1>, tensor<150x1xf32>
    return %15, %5 : tensor<150x1xf32>, tensor<150x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<150x1x1xi32>, %arg1: tensor<150x1xf32>) -> tensor<150x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<150x3xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<150x3xf32>, tensor<150x1x1xi32>, tensor<150x1xf32>) -> tensor<150x3xf32>
    return %1 : tensor<150x3xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<150x3xf32>, %arg1: tensor<150x1xf32>, %arg2: tensor<150x3xf32>) -> tensor<150x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.negate %arg2 : tensor<150x3xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<150x3xf32>, tensor<f32>) -> tensor<150xf32>
    %2 = stablehlo.reshape %1 : (tensor<150xf32>) -> tensor<150x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<150x1xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<150x1xf32>, tensor<f32>) -> tensor<150xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<150xf32>) -> tensor<150x3xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<150x3xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<150x3xf32>
    return %7 : tensor<150x3xf32>
  }
}
