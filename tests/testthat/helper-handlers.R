# The handlers of handlers.cc as external pointers, compiled once per run.
handlers <- local({
  library <- NULL
  function(name) {
    if (is.null(library)) {
      library <<- compile_handlers()
    }
    .Call(getNativeSymbolInfo(paste0(name, "_pointer"), library))
  }
})

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
