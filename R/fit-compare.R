# Fits beside each other

#' Fits of nested models, beside each other
#'
#' `anova(fit, other)` tests fits of the same data by the ratio of their likelihoods, the one with the fewest parameters
#' first, each beside the one before it.
#'
#' @details
#' Twice the difference of two log-likelihoods has, for many observations, the chi-squared distribution with as many
#' degrees of freedom as there are parameters more, if the smaller model is the larger one with some parameters given,
#' and these lie inside of where they may be. Where a variance is 0 in the smaller model it lies at the edge, and the
#' probability is too large. Whether models are nested, and their data equal, is not looked at. Fits that were told
#' different numbers of observations are an error, and there is a warning where the larger model has the lower
#' likelihood.
#'
#' @param object A fit of [xla_fit()].
#' @param ... Others. Arguments' names are shown in place of what is written for them.
#' @return A data frame of class `anova` with a row for each fit: the number of parameters `npar`, `AIC`, `BIC` where
#'   all numbers of observations are known, `logLik`, `Chisq` (twice the difference to the row before), `Df` and
#'   `Pr(>Chisq)`, which is `NA` where a fit has no more parameters than the one before.
#' @seealso [xla_fit()].
#' @examplesIf plugins_downloaded()
#' x <- seq(-1, 1, length.out = 12)
#' y <- c(0, 1, 0, 2, 1, 1, 3, 2, 4, 3, 5, 6)
#' rates <- function(p, x, y) -sum(dpois(y, exp(p$a + p$b * x), log = TRUE))
#' line <- xla_fit(xla_objective(rates, list(a = 0, b = 0), x, y), nobs = 12)
#' flat <- xla_fit(xla_objective(rates, list(a = 0, b = 0), x, y, map = list(b = NA)), nobs = 12)
#' anova(flat, line)
#' @importFrom stats anova
#' @export
anova.xlaffi_fit <- function(object, ...) {
  fits <- list(object, ...)
  shown <- vapply(as.list(substitute(list(object, ...)))[-1L], function(x) deparse(x)[[1L]], "")
  given <- names(fits)
  if (!is.null(given)) shown[nzchar(given)] <- given[nzchar(given)]
  check_compared(fits, shown)
  npar <- vapply(fits, function(fit) attr(stats::logLik(fit), "df"), 0)
  order <- order(npar)
  npar <- npar[order]
  shown <- shown[order]
  likelihoods <- lapply(fits[order], stats::logLik)
  value <- vapply(likelihoods, c, 0)
  chisq <- c(NA, 2 * diff(value))
  df <- c(NA, diff(npar))
  fallen <- which(df > 0 & chisq < -1e-4)
  if (length(fallen)) {
    at <- fallen[[1L]]
    warning(sprintf(
      "anova: `%s` has more parameters than `%s` and a lower likelihood: not nested, or not at its optimum",
      shown[[at]], shown[[at - 1L]]
    ), call. = FALSE)
  }
  p <- ifelse(df > 0, stats::pchisq(pmax(chisq, 0), pmax(df, 1), lower.tail = FALSE), NA)
  p[fallen] <- NA
  table <- data.frame(npar = npar, AIC = vapply(likelihoods, stats::AIC, 0), row.names = make.unique(shown))
  if (all(lengths(lapply(fits, `[[`, "nobs")) > 0L)) table$BIC <- vapply(likelihoods, stats::BIC, 0)
  table[c("logLik", "Chisq", "Df", "Pr(>Chisq)")] <- list(value, chisq, df, p)
  structure(table, heading = "Ratios of likelihoods", class = c("anova", "data.frame"))
}

check_compared <- function(fits, shown, call = rlang::caller_env()) {
  for (i in seq_along(fits)) {
    if (!inherits(fits[[i]], "xlaffi_fit")) {
      abort(sprintf("anova: `%s` must be a fit of xla_fit(), not %s", shown[[i]], describe(fits[[i]])), call = call)
    }
  }
  if (length(fits) < 2L) {
    abort("anova: there is no table of a single fit",
      hint = "`anova(fit, other)` compares fits; `summary(fit)` tests coefficients.", call = call
    )
  }
  nobs <- unique(unlist(lapply(fits, `[[`, "nobs")))
  if (length(nobs) > 1L) {
    abort(sprintf("anova: fits have different numbers of observations: %s", toString(nobs)),
      hint = "Ratios of likelihoods are for fits of the same data.", call = call
    )
  }
}
