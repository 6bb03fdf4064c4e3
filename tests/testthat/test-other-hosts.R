# Another host in this process, as the package pjrt is: it registers handlers of its own by names of ours, and these
# write by R on whatever thread they are called.

# What a new session runs first: `foreign(target, handler)` registers a handler of foreign-handlers.c as that host does.
foreign_host <- function(envir = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = envir)
  file.copy(test_path("foreign-handlers.c"), folder)
  handlers <- compile_with_header(file.path(folder, "foreign-handlers.c"))
  host <- shared_library(readLines(test_path("foreign-host.c")), "foreign", envir)
  c(
    sprintf("handlers <- dyn.load('%s'); host <- dyn.load('%s')", handlers, host),
    "plugin <- getLoadedDLLs()[['xlaffi']][['path']]",
    "native <- function(name, library, ...) .Call(getNativeSymbolInfo(name, library), ...)",
    "foreign <- function(target, handler) {",
    "  native('foreign_register', host, plugin, target, native(paste0(handler, '_pointer'), handlers))",
    "}",
    "on_foreign <- function(program) native('foreign_run', host, plugin, program, TRUE)",
    "elsewhere <- function() native('times_elsewhere', handlers)",
    "check <- function(name, ...) cat(name, if (isTRUE(all.equal(...))) 'ok' else 'WRONG', '\\n')"
  )
}

# The lines that check() has written, and that nothing went wrong besides.
expect_checks <- function(run, names) {
  expect_identical(run$status, 0L)
  expect_identical(grep("(ok|WRONG) $", run$output, value = TRUE), paste(names, "ok "))
  expect_no_match(run$output, "C stack|Error|Warning", all = FALSE)
}

# Programs that print, twice `count` of them, and loops that do, captured and not.
prints <- "
  printing <- function(k) {
    xla_jit(function(x) {
      hlo_custom_call('print_tensor', x + k, list(), has_side_effect = TRUE)
      x
    })
  }
  in_loop <- xla_jit(function(x) {
    hlo_fori(1, 60, function(i, x) {
      hlo_custom_call('print_tensor', x, list(), has_side_effect = TRUE)
      x + 1
    }, x)
  })
  shown <- function(value) c('PJRTBuffer', paste0(' ', value), '[ f64{1} ]')
  out <- capture.output(for (k in 1:count) printing(k)(0))
  check('captured', out, unlist(lapply(1:count, shown)))
  out <- capture.output(last <- in_loop(0))
  check('captured loop', out, unlist(lapply(0:59, shown)))
  check('its value', last, 60)
  for (k in count + 1:count) printing(k)(0)
  in_loop(0)
"

test_that("programs that print do so by our handler, whoever has the name", {
  skip_without_plugin()
  skip_on_os("windows")
  host <- foreign_host()
  checks <- c("captured", "captured loop", "its value", "lines", "elsewhere")
  end <- "
    text <- capture.output(for (k in 1:3) printing(k)(0))
    check('lines', sum(text == 'PJRTBuffer'), 3L)
    check('elsewhere', elsewhere(), 0L)
  "
  for (first in c(TRUE, if (all_run()) FALSE)) {
    registers <- "stopifnot(is.null(foreign('print_tensor', 'prints')))"
    order <- if (first) c(registers, "invisible(pjrt_client())") else c("invisible(pjrt_client())", registers)
    theirs <- "on_foreign('func.func @main() -> tensor<f32> {
      %x = stablehlo.constant dense<7.0> : tensor<1xf64>
      stablehlo.custom_call @print_tensor(%x) {api_version = 4 : i32, has_side_effect = true} : (tensor<1xf64>) -> ()
      %r = stablehlo.constant dense<2.0> : tensor<f32>
      return %r : tensor<f32>
    }')"
    # The largest of the square roots of -1, 0, 1, ...
    largest <- "on_foreign('func.func @main() -> tensor<f32> {
      %i = stablehlo.iota dim = 0 : tensor<5000xf32>
      %one = stablehlo.constant dense<1.0> : tensor<5000xf32>
      %x = stablehlo.subtract %i, %one : tensor<5000xf32>
      %y = stablehlo.sqrt %x : tensor<5000xf32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %r = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [0]
        : (tensor<5000xf32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }')"
    run <- run_r(c(
      host, order, "options(warn = 2)", sprintf("count <- %d", if (first && all_run()) 100 else 10), prints, end,
      sprintf("out <- capture.output(%s)", theirs), "check('their own', out[[1]], 'theirs: 7')",
      sprintf("check('NaN', %s, NaN)", largest)
    ))
    expect_checks(run, c(checks, "their own", "NaN"))
  }
})

test_that("every public name of ours means ours in our programs", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  results <- "
    x <- matrix(c(4, 1, 2, 1, 5, 3, 2, 3, 6), 3)
    f <- function(target, ..., types = list(f = ffi_type('f64', c(3, 3)), i = ffi_type('i32', 3)), columns = TRUE) {
      layout <- if (columns) 'column'
      xla_jit(function(x) {
        hlo_custom_call(target, x, types, operand_layouts = layout, result_layouts = layout, ...)
      })(x)
    }
    op <- ffi_source('x: f64[n] -> y: f64[n]', 'for (int64_t i = 0; i < n; i++) y[i] = 3 * x[i];', name = 'taken_op')
    called <- ffi_callback(function(x) x * 5, 'x: f64[n] -> y: f64[n]', name = 'taken_function')
    results <- list(
      lu = f('lu'), cholesky = f('cholesky', types = ffi_type('f64', c(3, 3))),
      potrf = f('lapack_dpotrf_ffi', list(uplo = ffi_attribute(76L, 'ui8')),
        types = list(ffi_type('f64', c(3, 3)), ffi_type('i32'))),
      op = op(c(1, 2)), called = called(c(1, 2)), chol = xla_chol(x), svd = xla_svd(x)
    )
    calls <- '{api_version = 4 : i32}'
    text <- sprintf('func.func @main(%%x: tensor<2xf64>) -> tensor<2xf64> {
      %%y = stablehlo.custom_call @taken_op(%%x) %s : (tensor<2xf64>) -> tensor<2xf64>
      return %%y : tensor<2xf64>\\n}', calls)
    execute <- function(program) as_array(pjrt_execute(pjrt_compile(program), pjrt_buffer(c(1, 2), 'f64')))
  "
  host <- foreign_host()
  file <- withr::local_tempfile()
  # The same program as bytecode and as HLO
  script <- withr::local_tempfile(lines = "
import sys
from jaxlib._jax import mlir as m
text = '''func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = stablehlo.custom_call @taken_op(%x) {api_version = 4 : i32} : (tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}'''
open(sys.argv[1], 'wb').write(m.serialize_portable_artifact(text, '1.9.0'))
open(sys.argv[2], 'wb').write(m.mlir_module_to_xla_computation(text).as_serialized_hlo_module_proto())
")
  files <- c(withr::local_tempfile(), withr::local_tempfile())
  expect_identical(system2(plugin_python(), c(script, files)), 0L)
  own <- run_r(c(results, sprintf("saveRDS(results, '%s')", file)))
  expect_identical(own$status, 0L)
  run <- run_r(c(
    host,
    "names <- c(ffi_targets()$target[grepl('host', ffi_targets()$platforms)], 'taken_op', 'taken_function')",
    "told <- vapply(names, function(name) is.null(foreign(name, 'spoils')), NA)",
    "options(warn = 2)",
    results,
    sprintf("check('taken', all(told), TRUE); check('results', results, readRDS('%s'))", file),
    "check('program', execute(pjrt_program(text)), array(c(3, 6)))",
    sprintf("check('bytecode', execute(pjrt_program(path = '%s')), array(c(3, 6)))", files[[1]]),
    sprintf("check('hlo', execute(pjrt_program(path = '%s', format = 'hlo')), array(c(3, 6)))", files[[2]])
  ))
  expect_checks(run, c("taken", "results", "program", "bytecode", "hlo"))
})

test_that("on a plugin of others, what is no text is refused where it calls a name of another host's", {
  skip_without_plugin()
  skip_if(is_included_plugin(), "this CPU plugin gives calls other names")
  skip_on_os("windows")
  host <- sub("getLoadedDLLs()[['xlaffi']][['path']]", "xlaffi:::plugin_found('cpu')", foreign_host(), fixed = TRUE)
  run <- run_r(c(host, "
    invisible(pjrt_client())
    stopifnot(is.null(foreign('taken_op', 'spoils')))
    op <- ffi_callback(function(x) x * 5, 'x: f64[n] -> y: f64[n]', name = 'taken_op')
    check('text', op(c(1, 2)), c(5, 10))
    program <- pjrt_program(charToRaw('. taken_op .'), format = 'hlo')
    refused <- tryCatch(pjrt_compile(program), xlaffi_error_failed_precondition = conditionMessage)
    check('hlo', grepl('calls `taken_op`', refused), TRUE)
  "))
  expect_checks(run, c("text", "hlo"))
})

test_that("handlers of others run on R's thread", {
  skip_unless_all()
  skip_unless_included("waits for other hosts")
  skip_on_os("windows")
  host <- foreign_host()
  # Large enough to be off the thread that launches it
  run <- run_r(c(host, "
    count <- 50
    stopifnot(is.null(foreign('tells', 'tells')), is.null(foreign('stops', 'stops')))
    tells <- function(x) hlo_custom_call('tells', x, x)
    out <- capture.output(for (k in 1:count) stopifnot(xla_jit(function(x) tells(x + k))(0) == k + 1))
    check('programs', out, paste('told', 1:count))
    loop <- xla_jit(function(x) hlo_fori(1, 60, function(i, x) tells(x), x))
    out <- capture.output(last <- loop(0))
    check('loop', list(out, last), list(paste('told', 0:59), 60))
    large <- xla_jit(function(x) {
      m <- matrix(x, 300, 300)
      tells((m %*% m)[1, 1]) + tells((m %*% t(m))[2, 2] + 1)
    })
    out <- capture.output(value <- large(0.1))
    check('large', list(sort(out), value), list(c('told 3', 'told 4'), 9))
    later <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<f64>) -> tensor<f64> {
      %y = stablehlo.custom_call @tells(%x) {api_version = 4 : i32} : (tensor<f64>) -> tensor<f64>
      return %y : tensor<f64>\\n}'))
    kept <- pjrt_deserialize(pjrt_serialize(later))
    out <- capture.output(y <- lapply(list(later, kept), pjrt_execute, pjrt_scalar(5, 'f64')))
    check('kept', list(out, lapply(y, as_array)), list(rep('told 5', 2), list(6, 6)))
    stops <- xla_jit(function(x) hlo_custom_call('stops', x, x))
    message <- tryCatch(stops(2), error = conditionMessage)
    check('stops', grepl('`stops` of another host was left by an error of R', message), TRUE)
    loop(1)
    check('elsewhere', elsewhere(), 0L)
  "))
  expect_identical(run$status, 0L)
  expect_identical(
    grep("(ok|WRONG) $", run$output, value = TRUE),
    paste(c("programs", "loop", "large", "kept", "stops", "elsewhere"), "ok ")
  )
})
