# A shared library made from C source; the text of a plugin that is not one.
shared_library <- function(code, name = "library", envir = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = envir)
  source <- file.path(folder, paste0(name, ".c"))
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
