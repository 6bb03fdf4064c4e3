#' Buffers from files
#'
#' The elements of an array in a file go to a device without being in R's memory: they are read by parts.
#'
#' @details `pjrt_buffer_from_file()` reads plain numbers, as [writeBin()] and many programs write them;
#'   `pjrt_buffer_from_npy()` a file of numpy's, which says of itself what it holds;
#'   `pjrt_buffers_from_safetensors()` the arrays of a safetensors file, whose header is read by the package
#'   jsonlite. (With the package safetensors, `safe_load_file(framework = "xlaffi")` gives them too, and
#'   `safe_save_file()` takes buffers; both go through R's memory.)
#'
#' Elements are not converted: the buffer has the type that they have in the file. Memory, errors and
#' `progress` are as with [pjrt_buffer_from()]. A file in column-major order is put into rows on the way;
#' where it has few rows, parts of it are read more than once if `rows` are chosen.
#'
#' @param path The file.
#' @param dtype The element type in the file, and of the buffer.
#' @param shape The shape of the whole array in the file. Its first number may be `NA`: as many rows as the
#'   file has.
#' @param row_major Whether the elements are in row-major order (the last index runs fastest) or in R's
#'   column-major order.
#' @param offset The byte, counted from 0, where the array begins.
#' @param endian The order of the bytes of a number: `"little"` or `"big"`.
#' @param rows `NULL` for all, or the first and the last row that are wanted, counted from 1; `c(4, 3)` is none.
#' @param trailing Whether there may be bytes after the array. Else they are an error.
#' @param device,progress See [pjrt_buffer_from()].
#' @param names The names of the arrays that are wanted; `NULL` for all.
#' @return A buffer, class `xlaffi_buffer`; of safetensors files a list of them with their names. Errors:
#'   class `xlaffi_error_not_found` and others for a file that cannot be read;
#'   `xlaffi_error_invalid_argument` for one that is too short or too long, or has no such header, rows or
#'   arrays; `xlaffi_error_unimplemented` for element types that no buffer can have.
#' @examplesIf plugins_downloaded()
#' file <- tempfile()
#' x <- matrix(as.double(1:6), 2)
#' writeBin(c(x), file)
#' pjrt_buffer_from_file(file, "f64", c(2, 3), row_major = FALSE)
#' pjrt_buffer_from_file(file, "f64", c(NA, 3), row_major = FALSE, rows = c(2, 2))
#' # A file of Python's numpy, written by hand
#' header <- "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"
#' header <- paste0(formatC(header, width = -117), "\n")
#' npy <- tempfile(fileext = ".npy")
#' con <- file(npy, "wb")
#' magic <- c(as.raw(0x93), charToRaw("NUMPY"))
#' writeBin(c(magic, as.raw(c(1, 0, nchar(header), 0)), charToRaw(header)), con)
#' writeBin(c(x), con, endian = "little")
#' close(con)
#' pjrt_buffer_from_npy(npy)
#'
#' # And one of the package safetensors
#' header <- '{"x":{"dtype":"F64","shape":[3],"data_offsets":[0,24]}}'
#' tensors <- tempfile(fileext = ".safetensors")
#' con <- file(tensors, "wb")
#' writeBin(c(nchar(header), 0L), con, endian = "little")
#' writeBin(charToRaw(header), con)
#' writeBin(c(1, 2, 3), con, endian = "little")
#' close(con)
#' pjrt_buffers_from_safetensors(tensors)
#' @export
pjrt_buffer_from_file <- function(path, dtype, shape, device = NULL, row_major, offset = 0,
                                  endian = .Platform$endian, rows = NULL, trailing = FALSE, progress = NULL) {
  path <- check_file(path)
  dtype <- check_dtype(dtype, "dtype")
  if (missing(row_major)) {
    abort("`row_major` is missing: TRUE or FALSE", operand = "row_major")
  }
  check_flag(row_major, "row_major")
  check_flag(trailing, "trailing")
  check_choice(endian, "endian", c("little", "big"))
  if (!is.numeric(offset) || length(offset) != 1L || is.na(offset) || offset < 0 || offset != trunc(offset)) {
    abort(sprintf("`offset` must be a number of bytes, not %s", describe(offset)), operand = "offset")
  }
  array <- list(dtype = dtype, shape = check_rows_shape(shape), row_major = row_major, offset = offset, endian = endian)
  array <- fit_to_file(array, path, trailing)
  read_array(path, array, as_pjrt_device(device), rows, progress_of(progress))
}

element_bytes <- function(dtype) if (dtype == "pred") 1 else as.numeric(gsub("[^0-9]", "", dtype)) / 8

# The array with all of its shape, if the file has just as many bytes.
fit_to_file <- function(array, path, trailing, call = rlang::caller_env()) {
  there <- file.size(path) - array$offset
  if (there < 0) {
    abort(sprintf("\"%s\" has %.0f bytes, `offset` is %.0f", path, file.size(path), array$offset),
      operand = "offset", call = call
    )
  }
  row <- prod(array$shape[-1L]) * element_bytes(array$dtype)
  if (length(array$shape) && is.na(array$shape[[1L]])) {
    if (row == 0) {
      abort("rows without elements cannot be counted: `shape` must say how many there are",
        operand = "shape", call = call
      )
    }
    if (there %% row != 0 && !trailing) {
      abort(
        sprintf(
          "\"%s\" has %.0f bytes from byte %.0f on, no whole number of rows of %.0f bytes (shape %s, dtype %s)",
          path, there, array$offset, row, shape_text(array$shape[-1L]), array$dtype
        ),
        operand = "path", call = call, hint = "`trailing = TRUE` leaves the bytes after the last whole row alone."
      )
    }
    array$shape <- check_shape(c(there %/% row, array$shape[-1L]), "shape", call)
  }
  needed <- prod(array$shape) * element_bytes(array$dtype)
  if (there > needed && !trailing) {
    abort(
      sprintf(
        "\"%s\" has %.0f bytes from byte %.0f on, but an array of dtype %s with shape %s has %.0f",
        path, there, array$offset, array$dtype, shape_text(array$shape), needed
      ),
      operand = "path", call = call, hint = "`trailing = TRUE` leaves the bytes after the array alone."
    )
  }
  array
}

# Fills a buffer with rows of an array in a file.
read_array <- function(path, array, device, rows, progress, call = rlang::caller_env()) {
  rows <- check_rows(rows, array$shape, call)
  swapped <- array$endian != .Platform$endian
  stored <- check(
    .Call(wrap__stored_open, enc2utf8(path), array$offset, array$dtype, array$shape, array$row_major, swapped, rows),
    call
  )
  shape <- check(.Call(wrap__stored_describe, stored), call)$shape
  parts <- check(.Call(wrap__parts_new, array$dtype, device, shape, FALSE), call)
  on.exit({
    .Call(wrap__parts_give_up, parts)
    progress$end()
  })
  repeat {
    more <- check(.Call(wrap__parts_step, parts, stored), call)
    progress$tell(parts)
    if (!more) break
  }
  check(.Call(wrap__parts_finish, parts), call)
}

# The first row, from 0, and the one after the last.
check_rows <- function(rows, shape, call = rlang::caller_env()) {
  if (is.null(rows)) {
    return(NULL)
  }
  if (!length(shape)) {
    abort("a scalar has no rows", operand = "rows", call = call)
  }
  fine <- is.numeric(rows) && length(rows) == 2L && !anyNA(rows) && all(rows == trunc(rows))
  if (!fine || rows[[1L]] < 1 || rows[[2L]] < rows[[1L]] - 1 || rows[[2L]] > shape[[1L]]) {
    abort(
      sprintf(
        "`rows` must be the first and the last of the rows 1 to %.0f, not %s",
        shape[[1L]], if (fine) shape_text(rows) else describe(rows)
      ),
      operand = "rows", call = call
    )
  }
  c(rows[[1L]] - 1, rows[[2L]])
}

#' @rdname pjrt_buffer_from_file
#' @export
pjrt_buffer_from_npy <- function(path, device = NULL, rows = NULL, progress = NULL) {
  path <- check_file(path)
  array <- fit_to_file(npy_header(path), path, trailing = FALSE)
  read_array(path, array, as_pjrt_device(device), rows, progress_of(progress))
}

npy_dtypes <- c(
  b1 = "pred", i1 = "i8", i2 = "i16", i4 = "i32", i8 = "i64", u1 = "ui8", u2 = "ui16", u4 = "ui32", u8 = "ui64",
  f2 = "f16", f4 = "f32", f8 = "f64", c8 = "c64", c16 = "c128"
)

# What the header of a file of numpy's says: a line of Python with three entries.
npy_header <- function(path, call = rlang::caller_env()) {
  refuse <- function(why, code = "INVALID_ARGUMENT") {
    abort(sprintf("\"%s\" is no .npy file that can be read: %s", path, why), code = code, operand = "path", call = call)
  }
  connection <- file(path, "rb")
  on.exit(close(connection))
  start <- readBin(connection, "raw", 8L)
  if (length(start) < 8L || !identical(start[1:6], as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59)))) {
    refuse("it does not begin as one")
  }
  version <- as.integer(start[[7L]])
  if (!version %in% 1:3) {
    refuse(sprintf("its format has version %d", version), "UNIMPLEMENTED")
  }
  wide <- version > 1L
  length <- readBin(connection, "integer", 1L, size = if (wide) 4L else 2L, signed = wide, endian = "little")
  if (length(length) == 0L || length < 0L || length > 2^20) {
    refuse("its header has no length")
  }
  header <- readBin(connection, "raw", length)
  if (length(header) < length || any(header == 0)) {
    refuse("its header is cut off")
  }
  # Only names of fields can have other characters.
  if (any(header > 127)) {
    refuse("its header has characters beyond ASCII")
  }
  header <- rawToChar(header)
  entry <- function(name, value) {
    found <- regmatches(header, regexec(sprintf("['\"]%s['\"]\\s*:\\s*%s", name, value), header))[[1L]]
    if (length(found)) found[[2L]]
  }
  type <- entry("descr", "['\"]([^'\"]*)['\"]")
  columns <- entry("fortran_order", "(True|False)")
  shape <- entry("shape", "\\(([0-9, ]*)\\)")
  if (is.null(columns) || is.null(shape)) {
    refuse("its header has no order or shape")
  }
  dtype <- if (!is.null(type)) npy_dtypes[sub("^[<>=|]", "", type)]
  if (is.null(type) || is.na(dtype)) {
    type <- if (is.null(type)) "records" else dQuote(type, FALSE)
    refuse(sprintf("its elements are %s, which no buffer can have", type), "UNIMPLEMENTED")
  }
  shape <- as.numeric(Filter(nzchar, strsplit(gsub(" ", "", shape, fixed = TRUE), ",", fixed = TRUE)[[1L]]))
  list(
    dtype = unname(dtype), shape = check_shape(shape, "shape", call), row_major = columns == "False",
    offset = 8 + (if (wide) 4 else 2) + length, endian = if (startsWith(type, ">")) "big" else "little"
  )
}
