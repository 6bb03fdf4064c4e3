# The expression of an elementwise op as statements in C, and the loop round them.

# `lines` in C and, where R can read them, `calls`: assignments as R code. `text` is what the user wrote, `from` the
# line of it that each of `lines` comes from.
elementwise_code <- function(expression, signature, dtypes, name, call = rlang::caller_env()) {
  text <- paste(code_lines(expression, "expression", call), collapse = "\n")
  if (!nzchar(trimws(text))) {
    abort(sprintf("%s: `expression` is empty", name), op = name, operand = "expression", call = call)
  }
  parsed <- tryCatch(parse(text = text, keep.source = TRUE), error = function(e) NULL)
  calls <- as.list(parsed)
  from <- vapply(attr(parsed, "srcref"), function(place) place[[1L]], 0L)
  lines <- if (is_assignments(calls)) {
    for (assigned in calls) check_for_c(assigned[[3L]], name, call, may_be_complex(signature))
    c_statements(calls, signature, has_complex(signature, dtypes))
  }
  if (is.null(lines)) {
    check_as_c(text, name, call)
    calls <- NULL
    lines <- strsplit(paste0(sub(";\\s*$", "", text), ";"), "\n", fixed = TRUE)[[1L]]
    from <- seq_along(lines)
    assigned <- unlist(regmatches(text, gregexpr("[A-Za-z_][A-Za-z0-9_]*(?=\\s*=[^=])", text, perl = TRUE)))
  } else {
    assigned <- vapply(calls, function(call) as.character(call[[2L]]), "")
  }
  missing <- setdiff(names(signature$results), assigned)
  if (length(missing)) {
    abort(sprintf("%s: the expression gives no `%s`", name, missing[[1L]]),
      op = name, operand = "expression", call = call
    )
  }
  wrong <- intersect(assigned, c(names(signature$operands), names(signature$attributes)))
  if (length(wrong)) {
    abort(sprintf("%s: `%s` is not a result, and cannot be given a value", name, wrong[[1L]]),
      op = name, operand = "expression", call = call
    )
  }
  list(lines = lines, calls = calls, names = assigned, from = from, text = strsplit(text, "\n", fixed = TRUE)[[1L]])
}

# What means one thing in R and another in C must not depend on whether R can read the rest of the expression.
check_as_c <- function(text, op, call) {
  refuse <- function(said, hint) {
    abort(sprintf("%s: %s in an expression that R cannot read", op, said),
      op = op, operand = "expression", hint = hint, call = call
    )
  }
  text <- gsub("(?s)/[*].*?[*]/|//[^\n]*", " ", text, perl = TRUE)
  if (grepl("\\^|\\*\\*", text)) {
    refuse("`^`", "In C a power is `pow(x, y)`, or a product.")
  }
  for (f in names(c_otherwise)) {
    if (grepl(sprintf("(?<![A-Za-z0-9_.>])%s\\s*\\(", f), text, perl = TRUE)) {
      refuse(sprintf("`%s()`, which is another function in C,", f), c_otherwise[[f]])
    }
  }
  # `x * 1 / 2` is a quotient of another number.
  whole <- "[*/]\\s*[0-9]+\\s*/(*SKIP)(*FAIL)|(?<![A-Za-z0-9_.])[0-9]+L?\\s*/\\s*[0-9]+L?(?![A-Za-z0-9_.])"
  quotient <- regmatches(text, regexpr(whole, text, perl = TRUE))
  if (length(quotient)) {
    refuse(sprintf("`%s`, which C cuts off to a whole number,", quotient), "`1.0 / 2` is a half.")
  }
}

# Functions of R that <math.h> and <stdlib.h> have under the same name with another meaning; c_functions has their
# translations.
c_otherwise <- c(
  abs = "`fabs(x)` is that of real numbers, `cabs(x)` of complex ones, `x < 0 ? -x : x` of whole ones.",
  gamma = "`tgamma(x)` is R's, `lgamma(x)` its logarithm, which C calls so.",
  logb = "`log(x)` is R's, `ilogb(x)` the exponent, which C calls so.",
  round = "`rint(x)` is R's, halves to even; `trunc(x + copysign(0.5, x))` is C's, halves away from 0."
)

is_assignments <- function(calls) {
  is_assignment <- function(call) {
    is.call(call) && as.character(call[[1L]])[[1L]] %in% c("=", "<-") && is.name(call[[2L]])
  }
  length(calls) > 0L && all(vapply(calls, is_assignment, NA))
}

# NULL where there is something that is no R code for elements. A variable has another name in C, and another type,
# each time that it is given a value. `complex`: whether some array has complex numbers, which no real result takes.
c_statements <- function(calls, signature, complex) {
  results <- names(signature$results)
  variables <- c(results, names(signature$operands), names(signature$attributes))
  names(variables) <- variables
  tryCatch(vapply(seq_along(calls), function(i) {
    name <- as.character(calls[[i]][[2L]])
    value <- c_expression(calls[[i]][[3L]], variables)
    if (name %in% results) {
      return(sprintf(if (complex) "XLAFFI_GIVEN(%s, %s);" else "%s = %s;", name, value))
    }
    variables[[name]] <<- if (name %in% names(variables)) sprintf("xlaffi_%d_%s", i, name) else name
    sprintf("__auto_type %s = %s;", variables[[name]], value)
  }, ""), xlaffi_not_r = function(condition) NULL)
}

has_complex <- function(signature, dtypes) any(is_complex(c(unlist(dtypes), array_dtypes(signature))))

may_be_complex <- function(signature) length(signature$dtypes) > 0L || any(is_complex(array_dtypes(signature)))

not_r <- function() rlang::abort("", class = "xlaffi_not_r")

# What R has and C has not, or means otherwise, is no C either.
refuse_in_c <- function(said, hint, op, call) {
  abort(sprintf("%s: %s", op, said), "UNIMPLEMENTED", op = op, operand = "expression", hint = hint, call = call)
}

# Of the calls of an expression the first that is not for C: an assignment within it, an operator between `%`, a name
# with a dot, and a function with other arguments than here; and texts, which C takes for numbers.
check_for_c <- function(x, op, call, complex) {
  if (is.atomic(x) && anyNA(x) && !is.nan(x)) {
    refuse_in_c("there is no NA in an expression", "`NaN` is one.", op, call)
  }
  if (is.character(x) || (is.complex(x) && !complex)) {
    said <- if (is.character(x)) "there are no texts in an expression" else "no operand and no result is complex"
    refuse_in_c(sprintf("%s: `%s`", said, deparse(x)), NULL, op, call)
  }
  if (!is.call(x) || !is.name(x[[1L]])) {
    return()
  }
  f <- as.character(x[[1L]])
  shown <- paste(deparse(x), collapse = " ")
  if (any(nzchar(names2(as.list(x)[-1L])))) {
    refuse_in_c(sprintf("arguments have no names: `%s`", shown), "They go by their places.", op, call)
  }
  if (f %in% c("<-", "<<-")) {
    refuse_in_c(sprintf("`%s` is an assignment to R", shown), "A comparison needs a space: `x < -1`.", op, call)
  }
  if (grepl("^%|[.]", f)) {
    hint <- if (f %in% c("%%", "%/%")) "`x - y * floor(x / y)` is R's remainder." else "`support` may define it."
    refuse_in_c(sprintf("there is no `%s` in an expression", f), hint, op, call)
  }
  wanted <- if (f %in% c("log", "exp", "sqrt")) 1L else places_in(c_functions[f])
  if (!is.na(wanted) && !f %in% c("+", "-") && length(x) - 1L != wanted) {
    plural <- if (wanted == 1L) "" else "s"
    refuse_in_c(sprintf("`%s` has %d argument%s here, not %d", f, wanted, plural, length(x) - 1L),
      if (f == "log") "`log(x) / log(y)` has another base.", op, call
    )
  }
  for (part in as.list(x)[-1L]) check_for_c(part, op, call, complex)
}

# How many operands a form takes
places_in <- function(form) if (is.na(form)) NA else lengths(regmatches(form, gregexpr("%s", form, fixed = TRUE)))

# What R has under another name or in another form than C, where gamma() is a logarithm and logb() an exponent
c_functions <- c(
  gamma = "tgamma(%s)", logb = "log(%s)", Re = "creal(%s)", Im = "cimag(%s)", Conj = "XLAFFI_CONJ(%s)",
  ceiling = "ceil(%s)", round = "rint(%s)", abs = "XLAFFI_ABS(%s)", Mod = "XLAFFI_ABS(%s)", sign = "XLAFFI_SIGN(%s)",
  pmin = "XLAFFI_MIN(%s, %s)", pmax = "XLAFFI_MAX(%s, %s)",
  ifelse = "(%s ? %s : %s)", "if" = "(%s ? %s : %s)", "(" = "(%s)", "!" = "(!%s)",
  "&" = "(%s && %s)", "&&" = "(%s && %s)", "|" = "(%s || %s)", "||" = "(%s || %s)", "/" = "(%s / XLAFFI_REAL(%s))",
  "+" = "(%s + %s)", "-" = "(%s - %s)", "*" = "(%s * %s)", "==" = "(%s == %s)", "!=" = "(%s != %s)",
  "<" = "(%s < %s)", "<=" = "(%s <= %s)", ">" = "(%s > %s)", ">=" = "(%s >= %s)", "^" = "pow(%s, %s)"
)

# `variables` are names in C, by those in R.
c_expression <- function(x, variables) {
  if (is.name(x)) {
    name <- as.character(x)
    return(if (name %in% names(variables)) variables[[name]] else if (name == "pi") c_number(pi) else name)
  }
  if (is.numeric(x) || is.logical(x)) {
    return(if (is.double(x)) c_number(x) else as.character(as.integer(x)))
  }
  if (!is.call(x) || !is.name(x[[1L]])) {
    not_r()
  }
  f <- as.character(x[[1L]])
  arguments <- as.list(x)[-1L]
  if (f == "^" && is.numeric(arguments[[2L]]) && arguments[[2L]] %in% 2:4) {
    return(sprintf("XLAFFI_POWER%d(%s)", as.integer(arguments[[2L]]), c_expression(arguments[[1L]], variables)))
  }
  arguments <- lapply(unname(arguments), c_expression, variables)
  if (length(arguments) == 1L && f %in% c("+", "-")) {
    return(sprintf("(%s%s)", f, arguments[[1L]]))
  }
  form <- if (f %in% names(c_functions)) {
    c_functions[[f]]
  } else if (grepl("^[A-Za-z_][A-Za-z0-9_]*$", f) && !f %in% c("for", "while", "repeat", "function")) {
    sprintf("%s(%s)", f, toString(rep("%s", length(arguments))))
  } else {
    not_r()
  }
  if (places_in(form) != length(arguments)) {
    not_r()
  }
  do.call(sprintf, c(list(form), arguments))
}

# In the precision of the operands
c_number <- function(x) {
  if (!is.finite(x)) {
    return(sprintf("XLAFFI_NUMBER(%s)", if (is.nan(x)) "NAN" else "INFINITY"))
  }
  text <- sprintf("%.17g", x)
  sprintf("XLAFFI_NUMBER(%s)", if (grepl("[.e]", text)) text else paste0(text, ".0"))
}

elementwise_support <- c(
  "#include <tgmath.h>",
  "static inline int64_t xlaffi_abs(int64_t x) { return x < 0 ? -x : x; }",
  "static inline uint64_t xlaffi_same(uint64_t x) { return x; }",
  # NaN stays NaN, as in R and XLA.
  "#define XLAFFI_SIGN(x) ({ __auto_type xlaffi_x = (x); \\",
  "  xlaffi_x != xlaffi_x ? xlaffi_x : (xlaffi_x > 0) - (xlaffi_x < 0); })",
  "#define XLAFFI_MIN(x, y) ({ __auto_type xlaffi_x = (x); __auto_type xlaffi_y = (y); \\",
  "  xlaffi_x < xlaffi_y || xlaffi_x != xlaffi_x ? xlaffi_x : xlaffi_y; })",
  "#define XLAFFI_MAX(x, y) ({ __auto_type xlaffi_x = (x); __auto_type xlaffi_y = (y); \\",
  "  xlaffi_x > xlaffi_y || xlaffi_x != xlaffi_x ? xlaffi_x : xlaffi_y; })",
  "#define XLAFFI_REAL(x) _Generic((x), float: (x), double: (x), float _Complex: (x), double _Complex: (x), \\",
  "  default: (double) (x))",
  "#define XLAFFI_ABS(x) _Generic((x), float: fabsf, double: fabs, float _Complex: cabsf, double _Complex: cabs, \\",
  "  unsigned long: xlaffi_same, unsigned long long: xlaffi_same, default: xlaffi_abs)(x)",
  "#define XLAFFI_COMPLEX(x) _Generic((x), float _Complex: 1, double _Complex: 1, default: 0)",
  "#define XLAFFI_GIVEN(to, ...) _Static_assert(XLAFFI_COMPLEX(to) || !XLAFFI_COMPLEX(__VA_ARGS__), \\",
  "  \"`\" #to \"` is real, and is given a complex number\"); to = __VA_ARGS__",
  "#define XLAFFI_CONJ(x) _Generic((x), float _Complex: conj(x), double _Complex: conj(x), default: (x))",
  "#define XLAFFI_NUMBER(x) _Generic(xlaffi_all, float: (float) (x), float _Complex: (float) (x), default: (x))",
  sprintf(
    "#define XLAFFI_POWER%d(x) ({ __auto_type xlaffi_base = XLAFFI_REAL(x); %s; })", 2:4,
    vapply(2:4, function(n) paste(rep("xlaffi_base", n), collapse = " * "), "")
  )
)

# The op whose body is a loop over the last axis, along which some operands change.
elementwise_loop <- function(signature, code, name, along, options, call) {
  operands <- names(signature$operands)
  results <- names(signature$results)
  taken <- c(operands, results, names(signature$attributes), signature$dtypes, code$names)
  unused <- make.unique(c(taken, "n", "i"), sep = "_")[length(taken) + 1:2]
  size <- unused[[1L]]
  at <- unused[[2L]]
  array <- function(spec, moves) {
    sprintf("%s: %s[...%s]", spec$name, spec$dtype, if (moves) paste(",", size) else "")
  }
  attributes <- vapply(signature$attributes, `[[`, "", "text")
  text <- sprintf(
    "%s%s -> %s", toString(mapply(array, signature$operands, operands %in% along)),
    if (length(attributes)) paste0("; ", toString(attributes)) else "",
    toString(mapply(array, signature$results, TRUE))
  )
  moves <- ifelse(operands %in% along, sprintf("[%s]", at), "[0]")
  before <- c(
    sprintf("for (int64_t %s = 0; %s < %s; %s++) {", at, at, size, at),
    sprintf("const __typeof__(*%s) xlaffi_in_%s = %s%s;", operands, operands, operands, moves),
    sprintf("__typeof__(*%s) xlaffi_out_%s;", results, results),
    "{",
    sprintf("const __typeof__(%s) xlaffi_all = 0;", paste0("xlaffi_in_", operands, collapse = " + ")),
    "(void) xlaffi_all;",
    sprintf(
      "const %s %s = xlaffi_in_%s;",
      ifelse(operands %in% code$widened, "int64_t", sprintf("__typeof__(xlaffi_in_%s)", operands)), operands, operands
    ),
    sprintf("(void) %s;", operands),
    sprintf("__typeof__(xlaffi_out_%s) %s;", results, results)
  )
  after <- c(
    sprintf("xlaffi_out_%s = %s;", results, results),
    "}",
    sprintf("%s[%s] = xlaffi_out_%s;", results, at, results),
    "}"
  )
  support <- code_lines(options$support, "support")
  options$support <- c(elementwise_support, support)
  # Loops become vector instructions only if nobody asks for errno or for what traps. Integers wrap as in XLA.
  options$flags <- c(
    "-O3", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-Werror=uninitialized", "-Werror=overflow",
    options$flags
  )
  fixed <- length(along) < length(operands)
  name <- if (fixed) paste(c(name, "along", along), collapse = ".") else name
  lines <- c(before, code$lines, after)
  options$cuda <- elementwise_kernel(signature, code, operands %in% along, at, options$dtypes, support)
  tryCatch(
    do.call(ffi_source, c(options, list(signature = text, code = lines, lang = "c", name = name))),
    xlaffi_error = function(error) elementwise_error(error, name, length(before), code, support, call)
  )
}

# A compiler's error names the lines that the user wrote; those of the loop belong to the nearest.
elementwise_error <- function(error, name, before, code, support, call) {
  if (is.null(error$log)) {
    rlang::cnd_signal(error)
  }
  real <- regmatches(error$log, regexpr("`[^`\n]*` is real, and is given a complex number", error$log))
  if (length(real)) {
    abort(sprintf("%s: %s", name, real),
      op = name, operand = "expression", hint = "`Re()` is its real part, `Mod()` its modulus.", call = call
    )
  }
  parts <- stats::setNames(c("the expression", "`support`"), paste0(c(part_name(name), "support"), ".c"))
  place <- function(found) {
    own <- found$file == names(parts)[[1L]]
    line_of <- function(lines, at) if (is.null(lines)) NA else lines[at]
    found$line[own] <- code$from[pmin(pmax(found$line[own] - before, 1L), length(code$from))]
    given <- found$file == names(parts)[[2L]] & found$line > length(elementwise_support)
    found$line[given] <- found$line[given] - length(elementwise_support)
    shown <- ifelse(own, line_of(code$text, found$line), ifelse(given, line_of(support, found$line), NA))
    found$snippet <- ifelse(is.na(shown), found$snippet, sprintf("%5d | %s", found$line, shown))
    found
  }
  compiler_error(name, "c", error$log, parts, call, place)
}
