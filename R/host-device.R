#' Devices
#'
#' `devices()` lists the devices of a client, of an executable, or (`NULL`) of the default client: those of all
#' processes where several compute together (see [pjrt_distributed()]), of which a process can use its own.
#' `pjrt_device()` and `as_pjrt_device()` find one by name.
#'
#' @param device,x A device, or a platform with an optional number that counts from 0: `"cpu"`,
#'   `"cpu:1"`. Without a number it is the first device of this process. `as_pjrt_device(NULL)` is that of the default
#'   platform.
#' @param ... Not used.
#' @return A device, class `xlaffi_device`, or a list of them.
#' @section Errors:
#' A platform without a plugin is an error of class `xlaffi_error_not_found`, a number that is not there one of class
#' `xlaffi_error_out_of_range`.
#'
#' @examplesIf plugins_downloaded()
#' devices()
#' pjrt_device("cpu:0")
#' as_pjrt_device("cpu:0")
#' @export
pjrt_device <- function(device) {
  if (is.null(device)) {
    abort("`device` must be a device or the name of a platform, not NULL", operand = "device")
  }
  as_pjrt_device(device)
}

#' @rdname pjrt_device
#' @export
as_pjrt_device <- function(x) {
  if (is.null(x)) {
    return(default_device())
  }
  if (inherits(x, "xlaffi_device")) {
    return(x)
  }
  if (!is.character(x) || length(x) != 1L || is.na(x) || !grepl("^[a-z_]+(:[0-9]+)?$", x)) {
    abort(
      sprintf("`device` must be a device or a name such as \"cpu\" or \"cpu:0\", not %s", describe(x)),
      operand = "device",
      hint = foreign_hint(x)
    )
  }
  parts <- strsplit(x, ":", fixed = TRUE)[[1L]]
  if (length(parts) == 1L) {
    pjrt_client(parts)
    return(host_state$first[[parts]])
  }
  index <- as.numeric(parts[[2L]])
  all <- devices(pjrt_client(parts[[1L]]))
  if (index >= length(all)) {
    abort(
      sprintf(
        "Device index %s out of range: platform \"%s\" has %d device%s, counted from 0",
        parts[[2L]], parts[[1L]], length(all), if (length(all) == 1L) "" else "s"
      ),
      code = "OUT_OF_RANGE", operand = "device",
      hint = if (parts[[1L]] == "cpu") "Set PJRT_CPU_DEVICE_COUNT before the first use to have more."
    )
  }
  all[[index + 1]]
}

# A variable that is set to nothing counts as one that is not set.
default_platform <- function() {
  platform <- Sys.getenv("PJRT_PLATFORM")
  if (nzchar(platform)) platform else "cpu"
}

# The first device of the default platform in this process; in the usual case two look-ups.
default_device <- function() {
  platform <- default_platform()
  found <- host_state$first[[platform]]
  if (is.null(found)) {
    pjrt_client(platform)
    found <- host_state$first[[platform]]
  }
  found
}

#' @rdname pjrt_device
#' @export
devices <- function(x = NULL, ...) UseMethod("devices")

#' @export
devices.default <- function(x = NULL, ...) {
  check_dots_empty(...)
  devices.xlaffi_client(as_pjrt_client(x))
}

#' @export
devices.xlaffi_client <- function(x = NULL, ...) {
  check_dots_empty(...)
  known <- host_state$devices[[as.character(check(.Call(wrap__client_number, x)))]]
  if (is.null(known)) check(.Call(wrap__client_devices, x)) else known
}

#' @export
platform.xlaffi_device <- function(x, ...) {
  check_dots_empty(...)
  device_info(x)$platform
}

device_info <- function(x, call = rlang::caller_env()) check(.Call(wrap__device_describe, x), call)

#' @export
as.character.xlaffi_device <- function(x, ...) {
  check_dots_empty(...)
  device_info(x)$label
}

#' @export
format.xlaffi_device <- function(x, ...) {
  check_format_dots(...)
  shown_or_gone(as.character(x), "device")
}

#' @export
print.xlaffi_device <- function(x, ...) {
  check_print_dots(...)
  described <- function(info) {
    paste0("<", info$label, if (!info$addressable) sprintf(" of process %d", info$process), ">")
  }
  cat(shown_or_gone(described(device_info(x)), "device"), "\n", sep = "")
  invisible(x)
}

# Any two external pointers of one class are equal to R.
#' @method all.equal xlaffi_device
#' @export
all.equal.xlaffi_device <- function(target, current, ...) {
  check_equal_dots(...)
  if (!inherits(current, "xlaffi_device")) {
    return(sprintf("target is a device, current is %s", describe(current)))
  }
  if (same_device(target, current)) {
    return(TRUE)
  }
  sprintf("devices are %s and %s", device_info(target)$label, device_info(current)$label)
}

# A name that no other device of the session has: those of two clients of one platform have the same labels.
device_key <- function(device) {
  info <- device_info(device)
  paste(info$client, info$id)
}

same_device <- function(e1, e2) {
  inherits(e1, "xlaffi_device") && inherits(e2, "xlaffi_device") &&
    (identical(e1, e2) || identical(device_info(e1), device_info(e2)))
}

#' @export
`==.xlaffi_device` <- function(e1, e2) same_device(e1, e2)

#' @export
`!=.xlaffi_device` <- function(e1, e2) !same_device(e1, e2)

is_on_device <- function(x) inherits(x, c("xlaffi_buffer", "xlaffi_typed"))

#' What is known of a device's memory
#'
#' @param device A device, its name, or `NULL` for the default one.
#' @return A named vector of bytes (doubles): what the plugin tells, of `bytes_in_use`, `peak_bytes_in_use`,
#'   `num_allocs` (a number), `largest_alloc_size`, `bytes_limit`, `bytes_reserved`, `peak_bytes_reserved`,
#'   `bytes_reservable_limit`, `largest_free_block_bytes`, `pool_bytes` and `peak_pool_bytes`, as the PJRT
#'   interface calls them. A plugin that tells nothing is an error of class `xlaffi_error_unimplemented`.
#'
#' The included CPU plugin tells of the elements of buffers: `bytes_in_use` of those that live, the most that
#' there were, how many were made, and the largest. What programs use while they run, and memory that is kept
#' for later, is not in it: of that only the system knows. Of the default device, data of objectives and of calls with R
#' data alone are counted too, which a second client holds; the most that there were is then the sum of both clients'
#' peaks. A buffer that R does not need any more lives until
#' R collects it (`gc()`).
#' @seealso The section Memory of [pjrt_buffer()].
#' @examplesIf plugins_downloaded()
#' x <- pjrt_buffer(rnorm(1000), "f64")
#' pjrt_memory_stats()
#' @export
pjrt_memory_stats <- function(device = NULL) {
  device <- as_pjrt_device(device)
  stats <- .Call(wrap__device_memory_stats, device)
  if (platform(device) == "cpu") {
    stats <- with_included_hint(stats, "The plugin inside this package counts what is in use")
  }
  stats <- unlist(check(stats))
  beside <- host_state$synchronous
  if (is.null(beside) || !identical(device, host_state$first$cpu) || identical(beside, device)) {
    return(stats)
  }
  others <- unlist(check(.Call(wrap__device_memory_stats, beside)))
  largest <- names(stats) == "largest_alloc_size"
  stats[] <- ifelse(largest, pmax(stats, others), stats + others)
  stats
}

#' How many programs may be under way
#'
#' [pjrt_execute()] may return before the work is done, and so a loop may launch programs faster than they
#' run. Each that is under way holds the memory of its results. From `limit` on a launch waits until one of
#' those before is through; Ctrl-C ends the wait. On several devices all programs count together; one that
#' runs on several counts once.
#'
#' XLA's CPU client has room for 32 programs on a device, and keeps the thread that launches another one,
#' without a look at Ctrl-C. Programs whose results R has dropped cannot be counted for sure; programs within
#' R functions that a program calls are not held back.
#'
#' @section Errors:
#' A limit that is no whole number from 1 is an error.
#'
#' @param limit A whole number from 1, or `NULL` to leave it as it is. 1 means that each program waits for
#'   the one before.
#' @return The limit until now, invisibly where it is set. At first it is 24.
#' @examples
#' before <- pjrt_in_flight(8)
#' pjrt_in_flight()
#' pjrt_in_flight(before)
#' @export
pjrt_in_flight <- function(limit = NULL) {
  if (is.null(limit)) {
    return(check(.Call(wrap__in_flight_limit, 0)))
  }
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit) || limit < 1 || limit != trunc(limit)) {
    abort(sprintf("`limit` must be one whole number from 1, not %s", describe(limit)), operand = "limit")
  }
  invisible(check(.Call(wrap__in_flight_limit, limit)))
}
