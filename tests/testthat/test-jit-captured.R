# Compiled functions notice what is changed in the session.

test_that("changes of variables are noticed however the code names them", {
  skip_without_plugin()
  change <- quote(k <- 10)
  expect_noticed(quote({
    k <- 2
    f <- function(x) {
      k <- k + 1
      x * k
    }
  }), change)
  expect_noticed(quote({
    k <- 2
    f <- function(x) {
      if (length(x) > 5) k <- 1
      x * k
    }
  }), change)
  for (body in expression(
    x * get("k"), x * mget("k", inherits = TRUE)[[1]], eval(quote(x * k)), eval((~ x * k)[[2]]),
    eval(parse(text = "x * k")), {
      k <- k + 1
      x * k
    }, {
      for (i in integer()) k <- 1
      x * k
    }, {
      while (FALSE) k <- 1
      x * k
    }, local(x * k), (function(k = parent) x * k)(k)
  )) {
    expect_noticed(bquote({
      k <- 2
      f <- function(x) .(body)
    }), change)
  }
  expect_noticed(quote(f <- function(x) if (exists("zzz")) x else -x), quote(zzz <- 1))
  # The user may give a meaning of his own to a name of R's.
  expect_noticed(quote(f <- function(x) pmax(x, 0)), quote(pmax <- function(x, y) x - 42))
})

test_that("changes of functions are noticed however they are called", {
  skip_without_plugin()
  for (body in expression(
    do.call("h", list(x)), sapply(x, "h"), Reduce("h", list(x, x)), L$a$f(x), L$a$g(x), {
      part(x) <- 3
      x
    }
  )) {
    expect_noticed(bquote({
      k <- 1
      h <- function(x, ...) x * 2
      L <- list(a = list(f = function(x) x * k, g = function(x) h(x)))
      `part<-` <- function(x, value) x * value
      f <- function(x) .(body)
    }), quote({
      k <- 5
      h <- function(x, ...) x * 3
      `part<-` <- function(x, value) x + value
    }))
  }
  expect_noticed(quote({
    k <- 1
    q <- function(x) x * k
    compose <- function(...) {
      function(x) {
        for (f in list(...)) x <- f(x)
        x
      }
    }
    f <- compose(q)
  }), quote(k <- 7))
})

test_that("changes of fields are noticed", {
  skip_without_plugin()
  for (body in expression(
    x * cfg$k, x * cfg[["k"]], x * with(cfg, k), x * cfg$inner$k, cfg$times(x), x * get("k", cfg)
  )) {
    expect_noticed(bquote({
      cfg <- new.env()
      cfg$k <- 2
      cfg$inner <- list2env(list(k = 2))
      cfg$times <- function(x) x * cfg$k
      f <- function(x) .(body)
    }), quote({
      cfg$k <- 10
      cfg$inner$k <- 10
    }))
  }
})

test_that("changes of attributes of environments are noticed", {
  skip_without_plugin()
  for (body in expression(x * attr(cfg, "k"), x * attributes(held$cfg)$k, if (inherits(cfg, "late")) x else -x)) {
    expect_noticed(bquote({
      cfg <- new.env()
      attr(cfg, "k") <- 2
      held <- list(cfg = cfg)
      f <- function(x) .(body)
    }), quote({
      attr(cfg, "k") <- 10
      class(cfg) <- "late"
    }))
  }
})

test_that("what is put on the search path, or taken from it, is noticed", {
  skip_without_plugin()
  put <- function(...) attach(list(...), name = "xlaffi_put", warn.conflicts = FALSE)
  take <- function() detach("xlaffi_put", character.only = TRUE)
  withr::defer(while ("xlaffi_put" %in% search()) take())
  local <- new.env(parent = globalenv())
  f <- eval(quote(function(x) x * sum(held_here)), local)
  g <- eval(quote(function(x) x * pi), local)
  compiled <- xla_jit(f)
  slope <- xla_grad(g)
  put(held_here = c(1, 2))
  objective <- xla_objective(eval(quote(function(p) (p - held_here[1])^2), local), 0)
  expect_identical(list(compiled(1), slope(2), objective$fn(0)), list(3, pi, 1))
  take()
  expect_error(compiled(1), "held_here")
  expect_error(objective$fn(0), "held_here")
  put(held_here = c(2, 5), pi = 3)
  expect_identical(list(compiled(1), slope(2), objective$fn(0), objective$gr(0)), list(7, 3, 4, -4))
  put(held_here = 1)
  expect_identical(list(compiled(1), slope(2), objective$fn(0)), list(1, 3, 1))
  take()
  take()
  expect_identical(slope(2), pi)
})

test_that("what a function changes itself does not ask for another program", {
  skip_without_plugin()
  notes <- new.env()
  notes$count <- 0
  count <- 0
  tick <- function() count <<- count + 1
  f <- xla_jit(function(x) {
    notes$count <- notes$count + 1
    notes[["last"]] <- "now"
    tick()
    i <- 2
    x * i + 0 * count
  })
  for (i in 1:3) f(1)
  expect_identical(notes$count, 1)
  expect_identical(count, 1)
})

test_that("variables named like R's functions, or like the function's own variables, ask for no other program", {
  skip_without_plugin()
  traces <- 0
  home <- new.env(parent = globalenv())
  home$traced <- function() traces <<- traces + 1
  f <- eval(quote(function(x) {
    traced()
    y <- numeric(3)
    for (i in 1:3) y[i] <- c(x, 2)[[1]] * i
    dim(y) <- 3
    sum(y)
  }), home)
  compiled <- xla_jit(f)
  for (value in 1:3) {
    for (name in c("i", "y", "c", "numeric", "dim", "dim<-", "sum")) assign(name, value, envir = home)
    expect_equal(compiled(2), f(2))
  }
  # R's own run of `f` counts, too.
  expect_identical(traces, 4)
  home$c <- function(...) 10
  expect_equal(compiled(2), 60)
  home$`dim<-` <- function(x, value) -x
  expect_equal(compiled(2), -60)
})

test_that("arguments that were left out of the function around are as in R, and noticed when they come", {
  skip_without_plugin()
  expect_noticed(quote({
    has <- FALSE
    make <- function(w, g) {
      list(f = function(x) if (has) sum(w * x) else if (FALSE) g(x) else sum(x), set = function(value) w <<- value)
    }
    made <- make()
    f <- made$f
  }), quote({
    has <- TRUE
    made$set(3)
  }))
  apart <- function(w, g) function(x) if (FALSE) sum(w * x) else if (FALSE) g(x) else sum(x)
  compiled <- xla_jit(apart())
  for (i in 1:3) expect_equal(compiled(c(1, 2)), 3)
  lacking <- function(w) function(x) x * w
  expect_error(xla_jit(lacking())(1), "argument \"w\" is missing", fixed = TRUE)
})

test_that("expressions of a thousand operations do not use up the stack", {
  skip_without_plugin()
  deep <- function(start, end = "") {
    eval(str2lang(paste0("function(x) {", start, "; y <- sum(x); y", strrep(" + 1", 1000), end, "}")))
  }
  expect_identical(xla_jit(deep("NULL"))(1), 1001)
  skip_unless_all()
  # What the copies of functions rewrite, and where names in strings are looked for
  f <- deep("if (length(x) > 5) x <- x[1]; z <- sapply(x, 'sin')", " + (y > 1)")
  expect_identical(xla_jit(f)(1), 1001)
  chain <- function(x) {
    for (i in 1:2000) x <- x + 1
    x
  }
  expect_identical(xla_grad(chain, value = TRUE)(1), list(value = 2001, gradient = 1))
  expect_identical(xla_vmap(chain)(c(1, 2)), c(2001, 2002))
})

test_that("an environment that has `...` is looked at without it", {
  skip_without_plugin()
  make <- function(...) {
    home <- environment()
    step <- 1
    xla_jit(function(x) x + home$step)
  }
  f <- make(2)
  for (turn in 1:3) expect_identical(f(1), 2)
})
