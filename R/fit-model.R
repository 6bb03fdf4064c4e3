#' Fitted models
#'
#' `xla_fit(objective)` looks for the minimum of an [objective][xla_objective], minus the logarithm of a likelihood, and
#' gives a fitted model with R's functions for such: `summary()`, `coef()`, `vcov()`, `logLik()`, `confint()`,
#' `predict()`, `simulate()`, `residuals()`, `anova()`.
#'
#' @details
#' The search is that of [stats::nlminb()] with the exact gradient. Where it ends at a point from which the likelihood
#' may still rise by more than 1e-4, as second derivatives tell (parameters of very different sizes), it goes on with
#' parameters of equal scale. Where it does not converge there is a warning with its reason. Parameters at a bound count
#' as fixed there: they have no standard error, and others' are those given them.
#'
#' `vcov()` is the inverse of the exact Hessian at the optimum, computed when it is first asked for. If that matrix is
#' not positive definite, `vcov()` has NaN and a warning names the parameters that the data do not tell apart, and if it
#' is not finite, those for which it is not. A warning tells, too, where the search ended though the likelihood may
#' still rise.
#'
#' `confint()` with `method = "Wald"` takes estimates and standard errors. `"profile"` looks for the two values at which
#' twice the logarithm of the likelihood, at its maximum over all other parameters, is less by a quantile of the
#' chi-squared distribution than at the estimate; where a bound comes first or the likelihood does not
#' fall so far, the end is the bound or infinite. [profile()][stats::profile] gives the points of such a curve.
#'
#' Where the objective has `constraints`, `coef()`, `summary()`, `vcov()`, `confint()` and `profile()` are of the
#' parameters as `f` has them, with standard errors by the delta method: `summary()` has no tests of those, as 0 is none
#' of their values, and intervals keep to the constraint. What is made of several numbers, as a simplex is, has Wald
#' intervals from its standard error, and no profile: `NA` and a warning where all are asked for. `start`, `lower`,
#' `upper` and `$par` are numbers without constraints; `objective$unlist()` makes them.
#'
#' `predict()` without `g` gives all parameters in the form of the template, the random effects at their optimum; with
#' it, what `g(par, ...)` gives, a function of [values][xlaffi_value] as `f` is, whose further arguments are those of
#' `predict()`. Standard errors are those of the delta method. For what depends on random effects they have two parts:
#' what the effects vary by for given parameters, from the Hessian by them, and what the estimates of the parameters
#' add (R. N. Kass, D. Steffey, "Approximate Bayesian inference in conditionally independent hierarchical
#' models", Journal of the American Statistical Association 84, 1989).
#'
#' @param objective What [xla_objective()] returns, of a function that gives one number.
#' @param start Where the search begins, a vector as `objective$par`.
#' @param lower,upper Bounds of the parameters: one number for all, one for each, or numbers with names for those that
#'   the names say.
#' @param control For [stats::nlminb()].
#' @param nobs The number of observations, which [stats::BIC()] wants to know.
#' @param object,fitted A fitted model.
#' @param parm,which Numbers or names of parameters; all by default.
#' @param level The probability of the interval.
#' @param method `"Wald"` or `"profile"`.
#' @param g A function of the parameters in their form, and of the data in `...`, for `predict()`.
#' @param se.fit Whether standard errors are wanted.
#' @param points How many points of the curve there are on each side of the estimate.
#' @param ... For `predict()` data, further arguments of `g`; else nothing.
#' @return `xla_fit()`: a list of class `xlaffi_fit` with `par`, `value` (of the objective's `fn`), `gradient`,
#'   `convergence` (0 if it did), `message`, `iterations`, `evaluations`, `objective`.
#' * `summary()`: a list with the matrix `coefficients`: estimates, standard errors, their ratio, and the
#'   probability of a larger one under the normal distribution.
#' * `vcov()`, `confint()`: matrices as for other models.
#' * `predict()`: numbers in the form of the result of `g`; with `se.fit`, a list of `fit` and `se.fit`, both so.
#' * `profile()`: a data frame with `parameter`, `value`, `zeta` (the square root of twice what the
#'   logarithm of the likelihood lost, with the sign of the side), and the other parameters at their maximum.
#' @seealso [xla_objective()], [simulate.xlaffi_fit()], [anova.xlaffi_fit()].
#' @examplesIf plugins_downloaded()
#' # Counts with a rate for each group, which are normal on the logarithm's scale
#' groups <- rep(1:8, each = 4)
#' counts <- c(
#'   3, 5, 2, 4, 9, 7, 8, 11, 1, 0, 2, 1, 4, 6, 3, 5, 2, 2, 4, 1, 12, 9, 14, 10, 5, 3, 4, 6, 0, 1, 1, 2
#' )
#' model <- xla_objective(
#'   function(par, y, group) {
#'     -sum(dnorm(par$u, 0, exp(par$log_sd), log = TRUE)) -
#'       sum(dpois(y, exp(par$mu + par$u[group]), log = TRUE))
#'   },
#'   par = list(mu = 0, log_sd = 0, u = numeric(8)), y = counts, group = groups, random = "u"
#' )
#' fit <- xla_fit(model, nobs = length(counts))
#' summary(fit)
#' confint(fit, "mu", method = "profile")
#'
#' # Rates, with `se.fit = TRUE` their standard errors, too; without the function the random effects
#' predict(fit, function(par) exp(par$mu + par$u))
#' @export
xla_fit <- function(objective, start = objective$par, lower = -Inf, upper = Inf, control = list(), nobs = NULL) {
  check_given(objective)
  if (!inherits(objective, "xlaffi_objective")) {
    abort(sprintf("`objective` must be what xla_objective() returns, not %s", describe(objective)),
      operand = "objective"
    )
  }
  bounds <- list(lower = parameter_bound(lower, objective, "lower"), upper = parameter_bound(upper, objective, "upper"))
  check_crossed(bounds, objective)
  check_search_settings(control)
  start <- check_start(objective, start, bounds)
  counted <- objective$evaluations()
  found <- minimum_of(objective, start, bounds, control)
  if (found$convergence != 0L) {
    warning(sprintf("xla_fit: the search did not converge: %s", found$message), call. = FALSE)
  }
  par <- stats::setNames(found$par, parameter_labels(objective))
  structure(
    list(
      par = par, value = objective$fn(par_of(par, objective)), gradient = objective$gr(par_of(par, objective)),
      convergence = found$convergence, message = found$message, iterations = found$iterations,
      evaluations = objective$evaluations() - counted, objective = objective, nobs = check_nobs(nobs),
      bounds = bounds, kept = new.env(parent = emptyenv())
    ),
    class = "xlaffi_fit"
  )
}

# The vector of parameters has the objective's names, which may be none.
par_of <- function(par, objective) stats::setNames(unname(par), names(objective$par))

parameter_labels <- function(objective) {
  names <- names(objective$par)
  if (is.null(names)) sprintf("[%d]", seq_along(objective$par)) else names
}

# One number for all, one for each, or for those that the names say
parameter_bound <- function(x, objective, name, call = rlang::caller_env()) {
  size <- length(objective$par)
  known <- names(objective$par)
  by_name <- !is.null(names(x))
  if (!is.numeric(x) || is.object(x) || (!by_name && !length(x) %in% c(1L, size)) || anyNA(x)) {
    shown <- if (is.numeric(x)) sprintf("%d%s", length(x), if (anyNA(x)) " with NA" else "") else describe(x)
    abort(sprintf("`%s` must be one number or %d, not %s", name, size, shown), operand = name, call = call)
  }
  if (!by_name) {
    return(rep_len(as.double(x), size))
  }
  check_one_meaning(names(x), known, name, call)
  wrong <- unique(names(x)[!names(x) %in% known | duplicated(names(x))])
  if (length(wrong)) {
    abort(sprintf("names of `%s` must be those of parameters, each once, not %s", name, toString(wrong)),
      operand = name, call = call,
      hint = if (is.null(known)) "The parameters have no names." else paste0("They are: ", toString(known), ".")
    )
  }
  bound <- rep(c(lower = -Inf, upper = Inf)[[name]], size)
  replace(bound, match(names(x), known), as.double(x))
}

# Labels such as `a1` may be those of two parameters, of an element of `a` and of a part `a1`.
check_one_meaning <- function(names, labels, name, call) {
  twice <- intersect(names, labels[duplicated(labels)])
  if (length(twice)) {
    abort(sprintf("`%s` has `%s`, which is the name of several parameters", name, twice[[1L]]), operand = name,
      hint = sprintf("They are: %s.", toString(labels, width = 200)), call = call
    )
  }
}

check_crossed <- function(bounds, objective, call = rlang::caller_env()) {
  crossed <- which(bounds$lower > bounds$upper)
  if (length(crossed)) {
    pairs <- sprintf("%s (%s and %s)", parameter_labels(objective)[crossed],
      format_each(bounds$lower[crossed]), format_each(bounds$upper[crossed])
    )
    abort(sprintf("`lower` is above `upper` for %s", toString(pairs, width = 200)), operand = "lower", call = call)
  }
}

check_search_settings <- function(control, call = rlang::caller_env()) {
  if (!is_branch(control) || !all(nzchar(names2(control)))) {
    abort(sprintf("`control` must be a list of settings of `nlminb()` by name, not %s",
      if (is_branch(control)) "one without names" else describe(control)
    ), operand = "control", call = call)
  }
}

# The point to start at, as plain numbers
check_start <- function(objective, start, bounds, call = rlang::caller_env()) {
  start <- check_point(environment(objective$fn)$self, start, call, "start")
  value <- objective$fn(start)
  if (length(value) != 1L) {
    abort(sprintf("`f` of the objective must give one number, not %d", length(value)),
      operand = "objective", call = call
    )
  }
  outside <- which(start < bounds$lower | start > bounds$upper)
  if (length(outside)) {
    abort(sprintf("`start` is outside of the bounds: %s", toString(parameter_labels(objective)[outside])),
      operand = "start", call = call
    )
  }
  if (!is.finite(value)) {
    abort(sprintf("the objective is %s at `start`", format(value)), operand = "start", call = call,
      hint = paste(
        c(about_data(environment(objective$fn)$self),
          "`objective$fn(start)` is the value. Another `start`, or `par` of the objective, may have one."
        ), collapse = " "
      )
    )
  }
  start
}

check_nobs <- function(nobs, call = rlang::caller_env()) {
  if (!is.null(nobs) && !(is.numeric(nobs) && length(nobs) == 1L && is.finite(nobs) && nobs >= 1)) {
    abort(sprintf("`nobs` must be one number, not %s", describe(nobs)), operand = "nobs", call = call)
  }
  nobs
}

# Which parameters are not at a bound
free_parameters <- function(fit) unname(fit$par > fit$bounds$lower & fit$par < fit$bounds$upper)

#' @export
print.xlaffi_fit <- function(x, ...) {
  check_print_dots(...)
  cat(fit_title(x), "\n", sep = "")
  print(stats::coef(x), ...)
  cat(fit_footer(x), sep = "\n")
  invisible(x)
}

effects_of <- function(fit) environment(fit$objective$fn)$self$layout$effects

fit_title <- function(fit) {
  effects <- length(effects_of(fit))
  sprintf("Maximum likelihood of %d parameter%s%s", length(fit$par), if (length(fit$par) == 1L) "" else "s",
    if (effects) sprintf(", %d random effect%s integrated", effects, if (effects == 1L) "" else "s") else ""
  )
}

fit_footer <- function(fit) {
  likelihood <- stats::logLik(fit)
  c(
    sprintf("log-likelihood %s, AIC %s", format(c(likelihood), digits = 7), format(stats::AIC(likelihood), digits = 7)),
    if (fit$convergence != 0L) sprintf("not converged: %s", fit$message)
  )
}

#' @importFrom stats coef
#' @export
coef.xlaffi_fit <- function(object, ...) {
  check_dots_empty(..., allowed = "complete")
  estimates_of(object)
}

#' @importFrom stats nobs
#' @export
nobs.xlaffi_fit <- function(object, ...) {
  check_dots_empty(..., allowed = "use.fallback")
  if (is.null(object$nobs)) abort("the fit does not know the number of observations: `xla_fit(nobs = )` tells it")
  object$nobs
}

#' @importFrom stats logLik
#' @export
logLik.xlaffi_fit <- function(object, ...) {
  check_dots_empty(...)
  df <- sum(free_parameters(object)) - length(idle_groups(object))
  structure(-object$value, df = df, nobs = object$nobs, class = "logLik")
}

#' @rdname xla_fit
#' @importFrom stats vcov
#' @export
vcov.xlaffi_fit <- function(object, ...) {
  check_dots_empty(..., allowed = "complete")
  covariance_of(object)
}

#' @rdname xla_fit
#' @export
summary.xlaffi_fit <- function(object, ...) {
  check_dots_empty(...)
  estimates <- stats::coef(object)
  errors <- sqrt(diag(stats::vcov(object)))
  ratio <- estimates / errors
  # That a parameter with a constraint is 0 is no hypothesis.
  form <- self_of(object)$form
  if (!is.null(form)) ratio[!is.na(coefficient_table(self_of(object))$number)] <- NA
  coefficients <- cbind(estimates, errors, ratio, 2 * stats::pnorm(-abs(ratio)))
  dimnames(coefficients) <- list(names(estimates), c("Estimate", "Std. Error", "z value", "Pr(>|z|)"))
  structure(list(coefficients = coefficients, fit = object), class = "summary.xlaffi_fit")
}

#' @export
print.summary.xlaffi_fit <- function(x, ...) {
  check_print_dots(..., allowed = names(formals(stats::printCoefmat)))
  cat(fit_title(x$fit), "\n\n", sep = "")
  stats::printCoefmat(x$coefficients, ..., na.print = "")
  bound <- !free_parameters(x$fit)
  if (any(bound)) cat("at a bound: ", toString(names(x$fit$par)[bound]), "\n", sep = "")
  cat("", fit_footer(x$fit), sprintf(
    "%d iterations, largest element of the gradient %s", x$fit$iterations,
    format(max(abs(x$fit$gradient)), digits = 2)
  ), sep = "\n")
  invisible(x)
}
