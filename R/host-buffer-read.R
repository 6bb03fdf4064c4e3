# Blocks until `done()`, which waits for a short time, is TRUE. Between two turns R looks for
# Ctrl-C, which it does in Sys.sleep() and outside of Rust, and shows what the program printed.
wait_until <- function(done, call) {
  on.exit(print_waiting())
  while (!check(done(), call)) {
    print_waiting()
    Sys.sleep(0)
  }
}

wait_for <- function(x, call = rlang::caller_env()) {
  done <- .Call(wrap__buffer_wait, x, 0.05)
  if (is.logical(done) && done) {
    print_waiting()
  } else {
    wait_until(function() .Call(wrap__buffer_wait, x, 0.05), call)
  }
  invisible(x)
}

#' @rdname as_array
#' @export
as_array.xlaffi_buffer <- function(x, check = FALSE, ...) {
  check_dots_empty(...)
  array <- .Call(wrap__buffer_to_r, x)
  if (is.null(array)) {
    wait_for(x)
    array <- .Call(wrap__buffer_to_r, x)
  }
  print_waiting()
  if (is.list(array)) {
    raise(array)
  }
  if (!isFALSE(check)) {
    check_representable(array, x, check)
  }
  array
}

# Some integers have no counterpart in R; see ?as_array.
check_representable <- function(array, x, check, call = rlang::caller_env()) {
  check_flag(check, "check", call)
  name <- buffer_info(x)$dtype
  if (!check || !name %in% c("i32", "i64", "ui64")) {
    return(invisible())
  }
  if (name == "ui64") {
    if (anyNA(array) || any(array < 0L, na.rm = TRUE)) {
      abort("the buffer has ui64 values of 2^63 or more, which wrapped through bit64::integer64 would be negative",
        code = "OUT_OF_RANGE", operand = "x", call = call,
        hint = "`as_raw()` gives their bytes."
      )
    }
  } else if (anyNA(array)) {
    abort(sprintf("the buffer has %s values that R cannot distinguish from NA (the smallest %s)", name, name),
      code = "OUT_OF_RANGE", operand = "x", call = call,
      hint = "`as_raw()` gives their bytes."
    )
  }
}

#' @rdname as_array
#' @export
as_raw.xlaffi_buffer <- function(x, row_major, ...) {
  check_dots_empty(...)
  if (missing(row_major)) {
    abort("`row_major` is missing: TRUE or FALSE", operand = "row_major")
  }
  check_flag(row_major, "row_major")
  wait_for(x)
  check(.Call(wrap__buffer_to_raw, x, row_major))
}

#' @export
await.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  wait_for(x)
}

#' @export
is_ready.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  ready <- check(.Call(wrap__buffer_wait, x, 0))
  print_waiting()
  ready
}

#' @export
as_array_async.xlaffi_buffer <- function(x, ...) {
  check_dots_empty(...)
  buffer_info(x)
  promise <- new.env(parent = emptyenv())
  promise$buffer <- x
  structure(promise, class = "xlaffi_array_promise")
}

#' @export
value.xlaffi_array_promise <- function(x, ...) {
  check_dots_empty(...)
  if (is.null(x$value)) {
    x$value <- as_array(x$buffer)
    # The array is here: the device memory is not needed for it any more.
    x$buffer <- NULL
  }
  x$value
}

#' @export
is_ready.xlaffi_array_promise <- function(x, ...) {
  check_dots_empty(...)
  is.null(x$buffer) || is_ready(x$buffer)
}

#' @export
await.xlaffi_array_promise <- function(x, ...) {
  check_dots_empty(...)
  value(x)
  invisible(x)
}

#' @export
as_array.xlaffi_array_promise <- function(x, ...) {
  check_dots_empty(...)
  value(x)
}

#' @export
print.xlaffi_array_promise <- function(x, ...) {
  check_print_dots(...)
  cat("<PJRTArrayPromise>\n")
  if (is.null(x$value)) {
    why <- why_gone(buffer_info(x$buffer))
    if (!is.null(why)) {
      cat(sprintf("(not shown: its buffer is %s)\n", why))
      return(invisible(x))
    }
    info <- buffer_info(x$buffer)
    cat("Status: Not materialized\n")
    cat("dtype:", info$dtype, "\n")
    cat("shape:", paste(info$shape, collapse = " x "), "\n")
    cat("(Call value() to materialize the array)\n")
  } else {
    cat("Status: Materialized\nValue:\n")
    print(x$value)
  }
  invisible(x)
}
