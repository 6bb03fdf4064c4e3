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
    return(the$first[[parts]])
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

# The first device of the default platform in this process; in the usual case two look-ups.
default_device <- function() {
  platform <- Sys.getenv("PJRT_PLATFORM", "cpu")
  found <- the$first[[platform]]
  if (is.null(found)) {
    pjrt_client(platform)
    found <- the$first[[platform]]
  }
  found
}

#' @rdname pjrt_device
#' @export
devices <- function(x = NULL, ...) UseMethod("devices")

#' @export
devices.default <- function(x = NULL, ...) {
  devices.xlaffi_client(as_pjrt_client(x))
}

#' @export
devices.xlaffi_client <- function(x = NULL, ...) {
  platform <- check(.Call(wrap__client_platform, x))
  client <- the$clients[[platform]]
  if (identical(client, x) && !is.null(the$devices[[platform]])) {
    return(the$devices[[platform]])
  }
  check(.Call(wrap__client_devices, x))
}

#' @export
platform.xlaffi_device <- function(x, ...) device_info(x)$platform

device_info <- function(x, call = rlang::caller_env()) check(.Call(wrap__device_describe, x), call)

#' @export
as.character.xlaffi_device <- function(x, ...) device_info(x)$label

#' @export
format.xlaffi_device <- function(x, ...) as.character(x)

#' @export
print.xlaffi_device <- function(x, ...) {
  info <- device_info(x)
  cat("<", info$label, if (!info$addressable) sprintf(" of process %d", info$process), ">\n", sep = "")
  invisible(x)
}

same_device <- function(e1, e2) {
  inherits(e1, "xlaffi_device") && inherits(e2, "xlaffi_device") &&
    (identical(e1, e2) || identical(device_info(e1), device_info(e2)))
}

#' @export
`==.xlaffi_device` <- function(e1, e2) same_device(e1, e2)

#' @export
`!=.xlaffi_device` <- function(e1, e2) !same_device(e1, e2)

# What to say when an object of the package pjrt was given.
foreign_hint <- function(x) {
  if (any(startsWith(class(x), "PJRT")) || inherits(x, c("RTree", "Dispatcher"))) {
    "It belongs to the package pjrt; objects of pjrt and xlaffi do not mix."
  }
}
