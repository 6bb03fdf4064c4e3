# The second half of check-pjrt.sh.
args <- commandArgs(trailingOnly = TRUE)
source(file.path(Sys.getenv("XLAFFI_TOOLS"), "suite.R"))
mode <- match.arg(args[[1]], c("plugin", "functions"))
checkout <- args[[2]]
filter <- if (nzchar(args[[3]])) args[[3]]
package <- if (mode == "plugin") "pjrt" else "xlaffi"
folder <- copy_of(file.path(checkout, "tests", "testthat"))
to_ours <- function(text) {
  programs <- file.path(checkout, "inst", "programs", "")
  text <- gsub(
    "system\\.file\\(\\s*\"programs/([^\"]*)\",\\s*package = \"pjrt\"\\s*\\)",
    sprintf("\"%s\\1\"", programs), text,
    perl = TRUE
  )
  for (class in names(classes)) {
    # Texts that are printed keep pjrt's names with us: only classes are asked for with these.
    text <- gsub(
      sprintf("((inherits|class|types)[^\n]*)\"%s\"", class), sprintf("\\1\"%s\"", classes[[class]]), text,
      perl = TRUE
    )
  }
  text <- gsub("\"RTree\"", "\"tree\"", text)
  text <- gsub("\"Dispatcher\"", "\"xlaffi_dispatcher\"", text)
  text <- gsub("pjrt::", "xlaffi::", text, fixed = TRUE)
  text <- gsub("library(pjrt)", "library(xlaffi)", text, fixed = TRUE)
  gsub("skip_if_not_installed(\"pjrt\")", "", text, fixed = TRUE)
}

# What tests take from pjrt's namespace, in our words.
stand_ins <- '
`%||%` <- rlang::`%||%`
cli_abort <- cli::cli_abort
is_elt_type <- function(x) inherits(x, "xlaffi_dtype")
impl_client_buffer_from_raw <- function(client, device, data, dims, dtype) {
  pjrt_buffer(data, dtype, device, dims, row_major = TRUE)
}
get_print_handler <- function() ffi_handler("print_tensor", "host")
describe <- testthat::describe
loadNamespace("tengen")
# Their set-up empties what their package has kept of clients, plugins and custom calls.
the <- new.env()
impl_dispatcher_create <- function(capacity, compile, static, engine, backend, move_inputs, ...) {
  if (!engine %in% c("pjrt", "closure")) stop("engine must be \\"pjrt\\" or \\"closure\\"")
  dispatcher(capacity, compile, as.character(static), backend, move_inputs, ...)
}
impl_dispatch_run <- function(dispatcher, args) dispatch(dispatcher, args)
impl_dispatcher_size <- function(dispatcher) dispatcher_size(dispatcher)
'

if (mode == "functions") {
  unlink(file.path(folder, "test-cpp.R"))
  rewrite(list.files(folder, "[.]R$", full.names = TRUE), to_ours)
  writeLines(stand_ins, file.path(folder, "helper-aaa.R"))
}

run_suite(
  package, folder, filter,
  internal = paste0(
    "could not find function \"(impl_|get_[a-z_]*handler|pjrt_memory|test_get|session_dump_dir|",
    "pjrt_unregister)"
  )
)
