# What a row of equal turns (jit-loops.R) is as a loop, which jit-loop-turns.R writes.

# What becomes of the nodes of a turn, by their places: `from_stacks`, numbers and windows that differ; of these
# `taken`, which the loop takes, and `stacks`, functions that make their stacks; `arrays`, which get elements turn by
# turn, and where these lie, `windows`; `alike`, which are the same in all turns and computed before the loop. All
# others the loop computes, from these, from values `outside` that all turns share (those of the last turn, and in
# `outside_first` what they are in the first one), and from what is `carried` from turns before: `k`, `index`, and
# `lag`, how many turns; NULL where that needs another first turn. Of these `moving` are windows of what the turns
# compute, at places that differ, and `at` has a column of places for each turn; of what all turns share there are none,
# for sparse derivatives would take every place for possible. NULL where there is no loop.
turns_plan <- function(table, row) {
  places <- seq_len(row$period)
  at <- lapply(places, function(k) places_of_turns(table, row, k))
  stacks <- lapply(places, function(k) turn_stack(table, row, k, at[[k]]))
  windows <- lapply(places, function(k) updates_of_turns(table, row, k))
  from_stacks <- !vapply(stacks, is.null, NA)
  arrays <- !vapply(windows, is.null, NA)
  of_apart <- lapply(places, function(k) operands_apart(table, row, k))
  alike <- alike_in_turns(table, row, from_stacks | arrays | !vapply(at, is.null, NA), of_apart)
  outside <- outside_first <- carried <- apart <- list()
  taken <- integer()
  for (k in places[!from_stacks & !alike]) {
    here <- places_in_row(row, k)
    operands <- table$operands[[here[[row$turns]]]]
    for (j in if (arrays[[k]]) 2L else seq_along(operands)) {
      if (of_apart[[k]][[j]]) {
        values <- lapply(here, function(at) table$operands[[at]][[j]])
        if (!all(vapply(values, same_type, NA, values[[1L]]))) {
          return()
        }
        apart <- c(apart, list(values))
        next
      }
      back <- table$back[[j]][here]
      from <- source_of(row, k, back[[1L]])
      shared <- is_shared(table, here, j)
      if (shared || alike[[from$k]]) {
        value <- operands[[j]]
        outside <- c(outside, value)
        if (!shared) value <- new_value(turn_node(table, row, from$k, 1L), value@index)
        outside_first <- c(outside_first, value)
        next
      }
      if (any(back != back[[1L]])) {
        return()
      }
      taken <- c(taken, from$k)
      if (from$lag > 0L) {
        carried <- c(carried, list(list(k = from$k, index = operands[[j]]@index, lag = from$lag)))
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
  once <- !duplicated(value_keys(outside))
  list(
    moving = moving, at = at[moving],
    arrays = which(arrays), windows = windows[arrays], alike = which(alike),
    outside = outside[once], outside_first = outside_first[once], apart = unique_columns(apart),
    carried = carried_before(table, row, unique(carried)), from_stacks = which(from_stacks), stacks = stacks[taken],
    taken = taken
  )
}

# Which operands of the nodes at place `k` are results from before the row, not the same ones in all turns
operands_apart <- function(table, row, k) {
  here <- places_in_row(row, k)
  vapply(seq_along(table$operands[[here[[1L]]]]), function(j) {
    back <- table$back[[j]][here]
    all(back == 0L | here - back < row$from) && !is_shared(table, here, j)
  }, NA)
}

# Of lists of values, one for each turn, those that differ
unique_columns <- function(lists) {
  keys <- vapply(lists, function(values) paste(value_keys(values), collapse = " "), "")
  lists[!duplicated(keys)]
}

# Where the nodes at place `k` of each turn are
places_in_row <- function(row, k) row$from + k - 1L + (seq_len(row$turns) - 1L) * row$period

# Whether operand `j` of the nodes at `here` is the same value in all turns
is_shared <- function(table, here, j) {
  same <- function(of) all(of[[j]][here] == of[[j]][[here[[1L]]]])
  same(table$ids) && same(table$indices)
}

# What is not worth to be kept from before a loop: without it the loop's body has no large array.
quickly_made <- c("constant", "iota", "broadcast_in_dim")

# At which places the nodes compute the same in all turns, of values that all turns share and that are no numbers: once
# will do. Not those that `differ`, and not parts of what an op's call gave, which may have no derivatives; what the
# first turn takes of what is before the row must be the same, too. `of_apart` tells of each place which operands are
# results from before the row that differ.
alike_in_turns <- function(table, row, differ, of_apart) {
  differ <- differ | vapply(of_apart, any, NA)
  places <- seq_len(row$period)
  made <- vapply(places, function(k) turn_node(table, row, k)$op %in% quickly_made, NA)
  varies <- rep(FALSE, row$period)
  earlier <- integer(row$period)
  sources <- lapply(places, function(k) {
    here <- places_in_row(row, k)
    operands <- table$operands[[here[[1L]]]]
    shared <- of_apart[[k]] | vapply(seq_along(operands), function(j) is_shared(table, here, j), NA)
    varies[[k]] <<- any(vapply(operands[shared], function(value) value@node$op != "constant", NA))
    lapply(which(!shared), function(j) source_of(row, k, table$back[[j]][[here[[1L]]]]))
  })
  for (from in do.call(c, sources)) earlier[[from$k]] <- max(earlier[[from$k]], from$lag)
  found <- alike_before(table, row, places[!differ], sources, max(0L, earlier[!differ]))
  fixed <- !differ
  repeat {
    before <- list(fixed, varies)
    for (k in places[fixed]) {
      fixed[[k]] <- all(vapply(sources[[k]], function(from) fixed[[from$k]] && found[[from$k]] >= from$lag, NA))
      varies[[k]] <- varies[[k]] || any(vapply(sources[[k]], function(from) varies[[from$k]], NA))
    }
    if (identical(before, list(fixed, varies))) break
  }
  plain <- table$plain[row$from + (row$turns - 1L) * row$period + places - 1L]
  fixed & varies & plain & !made & found >= earlier
}

# The place of the node that is `back` nodes before that at place `k`, and in which turn before
source_of <- function(row, k, back) {
  list(k = (k - 1L - back) %% row$period + 1L, lag = -((k - 1L - back) %/% row$period))
}

# In how many turns before the row, at most `most`, each of the nodes at `places` computes what it does in the first one
alike_before <- function(table, row, places, sources, most) {
  found <- integer(row$period)
  for (lag in seq_len(most)) {
    for (k in places[found[places] == lag - 1L]) {
      same <- all(vapply(sources[[k]], function(from) found[[from$k]] >= from$lag + lag, NA))
      if (same && is_alike(table, row, k, lag)) found[[k]] <- lag
    }
  }
  found
}

# Whether the node at place `k`, `lag` turns before the first one, has the same operands as in the first one, those that
# turns compute left aside
is_alike <- function(table, row, k, lag) {
  then <- row$from + k - 1L
  at <- then - lag * row$period
  if (at < 1L || table$kinds[[at]] != table$kinds[[then]]) {
    return(FALSE)
  }
  node <- table$nodes[[at]]
  other <- table$nodes[[then]]
  if ((node$op == "slice" && !identical(node$params$start, other$params$start)) ||
    (node$op == "constant" && !is_same(node$params$data, other$params$data))) {
    return(FALSE)
  }
  same_operands(table, at, then)
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

# Where the nodes at place `k` put elements into an array, see places_together(), if they are updates at known places,
# each of what the one before it gave and which nobody else in the row uses; else NULL.
updates_of_turns <- function(table, row, k) {
  node <- turn_node(table, row, k)
  if (node$op != "dynamic_update_slice") {
    return()
  }
  at <- places_in_row(row, k)
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
