# Our targets in the package pjrt, when both are loaded; see ?xlaffi for the option.

# Targets that pjrt brings itself, for versions whose own list cannot be read.
pjrt_own_targets <- c("print_tensor", "geqrf", "orgqr", "lu", "svd", "eigh")

offer_to_pjrt <- function(...) {
  mode <- getOption("xlaffi.pjrt", "add")
  if (!identical(mode, "add") && !identical(mode, "replace") && !identical(mode, "none")) {
    text <- sprintf("Option `xlaffi.pjrt` must be \"add\", \"replace\" or \"none\", not %s.", describe(mode))
    warn(text)
    return(invisible())
  }
  if (mode == "none") {
    return(invisible())
  }
  targets <- all_targets()
  targets <- targets[targets$package %in% "xlaffi", ]
  if (mode == "add") {
    targets <- targets[!targets$target %in% targets_of_pjrt(), ]
  }
  register <- getExportedValue("pjrt", "pjrt_register_custom_call")
  for (i in seq_len(nrow(targets))) {
    platforms <- strsplit(targets$platforms[[i]], ", ", fixed = TRUE)[[1L]]
    handlers <- lapply(platforms, function(platform) ffi_handler(targets$target[[i]], platform))
    names(handlers) <- platforms
    register(targets$target[[i]], handlers, .package = "xlaffi")
  }
  invisible()
}

targets_of_pjrt <- function() {
  registered <- tryCatch(
    names(get("the", envir = asNamespace("pjrt"))[["custom_calls"]]),
    error = function(e) NULL
  )
  if (is.null(registered)) pjrt_own_targets else registered
}

#' Coming from pjrt
#'
#' A package or script that is written for the package pjrt 0.5 runs with this one when its imports
#' name xlaffi. `pjrt_compatibility()` lists what pjrt exports, and its methods, with what is the
#' same here and what differs.
#'
#' @details
#' What differs everywhere:
#' * Classes have names of their own, because both packages may be loaded: `PJRTBuffer` is
#'   `xlaffi_buffer`, `PJRTClient` `xlaffi_client`, `PJRTDevice` `xlaffi_device`, `PJRTPlugin`
#'   `xlaffi_plugin`, `PJRTProgram` `xlaffi_program`, `PJRTLoadedExecutable` `xlaffi_executable`,
#'   `PJRTElementType` `xlaffi_dtype`, `PJRTArrayPromise` `xlaffi_array_promise`,
#'   `PJRTExecuteOptions` `xlaffi_execution_options`, `RTree` `xlaffi_tree`, `Dispatcher`
#'   `xlaffi_dispatcher`. Objects of one package given to the other are refused.
#' * Errors have a class and fields, see [xlaffi-package]; their messages contain the words that code
#'   written for pjrt may look for.
#' * The memory of a buffer is not R's: `object.size()` does not count it.
#' * What pjrt's development versions have since 0.5.0 is not here: a C interface for other packages
#'   (`inst/include/pjrt`) and CUDA kernels of its own. `ffi_include_dir()` and [ffi_handler()] are for packages with
#'   handlers in C.
#'
#' Files of the package safetensors hold buffers: `safetensors::safe_save_file(list(x = buffer), path)`
#' writes and `safetensors::safe_load_file(path, framework = "xlaffi")` reads them, the latter on
#' the device that its argument `device` names. `framework = "pjrt"` means us as well where pjrt is not
#' loaded.
#'
#' With pjrt in the same session, its generics and ours have the same names: the package attached
#' last is the one that is found.
#'
#' @eval rd_compatibility()
#' @return A data frame: `name`, `status` (`"same"`, `"differs"` or `"missing"`) and `note`.
#' @examples
#' subset(pjrt_compatibility(), status != "same")
#' @export
pjrt_compatibility <- function() {
  utils::read.csv(
    system.file("extdata", "pjrt-compatibility.csv", package = "xlaffi"),
    colClasses = "character"
  )
}

# The table as a section of the help page.
rd_compatibility <- function() {
  rows <- pjrt_compatibility()
  c(
    "@section Function by function:",
    "`same` means name, arguments, defaults and results. Methods follow the functions.",
    "",
    "| name | | |", "|---|---|---|",
    sprintf("| `%s` | %s | %s |", rows$name, rows$status, rows$note)
  )
}
