# Complex numbers, and their parts: the group Complex is in overload-operators.R.

overload_complex <- function(length.out = 0, real = numeric(), imaginary = numeric(), modulus = 1, argument = 0) {
  call <- method_call("complex")
  polar <- missing(real) && missing(imaginary)
  if (!polar && !(missing(modulus) && missing(argument))) {
    abort("complex(): either `real` and `imaginary`, or `modulus` and `argument`",
      op = "complex", operand = "modulus", call = call
    )
  }
  if (!is.numeric(length.out) || is_value(length.out) || length(length.out) != 1L || is.na(length.out)) {
    abort("complex(): `length.out` must be one number that is known while the program is written",
      op = "complex", operand = "length.out", call = call, unknown = TRUE
    )
  }
  names <- if (polar) c("modulus", "argument") else c("real", "imaginary")
  parts <- if (polar) list(modulus, argument) else list(real, imaginary)
  if (!polar) {
    parts[lengths_of(parts) == 0] <- list(0)
  }
  # R's result is a vector.
  parts <- lapply(common(parts, "complex()", names, call), function(part) as_column(as_doubles(part)))
  for (i in 1:2) {
    check_kind(parts[[i]], "a floating-point number", "complex()", names[[i]], call)
  }
  whole <- filled_to(max(length.out, lengths_of(parts)), parts, "complex()", names, call)
  if (polar) {
    whole <- list(whole[[1L]] * cos(whole[[2L]]), whole[[1L]] * sin(whole[[2L]]))
  }
  hlo_complex(whole[[1L]], whole[[2L]])
}

lengths_of <- function(parts) vapply(parts, function(part) as.double(length(part)), 0)

# Vectors repeated to a length
filled_to <- function(size, parts, op, names, call) {
  Map(function(part, name) {
    if (!length(part) || size %% length(part) != 0) {
      abort(sprintf("%s: `%s` cannot be repeated to %.0f elements a whole number of times", op, name, size),
        op = op, operand = name, call = call
      )
    }
    repeated(part, as.integer(size))
  }, parts, names)
}

overload("complex", "base", overload_complex, topic = "Complex numbers and bits", dtypes = "real numbers")

local({
  for (name in c("Re", "Im", "Mod", "Arg", "Conj")) {
    overload(name, "base", by = "group", topic = "Complex numbers and bits", dtypes = "all numbers")
  }
})

# R's bitwAnd() and its kin.

# Both as integers of 32 bits, of one shape.
bit_operands <- function(a, b, shown, call, names = c("a", "b")) {
  both <- operands(a, b, shown, names, call)
  dtype <- both[[1L]]@dtype
  if (dtype != "i32") {
    own <- vapply(list(a, b), function(x) if (is_value(x)) x@dtype else r_dtype(x), "")
    i <- match(dtype, own, nomatch = 1L)
    abort(sprintf("%s: `%s` must be an integer of dtype i32, not %s", shown, names[[i]], type_text(both[[i]])),
      op = shown, operand = names[[i]], call = call,
      hint = "`as.integer()` makes integers; `hlo_and()` and its kin are for logicals and other integers."
    )
  }
  both
}

bit_operation <- function(op, a, b, shown, call) {
  both <- bit_operands(a, b, shown, call)
  bits(op, both)
}

# NA has none.
bits <- function(op, operands) {
  result <- bind(op, operands, "i32", operands[[1L]]@shape)
  without_dim(with_na_of(result, operands))
}

# R's results are vectors.
without_dim <- function(x) if (length(x@shape) > 1L) as_column(x) else x

# Where R's result is NA there is none, so a number of places that R is given must have one.
bit_shift <- function(op, a, n, shown, call) {
  if (!is_value(n) && !(is.numeric(n) && !anyNA(n) && all(n >= 0 & n <= 31 & n == trunc(n)))) {
    abort(sprintf("%s: `n` must be whole numbers from 0 to 31, not %s", shown, values_text(n)),
      op = shown, operand = "n", call = call
    )
  }
  bits(op, bit_operands(a, n, shown, call, c("a", "n")))
}

# R's function of that name
bit_overload <- function(name, op) {
  force(op)
  function(a, b) {
    call <- method_call(name)
    bit_operation(op, a, b, paste0(name, "()"), call)
  }
}

overload_bitwAnd <- bit_overload("bitwAnd", "and")

overload_bitwOr <- bit_overload("bitwOr", "or")

overload_bitwXor <- bit_overload("bitwXor", "xor")

overload_bitwNot <- function(a) {
  call <- method_call("bitwNot")
  bits("not", bit_operands(a, 0L, "bitwNot()", call)[1L])
}

overload_bitwShiftL <- function(a, n) {
  call <- method_call("bitwShiftL")
  bit_shift("shift_left", a, n, "bitwShiftL()", call)
}

overload_bitwShiftR <- function(a, n) {
  call <- method_call("bitwShiftR")
  bit_shift("shift_right_logical", a, n, "bitwShiftR()", call)
}

local({
  no_na <- "What is NA in R is the smallest integer."
  shift <- paste("Shifts by 32 places or more, which are values, give 0.", no_na)
  add <- function(name, f, differs = no_na) {
    overload(name, "base", f,
      topic = "Complex numbers and bits", dtypes = "i32", derivative = "none", differs = differs
    )
  }
  add("bitwAnd", overload_bitwAnd)
  add("bitwOr", overload_bitwOr)
  add("bitwXor", overload_bitwXor)
  add("bitwNot", overload_bitwNot)
  add("bitwShiftL", overload_bitwShiftL, shift)
  add("bitwShiftR", overload_bitwShiftR, shift)
})
