# Arguments of xla_sample()

check_whole <- function(x, name, least, most = .Machine$integer.max, call = rlang::caller_env()) {
  one <- is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x)
  if (!one || x != trunc(x) || x < least || x > most) {
    range <- if (most < .Machine$integer.max) sprintf("from %d to %d", least, most) else sprintf("from %d on", least)
    abort(sprintf("`%s` must be a whole number %s, not %s", name, range, describe(x)), operand = name, call = call)
  }
  as.integer(x)
}

check_between <- function(x, call = rlang::caller_env()) {
  if (!is.numeric(x) || is.object(x) || length(x) != 1L || !isTRUE(x > 0 && x < 1)) {
    abort(sprintf("`target_accept` must be a number between 0 and 1, not %s", describe(x)),
      operand = "target_accept", call = call
    )
  }
  as.double(x)
}

# The words of the key, and the seed itself for the result
check_seed <- function(seed, call) {
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1L)
  if (is_integer64(seed) && length(seed) == 2L && !anyNA(seed)) {
    words <- as.double(seed)
    if (all(words >= 0 & words < 2^32)) {
      return(list(key = words, seed = seed))
    }
  }
  whole <- is.numeric(seed) && length(seed) == 1L && !is.na(seed) && (is_integer64(seed) || !is.object(seed))
  if (!whole || (!is_integer64(seed) && (seed != trunc(seed) || abs(seed) > 2^53))) {
    abort(sprintf("`seed` must be one whole number, or a key of a program, not %s", describe(seed)),
      operand = "seed", call = call
    )
  }
  list(key = seed_halves(seed), seed = seed)
}

# The model of a function, an objective or a fit
sample_model <- function(f, start, data, constraints, call) {
  if (inherits(f, "xlaffi_fit") || inherits(f, "xlaffi_objective")) {
    if (length(data)) {
      abort("xla_sample: an objective has its data; `...` must be empty", operand = "...", call = call,
        hint = "`update(objective, ...)` gives it others."
      )
    }
    objective <- if (inherits(f, "xlaffi_fit")) f$objective else f
    return(model_of_objective(objective, objective_start(f, objective, start, call), constraints, call))
  }
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, an objective or a fit, not %s", describe(f)), operand = "f", call = call)
  }
  if (is.null(start)) {
    abort("`start` must be a template of the parameters: numbers, or a list of them, not NULL", operand = "start",
      call = call
    )
  }
  model_of_function(f, start, data, constraints, call)
}

# All parameters, with the random effects, in a row
objective_start <- function(f, objective, start, call) {
  if (!is.null(start)) {
    self <- environment(objective$fn)$self
    own <- if (is_branch(start)) own_vector(self, start, "start", call) else check_point(self, start, call, "start")
    return(c(unname(own), unname(self$layout$effects)))
  }
  if (inherits(f, "xlaffi_fit")) {
    own <- par_of(f$par, objective)
    return(c(unname(own), if (!is.null(objective$random)) unname(objective$random(own))))
  }
  NULL
}

# Where each chain looks for its first point; the attribute `radius` says how far around.
chain_centers <- function(model, inits, chains, call) {
  if (is.numeric(inits) && length(inits) == 1L && !is.object(inits) && isTRUE(inits >= 0 && inits < Inf)) {
    return(structure(rep(list(model$start), chains), radius = as.double(inits)))
  }
  if (!is_branch(inits) || length(inits) != chains) {
    shown <- if (is_branch(inits)) sprintf("a list of %d", length(inits)) else describe(inits)
    abort(
      sprintf("`inits` must be a number from 0 on, or a list of %d points, one for each chain, not %s", chains, shown),
      operand = "inits", call = call
    )
  }
  centers <- Map(function(point, i) {
    name <- sprintf("inits[[%d]]", i)
    check_template(point, name, call)
    point <- in_form_of(point, model$template, function(text) {
      abort(sprintf("`%s` must have the form of `start`%s", name, text), operand = "inits", call = call)
    })
    unname(model$unconstrain(point, call, name))
  }, inits, seq_along(inits))
  structure(unname(centers), radius = 0)
}

# For so many draws there is room in the results of an execution: 1,000, or as many as have 16 MB. It does not depend on
# how many draws are asked for, so that these share a program.
room_for_draws <- function(size) as.integer(min(1000, max(20, floor(2e6 / size))))

chains_at_once <- function(cores, chains, call = rlang::caller_env()) {
  if (is.null(cores)) {
    facts <- check(.Call(wrap__client_facts, default_device()))
    return(max(1L, min(facts$threads, chains)))
  }
  check_whole(cores, "cores", 1, call = call)
}
