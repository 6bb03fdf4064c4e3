# What tools/peers/interface.R wrote down of pjrt 0.5: names and arguments.
interface <- read.csv(test_path("data", "pjrt-0.5.csv"), colClasses = "character")

our_class <- c(
  PJRTBuffer = "xlaffi_buffer", PJRTClient = "xlaffi_client", PJRTDevice = "xlaffi_device",
  PJRTProgram = "xlaffi_program", PJRTPlugin = "xlaffi_plugin", PJRTLoadedExecutable = "xlaffi_executable",
  PJRTElementType = "xlaffi_dtype", PJRTArrayPromise = "xlaffi_array_promise",
  PJRTHloModuleSrcs = "xlaffi_hlo", PJRTHloModuleSrc = "xlaffi_text", RTree = "xlaffi_tree",
  Dispatcher = "xlaffi_dispatcher", default = "default", raw = "raw", integer64 = "integer64",
  # Plain data are dealt with before a method is looked up.
  integer = "default", logical = "default", numeric = "default"
)

formals_text <- function(f) {
  formals <- as.list(formals(f))
  text <- vapply(formals, function(default) paste(deparse(default, width.cutoff = 500), collapse = " "), "")
  paste0(names(formals), ifelse(nzchar(text), " = ", ""), text, collapse = ", ")
}

test_that("the table has a line for every function and method of pjrt", {
  table <- pjrt_compatibility()
  expect_identical(table$name, interface$name)
  expect_true(all(table$status %in% c("same", "differs", "missing")))
  expect_true(all(nzchar(table$note[table$status != "same"])))
})

test_that("functions that are there have pjrt's names, arguments and defaults", {
  # install_pjrt() has two arguments more, of which the first chooses the runtime: install_pjrt("plugin").
  exports <- interface[interface$kind == "export" & interface$name != "install_pjrt", ]
  expect_null(formals(install_pjrt)$cuda)
  ours <- vapply(exports$name, function(name) formals_text(getExportedValue("xlaffi", name)), "")
  expect_identical(ours, stats::setNames(exports$arguments, exports$name))
})

test_that("methods that are there take pjrt's arguments", {
  methods <- interface[interface$kind == "method", ]
  methods <- methods[!methods$name %in% pjrt_compatibility()$name[pjrt_compatibility()$status == "missing"], ]
  for (i in seq_len(nrow(methods))) {
    parts <- regmatches(methods$name[[i]], regexec("^(.*)[.]([^.]+)$", methods$name[[i]]))[[1]]
    if (startsWith(parts[[2]], "safe_tensor")) {
      next # see test-safetensors.R: the generics are not here
    }
    method <- getS3method(parts[[2]], our_class[[parts[[3]]]], envir = asNamespace("xlaffi"))
    theirs <- names(formals(eval(parse(text = sprintf("function(%s) NULL", methods$arguments[[i]])))))
    expect_identical(setdiff(theirs, names(formals(method))), character(), info = methods$name[[i]])
  }
})
