# Our targets in the package pjrt, when both are loaded; see ?xlaffi for the option.

# Targets that pjrt brings itself, for versions whose own list cannot be read.
pjrt_own_targets <- c("print_tensor", "geqrf", "orgqr", "lu", "svd", "eigh")

offer_to_pjrt <- function(...) {
  mode <- getOption("xlaffi.pjrt", "add")
  if (!identical(mode, "add") && !identical(mode, "replace") && !identical(mode, "none")) {
    text <- sprintf("Option `xlaffi.pjrt` must be \"add\", \"replace\" or \"none\", not %s.", describe(mode))
    cli::cli_warn("{text}")
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
