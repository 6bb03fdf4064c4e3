# Five models that statisticians know. The vignette "models" explains them part by part; tools/bench/objective.R times
# them.

## ---- logistic ----
air <- na.omit(airquality)
x <- cbind(one = 1, temp = scale(air$Temp)[, 1], wind = scale(air$Wind)[, 1])
bad_air <- as.numeric(air$Ozone > 60)

minus_log_likelihood <- function(beta, x, y) {
  eta <- x %*% beta
  -sum(y * eta - log1p(exp(eta)))
}
logistic <- xla_objective(minus_log_likelihood, par = c(one = 0, temp = 0, wind = 0), x = x, y = bad_air)

## ---- logistic-fit ----
fit <- nlminb(logistic$par, logistic$fn, logistic$gr, logistic$he)
error <- sqrt(diag(solve(logistic$he(fit$par))))
like <- glm(bad_air ~ x - 1, family = binomial)

## ---- gp ----
time <- as.vector(time(co2))
known <- time < 1986
co2_known <- co2[known] - mean(co2[known])

# Trend and season, whose shape may change slowly; `p` are logarithms of sizes and lengths.
covariance <- function(p, d) {
  exp(2 * p$trend - d^2 / (2 * exp(2 * p$years))) +
    exp(2 * p$season - 2 * sin(pi * d)^2 / exp(2 * p$shape) - d^2 / (2 * exp(2 * p$drift)))
}
gp_loss <- function(p, d, y) {
  -hlo_dmvnorm(y, 0, covariance(p, d) + exp(2 * p$noise) * diag(nrow(d)), log = TRUE)
}
start <- list(trend = log(30), years = log(30), season = log(3), shape = 0, drift = log(50), noise = 0)
gp <- xla_objective(gp_loss, start, d = outer(time[known], time[known], "-"), y = co2_known)

## ---- gp-fit ----
fit <- nlminb(gp$par, gp$fn, gp$gr, control = list(iter.max = 300))
best <- gp$relist(fit$par)

## ---- gp-predict ----
# The expectation at all times, and its standard deviation
predict_gp <- xla_jit(function(p, here, there, y) {
  k <- covariance(p, outer(here, here, "-")) + exp(2 * p$noise) * diag(length(here))
  root <- chol(k)
  z <- backsolve(root, covariance(p, outer(here, there, "-")), transpose = TRUE)
  variance <- exp(2 * p$trend) + exp(2 * p$season) + exp(2 * p$noise) - colSums(z^2)
  list(mean = crossprod(z, backsolve(root, y, transpose = TRUE)), sd = sqrt(variance))
})
predicted <- predict_gp(best, time[known], time, co2_known)

## ---- level ----
# The Kalman filter of a level that moves at random, as a loop in the program. What it starts from is known
# as well as one observation.
filter_level <- function(p, y) {
  hlo_scan(function(state, y) {
    total <- state$variance + exp(p$observed)
    gain <- state$variance / total
    error <- y - state$level
    now <- list(level = state$level + gain * error, variance = gain * exp(p$observed) + exp(p$moved))
    list(now, list(loss = (log(total) + error^2 / total) / 2, level = now$level, variance = gain * exp(p$observed)))
  }, init = list(level = y[1], variance = exp(p$observed) + exp(p$moved)), xs = y[-1])$y
}
level <- xla_objective(
  function(p, y) sum(filter_level(p, y)$loss),
  par = list(observed = log(1e4), moved = log(1e3)), y = as.vector(Nile)
)

## ---- level-fit ----
fit <- nlminb(level$par, level$fn, level$gr, level$he)
like <- StructTS(Nile, type = "level")
variances <- rbind(xlaffi = exp(fit$par), StructTS = rev(like$coef))
filtered <- xla_jit(filter_level)(level$relist(fit$par), as.vector(Nile))

## ---- schools ----
effect <- c(28, 8, -3, 7, -1, 1, 18, 12)
error <- c(15, 10, 16, 11, 9, 11, 10, 18)

log_posterior <- function(q, effect, error) {
  mu <- q[1]
  log_tau <- q[2]
  eta <- q[3:10]
  sum(dnorm(effect, mu + exp(log_tau) * eta, error, log = TRUE)) + sum(dnorm(eta, log = TRUE)) +
    sum(dnorm(mu, 0, 5, log = TRUE) + dcauchy(exp(log_tau), 0, 5, log = TRUE) + log_tau)
}

## ---- hmc ----
# One chain: each draw is a path of `leaps` steps, at whose end it stays or goes back
hmc <- function(key, q, effect, error, step, draws = 1000, leaps = 16) {
  slope <- xla_grad(log_posterior, value = TRUE)
  draw <- function(now, key) {
    keys <- hlo_split(key)
    p <- hlo_rnorm(keys[1, ], 10)
    end <- hlo_fori(1, leaps, function(i, path) {
      p <- path$p + step / 2 * path$at$gradient
      q <- path$q + step * p
      at <- slope(q, effect, error)
      list(q = q, p = p + step / 2 * at$gradient, at = at)
    }, list(q = now$q, p = p, at = now$at))
    gain <- end$at$value - now$at$value + sum(p^2 - end$p^2) / 2
    taken <- log(hlo_runif(keys[2, ], 1)[1]) < gain
    now <- hlo_cond(taken, function() list(q = end$q, at = end$at), function() now)
    list(now, list(q = now$q, taken = taken))
  }
  hlo_scan(draw, list(q = q, at = slope(q, effect, error)), hlo_split(key, draws))$y
}

## ---- hmc-run ----
# A chain for each row of `q`, side by side
sample_schools <- xla_jit(function(seed, q, effect, error, step) {
  keys <- hlo_split(hlo_key(seed), nrow(q))
  xla_vmap(hmc, in_axes = list(1, 1, NULL, NULL, NULL))(keys, q, effect, error, step)
})
samples <- sample_schools(1L, matrix(0, 4, 10), effect, error, 0.3)

## ---- weibull ----
# Weeks in remission of children with leukaemia (Freireich et al. 1963), `event` 0 where the remission went on
weeks <- c(
  6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35,
  1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23
)
event <- c(1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, rep(1, 21))
drug <- rep(c(1, 0), each = 21)

survival_loss <- function(p, weeks, event, drug) {
  shape <- exp(-p$log_scale)
  scale <- exp(p$base + p$drug * drug)
  -sum(ifelse(event == 1,
    dweibull(weeks, shape, scale, log = TRUE),
    pweibull(weeks, shape, scale, lower.tail = FALSE, log.p = TRUE)
  ))
}
survival <- xla_objective(
  survival_loss, list(base = 2, drug = 0, log_scale = 0), weeks = weeks, event = event, drug = drug
)

## ---- weibull-fit ----
fit <- nlminb(survival$par, survival$fn, survival$gr, survival$he)
table <- cbind(estimate = fit$par, error = sqrt(diag(solve(survival$he(fit$par)))))
