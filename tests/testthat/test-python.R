use_both <- "
  l <- pjrt_compile(pjrt_program('
    func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0:2 = stablehlo.custom_call @lu(%x) {api_version = 4 : i32} :
        (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>)
      return %0#0 : tensor<2x2xf32>
    }'))
  for (i in 1:3) {
    invisible(as_array(pjrt_execute(l, pjrt_buffer(diag(2)))))
    invisible(reticulate::py_run_string('x = [i for i in range(1000)]'))
  }
  cat('both\\n')"
start_reticulate <- "
  reticulate::use_python(Sys.getenv('XLAFFI_PYTHON'), required = TRUE)
  invisible(reticulate::py_run_string('y = 1'))"

test_that("reticulate and the plugin share a Python, whichever starts it", {
  skip_unless_all()
  skip_unless_included("Python")
  skip_without_reticulate()
  theirs_first <- run_r(c(start_reticulate, use_both), timeout = 60)
  expect_identical(theirs_first, list(output = "both", status = 0L))
  ours_first <- run_r(c("invisible(pjrt_buffer(1))", start_reticulate, use_both), timeout = 60)
  expect_identical(ours_first, list(output = "both", status = 0L))
})

test_that("R waits without Python's lock, which its thread may keep", {
  skip_unless_all()
  skip_unless_included("Python")
  skip_on_os("windows")
  path <- handlers("library")[["path"]]
  # XLA runs the product and what comes after it on a thread of its own, so that R waits for the buffer.
  run <- run_r(sprintf("
    invisible(pjrt_client('cpu'))
    # As where reticulate is loaded.
    invisible(xlaffi:::check(.Call(xlaffi:::wrap__python_keep_lock)))
    pjrt_register_custom_call('in_python', list(host = getNativeSymbolInfo('in_python', dyn.load('%s'))))
    in_python <- ffi_call('in_python', ffi_type('f64', c(64, 64)))
    slow <- function(x) in_python(x %%*%% x)
    ones <- pjrt_buffer(matrix(1, 64, 64), dtype = 'f64')
    cat('a buffer:', all(as_array(xla_jit(slow)(ones)) == 64), '\\n')
    cat('an array:', all(xla_jit(slow)(matrix(1, 64, 64)) == 64), '\\n')
    result <- xla_jit(slow)(ones)
    cat('a handler that goes:', ffi_unregister('in_python', 'host'), '\\n')
  ", path), timeout = 60)
  expect_identical(run, list(
    output = c("a buffer: TRUE ", "an array: TRUE ", "a handler that goes: TRUE "), status = 0L
  ))
})

test_that("letters in paths are no hindrance in a C locale", {
  skip_unless_included("Python")
  skip_on_os("windows")
  skip_without_compiler("c")
  folder <- file.path(withr::local_tempdir(), "caf\u00e9")
  dir.create(folder)
  python <- Sys.getenv("XLAFFI_PYTHON", plugin_python())
  file.symlink(dirname(dirname(python)), file.path(folder, "venv"))
  withr::local_envvar(XLAFFI_PYTHON = file.path(folder, "venv", "bin", basename(python)))
  run <- run_r("
    plus <- ffi_source('x: f64[] -> y: f64[]', '*y = *x + 1;', name = 'plus')
    cat(!l10n_info()[['UTF-8']], plus(1), xla_jit(function(x) x + 1)(2))
  ", env = c(LC_ALL = "C", R_USER_CACHE_DIR = file.path(folder, "cache")))
  expect_identical(run, list(output = "TRUE 2 3", status = 0L))
})

# What a session says that cannot have its plugin.
start_fails <- function(env) {
  run <- run_r("
    tryCatch(pjrt_client(), error = function(e) cat(class(e)[[1L]], conditionMessage(e), sep = '\\n'))
  ", env = env)
  expect_identical(run$status, 0L)
  # The class, and the message in one line.
  c(run$output[[1]], paste(trimws(run$output[-1]), collapse = " "))
}

test_that("a flag that XLA does not know is an error, not the end of R", {
  skip_unless_all()
  skip_unless_included("Python")
  output <- start_fails(c(XLA_FLAGS = "--xla_nonsense=1"))
  expect_identical(output[[1]], "xlaffi_error_invalid_argument")
  expect_match(output[[2]], "Unknown flags? in XLA_FLAGS: --xla_nonsense=1")
  fine <- run_r("as_array(pjrt_buffer(1))", env = c(XLA_FLAGS = "--xla_cpu_enable_fast_math=false"))
  expect_identical(fine, list(output = "[1] 1", status = 0L))
})

test_that("a jaxlib that cannot be imported is one error", {
  skip_unless_included("Python")
  folder <- withr::local_tempdir()
  dir.create(file.path(folder, "jaxlib"))
  writeLines("raise ImportError('broken on purpose')", file.path(folder, "jaxlib", "__init__.py"))
  output <- start_fails(c(PYTHONPATH = folder))
  expect_identical(output[[1]], "xlaffi_error_failed_precondition")
  expect_match(output[[2]], "cannot import jaxlib (ImportError: broken on purpose)", fixed = TRUE)
})

test_that("a jaxlib that is too old is refused before XLA could end R for its flags", {
  skip_unless_all()
  skip_unless_included("Python")
  skip_without_reticulate()
  folder <- withr::local_tempdir()
  dir.create(file.path(folder, "jaxlib"))
  file.create(file.path(folder, "jaxlib", "__init__.py"))
  writeLines("__version__ = '0.4.30'", file.path(folder, "jaxlib", "version.py"))
  run <- run_r(c(
    start_reticulate,
    sprintf("reticulate::py_run_string('import sys; sys.path.insert(0, \"%s\")')", folder),
    "tryCatch(pjrt_client(), error = function(e) cat(class(e)[[1L]], conditionMessage(e), sep = '\\n'))"
  ), timeout = 60)
  expect_identical(run$output[[1]], "xlaffi_error_failed_precondition")
  expect_match(
    paste(trimws(run$output[-1]), collapse = " "),
    "the Python in this process has jaxlib 0.4.30, which is too old (needs 0.10): `pip install --upgrade jaxlib` there",
    fixed = TRUE
  )
})

test_that("a bad PYTHONHOME is named", {
  skip_unless_included("Python")
  skip_on_os("windows")
  output <- start_fails(c(PYTHONHOME = "/nowhere"))
  expect_match(output[[2]], "does not start with PYTHONHOME set to /nowhere; unset it", fixed = TRUE)
})

test_that("Ctrl-C ends the wait for an interpreter that does not answer", {
  skip_unless_included("Python")
  skip_on_os("windows")
  silent <- withr::local_tempfile(lines = c("#!/bin/sh", "exec sleep 60"))
  Sys.chmod(silent, "755")
  run <- run_r("
    system(paste('(sleep 1; kill -INT', Sys.getpid(), ') &'))
    start <- Sys.time()
    tryCatch(pjrt_client(), interrupt = function(e) cat('interrupted\\n'))
    cat('quick:', as.numeric(Sys.time() - start, units = 'secs') < 8, '\\n')
  ", env = c(XLAFFI_PYTHON = silent))
  expect_identical(run$output, c("interrupted", "quick: TRUE "))
})
