# What the CPU plugin is tested with, and a fast LAPACK.
# (OpenBLAS 0.3.34 for Windows ends the process on AMD's Zen 4 and 5: issue 6013 of OpenBLAS.)
openblas_package <- paste0("scipy-openblas32==", if (.Platform$OS.type == "windows") "0.3.33.0.0" else "0.3.34.0.0")
python_packages <- c("jaxlib==0.10.2", "numpy", "ml_dtypes", openblas_package)

#' Install what the plugins need
#'
#' Brings a CPU runtime, XLA itself: jaxlib in a Python virtual environment, or a PJRT plugin that needs no Python; and
#' the plugins named by `PJRT_PLUGIN_URL_CPU` and `PJRT_PLUGIN_URL_CUDA`. What is there already is left alone.
#'
#' @details
#' `"jaxlib"` is the first choice where a Python of 3.11 or newer with `venv` and its shared library is there: `python3`
#' on the `PATH`, or the one that `XLAFFI_PYTHON` names. It comes with OpenBLAS for linear algebra. (An environment
#' from before OpenBLAS was part of it gets that; in a Python of your own, `pip install scipy-openblas32` brings it.)
#'
#' `"plugin"` is taken on Linux where there is no such Python, on x86-64 and aarch64 with glibc 2.27 or newer: a
#' PJRT plugin of 200 MB from a wheel of the Python package index, of which R downloads some 60 MB and unpacks one file.
#' Version and SHA-256 are pinned. The index is the option `xlaffi.pypi`, the address of a simple API as pip has it in
#' `index-url`; without it the environment variable `PIP_INDEX_URL`, else `https://pypi.org/simple`. Linear algebra
#' uses the system's OpenBLAS or R's LAPACK (see [xlaffi_sitrep()]).
#'
#' `"pjrt"` copies the CPU plugin that the package pjrt has downloaded, and downloads nothing. It is offered where it is
#' there, and taken without being named where neither of the others can be had.
#'
#' What the second and the third cannot do, each of which is an error that says so, or is written here:
#'
#' | | `"jaxlib"` | `"plugin"` | `"pjrt"` |
#' |---|---|---|---|
#' | programs over several devices, several processes ([xla_mesh()], [pjrt_distributed()]) | yes | no | no |
#' | more than one call with `side_effect = "ordered"` in a program | yes | no | no |
#' | options `num_threads` and `collective_timeout` of [pjrt_client()] | yes | no | no |
#' | memory statistics of the CPU ([pjrt_memory_stats()]) | yes | no | no |
#' | R goes on while a program computes: [pjrt_execute()] returns before | yes | no, it waits | yes |
#' | an R function that a program calls starts another program | yes | yes | no |
#' | [refine_shapes()] | yes | with a Python that has jaxlib | as before |
#' | bytecode and HLO that call a name of which another host in the process has the handler | yes | no | no |
#'
#' All lie in `tools::R_user_dir("xlaffi", "cache")`, in `venv` and `cpu`; deleting a folder undoes the
#' installation. Where both are there, the plugin is used; `install_pjrt("jaxlib")` deletes it. Calling this function
#' means consent, except that an interactive session asks first when
#' a download starts that was not named. Elsewhere, when a plugin is needed and missing, the variable `PJRT_INSTALL`
#' decides: `"1"` installs without a question, `"0"` never; unset, an interactive session asks and
#' a script stops with an error.
#'
#' An interactive session sees of each download how much is there and how long it will take, unless
#' `options(xlaffi.progress = FALSE)`; a script writes one line before it.
#'
#' An archive is checked against `PJRT_PLUGIN_SHA256_CPU`, or a `#sha256=` at the end of its
#' address, if there is one.
#'
#' @param runtime What runs programs on the CPU: `"jaxlib"`, `"plugin"`, `"pjrt"`, or `NULL`: what is there already,
#'   else the first of them that this system can have.
#' @param cuda Whether to install the CUDA plugin too, from `PJRT_PLUGIN_URL_CUDA`. `NULL` means
#'   only if that variable is set.
#' @param file The plugin's wheel on this computer, for those without a network; the error of a failed download names
#'   it.
#' @return The platforms that are ready, invisibly.
#' @section Errors:
#' No network, or an index without the file: `xlaffi_error_unavailable`, `xlaffi_error_not_found`. Another digest than
#' the pinned one: `xlaffi_error_data_loss`; nothing is installed then. A full disk: `xlaffi_error_resource_exhausted`.
#' A system for which there is no plugin: `xlaffi_error_unimplemented`. `"pjrt"` where that package has downloaded none:
#' `xlaffi_error_not_found`.
#' @examplesIf interactive()
#' install_pjrt()
#' install_pjrt("plugin")
#' @export
install_pjrt <- function(runtime = NULL, cuda = NULL, file = NULL) {
  if (!is.null(cuda)) {
    check_flag(cuda, "cuda")
  }
  runtime <- chosen_runtime(runtime, file)
  with_cuda <- if (is.null(cuda)) nzchar(platform_variable("URL", "cuda")) else cuda
  platforms <- c("cpu", if (with_cuda) "cuda")
  for (platform in platforms) {
    if (platform == "cpu" && !is.null(runtime)) {
      install_runtime(runtime, file)
      next
    }
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

# The runtime that a call asks for by name; NULL where it does not.
chosen_runtime <- function(runtime, file, call = rlang::caller_env()) {
  if (!is.null(runtime) && (!is_string(runtime) || !runtime %in% c("jaxlib", "plugin", "pjrt"))) {
    abort(sprintf("`runtime` must be \"jaxlib\", \"plugin\", \"pjrt\" or NULL, not %s", describe(runtime)),
      operand = "runtime", call = call,
      hint = if (is.logical(runtime)) "The CUDA plugin is asked for by name, `install_pjrt(cuda = TRUE)`."
    )
  }
  if (is.null(file)) {
    return(runtime)
  }
  if (!is_string(file) || !file.exists(file)) {
    abort(sprintf("`file` must be the path of a wheel, not %s", describe(file)),
      operand = "file", call = call, hint = if (is_string(file)) sprintf("There is no file \"%s\".", file)
    )
  }
  if (!is.null(runtime) && runtime != "plugin") {
    abort(sprintf("`file` is the wheel of the runtime \"plugin\", which \"%s\" does not use", runtime),
      operand = "file", call = call
    )
  }
  "plugin"
}

# What was asked for by name, whatever else there is.
install_runtime <- function(runtime, file, call = rlang::caller_env()) {
  for (variable in c("PJRT_PLUGIN_PATH_CPU", "PJRT_PLUGIN_URL_CPU")) {
    if (nzchar(Sys.getenv(variable))) {
      abort(sprintf("the variable %s names another plugin for the CPU, which would be used", variable),
        code = "FAILED_PRECONDITION", call = call, hint = sprintf("`Sys.unsetenv(\"%s\")` before.", variable)
      )
    }
  }
  wheel <- own_wheel()
  place <- cache_dir("cpu")
  if (runtime == "plugin") {
    if (is.null(file) && identical(plugin_source("cpu"), wheel$wheel) && !is.null(downloaded_plugin("cpu"))) {
      cli::cli_inform(c(v = "The plugin is there already: {.path {place}}."))
    } else {
      install_wheel(file, call)
      cli::cli_inform(c(v = "Installed the CPU plugin in {.path {place}}."))
    }
  } else if (runtime == "pjrt") {
    install_pjrt_download(call)
    cli::cli_inform(c(v = "Copied the CPU plugin of the package pjrt into {.path {place}}."))
  } else {
    if (!python_usable()) {
      install_python(call)
    } else {
      add_openblas(ask = FALSE)
    }
    if (!is.null(plugin_source("cpu"))) {
      unlink(place, recursive = TRUE)
      cli::cli_inform(c(i = "Deleted the plugin in {.path {place}}."))
    }
    cli::cli_inform(c(v = "The CPU plugin uses jaxlib."))
  }
  loaded <- host_state$plugins[["cpu"]]
  if (!is.null(loaded) && is_included(loaded) != (runtime == "jaxlib")) {
    cli::cli_inform(c(i = "This session has loaded the other one: it counts from the next session on."))
  }
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
      hint = c(why, "`install_pjrt()` installs what is missing, `xlaffi_sitrep()` shows what was found.", offer[-1L])
    )
  }
  if (variable == "0") {
    refuse("PJRT_INSTALL is \"0\": nothing is installed when it is needed.")
  }
  if (!interactive()) {
    refuse("PJRT_INSTALL is not \"1\": a script installs nothing unasked.")
  }
  offers <- sprintf("{offer[[%d]]}", seq_along(offer))
  cli::cli_inform(c("{problem}", stats::setNames(offers, rep("i", length(offers)))))
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

base_python <- function() Sys.getenv("XLAFFI_PYTHON", Sys.which("python3"))

# Whether an environment for jaxlib can be made with it: its version, `venv`, and the library that the plugin loads.
python_fits <- function(python = base_python()) {
  code <- paste(
    "import sys, venv, ensurepip, sysconfig, ctypes, os", "assert sys.version_info >= (3, 11)",
    "name = sysconfig.get_config_var('INSTSONAME') or ''", "place = sysconfig.get_config_var('LIBDIR') or ''",
    "path = os.path.join(place, name)", "ctypes.CDLL(path if os.path.exists(path) else name)", sep = "; "
  )
  nzchar(python) && identical(suppressWarnings(
    system2(python, c("-c", shQuote(code)), stdout = FALSE, stderr = FALSE, env = without_r_libraries())
  ), 0L)
}

# What the CPU gets where nothing is there.
offered_runtime <- function() {
  if (python_fits()) {
    "jaxlib"
  } else if (is.null(wheel_problem())) {
    "plugin"
  } else if (!is.null(plugin_of_pjrt())) {
    "pjrt"
  } else {
    "jaxlib"
  }
}

# What that is, for the question whether it may be installed.
runtime_offer <- function(runtime) {
  c(
    switch(runtime,
      plugin = sprintf(
        "A CPU plugin without Python can be installed in %s (200 MB, downloaded as 60 MB).", cache_dir("cpu")
      ),
      pjrt = sprintf("The CPU plugin that the package pjrt has downloaded can be copied into %s.", cache_dir("cpu")),
      sprintf("A virtual environment with jaxlib can be made in %s (600 MB).", python_home())
    ),
    if (runtime != "pjrt" && !is.null(plugin_of_pjrt())) {
      "The package pjrt has downloaded a CPU plugin: `install_pjrt(\"pjrt\")` takes that, without a download."
    }
  )
}

install_python <- function(call = rlang::caller_env()) {
  base <- base_python()
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
  if (!shows_progress()) {
    return(run(python, c("-m", "pip", "install", "--quiet", "--disable-pip-version-check", packages), call))
  }
  arguments <- c("install", "--progress-bar", "off", "--disable-pip-version-check", packages)
  check_run(run_pip(python, arguments), c(python, "-m", "pip", arguments), call)
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

# Runs a program.
run <- function(program, arguments, call, hint = NULL) {
  output <- suppressWarnings(
    system2(program, shQuote(arguments), stdout = TRUE, stderr = TRUE, env = without_r_libraries())
  )
  check_run(output, c(program, arguments), call, hint)
}

# If a program failed, the end of what it wrote is the error.
check_run <- function(output, command, call, hint = NULL) {
  status <- attr(output, "status")
  if (!is.null(status)) {
    shown <- utils::tail(output, 5L)
    abort(
      sprintf("`%s` failed with status %d: %s", paste(command, collapse = " "), status, paste(shown, collapse = "\n")),
      code = "FAILED_PRECONDITION", call = call, hint = hint
    )
  }
  invisible(output)
}
