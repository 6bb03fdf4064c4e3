# Part of `make demo`: two planets fitted to the velocities of their star. The model is one program
# with the op `kepler`; its exact derivatives drive optim() and a sampler.

suppressPackageStartupMessages(library(xlaffi))

cli::cli_h1("The planets of K2-24, from 32 velocities of their star")
source(system.file("examples/k2-24.R", package = "xlaffi", mustWork = TRUE))

seconds <- function(expr) format(round(system.time(expr)[["elapsed"]], 1), nsmall = 1)

took <- seconds(fit <- find_mode())
cli::cli_alert_success("optim() with exact gradients: {fit$counts[['gradient']]} gradients ({took} s)")
took <- seconds(covariance <- solve(hessian(fit$par)))
cli::cli_alert_success("exact second derivatives: a {nrow(covariance)} x {ncol(covariance)} matrix ({took} s)")
set.seed(24)
took <- seconds(samples <- hmc(fit$par, covariance, samples = 1000))
cli::cli_alert_success(
  "Hamiltonian Monte Carlo: {nrow(samples)} samples, {round(100 * attr(samples, 'accepted'))} % accepted ({took} s)"
)

table <- data.frame(
  mode = fit$par, error = sqrt(diag(covariance)), mean = colMeans(samples), sd = apply(samples, 2, sd),
  row.names = parameters
)
print(round(table, 4))

cli::cli_h2("Masses in Earth masses")
found <- masses(samples)
result <- data.frame(
  mass = colMeans(found), sd = vapply(found, sd, 0), published = published$mass, error = published$error,
  row.names = paste("K2-24", published$planet)
)
print(round(result, 1))
off <- abs(result$mass - result$published) / sqrt(result$sd^2 + result$error^2)
if (any(off > 1)) {
  cli::cli_abort("The masses are off by {round(off, 1)} errors.")
}
cli::cli_alert_success("Both agree with Petigura et al. (2016, ApJ 818, 36) within the errors.")
