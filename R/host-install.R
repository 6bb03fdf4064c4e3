# What the CPU plugin is tested with, and a fast LAPACK.
# (OpenBLAS 0.3.34 for Windows ends the process on AMD's Zen 4 and 5: issue 6013 of OpenBLAS.)
openblas_package <- paste0("scipy-openblas32==", if (.Platform$OS.type == "windows") "0.3.33.0.0" else "0.3.34.0.0")
python_packages <- c("jaxlib==0.10.2", "numpy", "ml_dtypes", openblas_package)

#' Install what the plugins need
#'
#' Makes a Python virtual environment with jaxlib for the included CPU plugin and OpenBLAS for its linear algebra, or
#' downloads the
#' plugins named by `PJRT_PLUGIN_URL_CPU` and `PJRT_PLUGIN_URL_CUDA`. What is there already is left
#' alone; an environment from before OpenBLAS was part of it gets that. (In a Python of your own,
#' `pip install scipy-openblas32` brings it.)
#'
#' @details
#' The environment lies in `tools::R_user_dir("xlaffi", "cache")`; deleting that folder undoes the
#' installation. It is made with `python3` from the `PATH`, or with the Python that `XLAFFI_PYTHON`
#' names. Calling this function means consent, except that an interactive session asks first when
#' a download starts. Elsewhere, when a plugin is needed and missing, the variable `PJRT_INSTALL`
#' decides: `"1"` installs without a question, `"0"` never; unset, an interactive session asks and
#' a script stops with an error.
#'
#' An archive is checked against `PJRT_PLUGIN_SHA256_CPU`, or a `#sha256=` at the end of its
#' address, if there is one.
#'
#' @param cuda Whether to install the CUDA plugin too, from `PJRT_PLUGIN_URL_CUDA`. `NULL` means
#'   only if that variable is set.
#' @return The platforms that are ready, invisibly.
#' @examplesIf interactive()
#' install_pjrt()
#' @export
install_pjrt <- function(cuda = NULL) {
  if (!is.null(cuda)) {
    check_flag(cuda, "cuda")
  }
  with_cuda <- if (is.null(cuda)) nzchar(platform_variable("URL", "cuda")) else cuda
  platforms <- c("cpu", if (with_cuda) "cuda")
  for (platform in platforms) {
    if (plugins_downloaded(platform)) {
      if (platform == "cpu") {
        add_openblas(ask = interactive())
      }
      cli::cli_inform(c(v = "Platform {.val {platform}} is ready."))
      next
    }
    install_platform(platform, ask = interactive())
    cli::cli_inform(c(v = "Installed what platform {.val {platform}} needs."))
  }
  invisible(platforms)
}

install_platform <- function(platform, ask, call = rlang::caller_env()) {
  if (!ask) {
    # The call itself is the consent.
    old <- Sys.getenv("PJRT_INSTALL", NA)
    Sys.setenv(PJRT_INSTALL = "1")
    on.exit(if (is.na(old)) Sys.unsetenv("PJRT_INSTALL") else Sys.setenv(PJRT_INSTALL = old))
  }
  plugin_path(platform, call)
}

# Returns if installing is agreed to, else raises `problem` and what to do about it.
agree_to_install <- function(problem, offer, call = rlang::caller_env()) {
  variable <- Sys.getenv("PJRT_INSTALL")
  if (variable == "1") {
    return(invisible())
  }
  refuse <- function(why) {
    abort(problem,
      code = "FAILED_PRECONDITION", call = call,
      hint = c(why, "`install_pjrt()` installs what is missing, `xlaffi_sitrep()` shows what was found.")
    )
  }
  if (variable == "0") {
    refuse("PJRT_INSTALL is \"0\": nothing is installed when it is needed.")
  }
  if (!interactive()) {
    refuse("PJRT_INSTALL is not \"1\": a script installs nothing unasked.")
  }
  cli::cli_inform(c("{problem}", i = "{offer}"))
  if (!isTRUE(utils::askYesNo("Install it now?"))) {
    refuse("Installing it was declined.")
  }
  invisible()
}

python_home <- function() cache_dir("venv")

# Whether a Python with jaxlib is at hand. Asking takes a process; a yes is remembered.
python_usable <- function() {
  if (!isTRUE(host_state$python_usable)) {
    host_state$python_usable <- is.null(python_report()$message)
  }
  host_state$python_usable
}

python_report <- function(call = rlang::caller_env()) finish(check(.Call(wrap__python_look)), call)

install_python <- function(call = rlang::caller_env()) {
  base <- Sys.getenv("XLAFFI_PYTHON", Sys.which("python3"))
  if (!nzchar(base)) {
    abort("there is no python3 on the PATH",
      code = "NOT_FOUND", call = call,
      hint = "Install Python 3.11 or newer with its shared library, e.g. `apt install python3-venv libpython3-dev`."
    )
  }
  home <- python_home()
  dir.create(dirname(home), recursive = TRUE, showWarnings = FALSE)
  cli::cli_progress_step("Making a virtual environment in {.path {home}}")
  run(base, c("-m", "venv", "--clear", home), call,
    hint = "On Debian and Ubuntu `apt install python3-venv` brings what venv needs."
  )
  python <- environment_python()
  cli::cli_progress_step("Installing {.pkg {python_packages}} (about 100 MB)")
  pip_install(python, python_packages, call)
  cli::cli_progress_done()
  if (nzchar(Sys.getenv("XLAFFI_PYTHON"))) {
    # The variable names a Python without jaxlib; from now on the environment counts.
    Sys.setenv(XLAFFI_PYTHON = python)
  }
  problem <- python_report()$message
  if (!is.null(problem)) {
    abort(problem, code = "FAILED_PRECONDITION", call = call)
  }
  invisible(python)
}

environment_python <- function() {
  file.path(python_home(), if (.Platform$OS.type == "windows") "Scripts/python.exe" else "bin/python")
}

pip_install <- function(python, packages, call) {
  run(python, c("-m", "pip", "install", "--quiet", "--disable-pip-version-check", packages), call)
}

# For the package's own environment, where it has none; a Python of the user's is left alone.
add_openblas <- function(ask, call = rlang::caller_env()) {
  folders <- file.path(python_home(), c("lib/python*/site-packages", "Lib/site-packages"), "scipy_openblas32")
  if (!file.exists(environment_python()) || length(Sys.glob(folders))) {
    return(invisible())
  }
  if (ask) {
    agree_to_install(
      "the environment for the CPU plugin has no OpenBLAS",
      sprintf("It makes linear algebra many times faster and can be installed in %s (30 MB).", python_home()), call
    )
  }
  cli::cli_progress_step("Installing {.pkg {openblas_package}} (9 MB)")
  pip_install(environment_python(), openblas_package, call)
}

# What R puts before the folders in which programs look for their libraries, of which it leaves the rest. With it a
# Python of pyenv's or conda's gets the system's libpython of the same name, and then has no SSL to download by.
without_r_libraries <- function() {
  own <- file.path(R.home("etc"), "ldpaths")
  if (!file.exists(own)) {
    return(character())
  }
  code <- "unset LD_LIBRARY_PATH; . \"$0\"; echo \"$LD_LIBRARY_PATH\""
  printed <- system2("/bin/sh", shQuote(c("-c", code, own)), stdout = TRUE)
  folders <- function(path) strsplit(path, ":", fixed = TRUE)[[1L]]
  rest <- setdiff(folders(Sys.getenv("LD_LIBRARY_PATH")), folders(printed))
  paste0("LD_LIBRARY_PATH=", shQuote(paste(rest, collapse = ":")))
}

# Runs a program; if it fails, the end of what it wrote is the error.
run <- function(program, arguments, call, hint = NULL) {
  output <- suppressWarnings(
    system2(program, shQuote(arguments), stdout = TRUE, stderr = TRUE, env = without_r_libraries())
  )
  status <- attr(output, "status")
  if (!is.null(status)) {
    shown <- utils::tail(output, 5L)
    abort(
      sprintf("`%s` failed with status %d: %s", paste(c(program, arguments), collapse = " "), status,
        paste(shown, collapse = "\n")),
      code = "FAILED_PRECONDITION", call = call, hint = hint
    )
  }
  invisible(output)
}
