#' One-step-ahead residuals
#'
#' What each observation of a [fitted model][xla_fit] is given those before it, on the scale of a standard normal
#' distribution: independent draws of it if the model is right, also where random effects make observations
#' depend on each other.
#'
#' @details
#' Without `keep` the observations and the random effects must together be normal for given parameters: the residuals
#' are then those of the Cholesky factor of the observations' covariance. This is checked: an `f` whose Hessian by both
#' changes is refused, and so is one whose density has no finite integral over both, as that of a random walk without
#' its first value's. Whether the data that `observed` names are observations, and not a covariate, `f` does not tell.
#'
#' With `keep`, the name of data of ones by which `f` multiplies the logarithms of the density of each observation
#' (`sum(keep * dpois(y, rate, log = TRUE))`), any model goes: the density of an observation given those before it is a
#' ratio of two marginal likelihoods, with ones up to this observation and up to the one before, and is summed up
#' or integrated over what the observation could have been. That takes some dozens of evaluations for each, and
#' thousands where counts have a long tail. What an observation could have been has the probability 1: where less was
#' found, other modes of the density are looked for at the other observations, and there is a warning if that was in
#' vain. Missing observations, which `f` must leave out itself, have no residual. Residuals of counts are randomised
#' within their step, with R's generator (U. H. Thygesen and others, "Validation of ecological state space models using
#' the Laplace approximation", Environmental and Ecological Statistics 24, 2017).
#'
#' The order is that of the elements of the data. Parameters are those estimated from all of them.
#'
#' @param object A [fitted model][xla_fit].
#' @param observed The name of the data that are observations, a vector of doubles, or of counts with `discrete = TRUE`.
#' @param keep The name of the data by which `f` multiplies the logarithm of each observation's density.
#' @param discrete Whether observations are whole numbers.
#' @param range The least and the largest observation there can be, for `keep`. By default all numbers; counts begin
#'   at 0.
#' @param ... Nothing.
#' @return A vector of as many numbers as there are observations.
#' @seealso [xla_fit()], [simulate.xlaffi_fit()].
#' @examplesIf plugins_downloaded()
#' # A random walk observed with an error
#' flow <- as.vector(datasets::Nile) / 100
#' level <- xla_objective(
#'   function(par, y) {
#'     -dnorm(par$level[1], 9, 10, log = TRUE) -
#'       sum(dnorm(diff(par$level), 0, exp(par$log_sd[1]), log = TRUE)) -
#'       sum(dnorm(y, par$level, exp(par$log_sd[2]), log = TRUE))
#'   },
#'   par = list(level = rep(9, 100), log_sd = c(0, 0)), y = flow, random = "level"
#' )
#' fit <- xla_fit(level)
#' head(residuals(fit, "y"))
#' @importFrom stats residuals
#' @export
residuals.xlaffi_fit <- function(object, observed, keep = NULL, discrete = FALSE,
                                 range = if (discrete) c(0, Inf) else c(-Inf, Inf), ...) {
  check_dots_empty(...)
  check_flag(discrete, "discrete")
  self <- environment(object$objective$fn)$self
  y <- observed_data(self, if (!missing(observed)) observed, "observed")
  if (is.null(keep)) {
    if (discrete) {
      abort("residuals of counts need `keep`", operand = "keep",
        hint = "See ?residuals.xlaffi_fit: `f` multiplies each observation's log-density by these data."
      )
    }
    if (anyNA(y$value)) {
      abort(sprintf("without `keep` the data `%s` must not have NA", y$name), operand = "observed",
        hint = "With `keep`, `f` may leave them out: `keep * ifelse(is.na(y), 0, dnorm(y, mean, log = TRUE))`."
      )
    }
    if (!missing(range) && !identical(as.numeric(range), c(-Inf, Inf))) {
      abort("without `keep` observations are normal, and have no `range`", operand = "range")
    }
    return(normal_residuals(object, y))
  }
  if (discrete && !all(y$value == trunc(y$value), na.rm = TRUE)) {
    odd <- which(y$value != trunc(y$value))[[1L]]
    abort(sprintf("`discrete = TRUE` is for whole numbers, and `%s` has %s", y$name, format(y$value[[odd]])),
      operand = "discrete"
    )
  }
  kept <- observed_data(self, keep, "keep")
  if (length(kept$value) != length(y$value)) {
    abort(sprintf("`keep` must have a number for each of %d observations, not %d", length(y$value),
      length(kept$value)
    ), operand = "keep")
  }
  if (!is.numeric(range) || length(range) != 2L || anyNA(range) || range[[1L]] >= range[[2L]] ||
        any(y$value < range[[1L]] | y$value > range[[2L]], na.rm = TRUE)) {
    abort("`range` must be two numbers that all observations are between", operand = "range")
  }
  sequential_residuals(object, y, kept, if (discrete) step_residual else smooth_residual, range)
}

# Data by their name, numbers in R's memory, and which of the objective's leaves they are
observed_data <- function(self, name, operand, call = rlang::caller_env()) {
  names <- data_names(self)
  if (!is.character(name) || length(name) != 1L || !name %in% names) {
    shown <- if (is.character(name)) toString(name) else describe(name)
    abort(sprintf("`%s` must name data of the objective, not %s", operand, shown), operand = operand,
      hint = if (any(nzchar(names))) sprintf("The data are: %s.", toString(names[nzchar(names)])), call = call
    )
  }
  at <- match(name, names)
  value <- self$data[[at]]
  if (!is.numeric(value) || is.object(value) || !length(value)) {
    abort(sprintf("the data `%s` must be numbers of R's, not %s", name, describe(value)),
      operand = operand, call = call
    )
  }
  leaf <- 1L + sum(vapply(self$data[seq_len(at - 1L)], function(x) length(tree_leaves(x)), 0L))
  list(name = name, value = value, at = at, leaf = leaf)
}

# Each observation given those before it. `residual` is step_residual() or smooth_residual(). What is missing has no
# residual, and its weight is 0.
sequential_residuals <- function(fit, y, keep, residual, range) {
  n <- length(y$value)
  counts <- identical(residual, step_residual)
  missing <- is.na(y$value)
  # Data of one type are those of one program.
  if (!counts) storage.mode(y$value) <- "double"
  objective <- do.call(stats::update, c(list(fit$objective), stats::setNames(list(y$value), y$name)))
  model <- model_of_data(objective, par_of(fit$par, fit$objective))
  weigh_upto <- function(i) model$set(keep, replace(keep$value, seq_len(n), seq_len(n) <= i & !missing))
  value_of <- function(values) {
    model$set(y, values)
    model$value()
  }
  weigh_upto(0L)
  before <- model$value()
  spread <- max(stats::sd(y$value, na.rm = TRUE), 1e-8, na.rm = TRUE)
  check_kept(y, keep, before, value_of, if (counts) NULL else spread, range)
  likely <- likely_numbers(y$value, range, counts)
  scale <- spread
  result <- totals <- rep(NA_real_, n)
  for (i in which(!missing)) {
    weigh_upto(i)
    log_density <- function(x) {
      found <- before - suppressWarnings(value_of(replace(y$value, i, x)))
      if (is.nan(found)) -Inf else found
    }
    found <- residual(y$value[[i]], log_density, range, scale, likely)
    result[[i]] <- found$residual
    totals[[i]] <- found$total
    scale <- found$scale
    before <- value_of(y$value)
  }
  warn_totals(totals, y$name)
  result
}

# The value of an objective at `par`, for data of which some are set to others of their type
model_of_data <- function(objective, par) {
  self <- environment(stats::update(objective)$fn)$self
  self$optimum <- environment(objective$fn)$self$optimum
  upload_data(self)
  go_to(self, par, NULL)
  mesh <- mesh_of_data(self$data)
  list(
    set = function(data, values) {
      storage.mode(values) <- storage.mode(self$data[[data$at]])
      dtype <- data_dtype(r_dtype(values), self$dtype)
      self$buffers[[data$leaf]] <- if (is.null(mesh)) {
        pjrt_buffer(values, dtype, self$device)
      } else {
        xla_shard(values, mesh, dtype = dtype)
      }
    },
    value = function() {
      effects <- self$optimum
      value <- run_point(self, "value")
      if (is.null(self$optimum)) self$optimum <- effects
      value
    }
  )
}

# With zeros for all weights the value must not depend on the observations. `spread` is how far these are apart, NULL of
# counts.
check_kept <- function(y, keep, before, value_of, spread, range) {
  fail <- function(text, hint) abort(sprintf(text, keep$name, y$name), operand = "keep", hint = hint, call = NULL)
  if (!is.finite(before)) {
    fail("with zeros for `%s` the value is not finite: `%s` has missing or impossible numbers",
      "Zero times the logarithm of 0 is NaN: `ifelse(keep > 0, log_density, 0)` is not."
    )
  }
  # Other observations, each as far from its own as leaves it a density
  steps <- if (is.null(spread)) c(1, -1) else c(1, -1, 1e-2, -1e-2, 1e-4) * spread
  values <- y$value
  other <- before
  for (i in which(!is.na(values))) {
    share <- if (is.null(spread)) 1 else i / length(values)
    for (by in steps * share) {
      at <- replace(values, i, min(max(values[[i]] + by, range[[1L]]), range[[2L]]))
      found <- if (at[[i]] != values[[i]]) value_of(at) else NaN
      if (is.finite(found)) {
        values <- at
        other <- found
        break
      }
    }
  }
  if (!isTRUE(all.equal(before, other, tolerance = 1e-8))) {
    fail("with zeros for `%s` the value still depends on `%s`",
      "`f` must multiply the logarithm of each observation's density by them."
    )
  }
}

# Where observations may be, for densities with several modes: some of those that there are, and the ends
likely_numbers <- function(values, range, counts) {
  some <- unique(stats::quantile(values, seq(0, 1, length.out = 31L), type = 1L, na.rm = TRUE, names = FALSE))
  unique(c(if (counts) range[is.finite(range)], as.double(some)))
}

# Densities that leave constants out have one sum, whatever the observation is.
warn_totals <- function(totals, name) {
  off <- which(abs(totals) > log(1.2) | is.nan(totals))
  if (length(off) && !isTRUE(diff(range(totals, na.rm = TRUE)) < 0.01)) {
    warning(sprintf(
      paste(
        "residuals: what `%s` can be has a probability of %s and not 1 for %d observations, the first is number %d:",
        "the density has parts that were not found (`range` says where to look), is no density, or Laplace's",
        "approximation is far from it"
      ),
      name, format(exp(totals[[off[[1L]]]]), digits = 2L), length(off), off[[1L]]
    ), call. = FALSE)
  }
}

# With w = (u, y) normal for given parameters and the Hessian H of minus the logarithm of their density, y has the mean
# y - (inv(H) times the gradient)_y and the covariance inv(H)_yy.
normal_residuals <- function(fit, y) {
  at <- point_of_fit(fit)
  self <- at$self
  q <- length(at$u)
  n <- length(y$value)
  joint <- function(data) {
    function(theta, w) {
      data[[y$leaf]] <- from_column(sliced(w, q + 1L, q + n), r_shape(y$value))
      joint_of(self)(data)(theta, if (q) sliced(w, 1L, q))
    }
  }
  plan <- traced_plan(self, q + n, joint)$plan
  compiled <- new_jit(function(theta, w, data) {
    slope <- slope_by_effects(joint(data), theta)
    h <- planned_hessian(plan, slope, w)
    factor <- factor_of(h)
    solve <- function(b) sparse_solve(plan$pattern, h@values, factor, b)
    step <- solve(reshaped(slope(w), c(q + n, 1L)))
    there <- planned_hessian(plan, slope, w - reshaped(step, q + n))@values
    size <- c(q + n, n)
    unit <- converted(hlo_iota("i32", size, 1) == hlo_iota("i32", size, 2) + q, w@dtype)
    largest <- function(x) reduced("reduce_max", abs(x), NULL, "max()")
    list(
      off = sliced(reshaped(step, q + n), q + 1L, q + n), covariance = sliced(solve(unit), c(q + 1L, 1L), size),
      changed = largest(there - h@values) / largest(h@values)
    )
  }, "residuals", uses = list(self$f))
  found <- lapply(compiled(at$x, c(at$u, as.double(y$value)), self$buffers), as_array)
  if (!isTRUE(found$changed[[1L]] < 1e-8)) {
    abort(sprintf("`%s` and the random effects are not normal together", y$name), operand = "observed",
      hint = "`keep` names data that `f` multiplies log-densities with: see ?residuals.xlaffi_fit.", call = NULL
    )
  }
  covariance <- found$covariance
  as.vector(forwardsolve(t(chol((covariance + t(covariance)) / 2)), as.vector(found$off)))
}
