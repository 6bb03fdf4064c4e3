#' Draws from a density by Hamiltonian Monte Carlo
#'
#' `xla_sample(f, start, ...)` draws parameters from the density whose logarithm is `f(par, ...)`, such as a posterior,
#' by the no-U-turn sampler (NUTS), with Stan's warm-up. A chain is one compiled program, and chains run side by side.
#'
#' ```r
#' draws <- xla_sample(function(par, y) sum(dnorm(y, par$mean, 1, log = TRUE)), list(mean = 0), y = c(1.2, 0.3))
#' summary(draws)
#' ```
#'
#' @details
#' `f` is a function of [values][xlaffi_value], as for [xla_objective()]: of the parameters in the form of `start`, and
#' of the data, which are uploaded once. It gives one number, the logarithm of the density up to a constant; where the
#' density is zero, `-Inf`. Parameters are continuous and may be any real numbers, unless `constraints` say otherwise:
#' then `f` sees parameters that obey them, and the sampler adds what the change of variables asks for.
#'
#' An [objective][xla_objective], minus the logarithm of a density (or the logarithm itself, with `negate = TRUE`), may
#' take the place of `f` and of the data, which stay on the device. Random effects are sampled together with the other
#' parameters, from the joint density; `map` keeps its meaning. A [fit][xla_fit()] of one begins at the optimum. Mind
#' that a likelihood is not yet a posterior: parameters without a prior have a flat one.
#'
#' Chains begin at points around `start`: on the scale without constraints each parameter is moved by a uniform number
#' of (-2, 2), or of (-`inits`, `inits`). Up to 100 points are tried until value and gradient are finite.
#'
#' Warm-up is Stan's: 75 draws for the step size, windows of 25, 50, 100... draws (the last takes what is left) at whose
#' ends the metric becomes the regularised variances (`"diag"`) or covariances (`"dense"`) of the window's draws, and 50
#' for the step size again. Of less than 150 draws the shares are 15, 75 and 10 %; less than 20 adapt the step size
#' only. With `warmup = 0` the step size is the first that is found to be of the right size.
#'
#' Draws depend on `seed` and the number of the chain, not on how many chains there are, on how many run at the same
#' time, on breaks in between, or on threads, as far as `f`'s own operations do not. `update(draws, draws = n)` goes on
#' from where the chains ended, with the same draws as one longer call; also with draws that come from a file, for which
#' `f` is traced anew: what it reads of the session must be the same there. R's random numbers have no part but in the
#' seed that is chosen where none is given.
#'
#' `generated` gives quantities of each draw that is kept, such as predictions: a function of the parameters and the
#' data, which returns a value or a list of them, under other names than those of parameters. If it has an argument
#' `key`, that is a key for random numbers, as [hlo_rnorm()] takes it, another one for each draw.
#'
#' Ctrl-C ends the chains: what all of them have drawn by then is returned with a warning, and may be continued. During
#' the warm-up there is nothing to return, and the call is an error.
#'
#' @param f The logarithm of the density: a function. Or an objective, or a fit.
#' @param start A template of the parameters: doubles, or a (named, nested) list of them. With an objective NULL, or a
#'   vector as its `par`.
#' @param ... Data: further arguments of `f`. R data, buffers, and lists of them. None with an objective.
#' @param draws How many draws each chain makes after the warm-up. For `update()`: how many more.
#' @param warmup How many draws adapt step size and metric before.
#' @param save_warmup Whether the draws of the warm-up and their diagnostics are kept, in `warmup$draws` and
#'   `warmup$diagnostics` of the result.
#' @param chains How many chains there are.
#' @param seed A whole number, or a key that came back from a program. NULL takes one from R's generator.
#' @param constraints A named list with a constraint, such as [xla_positive()], for parts of `start`.
#' @param generated NULL, or a function of the parameters and the data.
#' @param inits How far from `start` the chains begin: a number from 0 on, or a list of points, one for each chain, in
#'   the form of `start`.
#' @param thin Each `thin`-th draw is kept.
#' @param metric `"diag"`: parameters have scales; `"dense"`: they also have correlations, for which a step costs the
#'   square of their number.
#' @param target_accept The acceptance that the step size is adapted to, between 0 and 1: nearer to 1 steps are smaller.
#' @param max_treedepth A trajectory has at most `2^max_treedepth - 1` steps.
#' @param cores How many chains run at the same time; NULL: as many as there are processors.
#' @param progress TRUE shows a bar with the acceptance, divergences and the time left; NULL does so in interactive
#'   sessions, unless `options(xlaffi.progress = FALSE)`. Or a function of a list with `done`, `total`, `warming`,
#'   `accept`, `divergent` and `left` (seconds), which is called now and then.
#' @param object What `xla_sample()` returned.
#' @return Draws, see [xlaffi_draws]: of the parameters, and of what `generated` gives.
#' @section Warnings:
#' As Stan's interfaces do: where trajectories diverged (their energy changed by more than 1,000), reached
#' `max_treedepth`, or where the energy hardly moves (E-BFMI below 0.3); of the classes `xlaffi_warning_divergent`,
#' `xlaffi_warning_treedepth` and `xlaffi_warning_ebfmi`.
#' @section Errors:
#' `f` that does not give one real number, whole numbers among the parameters, names of constraints that are no parts of
#' `start`; no point with a finite density, a density that no step size fits.
#' @references
#' M. D. Hoffman and A. Gelman, "The No-U-Turn Sampler: adaptively setting path lengths in Hamiltonian Monte Carlo",
#' Journal of Machine Learning Research 15, 2014. M. Betancourt, "A conceptual introduction to Hamiltonian Monte
#' Carlo", 2017 (arXiv 1701.02434): multinomial sampling and the criterion for U-turns. D. Phan, N. Pradhan,
#' M. Jankowiak, "Composable effects for flexible and accelerated probabilistic programming in NumPyro", 2019 (arXiv
#' 1912.11554): trees without recursion. Stan Reference Manual, "MCMC sampling": the warm-up.
#' @seealso [xlaffi_draws], [xla_objective()], [xla_fit()].
#' @examplesIf plugins_downloaded()
#' # Distances that cars need to stop, with errors that have heavy tails
#' posterior <- function(p, x, y) {
#'   sum(dt((y - p$a - p$b * x) / p$scale, df = 4, log = TRUE) - log(p$scale)) +
#'     dexp(p$scale, 0.1, log = TRUE)
#' }
#' draws <- xla_sample(posterior, list(a = 0, b = 0, scale = 1),
#'   x = cars$speed, y = cars$dist, constraints = list(scale = xla_positive()), seed = 1
#' )
#' draws
#'
#' # More draws of the same chains
#' dim(as.array(update(draws, draws = 500)))
#' @export
xla_sample <- function(f, start = NULL, ..., draws = 1000, warmup = 1000, chains = 4, seed = NULL, constraints = NULL,
                       generated = NULL, inits = 2, thin = 1, metric = c("diag", "dense"), target_accept = 0.8,
                       max_treedepth = 10, save_warmup = FALSE, cores = NULL, progress = NULL) {
  check_given(f)
  check_whole_names("xla_sample")
  call <- environment()
  settings <- list(
    draws = check_whole(draws, "draws", 1), warmup = check_whole(warmup, "warmup", 0),
    chains = check_whole(chains, "chains", 1), thin = check_whole(thin, "thin", 1),
    metric = check_choice(metric, "metric", c("diag", "dense")), target_accept = check_between(target_accept),
    max_treedepth = check_whole(max_treedepth, "max_treedepth", 1, 20)
  )
  check_flag(save_warmup, "save_warmup")
  if (settings$draws < settings$thin) {
    abort(sprintf("`thin` must not be larger than `draws`: of %d draws none would be kept", settings$draws),
      operand = "thin"
    )
  }
  if (!is.null(generated)) check_function(generated, "generated")
  teller <- new_teller(progress)
  on.exit(teller$end())
  model <- sample_model(f, start, list(...), constraints, call)
  if (!model$size) abort("xla_sample: no parameter is free: there is one point alone", operand = "start")
  if (!is.null(generated)) {
    check_takes(generated, given_generated(generated, NULL, model$data), "xla_sample", "generated", call)
  }
  centers <- chain_centers(model, inits, settings$chains, call)
  settings$rows <- room_for_draws(model$size)
  seed <- check_seed(seed, call)
  sampler <- list2env(list(
    model = model, generated = generated, settings = settings, key = seed$key, identity = NULL
  ), parent = emptyenv())
  ready_sampler(sampler)
  state <- sampler$compiled$state$leaves
  flags <- warmup_flags(settings$warmup)
  if (save_warmup) flags <- bitwOr(flags, flag_keep)
  kept <- draw_flags(settings$draws, settings$thin)
  made <- Map(function(number, center) {
    new_chain(number, center, attr(centers, "radius"), state, flags, kept)
  }, seq_len(settings$chains), centers)
  interrupted <- run_chains(sampler, made, chains_at_once(cores, settings$chains), teller$tell)
  result <- gathered_draws(sampler, made, settings$draws, seed$seed, interrupted)
  warn_of_troubles(result)
  result
}
