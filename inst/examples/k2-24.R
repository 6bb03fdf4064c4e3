# Two planets of the star K2-24: model, posterior and sampler. The vignette "kepler" explains it
# part by part; tools/demo/kepler.R runs it.

## ---- data ----
file <- system.file("extdata/k2-24.csv", package = "xlaffi", mustWork = TRUE)
data <- read.csv(file, comment.char = "#")
planets <- data.frame(
  planet = c("b", "c"),
  period = c(20.885258, 42.363011), # days
  tc = c(2072.79438, 2082.62516) # a transit, BJD - 2454833
)
midpoint <- 2420

## ---- model ----
# What one planet does to its star; `p` has K, e cos(omega) and e sin(omega).
planet_rv <- function(time, planet, p) {
  e <- sqrt(p[2]^2 + p[3]^2)
  kepler_rv(time, planets$period[planet], planets$tc[planet], e, hlo_atan2(p[3], p[2]), p[1])
}

# What the instrument and a far companion add: an offset, a slope, a curvature.
trend <- function(time, p) {
  t <- time - midpoint
  p[1] + p[2] * t + p[3] * t^2
}

model <- function(p, time) {
  planet_rv(time, 1, p[1:3]) + planet_rv(time, 2, p[4:6]) + trend(time, p[7:9])
}

parameters <- c(
  "K_b", "ecosw_b", "esinw_b", "K_c", "ecosw_c", "esinw_c",
  "offset", "slope", "curvature", "log_jitter"
)

## ---- posterior ----
# Minus the logarithm of the posterior density, without its constant.
minus_log_posterior <- function(p, time, velocity, error) {
  jitter <- exp(p[10])
  variance <- error^2 + jitter^2
  likelihood <- -0.5 * sum((velocity - model(p, time))^2 / variance + log(variance))
  eccentricities <- -0.5 * sum((hlo_concatenate(p[2:3], p[5:6]) / 0.1)^2)
  # Uniform in the jitter, not in its logarithm.
  -(likelihood + eccentricities + p[10])
}

## ---- fit ----
given <- list(data$time, data$velocity, data$error)
on_data <- function(f) function(p) do.call(f, c(list(p), given))
objective <- on_data(xla_jit(minus_log_posterior))
gradient <- on_data(xla_grad(minus_log_posterior))
hessian <- on_data(xla_hessian(minus_log_posterior))

start <- c(5, 0.02, 0.02, 5, 0.02, 0.02, 0, 0, 0, 1)
find_mode <- function() {
  optim(start, objective, gradient, method = "BFGS", control = list(maxit = 500, reltol = 1e-12))
}

## ---- hmc ----
# Hamiltonian Monte Carlo from the mode, in coordinates in which the posterior is nearly a
# standard normal distribution.
hmc <- function(mode, covariance, samples, warmup = 200, steps = 6, size = 0.25) {
  slope <- on_data(xla_grad(minus_log_posterior, value = TRUE))
  scale <- t(chol(covariance))
  at <- function(z) {
    found <- slope(as.vector(mode + scale %*% z))
    gradient <- as.vector(crossprod(scale, found$gradient))
    list(z = z, value = as.vector(found$value), gradient = gradient)
  }
  here <- at(rnorm(length(mode)))
  kept <- matrix(NA_real_, samples, length(mode), dimnames = list(NULL, parameters))
  accepted <- 0
  bar <- cli::cli_progress_bar("Sampling", total = warmup + samples)
  for (i in seq_len(warmup + samples)) {
    momentum <- rnorm(length(mode))
    there <- here
    # Steps of random size: none fits into the period of an oscillation.
    step <- size * runif(1, 0.7, 1.3)
    p <- momentum - step / 2 * here$gradient
    for (k in seq_len(steps)) {
      there <- at(there$z + step * p)
      p <- p - step * there$gradient
    }
    p <- p + step / 2 * there$gradient
    gain <- here$value - there$value + (sum(momentum^2) - sum(p^2)) / 2
    if (is.finite(gain) && log(runif(1)) < gain) {
      here <- there
      accepted <- accepted + (i > warmup)
    }
    if (i > warmup) {
      kept[i - warmup, ] <- mode + scale %*% here$z
    }
    cli::cli_progress_update(id = bar)
  }
  cli::cli_progress_done(id = bar)
  structure(kept, accepted = accepted / samples)
}

## ---- mass ----
# Mass in Earth masses of a planet much lighter than its star, whose mass is in solar masses, on an
# orbit that is seen from the side, as those of planets in transit are.
mass <- function(K, e, period, star) {
  sun <- 1.32712440018e20 # G times its mass, m^3 / s^2
  earths <- 332946.05 # Earth masses in a solar mass
  K * sqrt(1 - e^2) * (period * 86400 / (2 * pi * sun))^(1 / 3) * star^(2 / 3) * earths
}

masses <- function(samples, star = rnorm(nrow(samples), 1.12, 0.05)) {
  of <- function(i) {
    p <- samples[, paste0(c("K_", "ecosw_", "esinw_"), planets$planet[i]), drop = FALSE]
    mass(p[, 1], sqrt(p[, 2]^2 + p[, 3]^2), planets$period[i], star)
  }
  data.frame(b = of(1), c = of(2))
}

published <- data.frame(planet = c("b", "c"), mass = c(21.0, 27.0), error = c(5.4, 6.9))
