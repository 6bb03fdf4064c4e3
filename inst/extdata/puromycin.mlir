module @jit_fit attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xf64>, %arg1: tensor<12xf64>, %arg2: tensor<2xf64>) -> (tensor<2xf64> {jax.result_info = "result[0]"}, tensor<2x2xf64> {jax.result_info = "result[1]"}, tensor<f64> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %cst_0 = stablehlo.constant dense<1.000000e+01> : tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_2 = stablehlo.constant dense<20> : tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %arg1, %iterArg_5 = %c_3, %iterArg_6 = %arg2) : tensor<12xf64>, tensor<12xf64>, tensor<i64>, tensor<2xf64>
    cond {
      %86 = stablehlo.compare LT, %iterArg_5, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %86 : tensor<i1>
    } do {
      %86 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_6) : (tensor<12xf64>, tensor<12xf64>, tensor<2xf64>) -> tensor<2xf64>
      %87 = stablehlo.add %iterArg_5, %c : tensor<i64>
      stablehlo.return %iterArg, %iterArg_4, %87, %86 : tensor<12xf64>, tensor<12xf64>, tensor<i64>, tensor<2xf64>
    }
    %1 = stablehlo.slice %0#3 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %2 = stablehlo.reshape %1 : (tensor<1xf64>) -> tensor<f64>
    %3 = stablehlo.slice %0#3 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %4 = stablehlo.reshape %3 : (tensor<1xf64>) -> tensor<f64>
    %5 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %6 = stablehlo.multiply %5, %arg0 : tensor<12xf64>
    %7 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %8 = stablehlo.add %7, %arg0 : tensor<12xf64>
    %9 = stablehlo.divide %6, %8 : tensor<12xf64>
    %10 = stablehlo.subtract %arg1, %9 : tensor<12xf64>
    %11 = stablehlo.multiply %10, %10 : tensor<12xf64>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<12xf64>, tensor<f64>) -> tensor<f64>
    %13 = stablehlo.divide %12, %cst_0 : tensor<f64>
    %14 = stablehlo.iota dim = 0 : tensor<2x2xi64>
    %15 = stablehlo.iota dim = 1 : tensor<2x2xi64>
    %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<2x2xi64>
    %17 = stablehlo.add %14, %16 : tensor<2x2xi64>
    %18 = stablehlo.compare EQ, %17, %15, SIGNED : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi1>
    %19 = stablehlo.convert %18 : (tensor<2x2xi1>) -> tensor<2x2xf64>
    %20 = stablehlo.slice %19 [0:2, 0:2] : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %21 = stablehlo.convert %20 : tensor<2x2xf64>
    %22 = stablehlo.slice %0#3 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %23 = stablehlo.slice %21 [0:2, 0:1] : (tensor<2x2xf64>) -> tensor<2x1xf64>
    %24 = stablehlo.reshape %22 : (tensor<1xf64>) -> tensor<f64>
    %25 = stablehlo.reshape %23 : (tensor<2x1xf64>) -> tensor<2xf64>
    %26 = stablehlo.slice %0#3 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %27 = stablehlo.slice %21 [0:2, 1:2] : (tensor<2x2xf64>) -> tensor<2x1xf64>
    %28 = stablehlo.reshape %26 : (tensor<1xf64>) -> tensor<f64>
    %29 = stablehlo.reshape %27 : (tensor<2x1xf64>) -> tensor<2xf64>
    %30 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %31 = stablehlo.multiply %30, %arg0 : tensor<12xf64>
    %32 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %33 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x12xf64>
    %35 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %36 = stablehlo.multiply %34, %35 : tensor<2x12xf64>
    %37 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %38 = stablehlo.add %37, %arg0 : tensor<12xf64>
    %39 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<2xf64>) -> tensor<2x12xf64>
    %40 = stablehlo.broadcast_in_dim %38, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %42 = stablehlo.divide %36, %41 : tensor<2x12xf64>
    %43 = stablehlo.negate %39 : tensor<2x12xf64>
    %44 = stablehlo.broadcast_in_dim %31, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %46 = stablehlo.multiply %43, %45 : tensor<2x12xf64>
    %47 = stablehlo.multiply %38, %38 : tensor<12xf64>
    %48 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %49 = stablehlo.divide %48, %47 : tensor<12xf64>
    %50 = stablehlo.broadcast_in_dim %49, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %52 = stablehlo.multiply %46, %51 : tensor<2x12xf64>
    %53 = stablehlo.add %42, %52 : tensor<2x12xf64>
    %54 = stablehlo.transpose %53, dims = [1, 0] : (tensor<2x12xf64>) -> tensor<12x2xf64>
    %55 = stablehlo.slice %54 [0:12, 0:2] : (tensor<12x2xf64>) -> tensor<12x2xf64>
    %56 = stablehlo.transpose %55, dims = [1, 0] : (tensor<12x2xf64>) -> tensor<2x12xf64>
    %57 = stablehlo.dot_general %56, %55, contracting_dims = [1] x [0] : (tensor<2x12xf64>, tensor<12x2xf64>) -> tensor<2x2xf64>
    %58 = stablehlo.slice %57 [0:1, 0:2] : (tensor<2x2xf64>) -> tensor<1x2xf64>
    %59 = stablehlo.reshape %58 : (tensor<1x2xf64>) -> tensor<2xf64>
    %60 = stablehlo.slice %57 [1:2, 0:2] : (tensor<2x2xf64>) -> tensor<1x2xf64>
    %61 = stablehlo.reshape %60 : (tensor<1x2xf64>) -> tensor<2xf64>
    %62 = stablehlo.slice %59 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %63 = stablehlo.reshape %62 : (tensor<1xf64>) -> tensor<f64>
    %64 = stablehlo.slice %59 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %65 = stablehlo.reshape %64 : (tensor<1xf64>) -> tensor<f64>
    %66 = stablehlo.slice %61 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %67 = stablehlo.reshape %66 : (tensor<1xf64>) -> tensor<f64>
    %68 = stablehlo.negate %65 : tensor<f64>
    %69 = stablehlo.negate %65 : tensor<f64>
    %70 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %71 = stablehlo.broadcast_in_dim %68, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %72 = stablehlo.concatenate %70, %71, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
    %73 = stablehlo.broadcast_in_dim %72, dims = [1] : (tensor<2xf64>) -> tensor<1x2xf64>
    %74 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %75 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %76 = stablehlo.concatenate %74, %75, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
    %77 = stablehlo.broadcast_in_dim %76, dims = [1] : (tensor<2xf64>) -> tensor<1x2xf64>
    %78 = stablehlo.concatenate %73, %77, dim = 0 : (tensor<1x2xf64>, tensor<1x2xf64>) -> tensor<2x2xf64>
    %79 = stablehlo.multiply %63, %67 : tensor<f64>
    %80 = stablehlo.multiply %65, %65 : tensor<f64>
    %81 = stablehlo.subtract %79, %80 : tensor<f64>
    %82 = stablehlo.broadcast_in_dim %81, dims = [] : (tensor<f64>) -> tensor<2x2xf64>
    %83 = stablehlo.divide %78, %82 : tensor<2x2xf64>
    %84 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f64>) -> tensor<2x2xf64>
    %85 = stablehlo.multiply %84, %83 : tensor<2x2xf64>
    return %0#3, %85, %12 : tensor<2xf64>, tensor<2x2xf64>, tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<12xf64>, %arg1: tensor<12xf64>, %arg2: tensor<2xf64>) -> tensor<2xf64> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.iota dim = 0 : tensor<2x2xi64>
    %1 = stablehlo.iota dim = 1 : tensor<2x2xi64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<2x2xi64>
    %3 = stablehlo.add %0, %2 : tensor<2x2xi64>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi1>
    %5 = stablehlo.convert %4 : (tensor<2x2xi1>) -> tensor<2x2xf64>
    %6 = stablehlo.slice %5 [0:2, 0:2] : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %7 = stablehlo.convert %6 : tensor<2x2xf64>
    %8 = stablehlo.slice %arg2 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %9 = stablehlo.slice %7 [0:2, 0:1] : (tensor<2x2xf64>) -> tensor<2x1xf64>
    %10 = stablehlo.reshape %8 : (tensor<1xf64>) -> tensor<f64>
    %11 = stablehlo.reshape %9 : (tensor<2x1xf64>) -> tensor<2xf64>
    %12 = stablehlo.slice %arg2 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %13 = stablehlo.slice %7 [0:2, 1:2] : (tensor<2x2xf64>) -> tensor<2x1xf64>
    %14 = stablehlo.reshape %12 : (tensor<1xf64>) -> tensor<f64>
    %15 = stablehlo.reshape %13 : (tensor<2x1xf64>) -> tensor<2xf64>
    %16 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %17 = stablehlo.multiply %16, %arg0 : tensor<12xf64>
    %18 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %19 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x12xf64>
    %21 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %22 = stablehlo.multiply %20, %21 : tensor<2x12xf64>
    %23 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %24 = stablehlo.add %23, %arg0 : tensor<12xf64>
    %25 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<2xf64>) -> tensor<2x12xf64>
    %26 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %28 = stablehlo.divide %22, %27 : tensor<2x12xf64>
    %29 = stablehlo.negate %25 : tensor<2x12xf64>
    %30 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %32 = stablehlo.multiply %29, %31 : tensor<2x12xf64>
    %33 = stablehlo.multiply %24, %24 : tensor<12xf64>
    %34 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %35 = stablehlo.divide %34, %33 : tensor<12xf64>
    %36 = stablehlo.broadcast_in_dim %35, dims = [1] : (tensor<12xf64>) -> tensor<1x12xf64>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<1x12xf64>) -> tensor<2x12xf64>
    %38 = stablehlo.multiply %32, %37 : tensor<2x12xf64>
    %39 = stablehlo.add %28, %38 : tensor<2x12xf64>
    %40 = stablehlo.transpose %39, dims = [1, 0] : (tensor<2x12xf64>) -> tensor<12x2xf64>
    %41 = stablehlo.slice %40 [0:12, 0:2] : (tensor<12x2xf64>) -> tensor<12x2xf64>
    %42 = stablehlo.slice %arg2 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %43 = stablehlo.reshape %42 : (tensor<1xf64>) -> tensor<f64>
    %44 = stablehlo.slice %arg2 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %45 = stablehlo.reshape %44 : (tensor<1xf64>) -> tensor<f64>
    %46 = stablehlo.broadcast_in_dim %43, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %47 = stablehlo.multiply %46, %arg0 : tensor<12xf64>
    %48 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f64>) -> tensor<12xf64>
    %49 = stablehlo.add %48, %arg0 : tensor<12xf64>
    %50 = stablehlo.divide %47, %49 : tensor<12xf64>
    %51 = stablehlo.subtract %arg1, %50 : tensor<12xf64>
    %52 = stablehlo.transpose %41, dims = [1, 0] : (tensor<12x2xf64>) -> tensor<2x12xf64>
    %53 = stablehlo.dot_general %52, %41, contracting_dims = [1] x [0] : (tensor<2x12xf64>, tensor<12x2xf64>) -> tensor<2x2xf64>
    %54 = stablehlo.slice %53 [0:1, 0:2] : (tensor<2x2xf64>) -> tensor<1x2xf64>
    %55 = stablehlo.reshape %54 : (tensor<1x2xf64>) -> tensor<2xf64>
    %56 = stablehlo.slice %53 [1:2, 0:2] : (tensor<2x2xf64>) -> tensor<1x2xf64>
    %57 = stablehlo.reshape %56 : (tensor<1x2xf64>) -> tensor<2xf64>
    %58 = stablehlo.slice %55 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %59 = stablehlo.reshape %58 : (tensor<1xf64>) -> tensor<f64>
    %60 = stablehlo.slice %55 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %61 = stablehlo.reshape %60 : (tensor<1xf64>) -> tensor<f64>
    %62 = stablehlo.slice %57 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %63 = stablehlo.reshape %62 : (tensor<1xf64>) -> tensor<f64>
    %64 = stablehlo.negate %61 : tensor<f64>
    %65 = stablehlo.negate %61 : tensor<f64>
    %66 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %67 = stablehlo.broadcast_in_dim %64, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %68 = stablehlo.concatenate %66, %67, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
    %69 = stablehlo.broadcast_in_dim %68, dims = [1] : (tensor<2xf64>) -> tensor<1x2xf64>
    %70 = stablehlo.broadcast_in_dim %65, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %71 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %72 = stablehlo.concatenate %70, %71, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
    %73 = stablehlo.broadcast_in_dim %72, dims = [1] : (tensor<2xf64>) -> tensor<1x2xf64>
    %74 = stablehlo.concatenate %69, %73, dim = 0 : (tensor<1x2xf64>, tensor<1x2xf64>) -> tensor<2x2xf64>
    %75 = stablehlo.multiply %59, %63 : tensor<f64>
    %76 = stablehlo.multiply %61, %61 : tensor<f64>
    %77 = stablehlo.subtract %75, %76 : tensor<f64>
    %78 = stablehlo.broadcast_in_dim %77, dims = [] : (tensor<f64>) -> tensor<2x2xf64>
    %79 = stablehlo.divide %74, %78 : tensor<2x2xf64>
    %80 = stablehlo.transpose %41, dims = [1, 0] : (tensor<12x2xf64>) -> tensor<2x12xf64>
    %81 = stablehlo.dot_general %80, %51, contracting_dims = [1] x [0] : (tensor<2x12xf64>, tensor<12xf64>) -> tensor<2xf64>
    %82 = stablehlo.dot_general %79, %81, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %83 = stablehlo.add %arg2, %82 : tensor<2xf64>
    return %83 : tensor<2xf64>
  }
}
