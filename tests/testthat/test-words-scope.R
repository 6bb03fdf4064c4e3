# Functions of the user's while they are traced. The words of these tests are few and simple.

traced <- function(f, ...) xla_jit(f)(...)

test_that("what the user has under a name of R's comes first", {
  skip_without_plugin()
  x <- c(-1, 2, 3)
  sqrt <- function(x) x * 100
  expect_identical(traced(function(x) sqrt(x), x), x * 100)
  rm(sqrt)
  choose <- function(n, k) n - k
  expect_identical(traced(function(x) choose(x, 1), x), x - 1)
  rm(choose)
  # A variable is no function.
  seq_len <- 3
  identical <- 2
  expect_identical(traced(function(x) x * seq_len + seq_len(3) * identical, x), x * 3 + 1:3 * 2)
  expect_error(traced(function(x) identical(x, identical), x), "not available", class = "xlaffi_error_unimplemented")
  change <- function(x) {
    identical <<- identical + 1
    x * identical
  }
  expect_identical(traced(change, x), x * 3)
  expect_identical(identical, 3)
})

test_that("functions that are reached by name are in scope, and recursion is", {
  skip_without_plugin()
  x <- c(-1, 2, 3)
  guard <- function(x) paste(x)
  even <- function(n, x) if (n == 0) guard(x) else odd(n - 1, x)
  odd <- function(n, x) even(n - 1, x)
  for (f in list(
    function(x) guard(x), function(x) even(4, x), function(x) lapply(list(x), guard),
    function(x) do.call(guard, list(x)), function(x) do.call("guard", list(x)), function(x, y = guard(x)) y,
    function(x) (function(z) paste(z))(x),
    function(x) base::paste(x), function(x) lapply(list(x), paste), function(x) local(paste(x)),
    function(x) hlo_while(function(z) sum(z) < 3, function(z) paste(z), x), paste
  )) {
    expect_error(traced(f, x), "paste() is not available", fixed = TRUE, class = "xlaffi_error_unimplemented")
  }
  tools <- list(inner = list(guard = guard))
  expect_error(traced(function(x) tools$inner$guard(x), x), class = "xlaffi_error_unimplemented")
  made <- (function(k) function(x) paste(x, k))(1)
  expect_error(traced(function(x) made(x), x), class = "xlaffi_error_unimplemented")
  # R's functions of R's data are as they were.
  expect_identical(traced(function(x) x * nchar(paste("a", "b")) + length(outer(1:2, 1:3)), x), x * 3 + 6)
})

test_that("state, frames and calls are those of the user", {
  skip_without_plugin()
  x <- c(-1, 2, 3)
  count <- 0
  f <- function(x, y = x + count) {
    count <<- count + 1
    caller <- function() parent.frame()
    expect_identical(caller(), environment())
    expect_identical(sys.call()[[1L]], quote(f))
    expect_identical(match.call(), quote(f(x = x)))
    expect_false(missing(x))
    expect_true(missing(y))
    turns <- 0
    repeat {
      turns <- turns + 1
      if (turns > 2) break
      if (turns == 1) next
    }
    n <- 0
    m <- outer({
      n <- n + 1
      1:2
    }, 1:3)
    expect_identical(n, 1)
    expect_identical(dim(m), 2:3)
    g <- function(a) if (a > 1) return("large") else "small"
    expect_identical(vapply(1:2, g, ""), c("small", "large"))
    helper <- function(z) z^2
    expect_identical(sapply(1:3, "helper"), c(1, 4, 9))
    y
  }
  expect_identical(traced(f, x), x + 1)
  expect_identical(count, 1)
  expect_identical(deparse(f)[[1L]], "function (x, y = x + count) ")
  # A loop that R compiles before it runs
  loop <- function(x) {
    for (i in 1:50) {
      x <- if (i > 25 && is.numeric(x)) x + i else x - 1
    }
    stopifnot(!is.character(x))
    x
  }
  expect_identical(traced(loop, x), x - 25 + sum(26:50))
  expect_error(traced(function(x) for (i in 1:3) y <- paste(x), x), class = "xlaffi_error_unimplemented")
})

test_that("a loop goes through the elements in R's order", {
  skip_without_plugin()
  m <- matrix(c(1, 5, 2, 4, 3, 6), 2)
  horner <- function(m) {
    sum <- 0
    for (v in m) sum <- sum * 2 + v
    sum
  }
  expect_identical(traced(horner, m), horner(m))
  expect_identical(xla_grad(function(m) horner(m))(m), matrix(2^(5:0), 2))
})

test_that("what R decides on values is an error that shows the user's code", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  run <- function(f) xlaffi:::call_written(f, list(x))
  expect_snapshot(error = TRUE, {
    run(function(x) if (x[1] > 0) x else -x)
    run(function(x) {
      while (sum(x) > 1) x <- x / 2
      x
    })
    run(function(x) x[1] > 0 && TRUE)
    run(function(x) FALSE || x[1] > 0)
    run(function(x) switch(x[1], 1, 2))
    run(function(x) lapply(1:2, function(i) if (x[i] > 0) 1 else 2))
    run(function(x) 1:x)
    run(function(x) identical(x, x))
    run(function(x) x + rnorm(3))
    run(function(x) x + sample(3))
    run(function(x) x + stats::runif(1))
    run(function(x) x + month.name[[1]])
  })
})

test_that("calls of R's errors are the user's", {
  skip_without_plugin()
  f <- function(x) outer(1:2, 1:3, FUN = "no such function")
  expect_error(traced(f, 1), "no such function")
})

test_that("generics of the user's dispatch on what R's vectors are, and methods are in scope", {
  skip_without_plugin()
  g <- function(x, ...) UseMethod("g")
  g.default <- function(x, ...) -1
  g.numeric <- function(x, ...) ifelse(x > 0, x, 0) * 2
  g.integer <- function(x, ...) x * 4L
  g.matrix <- function(x, ...) x * 3
  g.logical <- function(x, ...) NextMethod()
  f <- function(x) g(x)
  for (x in list(c(-1, 3), 1:2, matrix(c(1, 2), 1), TRUE, 1i)) {
    expect_equal(traced(f, x), f(x))
  }
  area <- function(s, ...) UseMethod("area")
  area.circle <- function(s, ...) ifelse(s$r > 0, s$r, 0)^2
  f <- function(x) area(structure(list(r = x), class = "circle"))
  expect_identical(traced(f, c(-1, 3)), c(0, 9))
  Ops.money <- function(e1, e2) ifelse(e1$v > 0, get(.Generic)(e1$v, e2$v), 0)
  f <- function(x) {
    m <- structure(list(v = x), class = "money")
    m + m
  }
  expect_identical(traced(f, c(-1, 3)), c(0, 6))
})

test_that("functions that come out of objects are in scope", {
  skip_without_plugin()
  x <- c(-1, 3)
  object <- new.env()
  object$relu <- function(x) ifelse(x > 0, x, 0)
  object$list <- list(object$relu)
  for (f in list(
    function(x) object$relu(x), function(x) object[["relu"]](x), function(x) object$list[[1]](x),
    function(x) (object$relu)(x), function(x) (if (length(x) > 1) object$relu else sin)(x)
  )) {
    expect_identical(traced(f, x), c(0, 3))
  }
})

test_that("functions that come out of lists, environments and arguments are in scope, R's own too", {
  skip_without_plugin()
  x <- c(1, 2, 4)
  own <- list(sd, list(mad), a = function(v) var(v))
  held <- new.env()
  held$f <- sd
  called <- function(f, x) f(x)
  found <- function(f, x) {
    f <- match.fun(f)
    f(x)
  }
  later <- function(f, x) function() f(x)
  apply_all <- function(...) {
    functions <- list(...)
    function(x) Reduce(function(x, f) f(x), functions, x)
  }
  made <- apply_all(sd, sqrt)
  for (f in list(
    function(x) unlist(lapply(own[c(1, 3)], function(f) f(x))), function(x) own[[2]][[1]](x), function(x) own$a(x),
    function(x) called(held$f, x), function(x) called(own[[1]], x), function(x) found("sd", x), function(x) made(x),
    function(x) vapply(c("sd", "mad"), function(name) match.fun(name)(x), 0), function(x) found(held$f, x),
    function(x) later(held$f, x)(), function(x) called(f = function(v) held$f(v), x)
  )) {
    expect_equal(traced(f, x), unname(f(x)), label = deparse1(f))
  }
  # A variable is no function, what is assigned to calls another one, and calls are as they were written.
  numbered <- function(c, x) c(c, x)
  expect_identical(traced(function(x) numbered(3, x), x), c(3, x))
  named <- function(x, names) {
    names(x) <- names
    x
  }
  expect_identical(traced(function(x) named(x, c("a", "b", "c"))[["b"]], x), 2)
  written <- NULL
  shown <- function(x) {
    written <<- sys.call()
    x
  }
  traced(function(x) called(shown, x), x)
  expect_identical(written, quote(f(x)))
})

test_that("what cannot be decided does not become a number by a handler", {
  skip_without_plugin()
  expect_error(traced(function(x) tryCatch(if (all(x > -5)) x else -x, error = function(e) 99), 1), "is decided while")
  expect_error(traced(function(x) {
    try(while (sum(x) > 1) x <- x / 2, silent = TRUE)
    x
  }, 1), "is decided while")
  expect_identical(traced(function(x) tryCatch(stop("mine"), error = function(e) x), 1), 1)
})

test_that("a literal NA is refused where there is no place for it", {
  skip_without_plugin()
  for (f in list(
    function(x) x + NA, function(x) x == c(NA, 1), function(x) NA_integer_ * x, function(x) x & NA, function(x) NaN > x
  )) {
    expect_error(traced(f, 1:2), "of NA is NA", class = "xlaffi_error_invalid_argument")
  }
  expect_error(traced(function(x) x < NA_real_, 1.5), "of NA is NA")
  expect_identical(traced(function(x) x + NA_real_, 1:2), c(NaN, NaN))
  expect_identical(traced(function(x) x + NA, 1.5), NaN)
})

test_that("primitives find the methods of the user's classes", {
  skip_without_plugin()
  code <- quote({
    `[.held` <- function(x, i) structure(list(v = unclass(x)$v[i]), class = "held")
    `[<-.held` <- function(x, i, value) structure(list(v = replace(unclass(x)$v, i, value)), class = "held")
    is.na.held <- function(x) "is.na"
    sum.held <- function(..., na.rm = FALSE) "sum"
    range.held <- function(..., na.rm = FALSE) "range"
    log.held <- function(x, ...) "log"
    rep.held <- function(x, ...) "rep"
    function(x) {
      o <- structure(list(v = 1:5), class = "held")
      p <- o
      p[2] <- 9L
      seen <<- list(o[2:3]$v, p$v, is.na(o), sum(o), range(o), log(o), rep(o, 2))
      x
    }
  })
  home <- list2env(list(seen = NULL), parent = globalenv())
  f <- eval(code, home)
  xla_jit(f)(1)
  traced <- home$seen
  f(1)
  expect_identical(traced, home$seen)
  expect_identical(traced[[5]], "range")
})

test_that("values have the classes of R's data", {
  skip_without_plugin()
  kinds <- list(1.5, 1:3, TRUE, 1i, matrix(1:4, 2), array(1, c(1, 1, 1)))
  for (x in kinds) {
    shown <- NULL
    tell <- function(x) list(class(x), oldClass(x), is.object(x), isS4(x))
    xla_jit(function(x) {
      shown <<- tell(x)
      x
    })(x)
    expect_identical(shown, tell(x))
  }
})

test_that("generics of R's reach the methods that the user wrote", {
  skip_without_plugin()
  predict.held <- function(object, newdata, ...) object$slope * ifelse(newdata > 0, newdata, 0)
  o <- structure(list(slope = 3), class = c("held", "model"))
  expect_identical(traced(function(x) predict(o, x), c(-1, 2)), c(0, 6))
  expect_identical(traced(function(x) stats::predict(o, newdata = x), c(-1, 2)), c(0, 6))
  # Those of R know nothing of values.
  line <- stats::lm(dist ~ speed, cars)
  expect_error(traced(function(x) predict(line, x), 1), "predict() is not available", fixed = TRUE)
})

test_that("objects beside values are refused", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  run <- function(f) xlaffi:::with_written_calls(xlaffi:::call_written(f, list(x)))
  objects <- list(
    as.Date("2026-01-02"), factor(c("a", "b", "c")), stats::ts(1:3), as.difftime(1, units = "secs"),
    as.POSIXct(0, origin = "1970-01-01", tz = "UTC")
  )
  for (object in objects) {
    for (f in list(function(x) x + object, function(x) object * x, function(x) x > object, function(x) c(x, object))) {
      expect_error(run(f), class = "xlaffi_error_invalid_argument")
    }
  }
  expect_snapshot(error = TRUE, run(function(x) x - stats::ts(1:3)))
})

test_that("a function of a package that decides by a value is told as the cause", {
  values_anywhere()
  # What R's own `if` says of a value
  decides <- function(x) if (x) 1 else 2
  value <- xlaffi:::new_parameter(ffi_type("pred", integer()))
  expect_error(xlaffi:::with_written_calls(decides(value)), "decides by a value of the program", class = "xlaffi_error")
})
