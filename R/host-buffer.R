#' Buffers
#'
#' A buffer is an array in the memory of a device. `pjrt_buffer()` makes one from R data,
#' `pjrt_scalar()` one without dimensions, and `pjrt_empty()` one whose contents do not matter.
#'
#' @param data A logical, integer, double, complex, [bit64::integer64] or raw vector or array, or a dense matrix of
#'   \pkg{Matrix}; see [`?xlaffi-types`][xlaffi-types]. One value is repeated to fill `shape`. A buffer is returned
#'   as it is.
#' @param dtype The element type: `"pred"` (also `"bool"`, `"i1"`); `"i8"` to `"i64"` (also `"s8"`,
#'   ...); `"ui8"` to `"ui64"` (also `"u8"`, ...); `"f16"`, `"bf16"`, `"f32"`, `"f64"`; `"c64"`,
#'   `"c128"`. `NULL` means `pred` for logical, `i32` for integer, `f32` for double, `c64` for
#'   complex and `i64` for integer64 data; raw data have no default. A number that an integer type
#'   does not have is an error, as are `NaN` and `NA` of doubles there; fractions are cut off.
#'   Floating-point types take the nearest number that they have (infinity beyond the largest), `pred`
#'   takes everything but 0 for true.
#' @param device The device: `NULL` (the default one), a device or a name such as `"cpu:1"`.
#' @param shape The dimensions; `NULL` means those of `data`, or its length.
#' @param check Whether `NA` in `data` is an error. XLA knows no `NA`: unchecked, it becomes `NaN` in
#'   floating-point types. In the others a logical `NA` becomes `TRUE`, an integer one the number -2^31
#'   and an integer64 one -2^63.
#'   Integer64 data keep their bits in `ui64`, where `-1` is 2^64 - 1 and `NA` 2^63.
#' @param row_major For raw data: whether the bytes are in row-major order (the last index runs
#'   fastest) or in R's column-major order.
#' @param ... For raw data `row_major`.
#' @section Memory:
#' R's collector does not see the memory of devices. What buffers hold is counted, and R is asked to
#' collect its youngest objects (`gc(full = FALSE)`) after 32 MB of new buffers, or four buffers where these are
#' larger, 256 MB at most; and all objects when what is held has doubled since the last time (from 512 MB on), and
#' before an upload or an execution fails for want of memory.
#'
#' On the CPU, memory that was freed is kept two seconds for the next programs (`XLAFFI_KEEP_MEMORY`, see
#' [xlaffi-package]).
#' @return A buffer, class `xlaffi_buffer`.
#'   `dim()` and `length()` are those of what [as_array()] gives.
#' @seealso [as_array()] brings it back; [shape()], [dtype()], [device()] and [platform()] describe
#'   it; [copy_buffer()].
#' @examplesIf plugins_downloaded()
#' pjrt_buffer(c(1, 2, 3, 4))
#' pjrt_buffer(matrix(1:6, nrow = 2))
#' pjrt_scalar(42, dtype = "f64")
#' pjrt_empty(dtype = "f32", shape = c(0, 3))
#' pjrt_buffer(as.raw(1:4), dtype = "ui8", shape = c(2, 2), row_major = TRUE)
#' @export
pjrt_buffer <- function(data, dtype = NULL, device = NULL, shape = NULL, check = FALSE, ...) {
  # Most of what comes needs no look-up of a method and one call; the rest goes the long way.
  if (...length() == 0L) {
    buffer <- .Call(wrap__buffer_from_r_now, data, dtype, device, shape, check)
    if (!is.null(buffer)) {
      return(buffer)
    }
  }
  plain <- is.numeric(data) || is.logical(data) || is.complex(data)
  if (!plain || is.object(data)) UseMethod("pjrt_buffer")
  upload(data, dtype, device, shape, check, ...)
}

#' @rdname pjrt_buffer
#' @export
pjrt_scalar <- function(data, dtype = NULL, device = NULL, check = FALSE, ...) {
  if (length(data) == 1L && ...length() == 0L) {
    buffer <- .Call(wrap__buffer_from_r_now, data, dtype, device, integer(), check)
    if (!is.null(buffer)) {
      return(buffer)
    }
  }
  plain <- is.numeric(data) || is.logical(data) || is.complex(data)
  if (!plain || is.object(data)) UseMethod("pjrt_scalar")
  upload_scalar(data, dtype, device, check, ...)
}

# One way for all atomic data: the Rust side sees the type and does the rest.
upload <- function(data, dtype, device, shape, check, ..., call = rlang::caller_env()) {
  if (...length()) {
    check_dots_empty(..., call = call)
  }
  check_no_na(data, check, call)
  if (is.object(dtype)) {
    dtype <- dtype_name(dtype)
  }
  if (!is.null(device)) {
    device <- as_pjrt_device(device)
  }
  buffer <- .Call(wrap__buffer_from_r, data, dtype, device, shape)
  if (is.null(buffer)) {
    # The default platform has no client yet.
    buffer <- .Call(wrap__buffer_from_r, data, dtype, default_device(), shape)
  }
  if (is.list(buffer)) {
    raise(buffer, call)
  }
  buffer
}

upload_scalar <- function(data, dtype, device, check, ..., call = rlang::caller_env()) {
  if (length(data) != 1L) {
    abort(sprintf("`data` of a scalar must have length 1, not %d", length(data)),
      operand = "data", call = call
    )
  }
  upload(data, dtype, device, integer(), check, ..., call = call)
}

check_no_na <- function(data, check, call = rlang::caller_env()) {
  check_flag(check, "check", call)
  if (check && anyNA(data)) {
    count <- sum(is.na(data))
    abort(
      sprintf(
        "`data` contains %d NA value%s: NA has no representation at the XLA level",
        count, if (count == 1L) "" else "s"
      ),
      operand = "data", call = call,
      hint = "Replace or drop missing values, or set `check = FALSE`."
    )
  }
}

#' @export
pjrt_buffer.integer64 <- function(data, dtype = NULL, device = NULL, shape = NULL, check = FALSE,
                                  ...) {
  upload(data, dtype, device, shape, check, ...)
}

#' @export
pjrt_scalar.integer64 <- function(data, dtype = NULL, device = NULL, check = FALSE, ...) {
  upload_scalar(data, dtype, device, check, ...)
}

#' @rdname pjrt_buffer
#' @export
pjrt_buffer.raw <- function(data, dtype = NULL, device = NULL, shape = NULL, check = FALSE, ...,
                            row_major) {
  check_dots_empty(...)
  if (is.null(dtype)) {
    abort("raw data need a `dtype`", operand = "dtype")
  }
  if (is.null(shape)) {
    abort("raw data need a `shape`", operand = "shape")
  }
  if (missing(row_major)) {
    abort("raw data need `row_major`: TRUE or FALSE", operand = "row_major")
  }
  check_flag(row_major, "row_major")
  device <- as_pjrt_device(device)
  check(.Call(wrap__buffer_from_raw, data, dtype_name(dtype), device, shape, row_major))
}

#' @export
pjrt_scalar.raw <- function(data, dtype = NULL, device = NULL, check = FALSE, ...) {
  check_dots_empty(...)
  pjrt_buffer.raw(data, dtype, device, integer(), row_major = TRUE)
}

#' @export
pjrt_buffer.xlaffi_buffer <- function(data, dtype = NULL, device = NULL, shape = NULL,
                                      check = FALSE, ...) {
  check_dots_empty(...)
  info <- buffer_info(data)
  if (!is.null(dtype) && check(.Call(wrap__dtype_parse, dtype_name(dtype))) != info$dtype) {
    abort(
      sprintf(
        "Must use the same data type as the data: `data` is a buffer of dtype %s, not %s",
        info$dtype, dtype_name(dtype)
      ),
      operand = "dtype"
    )
  }
  if (!is.null(device) && as_pjrt_device(device) != device(data)) {
    abort(
      sprintf("Must use the same device as the data: `data` is a buffer on device %s", format(device(data))),
      operand = "device", hint = "`copy_buffer()` copies it to another device."
    )
  }
  if (!is.null(shape) && !identical(as.numeric(check_shape(shape, "shape")), as.numeric(info$shape))) {
    abort(
      sprintf(
        "Must use the same shape as the data: `data` is a buffer of shape (%s), not (%s)",
        toString(info$shape), toString(shape)
      ),
      operand = "shape"
    )
  }
  data
}

#' @export
pjrt_scalar.xlaffi_buffer <- function(data, dtype = NULL, device = NULL, check = FALSE, ...) {
  pjrt_buffer.xlaffi_buffer(data, dtype, device, integer(), check, ...)
}

# Other classes of objects: a factor is no integer, a date no number.
cannot_upload <- function(data, call) {
  abort(
    sprintf(
      "`data` must be logical, integer, double, complex, integer64 or raw, not %s", describe(data)
    ),
    operand = "data", hint = data_hint(data), call = call
  )
}

#' @export
pjrt_buffer.default <- function(data, dtype = NULL, device = NULL, shape = NULL, check = FALSE, ...) {
  call <- rlang::caller_env(0)
  own <- r_data(data)
  if (!is_data(own)) cannot_upload(data, call)
  upload(own, dtype, device, shape, check, ..., call = call)
}

#' @export
pjrt_scalar.default <- function(data, dtype = NULL, device = NULL, check = FALSE, ...) {
  call <- rlang::caller_env(0)
  own <- r_data(data)
  if (!is_data(own)) cannot_upload(data, call)
  upload_scalar(own, dtype, device, check, ..., call = call)
}

#' @rdname pjrt_buffer
#' @export
pjrt_empty <- function(dtype, shape, device = NULL) {
  check_given(dtype, shape)
  check(.Call(wrap__buffer_empty, dtype_name(dtype), as_pjrt_device(device), shape))
}

#' Copy a buffer to a device
#'
#' A buffer that is there already is returned as it is.
#'
#' @section Errors:
#' What is no buffer is an error, a device that is not there one of class `xlaffi_error_out_of_range`.
#'
#' @param buffer A buffer.
#' @param device The device, or its name.
#' @return A buffer on `device`. The old one stays valid.
#' @examplesIf plugins_downloaded()
#' copy_buffer(pjrt_buffer(1:3), "cpu:0")
#' @export
copy_buffer <- function(buffer, device) {
  check_given(buffer, device)
  buffer_info(buffer)
  device <- as_pjrt_device(device)
  if (device(buffer) == device) {
    return(buffer)
  }
  check(.Call(wrap__buffer_copy, buffer, device))
}

buffer_info <- function(x, call = rlang::caller_env()) check(.Call(wrap__buffer_describe, x), call)

#' @export
shape.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  buffer_info(x)$shape
}

#' @export
dtype.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  tengen_dtype(buffer_info(x)$dtype)
}

#' @export
elt_type.xlaffi_buffer <- function(x) new_dtype(buffer_info(x)$dtype)

#' @export
platform.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  buffer_info(x)$platform
}

#' @export
device.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  at <- check(.Call(wrap__buffer_device, x))
  find_devices(at$client, at$id)[[1L]]
}

# The devices with these ids, as the very objects that devices() lists.
find_devices <- function(client, ids) {
  known <- host_state$devices[[as.character(client)]]
  lapply(ids, function(id) Find(function(device) device_info(device)$id == id, known))
}

# The type of an argument: of a buffer its own, of R data that in which they are passed on.
argument_type <- function(x, name, call = rlang::caller_env()) {
  if (is_type(x)) {
    return(x)
  }
  if (is_value(x)) {
    return(type_of(x))
  }
  if (inherits(x, "xlaffi_buffer")) {
    info <- buffer_info(x, call)
    return(new_type(info$dtype, info$shape))
  }
  if (is_sharded(x)) {
    return(new_type(x@dtype, x@shape))
  }
  x <- r_data(x)
  if (!is_data(x)) {
    hint <- data_hint(x)
    abort(
      sprintf("argument %s must be numbers, logicals, a buffer or a value of a program, not %s", name, describe(x)),
      operand = name, call = call,
      hint = if (is.null(hint)) "Other options can go into the function: `function(x) f(x, option)`." else hint
    )
  }
  new_type(r_dtype(x), r_shape(x))
}
