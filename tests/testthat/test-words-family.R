# Families of generalized linear models, made outside of the program, and what R's code in other places does with values

families <- list(
  binomial(), binomial("probit"), binomial("cauchit"), binomial("cloglog"), binomial("log"), poisson(), poisson("sqrt"),
  Gamma(), Gamma("log"), gaussian(), gaussian("inverse"), inverse.gaussian(), quasibinomial(), quasi(), quasipoisson(),
  quasi(link = stats::power(2), variance = "mu^3")
)
mu <- c(0.2, 0.5, 0.9)
eta <- c(0.3, -0.5, 31, -31)

test_that("the functions of families take values", {
  skip_without_plugin()
  of_family <- function(family, mu, eta) {
    positive <- family$link %in% c("inverse", "1/mu^2", "sqrt", "log", "mu^2") || startsWith(family$link, "mu^")
    at <- if (positive) abs(eta[1:2]) else eta
    y <- if (grepl("binomial", family$family)) c(0, 1, 0.5) else c(1, 2.5, 0.1)
    list(
      family$linkfun(mu), family$linkinv(at), family$mu.eta(at), family$variance(mu),
      family$dev.resids(y, mu, c(1, 2, 3)), at[1:2]
    )
  }
  families <- one_in(3L, families)
  found <- xla_jit(function(mu, eta) {
    lapply(families, function(family) {
      values <- of_family(family, mu, eta)
      c(values[1:5], list(xla_grad(function(v) sum(family$linkinv(v)))(values[[6]])))
    })
  })(mu, eta)
  for (i in seq_along(families)) {
    about <- paste(families[[i]]$family, families[[i]]$link)
    expected <- of_family(families[[i]], mu, eta)
    expect_equal(found[[i]][1:5], expected[1:5], tolerance = 1e-13, label = about)
    expect_equal(found[[i]][[6]], families[[i]]$mu.eta(expected[[6]]), tolerance = 1e-9, label = about)
  }
  expect_equal(xla_grad(function(mu) sum(binomial()$dev.resids(c(0, 1), mu, c(1, 1))))(c(0, 1)), c(2, -2))
  # Counts of zero have a slope, in either mode, and may be values.
  for (family in list(poisson(), quasipoisson())) {
    deviance <- function(mu, y) sum(family$dev.resids(y, mu, 1:3))
    found <- list(
      xla_grad(function(mu) deviance(mu, c(0, 2, 1)))(mu), xla_grad(deviance)(mu, c(0, 2, 1)),
      xla_jacobian(deviance, mode = "forward")(mu, c(0, 2, 1))
    )
    for (slope in found) expect_equal(as.vector(slope), 2 * (1:3) * (1 - c(0, 2, 1) / mu))
  }
  deviances <- binomial()$dev.resids
  by_name <- xla_jit(function(y, mu) deviances(mu = mu, wt = 1:3, y = y))
  expect_equal(by_name(c(0L, 1L, 1L), mu), deviances(c(0, 1, 1), mu, c(1, 2, 3)), tolerance = 1e-14)
  expect_equal(xla_jit(function(v) binomial()$linkinv(0.5) * v)(2), 2 * plogis(0.5))
  expect_error(xla_jit(function(v) deviances(1, v, 1i))(mu), "must be a floating-point number", class = "xlaffi_error")
  single <- xla_jit(binomial()$linkinv)(pjrt_buffer(eta, "f32"))
  expect_equal(as.vector(as_array(single)), plogis(eta), tolerance = 1e-6)
})

test_that("a model is fitted by its family in one program", {
  skip_without_plugin()
  fitted <- function(family, X, y, turns = 12) {
    force(family)
    xla_jit(function(X, y) {
      beta <- rep(0, ncol(X)) * y[1]
      for (turn in seq_len(turns)) {
        eta <- drop(X %*% beta)
        slope <- family$mu.eta(eta)
        residual <- (y - family$linkinv(eta)) / slope
        weights <- slope^2 / family$variance(family$linkinv(eta))
        beta <- beta + drop(solve(crossprod(X, X * weights), crossprod(X, weights * residual)))
      }
      beta
    })(X, y)
  }
  X <- cbind(1, airquality$Temp[1:40] / 80, airquality$Wind[1:40] / 10)
  high <- as.numeric(airquality$Temp[1:40] + 5 * sin(1:40) > 76)
  for (family in one_in(2L, list(binomial(), binomial("probit")))) {
    expect_equal(fitted(family, X[, c(1, 3)], high), unname(coef(glm(high ~ X[, 3], family))), tolerance = 1e-6)
  }
  skip_unless_all()
  counts <- as.numeric(airquality$Day[1:40])
  expect_equal(fitted(poisson(), X, counts, 40), unname(coef(glm(counts ~ X - 1, poisson()))), tolerance = 1e-6)
})

test_that("R's own assignment, in functions of packages, gives an error", {
  skip_without_plugin()
  # It asked as.vector() for ever.
  foreign <- function(v) {
    kept <- numeric(3)
    kept[1:3] <- v
    kept
  }
  environment(foreign) <- asNamespace("rlang")
  expect_snapshot(error = TRUE, invisible(xla_program(function(v) foreign(v), c(1, 2, 3))))
  expect_error(xla_program(function(v) ifelse(c(TRUE, FALSE, TRUE), foreign(v), 1), 1:3), "cannot hold a value")
  expect_equal(xla_jit(function(v) as.vector(as.vector(v, "list")[[2]], mode = "numeric"))(1:3), 2)
  expect_equal(xla_jit(function(v) do.call(as.vector, list(v)))(matrix(1:4, 2)), 1:4)
  expect_equal(xla_jit(function(v) lapply(list(v), as.vector)[[1]])(matrix(1:4, 2)), 1:4)
})
