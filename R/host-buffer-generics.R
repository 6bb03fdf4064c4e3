# R's generic functions of buffers. To R a buffer is an external pointer, of which most functions are errors; these gave
# an answer that was none. What buffers refuse is in overload-methods.R.

#' @export
dim.xlaffi_buffer <- function(x) {
  shape <- buffer_info(x)$shape
  if (length(shape)) shape
}

#' @export
length.xlaffi_buffer <- function(x) r_length(buffer_info(x)$shape)

#' @export
is.matrix.xlaffi_buffer <- function(x) length(dim(x)) == 2L

#' @export
is.array.xlaffi_buffer <- function(x) length(dim(x)) > 0L

# Any two external pointers of one class are equal to R.
#' @method all.equal xlaffi_buffer
#' @export
all.equal.xlaffi_buffer <- function(target, current, ...) {
  if (inherits(current, "xlaffi_buffer")) {
    dtypes <- c(buffer_info(target)$dtype, buffer_info(current)$dtype)
    if (dtypes[[1L]] != dtypes[[2L]]) {
      return(sprintf("dtypes are %s and %s", dtypes[[1L]], dtypes[[2L]]))
    }
    current <- as_array(current)
  }
  all.equal(as_array(target), current, ...)
}
