times <- function(...) {
  skip_without_plugin()
  ffi_source("x: T[n], y: T[] -> z: T[n]", "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;", name = "times", ...)
}

test_that("five lines of C are an op for its dtypes, in programs too", {
  op <- times(dtypes = list(T = c("f32", "f64", "i32")))
  expect_s3_class(op, "xlaffi_own_op")
  expect_equal(op(c(1, 2, 3), 2), c(2, 4, 6))
  f64 <- op(pjrt_buffer(c(1, 2, 3), "f64"), pjrt_scalar(0.1, "f64"))
  expect_identical(as.character(dtype(f64)), "f64")
  expect_identical(as_array(f64), array(c(1, 2, 3) * 0.1))
  i32 <- op(pjrt_buffer(1:3), pjrt_scalar(5L))
  expect_identical(as_array(i32), array(5L * 1:3))
  expect_equal(xla_jit(function(x) op(x + 1, 2) - 1)(c(1, 2)), c(3, 5))
  expect_equal(times()(numeric(), 2), numeric())
})

test_that("the least integer may be a default", {
  skip_without_plugin()
  op <- ffi_source("x: f64[n]; k: i64 = -9223372036854775808 -> z: f64[n]", name = "least",
    "for (int64_t i = 0; i < n; i++) z[i] = x[i] + (k == INT64_MIN);"
  )
  expect_identical(op(c(1, 2)), c(2, 3))
  expect_identical(op(c(1, 2), k = 1), c(1, 2))
  expect_identical(op(c(1, 2), k = -2^63), c(2, 3))
  read <- format(ffi_signature("; k: i64 = -9223372036854775808 -> z: f64[]"))
  expect_match(read, "-9223372036854775808", fixed = TRUE)
})

test_that("an error in the body is an R error with code and op", {
  skip_without_plugin()
  op <- ffi_source("x: f64[n] -> z: f64[n]", name = "root", code = "
    for (int64_t i = 0; i < n; i++) {
      if (x[i] < 0) FAIL(\"x[%lld] is %g\", (long long) i, x[i]);
      if (x[i] > 100) FAIL_WITH(XLAFFI_OUT_OF_RANGE, \"too large\");
      z[i] = sqrt(x[i]);
    }")
  expect_equal(op(c(4, 9)), c(2, 3))
  error <- error_of(op(c(4, -9)))
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  expect_identical(error$op, "root")
  expect_match(conditionMessage(error), "x[1] is -9", fixed = TRUE)
  expect_s3_class(error_of(op(1000)), "xlaffi_error_out_of_range")
})

test_that("attributes, optional, repeated and scratch arrays and column order reach the body", {
  skip_without_plugin()
  op <- ffi_source(
    paste(
      "a: f64[m, n] column, w: f64[m]?; alpha: f64 = 2, lags: i64[p], mode: str = \"plain\", flip: pred = false",
      "-> s: f64[m]; row: f64[max(m, n)]"
    ),
    "
    if (mode_length != 5 || memcmp(mode, \"plain\", 5)) FAIL(\"mode is %.*s\", (int) mode_length, mode);
    for (int64_t i = 0; i < m; i++) {
      row[i] = 0;
      for (int64_t j = 0; j < n; j++) row[i] += a[i + m * j];
      s[i] = (flip ? -1 : 1) * alpha * row[i] * (w ? w[i] : 1) + lags[p - 1];
    }",
    name = "sums"
  )
  a <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  expect_equal(op(a, lags = c(1, 7)), 2 * rowSums(a) + 7)
  expect_equal(op(a, c(1, 10), lags = 0, alpha = 1), rowSums(a) * c(1, 10))
  expect_equal(op(a, lags = 0, flip = TRUE), -2 * rowSums(a))
  expect_match(conditionMessage(error_of(op(a, lags = 1, mode = "other"))), "mode is other")
  all <- ffi_source("xs: T[n]*k -> ys: T[n]*k, count: T[]", name = "all", code = "
    for (int64_t j = 0; j < k; j++) for (int64_t i = 0; i < n; i++) ys[j][i] = xs[j][i] + j;
    *count = k;")
  expect_equal(unlist(all(c(1, 2), c(3, 4), c(5, 6))), c(1, 2, 4, 5, 7, 8, 3), ignore_attr = TRUE)
})

test_that("operands are worked on in place, and those of R stay as they are", {
  skip_without_plugin()
  op <- ffi_source("x: f64[n], y: f64[n] -> x: f64[n]", "for (int64_t i = 0; i < n; i++) x[i] += y[i];", name = "add")
  x <- pjrt_buffer(c(1, 2), "f64")
  expect_equal(as_array(op(x, pjrt_buffer(c(10, 20), "f64"))), array(c(11, 22)))
  expect_equal(as_array(x), array(c(1, 2)))
  expect_equal(op(c(1, 2), c(10, 20)), c(11, 22))
})

test_that("support code sees the dtypes, in C and in C++", {
  skip_without_plugin()
  skip_unless_all()
  support <- c("#include <math.h>", "T half_of(T x) { return x / (T) 2; }")
  for (language in c("c", "c++")) {
    code <- "for (int64_t i = 0; i < n; i++) z[i] = half_of(x[i]); *bytes = sizeof(T);"
    op <- ffi_source("x: T[n] -> z: T[n], bytes: i64[]", code, language,
      dtypes = list(T = c("f32", "f64", "i32")), support = support
    )
    expect_equal(op(c(1, 3))[[1]], c(0.5, 1.5))
    expect_equal(as_array(op(pjrt_buffer(c(1, 3), "f64"))[[2]]), bit64::as.integer64(8), ignore_attr = TRUE)
    expect_equal(as_array(op(pjrt_buffer(c(1L, 3L)))[[1]]), array(c(0L, 1L)))
  }
})

test_that("complex numbers and the halves have types", {
  skip_without_plugin()
  skip_unless_all()
  dtypes <- list(T = c("c64", "c128"))
  for (language in c("c", "c++", "rust", "fortran")) {
    if (language %in% c("rust", "fortran")) skip_without_compiler(language)
    code <- switch(language,
      rust = "for i in 0..n { z[i] = x[i] * x[i]; }",
      fortran = "z = x * x",
      "for (int64_t i = 0; i < n; i++) z[i] = x[i] * x[i];"
    )
    op <- ffi_source("x: T[n] -> z: T[n]", code, language, dtypes = dtypes)
    x <- c(1 + 2i, -3i)
    expect_equal(as_array(op(pjrt_buffer(x, "c128"))), array(x^2))
  }
  halves <- ffi_source("x: f32[n] -> a: f16[n], b: bf16[n], c: f32[n], d: f32[n]", "
    for (int64_t i = 0; i < n; i++) {
      a[i] = xlaffi_to_f16(x[i]);
      b[i] = xlaffi_to_bf16(x[i]);
      c[i] = xlaffi_from_f16(a[i]);
      d[i] = xlaffi_from_bf16(b[i]);
    }", "c")
  x <- c(0, -0, 1, -1.5, 65504, 65519.9, 65520, 1e6, -Inf, Inf, NaN, 2^-14, 2^-24, 2^-25, 1.5 * 2^-25, 3e-8, 6e-5, 0.1,
    1 + 2^-11, 1 + 3 * 2^-11, 1 + 2^-8, 1 + 3 * 2^-8, 3.4e38, 1e-45)
  found <- halves(pjrt_buffer(x, "f32"))
  f16 <- as_array(xla_jit(function(x) hlo_convert(hlo_convert(x, "f16"), "f32"))(pjrt_buffer(x, "f32")))
  bf16 <- as_array(xla_jit(function(x) hlo_convert(hlo_convert(x, "bf16"), "f32"))(pjrt_buffer(x, "f32")))
  expect_identical(as_array(found[[3]]), f16)
  expect_identical(as_array(found[[4]]), bf16)
})

test_that("a state is made from attributes and freed", {
  skip_without_plugin()
  file <- withr::local_tempfile()
  for (language in c("c", "c++")) {
    op <- ffi_source("x: f64[n]; lags: i64[p] -> z: f64[n]", name = paste0("stateful_", length(language)),
      code = "const double *sum = (const double *) xlaffi_state; for (int64_t i = 0; i < n; i++) z[i] = x[i] + *sum;",
      init = "
        double *sum = (double *) malloc(sizeof(double));
        if (!sum) FAIL_WITH(XLAFFI_RESOURCE_EXHAUSTED, \"no memory\");
        if (p > 3) FAIL(\"%lld lags\", (long long) p);
        *sum = 0;
        for (int64_t i = 0; i < p; i++) *sum += lags[i];
        xlaffi_state = sum;",
      cleanup = "free(xlaffi_state);", lang = language
    )
    expect_equal(op(c(1, 2), lags = c(10, 20)), c(31, 32))
    expect_equal(op(c(1, 2), lags = 5), c(6, 7))
    expect_match(conditionMessage(error_of(op(1, lags = 1:4))), "4 lags")
  }
})


test_that("a program keeps the body that it was compiled with", {
  skip_without_plugin()
  make <- function(number) ffi_source("x: f64[] -> z: f64[]", sprintf("*z = *x + %d;", number), name = "versioned")
  first <- make(1)
  compiled <- xla_jit(function(x) first(x))
  expect_equal(compiled(1), 2)
  second <- make(2)
  expect_equal(compiled(1), 2)
  expect_equal(first(1), 2)
  expect_equal(second(1), 3)
  # Equal code is the same op.
  expect_equal(make(1)(1), 2)
})

test_that("sources, flags and included files each have code of their own", {
  skip_without_plugin()
  local_code_cache()
  include <- withr::local_tempdir()
  header <- file.path(include, "factor.h")
  inner <- file.path(include, "inner.h")
  writeLines("#include \"inner.h\"", header)
  make <- function(...) {
    ffi_source("x: f64[] -> z: f64[]", "*z = *x * FACTOR * MORE;",
      support = "#include \"factor.h\"", include = include, ...
    )
  }
  writeLines("#define FACTOR 2", inner)
  count <- function() nrow(xla_cache("code"))
  before <- count()
  expect_equal(make(flags = "-DMORE=1")(1), 2)
  expect_equal(make(flags = "-DMORE=1")(1), 2)
  expect_identical(count(), before + 1L)
  expect_equal(make(flags = "-DMORE=3")(1), 6)
  writeLines("#define FACTOR 5", inner)
  expect_equal(make(flags = "-DMORE=1")(1), 5)
  expect_identical(count(), before + 3L)
  expect_equal(make(flags = "-DMORE=1", native = TRUE, openmp = TRUE)(1), 5)
  expect_equal(make(flags = "-DMORE=1", debug = TRUE)(1), 5)
  expect_identical(count(), before + 5L)
})

test_that("an op that threads may not share is another op, with the same code", {
  skip_without_plugin()
  local_code_cache()
  make <- function(threads) ffi_source("x: f64[] -> z: f64[]", "*z = *x;", name = "alone", threads = threads)
  before <- nrow(xla_cache("code"))
  digests <- vapply(c(TRUE, FALSE, TRUE), function(threads) own_digest(make(threads)), "")
  expect_identical(nrow(xla_cache("code")), before + 1L)
  expect_identical(digests[[1L]], digests[[3L]])
  expect_false(digests[[1L]] == digests[[2L]])
})

test_that("the parts of a source have their places in the key", {
  skip_without_build_tools()
  key <- function(code = "a", init = NULL, cleanup = NULL, support = NULL, dependencies = NULL) {
    source <- list(
      language = "c", ops = list(list(code = code, init = init, cleanup = cleanup)), support = support,
      dependencies = dependencies, flags = character(), libraries = character(), native = FALSE
    )
    xlaffi:::source_key(source, list(command = "cc", stamp = "now"), list(before = "cc"), "unit", NULL)
  }
  keys <- c(
    key(), key(init = "b"), key(cleanup = "b"), key(support = "b"), key(code = c("a", "b")),
    key(dependencies = c(b = "1")), key(dependencies = c(c = "1"))
  )
  expect_identical(anyDuplicated(keys), 0L)
})

test_that("a header that a macro names belongs to the key", {
  skip_without_plugin()
  folder <- file.path(withr::local_tempdir(), "with space")
  dir.create(folder)
  header <- file.path(folder, "value.h")
  for (language in c("c", if (all_run()) "c++")) {
    value <- function(value) {
      writeLines(sprintf("#define VALUE %d", value), header)
      ffi_source("x: T[] -> z: T[]", "*z = (T) VALUE;", language,
        name = "value", support = "#define HEADER \"value.h\"\n#include HEADER\ntypedef T number;", include = folder
      )(0)
    }
    expect_identical(c(value(1), value(2), value(1)), c(1, 2, 1))
  }
  expect_match(conditionMessage(error_of(
    ffi_source("x: f64[] -> z: f64[]", "*z = 1;", name = "lost", support = "#define HEADER \"no.h\"\n#include HEADER")
  )), "lost: line [12] of `support`")
})

test_that("libraries are linked, R's own by their names", {
  skip_without_plugin()
  op <- ffi_source("x: f64[n], y: f64[n] -> z: f64[]", "int one = 1, m = (int) n; *z = ddot_(&m, x, &one, y, &one);",
    support = "double ddot_(const int *, const double *, const int *, const double *, const int *);", libraries = "blas"
  )
  expect_equal(op(c(1, 2), c(3, 4)), 11)
  expect_s3_class(
    error_of(ffi_source("x: f64[] -> z: f64[]", "*z = *x;", libraries = "no_such_library")),
    "xlaffi_error_invalid_argument"
  )
})

test_that("a function that no library has is told", {
  skip_without_build_tools()
  error <- error_of(ffi_source("x: f64[] -> z: f64[]", "*z = nowhere(*x);",
    name = "lost", support = "double nowhere(double);"
  ))
  expect_s3_class(error, "xlaffi_error_failed_precondition")
  expect_match(conditionMessage(error), "^lost: what was compiled cannot be loaded: .*nowhere")
})

test_that("compiler errors name the user's line", {
  skip_without_build_tools()
  error <- error_of(ffi_source("x: f64[n] -> z: f64[n]", "z[0] = 1;\nz[1] = q;", name = "bad"))
  expect_match(conditionMessage(error), "^bad: line 2 of the body: ")
  expect_match(conditionMessage(error), "z[1] = q;", fixed = TRUE)
  expect_true(any(grepl("error", error$log)))
  # What has no declaration is an error, not a crash.
  expect_match(conditionMessage(error_of(ffi_source("x: f64[] -> z: f64[]", "*z = foo(*x);"))), "line 1 of the body")
})

test_that("arguments that make no sense are refused", {
  skip_without_build_tools()
  signature <- "x: f64[n] -> z: f64[n]"
  expect_snapshot(error = TRUE, {
    ffi_source("x: f64[n -> z: f64[n]", "")
    ffi_source(signature)
    ffi_source(code = "")
    ffi_source(signature, "", lang = "pascal")
    ffi_source(signature, "", name = "a b")
    ffi_source(signature, "", dtypes = list(T = "f32"))
    ffi_source("x: T[n] -> z: T[n]", "", dtypes = list(T = "f8"))
    ffi_source("x: T[n] -> z: T[n]", "", dtypes = "f32")
    ffi_source("for: f64[n] -> z: f64[n]", "", name = "op")
    ffi_source("fn: f64[n] -> z: f64[n]", "", "rust", name = "op")
    ffi_source("x: f64[n] -> N: f64[n]", "", "fortran", name = "op")
    ffi_source("xlaffi_state: f64[n] -> z: f64[n]", "", name = "op")
    ffi_source("x: ui8[n] -> z: f64[n]", "z = 1", "fortran", name = "op")
    ffi_source(signature, "", file = "op.c")
    ffi_source(file = "no/such/op.c")
    ffi_source(file = "op.txt")
    ffi_source(signature, "", side_effect = "yes")
    ffi_source(signature, "", "rust", init = "")
    ffi_source(signature, "", dependencies = c(rand = "0.8"))
    ffi_source(signature, "", flags = 1)
    ffi_source(signature, character())
  })
  for (lang in list(NULL, "c")) {
    expect_error(ffi_source(file = tempdir(), lang = lang), "is a folder", class = "xlaffi_error")
  }
})

test_that("headers that flags name belong to the key, and folders may be relative", {
  skip_without_plugin()
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  dir.create("headers")
  value <- function(value, flags = character(), include = character(), support = "#include \"value.h\"") {
    writeLines(sprintf("#define VALUE %d", value), "headers/value.h")
    op <- ffi_source("x: f64[n] -> z: f64[n]", "for (int64_t i = 0; i < n; i++) z[i] = VALUE;", "c",
      name = "value", flags = flags, include = include, support = support
    )
    op(0)
  }
  expect_identical(c(value(1, include = "headers"), value(2, include = "headers")), c(1, 2))
  skip_unless_all()
  headers <- file.path(folder, "headers")
  for (flags in list(c("-I", headers), c("-isystem", headers), paste0("-I", headers))) {
    expect_identical(c(value(1, flags), value(2, flags)), c(1, 2))
  }
  forced <- c("-include", file.path(headers, "value.h"))
  expect_identical(c(value(1, forced, support = NULL), value(2, forced, support = NULL)), c(1, 2))
})

test_that("a body may end in a comment or a backslash, and must return what it says", {
  skip_without_plugin()
  skip_unless_all()
  loop <- "for (int64_t i = 0; i < n; i++) z[i] = x[i];"
  op <- function(..., lang = "c", support = NULL) {
    ffi_source("x: f64[n] -> z: f64[n]", c(...), lang, name = "ends", support = support)
  }
  for (end in c("// last", "\\", "// \\")) {
    expect_identical(op(paste(loop, end))(c(1, 2)), c(1, 2))
    expect_identical(op(loop, support = paste("#define ANY 1", end))(c(1, 2)), c(1, 2))
  }
  place <- function(...) sub(": [^:]*$", "", strsplit(conditionMessage(error_of(op(...))), "\n")[[1L]][[1L]])
  expect_identical(place(loop, "{"), "ends: line 6 of the body")
  expect_identical(place("int a;", "return;"), "ends: line 2 of the body")
  for (lang in c("c", "c++")) {
    expect_identical(
      place(loop, support = c("", "static int lost(void) { }"), lang = lang), "ends: line 2 of `support`"
    )
  }
})

test_that("rules that take other arguments than they are called with are refused before anything is compiled", {
  skip_without_compiler("c")
  folder <- local_code_cache()
  copy <- "for (int64_t i = 0; i < n; i++) z[i] = x[i];"
  expect_snapshot(error = TRUE, {
    ffi_source("x: T[n] -> z: T[n]", copy, name = "ruled", vjp = function(x, cotangent, attributes) NULL)
    ffi_source("x: T[n] -> z: T[n]", copy, name = "ruled", transpose = function(cotangents) NULL)
    ffi_source("x: T[n] -> z: T[n]", copy, name = "ruled", jvp = function() 1)
  })
  expect_length(list.files(folder), 0L)
})

test_that("FAIL() ends a body with and without a return before it", {
  skip_without_compiler("c")
  local_code_cache()
  code <- c(
    "if (n > 2) return FAIL(\"n is %lld\", (long long) n);",
    "if (n > 1) return FAIL_WITH(XLAFFI_OUT_OF_RANGE, \"two\");", "z[0] = x[0];"
  )
  for (language in c("c", "c++")) {
    op <- ffi_source("x: f64[n] -> z: f64[n]", code, language, name = "returned", flags = c("-Wall", "-Werror"))
    expect_match(error_of(op(c(1, 2, 3)))$message, "returned: n is 3", fixed = TRUE)
    expect_s3_class(error_of(op(c(1, 2))), "xlaffi_error_out_of_range")
    expect_identical(as.vector(op(array(5))), 5)
  }
})

test_that("an attribute that does not fit is refused with the name of the op", {
  skip_without_compiler("c")
  local_code_cache()
  op <- ffi_source("x: f64[n]; a: i8 -> z: f64[n]", "for (int64_t i = 0; i < n; i++) z[i] = a;", name = "told")
  expect_snapshot(error = TRUE, {
    op(1, a = 300)
    op(1, a = 1.5)
  })
})

test_that("the first call in a session loads no packages, which takes longer than the call", {
  skip_without_plugin()
  skip_unless_all()
  code <- '
    before <- loadedNamespaces()
    shift <- ffi_source("x: f32[n]; k: i64 = 1 -> z: f32[n]", lang = "c",
      code = "for (int64_t i = 0; i < n; i++) z[i] = x[i] + (float)k;")
    cat(shift(c(1, 2), k = 3L), as_array(shift(pjrt_buffer(1, "f32"))))
    cat("", setdiff(loadedNamespaces(), c(before, "tools")))
  '
  # The one that compiles the code may have to tell that it does.
  expect_identical(run_r(code)$status, 0L)
  expect_identical(run_r(code), list(output = "4 5 2 ", status = 0L))
})
