# What compilers wrote, as it was: their versions differ.
said <- function(language, log, files = c(times.c = "the body", support.c = "`support`")) {
  error_of(xlaffi:::compiler_error("times", language, log, files))
}

test_that("errors of gcc and clang are shown with the user's lines", {
  gcc <- c(
    "times.c: In function 'xlaffi_times_1':",
    "times.c:2:8: error: 'q' undeclared (first use in this function)",
    "    2 | z[1] = q;",
    "      |        ^",
    "times.c:2:8: note: each undeclared identifier is reported only once for each function it appears in",
    "times.c:3:1: warning: unused variable 'u' [-Wunused-variable]",
    "    3 | int u;",
    "support.c:7:5: error: implicit declaration of function 'foo' [-Werror=implicit-function-declaration]",
    "    7 | foo(3);",
    "      | ^~~",
    "times.c: In function 'xlaffi_times_2':",
    "times.c:2:8: error: 'q' undeclared (first use in this function)",
    "    2 | z[1] = q;",
    "      |        ^"
  )
  error <- said("c", gcc)
  expect_snapshot(cat(conditionMessage(error)))
  expect_identical(error$log, gcc)
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  expect_identical(error$op, "times")
  clang <- c(
    "times.c:2:8: error: use of undeclared identifier 'q'",
    "z[1] = q;",
    "       ^",
    "1 error generated."
  )
  expect_snapshot(cat(conditionMessage(said("c", clang))))
})

test_that("errors of gfortran are shown with the user's lines", {
  gfortran <- c(
    "times.f90:2:5:", "",
    "    2 | z = q * x",
    "      |     1",
    "Error: Symbol 'q' at (1) has no IMPLICIT type",
    "times.f90:5:5:", "",
    "    5 | w = x",
    "      |     1",
    "Warning: Possible change of value in conversion at (1)"
  )
  expect_snapshot(cat(conditionMessage(said("fortran", gfortran, c(times.f90 = "the body")))))
})

test_that("errors of rustc are shown with the user's lines", {
  rustc <- c(
    "error[E0425]: cannot find value `q` in this scope",
    " --> times.rs:1:10",
    "  |",
    "1 | { z[0] = q;",
    "  |          ^ not found in this scope",
    "",
    "error: aborting due to 1 previous error",
    "",
    "For more information about this error, try `rustc --explain E0425`."
  )
  expect_snapshot(cat(conditionMessage(said("rust", rustc, c(times.rs = "the body")))))
})

test_that("warnings are shown with the user's lines, and those of generated code are not", {
  warned <- function(language, log, files = c(times.c = "the body")) {
    cat(conditionMessage(rlang::catch_cnd(xlaffi:::compiler_warnings("times", language, log, files))))
  }
  gcc <- c(
    "times.c: In function 'xlaffi_times_1':", "times.c:2:11: warning: division by zero [-Wdiv-by-zero]",
    "    2 | int q = 1 / 0;", "      |           ^",
    "unit1.c:9:1: warning: unused variable 'n' [-Wunused-variable]", "    9 | int n;",
    "times.c: In function 'xlaffi_times_2':", "times.c:2:11: warning: division by zero [-Wdiv-by-zero]",
    "    2 | int q = 1 / 0;", "      |           ^"
  )
  gfortran <- c(
    "times.f90:5:5:", "", "    5 | w = x", "      |     1",
    "Warning: Possible change of value in conversion from REAL(8) to REAL(4) at (1) [-Wconversion]"
  )
  rustc <- c(
    "warning: unused variable: `q`", " --> code.rs:3:9", "  |", "3 |     let q = 1;", "  |         ^", "",
    "warning: `op` (lib) generated 1 warning"
  )
  expect_snapshot({
    warned("c", gcc)
    warned("c", sprintf("times.c:%d:1: warning: mistake", 1:5))
    warned("fortran", gfortran, c(times.f90 = "the body"))
    warned("rust", rustc, c(code.rs = "the code"))
  })
  expect_null(rlang::catch_cnd(xlaffi:::compiler_warnings("times", "c", gcc[5:6], c(times.c = "the body"))))
  withr::local_options(xlaffi.compiler_warnings = FALSE)
  expect_null(rlang::catch_cnd(xlaffi:::compiler_warnings("times", "c", gcc, c(times.c = "the body"))))
})

test_that("warnings are told once, when code is compiled", {
  skip_without_plugin()
  local_code_cache()
  make <- function(...) {
    ffi_source("x: T[n] -> z: T[n]", "for (int64_t i = 0; i < n; i++)\n  z[i] = x[i] + warned(3);",
      support = "#warning \"attention\"\nstatic int warned(int x) { return x; }", name = "warned", ...
    )
  }
  message <- expect_message(make(), "line 1 of `support`: warning: .*attention", class = "xlaffi_message_compiler")
  expect_identical(message$op, "warned")
  expect_true(any(grepl("attention", message$log)))
  expect_no_message(make())
})

test_that("what is no message about a line is shown as it is, and long lists are cut", {
  linker <- c("/usr/bin/ld: cannot find -lnowhere", "collect2: error: ld failed")
  expect_snapshot(cat(conditionMessage(said("c", linker))))
  many <- sprintf("times.c:%d:1: error: mistake", 1:5)
  expect_snapshot(cat(conditionMessage(said("c", many))))
})

test_that("a missing compiler says how to get one", {
  local_code_cache()
  withr::local_envvar(RUSTC = "no-such-rustc")
  error <- error_of(ffi_source("x: f64[] -> z: f64[]", "z[0] = *x;", "rust"))
  expect_s3_class(error, "xlaffi_error_not_found")
  expect_snapshot(cat(conditionMessage(error)))
  for (language in c("c", "fortran")) {
    error <- error_of(xlaffi:::no_compiler(language, "no-such-cc", NULL))
    expect_match(conditionMessage(error), "there is no program `no-such-cc`", fixed = TRUE)
    expect_match(conditionMessage(error), "brings it|for R is at")
  }
})

test_that("R's variables are found, and those of the user's Makevars", {
  skip_without_build_tools()
  local_code_cache()
  config <- function(name) {
    system2(file.path(R.home("bin"), "R"), c("CMD", "config", name), stdout = TRUE)
  }
  for (name in c("CC", "CFLAGS", "CPICFLAGS", "FC", "LDFLAGS")) {
    expect_identical(unname(xlaffi:::make_variables()[[name]]), config(name))
  }
  withr::local_envvar(R_MAKEVARS_USER = withr::local_tempfile(lines = "CFLAGS = -O1 -Dname=\"a b\""))
  expect_identical(unname(xlaffi:::make_variables()[["CFLAGS"]]), "-O1 -Dname=\"a b\"")
  expect_identical(xlaffi:::words_of("-O1 -Dname=\"a b\" -c"), c("-O1", "-Dname=a b", "-c"))
})

test_that("facts about compilers are found again on disk, and anew when the compiler changes", {
  skip_on_os("windows")
  local_code_cache()
  compiler <- withr::local_tempfile(lines = c("#!/bin/sh", "echo first"))
  Sys.chmod(compiler, "0755")
  expect_identical(xlaffi:::program_version(compiler, "c"), "first")
  op_state <- xlaffi:::op_state
  op_state$compilers <- list()
  facts <- list.files(xlaffi:::code_folder(), "^fact-", full.names = TRUE)
  expect_length(facts, 1L)
  expect_identical(xlaffi:::program_version(compiler, "c"), "first")
  writeLines(c("#!/bin/sh", "echo second one"), compiler)
  expect_identical(xlaffi:::program_version(compiler, "c"), "second one")
  # Nor is one of which a byte has changed,
  op_state$compilers <- list()
  bytes <- readBin(facts, "raw", file.size(facts))
  at <- grepRaw("second one", bytes)
  bytes[at] <- as.raw(0xcb)
  writeBin(bytes, facts)
  expect_identical(xlaffi:::program_version(compiler, "c"), "second one")
  # and one that others could have written.
  op_state$compilers <- list()
  kept <- unserialize(readBin(facts, "raw", file.size(facts)))
  fact <- unserialize(kept$bytes)
  fact$value <- "foreign"
  kept$bytes <- serialize(fact, NULL)
  kept$digest <- xlaffi:::digest_of(kept$bytes)
  writeBin(serialize(kept, NULL), facts)
  Sys.chmod(facts, "0666", use_umask = FALSE)
  expect_identical(xlaffi:::program_version(compiler, "c"), "second one")
})

# Whether a process does anything yet; one that has ended may be waited for by nobody.
is_running <- function(id) {
  facts <- file.path("/proc", id, "stat")
  state <- if (dir.exists("/proc/self")) {
    if (file.exists(facts)) sub("^.*[)] ", "", readLines(facts, warn = FALSE))
  } else {
    suppressWarnings(system2("ps", c("-o", "stat=", "-p", id), stdout = TRUE))
  }
  length(state) > 0L && !startsWith(state, "Z")
}

test_that("long work is told, and an interrupt ends the compiler", {
  skip_unless_all()
  skip_on_os("windows")
  script <- withr::local_tempfile(lines = c("#!/bin/sh", "sleep 1.3", "echo done"))
  count <- 0
  done <- xlaffi:::run_program("/bin/sh", script, tempdir(), function() count <<- count + 1)
  expect_identical(count, 1)
  expect_identical(done, list(status = 0L, output = "done"))
  expect_message(
    xlaffi:::run_commands(list(c("/bin/sh", script)), tempdir(), "times", "c"),
    "Compiling times", class = "xlaffi_message_compiling"
  )
  file <- withr::local_tempfile()
  writeLines(c("#!/bin/sh", "sleep 5 &", sprintf("echo $! > %s", file), "wait"), script)
  limited <- function() {
    setTimeLimit(elapsed = 0.5, transient = TRUE)
    on.exit(setTimeLimit())
    xlaffi:::run_program("/bin/sh", script, tempdir())
  }
  expect_error(limited(), "elapsed time limit")
  Sys.sleep(0.1)
  expect_false(is_running(readLines(file)))
})

test_that("an error in a generated call is told of the function's own line, and an end that is missing of the body's", {
  skip_without_compiler("fortran")
  local_code_cache()
  file <- withr::local_tempfile(fileext = ".c")
  writeLines(c("// mine", "void narrow(const double *x, int n, float *z) {}"), file)
  error <- error_of(ffi_source("x: f64[n] -> z: f64[n]", file = file, name = "narrow"))
  expect_match(conditionMessage(error), paste0("narrow: line 2 of ", basename(file), ": "), fixed = TRUE)
  error <- error_of(ffi_source("x: f64[n] -> z: f64[n]", "if (n > 1) then\n  z = x", "fortran", name = "open"))
  expect_match(conditionMessage(error), "open: line 2 of the body: something that begins in it", fixed = TRUE)
})

test_that("an op may have the name of a generated file", {
  skip_without_compiler("rust")
  local_code_cache()
  for (name in c("unit1", "support")) {
    op <- ffi_source("x: f64[n] -> z: f64[n]", "f(); z.copy_from_slice(x);", "rust", name = name, support = "fn f() {}")
    expect_identical(as.vector(op(c(1, 2))), c(1, 2))
  }
})
