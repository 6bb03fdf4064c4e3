# R data as literals of MLIR.

mlir_dtype <- function(dtype) {
  if (dtype == "pred") "i1" else if (is_complex(dtype)) sprintf("complex<%s>", real_dtype(dtype)) else dtype
}

mlir_type <- function(type) {
  if (is_token(type)) {
    return("!stablehlo.token")
  }
  paste0("tensor<", paste(c(type@shape, mlir_dtype(type@dtype)), collapse = "x"), ">")
}

# Numbers in MLIR's syntax. Floating-point numbers are read back as the very same.
mlir_numbers <- function(x, dtype) {
  if (dtype == "pred") {
    return(ifelse(as.logical(x), "true", "false"))
  }
  if (is_complex(dtype)) {
    x <- as.complex(x)
    part <- real_dtype(dtype)
    return(sprintf("(%s, %s)", mlir_numbers(Re(x), part), mlir_numbers(Im(x), part)))
  }
  if (is_float(dtype)) mlir_floats(as.double(x), dtype) else mlir_integers(x)
}

# Bit patterns of +Inf, -Inf and NaN.
special_bits <- list(
  f64 = c("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
  f32 = c("0x7F800000", "0xFF800000", "0x7FC00000"),
  f16 = c("0x7C00", "0xFC00", "0x7E00"),
  bf16 = c("0x7F80", "0xFF80", "0x7FC0")
)

mlir_floats <- function(x, dtype) {
  if (dtype == "f32") {
    # Rounded once, here: 9 digits give a single-precision number back.
    x <- readBin(writeBin(x, raw(), size = 4L), "double", length(x), size = 4L)
  }
  text <- digits_of(x, "%.15g")
  short <- is.finite(x)
  short[short] <- as.numeric(text[short]) != x[short]
  text[short] <- digits_of(x[short], "%.17g")
  # MLIR wants a point in every number.
  text <- ifelse(grepl(".", text, fixed = TRUE), text, sub("^(-?[0-9]+)", "\\1.0", text))
  bits <- special_bits[[dtype]]
  text[is.nan(x) | is.na(x)] <- bits[[3L]]
  text[x %in% Inf] <- bits[[1L]]
  text[x %in% -Inf] <- bits[[2L]]
  text
}

# C writes numbers as the locale has them.
digits_of <- function(x, format) sub(Sys.localeconv()[["decimal_point"]], ".", sprintf(format, x), fixed = TRUE)

mlir_integers <- function(x) {
  # R's NA is the smallest integer.
  if (is_integer64(x)) {
    ifelse(is.na(x), "-9223372036854775808", as.character(x))
  } else {
    x <- as.double(x)
    x[is.na(x)] <- -2^31
    # No "-0"
    sprintf("%.0f", x + 0)
  }
}

# Of each byte from 0 on. format() and toupper() of all bytes of an array take four times as long.
byte_texts <- sprintf("%02X", 0:255)

# `dense<...>` for data in R's order; XLA's is by rows.
mlir_dense <- function(x, dtype, shape) {
  if (length(x) == 1L) {
    return(sprintf("dense<%s>", mlir_numbers(x, dtype)))
  }
  if (!length(x)) {
    return("dense<>")
  }
  if (length(shape) > 1L) {
    x <- by_rows(x, shape)
  }
  if (length(x) > 64L && dtype %in% c("f32", "f64", "i32", "c64", "c128")) {
    return(sprintf("dense<\"0x%s\">", paste(byte_texts[as.integer(little_endian(x, dtype)) + 1L], collapse = "")))
  }
  text <- mlir_numbers(x, dtype)
  for (size in rev(shape)) {
    rows <- matrix(text, nrow = size)
    text <- sprintf("[%s]", apply(rows, 2L, paste, collapse = ", "))
  }
  sprintf("dense<%s>", text)
}

by_rows <- function(x, shape) {
  if (!is_integer64(x)) {
    return(as.vector(aperm(array(x, shape), rev(seq_along(shape)))))
  }
  x[as.vector(aperm(array(seq_along(x), shape), rev(seq_along(shape))))]
}

little_endian <- function(x, dtype) {
  switch(dtype,
    i32 = writeBin(as.integer(x), raw(), endian = "little"),
    f64 = writeBin(as.double(x), raw(), endian = "little"),
    f32 = writeBin(as.double(x), raw(), size = 4L, endian = "little"),
    writeBin(as.double(rbind(Re(x), Im(x))), raw(), size = if (dtype == "c64") 4L else 8L, endian = "little")
  )
}
