# Gradient and Hessian of densities and quantiles, in all arguments, inside, far out and at the ends of the support.

test_that("densities and their logarithms have first and second derivatives", {
  skip_without_plugin()
  expect_derivatives_right(one_in(3L, distribution_cases_of("d")), check = value_and_derivative_faults)
})

test_that("quantiles have first and second derivatives in both tails, also of logarithms", {
  skip_without_plugin()
  expect_derivatives_right(one_in(3L, distribution_cases_of("q")), check = value_and_derivative_faults)
})

test_that("quantiles have derivatives where the support begins or ends with a slope", {
  skip_without_plugin()
  f <- function(x) {
    sum(c(
      qexp(x[1], x[2]), 2 * qexp(1 - x[1], x[2], lower.tail = FALSE), 4 * qexp(x[1], x[2], FALSE, TRUE),
      8 * qunif(x[1], x[2], x[3]), 16 * qunif(1 - x[1], x[2], x[3]), 32 * qunif(x[1], x[2], x[3], FALSE),
      64 * qunif(x[1], x[2], x[3], TRUE, TRUE)
    ))
  }
  # In the order above; the slopes of the third and the last are those in the logarithm.
  rate <- 0.7
  width <- 2.5 - rate
  slope <- c(1 / rate + 2 / rate - 4 / rate + (8 - 16 - 32 + 64) * width, 8, 16 + 32 + 64)
  expect_equal(xla_grad(f)(c(0, rate, 2.5)), slope)
  mixed <- -(1 + 2 - 4) / rate^2 - (8 - 16 - 32 + 64)
  second <- (1 + 2) / rate + 64 * width
  wanted <- rbind(c(second, mixed, 24), c(mixed, 0, 0), c(24, 0, 0))
  expect_equal(xla_hessian(f)(c(0, rate, 2.5)), wanted)
})

test_that("second derivatives of densities and quantiles are the same in all modes", {
  skip_without_plugin()
  skip_unless_all()
  expect_modes_agree(last_variants(c(distribution_cases_of("d"), distribution_cases_of("q"))), 4L)
})

test_that("third derivatives, which models with random effects take, are differences of second ones", {
  skip_without_plugin()
  skip_unless_all()
  density <- function(p) {
    a <- exp(p[1])
    b <- exp(p[2])
    sum(
      sum(dnbinom(c(0, 3, 40), mu = a, size = b, log = TRUE)), dnbinom(3, mu = a, size = b * 1e5, log = TRUE),
      sum(hlo_dbetabinom(c(0, 3, 10), 10, plogis(p[1]), b, log = TRUE)), sum(dweibull(c(0.1, 2), a, b, log = TRUE)),
      hlo_dbetabinom(3, 10, plogis(p[1]), b * 1e5, log = TRUE), sum(dbeta(c(0.1, 0.97), a, b, log = TRUE)),
      sum(hlo_dtweedie(c(0, 0.1, 7, 300), a, b, 1.2 + 0.6 * plogis(p[1]), log = TRUE))
    )
  }
  second <- function(p) sum(xla_hessian(density)(p) * c(1, 2, 2, 5))
  all <- xla_jit(xla_vmap(function(p) list(second(p), xla_grad(second)(p))))
  p <- c(0.3, -0.4)
  step <- 1e-4
  found <- all(rbind(p, p + c(step, 0), p - c(step, 0), p + c(0, step), p - c(0, step)))
  expect_equal(found[[2L]][1L, ], (found[[1L]][c(2L, 4L)] - found[[1L]][c(3L, 5L)]) / (2 * step), tolerance = 1e-6)
})
