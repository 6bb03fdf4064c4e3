# Densities beside R's own, and, where R loses digits, beside dist-reference.csv, which dist-reference.py wrote.

x <- c(-Inf, -10, -0.5, 0, 1e-20, 1e-8, 0.1, 0.5, 1, 1.3, 5, 37, 1e3, 1e8, Inf, NaN)
shape <- c(-1, 0, 1e-3, 0.5, 1, 1.5, 2, 10, 33.3, 1e3, 1e5, Inf, NaN)
scale <- c(-1, 0, 0.3, 1, 1e4, Inf, NaN)
unit <- c(-0.1, 0, 1e-10, 0.1, 0.5, 0.7, 0.999, 1, 1.1, NaN)
count <- c(-1, 0, 1, 2, 3 + 1e-8, 10, 17, 50, 2.5, 1000, 12345, 1e6, 1e9, Inf, NaN)
size <- c(-1, 0, 1, 2, 20, 2.5, 1000, 1e4, NaN)

test_that("densities are R's", {
  skip_without_plugin()
  cases <- list()
  # Logarithms have the digits; densities are made of the same parts.
  for (log in if (all_run()) c(FALSE, TRUE) else TRUE) {
    check <- function(name, grid, ...) {
      cases <<- c(cases, list(distribution_case(name, grid, log = log, absolute = log, ...)))
    }
    check("dnorm", list(x = x, mean = c(-3, 0, 1e5, Inf), sd = scale))
    check("dlnorm", list(x = x, meanlog = c(-3, 0, 1), sdlog = scale), own = c(NaN, 0, -Inf))
    check("dexp", list(x = x, rate = scale))
    check("dunif", list(x = x, min = c(-1, 0, 0.5, 3), max = c(0, 1, 10, Inf)))
    check("dcauchy", list(x = x, location = c(-3, 0, 1), scale = scale))
    check("dlogis", list(x = x, location = c(-3, 0, 1), scale = scale))
    check("dgamma", list(x = x, shape = shape, rate = scale))
    check("dgamma", list(x = x, shape = shape, scale = scale))
    check("dchisq", list(x = x, df = shape))
    check("dt", list(x = x, df = shape))
    check("dbeta", list(x = c(unit, 1e-8), shape1 = setdiff(shape, 1e5), shape2 = c(0, 0.5, 1, 2, 33.3, Inf)))
    check("dpois", list(x = count, lambda = shape))
    check("dbinom", list(x = count, size = size, prob = unit))
    check("dgeom", list(x = count, prob = unit))
    check("dnbinom", list(x = count, size = c(-1, 0, 0.5, 1, 33.3, 1e3), prob = c(0.1, 0.5, 0.7, 1, 1.1)))
  }
  expect_distributions(one_in(2L, cases))
})

test_that("one trial, known while the program is written, is the binomial distribution", {
  skip_without_plugin()
  skip_unless_all()
  points <- expand.grid(x = c(-1, 0, 1, 2, 0.5, 1 + 1e-10, Inf, NaN), prob = c(unit, 1e-300, 0.25, 1 - 1e-15))
  inside <- expand.grid(x = c(0, 1), prob = c(0, 1e-20, 0.2, 0.5, 0.9, 1))
  # The number of trials is one of the code, or data.
  all <- function(f, points, inside) {
    slope <- function(p) xla_jvp(function(p) f(inside$x, p))(p, p * 0 + 1)$tangent
    curve <- xla_jvp(slope)(inside$prob, inside$prob * 0 + 1)$tangent
    list(f(points$x, points$prob), slope(inside$prob), curve)
  }
  found <- xla_jit(function(points, inside, size) {
    lapply(c(TRUE, FALSE), function(log) {
      known <- function(x, p) dbinom(x, 1, p, log = log)
      data <- function(x, p) dbinom(x, size, p, log = log)
      list(all(known, points, inside), all(data, points, inside))
    })
  })(as.list(points), as.list(inside), 1)
  for (log in c(TRUE, FALSE)) {
    given <- found[[2L - log]]
    expected <- suppressWarnings(dbinom(points$x, 1, points$prob, log = log))
    expect_equal(given[[1L]][[1L]], expected, tolerance = 1e-13)
    expect_equal(given[[1L]], given[[2L]], tolerance = 1e-13)
  }
})

test_that("densities have their digits where R loses them", {
  skip_without_plugin()
  skip_unless_all()
  cases <- utils::read.csv(test_path("dist-reference.csv"), colClasses = c("character", rep("numeric", 4)))
  arguments <- list(
    dbeta = c("x", "shape1", "shape2"), df = c("x", "df1", "df2"), dgamma = c("x", "shape", "rate"), dt = c("x", "df"),
    dpois = c("x", "lambda"), dbinom = c("x", "size", "prob"), dnbinom = c("x", "size", "prob"),
    dnbinom_mu = c("x", "size", "mu")
  )
  parts <- lapply(stats::setNames(nm = names(arguments)), function(name) cases[cases$name == name, ])
  found <- computed_together(lapply(names(arguments), function(name) {
    f <- get(paste0("overload_", sub("_mu", "", name)), asNamespace("xlaffi"))
    list(
      f = function(...) list(log = f(..., log = TRUE), density = f(..., log = FALSE)),
      arguments = stats::setNames(as.list(parts[[name]][2:4]), arguments[[name]])[arguments[[name]]]
    )
  }))
  names(found) <- names(arguments)
  for (name in names(arguments)) {
    expected <- parts[[name]]$log
    expect_lt(max(distance(as.vector(found[[name]]$log), expected, absolute = TRUE)), 1e-13, label = name)
    usual <- expected > -700
    expect_lt(max(distance(as.vector(found[[name]]$density)[usual], exp(expected[usual]))), 1e-12, label = name)
  }
})

test_that("what is not chosen does not come through in slopes of densities", {
  skip_without_plugin()
  skip_unless_all()
  g <- xla_grad(function(x, a, b) {
    f <- list(
      xlaffi:::overload_dgamma, xlaffi:::overload_dbeta, xlaffi:::overload_dweibull, xlaffi:::overload_dlnorm,
      xlaffi:::overload_df
    )
    sum(Reduce(`+`, lapply(f, function(density) density(x, a, b))))
  }, 1:3)
  # The slope of F with 4 and 3 degrees of freedom at 0 is finite, that with 3 is not.
  out <- g(c(-1, 0, 2), c(2.5, 4, 4), c(3, 3, 4))
  expect_true(all(is.finite(unlist(lapply(out, as.vector))[-3])))
})

test_that("second derivatives, batches, f32 and integers", {
  skip_without_plugin()
  skip_unless_all()
  h <- xla_hessian(function(v) xlaffi:::overload_dgamma(v[1], v[2], v[3], log = TRUE))(c(2, 3, 0.5))
  expect_equal(h, matrix(c(-2 / 4, 1 / 2, -1, 1 / 2, -trigamma(3), 2, -1, 2, -3 / 0.25), 3), tolerance = 1e-10)
  # The square of the probability is 0 in doubles.
  logit <- xla_hessian(function(e) dbinom(0, 1, plogis(e), log = TRUE))
  expect_equal(c(logit(-360)) / exp(-360), -1, tolerance = 1e-12)
  density <- function(x, a) xlaffi:::overload_dgamma(x, a, 2)
  batch <- xla_vmap(density, in_axes = list(1, NULL))(matrix(1:6 / 2, 3), c(2, 5))
  expect_equal(batch, matrix(dgamma(matrix(1:6 / 2, 3), rep(c(2, 5), each = 3), 2), 3), tolerance = 1e-13)
  expect_equal(of_values("dbinom", list(x = 0:3, size = 3L, prob = 0.3)), dbinom(0:3, 3, 0.3), tolerance = 1e-14)
  f32 <- xla_jit(function(x) xlaffi:::overload_dgamma(hlo_convert(x, "f32"), 1e5, 1e3))
  expect_equal(as.vector(f32(100)), dgamma(100, 1e5, 1e3), tolerance = 1e-7)
  # Recycling
  expect_equal(of_values("dnorm", list(x = 1:6 / 2, mean = c(0, 1), sd = 2)), dnorm(1:6 / 2, c(0, 1), 2))
  scalars <- list(
    function(x) dnorm(x, 0, 5), function(x) pgamma(2, x), function(x) beta(x, 2), function(x) beta(2, x)
  )
  for (f in scalars) {
    expect_identical(xlaffi:::trace_program(f, list(ffi_type("f64")))$results@shape, integer())
  }
})

test_that("multinomial probabilities are R's, with their slopes", {
  skip_without_plugin()
  f <- xla_jit(function(x, p) c(dmultinom(x, prob = p), dmultinom(x, prob = p, log = TRUE)))
  plain <- function(x, p) c(dmultinom(x, prob = p), dmultinom(x, prob = p, log = TRUE))
  for (case in list(
    list(c(3, 2, 5), c(1, 1, 2)), list(c(0, 4), c(0, 3)), list(c(1, 4), c(0, 3)), list(c(0, 0), c(0.5, 0.5)),
    list(7, 2),
    list(c(2L, 3L), c(0.2, 0.8)), list(c(1e3, 2e3, 5), c(0.3, 0.6, 0.1))
  )) {
    expect_equal(f(case[[1]], case[[2]]), plain(case[[1]], case[[2]]), tolerance = 1e-12)
  }
  expect_identical(f(c(1, -1), c(1, 1)), c(NaN, NaN))
  expect_identical(f(c(1, 1), c(1, NaN)), c(NaN, NaN))
  counts <- c(3, 0, 5)
  log_density <- function(p) dmultinom(counts, size = 8, prob = p, log = TRUE)
  p <- c(0.2, 0.3, 0.1)
  expect_equal(xla_grad(log_density)(p), counts / p - 8 / sum(p))
  expect_snapshot(error = TRUE, {
    xla_jit(function(p) dmultinom(1:3, prob = p))(c(1, 2))
    xla_jit(function(p) dmultinom(1:2, size = 4, prob = p))(c(1, 2))
  })
})

test_that("what densities refuse", {
  skip_without_plugin()
  run <- function(f, ...) xla_jit(f)(...)
  expect_snapshot(error = TRUE, {
    run(function(x) xlaffi:::overload_dgamma(x, 1, rate = 2, scale = 3), 1)
    run(function(x) xlaffi:::overload_dt(x, 3, ncp = 1), 1)
    run(function(x) xlaffi:::overload_dbeta(x, 3, 1, ncp = x), 1)
    run(function(x) xlaffi:::overload_dnorm(x, log = NA), 1)
    run(function(x) xlaffi:::overload_dnbinom(x, 3), 1)
    run(function(x) xlaffi:::overload_dnorm(hlo_convert(x, "c128")), 1)
    run(function(x) xlaffi:::overload_dnorm(x, c(1, 2)), c(1, 2, 3))
    run(function(x) xlaffi:::overload_dnorm(x, "a"), c(1, 2, 3))
  })
})
