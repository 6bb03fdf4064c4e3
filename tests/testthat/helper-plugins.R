# R CMD SHLIB needs them; machines that only run programs have none.
skip_without_build_tools <- function() skip_if_not(nzchar(Sys.which("make")), "no compiler")

# A shared library made from C source (or C++, "cc"); the text of a plugin that is not one.
shared_library <- function(code, name = "library", envir = parent.frame(), language = "c") {
  skip_without_build_tools()
  folder <- withr::local_tempdir(.local_envir = envir)
  source <- file.path(folder, paste0(name, ".", language))
  writeLines(code, source)
  output <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"), c("CMD", "SHLIB", shQuote(source)),
    stdout = TRUE, stderr = TRUE
  ))
  file <- file.path(folder, paste0(name, .Platform$dynlib.ext))
  if (!file.exists(file)) {
    stop("does not compile:\n", paste(output, collapse = "\n"))
  }
  file
}

# Opens a plugin file under a platform of its own and returns the error.
open_error <- function(path) {
  withr::local_envvar(PJRT_PLUGIN_PATH_TEST = path)
  error_of(pjrt_plugin("test"))
}

# A PJRT function table that has a version and nothing else.
plugin_code <- function(major, minor) {
  sprintf('
#include <stddef.h>
typedef struct { size_t struct_size; void *extension; int major, minor; } Version;
static struct {
  size_t struct_size; void *extension;
  struct { size_t struct_size; void *extension; int major, minor; } version;
  void *functions[200];
} table = {sizeof table, NULL, {24, NULL, %d, %d}, {NULL}};
void *GetPjrtApi(void) { return &table; }
', major, minor)
}

# A plugin whose functions throw, from the one at `first` (counted from 0, behind the version) on; those before are not
# there. Where `entry`, its entry point throws.
throwing_plugin <- function(first = 3, entry = FALSE, envir = parent.frame()) {
  code <- sprintf('
#include <cstddef>
#include <stdexcept>
struct Version { size_t struct_size; void *extension; int major, minor; };
static void *thrower(void *) { throw std::runtime_error("no such luck"); }
static struct {
  size_t struct_size; void *extension; Version version; void *(*functions[200])(void *);
} table = {sizeof table, NULL, {24, NULL, 0, 100}, {NULL}};
extern "C" void *GetPjrtApi() {
  if (%s) throw 7;
  for (int i = %d; i < 200; i++) table.functions[i] = thrower;
  return &table;
}
', tolower(entry), first)
  shared_library(code, "throwing", envir, "cc")
}

# No Python with jaxlib anywhere.
local_no_python <- function(envir = parent.frame()) {
  withr::local_envvar(
    R_USER_CACHE_DIR = withr::local_tempdir(.local_envir = envir), XLAFFI_PYTHON = NA,
    VIRTUAL_ENV = NA, RETICULATE_PYTHON = NA, PJRT_PLUGIN_PATH_CPU = NA, PJRT_PLUGIN_URL_CPU = NA,
    PJRT_INSTALL = NA, PATH = withr::local_tempdir(.local_envir = envir), .local_envir = envir
  )
  host_state <- xlaffi:::host_state
  usable <- host_state$python_usable
  plugin <- host_state$plugins$cpu
  host_state$python_usable <- NULL
  if (!is.null(plugin)) {
    rm("cpu", envir = host_state$plugins)
    withr::defer(assign("cpu", plugin, envir = host_state$plugins), envir = envir)
  }
  withr::defer(host_state$python_usable <- usable, envir = envir)
}

# Puts a function in place of the package's.
local_binding <- function(name, value, envir = parent.frame()) {
  before <- get(name, asNamespace("xlaffi"))
  assignInNamespace(name, value, "xlaffi")
  withr::defer(assignInNamespace(name, before, "xlaffi"), envir)
}

# A small wheel with a plugin, in an index that is a folder; its digest is put in place of the pinned one.
local_wheel <- function(envir = parent.frame()) {
  zip <- Sys.which("zip")
  skip_if(!nzchar(zip), "no zip")
  library <- shared_library(plugin_code(0, 40), "pjrt_some", envir)
  local_no_python(envir)
  root <- withr::local_tempdir(.local_envir = envir)
  wheel <- list(
    project = "some-plugin", wheel = "some_plugin-1.0-py3-none-any.whl", file = "some_plugin/pjrt_some.so",
    origin = "somebody's build"
  )
  dir.create(file.path(root, "some_plugin"))
  file.copy(library, file.path(root, wheel$file))
  writeLines("import no", file.path(root, "some_plugin", "__init__.py"))
  page <- file.path(root, "simple", wheel$project)
  dir.create(page, recursive = TRUE)
  file <- file.path(page, wheel$wheel)
  withr::with_dir(root, utils::zip(paste0(file, ".zip"), "some_plugin", flags = "-qr", zip = zip))
  file.rename(paste0(file, ".zip"), file)
  wheel <- c(wheel, sha256 = cli::hash_file_sha256(file), bytes = file.size(file), unpacked = file.size(library))
  writeLines(
    c("<a href=\"other-1.0.whl#sha256=00\">", sprintf("<a href=\"./%s#sha256=%s\">x</a>", wheel$wheel, wheel$sha256)),
    file.path(page, "index.html")
  )
  withr::local_options(xlaffi.pypi = paste0("file://", root, "/simple/"), .local_envir = envir)
  local_binding("own_wheel", function() wheel, envir)
  local_binding("glibc_version", function() "2.36", envir)
  c(wheel, path = file, library = library)
}

# Tests of what the plugin inside this package can do and another one of XLA's for the CPU cannot (see
# docs/decisions/73-runtime-without-python.md) are skipped there, with the reason.
skip_unless_included <- function(what) {
  skip_without_plugin()
  skip_if_not(is_included_plugin(), paste("this CPU plugin has no", what))
}

is_included_plugin <- function() xlaffi:::is_included(pjrt_plugin("cpu"))
