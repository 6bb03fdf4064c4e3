# R's bitwAnd() and its kin.

# Both as integers of 32 bits, of one shape.
bit_operands <- function(a, b, shown, call, names = c("a", "b")) {
  both <- operands(a, b, shown, names, call)
  for (i in 1:2) {
    if (both[[i]]@dtype != "i32") {
      abort(sprintf("%s: `%s` must be an integer of dtype i32, not %s", shown, names[[i]], type_text(both[[i]])),
        op = shown, operand = names[[i]], call = call,
        hint = "`as.integer()` makes integers; `hlo_and()` and its kin are for logicals and other integers."
      )
    }
  }
  both
}

bit_operation <- function(op, a, b, shown, call) {
  both <- bit_operands(a, b, shown, call)
  bits(op, both)
}

# NA has none.
bits <- function(op, operands) {
  result <- record(op, operands, "i32", operands[[1L]]@shape)
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
bit_word <- function(name, op) {
  force(op)
  function(a, b) {
    call <- method_call(name)
    bit_operation(op, a, b, paste0(name, "()"), call)
  }
}

word_bitwAnd <- bit_word("bitwAnd", "and")

word_bitwOr <- bit_word("bitwOr", "or")

word_bitwXor <- bit_word("bitwXor", "xor")

word_bitwNot <- function(a) {
  call <- method_call("bitwNot")
  bits("not", bit_operands(a, 0L, "bitwNot()", call)[1L])
}

word_bitwShiftL <- function(a, n) {
  call <- method_call("bitwShiftL")
  bit_shift("shift_left", a, n, "bitwShiftL()", call)
}

word_bitwShiftR <- function(a, n) {
  call <- method_call("bitwShiftR")
  bit_shift("shift_right_logical", a, n, "bitwShiftR()", call)
}

local({
  no_na <- "What is NA in R is the smallest integer."
  shift <- paste("Shifts by 32 places or more, which are values, give 0.", no_na)
  add <- function(name, f, differs = no_na) {
    word(name, "base", f,
      topic = "Complex numbers and bits", dtypes = "i32", derivative = "none", differs = differs
    )
  }
  add("bitwAnd", word_bitwAnd)
  add("bitwOr", word_bitwOr)
  add("bitwXor", word_bitwXor)
  add("bitwNot", word_bitwNot)
  add("bitwShiftL", word_bitwShiftL, shift)
  add("bitwShiftR", word_bitwShiftR, shift)
})
