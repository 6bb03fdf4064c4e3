# The steps of a solution, with sizes by the estimated error: step control by Hairer, Norsett and Wanner (1993), II.4,
# with the proportional-integral rule of their code DOPRI5. There are no derivatives here: R/solve-ode-derivative.R
# makes the accepted steps again.
#
# A solution goes from item to item: the times of output and of events, in order. What is done with one element of a
# batch is a function of single values, which `together()` makes one of all elements, side by side: in a loop each takes
# steps until it has come to the item, and waits there for the others.

# What an ode is, besides numbers: `f`, `jump`, `root`, `root_jump` (functions of t, y and theta), `method`, `items`,
# `max_steps`, and for batches `size` and `mapped`, which marks inputs that differ from element to element.

# Codes of `solver_reasons`
ode_status <- c(going = 0L, too_many = 10L, too_small = 11L, not_finite = 12L, root = 13L)

# `f`, a function of lists of values, of one element or of all. `mapped`: which have the batch axis; all results have
# it.
together <- function(ode, f, leaves, mapped) {
  if (is.null(ode$size)) {
    return(f(leaves))
  }
  batch <- batch_leaves(f, leaves, mapped, ode$size)
  all_in_front(batch$values, batch$mapped, ode$size)
}

# A function of named lists, the first of them a state of the loop (with the batch axis), the others inputs with `marks`
on_elements <- function(ode, f, state, inputs, marks) {
  out <- NULL
  own <- seq_along(state)
  leaves <- c(state, tree_leaves(inputs))
  values <- together(ode, function(leaves) {
    given <- stats::setNames(leaves[own], names(state))
    out <<- f(given, tree_fill(inputs, beyond(leaves, length(own))))
    tree_leaves(out)
  }, unname(leaves), c(rep(TRUE, length(own)), unlist(marks)))
  tree_fill(out, values)
}

# The results of the op: what is solved for at the items, and how. Inputs and results are those of one element or, in
# a batch, of all, with the batch axis in front.
solve_ode <- function(ode, inputs) {
  marks <- marks_of(ode, inputs)
  shared <- inputs[c("rtol", "atol", "theta")]
  state <- on_elements(ode, function(state, inputs) starting_state(ode, inputs), list(), inputs, tree_leaves(marks))
  items <- tree_leaves(inputs$items)
  in_front <- unlist(marks$items)
  slices <- Map(function(x, mapped) if (mapped && !is.null(ode$size)) to_front(x, 2L) else x, items, in_front)
  given_marks <- c(in_front, unlist(marks[names(shared)]))
  own <- seq_along(state)
  zero <- constant(0L, "i32", integer(), "row")
  record <- lapply(recorded(ode), function(number) constant(number, ode$dtype, c(ode$size, ode$max_steps), "record"))
  visit <- function(carry, item) {
    given <- c(list(items = tree_fill(inputs$items, item)), shared)
    row <- carry[[1L]]
    loop <- steps_to_item(ode, row, stats::setNames(carry[1L + own], names(state)), beyond(carry, 1L + length(own)),
      given, given_marks
    )
    found <- on_elements(ode, function(state, given) at_item(ode, state, given), loop$state, given, given_marks)
    each <- function(x) if (is.null(ode$size)) x else broadcast(x, ode$size, integer())
    list(
      carry = c(list(loop$row), unname(found$state), loop$record),
      ys = unname(c(found$result, list(each(row), each(loop$row - row))))
    )
  }
  values <- scan_node(visit, c(list(zero), unname(state), record), slices, ode$items)
  state <- stats::setNames(values[1L + own], names(state))
  stacks <- beyond(values, 1L + length(own) + length(record))
  if (!is.null(ode$size)) stacks <- lapply(stacks, to_front, 2L)
  names(stacks) <- c("y", "missing", "row", "count")
  c(
    stacks, state[c("steps", "rejected", "status", root_results(ode), if (!is.null(ode$root)) "roots")],
    stats::setNames(values[1L + length(own) + seq_along(record)], names(recorded(ode)))
  )
}

# What is kept of each accepted step, for derivatives: its size, and how much of it was left where a root was found.
recorded <- function(ode, record = ode$record) if (record) c(size = 0, if (!is.null(ode$root)) c(left = no_root))

marks_of <- function(ode, inputs) {
  tree_fill(inputs, if (is.null(ode$size)) rep(list(FALSE), length(tree_leaves(inputs))) else as.list(ode$mapped))
}

# Steps until all elements have come to an item. Each turn is a row of `record`, which holds 0 for those elements that
# did not take a step; rows in which nobody did are written over.
steps_to_item <- function(ode, row, state, record, given, marks) {
  own <- seq_along(state)
  named <- function(leaves) stats::setNames(leaves[1L + own], names(state))
  going <- function(leaves) {
    on <- on_elements(ode, function(state, given) list(is_going(ode, state, given)), named(leaves), given, marks)
    list(bind("and", list(any_of(on[[1L]]), leaves[[1L]] < ode$max_steps), "pred", integer()))
  }
  turn <- function(leaves) {
    row <- leaves[[1L]]
    out <- on_elements(ode, function(state, given) one_turn(ode, state, given), named(leaves), given, marks)
    if (!is.null(ode$root)) out <- stopped_at_roots(ode, out, given, marks)
    zero <- constant(0L, "i32", integer(), "start")
    written <- Map(function(record, value) {
      batched <- !is.null(ode$size)
      update <- reshaped(value, c(ode$size, 1L))
      dynamic_updated(record, update, if (batched) list(zero, row) else list(row))
    }, beyond(leaves, 1L + length(own)), out$recorded[names(recorded(ode))])
    row <- row + converted(any_of(out$accepted), "i32")
    c(list(row), unname(out$state), unname(written))
  }
  leaves <- while_loop(going, turn, c(list(row), unname(state), unname(record)))
  list(row = leaves[[1L]], state = named(leaves), record = beyond(leaves, 1L + length(own)))
}

any_of <- function(x) {
  if (!length(x@shape)) x else converted(reduced("reduce_max", converted(x, "i32"), NULL, "hlo_ode"), "pred")
}

# --- one element ---------------------------------------------------------------------------------------------------

# `stop`: where the way from `start` ends. What is called behind it, by rounding, is called there: a function may have
# no value behind the end, or another one behind an event.
functions_of <- function(ode, theta, start = NULL, stop = NULL) {
  inside <- if (is.null(stop)) identity else function(t) hlo_select((t - stop) * sign_of(stop - start) > 0, stop, t)
  lapply(ode[c("f", "jump", "root", "root_jump")], function(f) if (!is.null(f)) function(t, y) f(inside(t), y, theta))
}

root_mean_square <- function(x) sqrt(hlo_sum(x * x) / length(x))

tolerance_of <- function(given, y, other = y) given$atol + given$rtol * hlo_max(abs(y), abs(other))

as_i32 <- function(x) constant(x, "i32", integer(), "status")

starting_state <- function(ode, inputs) {
  time <- inputs$items$time
  at <- function(i) reshaped(sliced(time, i, i), integer())
  t <- at(1L)
  span <- at(ode$items) - t
  functions <- functions_of(ode, inputs$theta, t, at(ode$items))
  y <- inputs$y
  slope <- functions$f(t, y)
  h <- first_ode_step(functions$f, t, y, slope, span, tolerance_of(inputs, y), ode$method$order)
  fine <- finite(h) & finite(span) & is_finite_vector(y)
  one <- filled(1, t)
  state <- list(
    t = t, h = hlo_select(fine, h, one), y = y, slope = slope, start = t, base = y, following = y, from = t,
    width = one, k = constant(0, ode$dtype, c(ode$method$stages, length(y)), "k"), error = filled(1e-4, t),
    after_rejection = constant(FALSE, "pred", integer(), "flag"), steps = as_i32(0L), rejected = as_i32(0L),
    status = hlo_select(fine, as_i32(ode_status[["going"]]), as_i32(ode_status[["not_finite"]]))
  )
  if (!ode$method$keeps_slope) state$slope <- NULL
  c(state, starting_root(ode, functions$root, t, y))
}

is_finite_vector <- function(x) reduced("reduce_max", abs(x) + 0 * x, NULL, "hlo_ode") < Inf

# 1 where there is nowhere to go
sign_of <- function(span) hlo_select(span < 0, filled(-1, span), filled(1, span))

# The first step by Hairer, Norsett and Wanner (1993), II.4: one in which an explicit Euler step changes y by a
# hundredth of its size, and one with which the next derivative would be as small as the tolerance.
first_ode_step <- function(f, t, y, slope, span, tolerance, order) {
  sign <- sign_of(span)
  size <- root_mean_square(y / tolerance)
  speed <- root_mean_square(slope / tolerance)
  small <- (size < 1e-5) | (speed < 1e-5)
  guess <- hlo_select(small, filled(1e-6, t), 0.01 * size / hlo_select(small, filled(1, t), speed))
  guess <- hlo_max(hlo_min(guess, abs(span)), lowest_step(t))
  change <- root_mean_square((f(t + sign * guess, y + sign * guess * slope) - slope) / tolerance) / guess
  most <- hlo_max(speed, change)
  second <- hlo_select(most <= 1e-15, hlo_max(filled(1e-6, t), guess * 1e-3), (0.01 / most)^(1 / order))
  # Where a function gives no numbers, nor does the step: a maximum would lose that.
  sign * hlo_min(hlo_min(100 * guess, second), hlo_max(abs(span), lowest_step(t))) + 0 * most
}

lowest_step <- function(t) filled(if (t@dtype == "f32") 1e-30 else 1e-200, t)

is_going <- function(ode, state, given) {
  item <- given$items
  on <- (item$time - state$t) * sign_of(item$stop - state$start) > 0
  on & (state$status == ode_status[["going"]])
}

# An attempt at a step, if the item is not reached yet
one_turn <- function(ode, state, given) {
  item <- given$items
  going <- is_going(ode, state, given)
  rest <- item$stop - state$t
  # A step that ends close to the next event, or to the end, ends there.
  last <- (1.01 * state$h - rest) * sign_of(rest) >= 0
  h <- hlo_select(last, rest, state$h)
  f <- functions_of(ode, given$theta, state$start, item$stop)$f
  new <- ode$method$step(f, state$t, h, state$y, state$slope)
  error <- root_mean_square(new$error / tolerance_of(given, state$y, new$y))
  error <- hlo_select(finite(error) & is_finite_vector(new$y), error, filled(1e10, error))
  accepted <- going & (error <= 1)
  control <- next_step(ode, state, h, error, last)
  least <- abs(state$t) * (if (ode$dtype == "f32") 1.2e-6 else 2.3e-15)
  too_small <- going & !accepted & (abs(control$h) <= hlo_max(least, lowest_step(h)))
  later <- state
  later$t <- hlo_select(last, item$stop, state$t + h)
  later[c("y", "base", "from", "width", "k")] <- list(new$y, state$y, state$t, h, new$k)
  later$following <- new$y
  if (ode$method$keeps_slope) later$slope <- new$slope
  later$error <- hlo_max(error, 1e-4)
  # Where no step is taken nothing changes but its size.
  changed <- intersect(c("t", "y", "base", "following", "from", "width", "k", "slope", "error"), names(state))
  later[changed] <- Map(function(new, old) hlo_select(accepted, new, old), later[changed], state[changed])
  later$h <- hlo_select(going, control$h, state$h)
  later$after_rejection <- hlo_select(going, !accepted, state$after_rejection)
  later$steps <- state$steps + converted(accepted, "i32")
  later$rejected <- state$rejected + converted(going & !accepted, "i32")
  later$status <- hlo_select(too_small, as_i32(ode_status[["too_small"]]), state$status)
  size <- hlo_select(accepted, h, filled(0, h))
  list(state = later, accepted = accepted, recorded = list(size = size, left = filled(no_root, size)))
}

# The rule of DOPRI5: a proportional-integral controller with beta = 0.04, factors from 0.2 to 10, and no growth after
# a rejected step. A step that was cut short at an event does not make the next one small.
next_step <- function(ode, state, h, error, last) {
  beta <- 0.04
  grown <- error^(1 / ode$method$order - 0.75 * beta)
  kept <- hlo_min(hlo_max(grown / state$error^beta / 0.9, filled(0.1, error)), filled(5, error))
  kept <- hlo_select(state$after_rejection, hlo_max(kept, filled(1, error)), kept)
  taken <- h / kept
  longer <- last & (abs(state$h) > abs(taken))
  accepted <- hlo_select(longer, state$h, taken)
  rejected <- h / hlo_min(hlo_max(grown / 0.9, filled(1.1, error)), filled(5, error))
  list(h = hlo_select(error <= 1, accepted, rejected))
}

# What an item gives: the state there, by the dense output of the step that it lies in, and for events the state after
# them. `missing`: 1 where the solution failed before, 2 where it ended at a root.
at_item <- function(ode, state, given) {
  item <- given$items
  ended <- state$status != ode_status[["going"]]
  short <- !ended & is_going(ode, state, given)
  state$status <- hlo_select(short, as_i32(ode_status[["too_many"]]), state$status)
  there <- item_state(ode, state, item$time)
  is_root <- state$status == ode_status[["root"]]
  passed <- (item$time - state$t) * sign_of(item$stop - state$start) > 0
  missing <- hlo_select(is_root, converted(passed, "i32") * 2L, converted(state$status != 0L, "i32"))
  y <- hlo_select(missing == 0L, there, filled(NaN, there))
  list(state = after_events(ode, state, given), result = list(y = y, missing = missing))
}

item_state <- function(ode, state, time) {
  at <- (time - state$from) / state$width
  ode$method$between(state$base, state$following, state$width, state$k, at)
}

# The state behind an event, where the item is one
after_events <- function(ode, state, given) {
  item <- given$items
  if (is.null(item$event)) {
    return(state)
  }
  functions <- functions_of(ode, given$theta)
  there <- item$event & (if (is.null(state$status)) TRUE else state$status == ode_status[["going"]])
  t <- hlo_select(there, item$time, state$t)
  y <- changed_state(functions, item, t, state$y)
  state$y <- hlo_select(there, y, state$y)
  state$t <- t
  state$start <- hlo_select(there, item$time, state$start)
  if (!is.null(state$slope)) state$slope <- hlo_select(there, functions$f(t, y), state$slope)
  if (!is.null(state$side)) state$side <- hlo_select(there, functions$root(t, state$y), state$side)
  state
}

changed_state <- function(functions, item, t, y) {
  if (!is.null(item$scale)) y <- item$scale * y + item$shift
  if (!is.null(functions$jump)) y <- functions$jump(t, y)
  y
}
