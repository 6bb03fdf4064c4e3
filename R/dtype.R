# The element type of a buffer, held as its name.
new_dtype <- function(name) structure(name, class = "xlaffi_dtype")

# The name for an argument `dtype`: ours, tengen's DataType, or a string.
dtype_name <- function(dtype, call = rlang::caller_env()) {
  if (is.object(dtype)) {
    dtype <- as.character(dtype)
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
`==.xlaffi_dtype` <- function(e1, e2) identical(as.character(e1), as.character(e2))

#' @export
`!=.xlaffi_dtype` <- function(e1, e2) !identical(as.character(e1), as.character(e2))
