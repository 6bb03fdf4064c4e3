# Complex numbers, and their parts: the group Complex is in hlo-groups.R.

word_complex <- function(length.out = 0, real = numeric(), imaginary = numeric(), modulus = 1, argument = 0) {
  call <- method_call("complex")
  polar <- missing(real) && missing(imaginary)
  if (!polar && !(missing(modulus) && missing(argument))) {
    abort("complex(): either `real` and `imaginary`, or `modulus` and `argument`",
      op = "complex", operand = "modulus", call = call
    )
  }
  if (!is.numeric(length.out) || is_value(length.out) || length(length.out) != 1L || is.na(length.out)) {
    abort("complex(): `length.out` must be one number that is known while the program is written",
      op = "complex", operand = "length.out", call = call
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

word("complex", "base", word_complex, topic = "Complex numbers and bits", dtypes = "real numbers")

# The complex dtype of a value's precision
as_complex <- function(x, op, name, call) {
  if (is_complex(x@dtype)) {
    return(x)
  }
  x <- as_doubles(x)
  dtype <- complex_dtype(x@dtype)
  if (is.null(dtype)) {
    abort(sprintf("%s: `%s` must be of doubles, f32, integers i32 or logicals, not %s", op, name, type_text(x)),
      op = op, operand = name, hint = "`hlo_convert()` changes the dtype.", call = call
    )
  }
  converted(x, dtype)
}

word("as.complex", "base", function(x, ...) {
  call <- method_call("as.complex")
  check_dots_empty(..., call = call)
  check_no_token(x, "as.complex()", "x", call)
  as_column(as_complex(x, "as.complex()", "x", call))
}, by = "method", topic = "Complex numbers and bits", dtypes = "all numbers")

local({
  for (name in c("Re", "Im", "Mod", "Arg", "Conj")) {
    word(name, "base", by = "group", topic = "Complex numbers and bits", dtypes = "all numbers")
  }
})
