test_that("errors have classes, fields and the caller's name", {
  error <- error_of(pjrt_program())
  expect_s3_class(error, c("xlaffi_error_invalid_argument", "xlaffi_error"), exact = FALSE)
  expect_identical(error$code, "INVALID_ARGUMENT")
  expect_identical(error$operand, "src")
  expect_identical(deparse(error$call[[1]]), "pjrt_program")
})

test_that("messages are text and no templates", {
  error <- error_of(xlaffi:::abort("{stop('evaluated')} {.cls x} }{", hint = "{1 + 1}"))
  expect_match(conditionMessage(error), "{stop('evaluated')} {.cls x} }{", fixed = TRUE)
  expect_match(conditionMessage(error), "{1 + 1}", fixed = TRUE)
})

test_that("a failure of the Rust side becomes a condition with all its fields", {
  failure <- structure(
    list(code = "NOT_FOUND", message = "no {such} thing", op = "lu", operand = "a", hint = NULL),
    class = "xlaffi_failure"
  )
  error <- error_of(xlaffi:::raise(failure))
  expect_s3_class(error, "xlaffi_error_not_found")
  expect_identical(error[c("code", "op", "operand")], list(code = "NOT_FOUND", op = "lu", operand = "a"))
})

test_that("objects that are not ours are refused with a text", {
  # Attributes of an external pointer are shared by all names of it: two pointers.
  foreign <- ffi_handler("lu", "host")
  theirs <- structure(ffi_handler("lu", "host"), class = "PJRTBuffer")
  expect_snapshot(error = TRUE, {
    as_array.xlaffi_buffer <- getS3method("as_array", "xlaffi_buffer")
    as_array.xlaffi_buffer(1)
    as_array.xlaffi_buffer(NULL)
    as_array.xlaffi_buffer(foreign)
    as_array.xlaffi_buffer(theirs)
    platform(structure(list(), class = "xlaffi_client"))
    pjrt_buffer(theirs)
    pjrt_device(theirs)
    as_pjrt_client(theirs)
    as_pjrt_plugin(theirs)
  })
})

test_that("external pointers that were saved and loaded are refused", {
  program <- unserialize(serialize(pjrt_program("module {}"), NULL))
  expect_snapshot(error = TRUE, inspect_hlo(program))
})

test_that("a name that is not there has a hint where one is near", {
  hint <- function(name, known) xlaffi:::name_hint(name, known, "`%s`", "none")
  expect_identical(hint("hots", c("cpu", "host")), "Did you mean `host`?")
  expect_identical(hint("Uplo", c("n", "uplo")), "Did you mean `uplo`?")
  expect_identical(hint("print_heeder", c("print_footer", "print_header")), "Did you mean `print_header`?")
  expect_identical(hint("x", c("n", "uplo")), "none")
  expect_identical(hint("nothing like it", c("host", "lu")), "none")
  expect_identical(hint("x", character()), "none")
})

test_that("text that is none in its encoding is refused", {
  withr::local_locale(LC_CTYPE = "C.UTF-8")
  expect_error(ffi_call("a\xffb", ffi_type("f64")), "`target` is not valid text", class = "xlaffi_error")
})

test_that("a missing string is no text", {
  expect_identical(xlaffi:::describe(NA_character_), "NA")
  expect_identical(xlaffi:::describe("NA"), "\"NA\"")
})

test_that("without UTF-8 messages, prints and names are plain text", {
  skip_without_plugin()
  run <- run_r(c(
    "stopifnot(!l10n_info()[['UTF-8']])",
    "told <- function(e) cat(class(e)[[1]], conditionMessage(e), sep = '\\n')",
    "tryCatch(pjrt_buffer('a'), error = told)",
    "tryCatch(xla_jit(function(x) x + 1)(letters), error = told)",
    "tryCatch(xla_chol(matrix(1, 2, 3)), error = told)",
    "tryCatch(ffi_source('x: T[n -> z: T[n]', name = 'times', code = ''), error = told)",
    "tryCatch(ffi_call('caf\\u00e9', ffi_type('f64')), error = told)",
    "print(pjrt_buffer(c(1, 2)))",
    "print(ffi_type('f64', c(2, 3)))",
    "print(xla_program(function(x) x + 1, 1))"
  ), env = c(LC_ALL = "C", LANG = "C"))
  expect_snapshot(writeLines(run$output))
  expect_identical(run$status, 0L)
})
