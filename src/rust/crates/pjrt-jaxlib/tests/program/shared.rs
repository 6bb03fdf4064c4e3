//! What several tests use.

/// Reuses the memory of its first argument.
pub const DONATING: &str = "func.func @main(%x: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %x, %y : tensor<64xf32>
  return %0 : tensor<64xf32>
}";
