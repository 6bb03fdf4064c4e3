#' Situation report
#'
#' What was found: versions, plugins, Python and jaxlib, LAPACK, and the environment variables that
#' are set; and for what is missing or does not work, the command that mends it. A plugin that is a file is loaded
#' to see whether it can be, and so are NVIDIA's libraries; the folder in the variable `XLAFFI_CUDA_PATH` comes before
#' the system's. No client is made: what was wrong when one was last asked for is shown.
#'
#' @section LAPACK:
#' On the CPU, kernels of the package compute real and complex matrices up to a number of rows and columns: lu, the
#' Cholesky decomposition, QR (without pivoting), its `Q`, `eigh` and `svd` up to 2048, triangular systems up to
#' 64 (complex ones: 32). Their threads are XLA's only, whose number
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
    programs = program_cache_facts(),
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

# The `state` of a plugin, "loaded", "found", "unusable" or "missing"; where it is, how many devices its client has, and
# the `problem` that there is with it.
plugin_state <- function(platform) {
  path <- plugin_found(platform)
  if (is.null(host_state$plugins[[platform]])) {
    if (is.null(path)) {
      return(list(state = "missing"))
    }
    if (!nzchar(path)) {
      return(list(
        state = "found", path = "inside this package", runtime = runtime_of(""),
        problem = host_state$client_problems[[platform]]
      ))
    }
    problem <- tryCatch(
      {
        pjrt_plugin(platform)
        NULL
      },
      xlaffi_error = problem_line
    )
    if (!is.null(problem)) {
      return(list(state = "unusable", path = path, problem = problem))
    }
  }
  info <- check(.Call(wrap__plugin_info, host_state$plugins[[platform]]))
  client <- host_state$clients[[platform]]
  list(
    state = "loaded", path = info$path, api = paste(info$version, collapse = "."),
    runtime = if (platform == "cpu") runtime_of(if (info$included) "" else info$path),
    devices = if (!is.null(client)) length(devices(client)), problem = host_state$client_problems[[platform]]
  )
}

# Whose XLA the plugin for the CPU is; "" is the one inside this package.
runtime_of <- function(path) {
  if (!nzchar(path)) {
    return("jaxlib")
  }
  wheel <- own_wheel()
  ours <- identical(normalizePath(dirname(path), mustWork = FALSE), normalizePath(cache_dir("cpu"), mustWork = FALSE))
  source <- if (ours) plugin_source("cpu")
  if (!is.null(wheel) && identical(source, wheel$wheel)) {
    wheel$origin
  } else if (identical(source, source_pjrt)) {
    "what the package pjrt downloaded"
  } else {
    "somebody else's build"
  }
}

problem_line <- function(error) strsplit(conditionMessage(error), "\n", fixed = TRUE)[[1L]][[1L]]

# The folder of compiled programs as it is now, and what is in it.
program_cache_facts <- function() {
  # A disk fills, and permissions change.
  cache_state$folders$program <- NULL
  state <- program_cache_state()
  if (is.null(state$problem)) {
    sizes <- entry_sizes(state$path)
    state$count <- nrow(sizes)
    state$bytes <- sum(sizes$bytes)
    state$limit <- size_limit(disk_cache("program"))
  }
  state
}

set_variables <- function() {
  names <- c(
    "PJRT_PLATFORM", "PJRT_CPU_DEVICE_COUNT", "PJRT_INSTALL", "PJRT_PLUGIN_PATH_CPU",
    "PJRT_PLUGIN_PATH_CUDA", "PJRT_PLUGIN_URL_CPU", "PJRT_PLUGIN_URL_CUDA", "XLAFFI_PYTHON",
    "VIRTUAL_ENV", "RETICULATE_PYTHON", "XLAFFI_COORDINATOR", "XLAFFI_NUM_PROCESSES", "XLAFFI_PROCESS_ID",
    "XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", "NPROC",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLAFFI_LAPACK", "XLAFFI_F32_LAPACK",
    "XLAFFI_KERNELS", "XLAFFI_CUDA_PATH", "XLAFFI_CUDA_KERNELS", "XLAFFI_KEEP_MEMORY"
  )
  values <- Sys.getenv(names, NA)
  values[!is.na(values)]
}
