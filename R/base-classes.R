# The name puts this file before those that define methods. What has an element type and dimensions: types, values of
# programs, sharded arrays. All are S4 objects without a data part, which base R cannot take for a list, a vector or
# an environment, and which no function changes in place, as deparse() does environments that are marked as S4
# objects. Up to R 4.2 `%*%` has methods for S4 objects only.

#' @importFrom methods new representation setClass
setClass("xlaffi_typed", representation("VIRTUAL", dtype = "character", shape = "integer"))

setClass("xlaffi_type", contains = "xlaffi_typed")

# What programs compute with: values, and sparse matrices of them
setClass("xlaffi_traced", representation("VIRTUAL"))

# The result number `index` of a node; see trace-value.R.
setClass("xlaffi_value", contains = c("xlaffi_typed", "xlaffi_traced"),
  slots = c(node = "environment", index = "integer")
)

# An array on the devices of a mesh; see shard-array.R. `spec` has the names of axes for each dimension,
# `key` all that compiled functions look at.
setClass("xlaffi_sharded", contains = "xlaffi_typed", slots = c(
  shards = "list", mesh = "ANY", spec = "list", key = "character"
))

# A sparse matrix: `values` at the entries of `pattern`; see base-pattern.R.
setClass("xlaffi_sparse", contains = "xlaffi_traced", slots = c(values = "ANY", pattern = "environment"))

# What new_type() and its kin fill in: new() takes ten times as long.
blank_type <- new("xlaffi_type")

blank_value <- new("xlaffi_value", node = emptyenv())

blank_sharded <- new("xlaffi_sharded")

#' @export
dtype.xlaffi_typed <- function(x, ...) {
  check_dots_empty(...)
  new_dtype(x@dtype)
}

#' @export
elt_type.xlaffi_typed <- function(x) new_dtype(x@dtype)

#' @export
shape.xlaffi_typed <- function(x, ...) {
  check_dots_empty(...)
  x@shape
}

#' @export
dim.xlaffi_typed <- function(x) if (length(x@shape)) x@shape

# What length() gives for an array of a shape
r_length <- function(shape) {
  size <- prod(shape)
  if (size > .Machine$integer.max) size else as.integer(size)
}

#' @export
`$.xlaffi_typed` <- function(x, name) {
  call <- method_call("$")
  what <- if (is_value(x)) "values of programs" else if (is_sharded(x)) "sharded arrays" else "types"
  abort(sprintf("%s have no fields", what),
    operand = name, hint = "`dtype()`, `shape()` and `dim()` take them apart.", call = call
  )
}

#' @importFrom utils str
#' @export
str.xlaffi_typed <- function(object, ...) {
  check_str_dots(...)
  cat("", format(object), "\n")
}

is_value <- function(x) isS4(x) && inherits(x, "xlaffi_value")

is_sharded <- function(x) isS4(x) && inherits(x, "xlaffi_sharded")

is_sparse <- function(x) isS4(x) && inherits(x, "xlaffi_sparse")
