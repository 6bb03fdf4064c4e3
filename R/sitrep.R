#' Situation report
#'
#' What was found: versions, plugins, Python and jaxlib, LAPACK, and the environment variables that
#' are set; and what to do about what is missing. NVIDIA's libraries are loaded to see whether they
#' can be; the folder in the variable `XLAFFI_CUDA_PATH` comes before the system's.
#'
#' @return The findings as a list, invisibly.
#' @examples
#' xlaffi_sitrep()
#' @export
xlaffi_sitrep <- function() {
  found <- list(
    version = as.character(utils::packageVersion("xlaffi")),
    r = as.character(getRversion()),
    system = paste(Sys.info()[c("sysname", "release", "machine")], collapse = " "),
    python = python_report(),
    plugins = lapply(stats::setNames(nm = c("cpu", "cuda")), plugin_state),
    cuda = as.data.frame(check(.Call(wrap__cuda_libraries))),
    single_precision = check(.Call(wrap__about))$single_precision,
    lapack = La_library(),
    blas = utils::sessionInfo()$BLAS,
    targets = nrow(ffi_targets()),
    variables = set_variables()
  )
  report(found)
  invisible(found)
}

# "loaded", "found" or "missing", and where.
plugin_state <- function(platform) {
  plugin <- the$plugins[[platform]]
  if (!is.null(plugin)) {
    info <- check(.Call(wrap__plugin_info, plugin))
    return(list(state = "loaded", path = info$path, api = paste(info$version, collapse = ".")))
  }
  path <- plugin_found(platform)
  if (is.null(path)) {
    return(list(state = "missing"))
  }
  list(state = "found", path = if (nzchar(path)) path else "inside this package")
}

set_variables <- function() {
  names <- c(
    "PJRT_PLATFORM", "PJRT_CPU_DEVICE_COUNT", "PJRT_INSTALL", "PJRT_PLUGIN_PATH_CPU",
    "PJRT_PLUGIN_PATH_CUDA", "PJRT_PLUGIN_URL_CPU", "PJRT_PLUGIN_URL_CUDA", "XLAFFI_PYTHON",
    "VIRTUAL_ENV", "RETICULATE_PYTHON", "XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", "NPROC",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "XLAFFI_CUDA_PATH", "XLAFFI_CUDA_KERNELS"
  )
  values <- Sys.getenv(names, NA)
  values[!is.na(values)]
}

report <- function(found) {
  cli::cli_h1("xlaffi {found$version}")
  cli::cli_bullets(c("*" = "R {found$r}, {found$system}"))
  cli::cli_h2("Plugins")
  for (platform in names(found$plugins)) {
    plugin <- found$plugins[[platform]]
    text <- switch(plugin$state,
      loaded = c(v = "{platform}: loaded from {.path {plugin$path}}, PJRT API {plugin$api}"),
      found = c(v = "{platform}: {.path {plugin$path}}"),
      missing = if (platform == "cpu") {
        c(x = "cpu: none", i = "{.run install_pjrt()} makes what the included plugin needs.")
      } else {
        c("*" = "{platform}: none; PJRT_PLUGIN_PATH_{toupper(platform)} names one")
      }
    )
    cli::cli_bullets(text)
  }
  cli::cli_h2("Python for the CPU plugin")
  for (place in found$python$places) {
    cli::cli_bullets(stats::setNames("{place}", if (place == found$python$chosen) "v" else "*"))
  }
  cli::cli_h2("Linear algebra")
  cli::cli_bullets(c(
    "*" = "LAPACK: {.path {found$lapack}}",
    "*" = "BLAS: {.path {found$blas}}",
    "*" = if (found$single_precision) {
      "f32 is computed in f32"
    } else {
      "f32 is computed in f64: the LAPACK of the build has no single precision"
    },
    if (!grepl("openblas|mkl|accelerate|blis", paste(found$lapack, found$blas), ignore.case = TRUE)) {
      c(i = "This looks like the reference BLAS. OpenBLAS is several times faster: {.code apt install libopenblas0}.")
    },
    "*" = "{found$targets} custom call target{?s}, see {.code ffi_targets()}"
  ))
  cli::cli_h2("CUDA")
  if (all(is.na(found$cuda$path))) {
    cli::cli_bullets(c("*" = "none of NVIDIA's libraries; {.code xlaffi_sitrep()$cuda} tells what was tried"))
  } else {
    for (i in seq_len(nrow(found$cuda))) {
      library <- found$cuda$library[[i]]
      path <- found$cuda$path[[i]]
      problem <- found$cuda$problem[[i]]
      cli::cli_bullets(if (is.na(path)) c(x = "{problem}") else c(v = "{library}: {.path {path}}"))
    }
  }
  cli::cli_h2("Environment variables")
  if (length(found$variables)) {
    for (name in names(found$variables)) {
      value <- found$variables[[name]]
      cli::cli_bullets(c("*" = "{name} = {.val {value}}"))
    }
  } else {
    cli::cli_bullets(c("*" = "none of ours is set"))
  }
}
