#' Situation report
#'
#' What was found: versions, plugins, Python and jaxlib, LAPACK, and the environment variables that
#' are set; and what to do about what is missing. NVIDIA's libraries are loaded to see whether they
#' can be; the folder in the variable `XLAFFI_CUDA_PATH` comes before the system's.
#'
#' @section LAPACK:
#' On the CPU, kernels of the package compute real matrices up to a number of rows and columns: lu and the Cholesky
#' decomposition up to 256, triangular systems up to 64, QR (without pivoting) and its `Q` up to 2048, `eigh` and
#' `svd` up to 96; and complex ones up to 32, but for `eigh` and `svd`. Their threads are XLA's only, whose number
#' no variable of a LAPACK sets. With the variable `XLAFFI_KERNELS=0`, set before the first of them is called, none of
#' them is used. On x86-64 they need AVX2.
#'
#' All other linear algebra is computed by a LAPACK that is looked for when it is
#' first needed. The first of these that has all routines, with integers of 32 bits, and computes a few
#' small matrices rightly, is used to the end of the session:
#' 1. OpenBLAS beside jaxlib: the Python package `scipy-openblas32`, which [install_pjrt()] installs,
#'    else SciPy's own;
#' 2. MKL, beside jaxlib or the system's;
#' 3. the system's OpenBLAS;
#' 4. on macOS, Accelerate;
#' 5. what R is linked to, else the system's `liblapack.so.3`.
#'
#' The variable `XLAFFI_LAPACK` names one, and then there is no other: the path of a shared library, or
#' `scipy`, `mkl`, `openblas`, `accelerate` or `r`. A LAPACK without single precision, such as R's own on
#' most systems, computes f32 and c64 in double precision; `XLAFFI_F32_LAPACK=0` has any LAPACK do so.
#' Batches are computed on XLA's threads, with one thread of the library's on each; large matrices on the
#' library's, whose number `OPENBLAS_NUM_THREADS` or `MKL_NUM_THREADS` sets.
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
    processes = pjrt_distributed_status(),
    programs = program_cache_state(),
    cuda = as.data.frame(check(.Call(wrap__cuda_libraries))),
    lapack = lapack_found(),
    targets = nrow(ffi_targets()),
    variables = set_variables()
  )
  report(found)
  invisible(found)
}

# The LAPACK in use, else the one that would be used now. Python is looked for before: it may have one.
lapack_found <- function() {
  found <- check(.Call(wrap__lapack_report))
  found$refused <- as.data.frame(found$refused)
  found
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
    "VIRTUAL_ENV", "RETICULATE_PYTHON", "XLAFFI_COORDINATOR", "XLAFFI_NUM_PROCESSES", "XLAFFI_PROCESS_ID",
    "XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", "NPROC",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLAFFI_LAPACK", "XLAFFI_F32_LAPACK",
    "XLAFFI_KERNELS", "XLAFFI_CUDA_PATH", "XLAFFI_CUDA_KERNELS"
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
  for (i in seq_len(NROW(found$processes))) {
    cli::cli_bullets(c("*" = "process {trimws(process_line(found$processes[i, ]))}"))
  }
  cli::cli_bullets(if (is.null(found$programs$problem)) {
    c("*" = "compiled programs are kept in {.path {found$programs$path}}, see {.code ?ffi_cache}")
  } else {
    c("*" = "compiled programs are not kept for later sessions: {found$programs$problem}")
  })
  cli::cli_h2("Python for the CPU plugin")
  for (place in found$python$places) {
    cli::cli_bullets(stats::setNames("{place}", if (place == found$python$chosen) "v" else "*"))
  }
  cli::cli_h2("Linear algebra")
  report_lapack(found$lapack)
  cli::cli_bullets(c("*" = "{found$targets} custom call target{?s}, see {.code ffi_targets()}"))
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

report_lapack <- function(lapack) {
  if (!is.null(lapack$problem)) {
    cli::cli_bullets(c(x = "{lapack$problem}", i = "{.run install_pjrt()} brings OpenBLAS."))
    return(invisible())
  }
  threads <- lapack$threads
  cli::cli_bullets(c(
    v = "LAPACK: {lapack$version}, {lapack$place} ({.path {lapack$path}}){if (!is.null(threads)) ', '}{
      if (!is.null(threads)) cli::pluralize('{threads} thread{?s}')}",
    if (!lapack$single_precision) {
      c("*" = "f32 and c64 are computed in double precision: this LAPACK has no single precision, or is not to use it")
    },
    if (is.null(threads)) {
      c(i = "This looks like the reference LAPACK. OpenBLAS is many times faster: {.run install_pjrt()} brings it, in a
        Python of your own {.code pip install scipy-openblas32}.")
    }
  ))
  for (i in seq_len(nrow(lapack$refused))) {
    refused <- lapack$refused[i, ]
    cli::cli_bullets(c("*" = "not taken: {refused$place} ({.path {refused$path}}): it {refused$why}"))
  }
}
