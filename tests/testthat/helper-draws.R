# Draws without a sampler: chains that are independent, correlated, antithetic, apart, heavy-tailed, whole numbers,
# constant, far from 0, and not finite.
series <- function(size, chains) {
  set.seed(20)
  ar <- function(rho) as.vector(stats::filter(stats::rnorm(size), rho, "recursive"))
  kinds <- list(
    free = function(k) stats::rnorm(size), slow = function(k) ar(0.9), against = function(k) ar(-0.8),
    apart = function(k) stats::rnorm(size) + (k == chains), heavy = function(k) stats::rcauchy(size),
    whole = function(k) round(ar(0.4)), turning = function(k) rep_len(c(1, -1), size) + k,
    far = function(k) 1e9 + 1e3 * stats::rnorm(size), small = function(k) 1e-9 * cumsum(stats::rnorm(size)),
    same = function(k) rep(3, size), missing = function(k) c(NaN, stats::rnorm(size - 1L)),
    infinite = function(k) c(stats::rnorm(size - 1L), Inf)
  )
  x <- vapply(kinds, function(kind) vapply(seq_len(chains), kind, numeric(size)), matrix(0, size, chains))
  dim(x) <- c(size, chains, length(kinds))
  dimnames(x) <- list(iteration = as.character(seq_len(size)), chain = as.character(seq_len(chains)),
    variable = names(kinds)
  )
  x
}

made_draws <- function(size = 100L, chains = 4L) {
  set.seed(7)
  template <- list(mu = 0, tau = 1, u = c(a = 0, b = 0, c = 0), L = diag(2), deep = list(s = 1))
  names <- xlaffi:::variable_names(template)
  x <- array(stats::rnorm(size * chains * length(names)), c(size, chains, length(names)),
    list(iteration = as.character(seq_len(size)), chain = as.character(seq_len(chains)), variable = names)
  )
  x[, , "L[1,1]"] <- 1
  x[, , "L[2,1]"] <- 0
  number <- function(numbers) matrix(numbers, size, chains)
  diagnostics <- list(
    lp__ = -rowSums(x^2, dims = 2L), accept_stat__ = number(0.8), stepsize__ = number(0.25),
    treedepth__ = number(rep(c(2, 3, 10, 3), length.out = size * chains)), n_leapfrog__ = number(7),
    divergent__ = (x[, , "tau"] > 2.2) * 1, energy__ = number(sin(seq_len(size * chains)))
  )
  info <- list(
    warmup = 500, thin = 2, max_treedepth = 10, compile_time = 1.5, warmup_time = rep(0.2, chains),
    sampling_time = rep(c(0.1, 0.3), length.out = chains)
  )
  xlaffi:::new_draws(x, diagnostics, list(), list("state"), template, info)
}
