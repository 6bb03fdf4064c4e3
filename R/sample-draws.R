# What a sampler returns. `draws` are iterations x chains x variables, `diagnostics` matrices of iterations x chains
# under Stan's names (lp__, accept_stat__, stepsize__, treedepth__, n_leapfrog__, divergent__, energy__), `warmup` a
# list of what was adapted, `state` what going on needs, `template` the form of the parameters, which are the first
# variables. `info` are the settings `warmup`, `thin`, `max_treedepth` and others, and seconds: `compile_time`, one
# number, and `warmup_time`, `sampling_time`, one for each chain; `interrupted` tells whether draws are missing at the
# end.
new_draws <- function(draws, diagnostics, warmup, state, template, info) {
  structure(
    list(
      draws = draws, diagnostics = diagnostics, warmup = warmup, state = state, template = template, info = info
    ),
    class = "xlaffi_draws"
  )
}

#' Draws from a posterior distribution
#'
#' The result of [xla_sample()]: `print()` and `summary()` tell what was drawn and whether the chains converged,
#' [plot()] [plot.xlaffi_draws] shows it, `as.array()`, `as.matrix()` and `as.data.frame()` give the numbers.
#'
#' @details
#' The packages \pkg{posterior} and \pkg{coda} take draws as they are: `posterior::as_draws()` and its kin,
#' `posterior::summarise_draws()`, `coda::as.mcmc.list()`.
#'
#' Variables are named as Stan's: `mu`, `u[3]`, `L[2,1]`, and `a.b[1]` for parts of a part. `variables` of the functions
#' here may also name a part, `"u"` for all of its elements, and, for `summary()` and `plot()`, diagnostics: `lp__` (the
#' logarithm of the density on the unconstrained scale), `accept_stat__`, `stepsize__`, `treedepth__`, `n_leapfrog__`,
#' `divergent__`, `energy__`.
#'
#' `rhat` compares variances between and within halves of chains, of ranks and of distances from the median: more than
#' 1.01 says that the chains have not converged. `ess_bulk` and `ess_tail` are effective numbers of draws for the
#' location and for 5 % and 95 % quantiles: 100 per chain are enough to trust the rest. `mcse_` columns are Monte Carlo
#' standard errors. All are NA for a variable that does not vary or has NaN, all but `rhat` and `ess_bulk` where it has
#' infinite numbers. E-BFMI, which
#' `print()` gives, is small, less than 0.3, where the chains move too slowly in energy, as with heavy tails.
#'
#' `coef()` gives the means, or what `statistic` makes of the draws of each element, in the form of the parameters. A
#' mean is not always a valid parameter: that of correlation matrices' factors has columns shorter than 1, for example.
#'
#' @param object,x Draws.
#' @param variables Names or numbers of variables; all by default.
#' @param chains,iterations Numbers of chains and of iterations.
#' @param probs Probabilities of the quantiles.
#' @param statistic A function of a vector that gives one number.
#' @param digits How many significant digits standard deviations are shown with.
#' @param n How many variables are shown.
#' @param i Names or numbers of variables.
#' @param row.names,optional Of R's own function; not used.
#' @param ... For `coef()` further arguments of `statistic`; else nothing.
#' @return `summary()`: a data frame with a row for each variable, with the columns of
#'   `posterior::summarise_draws()`: `variable`, `mean`, `median`, `sd`, `mad`, quantiles such as `q5`, `rhat`,
#'   `ess_bulk`, `ess_tail`, and `mcse_mean`, `mcse_sd`, `mcse_q5` and so on.
#' * `subset()` and `x[i]`: draws, which cannot be continued.
#' * `as.array()`: an array, iterations x chains x variables. `as.matrix()`: a row for each draw, chain after chain.
#'   `as.data.frame()`: the same with the columns `.chain`, `.iteration` and `.draw` at the end.
#' * `coef()`: numbers in the form of the parameters.
#' @references
#' A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Buerkner, "Rank-normalization, folding, and localization: an
#' improved Rhat for assessing convergence of MCMC", Bayesian Analysis 16, 2021. M. Betancourt, "Diagnosing suboptimal
#' cotangent disintegrations in Hamiltonian Monte Carlo", 2016.
#' @seealso [xla_sample()], [plot.xlaffi_draws()].
#' @examplesIf plugins_downloaded()
#' y <- c(28, 8, -3, 7, -1, 1, 18, 12)
#' sigma <- c(15, 10, 16, 11, 9, 11, 10, 18)
#' schools <- xla_sample(
#'   function(par, y, sigma) {
#'     sum(dnorm(par$z, log = TRUE)) + dnorm(par$mu, 0, 5, log = TRUE) +
#'       dcauchy(par$tau, 0, 5, log = TRUE) +
#'       sum(dnorm(y, par$mu + par$tau * par$z, sigma, log = TRUE))
#'   },
#'   list(mu = 0, tau = 1, z = numeric(8)),
#'   y = y, sigma = sigma, constraints = list(tau = xla_positive()), seed = 1
#' )
#' schools
#' summary(schools, c("mu", "tau", "lp__"))
#' coef(schools)$z
#' plot(schools, "trace", variables = c("mu", "tau"))
#' quantile(as.matrix(schools["tau"]), 0.99)
#' @name xlaffi_draws
NULL

# The size of what was drawn, and its names
draws_shape <- function(x) {
  shape <- dim(x$draws)
  list(iterations = shape[[1L]], chains = shape[[2L]], variables = dimnames(x$draws)[[3L]])
}

# The chosen variables, iterations x chains x variables. Names of parts stand for all their elements.
chosen_draws <- function(x, variables, diagnostics = FALSE, call = rlang::caller_env()) {
  if (is.null(variables)) {
    return(x$draws)
  }
  known <- draws_shape(x)$variables
  others <- if (diagnostics) names(x$diagnostics)
  if (is.numeric(variables) && all(variables %in% seq_along(known))) {
    return(x$draws[, , variables, drop = FALSE])
  }
  if (!is.character(variables) || anyNA(variables)) {
    abort(sprintf("`variables` must be names or numbers from 1 to %d, not %s", length(known), values_text(variables)),
      operand = "variables", call = call
    )
  }
  chosen <- lapply(variables, function(name) {
    at <- which(known == name)
    if (!length(at)) at <- which(sub("[.[].*", "", known) == name | sub("\\[.*", "", known) == name)
    if (length(at)) known[at] else if (name %in% others) name else unknown_variable(name, known, call)
  })
  chosen <- unique(unlist(chosen))
  drawn <- chosen %in% known
  picked <- x$draws[, , chosen[drawn], drop = FALSE]
  if (all(drawn)) {
    return(picked)
  }
  names <- dimnames(picked)
  names[[3L]] <- c(names[[3L]], chosen[!drawn])
  array(c(picked, unlist(x$diagnostics[chosen[!drawn]])), lengths(names), names)
}

unknown_variable <- function(name, known, call) {
  parts <- unique(sub("\\[.*", "", known))
  abort(sprintf("there is no variable `%s`", name),
    operand = "variables", call = call,
    hint = name_hint(name, c(parts, known), "`%s`", sprintf("The variables are: %s.", toString(parts, width = 200)))
  )
}

chosen_places <- function(chosen, size, name, call) {
  if (is.null(chosen)) {
    return(seq_len(size))
  }
  if (!is.numeric(chosen) || !all(chosen %in% seq_len(size)) || anyDuplicated(chosen)) {
    abort(sprintf("`%s` must be numbers from 1 to %d, each once, not %s", name, size, values_text(chosen)),
      operand = name, call = call
    )
  }
  as.integer(chosen)
}

#' @rdname xlaffi_draws
#' @export
subset.xlaffi_draws <- function(x, variables = NULL, chains = NULL, iterations = NULL, ...) {
  check_dots_empty(...)
  part_of_draws(x, variables, chains, iterations, environment())
}

#' @rdname xlaffi_draws
#' @export
`[.xlaffi_draws` <- function(x, i, ...) {
  if (nargs() > 2L) {
    abort("draws have one index, of variables", operand = "i",
      hint = "`subset()` takes chains and iterations, too; `as.array()` is iterations x chains x variables."
    )
  }
  if (missing(i)) x else part_of_draws(x, i, NULL, NULL, environment())
}

part_of_draws <- function(x, variables, chains, iterations, call) {
  shape <- draws_shape(x)
  chosen <- chosen_draws(x, variables, call = call)
  chains <- chosen_places(chains, shape$chains, "chains", call)
  iterations <- chosen_places(iterations, shape$iterations, "iterations", call)
  x$draws <- chosen[iterations, chains, , drop = FALSE]
  x$diagnostics <- lapply(x$diagnostics, function(matrix) matrix[iterations, chains, drop = FALSE])
  x$info[c("warmup_time", "sampling_time")] <- lapply(x$info[c("warmup_time", "sampling_time")], function(times) {
    if (length(times) == shape$chains) times[chains] else times
  })
  parameters <- sum(lengths(tree_leaves(x$template)))
  all_of <- seq_len(parameters)
  if (!identical(dimnames(x$draws)[[3L]][all_of], shape$variables[all_of])) x["template"] <- list(NULL)
  x["state"] <- list(NULL)
  x
}

#' @rdname xlaffi_draws
#' @importFrom stats coef
#' @export
coef.xlaffi_draws <- function(object, statistic = mean, ...) {
  if (missing(statistic)) check_dots_empty(...)
  check_function(statistic, "statistic")
  call <- environment()
  check_takes(statistic, c(list(NULL), list(...)), "coef", "statistic", call)
  flat <- as.matrix(object)
  of_column <- function(j) statistic_number(statistic(flat[, j], ...), colnames(flat)[[j]], call)
  numbers <- vapply(seq_len(ncol(flat)), of_column, 0)
  if (is.null(object$template)) stats::setNames(numbers, colnames(flat)) else from_vector(object$template, numbers)
}

statistic_number <- function(x, name, call) {
  if (!(is.numeric(x) || is.logical(x)) || length(x) != 1L) {
    abort(sprintf("`statistic` must give one number, not %s for `%s`", describe(x), name), operand = "statistic",
      hint = "`apply(as.matrix(x), 2, statistic)` gives several for each variable.", call = call
    )
  }
  as.double(x)
}

#' @rdname xlaffi_draws
#' @export
as.array.xlaffi_draws <- function(x, ...) {
  check_dots_empty(...)
  x$draws
}

#' @rdname xlaffi_draws
#' @export
as.matrix.xlaffi_draws <- function(x, ...) {
  check_dots_empty(...)
  shape <- draws_shape(x)
  count <- shape$iterations * shape$chains
  matrix(x$draws, count, length(shape$variables),
    dimnames = list(draw = as.character(seq_len(count)), variable = shape$variables)
  )
}

#' @rdname xlaffi_draws
#' @export
as.data.frame.xlaffi_draws <- function(x, row.names = NULL, optional = TRUE, ...) { # nolint: object_name_linter.
  check_dots_empty(..., allowed = "stringsAsFactors")
  shape <- draws_shape(x)
  flat <- as.matrix(x)
  rownames(flat) <- NULL
  frame <- as.data.frame.matrix(flat, optional = TRUE)
  frame$.chain <- rep(seq_len(shape$chains), each = shape$iterations)
  frame$.iteration <- rep(seq_len(shape$iterations), shape$chains)
  frame$.draw <- seq_len(nrow(flat))
  frame
}
