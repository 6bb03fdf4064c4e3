# The data are kept as they are in R; what the dtype cannot hold is refused here, but for numbers that somebody has
# `rounded` by the dtype that he gave. `na` lets NA through, where the least integer is to stand for it.
constant <- function(data, dtype, shape, name, call = rlang::caller_env(), op = NULL, rounded = FALSE, na = FALSE) {
  refuse <- function(text, hint = NULL) {
    abort(paste0(start_of(op), text), op = op, operand = name, hint = hint, call = call)
  }
  if (length(data) != 1L && length(data) != prod(shape)) {
    refuse(
      sprintf("`%s` has %d elements, but shape %s needs %.0f", name, length(data), shape_text(shape), prod(shape))
    )
  }
  problem <- if (!na) na_problem(data, dtype)
  if (!is.null(problem)) {
    refuse(sprintf("`%s` %s", name, problem), na_hint(data))
  }
  lossy <- if (is.complex(data)) {
    !is_complex(dtype)
  } else if (is_integer(dtype)) {
    !fits_integer(data, dtype)
  } else {
    dtype == "pred" && !all(data %in% c(0, 1))
  }
  if (lossy) {
    refuse(sprintf("`%s` holds numbers that dtype %s cannot: %s", name, dtype, describe(data)))
  }
  large <- if (!rounded) beyond_range(data, dtype)
  if (any(large)) {
    refuse(
      sprintf("`%s` holds numbers that dtype %s cannot: %s", name, dtype, format(data[large][[1L]])),
      "`hlo_convert()` changes the dtype of values, to f64 say; `Inf` is infinite."
    )
  }
  bind("constant", list(), dtype, shape, list(data = data))
}

# A number of the package's in the dtype and shape of a value. NA of integers is the least one, which R reads as NA.
# NaN among complex numbers is both parts, as NA is in R.
filled <- function(number, like) {
  if (is_complex(like@dtype) && identical(number, NaN)) number <- complex(real = NaN, imaginary = NaN)
  constant(number, like@dtype, like@shape, "number", na = TRUE)
}

# What stands for nothing
zero_of <- function(type) constant(if (type@dtype == "pred") FALSE else 0, type@dtype, type@shape, "zero")

# A scalar is a line like any other, a large constant stands beside the program, any other one once in its block.
constant_once_text <- function(node, operands, scope) {
  if (length(node$params$data) == 1L) {
    return(constant_text(node))
  }
  if (is_large_constant(node)) {
    return(list(lines = character(), names = large_name(scope$shared, node)))
  }
  lines <- character()
  entry <- shared_constant(scope$block, node, function() {
    name <- fresh_name(scope)
    lines <<- sprintf("%s%s = %s", scope$indent, name, constant_text(node))
    name
  })
  list(lines = lines, names = entry$name)
}

primitive("constant",
  text = constant_once_text,
  export = function(node) list(attributes = list(value = node$params$data), operands = 0L)
)
