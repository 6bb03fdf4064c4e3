#' Facts about an object
#'
#' `shape()` gives the dimensions, `dtype()` and `elt_type()` the element type, `device()` the
#' device and `platform()` the name of the platform (`"cpu"`, `"cuda"`, ...).
#'
#' Once the package tengen is loaded, the methods also answer its generics of the same names, and
#' `dtype()` of a buffer gives tengen's class, which calls `pred` `bool`. In testthat's
#' `expect_equal()` buffers are compared by dtype, shape, device and contents.
#'
#' @param x A buffer; `device()` also takes an executable, `platform()` everything that has one.
#' @param ... Not used.
#' @return `shape()` an integer vector, of length 0 for a scalar. `dtype()` and `elt_type()` a
#'   dtype, which `as.character()` turns into a name. `device()` a device; `platform()` a string.
#' @section Errors:
#' What is none of these is an error of class `xlaffi_error_invalid_argument` that names what `x` may be.
#'
#' @examplesIf plugins_downloaded()
#' x <- pjrt_buffer(matrix(1:6, 2))
#' shape(x)
#' dtype(x)
#' elt_type(x)
#' device(x)
#' platform(x)
#' @name accessors
NULL

#' @rdname accessors
#' @export
shape <- function(x, ...) UseMethod("shape")

#' @rdname accessors
#' @export
dtype <- function(x, ...) UseMethod("dtype")

#' @rdname accessors
#' @export
elt_type <- function(x) UseMethod("elt_type")

#' @rdname accessors
#' @export
device <- function(x, ...) UseMethod("device")

#' @rdname accessors
#' @export
platform <- function(x, ...) UseMethod("platform")

#' Bring a buffer back to R
#'
#' `as_array()` gives an array (a vector of length 1 for a scalar), `as_raw()` the bytes.
#' `as_array_async()` returns at once; `value()` of what it returns is the array.
#'
#' @details
#' `pred` becomes logical; `i8`, `i16`, `i32`, `ui8` and `ui16` integer; `i64`, `ui32` and `ui64`
#' [bit64::integer64]; `f16`, `bf16`, `f32` and `f64` double; `c64` and `c128` complex.
#'
#' Waiting can be interrupted (Ctrl-C); the computation goes on and the buffer stays valid.
#'
#' @param x A buffer, or what `as_array_async()` returned.
#' @param check Whether to look for values that R takes for something else: `i32` and `i64` values
#'   that are `NA` in R, and `ui64` values of 2^63 and more, which wrap to negative numbers. They
#'   raise an error.
#' @param row_major Whether the bytes come in row-major order (the last index runs fastest) or in
#'   R's column-major order.
#' @param ... Not used.
#' @return An array, raw vector or promise.
#' @examplesIf plugins_downloaded()
#' x <- pjrt_buffer(matrix(1:6, 2))
#' as_array(x)
#' as_raw(x, row_major = TRUE)
#' value(as_array_async(x))
#' @export
as_array <- function(x, ...) {
  # A buffer whose contents are there, with nothing printed that waits, needs one call.
  if (...length() == 0L) {
    array <- .Call(wrap__buffer_to_r_now, x)
    if (!is.null(array)) {
      return(array)
    }
  }
  UseMethod("as_array")
}

#' @rdname as_array
#' @export
as_raw <- function(x, ...) UseMethod("as_raw")

#' @rdname as_array
#' @export
as_array_async <- function(x, ...) UseMethod("as_array_async")

#' Wait for a computation
#'
#' Executing a program, or reading with [as_array_async()], may return before the work is done.
#' `is_ready()` looks, `await()` blocks until it is done and raises its error if it failed, and
#' `value()` waits and gives the result of an asynchronous read.
#'
#' @param x A buffer, or what [as_array_async()] returned.
#' @param ... Not used.
#' @return `is_ready()` one logical; `await()` its argument, invisibly; `value()` an array.
#' @examplesIf plugins_downloaded()
#' x <- pjrt_buffer(1:3)
#' is_ready(await(x))
#' @export
await <- function(x, ...) {
  # As in as_array().
  if (!is.null(.Call(wrap__buffer_if_there, x))) {
    return(invisible(x))
  }
  UseMethod("await")
}

#' @rdname await
#' @export
is_ready <- function(x, ...) UseMethod("is_ready")

#' @rdname await
#' @export
value <- function(x, ...) UseMethod("value")

# What has no method: often an object of the package pjrt, whose functions have the same names.
refuse_object <- function(x, what, call = rlang::caller_env()) {
  check_not_missing(x, "x", call)
  abort(sprintf("`x` must be %s, not %s", what, describe(x)),
    operand = "x", hint = foreign_hint(x), call = call
  )
}

#' @export
shape.default <- function(x, ...) refuse_object(x, "a buffer, a type or a value of a program")

#' @export
dtype.default <- function(x, ...) refuse_object(x, "a buffer, a type or a value of a program")

#' @export
elt_type.default <- function(x) refuse_object(x, "a buffer, a type or a value of a program")

#' @export
device.default <- function(x, ...) refuse_object(x, "a buffer or an executable")

#' @export
platform.default <- function(x, ...) {
  refuse_object(x, "a buffer, device, client, plugin or executable")
}

#' @export
as_array.default <- function(x, ...) refuse_object(x, "a buffer or what as_array_async() returned")

#' @export
as_raw.default <- function(x, ...) refuse_object(x, "a buffer")

#' @export
as_array_async.default <- function(x, ...) refuse_object(x, "a buffer")

#' @export
await.default <- function(x, ...) refuse_object(x, "a buffer or what as_array_async() returned")

#' @export
is_ready.default <- function(x, ...) refuse_object(x, "a buffer or what as_array_async() returned")

#' @export
value.default <- function(x, ...) refuse_object(x, "what as_array_async() returned")
