# The CPU plugin from a wheel, from an index that is a folder.

# What was looked at depends on the machine.
hide_lines <- function(lines) hide_paths(gsub("[(]/[^)]*[)]", "(<path>)", lines))

hide_paths <- function(lines) gsub("\"(file://)?/[^\"]*\"|'(file://)?/[^']*'", "<path>", lines)

test_that("a plugin comes from the wheel of an index, and is found again", {
  wheel <- local_wheel()
  expect_null(xlaffi:::plugin_found("cpu"))
  expect_message(install_pjrt("plugin"), "Installed the CPU plugin")
  folder <- xlaffi:::cache_dir("cpu")
  expect_setequal(list.files(folder), c("pjrt_some.so", "source"))
  expect_identical(list.files(xlaffi:::cache_dir(), all.files = TRUE, pattern = "^[.]cpu"), character())
  expect_identical(xlaffi:::plugin_found("cpu"), normalizePath(file.path(folder, "pjrt_some.so")))
  # A second call downloads nothing, and the plugin that is there is what the CPU has.
  unlink(wheel$path)
  expect_message(install_pjrt("plugin"), "is there already")
  expect_message(install_pjrt(), "is ready")
  # Another wheel is pinned by a newer version of the package.
  writeLines("some_plugin-0.9-py3-none-any.whl", file.path(folder, "source"))
  expect_error(suppressMessages(install_pjrt("plugin")), class = "xlaffi_error_unavailable")
  expect_true(file.exists(file.path(folder, "pjrt_some.so")))
})

test_that("without Python the plugin is what is installed, and a file serves offline", {
  wheel <- local_wheel()
  expect_identical(xlaffi:::offered_runtime(), "plugin")
  expect_message(install_pjrt(), "Installed what platform")
  expect_true(plugins_downloaded("cpu"))
  unlink(xlaffi:::cache_dir("cpu"), recursive = TRUE)
  withr::local_options(xlaffi.pypi = "file:///no/such/index")
  expect_message(install_pjrt(file = wheel$path), "Installed the CPU plugin")
})

test_that("what cannot be had is an error that says why, and changes nothing", {
  wheel <- local_wheel()
  attempt <- function() suppressMessages(install_pjrt("plugin"))
  # Another file under the name
  file.copy(wheel$path, kept <- withr::local_tempfile())
  cat("more", file = wheel$path, append = TRUE)
  expect_error(attempt(), "checksum", class = "xlaffi_error_data_loss")
  file.copy(kept, wheel$path, overwrite = TRUE)
  with_wheel <- function(...) {
    changed <- list(...)
    wheel[names(changed)] <- changed
    local_binding("own_wheel", function() wheel)
    expect_snapshot(error = TRUE, transform = hide_paths, attempt())
  }
  with_wheel(wheel = "other.whl")
  with_wheel(unpacked = 1e6)
  with_wheel(file = "some_plugin/other.so")
  withr::with_options(list(xlaffi.pypi = 1), expect_snapshot(error = TRUE, attempt()))
  error <- error_of(withr::with_options(list(xlaffi.pypi = "file://me:secret@/no/such"), attempt()))
  expect_s3_class(error, "xlaffi_error_unavailable")
  expect_no_match(conditionMessage(error), "secret")
  local_binding("glibc_version", function() "2.17")
  expect_snapshot(error = TRUE, attempt())
  local_binding("glibc_version", function() NULL)
  expect_snapshot(error = TRUE, attempt())
  expect_identical(xlaffi:::offered_runtime(), "jaxlib")
  expect_null(xlaffi:::plugin_found("cpu"))
  expect_identical(list.files(xlaffi:::cache_dir(), all.files = TRUE, pattern = "^[.]cpu"), character())
})

test_that("what the package pjrt has downloaded is offered and taken", {
  wheel <- local_wheel()
  expect_snapshot(error = TRUE, transform = hide_paths, install_pjrt("pjrt"))
  folder <- file.path(tools::R_user_dir("pjrt", "cache"), "cpu")
  dir.create(folder, recursive = TRUE)
  file.copy(wheel$library, file.path(folder, "libpjrt_cpu.so"))
  writeLines("00", file.path(folder, "hash"))
  # A script is told of it, and gets the one that was tested.
  expect_snapshot(error = TRUE, transform = hide_lines, pjrt_plugin("cpu"))
  expect_message(install_pjrt("pjrt"), "Copied the CPU plugin")
  found <- xlaffi:::plugin_found("cpu")
  expect_identical(found, normalizePath(file.path(xlaffi:::cache_dir("cpu"), "libpjrt_cpu.so")))
  expect_identical(xlaffi:::runtime_of(found), "what the package pjrt downloaded")
  # Another one is asked for by name.
  expect_message(install_pjrt(), "is ready")
  expect_message(install_pjrt("plugin"), "Installed the CPU plugin")
  expect_identical(basename(xlaffi:::plugin_found("cpu")), "pjrt_some.so")
  # Where neither of the others can be had, it is what is taken.
  unlink(xlaffi:::cache_dir("cpu"), recursive = TRUE)
  local_binding("glibc_version", function() NULL)
  expect_identical(xlaffi:::offered_runtime(), "pjrt")
  expect_message(install_pjrt(), "Installed what platform")
  expect_identical(basename(xlaffi:::plugin_found("cpu")), "libpjrt_cpu.so")
})

test_that("what a plugin without Python lacks is an error that says what has it", {
  skip_without_plugin()
  skip_if(is_included_plugin(), "this CPU plugin lacks nothing")
  told <- "told <- function(call) {
    tryCatch(call, error = function(e) cat(class(e)[[1L]], conditionMessage(e), sep = '\\n'))
  }"
  nested <- "
    double <- xla_jit(function(x) x * 2)
    f <- ffi_callback(function(x) double(x), 'x: f64[] -> y: f64[]')
    told(print(xla_jit(function(x) f(x) + 1)(3)))"
  expect_told <- function(code, class, env = character()) {
    run <- run_r(c(told, code), env = env, timeout = 60)
    expect_identical(run$status, 0L)
    expect_true(class %in% run$output, label = paste(run$output, collapse = "\n"))
    expect_match(paste(trimws(run$output), collapse = " "), 'install_pjrt("jaxlib")', fixed = TRUE)
  }
  expect_told("told(pjrt_client('cpu', num_threads = 2))", "xlaffi_error_invalid_argument")
  expect_told(c("told(pjrt_memory_stats())", "
    told(xla_jit(function(x) sum(x))(xla_shard(1:4, xla_mesh(c(d = 1)), 'd')))
    note <- ffi_callback(function(x) x, 'x: f64[] ->', side_effect = 'ordered')
    told(xla_jit(function(x) { note(x); note(x); x })(1))"), "xlaffi_error_unimplemented")
  expect_told("told(pjrt_distributed('127.0.0.1:9', 2, 0))", "xlaffi_error_unimplemented")
  expect_told(
    "any <- 'func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {return %x : tensor<?xf32>}'
    told(refine_shapes(pjrt_program(any), list(3L)))",
    "xlaffi_error_not_found", c(XLAFFI_PYTHON = "/no/python")
  )
  # Programs run one after the other, as in plugins that do not know the option: nobody waits without end.
  expect_told(c("invisible(pjrt_client('cpu', asynchronous = TRUE))", nested), "xlaffi_error_failed_precondition")
  expect_identical(run_r(c(told, nested), timeout = 60)$output, "[1] 7")
})

test_that("links of an index are read as pip reads them", {
  resolved <- xlaffi:::resolved_link
  page <- "https://me@host:8/root/simple/some-plugin/"
  expect_identical(resolved("https://files/a.whl", page), "https://files/a.whl")
  expect_identical(resolved("//files/a.whl", page), "https://files/a.whl")
  expect_identical(resolved("/files/a.whl", page), "https://me@host:8/files/a.whl")
  expect_identical(resolved("../../files/./a.whl", page), "https://me@host:8/root/files/a.whl")
  expect_identical(resolved("a.whl", page), paste0(page, "a.whl"))
  lines <- c(
    "<a href='x/a-1.whl.metadata'>", "<A HREF=\"b\"><a href=\"x/a-1.whl?k=1&amp;l=2#sha256=00\" data-x>a-1.whl</a>"
  )
  expect_identical(xlaffi:::wheel_link(lines, "a-1.whl"), "x/a-1.whl?k=1&l=2")
  expect_null(xlaffi:::wheel_link(lines, "a-2.whl"))
})

test_that("the runtime of each system is pinned", {
  for (wheel in xlaffi:::wheels) {
    expect_match(wheel$sha256, "^[0-9a-f]{64}$")
    expect_match(wheel$file, "[.]so$")
    expect_gt(wheel$unpacked, wheel$bytes)
  }
  skip_on_os(c("windows", "mac"))
  expect_match(xlaffi:::glibc_version(), "^[0-9]+[.]")
})
