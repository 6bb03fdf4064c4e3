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

# The solution at the items by the steps on record
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
  visit <- function(carry, x) {
    state <- stats::setNames(carry, names(state))
    item <- tree_fill(inputs$items, beyond(x, 3L))
    state <- steps_made(ode, functions, state, item$stop, record, first = x[[1L]], count = x[[2L]])
    missing <- x[[3L]]
    # A solution that failed has no derivative; that behind its end is none of it.
    y <- item_state(ode, state, item$time) * hlo_select(missing == 1L, filled(NaN, t), filled(1, t))
    y <- hlo_select(missing == 2L, filled(NaN, y), y)
    state <- after_events(ode, state, list(items = item, theta = inputs$theta))
    list(carry = unname(state), ys = list(y))
  }
  slices <- c(record[c("row", "count", "missing")], tree_leaves(inputs$items))
  values <- scan_node(visit, unname(state), unname(slices), ode$items, keep = FALSE)
  ended <- stats::setNames(values[seq_along(state)], names(state))
  c(list(y = values[[length(values)]]), ended[root_results(ode)])
}

# The steps of the `count` rows from `first` on. Two loops, one in the other, so that reverse mode keeps few states.
steps_made <- function(ode, functions, state, stop, record, first, count) {
  inner <- as.integer(ceiling(sqrt(ode$max_steps)))
  outer <- as.integer(ceiling(ode$max_steps / inner))
  step <- function(carry, row) {
    list(carry = unname(step_again(ode, functions, stats::setNames(carry, names(state)), stop, record, row)), ys = list())
  }
  stretch <- function(carry, x) {
    done <- x[[1L]] * inner
    turns <- hlo_min(count - done, inner)
    values <- scan_node(function(carry, x) step(carry, first + done + x[[1L]]), carry, list(hlo_iota("i32", inner)),
      inner, keep = FALSE, count = turns
    )
    list(carry = values, ys = list())
  }
  stretches <- (count + (inner - 1L)) %/% inner
  values <- scan_node(stretch, unname(state), list(hlo_iota("i32", outer)), outer, keep = FALSE, count = stretches)
  stats::setNames(values, names(state))
}

# A row in which this element of a batch took no step has the size 0.
step_again <- function(ode, functions, state, stop, record, row) {
  recorded_at <- function(name) reshaped(dynamic_sliced(record[[name]], list(row), 1L), integer())
  size <- recorded_at("size")
  taken <- size != 0
  h <- size * (stop - state$start)
  new <- ode$method$step(functions$f, state$t, h, state$y, state$slope)
  later <- state
  later[c("y", "base", "following", "from", "k")] <- list(new$y, state$y, new$y, state$t, new$k)
  later$width <- h
  later$t <- state$t + h
  if (ode$method$keeps_slope) later$slope <- new$slope
  later <- Map(function(new, old) hlo_select(taken, new, old), later, state)
  if (is.null(ode$root)) later else root_again(ode, functions, later, recorded_at("left"))
}
