# The element type of a buffer, held as its name.
new_dtype <- function(name) structure(name, class = "xlaffi_dtype")

# The name for an argument `dtype`: ours, tengen's DataType, or a string.
dtype_name <- function(dtype, call = rlang::caller_env()) {
  if (is.object(dtype)) {
    dtype <- tryCatch(as.character(dtype), error = function(error) dtype)
  }
  check_string(dtype, "dtype", call)
  dtype
}

#' @export
as.character.xlaffi_dtype <- function(x, ...) unclass(x)

#' @export
format.xlaffi_dtype <- function(x, ...) paste0("<", unclass(x), ">")

#' @export
print.xlaffi_dtype <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
`==.xlaffi_dtype` <- function(e1, e2) equal_dtypes(e1, e2)

#' @export
`!=.xlaffi_dtype` <- function(e1, e2) !equal_dtypes(e1, e2)

# Strings count as what they are short for: "bool" is "pred".
equal_dtypes <- function(e1, e2) {
  canonical <- function(x) {
    name <- as.character(x)
    parsed <- .Call(wrap__dtype_parse, name)
    if (is.character(parsed)) parsed else name
  }
  identical(canonical(e1), canonical(e2))
}
