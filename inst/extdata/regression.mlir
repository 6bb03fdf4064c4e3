// Least squares for 16 observations and 7 columns, in f64, by one LU factorisation.
//
// The normal equations square the condition number; the augmented system
//
//     [ I   A ] [ r    ]   [ y ]
//     [ A'  0 ] [ beta ] = [ 0 ]
//
// does not, once a step of iterative refinement has been taken with the same
// factors: its first 16 unknowns are the residuals, the last 7 the coefficients.
// Columns are first scaled to a largest absolute value of 1. The method is in
// Bjorck (1967), "Iterative refinement of linear least squares solutions I".
module @regression {
  func.func @main(%x: tensor<16x7xf64>, %y: tensor<16xf64>)
      -> (tensor<7xf64>, tensor<16xf64>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>

    // A = x / scale, column by column
    %abs = stablehlo.abs %x : tensor<16x7xf64>
    %scale = stablehlo.reduce(%abs init: %zero) applies stablehlo.maximum across dimensions = [0]
        : (tensor<16x7xf64>, tensor<f64>) -> tensor<7xf64>
    %scales = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<7xf64>) -> tensor<16x7xf64>
    %a = stablehlo.divide %x, %scales : tensor<16x7xf64>

    // K = [I A; A' 0] and its right-hand side
    %row = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %col = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %on_diagonal = stablehlo.compare EQ, %row, %col : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %identity = stablehlo.convert %on_diagonal : (tensor<16x16xi1>) -> tensor<16x16xf64>
    %at = stablehlo.transpose %a, dims = [1, 0] : (tensor<16x7xf64>) -> tensor<7x16xf64>
    %corner = stablehlo.constant dense<0.0> : tensor<7x7xf64>
    %top = stablehlo.concatenate %identity, %a, dim = 1 : (tensor<16x16xf64>, tensor<16x7xf64>) -> tensor<16x23xf64>
    %bottom = stablehlo.concatenate %at, %corner, dim = 1 : (tensor<7x16xf64>, tensor<7x7xf64>) -> tensor<7x23xf64>
    %k = stablehlo.concatenate %top, %bottom, dim = 0 : (tensor<16x23xf64>, tensor<7x23xf64>) -> tensor<23x23xf64>
    %tail = stablehlo.constant dense<0.0> : tensor<7xf64>
    %rhs = stablehlo.concatenate %y, %tail, dim = 0 : (tensor<16xf64>, tensor<7xf64>) -> tensor<23xf64>

    // P K = L U: the custom call. Matrices are column-major for LAPACK: minor-to-major (0, 1).
    %lu:2 = stablehlo.custom_call @lu(%k) {
      api_version = 4 : i32,
      operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
      result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0]> : tensor<1xindex>]
    } : (tensor<23x23xf64>) -> (tensor<23x23xf64>, tensor<23xi32>)

    // Solve, then one step of iterative refinement with the same factors
    %s0 = func.call @solve(%lu#0, %lu#1, %rhs) : (tensor<23x23xf64>, tensor<23xi32>, tensor<23xf64>) -> tensor<23xf64>
    %ks = stablehlo.dot_general %k, %s0, contracting_dims = [1] x [0] : (tensor<23x23xf64>, tensor<23xf64>) -> tensor<23xf64>
    %defect = stablehlo.subtract %rhs, %ks : tensor<23xf64>
    %ds = func.call @solve(%lu#0, %lu#1, %defect) : (tensor<23x23xf64>, tensor<23xi32>, tensor<23xf64>) -> tensor<23xf64>
    %s = stablehlo.add %s0, %ds : tensor<23xf64>

    %residuals = stablehlo.slice %s [0:16] : (tensor<23xf64>) -> tensor<16xf64>
    %scaled = stablehlo.slice %s [16:23] : (tensor<23xf64>) -> tensor<7xf64>
    %beta = stablehlo.divide %scaled, %scale : tensor<7xf64>
    return %beta, %residuals : tensor<7xf64>, tensor<16xf64>
  }

  // K s = rhs, from P K = L U
  func.func private @solve(%lu: tensor<23x23xf64>, %pivots: tensor<23xi32>, %rhs: tensor<23xf64>) -> tensor<23xf64> {
    // LAPACK's pivots are row swaps, one after the other, counted from 1: apply them to the right-hand side
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %i1 = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<23> : tensor<i32>
    %swap:2 = stablehlo.while(%i = %i0, %b = %rhs) : tensor<i32>, tensor<23xf64>
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %p1 = stablehlo.dynamic_slice %pivots, %i, sizes = [1] : (tensor<23xi32>, tensor<i32>) -> tensor<1xi32>
      %p = stablehlo.reshape %p1 : (tensor<1xi32>) -> tensor<i32>
      %j = stablehlo.subtract %p, %i1 : tensor<i32>
      %bi = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<23xf64>, tensor<i32>) -> tensor<1xf64>
      %bj = stablehlo.dynamic_slice %b, %j, sizes = [1] : (tensor<23xf64>, tensor<i32>) -> tensor<1xf64>
      %b1 = stablehlo.dynamic_update_slice %b, %bj, %i : (tensor<23xf64>, tensor<1xf64>, tensor<i32>) -> tensor<23xf64>
      %b2 = stablehlo.dynamic_update_slice %b1, %bi, %j : (tensor<23xf64>, tensor<1xf64>, tensor<i32>) -> tensor<23xf64>
      %next = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %next, %b2 : tensor<i32>, tensor<23xf64>
    }

    // L z = P rhs, then U s = z
    %pb = stablehlo.reshape %swap#1 : (tensor<23xf64>) -> tensor<23x1xf64>
    %z = "stablehlo.triangular_solve"(%lu, %pb) {
      left_side = true, lower = true, unit_diagonal = true,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>
    } : (tensor<23x23xf64>, tensor<23x1xf64>) -> tensor<23x1xf64>
    %s1 = "stablehlo.triangular_solve"(%lu, %z) {
      left_side = true, lower = false, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>
    } : (tensor<23x23xf64>, tensor<23x1xf64>) -> tensor<23x1xf64>
    %s = stablehlo.reshape %s1 : (tensor<23x1xf64>) -> tensor<23xf64>
    return %s : tensor<23xf64>
  }
}
