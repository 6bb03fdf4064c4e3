# The handlers of handlers.cc as external pointers, compiled once per run.
handlers <- local({
  library <- NULL
  function(name) {
    if (is.null(library)) {
      library <<- compile_handlers()
    }
    if (name == "library") {
      return(library)
    }
    if (name == "looked_up") {
      return(getNativeSymbolInfo(name, library))
    }
    .Call(getNativeSymbolInfo(paste0(name, "_pointer"), library))
  }
})

# A handler in Rust of the crate xla-ffi's example, which cargo has built for its own tests.
rust_handler <- function(name) {
  manifest <- file.path(Sys.getenv("XLAFFI_SOURCE"), "src/rust/crates/xla-ffi/Cargo.toml")
  skip_if_not(nzchar(Sys.getenv("XLAFFI_SOURCE")) && file.exists(manifest), "the sources are not here")
  skip_if_not(nzchar(Sys.which("cargo")), "no cargo")
  output <- suppressWarnings(system2(
    "cargo", c("build", "--offline", "--example", "handlers", "--message-format", "json", "--manifest-path", manifest),
    stdout = TRUE, stderr = FALSE
  ))
  files <- unlist(regmatches(output, gregexpr("[^\"]*libhandlers[.](so|dylib)", output)))
  if (!length(files)) {
    stop("cargo did not build the example")
  }
  lookup <- getNativeSymbolInfo("handler_of", dyn.load(files[[1]]))$address
  .Call(handlers("looked_up"), lookup, name)
}

compile_handlers <- function() {
  skip_without_plugin()
  dyn.load(kept_library("handlers.cc", file.path(xla_include(), "xla", "ffi"), compile_with_header))
}

# The folder of XLA's headers
xla_include <- function() {
  code <- shQuote("import jaxlib, os; print(os.path.dirname(jaxlib.__file__))")
  file.path(suppressWarnings(system2(plugin_python(), c("-c", code), stdout = TRUE)), "include")
}

# A shared library from a file that includes XLA's header.
compile_with_header <- function(source) {
  skip_without_plugin()
  compile_library(source, c("CXX_STD = CXX17", sprintf("PKG_CPPFLAGS = -I\"%s\"", xla_include())))
}

# A shared library beside its source, with those lines as Makevars
compile_library <- function(source, makevars) {
  writeLines(makevars, file.path(dirname(source), "Makevars"))
  output <- withr::with_dir(dirname(source), suppressWarnings(system2(
    file.path(R.home("bin"), "R"), c("CMD", "SHLIB", basename(source)),
    stdout = TRUE, stderr = TRUE
  )))
  file <- paste0(tools::file_path_sans_ext(source), .Platform$dynlib.ext)
  if (!file.exists(file)) {
    stop(basename(source), " does not compile:\n", paste(output, collapse = "\n"))
  }
  file
}

# A library in C whose handler `answer` writes a number into its result, under the same path each time.
answer_library <- function(folder, number) {
  source <- file.path(folder, "answer.c")
  unlink(c(file.path(folder, "answer.o"), file.path(folder, paste0("answer", .Platform$dynlib.ext))))
  writeLines(sprintf('
#include "xla/ffi/api/c_api.h"
XLA_FFI_Error* answer(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata* metadata = ((XLA_FFI_Metadata_Extension*) frame->extension_start)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return 0;
  }
  *(float*) ((XLA_FFI_Buffer*) frame->rets.rets[0])->data = %d;
  return 0;
}', number), source)
  compile_with_header(source)
}
