#' Custom calls
#'
#' `ffi_targets()` lists the custom calls that programs can use in this session, `ffi_handler()`
#' gives the function behind one as an external pointer, for any host of XLA FFI handlers.
#'
#' @param target The name of a custom call.
#' @param platform `"host"` (or `"cpu"`) or `"cuda"`.
#' @return `ffi_targets()` a data frame with one row per target: `target`, `platforms`,
#'   `operands`, `results`, `attributes` and `dtypes` (comma-separated; `NA` where a handler that
#'   is not ours does not tell) and `package`, who registered it. `ffi_handler()` an external
#'   pointer.
#' @section Errors:
#' `ffi_handler()` of a target that is not there, or not for that platform, is an error of class
#' `xlaffi_error_not_found`, which says for which platforms it is there.
#'
#' @examples
#' ffi_targets()
#' ffi_handler("lu", "host")
#' @export
ffi_targets <- function() {
  targets <- all_targets()
  targets <- targets[!startsWith(targets$target, private_prefix), ]
  row.names(targets) <- NULL
  targets
}

all_targets <- function() {
  columns <- check(.Call(wrap__registry_list))
  structure(columns, class = "data.frame", row.names = seq_along(columns[[1L]]))
}

# XLA has one registry per process, and another host may have put its handler under a name of ours. So our
# own programs call our handlers by second names, which nobody else takes.
private_prefix <- "xlaffi."

private_target <- function(target) paste0(private_prefix, target)

public_target <- function(target) {
  ifelse(startsWith(target, private_prefix), substring(target, nchar(private_prefix) + 1L), target)
}

#' @rdname ffi_targets
#' @export
ffi_handler <- function(target, platform) {
  check_string(target, "target")
  check_string(platform, "platform")
  check(.Call(wrap__registry_handler, target, ffi_platform(platform)))
}
