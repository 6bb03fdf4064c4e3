test_that("without Python, the error of a script says what was looked for and what mends it", {
  skip_if(interactive())
  local_no_python()
  expect_false(plugins_downloaded("cpu"))
  hide <- function(lines) gsub("[(]/[^)]*[)]", "(<path>)", lines)
  expect_snapshot(error = TRUE, transform = hide, {
    pjrt_plugin("cpu")
    withr::with_envvar(c(PJRT_INSTALL = "0"), pjrt_plugin("cpu"))
  })
  report <- xlaffi:::python_report()
  expect_match(report$message, "install_pjrt()", fixed = TRUE)
  expect_error(suppressMessages(install_pjrt("jaxlib")), "python3", class = "xlaffi_error_not_found")
})

test_that("a Python that cannot be used is named with its reason", {
  local_no_python()
  withr::local_envvar(XLAFFI_PYTHON = "/no/such/python")
  report <- xlaffi:::python_report()
  expect_match(report$message, "/no/such/python", fixed = TRUE)
  expect_match(report$message, "XLAFFI_PYTHON", fixed = TRUE)
})

test_that("a failing program shows what it wrote", {
  error <- error_of(xlaffi:::run("sh", c("-c", "echo {so} long; exit 3"), NULL, hint = "try again"))
  expect_s3_class(error, "xlaffi_error_failed_precondition")
  expect_match(conditionMessage(error), "status 3: {so} long", fixed = TRUE)
  expect_match(conditionMessage(error), "try again")
})

test_that("programs look for their libraries where they would without R", {
  skip_on_os(c("windows", "mac"))
  withr::local_envvar(LD_LIBRARY_PATH = paste(R.home("lib"), "/a folder/of mine", "/b", sep = ":"))
  found <- xlaffi:::run("sh", c("-c", "echo $LD_LIBRARY_PATH"), NULL)
  expect_identical(as.vector(found), "/a folder/of mine:/b")
  withr::local_envvar(LD_LIBRARY_PATH = R.home("lib"))
  found <- xlaffi:::run("sh", c("-c", "echo \"<$LD_LIBRARY_PATH>\""), NULL)
  expect_identical(as.vector(found), "<>")
})

test_that("what is there is not installed again", {
  skip_without_plugin()
  expect_message(expect_identical(install_pjrt(cuda = FALSE), "cpu"), "is ready")
  expect_error(install_pjrt(cuda = "yes"), class = "xlaffi_error_invalid_argument")
  expect_snapshot(error = TRUE, {
    install_pjrt("cpu")
    install_pjrt(TRUE)
    install_pjrt("jaxlib", file = tempdir())
    install_pjrt(file = "/no/such/wheel")
  })
  withr::local_envvar(PJRT_PLUGIN_PATH_CPU = "/some/plugin.so")
  expect_snapshot(error = TRUE, install_pjrt("plugin"))
})

test_that("the environment is made and used", {
  # The real thing takes a download: this is the way without pip's part.
  skip_without_plugin()
  base <- plugin_python()
  local_no_python()
  home <- xlaffi:::python_home()
  xlaffi:::run(base, c("-m", "venv", "--without-pip", "--system-site-packages", home), NULL)
  expect_match(xlaffi:::python_report()$places[[1]], home, fixed = TRUE)
})

test_that("an environment from before OpenBLAS gets it, once", {
  skip_on_os("windows")
  local_no_python()
  add <- function() suppressMessages(xlaffi:::add_openblas(ask = FALSE))
  expect_silent(add()) # there is no environment
  # A Python that writes down what it is asked.
  python <- xlaffi:::environment_python()
  asked <- withr::local_tempfile(lines = character())
  dir.create(dirname(python), recursive = TRUE)
  writeLines(c("#!/bin/sh", sprintf("echo \"$@\" >> '%s'", asked)), python)
  Sys.chmod(python, "755")
  add()
  expect_match(readLines(asked), "^-m pip install .* scipy-openblas32==[0-9.]+$")
  dir.create(file.path(xlaffi:::python_home(), "lib/python3.11/site-packages/scipy_openblas32"), recursive = TRUE)
  add()
  expect_length(readLines(asked), 1L)
})
