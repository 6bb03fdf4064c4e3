# A program that takes `%n` steps of a random number generator, which no compiler shortens: 1e12 of them take hours. The
# last number is `%r#1`; `end` is what comes behind.
slow_program <- function(end = "return %r#1 : tensor<i64>") {
  paste0("
func.func @main(%n: tensor<i64>) -> tensor<i64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %seed = stablehlo.constant dense<88172645463325252> : tensor<i64>
  %a = stablehlo.constant dense<13> : tensor<i64>
  %b = stablehlo.constant dense<7> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %x = %seed) : tensor<i64>, tensor<i64>
    cond {
      %go = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i64>
      %1 = stablehlo.shift_left %x, %a : tensor<i64>
      %2 = stablehlo.xor %x, %1 : tensor<i64>
      %3 = stablehlo.shift_right_logical %2, %b : tensor<i64>
      %4 = stablehlo.xor %2, %3 : tensor<i64>
      stablehlo.return %next, %4 : tensor<i64>, tensor<i64>
    }
  ", end, "
}")
}
