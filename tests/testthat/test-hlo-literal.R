test_that("constants arrive as they are", {
  skip_without_plugin()
  back <- function(x, ...) {
    y <- xla_jit(function() hlo_constant(x, ...))()
    if (is.null(dim(x))) dim(y) <- NULL
    y
  }
  set.seed(1)
  same <- list(
    c(1, NaN, Inf, -Inf, 0.1, 1e300, 1e-310, pi, -0.0, 1e15, 1e22, 123456789012345678),
    rnorm(40), rnorm(400), matrix(rnorm(200), 10), array(rnorm(24), c(2, 3, 4)),
    1:5, array(1:24, c(2, 3, 4)), array(1:240, c(20, 3, 4)), c(-.Machine$integer.max, 0L),
    c(TRUE, FALSE, TRUE), rep(c(TRUE, FALSE), 50), complex(real = rnorm(3), imaginary = c(1, Inf, NaN)),
    complex(real = rnorm(70), imaginary = rnorm(70)),
    bit64::as.integer64(c("1", "-4611686018427387905", "9223372036854775807")),
    array(0, c(0, 3)), numeric(), matrix(1.5)
  )
  for (x in same) {
    expect_identical(back(x), x)
  }
  expect_identical(sign(1 / back(c(-0.0, 0))), c(-1, 1))
})

test_that("f32, f16 and bf16 are rounded once, to nearest even", {
  skip_without_plugin()
  # Halfway between two numbers of single precision, and just above.
  x <- c(1 + 2^-24, 1 + 2^-24 + 2^-50, 1 + 3 * 2^-24, 0.1, 3e38, 1e-45, Inf, NaN)
  for (dtype in c("f32", "f16", "bf16")) {
    from_text <- xla_jit(function() hlo_constant(x, dtype))()
    uploaded <- as_array(pjrt_buffer(x, dtype))
    expect_identical(as.vector(from_text), as.vector(uploaded), info = dtype)
    long <- rep(x, 20)
    expect_identical(as.vector(xla_jit(function() hlo_constant(long, dtype))()), rep(as.vector(uploaded), 20))
  }
})

test_that("the dtype decides, and one number fills a shape", {
  values_anywhere()
  skip_without_plugin()
  expect_identical(xla_jit(function() hlo_constant(2, "i32", c(2, 2)))(), matrix(2L, 2, 2))
  expect_identical(as.character(dtype(hlo_constant(1:3, "f64"))), "f64")
  expect_identical(xla_jit(function() hlo_iota("i32", c(2, 3), 2))(), matrix(rep(0:2, each = 2), 2))
  expect_identical(as.vector(xla_jit(function() hlo_iota("f64", 3))()), c(0, 1, 2))
})

test_that("numbers are written the same in any locale", {
  skip_unless_all()
  code <- "cat(xlaffi:::mlir_numbers(c(1.5, 0.1, -1e-30, 2), 'f64'), xlaffi:::mlir_numbers(-0.3, 'f32'))"
  expected <- run_r(code)$output
  expect_match(expected, "^1.5 0.1 -1.0e-30 2.0")
  # A locale of our own: few machines have one with a decimal comma.
  skip_if(!nzchar(Sys.which("localedef")) || !file.exists("/usr/share/i18n/locales/de_DE"), "no sources of locales")
  folder <- withr::local_tempdir()
  made <- system2("localedef", c("-i", "de_DE", "-f", "UTF-8", shQuote(file.path(folder, "de_DE.UTF-8"))),
    stdout = FALSE, stderr = FALSE
  )
  expect_identical(made, 0L)
  withr::local_envvar(LOCPATH = folder)
  comma <- c(
    "invisible(suppressWarnings(Sys.setlocale('LC_NUMERIC', 'de_DE.UTF-8')))",
    "stopifnot(Sys.localeconv()[['decimal_point']] == ',')"
  )
  expect_identical(run_r(c(comma, code))$output, expected)
})

test_that("integers are checked against their type", {
  values_anywhere()
  skip_without_plugin()
  expect_identical(xla_jit(function(x) x + hlo_constant(round(-0.3), "i32"))(1L), 1L)
  for (bad in list(
    list(300, "i8"), list(-129L, "i8"), list(-1, "ui8"), list(256L, "ui8"), list(2^31, "i32"), list(-1L, "ui64"),
    list(bit64::as.integer64(300), "i8"), list(bit64::as.integer64(-1), "ui64"),
    list(bit64::as.integer64("9223372036854775807"), "i32")
  )) {
    expect_error(hlo_constant(bad[[1]], bad[[2]]), "that dtype .* cannot", class = "xlaffi_error")
  }
  for (good in list(
    list(127, "i8"), list(-128L, "i8"), list(255, "ui8"), list(-2^31, "i32"),
    list(2^40, "i64"), list(bit64::as.integer64("9223372036854775807"), "i64"),
    list(bit64::as.integer64("9223372036854775807"), "ui64"), list(bit64::as.integer64(3), "ui8")
  )) {
    expect_true(xlaffi:::is_value(hlo_constant(good[[1]], good[[2]])))
  }
})
