# The package made by a function of this one, installed; what its tests say.
local_installed <- function(path, envir = parent.frame()) {
  library <- withr::local_tempdir(.local_envir = envir)
  environment <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  output <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"),
    c("CMD", "INSTALL", "--no-docs", "--no-byte-compile", shQuote(paste0("--library=", library)), shQuote(path)),
    stdout = TRUE, stderr = TRUE, env = environment
  ))
  if (!is.null(attr(output, "status"))) {
    stop(paste(output, collapse = "\n"))
  }
  library
}

expect_passes <- function(path, name) {
  library <- local_installed(path)
  tests <- file.path(path, "tests", "testthat")
  code <- c(
    use_library(library),
    sprintf("testthat::test_dir('%s', package = '%s', load_package = 'installed')", tests, name),
    sprintf("unloadNamespace('%s')", name),
    sprintf("cat('targets left:', sum(grepl('^%s[.]', ffi_targets()$target)), '\\n')", name)
  )
  result <- run_r(code)
  expect_identical(result$status, 0L, info = paste(result$output, collapse = "\n"))
  expect_true("targets left: 0 " %in% result$output)
  expect_false(any(grepl("SKIP [1-9]", result$output)), info = paste(result$output, collapse = "\n"))
}

test_that("the package that is written has an op in C", {
  skip_without_plugin()
  path <- file.path(withr::local_tempdir(), "norms.c")
  expect_message(ffi_use_c(path), class = "xlaffi_message_package")
  expect_passes(path, "norms.c")
})

test_that("the package that is written has an op in Rust", {
  skip_unless_all()
  skip_without_compiler("rust")
  path <- file.path(withr::local_tempdir(), "rustynorms")
  expect_message(ffi_use_rust(path), class = "xlaffi_message_package")
  expect_passes(path, "rustynorms")
  expect_true(file.exists(file.path(path, "src", "Makevars.win")))
  # Beside one in C.
  dir.create(file.path(path, "src", "ops"))
  writeLines(
    "// xlaffi: add(x: f64[], y: f64[] -> z: f64[])
    static void add(const double *x, const double *y, double *z) { *z = *x + *y; }",
    file.path(path, "src", "ops", "add.c")
  )
  suppressMessages(ffi_use_rust(path))
  expect_true(all(file.exists(file.path(path, "src", c("rust/xlaffi-ops.rs", "xlaffi-add-1.c")))))
  expect_match(readLines(file.path(path, "R", "xlaffi-ops.R")), "load_(add|rms_norm) <- ", all = FALSE)
})

test_that("a package loads where XLA is not", {
  skip_unless_all()
  skip_without_build_tools()
  path <- file.path(withr::local_tempdir(), "norms")
  suppressMessages(ffi_use_c(path))
  library <- local_installed(path)
  result <- run_r(c(use_library(library), "requireNamespace('norms')", "cat(plugins_downloaded('cpu'))"),
    env = c(XLAFFI_PYTHON = "/no/python", PJRT_PLUGIN_PATH_CPU = NA, R_USER_CACHE_DIR = withr::local_tempdir())
  )
  expect_identical(result$status, 0L)
  expect_match(result$output, "FALSE", all = FALSE)
})

test_that("what is generated follows the ops, and other files stay", {
  path <- file.path(withr::local_tempdir(), "norms")
  suppressMessages(ffi_use_c(path))
  own <- file.path(path, c("DESCRIPTION", "R/zzz.R", "src/ops/rms_norm.c"))
  writeLines("edited <- TRUE", own[[2]])
  before <- tools::md5sum(own)
  writeLines(c(
    "#include <xlaffi.h>", "// xlaffi: add(x: f64[], y: f64[] -> z: f64[])",
    "static void add(const double *x, const double *y, double *z) { *z = *x + *y; }"
  ), file.path(path, "src", "ops", "add.c"))
  suppressMessages(ffi_use_c(path))
  expect_identical(tools::md5sum(own), before)
  expect_setequal(list.files(file.path(path, "src"), "^xlaffi-"), c(
    "xlaffi-add-1.c", "xlaffi-register.c", "xlaffi-rms_norm-1.c", "xlaffi-rms_norm-2.c"
  ))
  unlink(file.path(path, "src", "ops", "rms_norm.c"))
  suppressMessages(ffi_use_c(path))
  expect_setequal(list.files(file.path(path, "src"), "^xlaffi-"), c("xlaffi-add-1.c", "xlaffi-register.c"))
  expect_snapshot(cat(readLines(file.path(path, "R", "xlaffi-ops.R")), sep = "\n"))
})

test_that("nothing is overwritten", {
  folder <- withr::local_tempdir()
  path <- file.path(folder, "norms")
  dir.create(path)
  writeLines("mine", file.path(path, "notes.txt"))
  tell <- function(expression) {
    cat(gsub(folder, "folder", conditionMessage(error_of(expression)), fixed = TRUE), "\n", sep = "")
  }
  expect_snapshot({
    tell(ffi_use_c(path))
    tell(ffi_use_c(file.path(folder, "my_norms")))
    tell(ffi_use_c(file.path(folder, "stats")))
    tell(ffi_use_c(file.path(path, "notes.txt")))
  })
  expect_identical(list.files(path, recursive = TRUE), "notes.txt")
  writeLines("Package: norms", file.path(path, "DESCRIPTION"))
  dir.create(file.path(path, "src", "ops"), recursive = TRUE)
  expect_snapshot(tell(ffi_use_c(path)))
  writeLines("// xlaffi: f(x: f64[] -> z: f64[])\nstatic void f(const double *x, double *z) { *z = *x; }",
    file.path(path, "src", "ops", "f.c"))
  writeLines("mine", file.path(path, "src", "xlaffi-register.c"))
  expect_snapshot(tell(ffi_use_c(path)))
  expect_identical(readLines(file.path(path, "src", "xlaffi-register.c")), "mine")
})
