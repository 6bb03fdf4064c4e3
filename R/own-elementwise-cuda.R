# The expression of an elementwise op as a kernel: the statements are those of the CPU's loop, in CUDA's C++.

# What the statements use; a macro for C is a template here.
elementwise_cuda_support <- c(
  "#define __auto_type auto",
  "template <class X> struct xlaffi_bare { typedef X type; };",
  "template <class X> struct xlaffi_bare<X &> { typedef X type; };",
  "template <class X> struct xlaffi_bare<const X &> { typedef X type; };",
  "template <class X> struct xlaffi_float { typedef double type; };",
  "template <> struct xlaffi_float<float> { typedef float type; };",
  "template <class X> typename xlaffi_float<X>::type xlaffi_real(X x) { return x; }",
  sprintf(
    "template <class X> auto xlaffi_power%d(X x) -> decltype(xlaffi_real(x)) { auto y = xlaffi_real(x); return %s; }",
    2:4, c("y * y", "y * y * y", "y * y * y * y")
  ),
  "inline float xlaffi_abs(float x) { return fabsf(x); }",
  "inline double xlaffi_abs(double x) { return fabs(x); }",
  "inline uint64_t xlaffi_abs(uint64_t x) { return x; }",
  "template <class X> int64_t xlaffi_abs(X x) { return x < 0 ? -(int64_t) x : (int64_t) x; }",
  "template <class X> X xlaffi_sign(X x) { return x != x ? x : X((x > X(0)) - (x < X(0))); }",
  sprintf(
    "template <class X, class Y> typename xlaffi_bare<decltype(true ? X() : Y())>::type xlaffi_%s(X x, Y y) { %s; }",
    c("min", "max"), sprintf("return x %s y || x != x ? x : y", c("<", ">"))
  ),
  # CUDA's functions are for one type each; those of integers and of two types are in double precision, as in C.
  "template <class X> struct xlaffi_integer {};",
  sprintf(
    "template <> struct xlaffi_integer<%s> { typedef double type; };",
    c("bool", sprintf("%sint%d_t", rep(c("", "u"), each = 4L), c(8L, 16L, 32L, 64L)))
  ),
  "template <class X, class Y> struct xlaffi_mixed { typedef double type; };",
  sprintf("template <> struct xlaffi_mixed<%s, %s> {};", c("float", "double"), c("float", "double")),
  sprintf("template <class X> typename xlaffi_integer<X>::type %1$s(X x) { return %1$s(double(x)); }", c(
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "floor", "ceil",
    "trunc", "rint", "fabs"
  )),
  sprintf(
    "template <class X, class Y> %2$s %1$s(X x, Y y) { return %1$s(double(x), double(y)); }",
    c("pow", "atan2", "hypot", "fmod", "fmin", "fmax", "copysign", "remainder", "fdim"),
    "typename xlaffi_mixed<X, Y>::type"
  ),
  "#define XLAFFI_NUMBER(x) ((xlaffi_float<xlaffi_all>::type) (x))",
  sprintf(
    "#define XLAFFI_%s(...) xlaffi_%s(__VA_ARGS__)",
    c("REAL", "POWER2", "POWER3", "POWER4", "ABS", "SIGN", "MIN", "MAX"),
    c("real", "power2", "power3", "power4", "abs", "sign", "min", "max")
  )
)

# NULL for complex numbers, which CUDA has no arithmetic for. `moves`: which operands change with the index `at`.
# Nobody asked for it: it is compiled only where there is a client for CUDA, else when it is first called, which also
# tells what does not compile.
elementwise_kernel <- function(signature, code, moves, at, dtypes, support) {
  if (any(is_complex(c(unlist(dtypes), array_dtypes(signature))))) {
    return(NULL)
  }
  operands <- names(signature$operands)
  results <- names(signature$results)
  inputs <- paste0("xlaffi_in_", operands)
  outputs <- paste0("xlaffi_out_", results)
  bare <- function(x) sprintf("xlaffi_bare<decltype(%s)>::type", x)
  lines <- c(
    sprintf("const %s %s = %s[%s];", bare(paste0(operands, "[0]")), inputs, operands, ifelse(moves, at, "0")),
    sprintf("%s %s;", bare(paste0(results, "[0]")), outputs),
    "{",
    sprintf("typedef decltype(%s) xlaffi_all;", paste(inputs, collapse = " + ")),
    sprintf("const auto %s = %s;", operands, inputs),
    sprintf("decltype(%s) %s;", outputs, results),
    code$lines,
    sprintf("%s = %s;", outputs, results),
    "}",
    sprintf("%s[%s] = %s;", results, at, outputs)
  )
  kernel <- ffi_kernel(lines, support = c(elementwise_cuda_support, support))
  kernel$index <- at
  kernel$lazy <- TRUE
  kernel
}
