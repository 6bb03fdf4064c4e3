# The program of a chain: transitions one after the other, with the adaptation of step size and metric as Stan does it
# (Stan Reference Manual, "MCMC sampling": Hamiltonian Monte Carlo with automatic parameter tuning).

# A chain begins with phase_start, in which points are tried until one is finite; then the step size is searched for, a
# single leaf a turn, of which the first tells in which direction; then come draws. Phases beyond are the ends of chains
# that cannot go on.
phase_start <- 0L
phase_first <- 1L
phase_search <- 2L
phase_draws <- 3L
phase_no_start <- 4L
phase_improper <- 5L
phase_no_step <- 6L

# What a draw is for: bits of the flags that come with each.
flag_step <- 1L # adapts the step size
flag_collect <- 2L # belongs to a window of the metric
flag_window <- 4L # ends one
flag_final <- 8L # ends the warm-up
flag_keep <- 16L # is kept

most_starts <- 100L

# Stan's numbers for dual averaging (Hoffman and Gelman 2014, section 3.2)
averaging <- list(gamma = 0.05, kappa = 0.75, t0 = 10)

# What dual averaging begins with at a step size
new_averaging <- function(step) list(mu = log(10 * step), s_bar = f64(0), x_bar = f64(0), count = f64(0))

averaged <- function(s, accept, target) {
  count <- s$count + 1
  eta <- 1 / (count + averaging$t0)
  s_bar <- (1 - eta) * s$s_bar + eta * (target - accept)
  x <- s$mu - s_bar * sqrt(count) / averaging$gamma
  x_eta <- exp(-averaging$kappa * log(count))
  list(mu = s$mu, s_bar = s_bar, x_bar = (1 - x_eta) * s$x_bar + x_eta * x, count = count, step = exp(x))
}

has_flag <- function(flags, bit) both_bits(flags, i32(bit)) != 0L

# One turn: a draw, a point to begin with, or a step size that is tried
turn_of_chain <- function(system, control, s) {
  starting <- s$phase == phase_start
  drawing <- s$phase == phase_draws
  random <- transition_numbers(control$key, s$clock, length(s$q), s$q@dtype)
  guess <- control$center + like_vector(control$radius, s$q) * random$uniform
  # Of a point to begin with nothing is known, and what was found at the one before may not be finite.
  from <- list(
    q = hlo_select(starting, guess, s$q), value = hlo_select(starting, f64(0), s$value),
    gradient = hlo_select(starting, filled(0, s$gradient), s$gradient)
  )
  system$scale <- function(p) system$metric$scale(s, p)
  system$force <- function(g) system$metric$force(s, g)
  path <- trajectory(system, from, random$normal, hlo_select(starting, f64(0), s$step), random$seed,
    s[c("begin", "middle")], hlo_select(drawing, i32(system$max_treedepth), i32(1L)), starting
  )
  flags <- reshaped(dynamic_sliced(control$flags, list(s$row), 1L), integer())
  flags <- hlo_select(drawing, flags, i32(0L))
  accept <- path$accept / converted(path$leaves, "f64")
  # A point of a step size that is tried is not gone to.
  moves <- drawing | starting
  point <- selected_all(moves, path[c("q", "value", "gradient")], s[c("q", "value", "gradient")])
  finite <- (path$value < Inf) & (path$value > -Inf) & all_finite(path$gradient)
  kept <- s$kept + hlo_select(has_flag(flags, flag_keep), i32(1L), i32(0L))
  numbers <- kept_of_draw(system, control, point$q, s$clock, has_flag(flags, flag_keep))
  stats <- lapply(list(path$value, accept, s$step, path$depth, path$leaves, path$diverged, path$energy), as_f64)
  c(
    point, path[c("begin", "middle")],
    selected_all(drawing, drawn(s, accept, flags, control$target), searched(s, path$last_weight, finite)),
    next_metric(system$metric, s, point$q, flags),
    list(
      clock = s$clock + 1L, row = s$row + hlo_select(drawing, i32(1L), i32(0L)), kept = kept,
      draws = set_row(s$draws, s$kept, numbers),
      stats = set_row(s$stats, s$kept, joined(lapply(stats, reshaped, 1L)))
    )
  )
}

# What is kept of a draw; what the user's function gives is computed for draws that are kept only.
kept_of_draw <- function(system, control, q, clock, keep) {
  key <- function() hlo_fold_in(control$generated_key, clock)
  if (!system$has_generated) {
    return(system$kept_numbers(q))
  }
  hlo_cond(keep, function() system$kept_numbers(q, key()), function() constant(0, "f64", system$kept_size, "numbers"))
}

# What a draw makes of phase, step size and its average
drawn <- function(s, accept, flags, target) {
  names <- c("mu", "s_bar", "x_bar", "count", "step")
  new <- selected_all(has_flag(flags, flag_step), averaged(s, accept, target), s[names])
  new$step <- hlo_select(has_flag(flags, flag_final), exp(new$x_bar), new$step)
  c(new, list(
    phase = hlo_select(has_flag(flags, flag_window), i32(phase_first), s$phase), tries = s$tries, upwards = s$upwards
  ))
}

# ... and what a point to begin with does, or a step size that was tried: `weight` is minus the error of the energy.
searched <- function(s, weight, finite) {
  starting <- s$phase == phase_start
  first <- s$phase == phase_first
  larger <- weight > log(0.8)
  upwards <- hlo_select(first, larger, s$upwards)
  crossed <- (s$phase == phase_search) & (larger != upwards)
  step <- hlo_select(starting | first | crossed, s$step, hlo_select(upwards, s$step * 2, s$step / 2))
  tries <- s$tries + 1L
  started <- hlo_select(finite, i32(phase_first),
    hlo_select(tries >= most_starts, i32(phase_no_start), i32(phase_start))
  )
  found <- hlo_select(crossed, i32(phase_draws), i32(phase_search))
  found <- hlo_select(step > 1e7, i32(phase_improper), hlo_select(step == 0, i32(phase_no_step), found))
  fresh <- selected_all(crossed, new_averaging(step), s[c("mu", "s_bar", "x_bar", "count")])
  c(fresh, list(step = step, phase = hlo_select(starting, started, found), tries = tries, upwards = upwards))
}

# What a chain is between two executions: numbers of R with dtypes. The clock counts from 1: what hlo_fold_in() makes of
# the chain's key is at 0.
initial_state <- function(metric, size, dtype) {
  zeros <- numeric(size)
  numbers <- c(
    list(clock = 1L, phase = phase_start, tries = 0L, upwards = FALSE),
    list(value = 0, step = 1, mu = 0, s_bar = 0, x_bar = 0, count = 0),
    list(q = zeros, gradient = zeros), metric$start(size)
  )
  types <- lapply(numbers, function(x) new_type(r_dtype(x), if (length(x) > 1L) r_shape(x) else integer()))
  vectors <- c("q", "gradient", "scale", "mean", "moment")
  types[vectors] <- lapply(numbers[vectors], function(x) new_type(dtype, r_shape(x)))
  groups <- carry_groups(types)
  leaves <- lapply(groups, function(names) {
    if (length(names) > 1L) do.call(rbind, lapply(numbers[names], as.vector)) else numbers[[names]]
  })
  leaves <- Map(function(x, names) {
    if (length(types[[names[[1L]]]]@shape) || length(names) == 1L) x else as.vector(x)
  }, leaves, groups)
  list(types = types, groups = groups, leaves = leaves)
}

# The program: arguments are the packed state of a chain and what `control_names` lists, results the packed state, how
# many draws were kept, and these with their diagnostics.
chain_program <- function(system, leaves, types, groups, control) {
  rows <- control$flags@shape
  own <- c(new_rows(system$size, system$dtype, system$max_treedepth), list(
    row = i32(0L), kept = i32(0L),
    draws = constant(0, "f64", c(rows, system$kept_size), "draws"),
    stats = constant(0, "f64", c(rows, 7L), "stats")
  ))
  carried <- as.list(names(own))
  out <- packed_loop(
    c(leaves, unname(own)), c(types, lapply(own, type_of)), c(groups, carried),
    function(s) (s$row < control$turns) & (s$phase <= phase_draws), function(s) turn_of_chain(system, control, s)
  )
  own <- stats::setNames(out[length(leaves) + seq_along(own)], names(own))
  c(out[seq_along(leaves)], own[c("kept", "draws", "stats")])
}
