test_that("the models of the gallery find what R and the literature have", {
  skip_unless_all()
  skip_without_plugin()
  m <- new.env()
  sys.source(system.file("examples/models.R", package = "xlaffi", mustWork = TRUE), m)
  best <- function(objective) nlminb(objective$par, objective$fn, objective$gr, objective$he)$par

  y <- m$bad_air
  x <- m$x
  expect_equal(best(m$logistic), coef(glm(y ~ x - 1, family = binomial)), tolerance = 1e-6, ignore_attr = TRUE)

  # What plain R makes of the same covariance
  d <- outer(m$time[m$known], m$time[m$known], "-")
  k <- m$covariance(m$best, d) + diag(exp(2 * m$best$noise), nrow(d))
  loss <- (sum(m$co2_known * solve(k, m$co2_known)) + determinant(k)$modulus[[1]] + nrow(d) * log(2 * pi)) / 2
  expect_equal(m$gp$fn(unlist(m$best)), loss, tolerance = 1e-9)
  expect_lt(max(abs(m$gp$gr(unlist(m$best)))), 0.1)
  expect_equal(as.vector(m$predicted$mean)[m$known], as.vector(
    m$covariance(m$best, d) %*% solve(k, m$co2_known)
  ), tolerance = 1e-8)

  like <- StructTS(Nile, "level")
  expect_equal(exp(best(m$level)), rev(like$coef), tolerance = 1e-3, ignore_attr = TRUE)

  # The posterior of the mean and the spread, the schools integrated out, on a grid
  grid <- expand.grid(mu = seq(-20, 30, length.out = 200), log_tau = seq(-6, 5, length.out = 300))
  tau <- exp(grid$log_tau)
  weight <- dnorm(grid$mu, 0, 5) * dcauchy(tau, 0, 5) * tau
  for (i in 1:8) weight <- weight * dnorm(m$effect[i], grid$mu, sqrt(m$error[i]^2 + tau^2))
  expect_gt(mean(m$samples$taken), 0.8)
  expect_lt(abs(mean(m$samples$q[, , 1]) - sum(weight * grid$mu) / sum(weight)), 0.3)
  expect_lt(abs(mean(m$samples$q[, , 2]) - sum(weight * grid$log_tau) / sum(weight)), 0.15)

  # As survreg() of the package survival has them
  expect_equal(unname(best(m$survival)), c(2.248, 1.267, log(0.732)), tolerance = 1e-3)
})
