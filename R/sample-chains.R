# The chains of a call, side by side.

# How many seconds an execution should take, since R shows progress between two of them and has their draws when it is
# interrupted; and how many draws the first one makes, of which nobody knows how long they take.
chain_pace <- session_state("chain_pace", seconds = 0.4, first = 25)

# A chain that has not begun. `center` and `radius` say where its first point is looked for; `warmup` and `draws` are
# the flags of the draws that are to come, of which `done` have come, behind `before` draws of an earlier call.
new_chain <- function(number, center, radius, state, warmup, draws) {
  list2env(list(
    number = number, center = center, radius = radius, state = state, warmup = warmup, draws = draws, before = 0L,
    done = 0L, run = NULL, began = NULL, rate = NULL, size = NULL, rows = list(), stats = list(),
    seconds = c(warmup = 0, draws = 0), divergent = 0, accept = NA_real_
  ), parent = emptyenv())
}

# One that goes on: what it had drawn beyond the others comes first.
continued_chain <- function(chain, flags) {
  new <- new_chain(chain$number, chain$center, chain$radius, chain$state, integer(), flags)
  new$before <- chain$drawn
  new$rows <- list(chain$rows)
  new$stats <- list(chain$stats)
  new
}

chain_drawn <- function(chain) max(0L, chain$done - length(chain$warmup))

chain_total <- function(chain) length(chain$warmup) + length(chain$draws)

# Runs all chains to their ends, `most` at the same time. `tell` is called now and then; what interrupts, Ctrl-C or what
# `tell` raises, leaves the chains as they are. Gives whether that happened.
run_chains <- function(sampler, chains, most, tell) {
  on.exit(abandon_runs(chains))
  tryCatch({
    repeat {
      start_waiting(sampler, chains, most)
      running <- Filter(function(chain) !is.null(chain$run), chains)
      if (!length(running)) break
      for (chain in running) {
        chain$run <- polled(chain$run, 0.01 / length(running))
        if (inherits(chain$run, "xlaffi_there")) {
          # The draws are read while the next ones are made. An interruption comes behind or before.
          suspendInterrupts({
            outputs <- chain$run
            end_execution(sampler, chain, outputs)
            start_waiting(sampler, chains, most)
            read_draws(sampler, chain, outputs)
          })
        }
      }
      Sys.sleep(0)
      tell(chains)
    }
    FALSE
  }, interrupt = function(condition) any(vapply(chains, function(chain) chain$done < chain_total(chain), NA)))
}

# Starts executions of chains that have none, those most behind first, until `most` run.
start_waiting <- function(sampler, chains, most) {
  idle <- vapply(chains, function(chain) is.null(chain$run), NA)
  waiting <- Filter(function(chain) chain$done < chain_total(chain), chains[idle])
  waiting <- waiting[order(vapply(waiting, function(chain) chain$done, 0L))]
  for (chain in utils::head(waiting, max(most - sum(!idle), 0L))) start_chain(sampler, chain)
}

abandon_runs <- function(chains) {
  for (chain in chains) {
    if (inherits(chain$run, "xlaffi_launched")) .Call(wrap__run_abandon, chain$run[[1L]])
    chain$run <- NULL
  }
}

# The next draws: as many as take about as long as an execution should, all of the warm-up or all behind it.
start_chain <- function(sampler, chain) {
  warm <- chain$done < length(chain$warmup)
  left <- if (warm) length(chain$warmup) - chain$done else chain_total(chain) - chain$done
  wanted <- if (is.null(chain$rate)) chain_pace$first else ceiling(chain_pace$seconds * chain$rate)
  size <- as.integer(max(1, min(left, sampler$settings$rows, wanted)))
  flags <- c(chain$warmup, chain$draws)[chain$done + seq_len(size)]
  chain$size <- size
  chain$began <- proc.time()[["elapsed"]]
  chain$run <- start_execution(sampler, chain, flags, size)
}

# What is known of a chain whose execution is through
end_execution <- function(sampler, chain, outputs) {
  chain$run <- NULL
  chain$state <- outputs[seq_along(sampler$compiled$state$leaves)]
  check_phase(chain_numbers(sampler, chain, "phase"), chain$number)
  seconds <- max(proc.time()[["elapsed"]] - chain$began, 1e-4)
  warm <- chain$done < length(chain$warmup)
  chain$seconds <- chain$seconds + c(warm * seconds, (!warm) * seconds)
  # Trajectories are longer at some times of the warm-up than at others.
  chain$rate <- min(chain$size / seconds, if (is.null(chain$rate)) Inf else 10 * chain$rate)
  chain$done <- chain$done + chain$size
}

read_draws <- function(sampler, chain, outputs) {
  count <- length(sampler$compiled$state$leaves)
  kept <- as.vector(as_array(outputs[[count + 1L]]))
  if (!kept) {
    return(invisible())
  }
  rows <- lapply(outputs[count + 2:3], function(buffer) as_array(buffer)[seq_len(kept), , drop = FALSE])
  chain$rows <- c(chain$rows, rows[1L])
  chain$stats <- c(chain$stats, rows[2L])
  chain$accept <- mean(rows[[2L]][, 2L])
  chain$divergent <- chain$divergent + sum(rows[[2L]][, 6L])
}

# One of the numbers of a chain's state
chain_numbers <- function(sampler, chain, name) {
  state <- sampler$compiled$state
  at <- which(vapply(state$groups, function(names) name %in% names, NA))
  packed <- chain$state[[at]]
  packed <- if (inherits(packed, "xlaffi_buffer")) as_array(packed) else packed
  names <- state$groups[[at]]
  if (length(names) == 1L) {
    return(if (length(dim(packed)) > 1L) packed else as.vector(packed))
  }
  row <- match(name, names)
  if (length(dim(packed)) > 1L) packed[row, ] else packed[[row]]
}

# Step size, and the metric's inverse: variances or the covariance matrix
adapted_numbers <- function(sampler, chain) {
  scale <- chain_numbers(sampler, chain, "scale")
  list(
    step_size = chain_numbers(sampler, chain, "step"),
    inverse_metric = if (sampler$settings$metric == "dense") crossprod(scale) else scale^2
  )
}

check_phase <- function(phase, number) {
  if (phase <= phase_draws) {
    return(invisible())
  }
  if (phase == phase_no_start) {
    abort(
      sprintf(
        "xla_sample: chain %d found no point to begin with: the logarithm of the density or its gradient was not %s",
        number, sprintf("finite at %d points around `start`", most_starts)
      ), "OUT_OF_RANGE", operand = "start", call = NULL,
      hint = paste(
        "`inits` sets how far around `start` they are, or the points themselves; `constraints` keep parameters where",
        "the density is positive."
      )
    )
  }
  why <- if (phase == phase_improper) {
    "the density hardly changes however far a step leads: it may not be integrable"
  } else {
    "no step size is small enough for the density's gradient, which may be wrong or have jumps"
  }
  abort(sprintf("xla_sample: chain %d: %s", number, why), "OUT_OF_RANGE", operand = "f", call = NULL)
}
