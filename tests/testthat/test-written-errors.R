# What an error in a traced function shows: the user's code, its line, and nothing of the package.

model <- function(code) {
  file <- withr::local_tempfile(fileext = ".R", .local_envir = parent.frame())
  writeLines(code, file)
  env <- new.env(parent = globalenv())
  withr::with_options(list(keep.source = TRUE), sys.source(file, env, keep.source = TRUE))
  env
}

error_in <- function(f, ...) rlang::catch_cnd(xla_jit(f)(...), "error")

test_that("an error has the line of the user's, and the way there is the user's", {
  skip_without_plugin()
  env <- model(c(
    "helper <- function(a) {",
    "  b <- a * 2",
    "  b + c(1, 2)",
    "}",
    "f <- function(x) {",
    "  y <- lapply(1:2, function(i) {",
    "    pmax(x, helper(x))",
    "  })",
    "  y",
    "}"
  ))
  error <- error_in(env$f, c(1, 2, 3))
  call <- conditionCall(error)
  expect_identical(deparse1(call), "b + c(1, 2)")
  expect_identical(as.integer(attr(call, "srcref"))[[1L]], 3L)
  shown <- vapply(error$trace$call[error$trace$visible], function(call) deparse1(as.call(call)[[1L]]), "")
  expect_identical(utils::tail(shown, 5L), c("f", "lapply", "FUN", "pmax", "helper"))
  expect_true(any(error$trace$namespace %in% "xlaffi" & !error$trace$visible))
})

test_that("errors of R's show the code as it was written", {
  skip_without_plugin()
  calls <- function(f) deparse1(conditionCall(error_in(f, c(1, 2, 3))))
  expect_identical(calls(function(x) if (NA) x else 2), "if (NA) x else 2")
  expect_identical(calls(function(x) while (NULL) x), "while (NULL) x")
  k <- function(v) stop("mine")
  expect_identical(calls(function(x) k(if (TRUE) 1 else 2)), "k(if (TRUE) 1 else 2)")
  expect_identical(calls(function(x) rowsum(1:2, 1:3)), "rowsum.default(1:2, 1:3)")
  expect_identical(calls(function(x) vapply(1:2, function(i) if (i > 1) stop("no") else i, 0)), "FUN(X[[i]], ...)")
  expect_identical(calls(function(x) rowSums(1:3)), "rowSums(1:3)")
  expect_identical(calls(function(x) x + not_there), "f(x)")
})

test_that("where {rlang} cannot show the calls, the error is shown without them", {
  skip_without_plugin()
  # Without the place of its source, as code is that was put together
  step <- call("function", formals(function(r) NULL), quote(r - q))
  f <- eval(bquote(function(q) uniroot(.(step), c(0, 1))$root))
  refused <- error_of(xla_jit(f)(pjrt_buffer(0.5, "f32")))
  expect_s3_class(refused, "xlaffi_error_invalid_argument")
  expect_match(conditionMessage(refused), "`e2` must have dtype f64 as `e1` has, not f32", fixed = TRUE)
  outside <- error_of(eval(bquote(identity(pjrt_buffer(.(step))))))
  expect_s3_class(outside, "xlaffi_error_invalid_argument")
})
