# One run of a model of sample-models.R by this package or by rstan, and what is said of its draws: for sample.R and for
# ../peers/check-sample.R.

cpu <- function() sum(proc.time()[c("user.self", "sys.self", "user.child", "sys.child")])
wall <- function() proc.time()[["elapsed"]]

# Parameters in the order of the model's `start`, iterations x chains x variables
seconds_of <- function(run) {
  before <- c(wall(), cpu())
  value <- run()
  list(value = value, seconds = c(wall(), cpu()) - before)
}

run_xlaffi <- function(model) {
  run <- function(seed) {
    settings <- list(constraints = model$constraints, inits = if (is.null(model$inits)) 2 else model$inits, seed = seed)
    seconds_of(function() suppressWarnings(do.call(xla_sample, c(list(model$f, model$start), model$data, settings))))
  }
  whole <- run(1)
  # The program is there now: what is left is tracing and sampling.
  again <- run(2)
  draws <- whole$value
  steps <- sum(draws$diagnostics$n_leapfrog__)
  list(draws = draws$draws, whole = whole$seconds, sampling = again$seconds, steps = steps)
}

run_rstan <- function(model, iter = 2000) {
  options(mc.cores = 2)
  # Debian has these headers where others have them inside of packages.
  for (lib in c("boost", "eigen")) {
    option <- paste0(lib, "_lib")
    found <- c(rstan::rstan_options(option), c(boost = "/usr/include", eigen = "/usr/include/eigen3")[[lib]])
    do.call(rstan::rstan_options, stats::setNames(list(found[file.exists(found)][[1]]), option))
  }
  built <- seconds_of(function() rstan::stan_model(model_code = model$stan))
  drawn <- seconds_of(function() {
    settings <- list(built$value, data = model$data, chains = 4, iter = iter, warmup = 1000, seed = 1, refresh = 0)
    # Near the same points as ours, where all parameters are positive
    near <- function(x) x * exp(stats::runif(length(x), -model$inits, model$inits))
    if (!is.null(model$inits)) settings$init <- function() lapply(model$start, near)
    suppressWarnings(do.call(rstan::sampling, settings))
  })
  draws <- rstan::extract(drawn$value, names(model$start), permuted = FALSE)
  steps <- sum(vapply(rstan::get_sampler_params(drawn$value, FALSE), function(x) sum(x[, "n_leapfrog__"]), 0))
  list(draws = unclass(draws), whole = built$seconds + drawn$seconds, sampling = drawn$seconds, steps = steps)
}

# summary() of the parameters' draws, whoever drew them
table_of_draws <- function(model, draws) {
  size <- sum(lengths(unlist(list(model$start), recursive = FALSE)))
  summary(xlaffi:::new_draws(
    array(draws[, , seq_len(size)], c(dim(draws)[1:2], size),
      dimnames = list(NULL, NULL, xlaffi:::variable_names(model$start))
    ), list(), list(), NULL, model$start, list()
  ))
}
