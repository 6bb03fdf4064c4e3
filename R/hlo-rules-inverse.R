# Inverse trigonometric and hyperbolic functions: CHLO's, a part of the programs that XLA takes. It computes them to the
# last bits, also for complex numbers. That of erf() is the approximation by which JAX makes normal random numbers.

chlo_functions <- c("asin", "acos", "atan", "asinh", "acosh", "atanh", "erf_inv")

primitive(paste0("chlo_", chlo_functions),
  text = function(node, operands, scope) {
    type <- result_types(node)
    sprintf("chlo.%s %s : %s -> %s", sub("^chlo_", "", node$op), operands, type, type)
  },
  vmap = function(node, inputs, mapped, size) batch_again(node, inputs, size)
)

# Of complex numbers, roots of the factors, as the root of a product lies on another branch. 1i times x without the
# product's 0 times infinity.
times_i <- function(x) hlo_complex(-hlo_imag(x), hlo_real(x))

primitive("chlo_asin", jvp = by_slope(function(x, y) 1 / (sqrt(1 - x) * sqrt(1 + x))))
primitive("chlo_acos", jvp = by_slope(function(x, y) -1 / (sqrt(1 - x) * sqrt(1 + x))))
primitive("chlo_atan", jvp = by_slope(function(x, y) 1 / ((1 - times_i(x)) * (1 + times_i(x)))))
primitive("chlo_asinh", jvp = by_slope(function(x, y) {
  if (is_complex(x@dtype)) 1 / (sqrt(1 - times_i(x)) * sqrt(1 + times_i(x))) else hlo_rsqrt(1 + x * x)
}))
primitive("chlo_acosh", jvp = by_slope(function(x, y) 1 / (sqrt(x - 1) * sqrt(x + 1))))
primitive("chlo_atanh", jvp = by_slope(function(x, y) 1 / ((1 - x) * (1 + x))))
primitive("chlo_erf_inv", jvp = by_slope(function(x, y) sqrt(pi) / 2 * exp(y * y)))

chlo <- function(name, x) record(paste0("chlo_", name), list(x), x@dtype, x@shape)
