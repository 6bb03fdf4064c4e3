# The variance of the estimates: the inverse of the Hessian at the optimum

# That of the optimiser's vector
free_vcov <- function(object) {
  kept <- object$kept
  if (is.null(kept$vcov)) {
    names <- names(object$par)
    free <- free_parameters(object)
    v <- matrix(NA_real_, length(names), length(names), dimnames = list(names, names))
    if (any(free)) {
      hessian <- finite_hessian(object)
      if (is.null(hessian)) {
        v[] <- NaN
      } else {
        v[free, free] <- inverse_hessian(hessian[free, free, drop = FALSE], names[free])
        check_ended(object$gradient[free], v[free, free, drop = FALSE])
      }
    }
    kept$vcov <- v
  }
  kept$vcov
}

# NULL where it is not finite, as where probabilities are estimated as 0
finite_hessian <- function(fit) {
  hessian <- tryCatch(fit$objective$he(par_of(fit$par, fit$objective)), xlaffi_error_out_of_range = function(error) {
    warning(sprintf("xla_fit: no standard errors: %s", error$message), call. = FALSE)
  })
  if (is.matrix(hessian)) with_lengths(hessian, fit)
}

# Warns where a step of Newton's would still raise the logarithm of the likelihood, as far as second derivatives tell.
check_ended <- function(gradient, v) {
  gain <- sum(gradient * (v %*% gradient)) / 2
  if (isTRUE(gain > 1e-3)) {
    warning(sprintf(
      "xla_fit: the search ended where the log-likelihood may still rise by %s: take another `start`",
      format(gain, digits = 2)
    ), call. = FALSE)
  }
}

# As if lengths that nothing depends on were known to be what they are: the inverse has what is left.
with_lengths <- function(hessian, fit) {
  for (group in idle_groups(fit)) {
    direction <- unname(fit$par[group])
    size <- max(abs(diag(hessian)[group]), .Machine$double.xmin)
    hessian[group, group] <- hessian[group, group] + size * tcrossprod(direction) / sum(direction^2)
  }
  hessian
}

# The inverse of a Hessian, of which the scales of the parameters are taken out first
inverse_hessian <- function(hessian, names) {
  scale <- 1 / sqrt(abs(diag(hessian)))
  scale[!is.finite(scale)] <- 1
  scaled <- (hessian + t(hessian)) / 2 * tcrossprod(scale)
  factor <- tryCatch(chol(scaled), error = function(error) NULL)
  if (!is.null(factor) && rcond(factor, triangular = TRUE)^2 > .Machine$double.eps) {
    return(chol2inv(factor) * tcrossprod(scale))
  }
  weak <- abs(eigen(scaled, symmetric = TRUE)$vectors[, length(names)])
  warning(sprintf(
    "xla_fit: the Hessian at the optimum is not positive definite: the data do not tell %s",
    if (sum(weak > 0.3) > 1L) {
      paste(toString(names[weak > 0.3]), "apart")
    } else {
      paste("what", names[which.max(weak)], "is")
    }
  ), call. = FALSE)
  NaN * hessian
}
