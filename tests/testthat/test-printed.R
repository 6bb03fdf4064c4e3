# Runs `exec` past our own functions, as another host would.
other_host <- "
  other_host <- function(x = pjrt_buffer(7)) {
    run <- .Call(xlaffi:::wrap__executable_execute, exec, list(x), NULL, TRUE, FALSE, FALSE)
    if (inherits(run, 'xlaffi_launched')) run <- run[[1]]
    while (inherits(run, 'xlaffi_run')) {
      done <- .Call(xlaffi:::wrap__run_wait, run, 1)
      if (!is.null(done)) run <- done
    }
    invisible()
  }"

print_program <- function(type, attributes, before = "") {
  compile(sprintf(
    "func.func @main(%%x: tensor<%s>) -> tensor<%s> {
      stablehlo.custom_call @print_tensor(%%x) {
        has_side_effect = true, api_version = 4 : i32, backend_config = {%s}
      } : (tensor<%s>) -> ()
      return %%x : tensor<%s>
    }", type, type, attributes, type, type
  ))
}

test_that("the first example prints exactly this", {
  skip_without_plugin()
  src <- r"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  stablehlo.custom_call @print_tensor(%x) {
    call_target_name = "print_tensor",
    backend_config = {
      print_header = "my matrix",
      print_footer = "----"
    },
    has_side_effect = true,
    api_version = 4 : i32,
    operand_layouts = [dense<[1, 0]> : tensor<2xindex>],
    result_layouts = []
  } : (tensor<2x3xf32>) -> ()

  "func.return"(%x) : (tensor<2x3xf32>) -> ()
}
)"
  exec <- pjrt_compile(pjrt_program(src))
  buf <- pjrt_buffer(matrix(1:6, nrow = 2, ncol = 3), dtype = "f32")
  expect_snapshot({
    out <- pjrt_execute(exec, buf)
    as_array(out)
  })
  text <- capture.output(print(as_array(pjrt_execute(exec, buf))))
  expect_identical(text[1:5], c("my matrix", " 1 3 5", " 2 4 6", "----", "     [,1] [,2] [,3]"))
})

test_that("defaults, and empty lines left out", {
  skip_without_plugin()
  x <- pjrt_buffer(c(1.5, 2))
  plain <- print_program("2xf32", "")
  bare <- print_program("2xf32", 'print_header = "", print_footer = ""')
  expect_snapshot({
    invisible(as_array(pjrt_execute(plain, x)))
    invisible(as_array(pjrt_execute(bare, x)))
  })
})

test_that("every dtype prints", {
  skip_without_plugin()
  types <- c(
    pred = "i1", i8 = "i8", i16 = "i16", i32 = "i32", i64 = "i64", ui8 = "ui8", ui16 = "ui16",
    ui32 = "ui32", ui64 = "ui64", f16 = "f16", bf16 = "bf16", f32 = "f32", f64 = "f64",
    c64 = "complex<f32>", c128 = "complex<f64>"
  )
  for (name in names(types)) {
    data <- if (startsWith(name, "c")) c(1 + 1i, 0i) else c(1, 0)
    exec <- print_program(paste0("2x", types[[name]]), 'print_header = "h"')
    text <- capture.output(invisible(as_array(pjrt_execute(exec, pjrt_buffer(data, name)))))
    label <- if (name == "pred") "bool" else name
    expect_identical(c(text[[1]], text[[length(text)]]), c("h", sprintf("[ %s{2} ]", label)), info = name)
  }
})

test_that("text is not lost when the program fails after it", {
  skip_without_plugin()
  exec <- compile('func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1xi32> {
    stablehlo.custom_call @print_tensor(%x) {
      has_side_effect = true, api_version = 4 : i32,
      backend_config = {print_header = "before the failure", print_footer = ""}
    } : (tensor<1x1xf32>) -> ()
    %0:2 = stablehlo.custom_call @lu(%x) {api_version = 4 : i32} :
      (tensor<1x1xf32>) -> (tensor<1x1xi32>, tensor<1xi32>)
    return %0#0 : tensor<1x1xi32>
  }')
  text <- capture.output(
    error <- error_of(as_array(pjrt_execute(exec, pjrt_buffer(matrix(1)))))
  )
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  expect_identical(text[[1]], "before the failure")
})

test_that("text that nobody asked for comes at the prompt, at unload and at the end", {
  skip_without_plugin()
  skip_unless_all()
  code <- "
    exec <- pjrt_compile(pjrt_program('
      func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
        stablehlo.custom_call @print_tensor(%x) {
          has_side_effect = true, api_version = 4 : i32,
          backend_config = {print_header = \"late\", print_footer = \"\"}
        } : (tensor<1xf32>) -> ()
        return %x : tensor<1xf32>
      }'))
  "
  code <- c(other_host, code)
  at_end <- run_r(c(code, "{other_host(); cat('last\\n'); quit()}"))
  expect_identical(at_end$output, c("last", "late", " 7"))
  at_unload <- run_r(c(code, "other_host(); unloadNamespace('xlaffi'); cat('last\\n')"))
  expect_identical(at_unload$output, c("late", " 7", "last"))
  at_prompt <- run_r(c(code, "other_host()", "cat('last\\n')"))
  expect_identical(at_prompt$output, c("late", " 7", "last"))
})

test_that("what a long program prints is shown while R waits for it", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  # Prints for ever, a number after some milliseconds of work.
  src <- r"(
func.func @main(%n: tensor<i64>) -> tensor<i64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %steps = stablehlo.constant dense<1000000> : tensor<i64>
  %seven = stablehlo.constant dense<7> : tensor<i64>
  %seed = stablehlo.constant dense<88172645463325252> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %x = %seed) : tensor<i64>, tensor<i64>
    cond {
      %go = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      stablehlo.custom_call @print_tensor(%i) {
        has_side_effect = true, api_version = 4 : i32,
        backend_config = {print_header = "turn", print_footer = ""}
      } : (tensor<i64>) -> ()
      %s:2 = stablehlo.while(%j = %zero, %y = %x) : tensor<i64>, tensor<i64>
        cond {
          %more = stablehlo.compare LT, %j, %steps : (tensor<i64>, tensor<i64>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        } do {
          %k = stablehlo.add %j, %one : tensor<i64>
          %1 = stablehlo.shift_left %y, %seven : tensor<i64>
          %2 = stablehlo.xor %y, %1 : tensor<i64>
          stablehlo.return %k, %2 : tensor<i64>, tensor<i64>
        }
      %next = stablehlo.add %i, %one : tensor<i64>
      stablehlo.return %next, %s#1 : tensor<i64>, tensor<i64>
    }
  return %r#1 : tensor<i64>
})"
  file <- withr::local_tempfile(lines = src)
  run <- run_r(sprintf("
    exec <- pjrt_compile(pjrt_program(path = '%s'))
    system(paste('(sleep 3; kill -INT', Sys.getpid(), ') &'))
    tryCatch(pjrt_execute(exec, pjrt_scalar(1e12, 'i64')), interrupt = function(e) cat('interrupted\n'))
    quit(status = 3)
  ", file))
  before <- seq_len(match("interrupted", run$output) - 1L)
  expect_identical(run$output[head(before, 4)], c("turn", " 0", "turn", " 1"))
  expect_identical(run$status, 3L)
})

test_that("a handler that another host calls on R's thread prints at once, behind what waits", {
  skip_without_plugin()
  skip_unless_all()
  config <- 'api_version = 4 : i32, backend_config = {print_header = "text", print_footer = ""}, has_side_effect = true'
  calls <- c(
    sprintf('stablehlo.custom_call @print_tensor(%%x) {%s} : (tensor<1xf32>) -> ()', config),
    sprintf('"stablehlo.custom_call"(%%x) <{call_target_name = "print_tensor", %s}> : (tensor<1xf32>) -> ()', config)
  )
  for (call in calls) {
    src <- sprintf("func.func @main(%%x: tensor<1xf32>) -> tensor<1xf32> {\n%s\nreturn %%x : tensor<1xf32>\n}", call)
    file <- withr::local_tempfile(lines = src)
    run <- run_r(c(other_host, sprintf("
      exec <- pjrt_compile(pjrt_program(path = '%s'))
      # A run whose forerunner took less than a millisecond is on R's thread.
      # What waits after the last run would come at the prompt, in front of all: reading an array shows it.
      shown <- c(
        lapply(1:50, function(i) capture.output(other_host(pjrt_buffer(i + 0)))),
        list(capture.output(invisible(as_array(pjrt_buffer(0)))))
      )
      cat(any(lengths(shown[1:50]) > 0L), '\\n')
      writeLines(unlist(shown))
    ", file)))
    expect_identical(run$output[[1L]], "TRUE ", info = call)
    expect_identical(run$output[-1L], c(rbind("text", paste0(" ", 1:50))))
  }
})
