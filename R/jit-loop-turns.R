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
    if (!is_late && !anyDuplicated(value_keys(c(plan$outside, carried_values(plan), last_apart(plan))))) {
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
  # What comes before the loop stays, once.
  replay(values, c(found$from, used$before), c(found$to, used$before_first), first)
}

carried_values <- function(plan) lapply(plan$carried, function(one) one$value)

# What the last turn takes of results from before the row that are others in each turn
last_apart <- function(plan) lapply(plan$apart, function(values) values[[length(values)]])

# Results, one for each turn, as a stack
stacked_results <- function(values) joined(lapply(values, function(value) reshaped(value, c(1L, value@shape))))

# The node at place `k` of turn `turn`
turn_node <- function(table, row, k, turn = row$turns) table$nodes[[row$from + (turn - 1L) * row$period + k - 1L]]

turn_nodes <- function(table, row, k) lapply(seq_len(row$turns), function(turn) turn_node(table, row, k, turn))

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

# Whether a batch of these nodes would call functions of the user's again, which may read variables that have changed
calls_users <- function(nodes) {
  any(vapply(nodes, function(node) {
    node$op == "op" && !is_batched_by_body(node$params$op) && !is_of_package(node$params$op)
  }, NA))
}

is_of_package <- function(op) {
  rules <- Filter(is.function, c(op[c("call", "batch", "vmap")], if (is.list(op$vjp)) op$vjp))
  all(vapply(rules, function(rule) is.primitive(rule) || !is_of_user(rule), NA))
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

# What is used behind the row: `before`, values that stay as they are, or as `before_first`: those of the first turn,
# where they are alike in all; `within`, those of the loop, by their places `k` in a turn, `index`, the `turn`, and
# `value`; and the places of `arrays`. NULL where one of these is used on its way, or nothing of the loop is used.
used_of_turns <- function(values, table, row, plan) {
  of_row <- node_ids(table$nodes[seq.int(row$from, length.out = row$length)])
  behind <- nodes_behind(nodes_of(values), replay_edges, of_row[[row$length]] + 1)
  taken <- unique_values(c(unlist(lapply(behind, turn_operands), recursive = FALSE), values))
  ids <- node_ids(nodes_of(taken))
  at <- match(ids, of_row) - 1L
  turn <- at %/% row$period + 1L
  k <- at %% row$period + 1L
  alike <- k %in% plan$alike
  before <- ids < of_row[[1L]] | k %in% plan$from_stacks | alike
  arrays <- k %in% plan$arrays
  if (any(turn[arrays] < row$turns)) {
    return()
  }
  within <- lapply(which(!is.na(at) & !before & !arrays), function(i) {
    list(k = k[[i]], index = taken[[i]]@index, turn = turn[[i]], value = taken[[i]])
  })
  if (length(within) || any(arrays)) {
    once <- taken
    once[alike] <- lapply(which(alike), function(i) new_value(turn_node(table, row, k[[i]], 1L), taken[[i]]@index))
    list(before = taken[before], before_first = once[before], within = within, arrays = k[arrays])
  }
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
  taken <- c(lapply(plan$taken, function(k) new_value(turn_node(table, row, k))), last_apart(plan))
  if (sum(vapply(c(results, taken), function(value) prod(value@shape), 0)) * row$turns > most_stacked) {
    return()
  }
  moved <- lapply(plan$at, function(at) constant(t(at) - 1L, "i32", rev(dim(at)), "at"))
  stacks <- c(lapply(plan$stacks, function(stack) stack()), lapply(plan$apart, stacked_results), moved)
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
    now <- replay(c(fresh, results), from, c(plan$outside_first, carry, x[seq_along(taken)]), first, other = window)
    carry[!new] <- carry[which(!new) - 1L]
    carry[new] <- now[seq_along(fresh)]
    list(carry = carry, ys = beyond(now, length(fresh)))
  }
  # Turns that take nothing of one another are computed side by side, where all that is in them has batches.
  found <- if (!length(carried) && length(stacks) && !calls_users(first_turn(table, row))) {
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

# Numbers for pairs of numbers, x from 1 and y from 0 on: the same ones for equal pairs, from 1 on by where each comes
# first
numbered_pairs <- function(x, y) {
  pairs <- x * (max(y) + 1) + y
  match(pairs, unique(pairs))
}

# The same for rows of numbers, one after the other in `x`, that may differ in length
numbered_rows <- function(x, lengths) {
  before <- cumsum(lengths) - lengths
  found <- match(lengths, unique(lengths))
  for (place in seq_len(max(lengths))) {
    there <- which(lengths >= place)
    found[there] <- numbered_pairs(found[there], x[before[there] + place])
  }
  numbered_pairs(found, lengths)
}
