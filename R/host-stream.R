#' A buffer from data that come by parts
#'
#' `pjrt_buffer_from()` fills a buffer part by part, so that data which R's memory does not hold can go to a
#' device: from a function that gives the next part, a list, a connection, or a stream of the packages arrow
#' and nanoarrow.
#'
#' @details Parts are rows: indices of the first axis, in order. A part of an array with one axis is a
#'   vector; a part of another one is an array whose axes but the first are those of the whole. A data frame
#'   counts as a matrix of its columns, which must be numbers. A raw vector has bytes of elements of `dtype`,
#'   in row-major order and the machine's, and need not end with a row. Parts without rows are fine.
#'
#' `chunks` is one of these:
#' - a function without arguments that returns the next part, and `NULL` after the last one;
#' - a list of parts;
#' - a [connection][connections] that gives bytes, in binary mode. One that is not open is opened, and closed
#'   in the end;
#' - what `nanoarrow::as_nanoarrow_array_stream()` or `arrow::as_record_batch_reader()` returned, or a table,
#'   dataset, query or scanner of arrow (for Parquet files: `arrow::open_dataset()`). Their record batches
#'   are the parts. A `NULL` of theirs is `NA` in R, see `check`.
#'
#' @section Memory: Where device memory is memory of this process (the CPU), a part is converted straight to
#'   its place in the memory that the device then uses: beside that there is one part in R. Other devices get
#'   each part as it comes, if their plugin has transfers by parts; else the array is put together in memory
#'   of this process, outside of R, and goes to the device in the end. An array whose number of rows is not
#'   known is put together from its parts at the end, while these are freed one by one.
#'
#' An error, or Ctrl-C, frees all that has come.
#' @param chunks Where the parts come from.
#' @param dtype The element type, see [pjrt_buffer()]. `NULL` means that of the first part; then the others
#'   must have the same type in R.
#' @param shape The shape of the whole. Its first number may be `NA`: as many rows as come. `NULL` takes the
#'   other axes from the first part.
#' @param device The device: `NULL` (the default one), a device or a name such as `"cpu:1"`.
#' @param check Whether `NA` in the parts is an error, see [pjrt_buffer()].
#' @param progress `NULL`; `TRUE` for a line on standard error that counts; or a function of two numbers, the
#'   bytes that are there and those of the whole (`NA` where nobody knows), which is called after each part.
#' @return A buffer, class `xlaffi_buffer`. Errors of class `xlaffi_error_invalid_argument`: too few or too
#'   many elements, a part of another shape or type than the array, numbers that the dtype does not have; the
#'   number of the part is named. An error of `chunks` or `progress` is passed on.
#' @seealso [pjrt_buffer_from_file()]
#' @examplesIf plugins_downloaded()
#' # 10,000 rows of three numbers, 1,000 rows at a time.
#' part <- 0
#' next_part <- function() {
#'   part <<- part + 1
#'   if (part <= 10) matrix(rnorm(3000), 1000)
#' }
#' x <- pjrt_buffer_from(next_part, "f64", shape = c(10000, 3))
#' shape(x)
#'
#' pjrt_buffer_from(list(1:3, 4:5))
#' @export
pjrt_buffer_from <- function(chunks, dtype = NULL, shape = NULL, device = NULL, check = FALSE, progress = NULL) {
  check_given(chunks)
  check_flag(check, "check")
  if (!is.null(dtype)) {
    dtype <- check_dtype(dtype, "dtype")
  }
  shape <- check_open_shape(shape)
  device <- as_pjrt_device(device)
  progress <- progress_of(progress)
  source <- chunk_source(chunks)
  filling <- new_filling(dtype, shape, device)
  on.exit({
    filling$give_up()
    source$close()
    progress$end()
  })
  number <- 0L
  while (!is.null(part <- source$next_part())) {
    number <- number + 1L
    part <- chunk_data(part, number)
    check_no_na(part, check)
    filling$put(part, number)
    progress$tell(filling$parts)
  }
  filling$finish(number)
}

# Whole numbers; the first one may be NA.
check_rows_shape <- function(shape, call = rlang::caller_env()) {
  if (!length(shape) || !is.atomic(shape) || !is.na(shape[[1L]])) {
    return(check_shape(shape, "shape", call))
  }
  c(NA_integer_, if (length(shape) > 1L) check_shape(shape[-1L], "shape", call))
}

# The same where there must be an axis, or NULL.
check_open_shape <- function(shape, call = rlang::caller_env()) {
  if (is.null(shape)) {
    return(NULL)
  }
  if (!length(shape)) {
    abort("`shape` must have an axis: scalars have no parts",
      operand = "shape", hint = "`pjrt_scalar()` makes one.", call = call
    )
  }
  check_rows_shape(shape, call)
}

# What a buffer is filled with, part by part: `put()` takes one, `finish()` gives the buffer, `give_up()`
# frees what has come.
new_filling <- function(dtype, shape, device, call = rlang::caller_env()) {
  force(call)
  filling <- new.env(parent = emptyenv())
  filling$parts <- NULL
  type <- NULL
  begin <- function() {
    open <- is.na(shape[[1L]])
    filling$parts <- check(.Call(wrap__parts_new, dtype, device, if (open) shape[-1L] else shape, open), call)
  }
  if (!is.null(dtype) && !is.null(shape)) {
    begin()
  }
  filling$put <- function(part, number) {
    if (is.null(filling$parts)) {
      if (is.null(dtype)) {
        type <<- chunk_type(part)
        dtype <<- chunk_dtype(part, call)
      }
      if (is.null(shape)) {
        shape <<- chunk_shape(part, call)
      }
      begin()
    }
    if (!is.null(type) && chunk_type(part) != type) {
      abort(
        sprintf(
          "part %d is %s, and the first one was %s: `dtype` must say which type the buffer has",
          number, chunk_type(part), type
        ),
        operand = "dtype", call = call
      )
    }
    check_chunk_shape(part, shape, number, call)
    check_chunk(.Call(wrap__parts_put, filling$parts, part), number, call)
  }
  filling$finish <- function(number) {
    if (is.null(filling$parts)) {
      abort("`chunks` gave no part: without one, `dtype` and `shape` must be given", operand = "chunks", call = call)
    }
    buffer <- .Call(wrap__parts_finish, filling$parts)
    if (inherits(buffer, "xlaffi_failure") && buffer$code == "INVALID_ARGUMENT") {
      buffer$operand <- "chunks"
      parts <- if (number == 1L) "part" else "parts"
      buffer$message <- sprintf("after %d %s `chunks` is at its end: %s", number, parts, buffer$message)
    }
    filling$parts <- NULL
    check(buffer, call)
  }
  filling$give_up <- function() {
    if (!is.null(filling$parts)) {
      .Call(wrap__parts_give_up, filling$parts)
    }
  }
  filling
}

# A result for a part, or an error that names it.
check_chunk <- function(result, number, call) {
  if (inherits(result, "xlaffi_failure") && identical(result$operand, "data")) {
    result$message <- sprintf("part %d: %s", number, result$message)
    result$operand <- "chunks"
  }
  check(result, call)
}

# What is called after each part, `tell()`, and in the end, `end()`.
progress_of <- function(progress, call = rlang::caller_env()) {
  force(call)
  end <- function() NULL
  if (is.null(progress) || isFALSE(progress)) {
    return(list(tell = function(parts) NULL, end = end))
  }
  if (isTRUE(progress)) {
    progress <- progress_line
    end <- function() cat("\n", file = stderr())
  }
  if (!is.function(progress)) {
    abort(sprintf("`progress` must be NULL, TRUE or a function, not %s", describe(progress)),
      operand = "progress", call = call
    )
  }
  tell <- function(parts) {
    bytes <- check(.Call(wrap__parts_bytes, parts), call)
    progress(bytes[[1L]], if (is.nan(bytes[[2L]])) NA_real_ else bytes[[2L]])
  }
  list(tell = tell, end = end)
}

progress_line <- function(done, total) {
  of <- if (is.na(total)) "" else sprintf(" of %.0f MB (%.0f%%)", total / 1e6, 100 * done / max(total, 1))
  cat(sprintf("\r%.0f MB%s", done / 1e6, of), sep = "", file = stderr())
}
