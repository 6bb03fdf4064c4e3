# Methods of S4 and of reference classes. Their classes are those of the session, as a user's are.
x <- c(1.5, -2)

expect_as_in_r <- function(f, ...) expect_equal(xla_jit(f)(...), f(...), info = deparse(body(f)))

local_class <- function(name, ..., env = parent.frame()) {
  setClass(name, ..., where = globalenv())
  withr::defer(removeClass(name, where = globalenv()), envir = env)
}

local_generic <- function(name, f, env = parent.frame()) {
  suppressMessages(setGeneric(name, f, where = globalenv()))
  withr::defer(removeGeneric(name, where = globalenv()), envir = env)
}

# A function as if written in the session
users <- function(f) {
  environment(f) <- globalenv()
  f
}

test_that("R's functions take values in S4 methods, inherited ones and next ones", {
  skip_without_plugin()
  local_class("XlaffiBase", representation(a = "numeric"))
  local_class("XlaffiSub", contains = "XlaffiBase")
  local_generic("xlaffi_bent", users(function(b, x, ...) standardGeneric("xlaffi_bent")))
  method <- function(class, f) setMethod("xlaffi_bent", class, users(f), where = globalenv())
  method("XlaffiBase", function(b, x, ...) ifelse(x > 0, x, b@a) + c(1, sum(x)) * is.double(x))
  method("XlaffiSub", function(b, x, k = 2, ...) pmax(k, 0) * callNextMethod())
  base <- new("XlaffiBase", a = 3)
  sub <- new("XlaffiSub", a = 5)
  tables <- function() {
    env <- environment(getGeneric("xlaffi_bent", where = globalenv()))
    lapply(as.list(env$.AllMTable), function(method) environment(method@.Data))
  }
  functions <- list(
    users(function(b, x) xlaffi_bent(b, x)), users(function(b, x) sapply(1:2, function(i) sum(xlaffi_bent(b, x * i)))),
    users(function(b, x) do.call("xlaffi_bent", list(b, x)))
  )
  for (b in list(base, sub)) {
    for (f in functions) expect_equal(xla_jit(function(x) f(b, x))(x), f(b, x))
  }
  expect_equal(xla_jit(function(x) xlaffi_bent(sub, x, k = 7))(x), xlaffi_bent(sub, x, k = 7))
  # Nothing of it is left behind.
  expect_true(all(vapply(tables(), identical, NA, globalenv())))
  # Another method, another program
  f <- xla_jit(users(function(x) xlaffi_bent(XlaffiHeld, x)))
  assign("XlaffiHeld", base, globalenv())
  withr::defer(rm("XlaffiHeld", envir = globalenv()))
  expect_equal(f(x), xlaffi_bent(base, x))
  method("XlaffiBase", function(b, x, ...) which.max(x) + b@a)
  expect_equal(f(x), 4)
  expect_equal(xla_jit(function(x) xlaffi_bent(sub, x))(x), 2 * (1 + 5))
})

test_that("what S4 methods ask of values is what they would be in R", {
  skip_without_plugin()
  local_generic("xlaffi_told", users(function(x, ...) standardGeneric("xlaffi_told")))
  setMethod("xlaffi_told", "ANY", users(function(x, ...) {
    k <- c(1, x)
    c(is.integer(x), is.logical(x), is.double(x), is.vector(x), length(k))
  }), where = globalenv())
  for (x in list(c(1, 2), 1:3, c(TRUE, FALSE))) {
    expect_as_in_r(function(x) xlaffi_told(x), x)
  }
  expect_error(xla_jit(function(x) {
    setMethod("xlaffi_told", "ANY", users(function(x, ...) if (x > 0) 1 else 2), where = globalenv())
    xlaffi_told(x)
  })(1), "decided while the program is written", class = "xlaffi_error")
})

test_that("R's functions take values in methods of reference classes", {
  skip_without_plugin()
  parent <- setRefClass("XlaffiClip",
    fields = list(a = "numeric"), where = globalenv(),
    methods = list(
      clip = function(x) pmax(x, a), twice = function(x) 2 * clip(x), own = function(x) .self$clip(c(x, 1)),
      set = function(v) {
        a <<- v
        invisible(.self)
      }
    )
  )
  child <- setRefClass("XlaffiClipped",
    contains = "XlaffiClip", where = globalenv(),
    methods = list(clip = function(x) callSuper(x) + ifelse(x > 0, 1, 0))
  )
  withr::defer({
    removeClass("XlaffiClipped", where = globalenv())
    removeClass("XlaffiClip", where = globalenv())
  })
  for (object in list(parent$new(a = 0.5), child$new(a = 0.5))) {
    expect_as_in_r(function(x) object$clip(x), x)
    expect_as_in_r(function(x) object$twice(x), x)
    expect_as_in_r(function(x) object$own(x), x)
    f <- xla_jit(function(x) object$clip(x))
    f(x)
    object$a <- 9
    expect_equal(f(x), object$clip(x))
    expect_error(xla_jit(function(x) object$set(sum(x)))(x), class = "xlaffi_error_invalid_argument")
    expect_identical(object$a, 9)
  }
})

test_that("methods for R's own classes are not passed over for those of any class", {
  skip_without_plugin()
  local_generic("xlaffi_both", users(function(a, b) standardGeneric("xlaffi_both")))
  method <- function(class, f) setMethod("xlaffi_both", c(class, class), users(f), where = globalenv())
  method("numeric", function(a, b) a + b)
  method("ANY", function(a, b) a * 1000)
  error <- error_of(xla_jit(users(function(x) xlaffi_both(x, 2)))(c(3, 1)))
  expect_s3_class(error, "xlaffi_error_unimplemented")
  expect_match(conditionMessage(error), 'xlaffi_both() has a method for "numeric"', fixed = TRUE)
  expect_identical(xla_jit(users(function(x) xlaffi_both(x, "a")))(c(3, 1)), c(3000, 1000))
  expect_identical(xla_jit(users(function(x) x * xlaffi_both(1, 2)))(c(3, 1)), c(9, 3))
})
