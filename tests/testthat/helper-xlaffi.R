# Tests that need XLA are skipped only where there is no plugin, and then say so.
skip_without_plugin <- function() {
  skip_if_not(plugins_downloaded("cpu"), "no CPU plugin (no Python with jaxlib)")
}

# The path of the Python with jaxlib, for its headers and for subprocesses.
plugin_python <- function() {
  chosen <- xlaffi:::python_report()$chosen
  sub("^.*\\((.*)\\): jaxlib .*$", "\\1", chosen)
}

# That of Debian 12 does not know Python 3.12.
skip_without_reticulate <- function() {
  skip_if_not_installed("reticulate")
  python <- Sys.getenv("XLAFFI_PYTHON", plugin_python())
  config <- system.file("config", "config.py", package = "reticulate")
  skip_if(
    system2(python, c(config, ">", "/dev/null"), stderr = FALSE) != 0L && system2(python, c("-c", "0")) == 0L,
    "this reticulate does not know so new a Python"
  )
}

compile <- function(src, ...) pjrt_compile(pjrt_program(src), ...)

# A program on arguments of type `type` with the body `body`, which returns `%r`.
program <- function(body, arguments, result) {
  names <- sprintf("%%%s: tensor<%s>", names(arguments), arguments)
  compile(sprintf(
    "func.func @main(%s) -> tensor<%s> {\n%s\nreturn %%r : tensor<%s>\n}",
    paste(names, collapse = ", "), result, body, result
  ))
}

# A custom call with attributes in MLIR's syntax. Layouts as they are by default.
custom_call <- function(target, arguments, result, attributes = "") {
  values <- paste0("%", names(arguments), collapse = ", ")
  types <- paste0("tensor<", arguments, ">", collapse = ", ")
  program(
    sprintf(
      "%%r = stablehlo.custom_call @%s(%s) {api_version = 4 : i32, backend_config = {%s}} : (%s) -> tensor<%s>",
      target, values, attributes, types, result
    ),
    arguments, result
  )
}

# The condition that an expression raises; a test of its own fields.
error_of <- function(expression) {
  rlang::catch_cnd(expression, "xlaffi_error")
}

# Runs R code in a process of its own and returns what it wrote and its exit status.
run_r <- function(code, env = character(), timeout = 120) {
  file <- withr::local_tempfile(fileext = ".R")
  libraries <- paste(deparse(.libPaths()), collapse = "")
  writeLines(c(sprintf(".libPaths(%s)", libraries), "library(xlaffi)", code), file)
  python <- Sys.getenv("XLAFFI_PYTHON", plugin_python())
  output <- withr::with_envvar(
    c(XLAFFI_PYTHON = python, env),
    suppressWarnings(system2(
      file.path(R.home("bin"), "Rscript"), shQuote(file),
      stdout = TRUE, stderr = TRUE, timeout = timeout
    ))
  )
  status <- attr(output, "status")
  list(output = as.vector(output), status = if (is.null(status)) 0L else status)
}

# Lets the test make values of programs where none is being written, which is an error elsewhere.
values_anywhere <- function(env = parent.frame()) {
  namespace <- asNamespace("xlaffi")
  before <- namespace$refuse_outside
  put <- function(f) {
    unlockBinding("refuse_outside", namespace)
    assign("refuse_outside", f, namespace)
    lockBinding("refuse_outside", namespace)
  }
  put(function() NULL)
  withr::defer(put(before), env)
}

# Forgets the programs of the session, and says how many there were. What is on disk stays, which other files need.
forget_session <- function() withr::with_options(list(xlaffi.program_cache = FALSE), xla_cache_clear("programs"))
