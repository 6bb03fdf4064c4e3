# Writes a row of equal turns (jit-loops.R) as one loop. What numbers and windows of the turns hold becomes stacks, from
# which each turn of the loop gets its own; what a turn takes of the turns before it is carried; of what is used behind
# the row there are stacks of results. Elements that are put into an array turn by turn are put there together.

# `values` by a graph with a loop in place of the turns `row`; as they are where one cannot be written.
turns_as_loop <- function(values, table, row, first) {
  plan <- turns_plan(table, row)
  while (is.character(plan) && plan == "begin later") {
    row$from <- row$from + row$period
    row$turns <- row$turns - 1L
    row$length <- row$length - row$period
    if (row$turns < least_turns) {
      return(values)
    }
    plan <- turns_plan(table, row)
  }
  used <- if (is.list(plan)) used_of_turns(values, table, row, plan)
  found <- if (!is.null(used)) loop_of_turns(table, row, plan, used, first)
  if (is.null(found)) {
    return(values)
  }
  # What comes before the loop stays.
  replay(values, c(found$from, used$before), c(found$to, used$before), first)
}

# The node at place `k` of turn `turn`
turn_node <- function(table, row, k, turn = row$turns) table$nodes[[row$from + (turn - 1L) * row$period + k - 1L]]

turn_nodes <- function(table, row, k) lapply(seq_len(row$turns), function(turn) turn_node(table, row, k, turn))

# What becomes of the nodes of a turn, by their places: `from_stacks`, numbers and windows that differ; of these
# `taken`, which the loop takes, and `stacks`, functions that make their stacks; `sums`, arrays that get elements turn
# by turn. All others the loop computes, from these, from values `outside` that all turns share, and from what is
# `carried` from turns before: `k`, `index`, and `ago`, how many turns. A message where there is no loop.
turns_plan <- function(table, row) {
  places <- seq_len(row$period)
  stacks <- lapply(places, function(k) turn_stack(table, row, k))
  sums <- vapply(places, function(k) is_put_together(table, row, k), NA)
  own <- places[!sums & vapply(stacks, is.null, NA)]
  outside <- carried <- list()
  taken <- integer()
  for (k in c(own, places[sums])) {
    at <- row$from + k - 1L + (seq_len(row$turns) - 1L) * row$period
    operands <- table$operands[[at[[row$turns]]]]
    for (j in if (sums[[k]]) 2L else seq_along(operands)) {
      value <- operands[[j]]
      ids <- table$ids[[j]][at]
      back <- table$back[[j]][at]
      if (all(ids == ids[[1L]]) && (back[[1L]] == 0L || back[[1L]] >= k)) {
        if (back[[1L]] > 0L && at[[1L]] - back[[1L]] >= row$from) {
          return("no loop")
        }
        outside <- c(outside, list(value))
        next
      }
      if (any(back != back[[1L]]) || back[[1L]] == 0L) {
        return("no loop")
      }
      ago <- -((k - 1L - back[[1L]]) %/% row$period)
      from <- (k - 1L - back[[1L]]) %% row$period + 1L
      taken <- c(taken, from)
      if (ago > 0L) {
        carried <- c(carried, list(list(k = from, index = value@index, ago = ago, value = value)))
      }
    }
  }
  if (any(sums[taken])) {
    return("no loop")
  }
  carried <- carried[!duplicated(lapply(carried, `[`, c("k", "index", "ago")))]
  starts <- carried_before(table, row, carried)
  if (is.null(starts)) {
    return("begin later")
  }
  from_stacks <- !vapply(stacks, is.null, NA)
  list(
    sums = places[sums], outside = unique_values(outside), carried = starts, from_stacks = which(from_stacks),
    stacks = stacks[intersect(which(from_stacks), taken)], taken = intersect(which(from_stacks), taken)
  )
}

# All that is carried from one turn to the next and on to later ones, each with its `start`; NULL where what stands
# for a turn before the first one is not of the same type.
carried_before <- function(table, row, carried) {
  keys <- vapply(carried, function(one) paste(one$k, one$index), "")
  chains <- lapply(split(carried, factor(keys, unique(keys))), function(same) {
    first <- same[[1L]]
    lapply(seq_len(max(vapply(same, function(one) one$ago, 0L))), function(ago) {
      at <- row$from + first$k - 1L - ago * row$period
      node <- if (at >= 1L) table$nodes[[at]]
      type <- turn_node(table, row, first$k)$types[[first$index]]
      if (is.null(node) || length(node$types) < first$index || !same_type(node$types[[first$index]], type)) {
        return(NULL)
      }
      value <- new_value(turn_node(table, row, first$k, row$turns - ago), first$index)
      list(k = first$k, index = first$index, ago = ago, value = value, start = new_value(node, first$index))
    })
  })
  chains <- do.call(c, unname(chains))
  if (!any(vapply(chains, is.null, NA))) as.list(chains)
}

# A function that gives the stack of what the nodes at place `k` hold, where they are numbers or windows that differ;
# else NULL.
turn_stack <- function(table, row, k) {
  node <- turn_node(table, row, k)
  if (node$op == "constant") {
    data <- lapply(turn_nodes(table, row, k), function(node) node$params$data)
    if (!all(vapply(data, is_same, NA, data[[1L]]))) {
      return(function() stacked_numbers(data, node$types[[1L]]))
    }
  } else if (node$op == "slice") {
    starts <- vapply(turn_nodes(table, row, k), function(node) node$params$start, node$params$start)
    starts <- matrix(starts, ncol = row$turns)
    if (any(starts != starts[, 1L])) {
      keys <- vapply(turn_nodes(table, row, k), function(node) value_key(node$inputs[[1L]]), "")
      sizes <- node$types[[1L]]@shape
      return(function() {
        if (all(keys == keys[[1L]])) stacked_windows(node$inputs[[1L]], starts, sizes, node$params$step)
      })
    }
  }
}

stacked_numbers <- function(data, type) {
  one <- prod(type@shape) == 1L || length(data[[1L]]) == 1L
  shape <- if (one) length(data) else c(length(data), type@shape)
  all <- if (one) do.call(c, data) else array(t(matrix(do.call(c, data), ncol = length(data))), shape)
  stack <- constant(all, type@dtype, shape, "data", rounded = TRUE, na = TRUE)
  if (one) broadcast(stack, c(length(data), type@shape), 1L) else stack
}

# Windows of `x` of the given sizes, one for each column of `starts`, as the rows of a stack; NULL for windows that
# differ along several axes, but for single elements.
stacked_windows <- function(x, starts, sizes, step) {
  count <- ncol(starts)
  varying <- which(apply(starts != starts[, 1L], 1L, any))
  if (length(varying) > 1L) {
    if (any(sizes != 1L)) {
      return()
    }
    strides <- rev(cumprod(c(1, rev(x@shape))))[-1L]
    at <- colSums((starts - 1L) * strides)
    return(reshaped(picked(reshaped(x, as.integer(prod(x@shape))), at, 1L), c(count, sizes)))
  }
  from <- starts[, 1L]
  to <- from + (sizes - 1L) * step
  from[[varying]] <- 1L
  to[[varying]] <- x@shape[[varying]]
  steps <- replace(step, varying, 1L)
  within <- (seq_len(sizes[[varying]]) - 1L) * step[[varying]]
  at <- as.vector(outer(within, starts[varying, ] - 1L, `+`))
  found <- picked(sliced(x, as.integer(from), as.integer(to), as.integer(steps)), at, varying)
  rest <- sizes[-varying]
  order <- c(varying, seq_along(sizes)[-varying])
  found <- reshaped(transposed(found, order), c(count, sizes[[varying]], rest))
  # The axis of the windows' own elements goes back to its place.
  transposed(found, c(1L, append(seq_along(rest) + 2L, 2L, varying - 1L)))
}

# The elements at positions along an axis, which count from 0
picked <- function(x, at, axis) {
  step <- unique(diff(at))
  if (length(step) == 1L && step > 0) {
    start <- rep(1L, length(x@shape))
    end <- x@shape
    start[[axis]] <- as.integer(at[[1L]] + 1)
    end[[axis]] <- as.integer(at[[length(at)]] + 1)
    return(sliced(x, start, end, replace(start * 0L + 1L, axis, as.integer(step))))
  }
  gathered(x, constant(as.integer(at), "i32", length(at), "at"), axis)
}

# Whether the nodes at place `k` are updates at known places, each of what the one before it gave and which nobody else
# in the row uses.
is_put_together <- function(table, row, k) {
  node <- turn_node(table, row, k)
  if (node$op != "dynamic_update_slice") {
    return(FALSE)
  }
  at <- row$from + k - 1L + (seq_len(row$turns) - 1L) * row$period
  if (any(table$back[[1L]][at[-1L]] != row$period)) {
    return(FALSE)
  }
  within <- seq.int(row$from, length.out = row$turns * row$period)
  uses <- sum(vapply(table$ids, function(ids) sum(ids[within] %in% node_ids(table$nodes[at])), 0))
  uses == row$turns - 1L && !is.null(places_together(turn_nodes(table, row, k)))
}

# Where updates lie: `from`, the first one's place, if each lies behind the one before it along one axis; or `at`, the
# places of single elements by rows, counted from 0. NULL for others, and where one lies on another.
places_together <- function(nodes) {
  windows <- lapply(nodes, known_window)
  if (any(vapply(windows, is.null, NA))) {
    return()
  }
  sizes <- nodes[[1L]]$inputs[[2L]]@shape
  shape <- nodes[[1L]]$types[[1L]]@shape
  from <- matrix(vapply(windows, function(window) window$from, integer(length(shape))), ncol = length(windows))
  varying <- which(apply(from != from[, 1L], 1L, any))
  along <- if (length(varying) == 1L) unique(diff(from[varying, ]))
  if (length(along) == 1L && sizes[[varying]] == along) {
    return(list(from = from[, 1L], axis = varying))
  }
  strides <- rev(cumprod(c(1, rev(shape))))[-1L]
  at <- colSums((from - 1L) * strides)
  if (all(sizes == 1L) && !anyDuplicated(at)) list(at = at)
}

# The array `x` with the updates of `nodes`, which are the rows of a stack
with_rows_put <- function(x, nodes, stack) {
  places <- places_together(nodes)
  sizes <- stack@shape[-1L]
  if (!is.null(places$at)) {
    flat <- reshaped(x, as.integer(prod(x@shape)))
    at <- constant(as.integer(places$at), "i32", length(places$at), "at")
    return(reshaped(scattered("set", flat, at, reshaped(stack, length(places$at)), 1L), x@shape))
  }
  axis <- places$axis
  order <- append(seq_along(sizes) + 1L, 1L, axis - 1L)
  update <- reshaped(transposed(stack, order), replace(sizes, axis, sizes[[axis]] * stack@shape[[1L]]))
  if (identical(update@shape, x@shape)) {
    return(update)
  }
  dynamic_updated(x, update, lapply(places$from - 1L, constant, "i32", integer(), "start"))
}

# What is used behind the row: `before`, values that stay as they are; of the loop's the places `k` in a turn, `index`,
# the `turn`, and `value`; and the places of arrays that are put together. NULL where one of these is used on its way, or the loop would give
# nothing.
used_of_turns <- function(values, table, row, plan) {
  of_row <- node_ids(table$nodes[seq.int(row$from, length.out = row$length)])
  behind <- nodes_behind(nodes_of(values), replay_edges, of_row[[row$length]] + 1)
  taken <- unique_values(c(unlist(lapply(behind, turn_operands), recursive = FALSE), values))
  ids <- node_ids(nodes_of(taken))
  at <- match(ids, of_row) - 1L
  turn <- at %/% row$period + 1L
  k <- at %% row$period + 1L
  before <- ids < of_row[[1L]] | k %in% plan$from_stacks
  sums <- k %in% plan$sums
  if (any(turn[sums] < row$turns)) {
    return()
  }
  within <- lapply(which(!is.na(at) & !before & !sums), function(i) {
    list(k = k[[i]], index = taken[[i]]@index, turn = turn[[i]], value = taken[[i]])
  })
  if (length(within) || any(sums)) list(before = taken[before], within = within, sums = k[sums])
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
    lapply(used$sums, function(k) turn_node(table, row, k)$inputs[[2L]])
  )
  taken <- lapply(plan$taken, function(k) new_value(turn_node(table, row, k)))
  if (sum(vapply(c(results, taken), function(value) prod(value@shape), 0)) * row$turns > most_stacked) {
    return()
  }
  stacks <- lapply(plan$stacks, function(stack) stack())
  if (any(vapply(stacks, is.null, NA))) {
    return()
  }
  carried <- lapply(plan$carried, function(one) one$value)
  from <- c(plan$outside, carried, taken)
  fresh <- lapply(plan$carried, function(one) {
    new_value(turn_node(table, row, one$k), one$index)
  })
  earlier <- vapply(plan$carried, function(one) one$ago > 1L, NA)
  body <- function(carry, x) {
    now <- replay(c(fresh[!earlier], results), from, c(plan$outside, carry, x), first)
    next_carry <- carry
    next_carry[!earlier] <- now[seq_len(sum(!earlier))]
    next_carry[earlier] <- carry[which(earlier) - 1L]
    list(carry = next_carry, ys = beyond(now, sum(!earlier)))
  }
  found <- if (length(carried) || !length(stacks)) {
    scan_node(body, lapply(plan$carried, function(one) one$start), stacks, row$turns)
  } else {
    # Turns that take nothing of one another are computed side by side.
    batch <- batch_leaves(function(x) body(list(), x)$ys, stacks, rep(TRUE, length(stacks)), row$turns)
    all_in_front(batch$values, batch$mapped, row$turns)
  }
  ys <- beyond(found, length(carried))
  used_stacked <- match(keys_of(used$within), keys_of(stacked))
  to <- lapply(seq_along(used$within), function(i) {
    if (at_end[[i]]) found[[used_carried[[i]]]] else row_of(ys[[used_stacked[[i]]]], used$within[[i]]$turn)
  })
  arrays <- Map(function(k, stack) {
    with_rows_put(turn_node(table, row, k, 1L)$inputs[[1L]], turn_nodes(table, row, k), stack)
  }, used$sums, beyond(ys, length(stacked)))
  list(
    from = c(
      lapply(used$within, function(one) one$value), lapply(used$sums, function(k) new_value(turn_node(table, row, k)))
    ),
    to = c(to, arrays)
  )
}
