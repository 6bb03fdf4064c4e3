# Solvers in programs beside R's own in a loop: many fits, roots and integrals at once. Writes results-solve.md.
#
# The goals: 20,000 logistic regressions of 50 x 3 in a second, and bootstraps of a fit in at most a tenth of the time
# of a loop of nls(), on two cores.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))
set.seed(1)

best_time <- function(f, rounds = 7L) {
  f()
  min(replicate(rounds, system.time(f(), gcFirst = FALSE)[["elapsed"]]))
}
as_data <- function(parts) lapply(parts, as_array)

# 10,000 logistic regressions
fits <- 10000L
x <- array(rnorm(fits * 150), c(fits, 50, 3))
x[, , 1] <- 1
odds <- vapply(1:50, function(k) drop(x[, k, ] %*% c(0.5, -1, 0.5)), numeric(fits))
y <- matrix(as.numeric(runif(length(odds)) < plogis(odds)), fits)
loss <- function(b, x, y) {
  eta <- as.vector(x %*% b)
  sum(log1p(exp(eta)) - y * eta)
}
on_device <- list(pjrt_buffer(x, "f64"), pjrt_buffer(y, "f64"))
logistic <- lapply(c(BFGS = "BFGS", Newton = "Newton", `L-BFGS` = "L-BFGS"), function(method) {
  program <- xla_jit(xla_vmap(function(x, y) hlo_minimize(loss, c(0, 0, 0), x, y, method = method)))
  run <- function() as_data(do.call(program, on_device)[c("par", "converged", "iterations")])
  found <- run()
  stopifnot(all(found$converged))
  reference <- t(vapply(1:20, function(i) {
    glm.fit(x[i, , ], y[i, ], family = binomial(), control = list(epsilon = 1e-12))$coefficients
  }, numeric(3)))
  stopifnot(isTRUE(all.equal(found$par[1:20, ], reference, tolerance = 1e-5)))
  list(seconds = best_time(run), turns = max(found$iterations))
})
some <- seq_len(500L)
by_glm <- best_time(function() for (i in some) glm.fit(x[i, , ], y[i, ], family = binomial()), 3L) * fits / length(some)
by_optim <- best_time(function() {
  for (i in some) {
    at <- function(b) loss(b, x[i, , ], y[i, ])
    slope <- function(b) drop(crossprod(x[i, , ], plogis(drop(x[i, , ] %*% b)) - y[i, ]))
    optim(c(0, 0, 0), at, slope, method = "BFGS")
  }
}, 3L) * fits / length(some)

# 1,000 bootstraps of a decay
time <- seq(0, 5, length.out = 40)
observed <- 3 * exp(-0.7 * time) + 0.5 + rnorm(40, sd = 0.05)
decay <- function(p, z, t) z - p[1] * exp(-p[2] * t) - p[3]
first <- nls(observed ~ a * exp(-b * time) + c, start = list(a = 2, b = 1, c = 0))
drawn <- replicate(1000, fitted(first) + sample(resid(first), 40, TRUE))
program <- xla_jit(xla_vmap(function(z, t) {
  hlo_minimize(decay, c(2, 1, 0), z, t, method = "Gauss-Newton")
}, list(2, NULL)))
bootstrap <- function() program(drawn, time)[c("par", "converged")]
loop <- function() {
  apply(drawn, 2, function(z) coef(nls(z ~ a * exp(-b * time) + c, start = list(a = 2, b = 1, c = 0))))
}
found <- bootstrap()
stopifnot(all(found$converged), isTRUE(all.equal(t(found$par), unname(loop()), tolerance = 1e-5)))
by_nls <- c(xlaffi = best_time(bootstrap), R = best_time(loop, 3L))

# 10,000 roots and integrals
a <- runif(10000, 1, 5)
roots <- xla_jit(xla_vmap(function(a) hlo_root(function(x) x * exp(x) - a, interval = c(0, 5), tol = 1e-10)$root))
in_r <- function() {
  vapply(a, function(a) uniroot(function(x) x * exp(x) - a, c(0, 5), tol = 1e-10)$root, 0)
}
stopifnot(isTRUE(all.equal(as.vector(roots(a)), in_r(), tolerance = 1e-9)))
by_uniroot <- c(xlaffi = best_time(function() roots(a)), R = best_time(in_r, 3L))
areas <- xla_jit(xla_vmap(function(a) hlo_integrate(function(x) exp(-a * x) * sin(x), 0, Inf, rel_tol = 1e-8)$value))
area_in_r <- function() {
  vapply(a, function(a) integrate(function(x) exp(-a * x) * sin(x), 0, Inf, rel.tol = 1e-8)$value, 0)
}
stopifnot(isTRUE(all.equal(as.vector(areas(a)), 1 / (1 + a^2), tolerance = 1e-8)))
by_integrate <- c(xlaffi = best_time(function() areas(a)), R = best_time(area_in_r, 3L))

load <- if (file.exists("/proc/loadavg")) strsplit(readLines("/proc/loadavg"), " ")[[1]][[1]] else NA
rate <- function(method) sprintf("%s fits/s", format(round(fits / logistic[[method]]$seconds), big.mark = ","))
row <- function(what, times, goal = "") {
  sprintf("| %s | %s | %s (%.2g x) | %s |", what, duration(1e6 * times[["xlaffi"]]), duration(1e6 * times[["R"]]),
    times[["R"]] / times[["xlaffi"]], goal
  )
}
text <- c(
  "| | xlaffi | a loop in R | goal |", "|---|---|---|---|",
  vapply(names(logistic), function(method) {
    row(sprintf("10,000 logistic regressions of 50 x 3, %s: %s, up to %d iterations", method, rate(method),
      logistic[[method]]$turns
    ), c(xlaffi = logistic[[method]]$seconds, R = if (method == "Newton") by_glm else by_optim), "20,000 fits/s")
  }, ""),
  row("1,000 bootstraps of a fit by nls(), 40 x 3", by_nls, "10 x"),
  row("10,000 roots, Brent's method", by_uniroot), row("10,000 integrals from 0 to Inf", by_integrate), "",
  sprintf(
    "xlaffi %s, R %s; the best of 7 rounds (R 3), programs compiled before; regressions in R %s; load %s; %s.",
    packageVersion("xlaffi"), getRversion(),
    "by `glm.fit()` (Newton), else by `optim()` with a gradient, 500 of them times 20", load, Sys.Date()
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-solve.md"))
