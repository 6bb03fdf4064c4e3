# What gets into compiled code besides its text: whatever of it changes, the code is that of what is there now.

# Makes an op three times, with 1, 2 and 1 again in what `set(number)` writes: what it returns then.
numbers_of <- function(set, ...) {
  vapply(c(1, 2, 1), function(number) {
    set(number)
    ffi_source("-> z: f64[]", name = "number", ...)()
  }, 0)
}

write_header <- function(file) function(number) writeLines(sprintf("#define NUMBER %d", number), file)

# A static library with a function of that name.
write_archive <- function(folder, name = "number") {
  function(number) {
    withr::with_dir(folder, {
      writeLines(sprintf("double %s_of(void) { return %d; }", name, number), "number.c")
      system2("gcc", c("-c", "-fPIC", "number.c", "-o", "number.o"))
      unlink(sprintf("lib%s.a", name))
      system2("ar", c("rc", sprintf("lib%s.a", name), "number.o"))
    })
  }
}

test_that("headers that variables of the environment find belong to the code", {
  skip_without_compiler("c")
  local_code_cache()
  folder <- withr::local_tempdir()
  set <- write_header(file.path(folder, "number.h"))
  include <- "#include <number.h>"
  cases <- list(list("CPATH", "c"), list("C_INCLUDE_PATH", "c"), list("CPLUS_INCLUDE_PATH", "c++"))
  for (case in cases) {
    withr::local_envvar(stats::setNames(folder, case[[1]]))
    expect_identical(numbers_of(set, code = "*z = NUMBER;", support = include, lang = case[[2]]), c(1, 2, 1))
    withr::local_envvar(stats::setNames(NA, case[[1]]))
  }
  # One that comes before another of its name
  other <- withr::local_tempdir()
  withr::local_envvar(CPATH = paste(other, folder, sep = .Platform$path.sep))
  number <- function() ffi_source("-> z: f64[]", "*z = NUMBER;", name = "number", support = include)()
  set(1)
  expect_identical(number(), 1)
  write_header(file.path(other, "number.h"))(2)
  expect_identical(number(), 2)
  unlink(file.path(other, "number.h"))
  expect_identical(number(), 1)
})

test_that("what the compiler alone knows it has read belongs to the code", {
  skip_without_compiler("c")
  local_code_cache()
  folder <- withr::local_tempdir()
  set <- write_header(file.path(folder, "number.h"))
  # The name is in no text, and not a macro of its own
  flags <- c(sprintf("-DIN(x)=<%s/x>", folder), "-DNAME=number.h")
  code <- numbers_of(set, code = "*z = NUMBER;", support = "#define ALL IN(NAME)\n#include ALL", flags = flags)
  expect_identical(code, c(1, 2, 1))
  # The system's headers are looked at, too.
  ffi_source("-> z: f64[]", "*z = NAN;", name = "system", support = "#include <math.h>")
  made <- xla_cache("code")
  inputs <- xlaffi:::compiled_inputs(made$folder[made$name == "system"])
  expect_true(any(grepl("stdint", inputs$files$file)))
  expect_true(xlaffi:::are_current(inputs, TRUE))
  inputs$files$stamp[[1]] <- "another time"
  expect_true(xlaffi:::are_current(inputs, TRUE))
  inputs$files$digest[[1]] <- "another text"
  expect_false(xlaffi:::are_current(inputs, TRUE))
})

test_that("static libraries belong to the code, however they are found", {
  skip_unless_all()
  skip_without_compiler("c")
  skip_on_os("windows")
  local_code_cache()
  folder <- withr::local_tempdir()
  set <- write_archive(folder)
  number <- function(...) numbers_of(set, code = "*z = number_of();", support = "double number_of(void);", ...)
  L <- paste0("-L", folder)
  expect_identical(number(libraries = "number", flags = L), c(1, 2, 1))
  expect_identical(number(flags = c(L, "-Wl,--whole-archive,-lnumber,--no-whole-archive")), c(1, 2, 1))
  words <- withr::local_tempfile(lines = file.path(folder, "number.o"))
  expect_identical(number(flags = paste0("@", words)), c(1, 2, 1))
  withr::local_envvar(LIBRARY_PATH = folder)
  expect_identical(number(libraries = "number"), c(1, 2, 1))
})

test_that("files that the assembler takes in belong to the code", {
  skip_without_compiler("c")
  skip_on_os(c("windows", "mac"))
  local_code_cache()
  file <- withr::local_tempfile()
  set <- function(number) writeBin(as.double(number), file)
  support <- function(line) {
    sprintf("__asm__(\".data\\n.globl bytes_\\nbytes_: %s\\n.text\\n\");\nextern const double bytes_[];", line)
  }
  number <- function(line) numbers_of(set, code = "*z = bytes_[0];", support = support(line))
  expect_identical(number(sprintf(".incbin \\\"%s\\\"", file)), c(1, 2, 1))
  # A name in pieces is not known: such code is compiled each time.
  pieces <- sprintf(".incbin \" \"\\\"%s\" \"%s\\\"", dirname(file), file.path("", basename(file)))
  expect_identical(number(pieces), c(1, 2, 1))
})

test_that("the time is that of the compilation", {
  skip_without_compiler("c")
  local_code_cache()
  withr::local_options(xlaffi.compiler_warnings = FALSE)
  made <- function(code) {
    ffi_source("-> z: f64[]", code, name = "timed")
    nrow(xla_cache("code"))
  }
  expect_identical(c(made("*z = 1;"), made("*z = 1;")), c(1L, 1L))
  expect_identical(c(made("*z = __TIME__[0];"), made("*z = __TIME__[0];")), c(2L, 3L))
})

test_that("modules belong to code in Fortran", {
  skip_without_compiler("fortran")
  local_code_cache()
  folder <- withr::local_tempdir()
  set <- function(number) {
    withr::with_dir(folder, {
      writeLines(sprintf("module Numbers\nreal(8), parameter :: number = %d\nend module", number), "numbers.f90")
      system2("gfortran", c("-c", "-fPIC", "numbers.f90"))
    })
  }
  expect_identical(numbers_of(set, code = "z = the_number()", lang = "fortran", include = folder, support = c(
    "module reads", "contains", "function the_number() result(number_there)", "use numbers", "real(8) :: number_there",
    "number_there = number", "end function", "end module"
  )), c(1, 2, 1))
})

test_that("variables, files and libraries that code in Rust asks for belong to it", {
  skip_unless_all()
  skip_without_compiler("rust")
  skip_on_os("windows")
  local_code_cache()
  folder <- withr::local_tempdir()
  file <- file.path(folder, "number.txt")
  set <- function(number) {
    Sys.setenv(XLAFFI_NUMBER = number, XLAFFI_FOLDER = folder)
    writeLines(as.character(number), file, sep = "")
  }
  withr::defer(Sys.unsetenv(c("XLAFFI_NUMBER", "XLAFFI_FOLDER")))
  number <- function(text) numbers_of(set, code = sprintf("*z = %s.parse::<f64>().unwrap();", text), lang = "rust")
  expect_identical(number("env!(\"XLAFFI_NUMBER\")"), c(1, 2, 1))
  expect_identical(number("option_env!(\"XLAFFI_NUMBER\").unwrap_or(\"3\")"), c(1, 2, 1))
  expect_identical(number("include_str!(concat!(env!(\"XLAFFI_FOLDER\"), \"/number.txt\"))"), c(1, 2, 1))
  expect_identical(number(sprintf("std::str::from_utf8(include_bytes!(r\"%s\")).unwrap()", file)), c(1, 2, 1))
  archive <- write_archive(folder, "rusty")
  support <- "#[link(name = \"rusty\", kind = \"static\")]\nextern \"C\" { fn rusty_of() -> f64; }"
  code <- "*z = unsafe { rusty_of() };"
  linked <- numbers_of(archive, code = code, lang = "rust", support = support, include = folder)
  expect_identical(linked, c(1, 2, 1))
})

test_that("variables that a crate in a folder asks for belong to the code", {
  skip_unless_all()
  skip_without_compiler("rust")
  skip_if(is.null(xlaffi:::program_file("cargo")), "no cargo")
  local_code_cache()
  crate <- withr::local_tempdir()
  dir.create(file.path(crate, "src"))
  settings <- c("[package]", "name = \"asks\"", "version = \"0.1.0\"", "edition = \"2021\"")
  writeLines(settings, file.path(crate, "Cargo.toml"))
  writeLines(
    "pub fn number() -> f64 { env!(\"XLAFFI_CRATES_NUMBER\").parse().unwrap() }", file.path(crate, "src", "lib.rs")
  )
  withr::defer(Sys.unsetenv("XLAFFI_CRATES_NUMBER"))
  asked <- numbers_of(
    function(number) Sys.setenv(XLAFFI_CRATES_NUMBER = number), code = "*z = asks::number();", lang = "rust",
    dependencies = c(asks = sprintf("{ path = '%s' }", crate))
  )
  expect_identical(asked, c(1, 2, 1))
})

test_that("what is in the cache needs no compiler", {
  skip_unless_all()
  skip_without_compiler("c")
  root <- local_code_cache()
  code <- function(languages, missing = character()) {
    run_r(c(
      sprintf("options(xlaffi.code_cache = '%s')", root),
      sprintf("programs <- xlaffi:::program_file; missing <- c(%s)", toString(sprintf("'%s'", missing))),
      "assignInNamespace('program_file', function(name) if (!basename(name) %in% missing) programs(name), 'xlaffi')",
      "code <- 'for (int64_t i = 0; i < n; i++) z[i] = 2 * x[i];'",
      "twice <- ffi_source('x: f64[n] -> z: f64[n]', code, name = 'twice')",
      "cat('value', twice(c(1, 2)), '\\n')",
      sprintf("code <- '*z = %d;'", length(missing)),
      "new <- tryCatch(ffi_source('-> z: f64[]', code, name = 'new'), error = function(e) cat(class(e)[[1]], '\\n'))"
    ))$output
  }
  expect_identical(code(), "value 2 4 ")
  r <- file.path(R.home("bin"), "R")
  compiler <- basename(strsplit(system2(r, c("CMD", "config", "CC"), stdout = TRUE), " ", fixed = TRUE)[[1L]][[1L]])
  without <- code(missing = c("gcc", "cc", "make", compiler))
  expect_identical(grep("^(value|xlaffi_error)", without, value = TRUE), c("value 2 4 ", "xlaffi_error_not_found "))
})
