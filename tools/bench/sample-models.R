# Models to sample from: published ones (posteriordb describes them) with data that are simulated here, as functions for
# xla_sample() and as Stan programs. Each has `data`, `f`, `start`, `constraints`, and `watched`, the parameters whose
# effective draws count. sample.py has the same models for numpyro, with the data from a file.

sample_models <- function() {
  set.seed(20261125)
  list(
    schools = schools_model(), kidiq = kidiq_model(), radon = radon_model(), logistic = logistic_model(),
    arK = autoregression_model(), garch = garch_model(), gp = gp_model(), lotka = lotka_model()
  )
}

# Effects of coaching in eight schools (D. B. Rubin 1981), not centred. The data are the published ones.
schools_model <- function() {
  list(
    data = list(y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = c(15, 10, 16, 11, 9, 11, 10, 18)),
    start = list(mu = 0, tau = 1, z = numeric(8)), constraints = list(tau = xla_positive()),
    f = function(p, y, sigma) {
      sum(dnorm(y, p$mu + p$tau * p$z, sigma, log = TRUE)) + sum(dnorm(p$z, log = TRUE)) +
        dnorm(p$mu, 0, 5, log = TRUE) + dcauchy(p$tau, 0, 5, log = TRUE)
    },
    stan = "data { vector[8] y; vector[8] sigma; }
      parameters { real mu; real<lower=0> tau; vector[8] z; }
      model { y ~ normal(mu + tau * z, sigma); z ~ normal(0, 1); mu ~ normal(0, 5); tau ~ cauchy(0, 5); }"
  )
}

# Scores of 434 children by their mothers' intelligence and school, with the interaction (Gelman and Hill 2006)
kidiq_model <- function() {
  iq <- stats::rnorm(434, 100, 15)
  school <- stats::rbinom(434, 1, 0.78)
  x <- cbind(1, school, iq, school * iq)
  list(
    data = list(x = x, y = as.vector(x %*% c(-11, 51, 1.1, -0.5)) + stats::rnorm(434, 0, 18)),
    start = list(beta = numeric(4), sigma = 10), constraints = list(sigma = xla_positive()),
    f = function(p, x, y) {
      sum(dnorm(y, x %*% p$beta, p$sigma, log = TRUE)) + dcauchy(p$sigma, 0, 2.5, log = TRUE)
    },
    stan = "data { matrix[434, 4] x; vector[434] y; }
      parameters { vector[4] beta; real<lower=0> sigma; }
      model { y ~ normal(x * beta, sigma); sigma ~ cauchy(0, 2.5); }"
  )
}

# Radon in 919 houses of 85 counties, with an intercept for each (Gelman and Hill 2006)
radon_model <- function() {
  county <- sort(c(1:85, sample(85, 834, TRUE, 1 / seq_len(85))))
  basement <- stats::rbinom(919, 1, 0.17)
  uranium <- stats::rnorm(85, 0, 0.4)
  a <- 1.5 + 0.7 * uranium + stats::rnorm(85, 0, 0.3)
  list(
    data = list(
      y = a[county] - 0.7 * basement + stats::rnorm(919, 0, 0.75), county = county, basement = basement,
      uranium = uranium[county]
    ),
    start = list(alpha = numeric(85), beta = c(0, 0), mu = 0, sigma_alpha = 1, sigma_y = 1),
    constraints = list(sigma_alpha = xla_positive(), sigma_y = xla_positive()),
    f = function(p, y, county, basement, uranium) {
      mean <- p$alpha[county] + p$beta[1] * uranium + p$beta[2] * basement
      sum(dnorm(y, mean, p$sigma_y, log = TRUE)) + sum(dnorm(p$alpha, p$mu, p$sigma_alpha, log = TRUE)) +
        sum(dnorm(p$beta, 0, 10, log = TRUE)) + dnorm(p$mu, 0, 10, log = TRUE) +
        dnorm(p$sigma_alpha, log = TRUE) + dnorm(p$sigma_y, log = TRUE)
    },
    stan = "data { vector[919] y; int county[919]; vector[919] basement; vector[919] uranium; }
      parameters { vector[85] alpha; vector[2] beta; real mu; real<lower=0> sigma_alpha; real<lower=0> sigma_y; }
      model {
        y ~ normal(alpha[county] + beta[1] * uranium + beta[2] * basement, sigma_y);
        alpha ~ normal(mu, sigma_alpha); beta ~ normal(0, 10); mu ~ normal(0, 10);
        sigma_alpha ~ normal(0, 1); sigma_y ~ normal(0, 1);
      }"
  )
}

# Logistic regression of 1,000 observations on 25 variables
logistic_model <- function() {
  x <- cbind(1, matrix(stats::rnorm(1000 * 24), 1000))
  beta <- stats::rnorm(25, 0, 0.5)
  list(
    data = list(x = x, y = as.double(stats::rbinom(1000, 1, stats::plogis(x %*% beta)))),
    start = list(beta = numeric(25)), constraints = NULL,
    f = function(p, x, y) {
      eta <- as.vector(x %*% p$beta)
      sum(y * eta - log1p(exp(eta))) + sum(dnorm(p$beta, log = TRUE))
    },
    stan = "data { matrix[1000, 25] x; int y[1000]; }
      parameters { vector[25] beta; }
      model { y ~ bernoulli_logit(x * beta); beta ~ normal(0, 1); }"
  )
}

# A series of 200 that depends on its last 5 values
autoregression_model <- function() {
  y <- as.vector(stats::filter(stats::rnorm(400, 0, 0.5), c(0.3, 0.2, -0.1, 0.1, 0.1), "recursive"))[201:400]
  list(
    data = list(y = y, past = sapply(1:5, function(k) y[6:200 - k])),
    start = list(alpha = 0, beta = numeric(5), sigma = 1), constraints = list(sigma = xla_positive()),
    f = function(p, y, past) {
      sum(dnorm(y[6:200], p$alpha + as.vector(past %*% p$beta), p$sigma, log = TRUE)) +
        dnorm(p$alpha, 0, 10, log = TRUE) + sum(dnorm(p$beta, 0, 10, log = TRUE)) + dcauchy(p$sigma, 0, 2.5, log = TRUE)
    },
    stan = "data { vector[200] y; matrix[195, 5] past; }
      parameters { real alpha; vector[5] beta; real<lower=0> sigma; }
      model {
        y[6:200] ~ normal(alpha + past * beta, sigma);
        alpha ~ normal(0, 10); beta ~ normal(0, 10); sigma ~ cauchy(0, 2.5);
      }"
  )
}

# A series of 200 whose variance depends on the one before: GARCH(1, 1). Its bound depends on another parameter, so
# `share` is beta / (1 - alpha[2]).
garch_model <- function() {
  y <- numeric(200)
  variance <- 1
  for (t in 1:200) {
    y[t] <- 5 + sqrt(variance) * stats::rnorm(1)
    variance <- 0.5 + 0.3 * (y[t] - 5)^2 + 0.4 * variance
  }
  list(
    data = list(y = y, sigma1 = 1),
    start = list(mu = 0, alpha0 = 1, alpha1 = 0.5, share = 0.5),
    constraints = list(alpha0 = xla_positive(), alpha1 = xla_interval(0, 1), share = xla_interval(0, 1)),
    f = function(p, y, sigma1) {
      beta <- p$share * (1 - p$alpha1)
      squares <- (y - p$mu)^2
      later <- hlo_scan(function(variance, square) {
        new <- p$alpha0 + p$alpha1 * square + beta * variance
        list(new, new)
      }, init = p$alpha0 * 0 + sigma1^2, xs = squares[1:199])$y
      sum(dnorm(y, p$mu, sqrt(c(sigma1^2, later)), log = TRUE)) + log(1 - p$alpha1)
    },
    stan = "data { vector[200] y; real sigma1; }
      parameters { real mu; real<lower=0> alpha0; real<lower=0, upper=1> alpha1; real<lower=0, upper=1> share; }
      model {
        vector[200] sigma;
        sigma[1] = sigma1;
        for (t in 2:200) {
          sigma[t] = sqrt(alpha0 + alpha1 * square(y[t - 1] - mu) + share * (1 - alpha1) * square(sigma[t - 1]));
        }
        y ~ normal(mu, sigma);
        target += log1m(alpha1);
      }"
  )
}

# A Gaussian process of 50 points with the squared exponential kernel
gp_model <- function() {
  x <- seq(-10, 10, length.out = 50)
  covariance <- 9 * exp(-outer(x, x, "-")^2 / 2 / 5.5^2) + diag(0.25, 50)
  list(
    data = list(x = x, y = as.vector(crossprod(chol(covariance), stats::rnorm(50)))),
    start = list(rho = 5, alpha = 1, sigma = 1),
    constraints = list(rho = xla_positive(), alpha = xla_positive(), sigma = xla_positive()),
    f = function(p, x, y) {
      covariance <- p$alpha^2 * exp(-outer(x, x, "-")^2 / (2 * p$rho^2)) + p$sigma^2 * diag(50)
      hlo_dmvnorm(y, numeric(50), covariance, log = TRUE) + dgamma(p$rho, 25, 4, log = TRUE) +
        dnorm(p$alpha, 0, 2, log = TRUE) + dnorm(p$sigma, log = TRUE)
    },
    stan = "data { real x[50]; vector[50] y; }
      parameters { real<lower=0> rho; real<lower=0> alpha; real<lower=0> sigma; }
      model {
        matrix[50, 50] covariance = cov_exp_quad(x, alpha, rho);
        for (i in 1:50) covariance[i, i] += square(sigma);
        y ~ multi_normal_cholesky(rep_vector(0, 50), cholesky_decompose(covariance));
        rho ~ gamma(25, 4); alpha ~ normal(0, 2); sigma ~ normal(0, 1);
      }"
  )
}

# Hares and lynxes over 20 years, with errors on the logarithm's scale (the case study of B. Carpenter 2018)
lotka_model <- function() {
  slope <- function(z, theta) c((theta[1] - theta[2] * z[2]) * z[1], (theta[4] * z[1] - theta[3]) * z[2])
  theta <- c(0.55, 0.028, 0.8, 0.024)
  z <- c(34, 6)
  y <- matrix(0, 21, 2)
  for (year in 1:21) {
    y[year, ] <- z * exp(stats::rnorm(2, 0, 0.25))
    # Steps of Runge and Kutta's method
    for (step in 1:100) {
      k1 <- slope(z, theta)
      k2 <- slope(z + k1 / 200, theta)
      k3 <- slope(z + k2 / 200, theta)
      z <- z + (k1 + 2 * k2 + 2 * k3 + slope(z + k3 / 100, theta)) / 600
    }
  }
  list(
    data = list(y = y),
    start = list(theta = c(1, 0.05, 1, 0.05), z_init = c(10, 10), sigma = c(1, 1)),
    constraints = list(theta = xla_positive(), z_init = xla_positive(), sigma = xla_positive()), inits = 0.2,
    f = function(p, y) {
      field <- function(t, z, theta) {
        c((theta[1] - theta[2] * z[2]) * z[1], (theta[4] * z[1] - theta[3]) * z[2])
      }
      z <- hlo_ode(p$z_init, 0:20, field, p$theta, rtol = 1e-5, atol = 1e-3, max_steps = 500)$y
      sum(dlnorm(y[, 1], log(z[, 1]), p$sigma[1], log = TRUE) + dlnorm(y[, 2], log(z[, 2]), p$sigma[2], log = TRUE)) +
        sum(dnorm(p$theta[c(1, 3)], 1, 0.5, log = TRUE)) + sum(dnorm(p$theta[c(2, 4)], 0.05, 0.05, log = TRUE)) +
        sum(dlnorm(p$sigma, -1, 1, log = TRUE)) + sum(dlnorm(p$z_init, log(10), 1, log = TRUE))
    },
    stan = "functions {
        real[] dz_dt(real t, real[] z, real[] theta, real[] x_r, int[] x_i) {
          return { (theta[1] - theta[2] * z[2]) * z[1], (theta[4] * z[1] - theta[3]) * z[2] };
        }
      }
      data { matrix[21, 2] y; }
      transformed data { real ts[20]; for (n in 1:20) ts[n] = n; }
      parameters { real<lower=0> theta[4]; real<lower=0> z_init[2]; real<lower=0> sigma[2]; }
      model {
        real z[20, 2] = integrate_ode_rk45(dz_dt, z_init, 0, ts, theta, rep_array(0.0, 0), rep_array(0, 0),
          1e-5, 1e-3, 5e2);
        for (k in 1:2) {
          y[1, k] ~ lognormal(log(z_init[k]), sigma[k]);
          y[2:21, k] ~ lognormal(log(z[, k]), sigma[k]);
        }
        theta[{1, 3}] ~ normal(1, 0.5); theta[{2, 4}] ~ normal(0.05, 0.05);
        sigma ~ lognormal(-1, 1); z_init ~ lognormal(log(10), 1);
      }"
  )
}
