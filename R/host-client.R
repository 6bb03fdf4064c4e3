#' Clients
#'
#' A client is a running plugin: it owns devices, buffers and executables. There is one per
#' platform; asking again gives the same one.
#'
#' @param platform The platform: `"cpu"`, `"cuda"`, ... `NULL` means the environment variable
#'   `PJRT_PLATFORM`, or `"cpu"`.
#' @param ... Options for the plugin, only the first time. The included CPU plugin, with jaxlib, takes
#'   `cpu_device_count`, how many devices it makes of the CPU (default 1, or the environment variable
#'   `PJRT_CPU_DEVICE_COUNT`), `num_threads`, how many threads compute (default: one for each
#'   processor; at least eight for each device where there are several, or several processes, as devices that wait for
#'   each other hold threads), both whole numbers from 1 to 1024, `asynchronous`, whether [pjrt_execute()] may
#'   return before the results are there (default `TRUE`; with `FALSE` programs run on the thread that calls, which
#'   takes some 30 microseconds less where there is little to compute; functions of [xla_jit()] that get R data alone,
#'   and objectives, do so anyway, unless this option is given), and `collective_timeout`, for how many seconds nothing
#'   of a program over several devices may move before it is given up (default 300). XLA's CUDA plugin takes
#'   `preallocate`, whether it takes the GPU's memory when it starts (default `FALSE`, so that several R sessions can
#'   share a GPU: it takes more as it is needed and keeps what it has), and `memory_fraction`, how much of the memory it
#'   takes at most, or at once (default 0.75). The variable `CUDA_VISIBLE_DEVICES` says which GPUs it sees.
#' @param x A client, the name of a platform, or `NULL` for the default.
#' @section Devices that wait for each other:
#' In a program over several devices, a device waits in a collective, such as [hlo_psum()], until the others come. Where
#' one does not come, as its turn in the program is another one, or it has failed, XLA waits for ever. So a program
#' whose devices do nothing for `collective_timeout` seconds is given up, with an error of class
#' `xlaffi_error_deadline_exceeded` that names the devices and the collectives. A device that computes, however slowly,
#' and a handler or an R function that is at work, is never given up. (A handler that fails ends its program on all
#' devices at once, without a wait.) The client does not see whether handlers are at work that a program in HLO calls,
#' or that are of an older kind than XLA's FFI: such a program is given up only where it has failed.
#' XLA's threads that wait cannot be freed: until they come back, which may be never,
#' the client refuses programs over several devices, and programs on the devices that have not ended
#' (`xlaffi_error_failed_precondition`). What is on other devices and in R stays, and a new R session starts afresh. For
#' several processes, [pjrt_distributed()] has a limit of its own.
#' @return A client, class `xlaffi_client`.
#' @section Errors:
#' A platform without a plugin is an error of class `xlaffi_error_not_found` that says where one is looked for. Options
#' for a client that exists already are one of class `xlaffi_error_already_exists`.
#'
#' @examplesIf plugins_downloaded()
#' client <- pjrt_client()
#' client
#' devices(client)
#' as_pjrt_client("cpu")
#' @export
pjrt_client <- function(platform = NULL, ...) {
  platform <- if (is.null(platform)) default_platform() else platform
  check_name(platform, "platform")
  plugin_client_create(pjrt_plugin(platform), platform, options = list(...))
}

#' Create a client
#'
#' [pjrt_client()] is what you want in most cases; this function takes the plugin explicitly.
#'
#' @param plugin A plugin, see [pjrt_plugin()].
#' @param platform The name under which the client is kept.
#' @param options A named list: options that the plugin knows.
#' @return A client, class `xlaffi_client`.
#' @section Errors:
#' Options for a client that exists already are an error of class `xlaffi_error_already_exists`.
#'
#' @examplesIf plugins_downloaded()
#' plugin_client_create(pjrt_plugin("cpu"), "cpu")
#' @export
plugin_client_create <- function(plugin, platform, options = list()) {
  check_name(platform, "platform")
  client <- host_state$clients[[platform]]
  if (!is.null(client)) {
    if (length(options)) {
      abort(
        sprintf("the client for platform \"%s\" exists; options count only when it is created", platform),
        code = "ALREADY_EXISTS", operand = "options",
        hint = "Give them in the first call, or in a new R session."
      )
    }
    return(client)
  }
  given <- names(options)
  options <- client_options(platform, options)
  # A CPU plugin of others runs what is launched, by whatever thread, in one order: a program that an R function runs
  # would wait for the one that called the function, and chains beside each other would take turns. Unless each runs on
  # the thread that launches it.
  if (platform == "cpu" && !is_included(plugin) && !"asynchronous" %in% given) {
    options$asynchronous <- FALSE
  }
  note_flags(platform)
  made <- function(options) .Call(wrap__plugin_client, plugin, platform, names(options), unname(options), FALSE)
  client <- made(options)
  if (inherits(client, "xlaffi_failure") && length(options) > length(given)) {
    # Our defaults are not options of every plugin.
    without <- made(options[given])
    client <- if (inherits(without, "xlaffi_failure")) client else without
  }
  if (platform == "cpu" && any(c("num_threads", "collective_timeout") %in% given)) {
    client <- with_included_hint(
      client, "`num_threads` and `collective_timeout` are options of the plugin inside this package"
    )
  }
  # For xlaffi_sitrep()
  host_state$client_problems[[platform]] <- if (inherits(client, "xlaffi_failure")) client$message
  keep_client(check(client), platform)
  if (platform == "cpu" && is_included(plugin) && !"asynchronous" %in% given) host_state$cpu_options <- options
  client
}

# The client, its devices, and the one for those who name none: the first of this process.
keep_client <- function(client, platform) {
  share_python()
  host_state$clients[[platform]] <- client
  all <- keep_devices(client)
  host_state$first[[platform]] <- Find(function(device) device_info(device)$addressable, all)
  client
}

# All devices of the client in order, the very objects that find_devices() gives.
keep_devices <- function(client) {
  number <- as.character(check(.Call(wrap__client_number, client)))
  all <- check(.Call(wrap__client_devices, client))
  host_state$devices[[number]] <- all
  all
}

# The device for programs whose results R waits for at once. On the CPU it is that of a client of its own, which runs
# programs on the thread that calls: where there is little to compute, the way to a thread of XLA's and back takes
# longer than that. It is the default device on what other plugins run, in jobs of several processes, and where the user
# has said how programs run.
synchronous_device <- function() {
  device <- default_device()
  if (is.null(host_state$cpu_options) || !identical(device, host_state$first$cpu)) {
    return(device)
  }
  if (is.null(host_state$synchronous)) {
    options <- host_state$cpu_options
    options$cpu_device_count <- 1L
    options$asynchronous <- FALSE
    client <- .Call(wrap__plugin_client, pjrt_plugin("cpu"), "cpu", names(options), unname(options), TRUE)
    host_state$synchronous <- if (inherits(client, "xlaffi_client")) keep_devices(client)[[1L]] else device
  }
  host_state$synchronous
}

device_count_asked_for <- function(call) {
  asked <- Sys.getenv("PJRT_CPU_DEVICE_COUNT")
  count <- if (nzchar(asked)) suppressWarnings(as.numeric(asked)) else 1
  if (is.na(count) || count != trunc(count) || count < 1 || count > 1024) {
    abort(sprintf("PJRT_CPU_DEVICE_COUNT must be a whole number from 1 to 1024, not \"%s\"", asked),
      operand = "cpu_device_count", call = call
    )
  }
  as.integer(count)
}

# Defaults of the platform, then the user's; each one integer, number, string or flag.
client_options <- function(platform, options, call = rlang::caller_env()) {
  if (!is.list(options) || (length(options) && is.null(names(options)))) {
    abort("`options` must be a named list", operand = "options", call = call)
  }
  defaults <- list()
  if (platform == "cpu") {
    defaults$cpu_device_count <- device_count_asked_for(call)
  }
  if (platform == "cuda") {
    # Several R sessions on one GPU are usual, and one that holds three quarters of its memory stops the others.
    defaults$preallocate <- FALSE
  }
  defaults[names(options)] <- options
  for (name in names(defaults)) {
    option <- defaults[[name]]
    if (!(is.numeric(option) || is.character(option) || is.logical(option)) ||
      length(option) != 1L || is.na(option)) {
      abort(sprintf("option `%s` must be one number, string or flag, not %s", name, describe(option)),
        operand = name, call = call
      )
    }
  }
  defaults
}

#' @rdname pjrt_client
#' @export
as_pjrt_client <- function(x) {
  check_given(x)
  if (inherits(x, "xlaffi_client")) {
    x
  } else if (is.null(x) || is.character(x)) {
    pjrt_client(x)
  } else {
    abort(
      sprintf("`x` must be a client or the name of a platform, not %s", describe(x)),
      operand = "x", hint = foreign_hint(x)
    )
  }
}

#' @export
platform.xlaffi_client <- function(x, ...) {
  check_dots_empty(...)
  check(.Call(wrap__client_platform, x))
}

#' @export
as.character.xlaffi_client <- function(x, ...) {
  check_dots_empty(...)
  platform(x)
}

#' @export
format.xlaffi_client <- function(x, ...) {
  check_format_dots(...)
  shown_or_gone(platform(x), "client")
}

#' @export
print.xlaffi_client <- function(x, ...) {
  check_print_dots(...)
  cat(shown_or_gone(sprintf("<PJRTClient:%s>", platform(x)), "PJRTClient"), "\n", sep = "")
  invisible(x)
}
