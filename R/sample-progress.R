# What is told of chains under way, and of what went wrong in the end.

# A function of the chains that tells at most ten times a second, and what ends that.
new_teller <- function(progress, call = rlang::caller_env()) {
  if (is.function(progress)) {
    return(list(tell = function(chains) progress(progress_numbers(chains)), end = function() NULL))
  }
  if (is.null(progress)) {
    progress <- shows_progress()
  }
  check_flag(progress, "progress", call)
  if (!progress) {
    return(list(tell = function(chains) NULL, end = function() NULL))
  }
  bar <- NULL
  tell <- function(chains) {
    if (is.null(bar)) bar <<- new_bar("Sampling", sum(vapply(chains, chain_total, 0)))
    if (bar$due()) {
      numbers <- progress_numbers(chains)
      bar$set(numbers$done, progress_text(numbers))
    }
  }
  list(tell = tell, end = function() if (!is.null(bar)) bar$end())
}

# `done` of `total` draws of all chains, the warm-up's among them; how many chains warm up; the mean of the acceptance
# statistic, and how many draws diverged; seconds left, as far as known.
progress_numbers <- function(chains) {
  done <- sum(vapply(chains, function(chain) chain$done, 0))
  total <- sum(vapply(chains, chain_total, 0))
  seconds <- sum(vapply(chains, function(chain) sum(chain$seconds), 0))
  running <- max(1, sum(vapply(chains, function(chain) !is.null(chain$run), NA)))
  accept <- vapply(chains, function(chain) chain$accept, 0)
  list(
    done = done, total = total, warming = sum(vapply(chains, function(chain) chain$done < length(chain$warmup), NA)),
    accept = if (all(is.na(accept))) NA_real_ else mean(accept, na.rm = TRUE),
    divergent = sum(vapply(chains, function(chain) chain$divergent, 0)),
    left = if (done) seconds / done * (total - done) / running else NA_real_
  )
}

progress_text <- function(numbers) {
  parts <- c(
    if (numbers$warming) sprintf("warm-up of %d", numbers$warming),
    if (!is.na(numbers$accept)) sprintf("acceptance %.2f", numbers$accept),
    if (numbers$divergent) sprintf("divergent %d", as.integer(numbers$divergent)),
    if (!is.na(numbers$left)) sprintf("%.0f s left", numbers$left)
  )
  paste(parts, collapse = " | ")
}

# Warnings of what makes draws untrustworthy, as Stan's interfaces give them
warn_of_troubles <- function(draws) {
  found <- sampler_troubles(draws)
  count <- prod(dim(draws$draws)[1:2])
  if (isTRUE(found$divergent > 0)) {
    warn(
      sprintf("xla_sample: %d of %d draws diverged: the density has places that the step size is too large for",
        as.integer(found$divergent), as.integer(count)
      ), "xlaffi_warning_divergent",
      c("`target_accept` nearer to 1 makes steps smaller; a model written in other parameters may have no such places.",
        "`plot(draws, \"pairs\")` shows where they are.")
    )
  }
  if (isTRUE(found$deepest > 0)) {
    warn(
      sprintf("xla_sample: %d of %d trajectories ended at the largest depth %d: the draws are right, but cost more",
        as.integer(found$deepest), as.integer(count), as.integer(draws$info$max_treedepth)
      ), "xlaffi_warning_treedepth", "`max_treedepth` sets it; parameters of similar scales are easier to sample."
    )
  }
  low <- found$ebfmi[is.finite(found$ebfmi) & found$ebfmi < 0.3]
  if (length(low)) {
    warn(
      sprintf(
        "xla_sample: E-BFMI is less than 0.3 in %d of %d chains (%.2f): momenta do not move the energy far enough",
        length(low), dim(draws$draws)[[2L]], min(low)
      ), "xlaffi_warning_ebfmi", "Heavy tails do this; a model written in other parameters may have none."
    )
  }
}
