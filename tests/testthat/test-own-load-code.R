local_code_cache(teardown_env())

# For each language: a number that is set when the library is loaded, and a file that is written when it goes.
load_code <- list(
  c = list(
    support = "#include <stdio.h>\nstatic double number = 1;", body = "*z = *x + number;",
    on_load = "if (number != 1) FAIL(\"twice\");\nnumber = 40;",
    fail = "FAIL_WITH(XLAFFI_NOT_FOUND, \"no table %d\", 3);",
    on_unload = "FILE *file = fopen(\"%s\", \"a\"); fprintf(file, \"%%g\\n\", number); fclose(file);"
  ),
  "c++" = list(
    support = "#include <cstdio>\n#include <stdexcept>\nstatic double number = 1;", body = "*z = *x + number;",
    on_load = "if (number != 1) throw std::runtime_error(\"twice\");\nnumber = 40;",
    fail = "throw std::runtime_error(\"no table 3\");",
    on_unload = "FILE *file = std::fopen(\"%s\", \"a\"); std::fprintf(file, \"%%g\\n\", number); std::fclose(file);"
  ),
  rust = list(
    support = "use std::sync::OnceLock; static NUMBER: OnceLock<f64> = OnceLock::new();",
    body = "*z = *x + NUMBER.get().unwrap();", on_load = "NUMBER.set(40.0).map_err(|_| \"twice\")?;",
    fail = "fail!(\"no table {}\", 1 + 2);",
    on_unload = "std::fs::write(\"%s\", format!(\"{}\\n\", NUMBER.get().unwrap()))?;"
  )
)

with_load_code <- function(language, ...) {
  code <- load_code[[language]]
  ffi_source("x: f64[] -> z: f64[]", code$body, language, support = code$support, name = "at_load", ...)
}

for (language in names(load_code)) {
  test_that(sprintf("code runs once when a library in %s is loaded, and once when it goes", language), {
    skip_without_compiler(language)
    skip_on_os("windows")
    if (language != "c") skip_unless_all()
    code <- load_code[[language]]
    file <- withr::local_tempfile()
    lines <- vapply(c(
      sprintf("options(xlaffi.code_cache = %s)", deparse(getOption("xlaffi.code_cache"))),
      sprintf("make <- function() ffi_source('x: f64[] -> z: f64[]', %s,", deparse(code$body)),
      sprintf("  lang = %s, support = %s,", deparse(language), deparse(code$support)),
      sprintf("  on_load = %s,", deparse(code$on_load)),
      sprintf("  on_unload = %s, name = 'at_load')", deparse(sprintf(code$on_unload, file))),
      "op <- suppressMessages(make())", "cat(op(2), make()(3), '\\n')",
      sprintf("cat(file.exists(%s))", deparse(file))
    ), identity, "")
    run <- run_r(lines)
    expect_identical(run$output, c("42 43 ", "FALSE"))
    expect_identical(readLines(file), "40")
  })

  test_that(sprintf("an error at the load of %s is told, and there is no op", language), {
    skip_without_compiler(language)
    skip_unless_all()
    code <- load_code[[language]]
    gone <- withr::local_tempfile()
    end <- if (.Platform$OS.type == "unix") sprintf(code$on_unload, gone)
    error <- error_of(suppressMessages(with_load_code(language, on_load = code$fail, on_unload = end)))
    expect_identical(conditionMessage(error), "at_load: `on_load` fails: no table 3")
    expect_s3_class(error, if (language == "c") "xlaffi_error_not_found" else "xlaffi_error")
    expect_identical(error$operand, "on_load")
    gc()
    # What was not loaded well does not end.
    expect_false(file.exists(gone))
  })
}

test_that("support code that is compiled for each dtype is loaded for each", {
  skip_without_plugin()
  op <- ffi_source("x: T[] -> z: T[]", "*z = *x + number;",
    support = "static T number;", on_load = "number = (T) 40;"
  )
  expect_equal(as_array(op(pjrt_scalar(2, "f32"))), 42)
  expect_equal(as_array(op(pjrt_scalar(2, "f64"))), 42)
})

test_that("an error at the end is printed", {
  skip_unless_all()
  skip_on_os("windows")
  for (language in names(load_code)) {
    skip_without_compiler(language)
    code <- if (language == "rust") "fail!(\"late {}\", 7)" else "FAIL(\"late %d\", 7);"
    run <- run_r(c(
      sprintf("options(xlaffi.code_cache = %s)", deparse(getOption("xlaffi.code_cache"))),
      sprintf("op <- suppressMessages(ffi_source('x: f64[] -> z: f64[]', '*z = *x;', %s,", deparse(language)),
      sprintf("  on_unload = %s))", deparse(code))
    ))
    expect_identical(run, list(output = "late 7", status = 0L))
  }
})

test_that("a mistake in code at load is shown with its line, and other languages have none", {
  skip_without_plugin()
  mistake <- error_of(ffi_source("x: f64[] -> z: f64[]", "*z = *x;", name = "loaded", on_load = "int a;\nb = 1;"))
  expect_match(conditionMessage(mistake), "^loaded: line 2 of `on_load`: ")
  expect_snapshot(error = TRUE, {
    ffi_source("x: f64[] -> z: f64[]", "z = x", "fortran", name = "loaded", on_load = "z = 1")
    ffi_source("x: f64[] -> z: f64[]", "*z = *x;", on_load = character())
  })
})
