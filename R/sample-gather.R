# Results of chains, and their continuation

stat_names <- c("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")

# What the chains have drawn, as far as all of them came, up to the number `end`; behind the draws of `before`, if any
gathered_draws <- function(sampler, chains, end, seed, interrupted, before = NULL) {
  rows <- lapply(chains, function(chain) do.call(rbind, chain$rows))
  stats <- lapply(chains, function(chain) do.call(rbind, chain$stats))
  thin <- sampler$settings$thin
  wanted <- end %/% thin - (if (is.null(before)) 0L else before$info$iterations %/% thin)
  # The warm-up's draws come first, where they are kept.
  early <- sum(bitwAnd(chains[[1L]]$warmup, flag_keep) > 0)
  first <- function(x) x[seq_len(early), , drop = FALSE]
  behind <- function(x) if (early) x[-seq_len(min(early, nrow(x))), , drop = FALSE] else x
  count <- min(wanted, vapply(rows, NROW, 0L) - early)
  if (interrupted && count < 1L && is.null(before)) {
    abort("xla_sample: interrupted during the warm-up: there are no draws yet", "CANCELLED", call = NULL)
  }
  warmup <- warmup_of(sampler, chains, before)
  if (early) {
    warmup$draws <- stacked_chains(lapply(rows, first), early, draw_names(sampler))
    warmup$diagnostics <- stacked_diagnostics(lapply(stats, first), early)
  }
  rows <- lapply(rows, behind)
  stats <- lapply(stats, behind)
  drawn <- stacked_chains(rows, count, draw_names(sampler))
  diagnostics <- stacked_diagnostics(stats, count)
  if (!is.null(before)) {
    drawn <- bound_iterations(before$draws, drawn)
    diagnostics <- Map(function(old, new) bound_rows(old, new), before$diagnostics[stat_names], diagnostics)
  }
  if (interrupted) end <- dim(drawn)[[1L]] * thin
  result <- new_draws(
    drawn, diagnostics, warmup, state_of(sampler, chains, rows, stats, count), sampler$model$template,
    info_of(sampler, chains, end, seed, interrupted, before)
  )
  if (interrupted) {
    warn(sprintf("xla_sample: interrupted: each chain has %d draws", dim(drawn)[[1L]]), "xlaffi_warning_interrupted",
      "`update(draws, draws = n)` goes on."
    )
  }
  result
}

stacked_diagnostics <- function(stats, count) {
  numbers <- stacked_chains(stats, count, stat_names)
  lapply(stats::setNames(nm = stat_names), function(name) {
    matrix(numbers[, , name], count, length(stats), dimnames = dimnames(numbers)[1:2])
  })
}

draw_names <- function(sampler) {
  names <- sampler$model$names
  form <- sampler$compiled$generated
  if (length(form)) c(names, variable_names(form)) else names
}

# iterations x chains x variables of a matrix for each chain
stacked_chains <- function(parts, count, names) {
  stacked <- array(0, c(count, length(parts), length(names)))
  if (count) {
    for (i in seq_along(parts)) stacked[, i, ] <- parts[[i]][seq_len(count), , drop = FALSE]
  }
  dimnames(stacked) <- list(
    iteration = as.character(seq_len(count)), chain = as.character(seq_along(parts)), variable = names
  )
  stacked
}

bound_iterations <- function(old, new) {
  count <- dim(old)[[1L]] + dim(new)[[1L]]
  both <- array(0, c(count, dim(old)[-1L]))
  both[seq_len(dim(old)[[1L]]), , ] <- old
  both[dim(old)[[1L]] + seq_len(dim(new)[[1L]]), , ] <- new
  dimnames(both) <- c(list(iteration = as.character(seq_len(count))), dimnames(old)[-1L])
  both
}

bound_rows <- function(old, new) {
  both <- rbind(old, new)
  dimnames(both) <- list(iteration = as.character(seq_len(nrow(both))), chain = colnames(old))
  both
}

warmup_of <- function(sampler, chains, before) {
  if (!is.null(before)) {
    return(before$warmup)
  }
  adapted <- lapply(chains, adapted_numbers, sampler = sampler)
  list(
    step_size = vapply(adapted, function(chain) chain$step_size, 0),
    inverse_metric = lapply(adapted, function(chain) chain$inverse_metric)
  )
}

# What going on needs. Chains that were interrupted are at different places: what some have drawn further waits in
# `rows` and `stats`.
state_of <- function(sampler, chains, rows, stats, count) {
  later <- function(x) if (NROW(x) > count) x[-seq_len(count), , drop = FALSE]
  list(sampler = sampler, chains = Map(function(chain, rows, stats) {
    list(
      number = chain$number, center = chain$center, radius = chain$radius, drawn = chain$before + chain_drawn(chain),
      state = lapply(chain$state, function(x) if (inherits(x, "xlaffi_buffer")) as_array(x) else x),
      rows = later(rows), stats = later(stats)
    )
  }, chains, rows, stats))
}

# Settings, and seconds
info_of <- function(sampler, chains, iterations, seed, interrupted, before) {
  seconds <- function(name) vapply(chains, function(chain) chain$seconds[[name]], 0)
  settings <- sampler$settings
  info <- list(
    algorithm = "NUTS", chains = length(chains), warmup = settings$warmup, thin = settings$thin,
    metric = settings$metric, target_accept = settings$target_accept, max_treedepth = settings$max_treedepth,
    seed = seed, iterations = iterations, interrupted = interrupted, compile_time = sampler$compiled$compile_time,
    warmup_time = seconds("warmup"), sampling_time = seconds("draws")
  )
  if (!is.null(before)) {
    info$warmup_time <- before$info$warmup_time
    info$sampling_time <- before$info$sampling_time + info$sampling_time
    info$compile_time <- before$info$compile_time
  }
  info
}

#' @rdname xla_sample
#' @importFrom stats update
#' @export
update.xlaffi_draws <- function(object, draws = 1000, cores = NULL, progress = NULL, ...) {
  check_dots_empty(...)
  draws <- check_whole(draws, "draws", 1)
  state <- object$state
  if (is.null(state)) {
    abort("update: these draws cannot be continued: they are a part of others", operand = "object",
      hint = "Continue the draws that xla_sample() returned, and take the part then."
    )
  }
  teller <- new_teller(progress)
  on.exit(teller$end())
  sampler <- ready_sampler(state$sampler)
  end <- object$info$iterations + draws
  chains <- lapply(state$chains, function(chain) {
    continued_chain(chain, draw_flags(max(0, end - chain$drawn), sampler$settings$thin, chain$drawn))
  })
  interrupted <- run_chains(sampler, chains, chains_at_once(cores, length(chains)), teller$tell)
  result <- gathered_draws(sampler, chains, end, object$info$seed, interrupted, object)
  warn_of_troubles(result)
  result
}
