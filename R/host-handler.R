#' Register a handler for a custom call
#'
#' Makes a function in C, C++ or Rust available to programs as `stablehlo.custom_call` with typed
#' FFI (`api_version = 4`).
#'
#' @details
#' Platforms whose plugin is not loaded yet get the handler when it is. Registering a name again
#' replaces the handler, also for programs that are compiled already, and says so in a message.
#' Calls of the old one that are still running go on. XLA keeps a name's traits for ever: a handler
#' with others than XLA first got is refused under that name.
#'
#' What is no handler is refused as far as that can be found out: what is no function, R's
#' descriptions of routines, routines for `.Call()` and the like, and (except on Windows) functions
#' that do not answer XLA's question for their version, which they are asked in a child process that
#' may crash. What a handler does when it is called cannot be guarded, with one exception: a C++
#' exception, in the handler or in a task that it gave to XLA's thread pool, becomes an error.
#' Exceptions in threads that a handler starts itself, R errors (`Rf_error()` in a handler) and
#' invalid memory end the session.
#'
#' # Libraries
#' A handler's library must stay loaded. Except on Windows a registration keeps it in use:
#' `dyn.unload()` then leaves it in memory, until the handler has been replaced or
#' [unregistered][ffi_unregister()] and no call of it is running any more. Because the system does
#' not load a library that it has, unregister its handlers before you unload a library to load a
#' newer build of the same file; if you do not, a warning of class `xlaffi_warning_changed` says
#' that the old code is still in use.
#'
#' # Stages
#' A handler that keeps a state for each of its calls in a program is several functions, one for each of
#' XLA's stages: `list(host = list(instantiate = f, execute = g))`, with `prepare` and `initialize` as
#' well where it has them. `instantiate` makes the state when a program is compiled, with the attributes
#' alone; XLA drops it with the program. The included CPU plugin calls all stages. Plugins of other makers
#' can be given one function for each name only: they refuse a handler that has more.
#'
#' @param target_name The name that programs use.
#' @param handler A named list of `XLA_FFI_Handler` functions, by platform: `list(host = f)` or
#'   `list(host = f, cuda = g)`. Each is an external pointer, as C functions make it with
#'   `R_MakeExternalPtrFn()`, or what [getNativeSymbolInfo()] returns for the handler's symbol, or
#'   its `$address`; or a list of them by stage (see *Stages*). Platforms are `"host"` (or `"cpu"`),
#'   `"cuda"` (or `"gpu"`), `"rocm"` and those of plugins that are loaded.
#' @param .package The package that registers. When it is unloaded, its handlers are removed as by
#'   [ffi_unregister()], and a program that calls one fails with an error that says so.
#' @return `NULL`, invisibly.
#' @seealso [ffi_unregister()] removes a handler, [ffi_targets()] lists what is registered,
#'   [ffi_handler()] gives a pointer.
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
  named <- is.list(handler) && length(handler) && !is.null(names(handler)) && all(nzchar(names(handler)))
  if (!named || inherits(handler, "NativeSymbolInfo")) {
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
  platforms <- ffi_platform(names(handler), target_name, "handler")
  if (anyDuplicated(platforms)) {
    abort(
      sprintf("`handler` has platform \"%s\" twice", platforms[anyDuplicated(platforms)]),
      op = target_name, operand = "handler"
    )
  }
  # All pointers are looked at before the first one is registered.
  handlers <- Map(function(x, platform) handler_stages(x, target_name, platform), handler, platforms)
  for (i in seq_along(handlers)) {
    for (pointer in Filter(Negate(is.null), handlers[[i]])) {
      check(.Call(wrap__handler_check, pointer, target_name, platforms[[i]]))
    }
  }
  for (i in seq_along(handlers)) {
    done <- check(.Call(
      wrap__registry_register, target_name, platforms[[i]], handlers[[i]], .package
    ))
    if (!is.null(done$replaced)) {
      tell_replaced(target_name, platforms[[i]], done$replaced, .package)
    }
    if (!is.null(done$changed)) {
      tell_changed(target_name, done$changed)
    }
  }
  check(.Call(wrap__code_note, target_name, NULL))
  for (name in ls(host_state$plugins)) {
    pass_on_targets(host_state$plugins[[name]], target_name)
  }
  if (!is.null(.package)) {
    unregister_at_unload(.package)
  }
  invisible()
}

# XLA's names of platforms. Known are those that XLA has handlers for, and those of plugins.
ffi_platform <- function(names, op = NULL, operand = "platform", call = rlang::caller_env()) {
  names <- tolower(names)
  plugins <- sub("^PJRT_PLUGIN_(PATH|URL)_", "", grep("^PJRT_PLUGIN_(PATH|URL)_", names(Sys.getenv()), value = TRUE))
  known <- c("host", "cpu", "cuda", "gpu", "rocm", "metal", "tpu")
  unknown <- setdiff(names, c(known, tolower(c(plugins, ls(host_state$plugins)))))
  if (length(unknown)) {
    abort(
      sprintf("there is no platform \"%s\"", unknown[[1L]]),
      op = op, operand = operand, call = call,
      hint = name_hint(
        unknown[[1L]], known, "\"%s\"",
        sprintf("Platforms are %s and those of plugins.", toString(dQuote(known, FALSE)))
      )
    )
  }
  names[names == "cpu"] <- "host"
  names[names == "gpu"] <- "cuda"
  names
}

stages_of_handlers <- c("instantiate", "prepare", "initialize", "execute")

# The functions of a handler, in the order of the stages. One function is for "execute".
handler_stages <- function(x, target, platform, call = rlang::caller_env(2L)) {
  if (!is.list(x) || inherits(x, "NativeSymbolInfo")) {
    x <- list(execute = x)
  }
  names <- names2(x)
  unknown <- setdiff(names, stages_of_handlers)
  if (length(unknown) || anyDuplicated(names) || !"execute" %in% names) {
    abort(
      sprintf(
        "the handler of \"%s\" for platform %s must be %s", target, platform,
        "a function or a list of functions named by stage, \"execute\" among them"
      ),
      op = target, operand = "handler", call = call,
      hint = sprintf("Stages are %s.", toString(dQuote(stages_of_handlers, FALSE)))
    )
  }
  stages <- lapply(stages_of_handlers, function(stage) {
    if (!is.null(x[[stage]])) native_pointer(x[[stage]], target, platform, call)
  })
  stats::setNames(stages, stages_of_handlers)
}

# The address in what getNativeSymbolInfo() returns; anything else as it is.
native_pointer <- function(x, target, platform, call = rlang::caller_env(2L)) {
  if (!inherits(x, "NativeSymbolInfo")) {
    return(x)
  }
  routine <- c(
    CRoutine = ".C()", CallRoutine = ".Call()", FortranRoutine = ".Fortran()",
    ExternalRoutine = ".External()"
  )[class(x)]
  routine <- routine[!is.na(routine)]
  if (length(routine)) {
    abort(
      sprintf(
        "the handler of \"%s\" for platform %s is a routine for `%s`, %s",
        target, platform, routine[[1L]], dQuote(x$name, FALSE)
      ),
      op = target, operand = "handler", call = call
    )
  }
  x$address
}

tell_replaced <- function(target, platform, before, now) {
  owner <- function(name) if (length(name) && nzchar(name)) sprintf("package %s", name) else "this session"
  text <- sprintf(
    "Custom call %s (%s): the handler of %s replaces that of %s.",
    dQuote(target, FALSE), platform, owner(now), owner(before)
  )
  inform(text, "xlaffi_message_replaced")
}

tell_changed <- function(target, path) {
  text <- sprintf("Custom call %s: the file %s has changed since its library was loaded.", dQuote(target, FALSE), path)
  warn(text, "xlaffi_warning_changed", c(
    "Handlers that are registered keep their library in use, so the old code was registered again.",
    "Before a library is unloaded, call `ffi_unregister()` for its handlers."
  ))
}

# Gives a plugin the targets of its platform that it lacks. Where another host's handler has the name, programs
# of ours call ours by another one.
pass_on_targets <- function(plugin, target = NULL) {
  refused <- check(.Call(wrap__plugin_pass_on, plugin, target))
  for (name in names(refused)) {
    text <- sprintf("Custom call %s is not available: %s", dQuote(name, FALSE), refused[[name]][[2L]])
    warn(text, "xlaffi_warning_refused")
  }
}

#' Remove the handler of a custom call
#'
#' From now on a program that calls it fails with an error that says so. The name can be registered
#' again.
#'
#' @details
#' The function returns when no call of the handler is running any more, its tasks on XLA's thread
#' pool and calls of handlers that it replaced included: then their library may be unloaded. The
#' wait can be interrupted; the handler is removed all the same, and calling the function again
#' waits on.
#'
#' @param target The name of a custom call.
#' @param platform `"host"` (or `"cpu"`), `"cuda"` (or `"gpu"`), ...
#' @return `TRUE` if there was a handler, else `FALSE` with a message of class
#'   `xlaffi_message_not_registered`, invisibly.
#' @seealso [pjrt_register_custom_call()]
#' @examples
#' pjrt_register_custom_call("my_lu", list(host = ffi_handler("lu", "host")))
#' ffi_unregister("my_lu", "host")
#' @export
ffi_unregister <- function(target, platform) {
  check_string(target, "target")
  check_string(platform, "platform")
  platform <- ffi_platform(platform)
  withdrawn <- check(.Call(wrap__registry_withdraw, target, platform))
  if (!withdrawn$count) {
    text <- sprintf("There is no custom call %s for platform %s.", dQuote(target, FALSE), platform)
    inform(text, "xlaffi_message_not_registered")
  }
  wait_for_calls(withdrawn$calls)
  invisible(withdrawn$count > 0L)
}

# Between two turns R looks for Ctrl-C.
wait_for_calls <- function(calls) {
  while (check(.Call(wrap__withdrawn_wait, calls, 0.05)) > 0L) {
    Sys.sleep(0)
  }
}

unregister_at_unload <- function(package) {
  if (package %in% host_state$unload_hooks) {
    return(invisible())
  }
  host_state$unload_hooks <- c(host_state$unload_hooks, package)
  setHook(packageEvent(package, "onUnload"), function(...) {
    host_state$unload_hooks <- setdiff(host_state$unload_hooks, package)
    wait_for_calls(check(.Call(wrap__registry_forget, package))$calls)
  })
}

#' XLA's headers
#'
#' Where the header files are with which handlers for custom calls are written in C++
#' (`xla/ffi/api/ffi.h`) or C (`xla/ffi/api/c_api.h`). Every jaxlib brings them along.
#'
#' @return The folder for the compiler's option `-I`, one string; with `-isystem` compilers do not tell what they find
#'   in the headers themselves.
#' @seealso `vignette("custom-calls")` compiles a handler; [pjrt_register_custom_call()].
#' @examplesIf plugins_downloaded("cpu")
#' list.files(file.path(ffi_include_dir(), "xla", "ffi", "api"))
#' @export
ffi_include_dir <- function() {
  report <- python_report()
  code <- "import jaxlib, os; print(os.path.join(os.path.dirname(jaxlib.__file__), 'include'))"
  folder <- if (!is.null(report$executable)) {
    suppressWarnings(system2(report$executable, c("-c", shQuote(code)), stdout = TRUE, stderr = FALSE))
  }
  if (length(folder) != 1L || !file.exists(file.path(folder, "xla", "ffi", "api", "ffi.h"))) {
    abort("found no jaxlib with XLA's headers", code = "NOT_FOUND", hint = report$message)
  }
  folder
}
