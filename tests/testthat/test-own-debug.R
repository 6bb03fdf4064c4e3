bad_handlers <- local({
  library <- NULL
  function(name) {
    if (is.null(library)) {
      headers <- file.path(xla_include(), "xla", "ffi")
      library <<- dyn.load(kept_library("bad-handlers.c", headers, compile_with_header))
    }
    .Call(getNativeSymbolInfo(paste0(name, "_pointer"), library))
  }
})

# A function of one f64 array that calls a handler of bad-handlers.c.
calling <- function(name, ..., target = name, env = parent.frame()) {
  suppressMessages(pjrt_register_custom_call(target, list(host = bad_handlers(name))))
  withr::defer(suppressMessages(ffi_unregister(target, "host")), env)
  xla_jit(function(x) hlo_custom_call(target, x, x, ...))
}

# What is found in a call, without what differs from run to run.
found <- function(f, x = c(1, 2, 4, 8), ...) {
  ffi_debug(f(x), action = "none", ...)
  ffi_findings()
}

test_that("a good handler has no findings, and its value is given back", {
  skip_without_plugin()
  skip_without_build_tools()
  f <- calling("behaves")
  x <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  expect_identical(expect_no_warning(ffi_debug(f(x))), x)
  expect_identical(expect_no_warning(ffi_debug(f(x), guard_pages = .Platform$OS.type == "unix")), x)
  expect_s3_class(ffi_findings(), c("xlaffi_findings", "data.frame"), exact = TRUE)
  expect_identical(nrow(ffi_findings()), 0L)
  expect_snapshot(ffi_findings())
  expect_invisible(ffi_debug(invisible(1)))
})

test_that("every fault is found and told", {
  skip_without_plugin()
  skip_without_build_tools()
  x <- matrix(c(1, 2, 0, 8, 16, 32), 2)
  tell <- function(name, ...) found(calling(name, ...), x)$text
  expect_snapshot({
    tell("writes_behind")
    tell("writes_before")
    tell("leaves_holes")
    tell("changes_operand")
    tell("sees_alignment")
    tell("divides")
  })
  kind <- function(name, ...) found(calling(name, ...))$kind
  expect_identical(kind("counts_calls"), "nondeterministic")
  expect_identical(kind("accumulates"), "uninitialised")
  expect_identical(kind("doubles_in_place", aliases = list(c(1, 1))), "aliasing")
})

test_that("an index is that of the array, however it lies in memory", {
  skip_without_plugin()
  skip_without_build_tools()
  x <- matrix(as.double(1:6), 2)
  expect_identical(found(calling("changes_operand"), x)$index, list(c(1, 2)))
  test <- environment()
  by_column <- function(name, target = name) {
    calling(name, operand_layouts = "column", result_layouts = "column", target = target, env = test)
  }
  # Beside a program with rows nobody can tell.
  expect_identical(found(by_column("changes_operand"), x)$index, list(c(1, 2)))
  finding <- found(by_column("leaves_holes", "leaves_holes_by_column"), x)
  expect_identical(finding$index, list(c(2, 1)))
  expect_identical(finding$count, 3)
})

test_that("findings warn, or are an error", {
  skip_without_plugin()
  skip_without_build_tools()
  # Whatever the session makes of warnings.
  withr::local_options(warn = 1)
  f <- calling("changes_operand")
  warning <- expect_warning(value <- ffi_debug(f(c(1, 2))), class = "xlaffi_warning_findings")
  expect_identical(value, c(1, 2))
  expect_identical(warning$findings, ffi_findings())
  expect_identical(warning$findings$target, "changes_operand")
  error <- expect_error(ffi_debug(f(c(1, 2)), action = "error"), class = "xlaffi_error_findings")
  expect_identical(list(error$op, error$operand, nrow(error$findings)), list("changes_operand", "1", 1L))
  expect_snapshot(value <- ffi_debug(for (i in 1:3) f(c(1, 2))))
  expect_snapshot(ffi_debug(f(c(1, 2)), action = "error"), error = TRUE)
  expect_snapshot(ffi_findings())
})

test_that("an error of the handler is the program's, and what was found before is told", {
  skip_unless_all()
  skip_without_plugin()
  skip_without_build_tools()
  f <- calling("fails")
  findings <- NULL
  error <- withCallingHandlers(
    expect_error(ffi_debug(f(c(1, 2))), class = "xlaffi_error_out_of_range"),
    xlaffi_warning_findings = function(warning) {
      findings <<- warning$findings
      rlang::cnd_muffle(warning)
    }
  )
  expect_match(conditionMessage(error), "fails (host): always", fixed = TRUE)
  expect_identical(findings$kind, "operand_changed")
})

test_that("handlers with side effects run once", {
  skip_unless_all()
  skip_without_plugin()
  skip_without_build_tools()
  runs <- function(...) {
    f <- calling("counts_calls", ...)
    before <- f(0)
    ffi_debug(f(0), action = "none", once = the_once)
    f(0) - before - 1
  }
  the_once <- character()
  expect_gte(runs(), 3)
  the_once <- "counts_calls"
  expect_identical(runs(), 1)
  the_once <- character()
  # The program says so, for good.
  expect_identical(runs(has_side_effect = TRUE), 1)
  f <- xla_jit(function(x) {
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    x
  })
  expect_identical(length(grep("PJRTBuffer", capture.output(ffi_debug(f(c(1, 2)))))), 1L)
})

test_that("checks are those asked for, and end with the expression", {
  skip_unless_all()
  skip_without_plugin()
  skip_without_build_tools()
  f <- calling("changes_operand")
  expect_no_warning(ffi_debug(f(c(1, 2)), checks = "bounds"))
  expect_identical(nrow(found(f, checks = "operands")), 1L)
  outer <- NULL
  expect_warning(
    outer <- expect_no_warning(ffi_debug({
      expect_warning(ffi_debug(f(c(1, 2))), class = "xlaffi_warning_findings")
      1
    })),
    NA
  )
  expect_identical(outer, 1)
  expect_error(ffi_debug(stop("mine")), "mine")
  pjrt_buffer(1)
  f(c(1, 2))
  expect_identical(nrow(ffi_findings()), 0L)
})

test_that("arguments are checked", {
  expect_snapshot(error = TRUE, {
    ffi_debug(1, checks = "all")
    ffi_debug(1, checks = 1)
    ffi_debug(1, guard_pages = NA)
    ffi_debug(1, once = "nobody")
    ffi_debug(1, once = 1)
    ffi_debug(1, action = "stop")
  })
})

test_that("scratch arrays are looked at by their names", {
  skip_unless_all()
  skip_without_plugin()
  local_code_cache()
  op <- ffi_source("x: f64[n]; at: i64 -> z: f64[n]; halves: f64[n], ends: i32[2]", name = "halved", code = "
    for (int64_t i = 0; i < n; i++) halves[i] = x[i] / 2;
    halves[at] = 9;
    ends[0] = ends[1] = 1;
    for (int64_t i = 0; i < n; i++) z[i] = halves[i] + (at < 0 ? halves[at] : 0);
  ")
  run <- function(at) {
    ffi_debug(op(c(2, 4), at = at), action = "none")
    ffi_findings()
  }
  expect_snapshot(run(2)$text)
  expect_snapshot(run(-1)$text)
  expect_identical(c(run(2)$role, run(2)$operand), c("scratch", "halves"))
  unwritten <- ffi_source("x: f64[n] -> z: f64[n]; work: f64[n]", "for (int64_t i = 0; i < n; i++) z[i] = work[i];")
  ffi_debug(unwritten(c(1, 2)), action = "none")
  expect_identical(ffi_findings()$kind, "uninitialised")
})

test_that("what is read or written beyond an array is told as that", {
  skip_unless_all()
  skip_without_plugin()
  local_code_cache()
  tell <- function(body) {
    op <- ffi_source("x: f64[n], y: f64[n] -> z: f64[n]", body, name = "reaches")
    found(op, c(1, 2, 4), y = c(8, 16, 32))
  }
  found <- function(op, ...) {
    ffi_debug(op(...), action = "none")
    ffi_findings()
  }
  off_by_one <- tell("for (int64_t i = 0; i <= n; i++) z[i] = x[i];")
  expect_identical(off_by_one$kind, c("read_behind", "write_behind"))
  expect_identical(off_by_one$operand, c("x", "z"))
  shifted <- tell("for (int64_t i = 0; i < n; i++) z[i] = y[i + 1];")
  expect_identical(list(shifted$kind, shifted$operand), list("read_behind", "y"))
  shifted_back <- tell("for (int64_t i = 0; i < n; i++) z[i] = x[i] + y[i - 1];")
  expect_identical(list(shifted_back$kind, shifted_back$operand), list("read_before", "y"))
  expect_snapshot(cat(gsub("is [^ ]* or [^ ]*,", "is <a> or <b>,", c(
    off_by_one$text[[1]], shifted$text, shifted_back$text
  )), sep = "\n"))
})

test_that("an option checks a session", {
  skip_without_plugin()
  skip_unless_all()
  file <- withr::local_tempfile(fileext = ".R")
  bad <- bad_handlers("behaves")
  library <- getLoadedDLLs()[["bad-handlers"]][["path"]]
  writeLines(c(
    "library(xlaffi)",
    sprintf("dll <- dyn.load(%s)", deparse(library)),
    "pointer <- .Call(getNativeSymbolInfo('changes_operand_pointer', dll))",
    "pjrt_register_custom_call('changes_operand', list(host = pointer))",
    "f <- xla_jit(function(x) hlo_custom_call('changes_operand', x, x))",
    "value <- f(c(1, 2))",
    "options(xlaffi.debug = FALSE)",
    "f(c(1, 2))",
    "cat('rows', nrow(ffi_findings()), ffi_findings()$calls, '\\n')"
  ), file)
  output <- withr::with_envvar(
    c(XLAFFI_DEBUG = "true", R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep)),
    suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = TRUE, stderr = TRUE))
  )
  expect_true("rows 1 1 " %in% output)
  expect_match(paste(trimws(output), collapse = " "), "changes_operand \\(host\\): changed 1 element of operand 1")
})

test_that("our own ops pass the checks", {
  skip_without_plugin()
  a <- crossprod(matrix(c(2, 1, 0, 1, 3, 1, 0, 1, 4, 2, 2, 1), 4))
  expect_no_warning(ffi_debug({
    xla_chol(a)
    xla_lu(a)
    xla_qr(a)
    xla_svd(a)
    xla_eigh(a)
    xla_solve(a, diag(3))
    kepler(c(0, 1, 2), 0.5)
  }))
})

test_that("operands of own ops have their names, and own ops pass the checks", {
  skip_without_plugin()
  short <- own_op("short", "x: f64[n], y: f64[] -> z: f64[n + 1]", "times_f64")
  withr::defer(ffi_unregister("short", "host"))
  ffi_debug(short(c(1, 2), 3), action = "none")
  finding <- ffi_findings()
  expect_identical(c(finding$kind, finding$role, finding$operand), c("unwritten", "result", "z"))
  expect_identical(finding$index, list(3))
  expect_match(finding$text, "left 1 element of result `z` (f64 (3)) unwritten, the first [3]", fixed = TRUE)
  times <- own_times()
  expect_identical(expect_no_warning(ffi_debug(times(c(1, 2), 3))), c(3, 6))
  centre <- own_op("centre", "a: f64[..., m, n] column -> sums: f64[..., n], a: f64[..., m, n] column")
  a <- array(as.double(1:24), c(4, 3, 2))
  expect_identical(expect_no_warning(ffi_debug(centre(a))), centre(a))
})
