#' xlaffi: XLA custom calls from R
#'
#' Functions in R's own words become programs that XLA compiles, with exact derivatives and batches, for CPUs and GPUs,
#' on one device or many; what XLA has no word for goes in as ops of your own, in C, C++, Fortran, Rust or R. Programs
#' that others wrote, JAX among them, run as they are. Function names, arguments and defaults of the host (`pjrt_*()`)
#' are those of the package pjrt.
#'
#' [xla_jit()] is the way in, [install_pjrt()] what to call first, [xlaffi_sitrep()] what to call when something is
#' missing. What follows are all functions by purpose, then options, environment variables and errors.
#'
#' @section Articles:
#' * `vignette("models")`: five models, their likelihoods compiled, gradients exact; `vignette("linear-algebra")`:
#'   factorisations, batches and derivatives; `vignette("kepler")`: an op, its derivatives, and two planets;
#'   `vignette("devices")`: several devices, several processes.
#' * `vignette("own-ops")`: from five lines to derivatives; `vignette("own-ops-tools")`: existing code, states,
#'   debugging, packages; `vignette("ffi-call")`: for those who know `jax.ffi`; `vignette("custom-calls")`: XLA's own
#'   C++ interface;
#'   `vignette("cuda")`: programs and ops on a GPU; `vignette("anvl")`: functions to and from anvl.
#' * `vignette("performance")`: what was measured; `vignette("architecture")`: how the package is built.
#' * On the site (`make site` in the sources, whose folder `vignettes/articles` has them): where to begin, installation
#'   by system, coming from RTMB, Stan, torch, JAX or Rcpp, differences from R, tracing, an index of errors, JAX models.
#'
#' @eval local({ source("tools/site/map.R", local = TRUE); map_sections() })
#'
#' @section Options:
#' * `xlaffi.pjrt`: what the package pjrt gets when it is loaded in the same session. `"add"` (the
#'   default): the targets that it lacks. `"replace"`: all of our targets, also in place of its
#'   own, for a session in which its plugin is not loaded yet. `"none"`: nothing.
#' * `pjrt.print_max_rows`, `pjrt.print_max_width`, `pjrt.print_max_rows_slice`: how much of a
#'   buffer is printed.
#' * `xlaffi.code_cache`, `xlaffi.code_cache_size`: where compiled ops are kept and how many bytes of them, see
#'   [xla_cache()].
#' * `xlaffi.program_cache`, `xlaffi.program_cache_size`: the same of compiled programs; `FALSE` keeps none on disk.
#' * `xlaffi.cache_size`: how many programs a session keeps (512), see [xla_cache()].
#' * `xlaffi.progress`: `FALSE` shows no bars while something is downloaded or sampled, and no message while XLA
#'   compiles.
#' * `xlaffi.compiler_warnings`: `FALSE` shows no warnings of compilers, see [ffi_source()].
#' * `xlaffi.pypi`: the index of Python packages from which [install_pjrt()] takes a plugin.
#' * `xlaffi.callback_wait`: for how many seconds (60) a program waits for R, see [ffi_callback()].
#' * `xlaffi.debug`: `TRUE`, or names of checks, has all calls of handlers checked, see [ffi_debug()].
#'
#' @section Environment variables:
#' * `PJRT_PLATFORM`: the platform that is used where none is given; `"cpu"` if unset or empty.
#' * `PJRT_PLUGIN_PATH_CPU`, `PJRT_PLUGIN_PATH_CUDA`, ...: the plugin of a platform, a shared
#'   library. It comes before everything else that is found.
#' * `PJRT_PLUGIN_URL_CPU`, ...: an archive (tar or zip) with a plugin that [install_pjrt()]
#'   downloads; `PJRT_PLUGIN_SHA256_CPU`, ...: its checksum.
#' * `PJRT_CPU_DEVICE_COUNT`: how many devices a new CPU client has; 1 if unset.
#' * `PJRT_INSTALL`: `"1"` lets a missing plugin be installed without a question, `"0"` forbids it.
#' * `XLAFFI_CODE_CACHE`: the folder of compiled ops where the option `xlaffi.code_cache` is not set.
#' * `XLAFFI_PROGRAM_CACHE`: that of compiled programs, or `off` (`0`, `no`, `false`).
#' * `XLAFFI_DEBUG`: `true` is the option `xlaffi.debug = TRUE`, where that is not set.
#' * `XLAFFI_PYTHON`: the Python executable whose jaxlib the included CPU plugin uses.
#' * `XLAFFI_LAPACK`: the LAPACK to use, a shared library or the name of a place; `XLAFFI_F32_LAPACK`: `0` computes
#'   single precision in double precision. See [xlaffi_sitrep()].
#' * `XLAFFI_KERNELS`: `0` leaves to LAPACK what kernels of the package compute on the CPU, see [xlaffi_sitrep()].
#' * `XLAFFI_CUDA_PATH`: a folder with NVIDIA's libraries, looked into before the system's.
#' * `XLAFFI_CUDA_KERNELS`: `ptx` has the driver compile this package's kernels, not NVRTC.
#' * `XLAFFI_KEEP_MEMORY`: how many megabytes that programs on the CPU have freed are kept for the next ones, read
#'   once a session; `0`, or what is no number, for none. If unset, an eighth of the memory of the machine, or of what
#'   the process or its container may have. What nobody takes for two seconds goes back to the system. On Linux.
#' * `XLA_FLAGS`: XLA's own, read once a session, see [inspect_hlo()].
#'
#' @section Errors:
#' Every error of this package has the classes `xlaffi_error` and `xlaffi_error_<code>`, with one of XLA's codes in
#' lower case: `xlaffi_error_invalid_argument`, `xlaffi_error_unavailable`, ... Its fields are `code`, the code as XLA
#' writes it, `op`, the op or custom call concerned, and `operand`, the argument; `NULL` where there is none.
#'
#' @examplesIf plugins_downloaded()
#' # A function of R, compiled; its gradient; and what a wrong call says
#' distance <- function(x, y) sqrt(sum((x - y)^2))
#' xla_jit(distance)(c(3, 4), 0)
#' xla_grad(distance)(c(3, 4), 0)
#' try(xla_jit(distance)(c(3, 4), c(1, 2, 3)))
#' @useDynLib xlaffi, .registration = TRUE
"_PACKAGE"
