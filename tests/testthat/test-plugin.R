test_that("the plugin of a platform is loaded once", {
  skip_without_plugin()
  plugin <- pjrt_plugin("cpu")
  expect_s3_class(plugin, "xlaffi_plugin")
  expect_identical(pjrt_plugin("cpu"), plugin)
  expect_identical(as_pjrt_plugin("cpu"), plugin)
  expect_identical(as_pjrt_plugin(plugin), plugin)
  expect_identical(platform(plugin), "cpu")
  expect_snapshot(plugin)
})

test_that("a plugin tells about itself", {
  skip_without_plugin()
  attributes <- plugin_attributes("cpu")
  expect_type(attributes, "list")
  expect_true(all(nzchar(names(attributes))))
  expect_identical(plugin_attributes(pjrt_plugin("cpu")), attributes)
})

test_that("a file that is no plugin is refused", {
  text <- withr::local_tempfile(lines = "not a library", fileext = ".so")
  library <- shared_library("int answer(void) { return 42; }")
  null <- shared_library("void *GetPjrtApi(void) { return 0; }")
  kinds <- list(
    missing = open_error("/no/such/plugin.so"),
    text = open_error(text),
    library = open_error(library),
    null = open_error(null)
  )
  expect_s3_class(kinds$missing, "xlaffi_error_not_found")
  expect_s3_class(kinds$text, "xlaffi_error_failed_precondition")
  expect_match(conditionMessage(kinds$missing), "/no/such/plugin.so` cannot be found")
  expect_match(conditionMessage(kinds$text), "cannot be loaded as a shared library")
  expect_match(conditionMessage(kinds$library), "is not a PJRT plugin: it does not export GetPjrtApi")
  expect_match(conditionMessage(kinds$null), "GetPjrtApi")
  expect_match(conditionMessage(kinds$null), "PJRT_PLUGIN_PATH_TEST names another file")
})

test_that("a plugin of another major version is refused, an older minor one is not", {
  error <- open_error(shared_library(plugin_code(9, 1), "next"))
  expect_s3_class(error, "xlaffi_error")
  expect_match(conditionMessage(error), "9.1", fixed = TRUE)
  # Loads, and then lacks everything: an error and no crash.
  withr::local_envvar(PJRT_PLUGIN_PATH_TEST = shared_library(plugin_code(0, 40), "old"))
  withr::defer(rm("test", envir = xlaffi:::host_state$plugins))
  expect_output(print(pjrt_plugin("test")), "<PJRTPlugin:test>", fixed = TRUE)
  error <- error_of(pjrt_client("test"))
  expect_s3_class(error, "xlaffi_error_unimplemented")
  expect_match(conditionMessage(error), "PJRT_Client_Create", fixed = TRUE)
})

test_that("a C++ exception that leaves a plugin is an error", {
  thrown <- function(...) {
    withr::local_envvar(PJRT_PLUGIN_PATH_TEST = throwing_plugin(...))
    withr::defer(if (exists("test", host_state$plugins)) rm("test", envir = host_state$plugins))
    error_of(pjrt_client("test"))
  }
  host_state <- xlaffi:::host_state
  error <- thrown(first = 3) # PJRT_Plugin_Initialize, as the plugin is loaded
  expect_s3_class(error, "xlaffi_error_internal")
  expect_match(conditionMessage(error), "the plugin threw a C++ exception: no such luck", fixed = TRUE)
  error <- thrown(first = 5)
  expect_s3_class(error, "xlaffi_error_internal")
  expect_match(conditionMessage(error), "no such luck", fixed = TRUE)
  error <- thrown(entry = TRUE)
  expect_match(conditionMessage(error), "a C++ exception that is not a std::exception", fixed = TRUE)
})

test_that("where no plugin is, the error says what to do", {
  withr::local_envvar(PJRT_PLUGIN_PATH_TPU = NA, PJRT_PLUGIN_URL_TPU = NA)
  expect_false(plugins_downloaded("tpu"))
  expect_snapshot(error = TRUE, {
    pjrt_plugin("tpu")
    pjrt_plugin("")
    pjrt_plugin(NULL)
    as_pjrt_plugin(1)
    plugin_client_create(1, "tpu")
    plugin_attributes(1)
  })
})

test_that("the variable comes before everything else", {
  withr::local_envvar(PJRT_PLUGIN_PATH_TEST = "/some/plugin.so")
  expect_identical(xlaffi:::plugin_path("test"), "/some/plugin.so")
  expect_true(plugins_downloaded("test"))
  expect_false(plugins_downloaded(c("test", "nowhere")))
})

# `tools/places.sh plugin` runs the suite on another CPU plugin than the one inside this package.
if (plugins_downloaded("cpu") && !xlaffi:::is_included(pjrt_plugin("cpu"))) {
  test_that("what another CPU plugin does not do is an error that names the one that does", {
    ordered <- ffi_callback(function(x) NULL, "x: f64[] ->", side_effect = "ordered")
    both <- xla_jit(function(x) {
      ordered(x)
      ordered(x + 1)
      x
    })
    expect_error(both(1), "this CPU plugin does not keep calls in order", class = "xlaffi_error_unimplemented")
    expect_error(pjrt_memory_stats(), class = "xlaffi_error_unimplemented")
    run <- run_r('
      told <- function(code) tryCatch(code, error = function(e) cat(class(e)[[1]], conditionMessage(e)))
      told(pjrt_distributed("127.0.0.1:4567", 2, 0))
      client <- pjrt_client("cpu", cpu_device_count = 2L)
      program <- pjrt_program("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
      told(pjrt_compile(program, pjrt_compile_options(num_partitions = 2L)))
    ')
    output <- paste(run$output, collapse = "\n")
    expect_match(output, "unimplemented.*computes together with.*unimplemented.*over several devices")
    # What the plugin inside this package sees to itself.
    x <- c(rep(0.5, 127), NaN)
    expect_identical(is.nan(xla_jit(function(x) atan(x))(x)), is.nan(x))
    expect_identical(xla_jit(function(x) max(x, 1))(x), NaN)
  })
}
