# The expression of an elementwise op in operations of XLA, for its derivatives.

# The rule for forward mode: the derivative of the same expression in operations of XLA.
elementwise_jvp <- function(code, signature, name) {
  unknown <- if (is.null(code$calls)) {
    "the expression is C"
  } else {
    functions <- setdiff(all_functions(code$calls), names(value_functions))
    names <- unlist(lapply(code$calls, function(call) all.names(call[[3L]], functions = FALSE)))
    names <- setdiff(names, c(names(signature$operands), names(signature$attributes), code$names, names(c_constants)))
    if (length(functions)) {
      sprintf("that of `%s()` is not known here", functions[[1L]])
    } else if (length(names)) {
      sprintf("the value of `%s` is not known here", names[[1L]])
    }
  }
  function(primals, results, tangents, attributes) {
    if (!is.null(unknown)) {
      abort(sprintf("op `%s` has no derivatives: %s", name, unknown), "UNIMPLEMENTED",
        op = name, operand = "jvp", hint = "`ffi_elementwise(jvp = )` gives it a rule; see ?ffi_op.", call = NULL
      )
    }
    shape <- tree_leaves(results)[[1L]]@shape
    types <- tree_leaves(results)
    f <- function(...) {
      operands <- lapply(list(...), broadcast_to, shape)
      operands[code$widened] <- lapply(operands[code$widened], converted, "i64")
      attributes <- attribute_values(attributes, signature)
      dtypes <- stats::setNames(lapply(types, function(type) type@dtype), names(signature$results))
      values <- value_statements(code$calls, c(operands, attributes), dtypes)
      tree_fill(results, lapply(names(dtypes), function(name) {
        x <- values[[name]]
        if (length(x@shape)) x else repeated(x, shape)
      }))
    }
    xla_jvp(f)(primals, tangents)$tangent
  }
}

as_dtype <- function(x, dtype) {
  converted(if (is_value(x)) x else constant(x, r_dtype(x), integer(), "expression"), dtype)
}

# Attributes with the dtypes that they have in C
attribute_values <- function(attributes, signature) {
  Map(function(x, name) {
    dtype <- signature$attributes[[name]]$dtype
    if (length(x) == 1L && dtype != "str") constant(x, dtype, integer(), name) else x
  }, attributes, names(attributes))
}

# Constants of C's <math.h>, and R's own
c_constants <- list(
  pi = pi, M_PI = pi, M_PI_2 = pi / 2, M_PI_4 = pi / 4, M_1_PI = 1 / pi, M_2_PI = 2 / pi, M_2_SQRTPI = 2 / sqrt(pi),
  M_E = exp(1), M_LN2 = log(2), M_LN10 = log(10), M_LOG2E = 1 / log(2), M_LOG10E = 1 / log(10), M_SQRT2 = sqrt(2),
  M_SQRT1_2 = sqrt(0.5)
)

all_functions <- function(x) {
  if (is.call(x)) {
    c(if (is.name(x[[1L]])) as.character(x[[1L]]), unlist(lapply(as.list(x)[-1L], all_functions)))
  } else if (is.list(x)) {
    unique(unlist(lapply(x, function(call) all_functions(call[[3L]]))))
  }
}

# What is given to a result has its dtype from then on, as in C.
value_statements <- function(calls, variables, dtypes = list()) {
  env <- list2env(variables, parent = list2env(value_functions, parent = list2env(c_constants, parent = emptyenv())))
  for (call in calls) {
    name <- as.character(call[[2L]])
    value <- eval(call[[3L]], env)
    env[[name]] <- if (is.null(dtypes[[name]])) value else as_dtype(value, dtypes[[name]])
  }
  env
}

# As in C two values take the wider dtype; a number takes that of the value.
promoted <- function(f) {
  force(f)
  function(x, y) {
    if (is_value(x) && is_value(y)) {
      both <- wider_dtype(x@dtype, y@dtype)
      return(f(converted(x, both), converted(y, both)))
    }
    whole <- function(value, number) {
      if (!is_value(value) || is_inexact(value@dtype)) {
        return(value)
      }
      if (is.double(number)) converted(value, "f64") else if (is_value(number)) value else as_int(value)
    }
    f(whole(x, y), whole(y, x))
  }
}

# What C computes with as its `int`
short_dtypes <- c("pred", "i8", "ui8", "i16", "ui16")

as_int <- function(x) if (is_value(x) && x@dtype %in% short_dtypes) converted(x, "i32") else x

# The dtype that C has for both
wider_dtype <- function(x, y) {
  if (x == y) {
    return(x)
  }
  if (all(c(x, y) %in% short_dtypes)) {
    return("i32")
  }
  order <- c("pred", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f32", "f64")
  rank <- max(match(real_dtype(x), order), match(real_dtype(y), order))
  if ("ui32" == order[[rank]] && any(c(x, y) %in% c("i8", "i16", "i32"))) {
    return("i64")
  }
  if (is_complex(x) || is_complex(y)) complex_dtype(order[[max(rank, match("f32", order))]]) else order[[rank]]
}

# What values have of an expression's functions
value_functions <- local({
  float <- function(x) if (is_value(x) && !is_inexact(x@dtype)) converted(x, "f64") else x
  one <- function(f) {
    force(f)
    function(x) f(float(x))
  }
  two <- function(f) {
    force(f)
    promoted(function(x, y) f(float(x), float(y)))
  }
  computed <- function(f) {
    both <- promoted(f)
    function(x, y) if (missing(y)) f(as_int(x)) else both(as_int(x), as_int(y))
  }
  size <- function(x) abs(if (is_value(x) && grepl("^i|^pred|^ui(8|16|32)", x@dtype)) converted(x, "i64") else x)
  either <- function(f, plain) promoted(function(x, y) if (is_value(x) || is_value(y)) f(x, y) else plain(x, y))
  pair <- promoted(function(x, y) list(x, y))
  choice <- function(test, yes, no) {
    if (!is_value(test)) {
      return(if (test) yes else no)
    }
    if (!is_value(yes) && !is_value(no)) {
      yes <- repeated(constant(as.double(yes), "f64", integer(), "yes"), test@shape)
    }
    both <- pair(yes, no)
    as_choice(hlo_select(test, both[[1L]], both[[2L]]))
  }
  smaller <- either(function(x, y) hlo_min(as_int(x), as_int(y)), pmin)
  larger <- either(function(x, y) hlo_max(as_int(x), as_int(y)), pmax)
  own <- function(names) mget(names, baseenv())
  unary <- c(
    "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "floor", "ceiling", "round", "trunc", "lgamma", "gamma", "logb"
  )
  c(
    list(
      "(" = function(x) x, "+" = computed(`+`), "-" = computed(`-`), "*" = computed(`*`), "/" = two(`/`),
      "^" = two(`^`), pow = two(`^`), "!" = `!`, "&" = `&`, "&&" = `&`, "|" = `|`, "||" = `|`, ifelse = choice,
      "if" = choice, pmin = smaller, fmin = smaller, pmax = larger, fmax = larger, abs = size, fabs = one(abs),
      sign = function(x) sign(as_int(x)),
      atan2 = either(function(x, y) hlo_atan2(float(x), float(y)), atan2), ceil = one(ceiling), rint = one(round),
      tgamma = one(gamma), erf = one(function(x) hlo_erf(x)), erfc = one(function(x) hlo_erfc(x))
    ),
    lapply(own(c("==", "!=", "<", "<=", ">", ">=")), promoted), lapply(own(unary), one),
    lapply(c(creal = Re, cimag = Im, conj = Conj, own(c("Re", "Im", "Conj", "Mod"))), one)
  )
})

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
  # Of real numbers: complex ones have no kernel.
  sprintf("#define %s(x) (%s)", c("creal", "XLAFFI_CONJ", "cimag"), c("x", "x", "0 * (x)")),
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
  if (has_complex(signature, dtypes)) {
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
    sprintf("const %s %s = %s;", ifelse(operands %in% code$widened, "int64_t", "auto"), operands, inputs),
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
