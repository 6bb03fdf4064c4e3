# The calls in errors of functions that are being traced.

call_of <- function(f, ...) {
  error <- tryCatch(xla_jit(f)(...), error = function(e) e)
  expect_s3_class(error, "error")
  expect_no_match(conditionMessage(error), "<environment>|xlaffi_value")
  deparse1(conditionCall(error))
}

test_that("errors of operators and methods have the call that the user wrote", {
  skip_without_plugin()
  x <- 1:3
  expect_identical(call_of(function(x) (x + 1L) * x[1:2], x), "(x + 1L) * x[1:2]")
  expect_identical(call_of(function(x) x + "a", x), "x + \"a\"")
  expect_identical(call_of(function(x) x[, 2], x), "x[, 2]")
  expect_identical(call_of(function(x) x$a, x), "x$a")
  expect_identical(call_of(function(x) c(x, "a"), x), "c(x, \"a\")")
  expect_identical(call_of(function(x) 1:9 %*% x, x), "1:9 %*% x")
  expect_identical(call_of(function(x) hlo_reshape(x, c(7, 7)), x), "hlo_reshape(x, c(7, 7))")
})

test_that("a function that is traced is called by names", {
  skip_without_plugin()
  expect_identical(call_of(function(x) stop("mine"), 1), "f(x)")
  expect_identical(call_of(function(x, y) stop("mine"), 1, 2), "f(x, y)")
  expect_identical(call_of(function(x, y) stop("mine"), y = 1, 2), "f(y = y, x)")
  expect_identical(call_of(function(x, ...) stop("mine"), 1, 2, b = list(3, 4)), "f(x, x2, b = b)")
  expect_identical(call_of(function(f) stop("mine"), 1), "f(f)")
  expect_identical(call_of(function(x) xla_jit(function(y, ...) stop("mine"))(x, 2), 1), "f(y, x2)")
  expect_identical(call_of(xla_grad(function(x, y) stop("mine")), 1, 2), "f(x, y)")
  expect_identical(call_of(xla_vmap(function(x) stop("mine")), 1), "f(x)")
  expect_identical(call_of(ffi_op(function(a, b) stop("mine"), name = "my op"), 1, 2), "`my op`(a, b)")
  expect_identical(
    call_of(xla_grad(ffi_op(function(a) a, jvp = function(primals, results, tangents) stop("mine"))), 1),
    "jvp(primals, results, tangents)"
  )
  expect_identical(
    call_of(function(x) hlo_while(function(i) i < 3, function(i) stop("mine"), list(i = x)), 1), "body(i)"
  )
  expect_error(xla_jit(function(x) x)(1, 2), "there is 1 argument, not 2")
  expect_identical(
    as.character(try(xla_jit(function(x) stop("mine"))(1), silent = TRUE)), "Error in f(x) : mine\n"
  )
})

test_that("a function that is traced can look at its call", {
  skip_without_plugin()
  seen <- list()
  f <- function(x, scale = 1, ...) {
    seen <<- list(sys.call(), match.call(), substitute(x), missing(x), missing(scale), nargs(), ...names())
    x
  }
  expect_identical(xla_jit(f)(1, sc = 2, other = 3), 1)
  expect_identical(seen, list(
    quote(f(x, sc = sc, other = other)), quote(f(x = x, scale = sc, other = other)), quote(x), FALSE, FALSE, 3L,
    "other"
  ))
})
