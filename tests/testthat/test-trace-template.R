# Calls of densities and distribution functions that are copied have the graph of those that are traced.

# The program of `f` with all calls traced
traced_text <- function(f, ...) {
  limit <- getFromNamespace("calls_before_template", "xlaffi")
  withr::defer(assignInNamespace("calls_before_template", limit, "xlaffi"))
  assignInNamespace("calls_before_template", Inf, "xlaffi")
  xla_program(f, ...)
}

# Three calls for each of several settings of the flags, in turn, for single numbers that are elements of `v`
many_calls <- function(f, numbers, settings, fixed = list()) {
  function(v) {
    sum <- 0
    for (call in 0:2) {
      for (setting in settings) {
        at <- (call + seq_along(numbers)) %% 7L + 1L
        arguments <- stats::setNames(lapply(at, function(i) v[[i]]), numbers)
        sum <- sum + do.call(f, c(arguments, fixed, setting))
      }
    }
    sum
  }
}

expect_copied <- function(f, numbers, settings, fixed = list(), slope = FALSE) {
  g <- many_calls(f, numbers, settings, fixed)
  if (slope) g <- xla_grad(g)
  v <- c(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
  expect_identical(xla_program(g, v), traced_text(g, v))
}

test_that("copies of calls of R's distributions are what the calls would be", {
  skip_without_plugin()
  skip_unless_all()
  logs <- list(list(log = TRUE), list(log = FALSE))
  tails <- list(list(), list(lower.tail = FALSE, log.p = TRUE))
  names <- grep("^overload_[dp][a-z]+$", ls(asNamespace("xlaffi")), value = TRUE)
  ends <- "^overload_[dp](norm|lnorm|exp|unif|cauchy|logis|weibull|beta|binom|f|gamma|chisq|geom|nbinom|pois|t)$"
  names <- grep(ends, names, value = TRUE)
  expect_length(names, 32L)
  for (name in names) {
    f <- getFromNamespace(name, "xlaffi")
    numbers <- setdiff(names(formals(f)), c("ncp", "log", "lower.tail", "log.p", "rate", "mu"))
    settings <- if (startsWith(name, "overload_d")) logs else tails
    expect_copied(f, numbers, settings)
    for (other in intersect(c("rate", "mu"), names(formals(f)))) {
      expect_copied(f, c(setdiff(numbers, c("scale", "prob")), other), settings[1L])
    }
  }
  expect_copied(getFromNamespace("overload_dbinom", "xlaffi"), c("x", "prob"), logs, list(size = 1))
  both <- function(v) {
    sum <- 0
    for (i in 1:6) sum <- sum + dbinom(v[[i]], 1, v[[1]]) + dbinom(v[[i]], v[[2]], v[[1]]) + dbinom(v[[i]], 2, v[[1]])
    sum
  }
  expect_identical(xla_program(both, 1:7 / 10), traced_text(both, 1:7 / 10))
})

test_that("derivatives go through copies", {
  skip_without_plugin()
  logs <- list(list(log = TRUE), list(log = FALSE))
  for (name in c("dnorm", if (all_run()) c("dgamma", "dpois", "dt"))) {
    f <- getFromNamespace(paste0("overload_", name), "xlaffi")
    numbers <- setdiff(names(formals(f)), c("ncp", "log", "rate"))
    expect_copied(f, numbers, logs, slope = TRUE)
  }
})

test_that("copies of calls of this package's densities are what the calls would be", {
  skip_without_plugin()
  skip_unless_all()
  logs <- list(list(log = TRUE), list(log = FALSE))
  for (name in c("betabinom", "genpois", "ztpois", "zerotruncated", "zeroinflated", "ordbeta")) {
    f <- get(paste0("hlo_d", name))
    expect_copied(f, setdiff(names(formals(f)), "log"), logs[1L])
  }
  for (one in c("mean", "lambda")) expect_copied(hlo_dcompois, c("x", "nu", one), logs[1L])
  for (one in c("prob", "mu")) expect_copied(hlo_dztnbinom, c("x", "size", one), logs[1L])
})

test_that("copies are for values of one type, and programs have their own", {
  skip_without_plugin()
  f <- function(v, w) {
    sum <- 0
    for (i in 1:5) sum <- sum + dnorm(v[[i]], log = TRUE) + sum(dnorm(w * i, log = TRUE)) + sum(dnorm(w[1:2] + i))
    sum
  }
  v <- c(0.1, 0.2, 0.3, 0.4, 0.5)
  w <- c(0.4, -1, 2)
  expect_equal(as.vector(xla_jit(f)(v, w)), f(v, w))
  single <- lapply(list(v, w), pjrt_buffer, "f32")
  expect_equal(as.vector(as_array(do.call(xla_jit(f), single))), f(v, w), tolerance = 1e-5)
  # In branches, too, where a copy must not belong to another one
  branches <- xla_jit(function(p, x) {
    hlo_cond(p,
      function() dnorm(x, log = TRUE) + dnorm(x + 1, log = TRUE) + dnorm(x + 2, log = TRUE) + dnorm(x + 3, log = TRUE),
      function() dnorm(2 * x, log = TRUE) + dnorm(3 * x, log = TRUE)
    )
  })
  expect_equal(as.vector(branches(TRUE, 0.5)), sum(dnorm(0.5 + 0:3, log = TRUE)))
  expect_equal(as.vector(branches(FALSE, 0.5)), sum(dnorm(0.5 * 2:3, log = TRUE)))
})
