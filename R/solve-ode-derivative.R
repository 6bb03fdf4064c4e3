# Derivatives of solutions of differential equations: those of the steps that were taken, of fixed sizes ("discretise,
# then differentiate"). The steps are made again, from what solve_ode() recorded of them, by loops of a known number of
# turns, which have derivatives of every order in both modes. A step is a part of the way from one event to the next,
# so that steps move with the times of output and of events. What reverse mode keeps is the state at the items, and
# within an item that of every 64th step or so.

# `record`: whether the steps are recorded. Programs without derivatives do without.
ode_op <- function(ode, record = isTRUE(trace_state$differentiated)) {
  ode$record <- record
  list(
    name = "hlo_ode",
    recording = if (!record) ode_op(ode, TRUE),
    call = function(...) solve_ode(ode, tree_fill(ode$form, list(...))),
    jvp = function(primals, results, tangents) {
      at <- steps_again(ode, primals, with_record(ode, primals, results))
      changes <- jvp_graph(at$outputs, at$roots, tangents)
      found <- lapply(results, function(x) NULL)
      found[names(at$value)] <- changes
      found
    },
    vjp = function(primals, results, cotangents) {
      at <- steps_again(ode, primals, with_record(ode, primals, results))
      moving <- inexact_types(at$roots)
      shares <- gradients_of(at, cotangents[names(at$value)])
      shares[!moving] <- list(NULL)
      shares
    },
    batch = function(inputs, mapped, size) ode_batch(ode, inputs, mapped, size)
  )
}

# The op of a batch: one loop for all its elements. A batch of batches is one batch of so many more elements.
ode_batch <- function(ode, inputs, mapped, size) {
  inner <- ode$mapped
  many <- ode
  if (is.null(ode$size)) {
    many[c("size", "mapped")] <- list(size, mapped)
    return(unname(bind_op(ode_op(many, ode$record), inputs)))
  }
  both <- mapped | inner
  many[c("size", "mapped")] <- list(size * ode$size, both)
  flat <- Map(function(x, mapped, inner) {
    if (!mapped && !inner) {
      return(x)
    }
    if (!inner) x <- broadcast(x, append(x@shape, ode$size, 1L), setdiff(seq_len(rank_of(x) + 1L), 2L))
    x <- in_front(x, mapped, size)
    reshaped(x, c(size * ode$size, x@shape[-(1:2)]))
  }, inputs, mapped, inner)
  lapply(unname(bind_op(ode_op(many, ode$record), flat)), function(x) reshaped(x, c(size, ode$size, x@shape[-1L])))
}

with_record <- function(ode, primals, results) {
  if (ode$record) results else bind_op(ode_op(ode, TRUE), unname(primals))
}

# The results that have derivatives, as functions of the inputs, with the steps that `results` has on record
steps_again <- function(ode, primals, results) {
  kept <- c("missing", "row", "count", names(recorded(ode, TRUE)))
  single <- function(leaves) {
    count <- length(primals)
    inputs <- tree_fill(ode$form, leaves[seq_len(count)])
    out <- replayed_steps(ode, inputs, stats::setNames(beyond(leaves, count), kept))
    outputs <<- names(out)
    unname(out)
  }
  outputs <- NULL
  at <- evaluated(function(...) {
    leaves <- c(list(...), unname(results[kept]))
    if (is.null(ode$size)) {
      values <- single(leaves)
    } else {
      batch <- batch_leaves(single, leaves, c(ode$mapped, rep(TRUE, length(kept))), ode$size)
      values <- all_in_front(batch$values, batch$mapped, ode$size)
    }
    stats::setNames(values, outputs)
  }, primals, named = FALSE)
  at
}

# The solution at the items by the steps on record. They are made in stretches of up to so many rows, the last of each
# item's behind the others: a loop over stretches, with a loop over rows in it, so that reverse mode keeps few states.
replayed_steps <- function(ode, inputs, record) {
  functions <- functions_of(ode, inputs$theta)
  time <- inputs$items$time
  t <- reshaped(sliced(time, 1L, 1L), integer())
  y <- inputs$y
  state <- list(
    t = t, y = y, slope = if (ode$method$keeps_slope) functions$f(t, y), start = t, base = y, following = y, from = t,
    width = filled(1, t), k = constant(0, ode$dtype, c(ode$method$stages, length(y)), "k")
  )
  state <- Filter(Negate(is.null), state)
  state <- c(state, starting_root(ode, NULL, t, y)[root_results(ode)])
  plan <- stretches_of(ode, record)
  visit <- function(carry, x) {
    state <- stats::setNames(carry, names(state))
    item <- tree_fill(inputs$items, beyond(x, 3L))
    state <- steps_made(ode, inputs$theta, state, item$stop, record, first = x[[1L]], count = x[[2L]], plan$most)
    y <- item_state(ode, state, item$time)
    if (!is.null(item$event)) item$event <- item$event & (x[[3L]] == 1L)
    state <- after_events(ode, state, list(items = item, theta = inputs$theta))
    list(carry = unname(state), ys = list(y))
  }
  items <- lapply(tree_leaves(inputs$items), function(x) gathered(x, plan$item, 1L))
  slices <- c(plan[c("first", "count", "last")], items)
  values <- scan_node(visit, unname(state), slices, length(plan$item), keep = FALSE, count = plan$turns)
  ended <- stats::setNames(values[seq_along(state)], names(state))
  y <- gathered(values[[length(values)]], plan$ends, 1L)
  # A solution that failed has no derivative; that behind its end is none of it.
  missing <- broadcast(record$missing, y@shape, 1L)
  y <- bind_op(nan_where, list(missing == 1L, y))
  c(list(y = hlo_select(missing == 2L, filled(NaN, y), y)), ended[root_results(ode)])
}

# NaN, with derivatives that are NaN, too, where anything depends on it
nan_where <- list(
  name = "hlo_ode",
  call = function(where, y) hlo_select(where, filled(NaN, y), y),
  jvp = function(primals, results, tangents) {
    tangents[[2L]] * hlo_select(primals[[1L]], filled(NaN, results), filled(1, results))
  },
  vjp = function(primals, results, cotangents) {
    list(NULL, hlo_select(primals[[1L]] & (cotangents != 0), filled(NaN, results), cotangents))
  }
)

# Which rows each stretch has: of each its item, the first row, how many there are, and whether it is the item's last.
# `ends`: the last stretches of the items; `turns`: how many stretches there are.
stretches_of <- function(ode, record) {
  most <- as.integer(ceiling(sqrt(ode$max_steps)))
  room <- ode$items + as.integer(ceiling(ode$max_steps / most))
  own <- hlo_max((record$count + (most - 1L)) %/% most, 1L)
  ends <- cumulated("add", own, 1L)
  number <- hlo_iota("i32", room)
  item <- hlo_min(count_before(ends, number, TRUE), ode$items - 1L)
  at_item <- function(x) gathered(x, item, 1L)
  done <- (number - at_item(ends - own)) * most
  list(
    item = item, first = at_item(record$row) + done, count = hlo_max(hlo_min(at_item(record$count) - done, most), 0L),
    last = converted(number == at_item(ends) - 1L, "i32"), ends = ends - 1L, most = most,
    turns = reshaped(sliced(ends, ode$items, ode$items), integer())
  )
}

# The steps of the `count` rows from `first` on, at `most` so many
steps_made <- function(ode, theta, state, stop, record, first, count, most) {
  step <- function(carry, x) {
    state <- step_again(ode, theta, stats::setNames(carry, names(state)), stop, record, first + x[[1L]])
    list(carry = unname(state), ys = list())
  }
  values <- scan_node(step, unname(state), list(hlo_iota("i32", most)), most, keep = FALSE, count = count)
  stats::setNames(values, names(state))
}

# A row in which this element of a batch took no step has the size 0. A step has the size on record, and as a part of
# the way between two events it grows with that.
step_again <- function(ode, theta, state, stop, record, row) {
  recorded_at <- function(name) reshaped(dynamic_sliced(record[[name]], list(row), 1L), integer())
  functions <- functions_of(ode, theta, state$start, stop)
  size <- recorded_at("size")
  taken <- size != 0
  way <- stop - state$start
  known <- xla_stop_gradient(way)
  h <- size + size / hlo_select(known == 0, filled(1, known), known) * (way - known)
  new <- ode$method$step(functions$f, state$t, h, state$y, state$slope)
  later <- state
  later[c("y", "base", "following", "from", "k")] <- list(new$y, state$y, new$y, state$t, new$k)
  later$width <- h
  later$t <- state$t + h
  if (ode$method$keeps_slope) later$slope <- new$slope
  later <- Map(function(new, old) hlo_select(taken, new, old), later, state)
  if (is.null(ode$root)) later else root_again(ode, functions, later, recorded_at("left"))
}
