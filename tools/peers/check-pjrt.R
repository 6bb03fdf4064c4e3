# The second half of check-pjrt.sh. Its last line is "<passed> passed, <failed> failed,
# <skipped> skipped, <internal> internal", in test_that() blocks; internal are those that, run on our
# functions, call what pjrt does not export.
args <- commandArgs(trailingOnly = TRUE)
mode <- match.arg(args[[1]], c("plugin", "functions"))
checkout <- args[[2]]
filter <- if (nzchar(args[[3]])) args[[3]]
package <- if (mode == "plugin") "pjrt" else "xlaffi"

Sys.setenv(NOT_CRAN = "true")
suppressPackageStartupMessages({
  library(testthat)
  library(checkmate)
  library(package, character.only = TRUE)
})

folder <- tempfile("pjrt")
dir.create(folder)
file.copy(list.files(file.path(checkout, "tests", "testthat"), full.names = TRUE), folder, recursive = TRUE)

# The classes of pjrt and ours, where tests name them as strings.
classes <- c(
  PJRTBuffer = "xlaffi_buffer", PJRTClient = "xlaffi_client", PJRTDevice = "xlaffi_device",
  PJRTProgram = "xlaffi_program", PJRTPlugin = "xlaffi_plugin",
  PJRTLoadedExecutable = "xlaffi_executable", PJRTElementType = "xlaffi_dtype",
  PJRTArrayPromise = "xlaffi_array_promise", PJRTExecuteOptions = "xlaffi_execution_options",
  RTree = "tree", Dispatcher = "xlaffi_dispatcher", FlattenedFunction = "xlaffi_flattened_function"
)
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
impl_dispatcher_create <- function(capacity, compile, static, engine, backend, move_inputs, ...) {
  if (!engine %in% c("pjrt", "closure")) stop("engine must be \\"pjrt\\" or \\"closure\\"")
  dispatcher(capacity, compile, as.character(static), backend, move_inputs, ...)
}
impl_dispatch_run <- function(dispatcher, args) dispatch(dispatcher, args)
impl_dispatcher_size <- function(dispatcher) dispatcher_size(dispatcher)
'

if (mode == "functions") {
  unlink(file.path(folder, "test-cpp.R"))
  for (file in list.files(folder, "[.]R$", full.names = TRUE)) {
    writeLines(to_ours(paste(readLines(file), collapse = "\n")), file)
  }
  writeLines(stand_ins, file.path(folder, "helper-aaa.R"))
}

results <- test_dir(
  folder,
  filter = filter, package = package, load_package = "installed",
  reporter = CheckReporter$new(), stop_on_failure = FALSE
)
internal <- "could not find function \"(impl_|get_[a-z_]*handler|pjrt_memory|test_get|session_dump_dir|pjrt_unregister)"
blocks <- do.call(rbind, lapply(results, function(block) {
  bad <- Filter(function(r) inherits(r, c("expectation_failure", "expectation_error")), block$results)
  skipped <- Filter(function(r) inherits(r, "expectation_skip"), block$results)
  data.frame(
    test = paste0(block$file, ": ", block$test),
    failed = length(bad) > 0,
    internal = length(bad) > 0 && grepl(internal, conditionMessage(bad[[1]])),
    skipped = length(skipped) > 0 && !length(bad)
  )
}))
failed <- blocks$failed & !blocks$internal
cat("\nFailed:\n", paste0("  ", blocks$test[failed], "\n"), sep = "")
cat("Internal:\n", paste0("  ", blocks$test[blocks$internal], "\n"), sep = "")
cat(sprintf(
  "%d passed, %d failed, %d skipped, %d internal\n",
  sum(!blocks$failed & !blocks$skipped), sum(failed), sum(blocks$skipped), sum(blocks$internal)
))
