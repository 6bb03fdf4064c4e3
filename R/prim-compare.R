# `compare`: elements compared, NaN as in R, integers with NA too.

comparisons <- c("==" = "EQ", "!=" = "NE", "<" = "LT", "<=" = "LE", ">" = "GT", ">=" = "GE")

compared <- function(e1, e2, direction, shown, kind = NULL, call = rlang::caller_env()) {
  both <- operands(comparable(e1, e2, mirrored[[direction]]), comparable(e2, e1, direction), shown, call = call)
  if (!is.null(kind) && both[[1L]]@dtype != "pred") {
    check_kinds(both, list(e1, e2), kind, shown, c("e1", "e2"), call)
  }
  comparison(both[[1L]], both[[2L]], direction)
}

# Of values of one dtype and shape. XLA takes exponentials, absolute values and squares for >= 0 also where they are
# NaN; it does not look for -0, which equals 0.
comparison <- function(x, y, direction) {
  if (direction == "GE") y <- negative_zeros(y)
  if (direction == "LE") x <- negative_zeros(x)
  bind("compare", list(x, y), "pred", x@shape, list(direction = direction))
}

# Zeros of the program as -0, all else as it is
negative_zeros <- function(x) {
  node <- x@node
  while (node$op %in% c("broadcast_in_dim", "reshape", "convert")) node <- node$inputs[[1L]]@node
  zeros <- is_float(x@dtype) && node$op == "constant" && isTRUE(all(node$params$data == 0))
  if (zeros) constant(-0, x@dtype, x@shape, "x") else x
}

# Comparisons with their sides exchanged
mirrored <- c(EQ = "EQ", NE = "NE", LT = "GT", LE = "GE", GT = "LT", GE = "LE")

# R data as they are compared with a value, which is on the left.
comparable <- function(x, value, direction) {
  if (is_value(x) || !is_value(value) || !is_data(x)) {
    x
  } else if (value@dtype == "i32") {
    as_whole(x)
  } else {
    within_range(x, value@dtype, direction)
  }
}

# Whole doubles as integers: nothing need be converted to compare them with integers.
as_whole <- function(x) {
  whole <- is.double(x) && !is.object(x) && !anyNA(x) && all(x == trunc(x) & abs(x) <= .Machine$integer.max)
  if (whole) storage.mode(x) <- "integer"
  x
}

# A finite number that the dtype does not hold lies between its largest number and infinity. It becomes the one of these
# two that has the same values on each side; NaN where it is asked for what equals it, as nothing does.
within_range <- function(x, dtype, direction) {
  large <- beyond_range(x, dtype)
  if (!any(large)) {
    return(x)
  }
  x <- if (is_integer64(x)) as.double(x) else x
  ends <- c(-Inf, largest_floats[[dtype]])
  ends <- if (direction %in% c("LT", "GE")) -rev(ends) else ends
  x[large] <- if (direction %in% c("EQ", "NE")) NaN else ends[1L + (x[large] > 0)]
  x
}

comparison_kind <- function(dtype) {
  if (is_inexact(dtype)) "FLOAT" else if (dtype == "pred" || startsWith(dtype, "u")) "UNSIGNED" else "SIGNED"
}

primitive("compare",
  text = function(node, operands, scope) {
    kind <- comparison_kind(node$inputs[[1L]]@dtype)
    sprintf(
      "stablehlo.compare %s, %s, %s : %s", node$params$direction, toString(operands), kind, signature_text(node)
    )
  },
  vmap = batch_together,
  export = exported_params("direction")
)
