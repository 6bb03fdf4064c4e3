# Models with random effects for random.R: each with its data for xla_objective() and for TMB.

cbpp_model <- function(p, x, herd, incidence, size) {
  eta <- c(x %*% p$beta) + exp(p$log_sd) * p$u[herd]
  -sum(dbinom(incidence, size, plogis(eta), log = TRUE)) - sum(dnorm(p$u, log = TRUE))
}

# Stochastic volatility: the logarithm of the variance is an autoregressive process.
volatility_model <- function(p, y) {
  n <- length(y)
  rho <- 2 * plogis(p$a) - 1
  s <- exp(p$log_s)
  -dnorm(p$u[1], p$mu, s / sqrt(1 - rho^2), log = TRUE) -
    sum(dnorm(p$u[-1], p$mu + rho * (p$u[-n] - p$mu), s, log = TRUE)) - sum(dnorm(y, 0, exp(p$u / 2), log = TRUE))
}

# Counts on a grid, with a Gaussian Markov random field of precision tau * (Laplacian + kappa * identity)
field_model <- function(p, y, laplacian, identity) {
  q <- exp(p$log_tau) * (laplacian + exp(p$log_kappa) * identity)
  prior <- (determinant(q)$modulus - sum(p$u * (q %*% p$u)) - length(y) * log(2 * pi)) / 2
  -prior - sum(dpois(y, exp(p$b + p$u), log = TRUE))
}

field <- function(side) {
  n <- side^2
  at <- matrix(seq_len(n), side)
  from <- c(at[-1, ], at[, -1])
  to <- c(at[-side, ], at[, -side])
  set.seed(1)
  laplacian <- Matrix::sparseMatrix(
    c(seq_len(n), from), c(seq_len(n), to), x = c(tabulate(c(from, to), n), rep(-1, length(from))), symmetric = TRUE
  )
  data <- list(
    y = rpois(n, exp(1 + sin(row(at) / 8) + cos(col(at) / 5))), laplacian = laplacian, identity = Matrix::Diagonal(n)
  )
  general <- lapply(data[-1L], methods::as, "generalMatrix")
  general <- lapply(general, methods::as, "CsparseMatrix")
  list(
    f = field_model, par = list(b = 0, log_tau = 0, log_kappa = -2, u = numeric(n)), data = data,
    tmb = c(model = "field", data["y"], general)
  )
}

# A model by its name
random_model <- function(name) {
  set.seed(1)
  if (name == "cbpp") {
    cbpp <- lme4::cbpp
    data <- c(list(x = stats::model.matrix(~period, cbpp), herd = as.integer(cbpp$herd)), cbpp[c("incidence", "size")])
    tmb <- c(model = name, replace(data, "herd", list(data$herd - 1L)))
    return(list(f = cbpp_model, par = list(beta = numeric(4), log_sd = 0, u = numeric(15)), data = data, tmb = tmb))
  }
  if (name == "volatility") {
    level <- as.vector(stats::arima.sim(list(ar = 0.95), 1000)) * 0.2 - 1
    data <- list(y = stats::rnorm(1000, 0, exp(level / 2)))
    par <- list(mu = 0, a = 2, log_s = -1, u = numeric(1000))
    return(list(f = volatility_model, par = par, data = data, tmb = c(model = name, data)))
  }
  field(as.integer(name))
}

random_objective <- function(model) {
  do.call(xlaffi::xla_objective, c(list(model$f, model$par), model$data, list(random = "u")))
}
