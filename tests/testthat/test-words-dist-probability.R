# Distribution functions and quantiles beside R's.

x <- c(-Inf, -37, -3, -0.5, 0, 1e-20, 1e-8, 0.1, 0.5, 1, 1.3, 5, 37, 1e3, Inf, NaN)
shape <- c(-1, 1e-3, 0.5, 1, 1.5, 2, 10, 33.3, 1e3, NaN)
scale <- c(-1, 0.3, 1, 1e4, NaN)
unit <- c(-0.1, 0, 1e-10, 0.1, 0.5, 0.7, 0.999, 1, 1.1, NaN)
count <- c(-1, 0, 1, 2, 3 - 1e-8, 10, 17, 50, 2.5, 1000, 12345, Inf, NaN)
size <- c(-1, 0, 1, 2, 20, 1000, 1e4, NaN)

tails <- list(
  list(lower.tail = TRUE, log.p = FALSE), list(lower.tail = FALSE, log.p = FALSE),
  list(lower.tail = TRUE, log.p = TRUE), list(lower.tail = FALSE, log.p = TRUE)
)
# The last one is in test-derivatives-probabilities.R, too.
if (!all_run()) {
  tails <- tails[1L]
}

test_that("distribution functions are R's in both tails, and their logarithms", {
  skip_without_plugin()
  cases <- list()
  for (tail in tails) {
    check <- function(name, grid, tolerance = 1e-12) {
      options <- c(tail, list(absolute = tail$log.p, tolerance = tolerance, own = c(NaN, 0, 1, -Inf)))
      cases <<- c(cases, list(do.call(distribution_case, c(list(name, grid), options))))
    }
    check("pnorm", list(q = x, mean = c(-3, 0, 1e5, Inf), sd = c(scale, 0, Inf)))
    check("plnorm", list(q = x, meanlog = c(-3, 0, 1), sdlog = scale))
    check("pexp", list(q = x, rate = c(scale, 0, Inf)))
    check("punif", list(q = x, min = c(-1, 0, 0.5, 3), max = c(0, 1, 10, Inf)))
    check("pcauchy", list(q = c(x, 1e8, -1e300), location = c(-3, 0, 1), scale = c(scale, Inf)))
    check("plogis", list(q = c(x, -1e3), location = c(-3, 0, 1, -Inf, Inf), scale = scale))
    check("pweibull", list(q = x, shape = setdiff(shape, 1e3), scale = scale))
    check("pgamma", list(q = x, shape = c(shape, 0, 1e5, Inf), rate = c(0.3, 1, 100)))
    check("pgamma", list(q = x, shape = shape, scale = scale))
    check("pchisq", list(q = x, df = shape))
    check("pbeta", list(q = unit, shape1 = shape, shape2 = c(0.5, 1, 2, 33.3)))
    # All is at one end: versions of R differ there, and beyond it.
    inside <- setdiff(unit, c(-0.1, 0, 1, 1.1))
    check("pbeta", list(q = inside, shape1 = c(0, Inf), shape2 = c(0.5, 1, 2, 33.3)))
    check("pt", list(q = c(x, 1e8), df = c(shape, 1e4, Inf)))
    check("pf", list(q = x, df1 = c(setdiff(shape, 1e-3), Inf), df2 = c(0.5, 3, 33.3, Inf)))
    check("ppois", list(q = count, lambda = c(0, shape, 1e4)))
    check("pbinom", list(q = count, size = size, prob = unit))
    check("pgeom", list(q = count, prob = unit))
    check("pnbinom", list(q = count, size = c(-1, 0, 0.5, 1, 33.3, 1e3), prob = c(-0.1, 0.1, 0.5, 0.7, 0.999, 1, 1.1)))
    check("pnbinom", list(q = count, size = c(0.5, 1, 33.3, 1e3, Inf), mu = c(0.1, 3, 40)))
  }
  expect_distributions(cases)
})

test_that("quantiles are R's, of both tails, and of logarithms", {
  skip_without_plugin()
  p <- c(0, 1e-20, 1e-10, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1, -0.1, NaN)
  cases <- list()
  for (tail in tails) {
    at <- if (tail$log.p) c(log(pmax(p, 0)), 0.1, -30) else c(p, 1.1)
    # R's own errors are larger where tails are small; some quantiles are numbers next to 0.
    check <- function(name, grid, tolerance = 1e-12, absolute = FALSE, p = at) {
      options <- c(tail, list(tolerance = tolerance, absolute = absolute))
      cases <<- c(cases, list(do.call(distribution_case, c(list(name, c(list(p = p), grid)), options))))
    }
    check("qnorm", list(mean = c(-3, 0, 1e5, NaN), sd = c(0, 0.3, 1, NaN)))
    check("qlnorm", list(meanlog = c(-3, 0, 1), sdlog = c(0.3, 1, NaN)))
    check("qexp", list(rate = c(0.3, 1, NaN)))
    check("qunif", list(min = c(-1, 0, NaN, -Inf), max = c(1, 10, Inf)))
    check("qcauchy", list(location = c(-3, 0, 1, -Inf, Inf), scale = c(0, 0.3, 1, NaN)))
    check("qlogis", list(location = c(-3, 0, 1), scale = c(0, 0.3, 1, NaN)))
    check("qweibull", list(shape = c(0.5, 1, 10), scale = c(0.3, 1, NaN)))
    check("qgamma", list(shape = c(0.5, 1, 1.5, 33.3, 1e3), rate = c(0.3, 1, NaN)), 1e-10)
    check("qchisq", list(df = c(0.5, 1, 10, 1e3)), 1e-10)
    check("qbeta", list(shape1 = c(0.5, 1, 2, 33.3), shape2 = c(0.5, 1, 10)), 1e-10)
    check("qt", list(df = c(1, 2, 33.3, 1e3, Inf)), 1e-10, absolute = TRUE)
    check("qf", list(df1 = c(1, 2, 33.3, Inf), df2 = c(1, 3, 50, Inf)), 1e-10, absolute = TRUE)
    check("qpois", list(lambda = c(0, 0.1, 1, 9.5, 100, 12345.6, -1, NaN)))
    # R goes wrong at 1e-20, and for large counts where few are left.
    check("qbinom", list(size = c(0, 1, 20), prob = c(0, 0.1, 0.5, 0.999, 1, 1.1, NaN)), p = at[-2])
    check("qbinom", list(size = 12345, prob = c(0.1, 0.4)), p = at[-2])
    check("qgeom", list(prob = c(1e-3, 0.3, 1, 0, NaN)))
    check("qnbinom", list(size = c(0.5, 3.1, 33.3), prob = c(0.1, 0.5, 0.9, 1.1)))
    check("qnbinom", list(size = c(0.5, 3, 33.3, Inf), mu = c(0.1, 3, 40)))
  }
  expect_distributions(one_in(2L, cases))
  expect_identical(of_values("qbinom", list(p = 0.5, size = c(2.5, 3), prob = 0.5)), c(NaN, 1))
})

test_that("quantiles of next to no degrees of freedom are at the ends, where R's are, or beyond all numbers", {
  skip_without_plugin()
  few <- c(1e-10, 1e-5, 1e-3, 0.05, 1, 1e3)
  for (tail in tails) {
    # Not 1/2, which is anywhere between 0 and 1 where both are few.
    p <- c(1e-3, 0.3, 0.4, 0.7, 0.999)
    grid <- as.list(expand.grid(p = if (tail$log.p) log(p) else p, df1 = few, df2 = few))
    beta <- list(p = grid$p, shape1 = grid$df1, shape2 = grid$df2)
    word <- function(f) function(...) do.call(f, c(list(...), tail))
    both <- computed_together(list(
      list(f = word(xlaffi:::overload_qbeta), arguments = beta), list(f = word(xlaffi:::overload_qf), arguments = grid)
    ))
    shares <- as.vector(both[[1]])
    found <- as.vector(both[[2]])
    expect_equal(shares, do.call(in_r, c(list("qbeta", beta), tail)), tolerance = 1e-9)
    # R's quantiles are no solution where there is none among numbers; its probabilities tell the side.
    reached <- function(q) {
      at <- do.call(in_r, c(list("pf", c(list(q), grid[-1])), tail))
      if (tail$lower.tail) at >= grid$p else at <= grid$p
    }
    expect_true(all(found[reached(1e-290)] <= 1e-290))
    expect_true(all(found[!reached(1e290)] >= 1e290))
    expect_false(anyNA(found))
  }
})

# R's search by its own probabilities, but where these are rounded themselves
test_that("quantiles of counts near probability 1 have the other tail's digits", {
  skip_without_plugin()
  cases <- list(
    list(qpois, c(0.01, 1, 100), -1e-20, log.p = TRUE), list(qpois, c(100, 1e4), -1e-20, FALSE, TRUE),
    list(qpois, c(1, 100, 1e4), 1 - 1e-14), list(qpois, c(1, 100, 1e8), 1 - 1e-10),
    list(qpois, c(1, 100, 1e4), 1 - 1e-12, FALSE), list(qpois, c(1, 100, 1e4), -1e-5, FALSE, TRUE),
    list(qbinom, 100, -1e-20, 0.1, log.p = TRUE), list(qbinom, 100, 1 - 1e-13, 0.1),
    list(qbinom, 1000, -1e-20, 0.1, lower.tail = FALSE, log.p = TRUE), list(qgeom, 1e-3, -1e-20, log.p = TRUE),
    list(qnbinom, 3, -1e-20, 0.1, log.p = TRUE), list(qnbinom, 1e-5, 1 - 1e-10, mu = 0.01),
    list(qnbinom, 33.3, -1e-12, 0.01, lower.tail = FALSE, log.p = TRUE), list(qnbinom, 0.5, 0.99, mu = 1e11)
  )
  # Of what may follow the probability
  at <- function(case, x) do.call(case[[1L]], c(list(case[[3L]], x), case[-(1:3)]))
  found <- xla_jit(function(x) Map(at, cases, x))(lapply(cases, `[[`, 2L))
  for (i in seq_along(cases)) {
    expect_identical(as.vector(found[[i]]), at(cases[[i]], cases[[i]][[2L]]), label = sprintf("case %d", i))
  }
  # R's logarithms underflow here: by sums of higher precision
  expect_identical(as.vector(xla_jit(function(n) qnbinom(-1e-300, n, 1e-6, log.p = TRUE))(33.3)), 825122971)
})

test_that("numbers below 0 are no counts, however near", {
  skip_without_plugin()
  out <- xla_jit(function(x, n) {
    list(
      dpois(x, 2), ppois(x, n), dbinom(x, 10, 0.5), pbinom(x, n, 0.5), dgeom(x, 0.5), pgeom(x, 0.5), dnbinom(x, n, 0.5),
      dnbinom(x, 2, mu = n), pnbinom(x, n, 0.5), pnbinom(x, 2, mu = n), hlo_dgenpois(x, n, 2)
    )
  })(c(-1e-8, -1e-20), 2)
  expect_identical(lapply(out, as.vector), rep(list(c(0, 0)), length(out)))
  # R rounds these before it asks.
  expect_equal(as.vector(xla_jit(function(x) dmultinom(x, prob = c(0.5, 0.5)))(c(-1e-8, 1))), 0.5)
})

test_that("infinite and degenerate parameters have R's answers", {
  skip_without_plugin()
  out <- xla_jit(function(inf, zero, x) {
    list(
      dbinom(c(0, 3), inf, 0.5), dbinom(3, inf, zero), qgamma(0.5, 2, scale = zero), qgamma(0.5, 2, rate = inf),
      dlnorm(x, -inf, inf), dlnorm(x, inf, 1), dlnorm(x, 0, inf), dlnorm(x, -inf, 1), dlnorm(x, zero, 0)
    )
  })(Inf, 0, c(0, 1, 2, Inf))
  x <- c(0, 1, 2, Inf)
  r <- suppressWarnings(list(
    dbinom(c(0, 3), Inf, 0.5), dbinom(3, Inf, 0), qgamma(0.5, 2, scale = 0), qgamma(0.5, 2, rate = Inf),
    dlnorm(x, -Inf, Inf), dlnorm(x, Inf, 1), dlnorm(x, 0, Inf), dlnorm(x, -Inf, 1), dlnorm(x, 0, 0)
  ))
  expect_identical(lapply(out, as.vector), r)
})

test_that("quantiles undo distribution functions, also at the steps of counts", {
  skip_without_plugin()
  k <- c(0, 1, 5, 20, 40)
  out <- xla_jit(function(k) {
    pois <- xlaffi:::overload_qpois(xlaffi:::overload_ppois(k, 13.7), 13.7)
    upper <- xlaffi:::overload_qbinom(
      xlaffi:::overload_pbinom(k, 70, 0.3, lower.tail = FALSE, log.p = TRUE), 70, 0.3, lower.tail = FALSE, log.p = TRUE
    )
    large <- xlaffi:::overload_qpois(0.5, k * 0 + 1e9)
    list(pois, upper, large)
  })(k)
  expect_identical(as.vector(out[[1]]), k)
  expect_identical(as.vector(out[[2]]), k)
  expect_identical(as.vector(out[[3]]), rep(1e9, 5))
})

test_that("slopes at the middle of Student's distribution, and outside supports", {
  skip_without_plugin()
  skip_unless_all()
  df <- c(0.4, 1, 3, 20, Inf)
  sides <- xla_jit(function(half, log_half) {
    lapply(list(TRUE, FALSE), function(lower) {
      at <- function(p, ...) xlaffi:::overload_qt(p, df, lower.tail = lower, ...)
      list(
        half = xla_grad(function(p) sum(at(p)))(half), middle = at(half),
        log_half = xla_grad(function(p) sum(at(p, log.p = TRUE)))(log_half)
      )
    })
  })(rep(0.5, 5), rep(-log(2), 5))
  for (side in 1:2) {
    slope <- c(1, -1)[[side]] / dt(0, df)
    found <- lapply(sides[[side]], as.vector)
    expect_equal(found$half, slope, tolerance = 1e-12)
    expect_equal(found$log_half, 0.5 * slope, tolerance = 1e-12)
    expect_identical(found$middle, numeric(5))
  }
  expect_equal(as.vector(xla_grad(function(q) sum(xlaffi:::overload_pt(q, 3)))(0)), dt(0, 3), tolerance = 1e-12)
  expect_equal(
    as.vector(xla_grad(function(q) sum(xlaffi:::overload_pgamma(q, c(2, 3))))(c(-1, 0))), c(0, 0)
  )
})

# Their search would neither end nor find the right count.
test_that("quantiles of counts are NaN where their probabilities are", {
  skip_without_plugin()
  out <- xla_jit(function(p) {
    list(qbinom(p, 1e300, 0.3), qbinom(p, 1e300, 1e-7, lower.tail = FALSE), qbinom(p, 20, 0.3))
  })(c(0.3, 0.5, 0.99))
  expect_identical(lapply(out[1:2], as.vector), rep(list(rep(NaN, 3)), 2))
  expect_identical(as.vector(out[[3]]), c(5, 6, 11))
})

test_that("gamma numbers move with their parameters as the distribution does", {
  skip_without_plugin()
  skip_unless_all()
  at <- function(shape) {
    x <- as.vector(xla_jit(function(a) hlo_rgamma(hlo_key(4), 6, a))(shape))
    slope <- as.vector(xla_jvp(function(a) hlo_rgamma(hlo_key(4), 6, a))(shape, rep(1, 6))$tangent)
    # By differences of the distribution function at the same x
    h <- 1e-4 * shape
    by_shape <- (pgamma(x, shape + h) - pgamma(x, shape - h)) / (2 * h)
    expect_equal(slope, -by_shape / dgamma(x, shape), tolerance = 1e-5)
  }
  at(c(0.3, 0.9, 1, 2, 10, 100))
  gradient <- xla_grad(function(a, b) sum(hlo_rbeta(hlo_key(2), 2000, a, b)) / 2000, 1:2)(2, 3)
  # The mean is a / (a + b).
  expect_equal(c(gradient[[1]], gradient[[2]]), c(3, -2) / 25, tolerance = 0.05)
})

# Differences of R's own functions are the reference: the step is such that both errors are small.
test_that("second derivatives of probabilities are right in mixed terms and of logarithms", {
  skip_without_plugin()
  skip_unless_all()
  second <- function(f, p, h = 2e-4) {
    unit <- diag(length(p)) * h * p
    entry <- function(i, j) {
      at <- function(a, b) f(p + a * unit[i, ] + b * unit[j, ])
      (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h^2 * p[i] * p[j])
    }
    outer(seq_along(p), seq_along(p), Vectorize(entry))
  }
  p <- c(0.5, 2.3)
  functions <- list(
    function(p) pgamma(p[1], p[2]), function(p) log(pgamma(p[1], p[2])),
    function(p) pgamma(p[1], p[2], lower.tail = FALSE, log.p = TRUE), function(p) pt(p[1], p[2], log.p = TRUE),
    function(p) pbeta(p[1], p[2], 0.7, log.p = TRUE), function(p) pf(p[1], p[2], 3, lower.tail = FALSE),
    function(p) pchisq(p[1], p[2], log.p = TRUE)
  )
  found <- xla_jit(function(p) lapply(functions, function(f) xla_hessian(f)(p)))(p)
  for (i in seq_along(functions)) {
    expect_equal(found[[i]], second(functions[[i]], p), tolerance = 1e-6, label = deparse1(functions[[i]]))
    expect_equal(found[[i]], t(found[[i]]), tolerance = 1e-12, label = deparse1(functions[[i]]))
  }

  # A regression with errors of Student's distribution, of which what is above 2 is known to be so
  x <- seq(-1, 1, length.out = 40)
  y <- 1 + 1.3 * x + 0.5 * qt((17 * seq_len(40)) %% 41 / 41, 5)
  above <- y > 2
  y <- pmin(y, 2)
  loss <- function(p) {
    z <- (y - p[1] - p[2] * x) / p[3]
    -sum(ifelse(above, pt(z, p[4], lower.tail = FALSE, log.p = TRUE), dt(z, p[4], log = TRUE) - log(p[3])))
  }
  at <- c(1, 1.2, 0.6, 5)
  error <- function(hessian) sqrt(diag(solve(hessian)))
  expect_equal(error(xla_hessian(loss)(at)), error(second(loss, at)), tolerance = 1e-5)
})
