#' Data of a fitted model
#'
#' `simulate(fit, draw = )` draws data of a model at its estimates, by a function of yours: for checks of
#' the model and for bootstraps, as [update()][xla_objective] takes new data without tracing anew.
#'
#' @details
#' `draw` is a plain R function, called once for each set of data. Its first argument are the parameters in the form of
#' the template, random effects at their optimum among them; the others are the objective's data under the names that
#' `f` gives them, or those that `draw` has arguments for. It draws with R's generators, also new random effects
#' where the data are to be of other groups. A density alone does not say how data arise from each other (a
#' series from its own past, for example), so the function is not derived from `f`.
#'
#' @param object A [fitted model][xla_fit].
#' @param nsim How many sets of data.
#' @param seed A number for [set.seed()]; R's generator is put back afterwards. NULL: the generator goes on from where
#'   it is.
#' @param draw A function of the parameters and of data that gives data, by name where they are for `update()`.
#' @param ... Nothing.
#' @return A list of what `draw` gave, with names `sim_1` and so on, and the attribute `seed` of [stats::simulate()].
#' @seealso [xla_fit()].
#' @examplesIf plugins_downloaded()
#' waiting <- xla_objective(
#'   function(par, y) -sum(dgamma(y, exp(par$log_shape), exp(par$log_rate), log = TRUE)),
#'   par = list(log_shape = 0, log_rate = 0), y = datasets::faithful$waiting[1:50] / 60
#' )
#' fit <- xla_fit(waiting)
#' sets <- simulate(fit, 20, seed = 1, draw = function(par, y) {
#'   list(y = rgamma(length(y), exp(par$log_shape), exp(par$log_rate)))
#' })
#' refit <- function(set) coef(xla_fit(update(waiting, y = set$y), start = coef(fit)))
#' again <- vapply(sets, refit, coef(fit))
#' apply(again, 1, sd)
#' @importFrom stats simulate
#' @export
simulate.xlaffi_fit <- function(object, nsim = 1, seed = NULL, draw, ...) {
  check_dots_empty(...)
  if (missing(draw)) {
    abort("`draw` is missing: a function of the parameters and data that draws data", operand = "draw",
      hint = "For example `simulate(fit, draw = function(par, y) list(y = rpois(length(y), exp(par$mu))))`."
    )
  }
  check_function(draw, "draw")
  if (!is.numeric(nsim) || length(nsim) != 1L || !is.finite(nsim) || nsim < 0) {
    abort(sprintf("`nsim` must be a number from 0 on, not %s", describe(nsim)), operand = "nsim")
  }
  seeds <- is.null(seed) || (is.numeric(seed) && length(seed) == 1L && isTRUE(abs(seed) <= .Machine$integer.max))
  if (!seeds) {
    abort(sprintf("`seed` must be a whole number for set.seed(), or NULL, not %s", describe(seed)), operand = "seed")
  }
  self <- environment(object$objective$fn)$self
  par <- object$objective$relist(par_of(object$par, object$objective))
  data <- drawn_from(self, draw)
  check_takes(draw, c(first_argument(draw, NULL), data), "simulate", "draw", environment())
  state <- generator_state(seed)
  on.exit(if (!is.null(state$old)) assign(".Random.seed", state$old, envir = globalenv()))
  sets <- lapply(seq_len(nsim), function(i) do.call(draw, c(first_argument(draw, par), data)))
  names(sets) <- sprintf("sim_%d", seq_along(sets))
  attr(sets, "seed") <- state$seed
  sets
}

# R's generator as it was if it is to be put back, and what it begins with
generator_state <- function(seed) {
  state <- function() get0(".Random.seed", globalenv(), inherits = FALSE)
  if (is.null(state())) stats::runif(1)
  if (is.null(seed)) {
    return(list(seed = state()))
  }
  old <- state()
  set.seed(seed)
  list(old = old, seed = structure(seed, kind = as.list(RNGkind())))
}

# The data that `draw` has arguments for
drawn_from <- function(self, draw) {
  data <- with_matrices(tree_map(self$data, function(leaf) {
    if (inherits(leaf, "xlaffi_buffer")) as_array(leaf) else leaf
  }))
  names(data) <- data_names(self)
  taken <- formal_names(draw)[-1L]
  if (!"..." %in% taken) {
    return(data[names(data) %in% taken])
  }
  before <- setdiff(before_dots(taken), names(data))
  for (name in setdiff(names(data), c("", taken))) {
    begun <- begun_argument(name, before)
    if (!is.null(begun)) {
      abort(sprintf("`draw`: R takes the data `%s` for its argument `%s`", name, begun), operand = "draw", call = NULL)
    }
  }
  data
}
