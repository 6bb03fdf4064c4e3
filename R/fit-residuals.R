#' One-step-ahead residuals
#'
#' What each observation of a [fitted model][xla_fit] is given those before it, on the scale of a standard normal
#' distribution: independent draws of it if the model is right, also where random effects make observations
#' depend on each other.
#'
#' @details
#' Without `keep` the observations and the random effects must together be normal for given parameters: the residuals
#' are then those of the Cholesky factor of the observations' covariance. This is checked: an `f` whose Hessian by both
#' changes is refused, and so is one that is no density of both, as that of a random walk without its first value's.
#'
#' With `keep`, the name of data of ones by which `f` multiplies the logarithms of the density of each observation
#' (`sum(keep * dpois(y, rate, log = TRUE))`), any model goes: the density of an observation given those before it is a
#' ratio of two marginal likelihoods, with ones up to this observation and up to the one before, and is summed up
#' or integrated over what the observation could have been. That takes some dozens of evaluations for each, and
#' thousands where counts have a long tail. Residuals of counts are randomised within their step, with R's generator
#' (U. H. Thygesen and others, "Validation of ecological state space models using the Laplace approximation",
#' Environmental and Ecological Statistics 24, 2017).
#'
#' The order is that of the elements of the data. Parameters are those estimated from all of them.
#'
#' @param object A [fitted model][xla_fit].
#' @param observed The name of the data that are observations, a vector of doubles, or of counts with `discrete = TRUE`.
#' @param keep The name of the data by which `f` multiplies the logarithm of each observation's density.
#' @param discrete Whether observations are whole numbers.
#' @param range The least and the largest observation there can be. By default all numbers; counts begin at 0.
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
  check_flag(discrete, "discrete")
  self <- environment(object$objective$fn)$self
  y <- observed_data(self, if (!missing(observed)) observed, "observed")
  if (is.null(keep)) {
    if (discrete) {
      abort("residuals of counts need `keep`", operand = "keep",
        hint = "See ?residuals.xlaffi_fit: `f` multiplies each observation's log-density by these data."
      )
    }
    return(normal_residuals(object, y))
  }
  kept <- observed_data(self, keep, "keep")
  if (length(kept$value) != length(y$value)) {
    abort(sprintf("`keep` must have a number for each of %d observations, not %d", length(y$value),
      length(kept$value)
    ), operand = "keep")
  }
  if (!is.numeric(range) || length(range) != 2L || anyNA(range) || range[[1L]] >= range[[2L]] ||
        any(y$value < range[[1L]] | y$value > range[[2L]])) {
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
  list(name = name, value = value, leaf = leaf)
}

# Each observation given those before it. `residual` is function(y, density, range) of one.
sequential_residuals <- function(fit, y, keep, residual, range) {
  n <- length(y$value)
  par <- par_of(fit$par, fit$objective)
  counts <- identical(residual, step_residual)
  # Data of one type are those of one program.
  type <- if (counts) storage.mode(y$value) else "double"
  with_observed <- function(objective, values, weights) {
    storage.mode(values) <- type
    storage.mode(weights) <- storage.mode(keep$value)
    do.call(stats::update, c(list(objective), stats::setNames(list(values, weights), c(y$name, keep$name))))
  }
  objective <- with_observed(fit$objective, y$value, keep$value)
  value <- function(values, upto) {
    with_observed(objective, values, replace(keep$value, seq_len(n), seq_len(n) <= upto))$fn(par)
  }
  scale <- max(stats::sd(y$value), 1e-8, na.rm = TRUE)
  # Other observations that there can be: none of their densities counts.
  room <- range[[2L]] - y$value
  others <- y$value + if (counts) pmin(1, room) else pmin(scale * seq_len(n) / n, room / 2)
  before <- value(y$value, 0L)
  if (!isTRUE(all.equal(before, value(others, 0L), tolerance = 1e-8))) {
    abort(sprintf("with zeros for `%s` the value still depends on `%s`", keep$name, y$name), operand = "keep",
      hint = "`f` must multiply the logarithm of each observation's density by them.", call = NULL
    )
  }
  result <- numeric(n)
  for (i in seq_len(n)) {
    density <- function(x) {
      values <- y$value
      values[[i]] <- x
      log_density <- before - value(values, i)
      if (is.nan(log_density)) 0 else exp(log_density)
    }
    result[[i]] <- residual(y$value[[i]], density, range, scale)
    before <- value(y$value, i)
  }
  result
}

# Of whole numbers: sums on both sides, as far as terms matter
step_residual <- function(y, density, range, scale) {
  here <- density(y)
  side <- function(by, last) {
    total <- 0
    x <- y
    term <- here
    while (x != last) {
      x <- x + by
      following <- density(x)
      total <- total + following
      if (following <= term && following < 1e-9 * (total + here)) break
      term <- following
    }
    total
  }
  below <- side(-1, range[[1L]])
  above <- side(1, range[[2L]])
  stats::qnorm((below + stats::runif(1) * here) / (below + here + above))
}

smooth_residual <- function(y, density, range, scale) {
  peak <- max(density(y), .Machine$double.xmin)
  part <- function(from, to) {
    if (from == to) {
      return(0)
    }
    along <- function(t) vapply(t, function(t) density(y + scale * t) / peak, 0)
    stats::integrate(along, (from - y) / scale, (to - y) / scale, rel.tol = 1e-7)$value
  }
  below <- part(range[[1L]], y)
  stats::qnorm(below / (below + part(y, range[[2L]])))
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
