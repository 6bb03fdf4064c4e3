# Writes a row of equal turns (jit-loops.R) as one loop. What numbers and windows of the turns hold becomes stacks, from
# which each turn of the loop gets its own; what a turn takes of the turns before it is carried; of what is used behind
# the row there are stacks of results. Elements that are put into an array turn by turn are put there together.

# `values` by a graph with a loop in place of the turns `row`; as they are where one cannot be written.
turns_as_loop <- function(values, table, row, first) {
  repeat {
    plan <- if (row$turns >= least_turns) turns_plan(table, row)
    if (is.null(plan)) {
      return(values)
    }
    # What would be carried to the first turn may be something else.
    is_late <- is.null(plan$carried)
    if (!is_late && !any(value_keys(plan$outside) %in% value_keys(carried_values(plan)))) {
      break
    }
    # The loop's body is the last turn, in which no value may be both carried and one that all turns share.
    row$from <- row$from + if (is_late) row$period else 0L
    row$turns <- row$turns - 1L
    row$length <- row$length - row$period
  }
  used <- used_of_turns(values, table, row, plan)
  found <- if (!is.null(used)) loop_of_turns(table, row, plan, used, first)
  if (is.null(found)) {
    return(values)
  }
  # What comes before the loop stays.
  replay(values, c(found$from, used$before), c(found$to, used$before), first)
}

carried_values <- function(plan) lapply(plan$carried, function(one) one$value)

# The node at place `k` of turn `turn`
turn_node <- function(table, row, k, turn = row$turns) table$nodes[[row$from + (turn - 1L) * row$period + k - 1L]]

turn_nodes <- function(table, row, k) lapply(seq_len(row$turns), function(turn) turn_node(table, row, k, turn))

# What becomes of the nodes of a turn, by their places: `from_stacks`, numbers and windows that differ; of these
# `taken`, which the loop takes, and `stacks`, functions that make their stacks; `arrays`, which get elements turn by
# turn, and where these lie, `windows`. All others the loop computes, from these, from values `outside` that all turns
# share, and from what is `carried` from turns before: `k`, `index`, and `lag`, how many turns; NULL where that needs
# another first turn. Of these `moving` are windows of what the turns compute, at places that differ, and `at` has a
# column of places for each turn; of what all turns share there are none, for sparse derivatives would take every place
# for possible. NULL where there is no loop.
turns_plan <- function(table, row) {
  places <- seq_len(row$period)
  at <- lapply(places, function(k) places_of_turns(table, row, k))
  stacks <- lapply(places, function(k) turn_stack(table, row, k, at[[k]]))
  windows <- lapply(places, function(k) updates_of_turns(table, row, k))
  from_stacks <- !vapply(stacks, is.null, NA)
  arrays <- !vapply(windows, is.null, NA)
  outside <- carried <- list()
  taken <- integer()
  for (k in places[!from_stacks]) {
    here <- row$from + k - 1L + (seq_len(row$turns) - 1L) * row$period
    operands <- table$operands[[here[[row$turns]]]]
    for (j in if (arrays[[k]]) 2L else seq_along(operands)) {
      ids <- table$ids[[j]][here]
      back <- table$back[[j]][here]
      if (all(ids == ids[[1L]])) {
        outside <- c(outside, operands[j])
        next
      }
      if (any(back != back[[1L]])) {
        return()
      }
      lag <- -((k - 1L - back[[1L]]) %/% row$period)
      from <- (k - 1L - back[[1L]]) %% row$period + 1L
      taken <- c(taken, from)
      if (lag > 0L) {
        carried <- c(carried, list(list(k = from, index = operands[[j]]@index, lag = lag)))
      }
    }
  }
  if (any(arrays[taken])) {
    return()
  }
  taken <- intersect(which(from_stacks), taken)
  moving <- which(!from_stacks & !vapply(at, is.null, NA))
  if (!all(vapply(moving, function(k) may_move(table, row, k), NA))) {
    return()
  }
  list(
    moving = moving, at = at[moving],
    arrays = which(arrays), windows = windows[arrays], outside = unique_values(outside),
    carried = carried_before(table, row, unique(carried)), from_stacks = which(from_stacks), stacks = stacks[taken],
    taken = taken
  )
}

# All that is carried from one turn to the next and on to later ones, each with its `start`; NULL where what stands
# for a turn before the first one is not of the same type.
carried_before <- function(table, row, carried) {
  keys <- vapply(carried, function(one) paste(one$k, one$index), "")
  chains <- lapply(split(carried, factor(keys, unique(keys))), function(same) {
    first <- same[[1L]]
    lapply(seq_len(max(vapply(same, function(one) one$lag, 0L))), function(lag) {
      at <- row$from + first$k - 1L - lag * row$period
      node <- if (at >= 1L) table$nodes[[at]]
      type <- turn_node(table, row, first$k)$types[[first$index]]
      if (is.null(node) || length(node$types) < first$index || !same_type(node$types[[first$index]], type)) {
        return(NULL)
      }
      value <- new_value(turn_node(table, row, first$k, row$turns - lag), first$index)
      list(k = first$k, index = first$index, lag = lag, value = value, start = new_value(node, first$index))
    })
  })
  chains <- do.call(c, unname(chains))
  if (!any(vapply(chains, is.null, NA))) as.list(chains)
}

# Where the slices at place `k` begin, a column for each turn, if that differs from turn to turn; else NULL.
places_of_turns <- function(table, row, k) {
  if (turn_node(table, row, k)$op == "slice") {
    first <- turn_node(table, row, k)$params$start
    starts <- vapply(turn_nodes(table, row, k), function(node) node$params$start, first)
    starts <- matrix(starts, ncol = row$turns)
    if (any(starts != starts[, 1L])) starts
  }
}

# A function that gives the stack of what the nodes at place `k` hold, where they are numbers that differ, or windows of
# one array `at` places that do; else NULL.
turn_stack <- function(table, row, k, at) {
  node <- turn_node(table, row, k)
  if (node$op == "constant") {
    data <- lapply(turn_nodes(table, row, k), function(node) node$params$data)
    if (!all(vapply(data, is_same, NA, data[[1L]]))) {
      return(function() stacked_numbers(data, node$types[[1L]]))
    }
  } else if (!is.null(at)) {
    keys <- value_keys(lapply(turn_nodes(table, row, k), function(node) node$inputs[[1L]]))
    sizes <- node$types[[1L]]@shape
    if (all(keys == keys[[1L]]) && (sum(varying_axes(at)) == 1L || all(sizes == 1L))) {
      return(function() stacked_windows(node$inputs[[1L]], at, sizes, node$params$step))
    }
  }
}

may_move <- function(table, row, k) {
  inputs <- lapply(turn_nodes(table, row, k), function(node) node$inputs[[1L]]@node)
  !identical(inputs[[1L]], inputs[[2L]])
}

varying_axes <- function(starts) apply(starts != starts[, 1L], 1L, any)

stacked_numbers <- function(data, type) {
  one <- prod(type@shape) == 1L || length(data[[1L]]) == 1L
  shape <- if (one) length(data) else c(length(data), type@shape)
  all <- if (one) do.call(c, data) else array(t(matrix(do.call(c, data), ncol = length(data))), shape)
  stack <- constant(all, type@dtype, shape, "data", rounded = TRUE, na = TRUE)
  if (one) broadcast(stack, c(length(data), type@shape), 1L) else stack
}

# Windows of `x` of the given sizes, one for each column of `starts`, as the rows of a stack. They differ along one
# axis, or are single elements.
stacked_windows <- function(x, starts, sizes, step) {
  count <- ncol(starts)
  varying <- which(varying_axes(starts))
  if (length(varying) > 1L) {
    at <- row_places(x@shape, starts)
    return(reshaped(taken(reshaped(x, as.integer(prod(x@shape))), at, 1L), c(count, sizes)))
  }
  from <- starts[, 1L]
  to <- from + (sizes - 1L) * step
  from[[varying]] <- 1L
  to[[varying]] <- x@shape[[varying]]
  steps <- replace(step, varying, 1L)
  within <- (seq_len(sizes[[varying]]) - 1L) * step[[varying]]
  at <- as.vector(outer(within, starts[varying, ], `+`))
  found <- taken(sliced(x, as.integer(from), as.integer(to), as.integer(steps)), at, varying)
  rest <- sizes[-varying]
  order <- c(varying, seq_along(sizes)[-varying])
  found <- reshaped(transposed(found, order), c(count, sizes[[varying]], rest))
  # The axis of the windows' own elements goes back to its place.
  transposed(found, c(1L, append(seq_along(rest) + 2L, 2L, varying - 1L)))
}

# The places by rows, from 1 on, of elements whose positions are the columns of a matrix
row_places <- function(shape, positions) {
  places(shape, lapply(seq_along(shape), function(axis) positions[axis, ] - 1L))
}

# Where the nodes at place `k` put elements into an array, see places_together(), if they are updates at known places,
# each of what the one before it gave and which nobody else in the row uses; else NULL.
updates_of_turns <- function(table, row, k) {
  node <- turn_node(table, row, k)
  if (node$op != "dynamic_update_slice") {
    return()
  }
  at <- row$from + k - 1L + (seq_len(row$turns) - 1L) * row$period
  if (any(table$back[[1L]][at[-1L]] != row$period)) {
    return()
  }
  within <- seq.int(row$from, length.out = row$turns * row$period)
  uses <- sum(vapply(table$ids, function(ids) sum(ids[within] %in% node_ids(table$nodes[at])), 0))
  if (uses == row$turns - 1L) places_together(turn_nodes(table, row, k))
}

# Where updates lie: `from`, the first one's place, if each lies behind the one before it along `axis`; or `at`, the
# places of single elements by rows. NULL for others, and where one lies on another.
places_together <- function(nodes) {
  windows <- lapply(nodes, known_window)
  if (any(vapply(windows, is.null, NA))) {
    return()
  }
  sizes <- nodes[[1L]]$inputs[[2L]]@shape
  shape <- nodes[[1L]]$types[[1L]]@shape
  from <- matrix(vapply(windows, function(window) window$from, integer(length(shape))), ncol = length(windows))
  varying <- which(varying_axes(from))
  along <- if (length(varying) == 1L) unique(diff(from[varying, ]))
  if (length(along) == 1L && sizes[[varying]] == along) {
    return(list(from = from[, 1L], axis = varying))
  }
  at <- row_places(shape, from)
  if (all(sizes == 1L) && !anyDuplicated(at)) list(at = at)
}

# Whether a batch would call functions of the user's again, which may read variables that have changed
calls_users <- function(table, row) {
  any(vapply(first_turn(table, row), function(node) {
    node$op == "op" && !is_batched_by_body(node$params$op) && !is_of_package(node$params$op)
  }, NA))
}

is_of_package <- function(op) {
  rules <- Filter(is.function, c(op[c("call", "batch", "vmap")], if (is.list(op$vjp)) op$vjp))
  all(vapply(rules, function(rule) is.primitive(rule) || identical(topenv(environment(rule)), topenv()), NA))
}

# The window of `x` that begins `at` a place, counted from 0
moving_window <- function(x, at, sizes, step) {
  starts <- lapply(seq_along(sizes), function(axis) reshaped(taken(at, axis, 1L), integer()))
  whole <- as.integer((sizes - 1L) * step + 1L)
  sliced(dynamic_sliced(x, starts, whole), rep(1L, length(whole)), whole, step)
}

# The array `x` with all updates, the rows of a stack, at `windows`
updated_together <- function(x, windows, stack) {
  sizes <- stack@shape[-1L]
  count <- stack@shape[[1L]]
  if (!is.null(windows$at)) {
    flat <- reshaped(x, as.integer(prod(x@shape)))
    at <- constant(windows$at - 1L, "i32", count, "at")
    return(reshaped(scattered("set", flat, at, reshaped(stack, count), 1L), x@shape))
  }
  axis <- windows$axis
  order <- append(seq_along(sizes) + 1L, 1L, axis - 1L)
  update <- reshaped(transposed(stack, order), replace(sizes, axis, sizes[[axis]] * count))
  if (identical(update@shape, x@shape)) {
    return(update)
  }
  dynamic_updated(x, update, lapply(windows$from - 1L, constant, "i32", integer(), "start"))
}

# What is used behind the row: `before`, values that stay as they are; `within`, those of the loop, by their places `k`
# in a turn, `index`, the `turn`, and `value`; and the places of `arrays`. NULL where one of these is used on its way,
# or nothing of the loop is used.
used_of_turns <- function(values, table, row, plan) {
  of_row <- node_ids(table$nodes[seq.int(row$from, length.out = row$length)])
  behind <- nodes_behind(nodes_of(values), replay_edges, of_row[[row$length]] + 1)
  taken <- unique_values(c(unlist(lapply(behind, turn_operands), recursive = FALSE), values))
  ids <- node_ids(nodes_of(taken))
  at <- match(ids, of_row) - 1L
  turn <- at %/% row$period + 1L
  k <- at %% row$period + 1L
  before <- ids < of_row[[1L]] | k %in% plan$from_stacks
  arrays <- k %in% plan$arrays
  if (any(turn[arrays] < row$turns)) {
    return()
  }
  within <- lapply(which(!is.na(at) & !before & !arrays), function(i) {
    list(k = k[[i]], index = taken[[i]]@index, turn = turn[[i]], value = taken[[i]])
  })
  if (length(within) || any(arrays)) list(before = taken[before], within = within, arrays = k[arrays])
}

# Elements that the stacks of one loop may have altogether
most_stacked <- 2^24

# The loop: values of the row, `from`, and what takes their place, `to`.
loop_of_turns <- function(table, row, plan, used, first) {
  keys_of <- function(all) vapply(all, function(one) paste(one$k, one$index), "")
  # What is carried comes with its last value at first.
  used_carried <- match(keys_of(used$within), keys_of(plan$carried))
  at_end <- !is.na(used_carried) & vapply(used$within, function(one) one$turn == row$turns, NA)
  stacked <- used$within[!at_end]
  stacked <- stacked[!duplicated(keys_of(stacked))]
  results <- c(
    lapply(stacked, function(one) new_value(turn_node(table, row, one$k), one$index)),
    lapply(used$arrays, function(k) turn_node(table, row, k)$inputs[[2L]])
  )
  taken <- lapply(plan$taken, function(k) new_value(turn_node(table, row, k)))
  if (sum(vapply(c(results, taken), function(value) prod(value@shape), 0)) * row$turns > most_stacked) {
    return()
  }
  moved <- lapply(plan$at, function(at) constant(t(at) - 1L, "i32", rev(dim(at)), "at"))
  stacks <- c(lapply(plan$stacks, function(stack) stack()), moved)
  carried <- carried_values(plan)
  from <- c(plan$outside, carried, taken)
  # Of each chain the first one is new, and the others are what those before them were.
  new <- vapply(plan$carried, function(one) one$lag == 1L, NA)
  fresh <- lapply(plan$carried[new], function(one) new_value(turn_node(table, row, one$k), one$index))
  moving <- node_ids(lapply(plan$moving, turn_node, table = table, row = row))
  body <- function(carry, x) {
    at <- beyond(x, length(taken))
    window <- function(node, now) {
      k <- match(node$id, moving)
      if (!is.na(k)) list(moving_window(now(node$inputs[[1L]]), at[[k]], node$types[[1L]]@shape, node$params$step))
    }
    now <- replay(c(fresh, results), from, c(plan$outside, carry, x[seq_along(taken)]), first, other = window)
    carry[!new] <- carry[which(!new) - 1L]
    carry[new] <- now[seq_along(fresh)]
    list(carry = carry, ys = beyond(now, length(fresh)))
  }
  # Turns that take nothing of one another are computed side by side, where all that is in them has batches.
  found <- if (!length(carried) && length(stacks) && !calls_users(table, row)) {
    tryCatch(
      {
        batch <- batch_leaves(function(x) body(list(), x)$ys, stacks, rep(TRUE, length(stacks)), row$turns)
        all_in_front(batch$values, batch$mapped, row$turns)
      },
      error = function(e) NULL
    )
  }
  if (is.null(found)) found <- scan_node(body, lapply(plan$carried, function(one) one$start), stacks, row$turns)
  ys <- beyond(found, length(carried))
  used_stacked <- match(keys_of(used$within), keys_of(stacked))
  to <- lapply(seq_along(used$within), function(i) {
    if (at_end[[i]]) found[[used_carried[[i]]]] else row_of(ys[[used_stacked[[i]]]], used$within[[i]]$turn)
  })
  arrays <- Map(function(k, stack) {
    windows <- plan$windows[[match(k, plan$arrays)]]
    updated_together(turn_node(table, row, k, 1L)$inputs[[1L]], windows, stack)
  }, used$arrays, beyond(ys, length(stacked)))
  list(
    from = c(
      lapply(used$within, function(one) one$value), lapply(used$arrays, function(k) new_value(turn_node(table, row, k)))
    ),
    to = c(to, arrays)
  )
}
