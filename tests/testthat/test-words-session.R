test_that("options and environment variables that change ask for another program", {
  skip_without_plugin()
  withr::local_options(xlaffi_test_factor = 2)
  withr::local_envvar(XLAFFI_TEST_FACTOR = "3")
  by <- list(
    xla_jit(function(x) x * getOption("xlaffi_test_factor")),
    xla_jit(function(x) x * options("xlaffi_test_factor")[[1L]]),
    xla_jit(function(x) x * options()$xlaffi_test_factor),
    xla_grad(function(x) x^2 / 2 * getOption("xlaffi_test_factor"))
  )
  inner <- by[[1L]]
  by[[5L]] <- xla_jit(function(x) inner(x) + 0)
  from_env <- xla_jit(function(x) x * as.numeric(Sys.getenv("XLAFFI_TEST_FACTOR")))
  absent <- xla_jit(function(x) x * getOption("xlaffi_test_absent", 5))
  expect_identical(lapply(by, function(f) f(1)), rep(list(2), 5L))
  expect_identical(from_env(1), 3)
  expect_identical(absent(1), 5)
  withr::local_options(xlaffi_test_factor = 7, xlaffi_test_absent = 6)
  withr::local_envvar(XLAFFI_TEST_FACTOR = "8")
  expect_identical(lapply(by, function(f) f(1)), rep(list(7), 5L))
  expect_identical(from_env(1), 8)
  expect_identical(absent(1), 6)
})

test_that("a part of the locale is asked for", {
  skip_without_plugin()
  f <- xla_jit(function(x) x + nchar(Sys.getlocale("LC_TIME")))
  withr::local_locale(LC_TIME = "C.UTF-8")
  expect_identical(f(1), 8)
  withr::local_locale(LC_TIME = "C")
  expect_identical(f(1), 2)
})

test_that("an option that stays keeps the program", {
  skip_without_plugin()
  withr::local_options(xlaffi_test_factor = 2)
  count <- 0
  f <- xla_jit(function(x) {
    count <<- count + 1
    x * getOption("xlaffi_test_factor")
  })
  for (i in 1:3) f(1)
  expect_identical(count, 1)
})

test_that("what is read again and again is compared once", {
  withr::local_options(xlaffi_test_factor = 2)
  reads <- xlaffi:::session_reads
  read <- function() {
    xlaffi:::with_session_reads({
      for (i in 1:5) {
        reads$getOption("xlaffi_test_factor")
        reads$options("xlaffi_test_factor")
        reads$Sys.getenv("XLAFFI_TEST_FACTOR", "3")
        reads$Sys.getenv("XLAFFI_TEST_FACTOR", "4")
      }
      list()
    })$session
  }
  expect_identical(lapply(unname(read()), `[[`, "value"), list(2, list(xlaffi_test_factor = 2), "3", "4"))
  around <- xlaffi:::with_session_reads({
    reads$getOption("xlaffi_test_factor")
    for (i in 1:3) read()
    list()
  })
  expect_length(around$session, 4L)
})

test_that("what traced code sets and reads is compared with what there was at first", {
  skip_without_plugin()
  withr::local_options(xlaffi_test_factor = 2)
  count <- 0
  f <- xla_jit(function(x) {
    count <<- count + 1
    first <- getOption("xlaffi_test_factor")
    old <- options(xlaffi_test_factor = 5)
    on.exit(options(old))
    x * first + getOption("xlaffi_test_factor")
  })
  expect_identical(vapply(1:3, function(i) f(1), 0), c(7, 7, 7))
  expect_identical(count, 1)
  withr::local_options(xlaffi_test_factor = 3)
  expect_identical(f(1), 8)
})

test_that("random numbers that code outside of the scope draws are refused", {
  skip_without_plugin()
  draw <- paste0("r", "norm")
  f <- xla_jit(function(x) x + do.call(draw, list(1)))
  expect_snapshot(error = TRUE, f(1))
  home <- environment()
  setClass("XlaffiNoise", representation(sd = "numeric"), where = home)
  setGeneric("xlaffi_noise", function(n, x) standardGeneric("xlaffi_noise"), where = home)
  setMethod("xlaffi_noise", "XlaffiNoise", function(n, x) x + eval(parse(text = "rnorm(1)")), where = home)
  f <- xla_jit(function(x) xlaffi_noise(new("XlaffiNoise", sd = 1), x))
  expect_error(f(1), class = "xlaffi_error_unimplemented")
})

test_that("arguments that R takes as code are left alone", {
  skip_without_plugin()
  x <- c(1, 2, 3)
  expect_identical(xla_jit(function(x) within(list(a = x), b <- a * 2))(x), list(a = x, b = x * 2))
  expect_identical(xla_jit(function(x) nrow(subset(data.frame(a = 1:3), a > 1)) * x)(x), 2 * x)
  expect_identical(xla_jit(function(x) transform(data.frame(a = 1:3), b = a * 2)$b * x)(x), c(2, 8, 18))
  expect_identical(xla_jit(function(x) eval(bquote(.(as.name("x")) + 1)))(x), x + 1)
  expect_identical(xla_jit(function(x) {
    library(stats)
    x
  })(x), x)
  fit <- function(x) {
    d <- data.frame(u = 1:5, v = c(2, 4, 6, 8, 11), w = 1:5)
    unname(coef(lm(v ~ u, d, weights = w))) * x
  }
  expect_equal(xla_jit(fit)(c(1, 2)), fit(c(1, 2)))
  expect_error(xla_jit(function(x) lm(x ~ c(1, 2, 3)))(x), class = "xlaffi_error_unimplemented")
  expect_error(xla_jit(function(x) replicate(x[1], 2))(x), "replicate\\(\\): how often must be known",
    class = "xlaffi_error_invalid_argument"
  )
})

test_that("is() knows what values are", {
  skip_without_plugin()
  f <- function(x) c(is(x, "numeric"), is(x, "integer"), is(x, "matrix"), is(x, "character"), is(x, "vector"))
  for (x in list(c(1, 2), 1:2, matrix(1, 2, 2), TRUE, 1i)) {
    expect_identical(xla_jit(f)(x), f(x), info = deparse(x))
  }
  expect_identical(xla_jit(function(x) if (is(x, "numeric")) x else -x)(2), 2)
})

test_that("apply() over nothing gives what R gives", {
  skip_without_plugin()
  m <- matrix(0, 0, 3)
  functions <- list(
    function(m) apply(m, 1, sum), function(m) apply(m, 1, range), function(m) apply(m, c(1, 2), function(v) v + 1),
    function(m) apply(m, 1, function(r) sum(r) > 0), function(m) apply(m, 2, sum)
  )
  for (f in functions) {
    expect_identical(xla_jit(f)(m), f(m), info = deparse(body(f)))
  }
  expect_identical(xla_jit(function(v) apply(m, 1, function(r) sum(r) * v))(2), numeric())
})

test_that("errors of replacements show the replacement that was written", {
  skip_without_plugin()
  call_of <- function(f) deparse(conditionCall(error_of(xla_jit(f)(c(1, 2, 3)))))
  expect_identical(call_of(function(x) {
    x[7:8, 1] <- 0
    x
  }), "x[7:8, 1] <- 0")
  expect_identical(call_of(function(x) {
    x[[2]] <- c(1, 2)
    x
  }), "x[[2]] <- c(1, 2)")
})
