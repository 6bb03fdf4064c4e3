# Times of the package from R: `Rscript times.R cuda`, or `cpu` to compare.

library(xlaffi)
platform <- commandArgs(trailingOnly = TRUE)[[1L]]
Sys.setenv(PJRT_PLATFORM = platform)

timed <- function(f, seconds = 0.3) {
  f()
  f()
  times <- numeric()
  end <- proc.time()[["elapsed"]] + seconds
  while (proc.time()[["elapsed"]] < end || length(times) < 5L) {
    began <- Sys.time()
    f()
    times <- c(times, as.numeric(Sys.time()) - as.numeric(began))
  }
  stats::median(times)
}

take_times <- function() {
  row <- function(what, seconds) cat(sprintf("| %s | %.1f us |\n", what, seconds * 1e6))
  add <- xla_jit(function(x) x + 1)
  row("a call with a number of R", timed(function() add(1)))
  b <- pjrt_buffer(1, "f64")
  row("a call with a buffer, awaited", timed(function() await(add(b))))
  set.seed(1)
  x <- cbind(1, matrix(rnorm(1e6 * 99), ncol = 99))
  y <- as.numeric(runif(1e6) < 0.5)
  loss <- function(beta, x, y) sum(log1p(exp(x %*% beta)) - y * (x %*% beta))
  model <- xla_objective(loss, rep(0, 100), x = x, y = y)
  p <- rnorm(100) / 100
  row("value and gradient, logistic regression, 1,000,000 x 100", timed(function() {
    p[[1L]] <<- p[[1L]] + 1e-6
    model$fn(p)
    model$gr(p)
  }, 2))
  row("its Hessian", timed(function() {
    p[[1L]] <<- p[[1L]] + 1e-6
    model$he(p)
  }, 2))
  for (n in c(1000L, 4000L)) {
    a <- pjrt_buffer(matrix(rnorm(n * n), n), "f64")
    product <- xla_jit(function(a) a %*% a)
    row(sprintf("product of matrices, %d", n), timed(function() await(product(a))))
  }
  many <- pjrt_buffer(array(rnorm(16e4), c(1e4, 4, 4)), "f64")
  svds <- xla_jit(xla_vmap(function(a) svd(a)$d))
  gamma_numbers <- pjrt_buffer(runif(1e7, 0.1, 50), "f64")
  for (name in c("lgamma", "digamma", "exp")) {
    f <- xla_jit(get(name))
    row(paste(name, "of 10,000,000 numbers"), timed(function() await(f(gamma_numbers))))
  }
  counts <- rnbinom(1e6, size = 2, mu = 5)
  count_loss <- function(p, k) -sum(dnbinom(k, size = exp(p[1]), mu = exp(p[2]), log = TRUE))
  model <- xla_objective(count_loss, c(0, 0), k = counts)
  q <- c(0.1, 0.2)
  row("value and gradient, dnbinom() of 1,000,000 counts", timed(function() {
    q[[1L]] <<- q[[1L]] + 1e-6
    model$fn(q)
    model$gr(q)
  }, 1))
  row("singular values, 10,000 matrices of 4 x 4", timed(function() await(svds(many))))
}

take_times()
