#' Register a handler for a custom call
#'
#' Makes a function in C, C++ or Rust available to programs as `stablehlo.custom_call` with typed
#' FFI (`api_version = 4`).
#'
#' @details
#' Platforms whose plugin is not loaded yet get the handler when it is. Registering a name again
#' replaces the handler, also for programs that are compiled already, and says so in a message.
#'
#' @param target_name The name that programs use.
#' @param handler A named list of external pointers to `XLA_FFI_Handler` functions, by platform:
#'   `list(host = ptr)` or `list(host = ptr, cuda = ptr2)`. `"cpu"` means `"host"`.
#' @param .package The package that registers. When it is unloaded, its handlers are removed, and
#'   a program that calls one fails with an error that says so.
#' @return `NULL`, invisibly.
#' @seealso [ffi_targets()] lists what is registered, [ffi_handler()] gives a pointer.
#' @examples
#' # Our own `lu` under a second name
#' pjrt_register_custom_call("my_lu", list(host = ffi_handler("lu", "host")))
#' @export
pjrt_register_custom_call <- function(target_name, handler, .package = NULL) {
  check_string(target_name, "target_name")
  if (startsWith(target_name, private_prefix)) {
    abort(sprintf("`target_name` must not begin with \"%s\": such names are this package's own", private_prefix),
      op = target_name, operand = "target_name"
    )
  }
  if (!is.list(handler) || !length(handler) || is.null(names(handler)) || !all(nzchar(names(handler)))) {
    abort(
      sprintf(
        "`handler` must be a list of external pointers named by platform, e.g. `list(host = ptr)`, not %s",
        describe(handler)
      ),
      op = target_name, operand = "handler"
    )
  }
  if (!is.null(.package)) {
    check_string(.package, ".package")
  }
  platforms <- ffi_platform(names(handler))
  if (anyDuplicated(platforms)) {
    abort(
      sprintf("`handler` has platform \"%s\" twice", platforms[anyDuplicated(platforms)]),
      op = target_name, operand = "handler"
    )
  }
  # All pointers are looked at before the first one is registered.
  for (i in seq_along(handler)) {
    check(.Call(wrap__handler_check, handler[[i]], target_name, platforms[[i]]))
  }
  for (i in seq_along(handler)) {
    replaced <- check(.Call(
      wrap__registry_register, target_name, platforms[[i]], handler[[i]], .package
    ))
    if (!is.null(replaced)) {
      tell_replaced(target_name, platforms[[i]], replaced, .package)
    }
  }
  for (name in ls(the$plugins)) {
    pass_on_targets(the$plugins[[name]], target_name)
  }
  if (!is.null(.package)) {
    unregister_at_unload(.package)
  }
  invisible()
}

ffi_platform <- function(names) {
  names <- tolower(names)
  names[names == "cpu"] <- "host"
  names[names == "gpu"] <- "cuda"
  names
}

tell_replaced <- function(target, platform, before, now) {
  owner <- function(name) if (length(name) && nzchar(name)) sprintf("package %s", name) else "this session"
  text <- sprintf(
    "Custom call %s (%s): the handler of %s replaces that of %s.",
    dQuote(target, FALSE), platform, owner(now), owner(before)
  )
  cli::cli_inform("{text}", class = "xlaffi_message_replaced")
}

# Gives a plugin the targets of its platform that it does not have yet.
pass_on_targets <- function(plugin, target = NULL) {
  refused <- check(.Call(wrap__plugin_pass_on, plugin, target))
  for (name in names(refused)) {
    text <- sprintf("Custom call %s is not available: %s", dQuote(name, FALSE), refused[[name]])
    cli::cli_warn("{text}", class = "xlaffi_warning_refused")
  }
}

unregister_at_unload <- function(package) {
  if (package %in% the$unload_hooks) {
    return(invisible())
  }
  the$unload_hooks <- c(the$unload_hooks, package)
  setHook(packageEvent(package, "onUnload"), function(...) {
    the$unload_hooks <- setdiff(the$unload_hooks, package)
    .Call(wrap__registry_forget, package)
  })
}
