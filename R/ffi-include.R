#' XLA's headers
#'
#' Where the header files are with which handlers for custom calls are written in C++
#' (`xla/ffi/api/ffi.h`) or C (`xla/ffi/api/c_api.h`). Every jaxlib brings them along.
#'
#' @return The folder for the compiler's option `-I`, one string; with `-isystem` compilers do not tell what they find
#'   in the headers themselves.
#' @seealso `vignette("custom-calls")` compiles a handler; [pjrt_register_custom_call()].
#' @examplesIf plugins_downloaded("cpu")
#' list.files(file.path(ffi_include_dir(), "xla", "ffi", "api"))
#' @export
ffi_include_dir <- function() {
  report <- python_report()
  code <- "import jaxlib, os; print(os.path.join(os.path.dirname(jaxlib.__file__), 'include'))"
  folder <- if (!is.null(report$executable)) {
    suppressWarnings(system2(report$executable, c("-c", shQuote(code)), stdout = TRUE, stderr = FALSE))
  }
  if (length(folder) != 1L || !file.exists(file.path(folder, "xla", "ffi", "api", "ffi.h"))) {
    abort("found no jaxlib with XLA's headers", code = "NOT_FOUND", hint = report$message)
  }
  folder
}
