#' The time that custom calls take
#'
#' Evaluates an expression and counts, by target and platform, the custom calls that run meanwhile, whoever wrote
#' their handlers.
#'
#' @details A call's time is that from its start to the handler's return: work that a handler leaves for later, on
#' other threads or on a device, does not count, and that of handlers which it calls itself does. Handlers run on
#' threads of XLA's: while the expression is evaluated all programs of the session count. Buffers that it returns
#' are waited for. Profiles may be nested; each counts all calls of its own expression.
#'
#' Under [ffi_debug()] the time includes the checks.
#'
#' @param expr An expression. Its value is dropped: assign it to a variable within.
#' @return A data frame of class `xlaffi_profile` with a row for each target and platform that was called, that
#'   with the longest total time first: `target`, `platform`, `calls`, `errors` (calls that failed), `total`,
#'   `mean`, `min` and `max` (seconds), `bytes_in` and `bytes_out` (bytes of all calls' operands and results),
#'   `threads` (on how many the handler ran, of 256 at most).
#' @seealso [ffi_debug()]
#' @examplesIf plugins_downloaded()
#' ffi_profile({
#'   for (i in 1:10) xla_chol(diag(i))
#'   xla_svd(diag(3))
#' })
#' @export
ffi_profile <- function(expr) {
  if (is_missing_arg(substitute(expr))) refuse_missing("expr", environment())
  profile <- check(.Call(wrap__profile_start))
  on.exit(.Call(wrap__profile_stop, profile))
  await_buffers(expr)
  on.exit()
  columns <- check(.Call(wrap__profile_stop, profile))
  columns$target <- public_target(columns$target)
  structure(columns, class = c("xlaffi_profile", "data.frame"), row.names = seq_along(columns$target))
}

#' @export
print.xlaffi_profile <- function(x, ...) {
  times <- c("total", "mean", "min", "max")
  bytes <- c("bytes_in", "bytes_out")
  if (!all(c("target", times, bytes) %in% names(x))) {
    return(NextMethod())
  }
  check_print_dots(...)
  if (!nrow(x)) {
    cat("No custom calls.\n")
    return(invisible(x))
  }
  shown <- as.data.frame(unclass(x))
  shown[times] <- lapply(shown[times], format_seconds)
  shown[bytes] <- lapply(shown[bytes], format_bytes)
  print(shown, row.names = FALSE, right = TRUE)
  invisible(x)
}
