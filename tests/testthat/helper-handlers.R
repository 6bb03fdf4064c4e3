# The handlers of handlers.cc as external pointers, compiled once per run.
handlers <- local({
  library <- NULL
  function(name) {
    if (is.null(library)) {
      library <<- compile_handlers()
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
  include <- suppressWarnings(system2(
    plugin_python(), c("-c", shQuote("import jaxlib, os; print(os.path.dirname(jaxlib.__file__))")),
    stdout = TRUE
  ))
  folder <- tempfile("handlers")
  dir.create(folder)
  source <- file.path(folder, "handlers.cc")
  file.copy(test_path("handlers.cc"), source)
  writeLines(
    c("CXX_STD = CXX17", sprintf("PKG_CPPFLAGS = -I\"%s\"", file.path(include, "include"))),
    file.path(folder, "Makevars")
  )
  output <- withr::with_dir(folder, suppressWarnings(system2(
    file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "handlers.cc"),
    stdout = TRUE, stderr = TRUE
  )))
  file <- file.path(folder, paste0("handlers", .Platform$dynlib.ext))
  if (!file.exists(file)) {
    stop("handlers.cc does not compile:\n", paste(output, collapse = "\n"))
  }
  dyn.load(file)
}
