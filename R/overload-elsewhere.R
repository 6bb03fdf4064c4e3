# Entries of the table of overloads for what is documented elsewhere: operators, facts about values, R's functions of
# matrices, and the functions of this package that R does not have. Their methods are registered by NAMESPACE.

overloads_elsewhere <- function(names, package, ...) {
  # An entry beside the function itself knows more.
  for (name in setdiff(names, names(overloads))) {
    overload(name, package, by = if (package == "xlaffi") "own" else "group", ...)
  }
}

overloads_elsewhere(c("+", "-", "*"), "base",
  topic = "Mathematical functions", dtypes = "all numbers; logicals become i32",
  differs = "Integers wrap around where R gives NA."
)
overloads_elsewhere(c("/", "^"), "base",
  topic = "Mathematical functions", dtypes = "floating-point, complex; i32 becomes f64"
)
overloads_elsewhere(c("%%", "%/%"), "base",
  topic = "Mathematical functions", dtypes = "all but complex", derivative = "of the remainder",
  differs = "Of integers other than i32, division by zero has no NA."
)
overloads_elsewhere(c("==", "!=", "<", "<=", ">", ">="), "base",
  topic = "Logic and control", dtypes = "all; complex numbers for `==` and `!=`", derivative = "none",
  differs = "FALSE beside NaN (`!=`: TRUE)."
)
overloads_elsewhere("mean", "base", topic = "Summaries", dtypes = "all; integers and logicals become f64")
overloads_elsewhere(c("dim", "length", "names", "dimnames"), "base",
  topic = "Shapes", dtypes = "all", derivative = "none",
  differs = "Known while the program is written; there are no names."
)
overloads_elsewhere(c("is.numeric", "is.matrix", "is.array"), "base",
  topic = "Logic and control", dtypes = "all", derivative = "none", differs = "Known while the program is written."
)
overloads_elsewhere(c("print", "format"), "base",
  topic = "Elements", dtypes = "all", derivative = "none", differs = "Shows what the value is, not its numbers."
)
overloads_elsewhere("str", "utils",
  topic = "Elements", dtypes = "all", derivative = "none", differs = "Shows what the value is, not its numbers."
)
overloads_elsewhere("$", "base",
  topic = "Elements", dtypes = "none", derivative = "none", differs = "An error: values have no fields."
)
overloads_elsewhere(c("solve", "chol", "%*%"), "base", topic = "Linear algebra", dtypes = "floating-point, complex")
overloads_elsewhere(c("determinant", "det"), "base", topic = "Linear algebra", dtypes = "f32, f64")

overloads_elsewhere(c("hlo_add", "hlo_sum", "hlo_conj"), "xlaffi",
  topic = "Mathematical functions", dtypes = "all numbers"
)
overloads_elsewhere(c("hlo_max", "hlo_min"), "xlaffi", topic = "Mathematical functions", dtypes = "all but complex")
overloads_elsewhere("hlo_atan2", "xlaffi", topic = "Mathematical functions", dtypes = "floating-point")
overloads_elsewhere(c("hlo_logistic", "hlo_rsqrt"), "xlaffi",
  topic = "Mathematical functions", dtypes = "floating-point, complex"
)
overloads_elsewhere(c("hlo_dot", "hlo_matmul"), "xlaffi", topic = "Linear algebra", dtypes = "all numbers")
overloads_elsewhere(c("hlo_sparse", "hlo_nonzeros", "hlo_sparse_inverse"), "xlaffi",
  topic = "Linear algebra", dtypes = "f32, f64"
)
overloads_elsewhere("hlo_triangular_solve", "xlaffi", topic = "Linear algebra", dtypes = "floating-point, complex")
overloads_elsewhere("hlo_complex", "xlaffi", topic = "Complex numbers and bits", dtypes = "f32, f64")
overloads_elsewhere(c("hlo_real", "hlo_imag"), "xlaffi", topic = "Complex numbers and bits", dtypes = "complex")
overloads_elsewhere(
  c(
    "hlo_broadcast", "hlo_concatenate", "hlo_pad", "hlo_reshape", "hlo_reverse", "hlo_slice", "hlo_t", "hlo_transpose",
    "hlo_dynamic_slice", "hlo_dynamic_update_slice", "hlo_convert"
  ),
  "xlaffi",
  topic = "Shapes", dtypes = "all"
)
overloads_elsewhere("hlo_constant", "xlaffi", topic = "Elements", dtypes = "all", derivative = "none")
overloads_elsewhere("hlo_iota", "xlaffi", topic = "Elements", dtypes = "all numbers", derivative = "none")
overloads_elsewhere("hlo_select", "xlaffi", topic = "Logic and control", dtypes = "all")
overloads_elsewhere("hlo_while", "xlaffi",
  topic = "Logic and control", dtypes = "all", derivative = "forward; reverse with a bound"
)
overloads_elsewhere("hlo_custom_call", "xlaffi",
  topic = "Elements", dtypes = "all", derivative = "by the rules of `ffi_op()`"
)
overloads_elsewhere("hlo_token", "xlaffi", topic = "Elements", dtypes = "token", derivative = "none")

overload_atan2 <- function(y, x) {
  call <- method_call("atan2")
  both <- elementwise_values(list(y = y, x = x), "atan2()", call)
  binary("atan2", both[[1L]], both[[2L]], "a floating-point number", "atan2()", c("y", "x"), call = call)
}

overload("atan2", "base", overload_atan2,
  topic = "Mathematical functions", dtypes = "floating-point; integers become f64"
)
