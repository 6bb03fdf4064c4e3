# Plugins, clients and devices by platform, the first device of each, and why a client could not be made. Packages that
# have a hook for their unloading; whether Python has been found to be of use; whether a notice of a long compilation
# has been shown.
host_state <- session_state("host_state",
  plugins = new.env(parent = emptyenv()), clients = new.env(parent = emptyenv()),
  devices = new.env(parent = emptyenv()), first = new.env(parent = emptyenv()), client_problems = list(),
  unload_hooks = character(), python_usable = NULL, said_compiling = NULL,
  cpu_options = NULL, synchronous = NULL
)

#' Plugins
#'
#' A plugin is the shared library that compiles and runs programs on one kind of hardware. It is
#' loaded once per session.
#'
#' @details
#' Where it comes from, in this order: the environment variable `PJRT_PLUGIN_PATH_CPU` (or
#' `_CUDA`, ...); a plugin that was downloaded before; a download from `PJRT_PLUGIN_URL_CPU`; for
#' the CPU the plugin inside this package, which needs a Python with jaxlib. [install_pjrt()] brings a plugin or
#' jaxlib, [xlaffi_sitrep()] tells what was found.
#'
#' Custom calls registered before with [pjrt_register_custom_call()] are passed on to the plugin
#' when it is loaded.
#'
#' @param platform The platform: `"cpu"`, `"cuda"`, ...
#' @param x A plugin, or the name of a platform.
#' @return A plugin, class `xlaffi_plugin`.
#' @section Errors:
#' Where none is found the error, of class `xlaffi_error_not_found`, says what was looked for and which variable names
#' one.
#'
#' @examplesIf plugins_downloaded()
#' pjrt_plugin("cpu")
#' as_pjrt_plugin("cpu")
#' @export
pjrt_plugin <- function(platform) {
  check_name(platform, "platform")
  plugin <- host_state$plugins[[platform]]
  if (!is.null(plugin)) {
    return(plugin)
  }
  path <- plugin_path(platform)
  if (!nzchar(path)) {
    # The included plugin: where its Python fails, it says so once, not for each custom call.
    check(.Call(wrap__python_start))
  }
  plugin <- check(.Call(wrap__plugin_open, path, platform))
  host_state$plugins[[platform]] <- plugin
  note_plugin(plugin, platform)
  pass_on_targets(plugin)
  share_python()
  plugin
}

#' @rdname pjrt_plugin
#' @export
as_pjrt_plugin <- function(x) {
  check_given(x)
  if (inherits(x, "xlaffi_plugin")) {
    x
  } else if (is.character(x)) {
    pjrt_plugin(x)
  } else {
    abort(
      sprintf("`x` must be a plugin or the name of a platform, not %s", describe(x)),
      operand = "x", hint = foreign_hint(x)
    )
  }
}

#' Attributes of a plugin
#'
#' @section Errors:
#' What is no plugin, and a platform without one, is an error.
#'
#' @param plugin A plugin, or the name of a platform.
#' @return A named list of what the plugin tells about itself, e.g. `xla_version` and
#'   `stablehlo_current_version`.
#' @examplesIf plugins_downloaded()
#' plugin_attributes("cpu")
#' @export
plugin_attributes <- function(plugin) {
  check_given(plugin)
  check(.Call(wrap__plugin_attributes_list, as_pjrt_plugin(plugin)))
}

#' @export
platform.xlaffi_plugin <- function(x, ...) {
  check_dots_empty(...)
  check(.Call(wrap__plugin_info, x))$platform
}

#' @export
format.xlaffi_plugin <- function(x, ...) {
  check_format_dots(...)
  shown_or_gone(sprintf("<PJRTPlugin:%s>", platform(x)), "PJRTPlugin")
}

#' @export
print.xlaffi_plugin <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' Is there a plugin?
#'
#' @param platforms Names of platforms; `NULL` means `PJRT_PLATFORM`, or `"cpu"`.
#' @return `TRUE` if every platform has a plugin that can be used without installing anything.
#' @examples
#' plugins_downloaded("cpu")
#' @export
plugins_downloaded <- function(platforms = NULL) {
  if (is.null(platforms)) {
    platforms <- default_platform()
  }
  if (!is.character(platforms)) {
    abort(sprintf("`platforms` must be strings, not %s", describe(platforms)), operand = "platforms")
  }
  for (platform in platforms) {
    check_name(platform, "platforms")
    if (is.null(host_state$plugins[[platform]]) && is.null(plugin_found(platform))) {
      return(FALSE)
    }
  }
  TRUE
}

# The file of the plugin, "" for the one inside this package, NULL where nothing is at hand.
plugin_found <- function(platform) {
  given <- platform_variable("PATH", platform)
  if (nzchar(given)) {
    return(given)
  }
  downloaded <- downloaded_plugin(platform)
  if (!is.null(downloaded)) {
    return(downloaded)
  }
  if (platform == "cpu" && !nzchar(platform_variable("URL", platform)) && python_usable()) {
    return("")
  }
  NULL
}

# As above; what is missing is installed if the user agrees, else an error says what to do.
plugin_path <- function(platform, call = rlang::caller_env()) {
  found <- plugin_found(platform)
  if (!is.null(found)) {
    return(found)
  }
  if (nzchar(platform_variable("URL", platform))) {
    agree_to_install(
      sprintf("the plugin for platform \"%s\" is not installed", platform),
      sprintf("It can be downloaded from %s.", platform_variable("URL", platform)), call
    )
    return(download_plugin(platform, call))
  }
  if (platform != "cpu") {
    abort(sprintf("Invalid platform: there is no plugin for \"%s\"", platform),
      code = "NOT_FOUND", operand = "platform", call = call,
      hint = c(
        sprintf("Set PJRT_PLUGIN_PATH_%s to the file of a PJRT plugin,", toupper(platform)),
        sprintf("or PJRT_PLUGIN_URL_%s to an archive that contains one.", toupper(platform))
      )
    )
  }
  runtime <- offered_runtime()
  agree_to_install(python_report()$message, runtime_offer(runtime), call)
  switch(runtime,
    plugin = return(install_wheel(call = call)),
    pjrt = return(install_pjrt_download(call))
  )
  install_python(call)
  ""
}

platform_variable <- function(what, platform) {
  Sys.getenv(sprintf("PJRT_PLUGIN_%s_%s", what, toupper(platform)))
}

# reticulate and the CPU plugin use one Python, whichever comes first.
share_python <- function(...) {
  if (isNamespaceLoaded("reticulate")) {
    check(.Call(wrap__python_keep_lock))
  }
}

# Whether it is the plugin inside this package.
is_included <- function(plugin) check(.Call(wrap__plugin_info, plugin))$included

# The result of a call; where it failed for want of what only the plugin inside this package has, with a hint.
with_included_hint <- function(result, what) {
  if (!inherits(result, "xlaffi_failure")) {
    return(result)
  }
  plugin <- host_state$plugins[["cpu"]]
  path <- plugin_found("cpu")
  is_other <- if (is.null(plugin)) !is.null(path) && nzchar(path) else !is_included(plugin)
  if (is_other) {
    result$hint <- sprintf("%s: `install_pjrt(\"jaxlib\")` brings what that needs.", what)
  }
  result
}
