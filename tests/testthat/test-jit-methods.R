# Compiled functions notice methods that come, go or change, by whatever function of R's they are called.

test_that("changes of methods and of what they read are noticed", {
  skip_without_plugin()
  s3 <- quote({
    k <- 2
    g <- function(s) UseMethod("g")
    g.aa <- function(s) s$v * k
    f <- function(x) g(structure(list(v = x), class = "aa"))
  })
  expect_noticed(s3, quote(k <- 10))
  expect_noticed(s3, quote(g.aa <- function(s) s$v + 100))
})

test_that("methods, classes and functions that come later are noticed", {
  skip_without_plugin()
  expect_noticed(quote({
    obj <- structure(list(), class = c("bar", "foo"))
    g <- function(o, x) UseMethod("g")
    g.foo <- function(o, x) x + 1
    f <- function(x) g(obj, x)
  }), quote(g.bar <- function(o, x) x * 100))
  expect_noticed(quote({
    g <- function(x) UseMethod("g")
    g.default <- function(x) x
    f <- function(x) g(x)
  }), quote(g.numeric <- function(x) x * 10))
  # R's classes are those of the session.
  home <- globalenv()
  # With its table of methods, which would be a part of every function that names it
  withr::defer(suppressMessages(methods::removeGeneric("later", where = home)))
  withr::defer(for (class in c("XlaffiLater", "XlaffiLate")) methods::removeClass(class, where = home))
  methods::setClass("XlaffiLate", representation(k = "numeric"), prototype(k = 1), where = home)
  methods::setClass("XlaffiLater", contains = "XlaffiLate", where = home)
  methods::setGeneric("later", function(o, x) standardGeneric("later"), where = home)
  methods::setMethod("later", "XlaffiLate", function(o, x) x + 1, where = home)
  late <- methods::new("XlaffiLater", k = 3)
  f <- function(x) later(late, x) # nolint: object_usage_linter.
  g <- function(x) x + methods::new("XlaffiLate")@k
  environment(f) <- environment(g) <- list2env(list(late = late), parent = home)
  compiled <- list(xla_jit(f), xla_jit(g))
  expect_identical(list(compiled[[1L]](2), compiled[[2L]](2)), list(3, 3))
  methods::setMethod("later", "XlaffiLater", function(o, x) x * 100, where = home)
  methods::setClass("XlaffiLate", representation(k = "numeric"), prototype(k = 5), where = home)
  expect_identical(list(compiled[[1L]](2), compiled[[2L]](2)), list(200, 7))
  for (body in expression(
    attr(held, "f")(x), x * getElement(fields, "k"), {
      k <- 5
      rm(k)
      x * k
    }, {
      k <- 5
      x * k * local(k, envir = parent)
    }
  )) {
    expect_noticed(bquote({
      parent <- environment()
      k <- 1
      fields <- list2env(list(k = 1))
      held <- structure(list(), f = function(x) x * k)
      f <- function(x) .(body)
    }), quote(k <- fields$k <- 7))
  }
})

test_that("methods that come, change and go are noticed, by whatever function they are called", {
  skip_without_plugin()
  # The object, what `f` makes of it, and the name of the method with what it gives, first and then
  cases <- list(
    list(quote(structure(c(1, 2), class = "gn")), quote(x * mean(o)), "mean.gn", 44, 45),
    list(quote(structure(list(coefficients = 3), class = "gn")), quote(x * coef(o)), "coef.gn", 10, 11),
    list(quote(structure(c(1, 2), class = "gn")), quote(x * o[2]), "[.gn", 7, 8),
    list(quote(structure(list(a = 1), class = "gn")), quote(x * o$a), "$.gn", 7, 8),
    list(quote(structure(list(a = 1), class = "gn")), quote(x * get("o")$a), "$.gn", 7, 8),
    list(quote(list(structure(4, class = "gn"))), quote(x * unclass(log(o[[1]]))[[1]]), "log.gn", 7, 8),
    list(quote(structure(4, class = "gn")), quote(x * unclass(o + o)), "Ops.gn", 7, 9),
    list(quote(structure(4, class = "gn")), quote(x * nchar(format(o))), "format.gn", "four", "seventeen"),
    list(quote(structure(matrix(1, 2, 2), class = "gn")), quote(x * nrow(o)), "dim.gn", c(4L, 4L), c(5L, 4L)),
    list(quote(structure(list(1), class = "gn")), quote(x * sum(sapply(o, max))), "as.list.gn", list(1, 5), list(2)),
    list(quote(structure(3, class = "gn")), quote(x * as.numeric(o)), "as.double.gn", 9, 10),
    list(quote(structure(3, class = "gn")), quote(x * sum(seq_along(o))), "length.gn", 2L, 3L),
    list(quote(data.frame(a = 1)), quote(x * length(summary(o))), "summary.data.frame", 1:2, 1:3),
    list(quote(NULL), quote(x * mean(structure(c(1, 2), class = "gn"))), "mean.gn", 44, 45),
    list(quote(NULL), quote({
      o <- c(1, 2)
      class(o) <- "gn"
      x * mean(o)
    }), "mean.gn", 44, 45)
  )
  home <- globalenv()
  for (case in cases) {
    run <- function(compile) {
      f <- eval(bquote(function(x) .(case[[2L]])), list2env(list(o = eval(case[[1L]])), parent = home))
      if (compile) f <- xla_jit(f)
      found <- list(f(2))
      withr::defer(rm(list = intersect(case[[3L]], ls(home)), envir = home))
      for (value in case[4:5]) {
        assign(case[[3L]], eval(bquote(function(...) .(value)), home), envir = home)
        found <- c(found, list(f(2)))
      }
      rm(list = case[[3L]], envir = home)
      c(found, list(f(2)))
    }
    expected <- run(FALSE)
    expect_length(unique(expected), 3L)
    expect_equal(run(TRUE), expected, label = case[[3L]])
  }
})

test_that("methods of S4 and registered methods that come or change are noticed", {
  skip_without_plugin()
  home <- globalenv()
  # Tables of methods stay behind, for which traces of other tests would not be kept.
  before <- ls(home, all.names = TRUE)
  withr::defer(rm(list = setdiff(grep("^[.]__T__", ls(home, all.names = TRUE), value = TRUE), before), envir = home))
  methods::setClass("XlaffiKept", representation(k = "numeric"), where = home)
  withr::defer({
    methods::removeMethod("length", "XlaffiKept", where = home)
    methods::removeClass("XlaffiKept", where = home)
  })
  kept <- methods::new("XlaffiKept", k = 1)
  f <- function(x) x * length(kept)
  g <- function(x) x * sum(seq_along(kept))
  environment(f) <- environment(g) <- list2env(list(kept = kept), parent = home)
  compiled <- list(xla_jit(f), xla_grad(g))
  for (value in list(NULL, 2L, 3L)) {
    if (!is.null(value)) methods::setMethod("length", "XlaffiKept", eval(bquote(function(x) .(value))), where = home)
    expect_identical(lapply(compiled, function(f) f(2)), list(f(2), g(1)))
  }
  home$xlaffi_held <- eval(quote(function(o, x) UseMethod("xlaffi_held")), home)
  home$xlaffi_held.default <- eval(quote(function(o, x) -x), home)
  withr::defer(rm(list = c("xlaffi_held", "xlaffi_held.default"), envir = home))
  # The generic is one of the session, or R's.
  local <- list2env(list(o = structure(c(1, 2), class = "XlaffiHeld")), parent = home)
  f <- eval(quote(function(x) xlaffi_held(o, x) * mean(o)), local)
  compiled <- xla_jit(f)
  objective <- xla_objective(f, 2)
  check <- function() expect_equal(c(compiled(2), objective$fn(2)), c(f(2), f(2)))
  check()
  expect_identical(f(2), -3)
  registerS3method("xlaffi_held", "XlaffiHeld", eval(quote(function(o, x) 55 * pmax(x, 1)), home), envir = home)
  withr::defer(rm("xlaffi_held.XlaffiHeld", envir = home[[".__S3MethodsTable__."]]))
  check()
  expect_identical(f(2), 165)
  withr::defer(rm("mean.XlaffiHeld", envir = get(".__S3MethodsTable__.", baseenv())))
  for (value in c(4, 5)) {
    registerS3method("mean", "XlaffiHeld", eval(bquote(function(x, ...) .(value)), home), envir = home)
    check()
    expect_identical(f(2), 110 * value)
  }
})

test_that("other variables whose names end as a class ask for no other program", {
  skip_without_plugin()
  traces <- 0
  home <- new.env(parent = globalenv())
  home$o <- structure(c(1, 2), class = "gn")
  home$traced <- function() traces <<- traces + 1
  f <- xla_jit(eval(quote(function(x) {
    traced()
    x * sum(unclass(o))
  }), home))
  for (value in 1:3) {
    home$number.gn <- value
    home$other <- function() value
    expect_identical(f(2), 6)
  }
  expect_identical(traces, 1)
})
