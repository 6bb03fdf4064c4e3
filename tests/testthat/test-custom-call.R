attributes_text <- paste(
  "i32 = -7 : i32, i64 = 9000000000 : i64, f32 = 1.5 : f32, f64 = 0.25 : f64, flag = true,",
  "text = \"three\", doubles = array<f64: 2.5, 3.5>, integers = array<i64: 11, 12, 13>,",
  "nested = {inner = 42 : i64, other = \"x\"}"
)

test_that("a C++ handler gets attributes of each kind and gives results", {
  skip_without_plugin()
  pjrt_register_custom_call("test_every_attribute", list(cpu = handlers("every_attribute")))
  exec <- custom_call("test_every_attribute", c(x = "1xf64"), "12xf64", attributes_text)
  out <- as_array(pjrt_execute(exec, pjrt_buffer(0.5, "f64")))
  expect_identical(as.vector(out), c(0.5, -7, 9e9, 1.5, 0.25, 1, 5, 2, 2.5, 3, 11, 42))
})

test_that("an attribute of another type is an error that names it", {
  skip_without_plugin()
  pjrt_register_custom_call("test_bad_attribute", list(host = handlers("every_attribute")))
  wrong <- sub("f64 = 0.25 : f64", "f64 = 1 : i32", attributes_text, fixed = TRUE)
  error <- error_of({
    exec <- custom_call("test_bad_attribute", c(x = "1xf64"), "12xf64", wrong)
    as_array(pjrt_execute(exec, pjrt_buffer(0.5, "f64")))
  })
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  expect_match(conditionMessage(error), "expected F64 but got S32", fixed = TRUE)
})

test_that("a handler's error is an R condition with its code and text", {
  skip_without_plugin()
  pjrt_register_custom_call("test_root", list(host = handlers("root")))
  exec <- custom_call("test_root", c(x = "2xf32"), "2xf32")
  expect_identical(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(c(4, 9))))), c(2, 3))
  error <- error_of(as_array(pjrt_execute(exec, pjrt_buffer(c(4, -9)))))
  expect_s3_class(error, "xlaffi_error_out_of_range")
  expect_identical(error$code, "OUT_OF_RANGE")
  expect_identical(error$op, "test_root")
  expect_identical(conditionMessage(error), "test_root (host): no {root} of a negative number")
  # Nothing is broken afterwards.
  expect_identical(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(c(1, 16))))), c(1, 4))
})

test_that("a panic in a handler is an error, and nothing is broken afterwards", {
  skip_unless_all()
  skip_without_plugin()
  withr::local_envvar(RUST_BACKTRACE = "0")
  pjrt_register_custom_call("test_panic", list(host = rust_handler("fail")))
  run <- function(how) {
    exec <- custom_call("test_panic", c(x = "2xf32"), "2xf32", sprintf("how = \"%s\"", how))
    as.vector(as_array(pjrt_execute(exec, pjrt_buffer(c(1, 2)))))
  }
  error <- error_of(run("panic"))
  expect_s3_class(error, "xlaffi_error_internal")
  expect_identical(conditionMessage(error), "test_panic (host): fail: panicked: a panic in Rust")
  expect_identical(run("copy"), c(1, 2))
})

test_that("registering again replaces the handler, also for compiled programs, and says so", {
  skip_without_plugin()
  pjrt_register_custom_call("test_replaced", list(host = handlers("root")))
  exec <- custom_call("test_replaced", c(x = "1xf32"), "1xf32")
  expect_identical(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(16)))), 4)
  expect_snapshot(
    pjrt_register_custom_call("test_replaced", list(host = handlers("twice")), .package = "other")
  )
  expect_identical(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(16)))), 32)
  expect_message(
    pjrt_register_custom_call("test_replaced", list(host = handlers("root"))),
    class = "xlaffi_message_replaced"
  )
})

test_that("a handler is queued until the plugin is loaded", {
  skip_without_plugin()
  run <- run_r("
    pjrt_register_custom_call('early', list(cpu = ffi_handler('lu', 'host')))
    'early' %in% ffi_targets()$target
    exec <- pjrt_compile(pjrt_program('
      func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
        %0:2 = stablehlo.custom_call @early(%x) {api_version = 4 : i32} :
          (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1xi32>)
        return %0#0 : tensor<1x1xf32>
      }'))
    as_array(pjrt_execute(exec, pjrt_buffer(matrix(3))))
  ")
  expect_identical(run$output, c("[1] TRUE", "     [,1]", "[1,]    3"))
})

test_that("handlers of a package go when it is unloaded", {
  skip_without_plugin()
  pjrt_register_custom_call("test_gone", list(host = handlers("twice")), .package = "leaving")
  exec <- custom_call("test_gone", c(x = "1xf32"), "1xf32")
  expect_identical(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(4)))), 8)
  hooks <- getHook(packageEvent("leaving", "onUnload"))
  expect_length(hooks, 1)
  hooks[[1]]("leaving", "")
  expect_false("test_gone" %in% ffi_targets()$target)
  error <- error_of(as_array(pjrt_execute(exec, pjrt_buffer(4))))
  expect_s3_class(error, "xlaffi_error_failed_precondition")
  expect_match(conditionMessage(error), "test_gone", fixed = TRUE)
  expect_identical(error$op, "test_gone")
  # Loaded again, it registers again.
  pjrt_register_custom_call("test_gone", list(host = handlers("twice")), .package = "leaving")
  expect_identical(as.vector(as_array(pjrt_execute(exec, pjrt_buffer(4)))), 8)
  hooks[[1]]("leaving", "")
})

test_that("a handler is removed, and the name can be used again", {
  skip_without_plugin()
  pjrt_register_custom_call("test_removed", list(host = handlers("twice")))
  exec <- custom_call("test_removed", c(x = "1xf32"), "1xf32")
  run <- function() as.vector(as_array(pjrt_execute(exec, pjrt_buffer(4))))
  expect_identical(run(), 8)
  expect_identical(withVisible(ffi_unregister("test_removed", "cpu")), list(value = TRUE, visible = FALSE))
  expect_false("test_removed" %in% ffi_targets()$target)
  error <- error_of(run())
  expect_s3_class(error, "xlaffi_error_failed_precondition")
  expect_identical(error$op, "test_removed")
  expect_message(expect_false(ffi_unregister("test_removed", "host")), class = "xlaffi_message_not_registered")
  pjrt_register_custom_call("test_removed", list(host = handlers("root")))
  expect_identical(run(), 2)
  expect_snapshot({
    ffi_unregister("never_there", "cuda")
    ffi_unregister("lu", "hots")
  }, error = TRUE)
})

test_that("replacing waits for no call, and the wait of removing can be interrupted", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  path <- handlers("library")[["path"]]
  run <- run_r(sprintf("
    library <- dyn.load('%s')
    handler <- function(name) list(host = getNativeSymbolInfo(name, library))
    interrupted <- function(code) {
      system(paste('(sleep 1; kill -INT', Sys.getpid(), ') &'))
      tryCatch({code; cat('finished\n')}, interrupt = function(e) cat('interrupted\n'))
    }
    pjrt_register_custom_call('hangs', handler('hangs'))
    exec <- pjrt_compile(pjrt_program('
      func.func @main(%%x: tensor<f32>) -> tensor<f32> {
        %%0 = stablehlo.custom_call @hangs(%%x) {api_version = 4 : i32} : (tensor<f32>) -> tensor<f32>
        return %%0 : tensor<f32>
      }'))
    x <- pjrt_scalar(4)
    interrupted(pjrt_execute(exec, x))
    suppressMessages(pjrt_register_custom_call('hangs', handler('twice')))
    as_array(pjrt_execute(exec, pjrt_scalar(4)))
    interrupted(ffi_unregister('hangs', 'host'))
    'hangs' %%in%% ffi_targets()$target
    system('true')
    invisible(.Call(getNativeSymbolInfo('release', library)))
    suppressMessages(print(ffi_unregister('hangs', 'host')))
  ", path))
  expect_identical(run$output, c("interrupted", "[1] 8", "interrupted", "[1] FALSE", "[1] FALSE"))
})

test_that("a library that is unloaded stays in memory for as long as its handlers are registered", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  compiled <- answer_library(folder, 1)
  exec <- NULL
  run <- function() as.vector(as_array(pjrt_execute(exec, pjrt_buffer(0))))
  register <- function() {
    symbol <- getNativeSymbolInfo("answer", dyn.load(compiled))
    suppressMessages(pjrt_register_custom_call("test_library", list(host = symbol)))
  }
  register()
  exec <- custom_call("test_library", c(x = "1xf32"), "1xf32")
  expect_identical(run(), 1)
  dyn.unload(compiled)
  expect_identical(run(), 1)
  # The same path is the old library until its handlers are gone.
  answer_library(folder, 2)
  expect_snapshot(register(), transform = function(lines) gsub(folder, "<folder>", lines, fixed = TRUE))
  expect_identical(run(), 1)
  ffi_unregister("test_library", "host")
  dyn.unload(compiled)
  register()
  expect_identical(run(), 2)
  ffi_unregister("test_library", "host")
  dyn.unload(compiled)
})

test_that("what a C++ handler throws is an error", {
  skip_without_plugin()
  pjrt_register_custom_call("test_throws", list(host = handlers("throws")))
  run <- function(what) {
    exec <- custom_call("test_throws", c(x = "1xf32"), "1xf32", sprintf("what = \"%s\"", what))
    as.vector(as_array(pjrt_execute(exec, pjrt_buffer(1))))
  }
  expect_snapshot(error = TRUE, {
    run("number")
    run("exception")
  })
  expect_identical(error_of(run("number"))$code, "INTERNAL")
  expect_identical(run("nothing"), 1)
})

test_that("what a task on XLA's pool throws does not end R", {
  skip_without_plugin()
  run <- run_r(sprintf("
    library <- dyn.load('%s')
    pjrt_register_custom_call('throws', list(host = getNativeSymbolInfo('throws', library)))
    exec <- pjrt_compile(pjrt_program('
      func.func @main(%%x: tensor<f32>) -> tensor<f32> {
        %%0 = stablehlo.custom_call @throws(%%x) {api_version = 4 : i32, backend_config = {what = \"pool\"}} :
          (tensor<f32>) -> tensor<f32>
        return %%0 : tensor<f32>
      }'))
    value <- as_array(pjrt_execute(exec, pjrt_scalar(4)))
    # Waits for the task, whose line must not come in the middle of another.
    ffi_unregister('throws', 'host')
    value
    cat('alive\n')
  ", handlers("library")[["path"]]))
  expect_identical(run$status, 0L)
  thrown <- "throws (host): a task on XLA's thread pool threw a C++ exception that is not a std::exception"
  expect_setequal(run$output, c("[1] 4", "alive", thrown))
})

test_that("what is no handler is refused, and R lives", {
  skip_without_plugin()
  skip_on_os("windows")
  function_of <- function(name) list(host = getNativeSymbolInfo(name, handlers("library")))
  expect_snapshot(error = TRUE, {
    pjrt_register_custom_call("x", function_of("looked_up"))
    pjrt_register_custom_call("x", function_of("release"))
    pjrt_register_custom_call("x", getNativeSymbolInfo("root", handlers("library")))
    pjrt_register_custom_call("x", list(host = stats:::C_cutree))
    pjrt_register_custom_call("x", list(hots = handlers("root")))
    pjrt_register_custom_call("x", list(quantum = handlers("root")))
    ffi_handler("lu", "hots")
  })
  expect_false("x" %in% ffi_targets()$target)
  withr::local_envvar(PJRT_PLUGIN_PATH_QUANTUM = "/none")
  pjrt_register_custom_call("test_quantum", list(quantum = handlers("root")))
  ffi_unregister("test_quantum", "quantum")
})

test_that("an unknown target is an error", {
  skip_without_plugin()
  error <- error_of({
    exec <- custom_call("no_such_target", c(x = "1xf32"), "1xf32")
    as_array(pjrt_execute(exec, pjrt_buffer(1)))
  })
  expect_match(conditionMessage(error), "no_such_target", fixed = TRUE)
})

test_that("bad arguments", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    pjrt_register_custom_call("", list(host = handlers("root")))
    pjrt_register_custom_call("xlaffi.lu", list(host = handlers("root")))
    pjrt_register_custom_call("x", handlers("root"))
    pjrt_register_custom_call("x", list(handlers("root")))
    pjrt_register_custom_call("x", list())
    pjrt_register_custom_call("x", list(host = handlers("root"), cpu = handlers("root")))
    pjrt_register_custom_call("x", list(host = 1))
    pjrt_register_custom_call("x", list(host = handlers("null")))
    pjrt_register_custom_call("x", list(host = handlers("data")))
    pjrt_register_custom_call("x", list(host = pjrt_buffer(1)))
    pjrt_register_custom_call("x", list(
      host = getNativeSymbolInfo("wrap__printed", "xlaffi", withRegistrationInfo = TRUE)$address
    ))
    pjrt_register_custom_call("lu", list(host = ffi_handler("lu", "host")))
    pjrt_register_custom_call("x", list(host = handlers("root")), .package = 1)
  })
  expect_false("x" %in% ffi_targets()$target)
})

test_that("a handler has a state where it is registered by stages", {
  skip_without_plugin()
  skip_unless_all()
  sums <- rust_handler("sums")
  pjrt_register_custom_call("test_sums", list(host = list(instantiate = sums, initialize = sums, execute = sums)))
  add <- function(target, steps) {
    attributes <- list(steps = ffi_attribute(steps, "i64", array = TRUE))
    ffi_call(target, function(x) ffi_type("i64", length(steps)), attributes)
  }
  x <- bit64::as.integer64(10)
  expect_identical(as.integer(add("test_sums", c(1, 2, 3))(x)), c(11L, 13L, 16L))
  expect_identical(as.integer(add("test_sums", c(5, 5))(x)), c(15L, 20L))
  # What cannot be made is told when the program is compiled.
  none <- ffi_call("test_sums", ffi_type("i64", 1L), list(steps = ffi_attribute(numeric(), "i64", array = TRUE)))
  expect_error(none(x), "there are no steps", class = "xlaffi_error_invalid_argument")
  pjrt_register_custom_call("test_no_sums", list(host = sums))
  expect_error(add("test_no_sums", c(1, 2))(x), class = "xlaffi_error")
  expect_snapshot(error = TRUE, {
    pjrt_register_custom_call("test_stages", list(host = list(instantiate = sums)))
    pjrt_register_custom_call("test_stages", list(host = list(execute = sums, later = sums)))
    pjrt_register_custom_call("test_stages", list(host = list(execute = sums, instantiate = 1)))
  })
})
