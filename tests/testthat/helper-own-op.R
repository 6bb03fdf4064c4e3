# The functions of own-ops.c, compiled once per run.
own_function <- local({
  library <- NULL
  function(name) {
    if (is.null(library)) {
      folder <- tempfile("own-ops")
      dir.create(folder)
      file.copy(test_path("own-ops.c"), folder)
      flags <- sprintf("PKG_CPPFLAGS = -I\"%s\"", system.file("include", package = "xlaffi"))
      writeLines(flags, file.path(folder, "Makevars"))
      output <- withr::with_dir(folder, suppressWarnings(system2(
        file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "own-ops.c"),
        stdout = TRUE, stderr = TRUE
      )))
      file <- file.path(folder, paste0("own-ops", .Platform$dynlib.ext))
      if (!file.exists(file)) {
        stop("own-ops.c does not compile:\n", paste(output, collapse = "\n"))
      }
      library <<- dyn.load(file)
    }
    getNativeSymbolInfo(name, library)$address
  }
})

own_op <- function(name, signature, body = name, ..., rules = list(), options = list(digest = body),
                   has_side_effect = FALSE) {
  instances <- list(list(dtypes = character(), pointer = own_function(body), ...))
  new_own_op(own_op_new(name, signature, list(), instances, options), rules, has_side_effect)
}

own_times <- function(name = "times", rules = list()) {
  dtypes <- c("f32", "f64", "i32")
  instances <- lapply(dtypes, function(dtype) {
    list(dtypes = dtype, pointer = own_function(paste0("times_", dtype)))
  })
  pointer <- own_op_new(name, "x: T[n], y: T[] -> z: T[n]", list(T = dtypes), instances, list(digest = "times"))
  new_own_op(pointer, rules)
}

# What programs tell an op by.
own_digest <- function(op) xlaffi:::check(.Call(xlaffi:::wrap__own_op_about, attr(op, "op")$own$pointer))$digest
