# Loops of R's own. A `for` loop of R's writes its turns into the graph one after the other: a model of a few hundred
# observations becomes many thousand nodes, and what compiles them takes time that grows faster than their number. Here
# rows of equal turns are found in a graph and written once, as a loop of the program (prim-scan.R), whose derivatives
# are such loops again. Turns are equal if they have the same nodes in the same order, and each operand is in all of
# them the same value, or that of the node as many places before; numbers, and windows of what comes from outside, may
# differ from turn to turn. jit-loop-turns.R writes the loop.

# Rows of fewer nodes or turns stay as they are, and so do graphs with fewer nodes. Gradients (2 cores, jaxlib 0.10.2)
# of 8 turns with 60 nodes, a Kalman filter, are compiled in 0.3 s as a loop and in 0.9 s turn by turn, and take the
# same time; those of 500 turns with 9 nodes, GARCH(1, 1), in 0.2 s and 8.5 s, and take 0.1 ms and 3.9 ms.
least_repeated <- 64L
least_turns <- 6L

# Short turns, such as the steps of a polynomial, and turns with large arrays are quick where XLA puts their operations
# together: with these a row has so many nodes at least, unless they call solvers.
short_turn <- 5L
least_of_short <- 512L
least_of_large <- 2048L

# Nodes that take more values than that are no part of a row.
most_operands <- 24L

# How many ops before it one is compared with
most_ops <- 64L

# Rows of one graph that become loops
most_rows <- 16L

# How often a node of one kind comes within a turn for which its distances tell how long turns are, and how many lengths
# are tried
most_in_turn <- 8L
most_periods <- 64L

# The same values by a graph with loops for rows of equal turns. Nodes before the one with the number `first` stay.
hooks$with_loops <- function(values, first) {
  later <- later_behind(values, first)
  if (length(later)) lift_differing(later)
  all_solved(with_rows(values, first, length(later) > 0L), first)
}

# `calls` tells whether there are nodes `later` (jit-later.R).
with_rows <- function(values, first, calls) {
  if (trace_state$node_count - first < least_repeated || !is.null(trace_state$mesh) || has_effects()) {
    return(values)
  }
  nodes <- nodes_behind(nodes_of(values), replay_edges, first)
  turns <- noted_turns(nodes, first)
  if (is.null(turns) && !has_equal_turns(nodes, calls)) {
    return(values)
  }
  table <- turn_table(nodes)
  rows <- rows_of_turns(table, calls)
  left <- length(nodes) - sum(vapply(rows, function(row) row$length - row$period, 0))
  found <- if (!is.null(turns)) differing_as_loops(values, table, turns, left, first)
  if (is.null(found)) {
    found <- equal_as_loops(values, table, rows, first)
  } else {
    # There may be others, of equal turns.
    nodes <- nodes_behind(nodes_of(found), replay_edges, first)
    if (has_equal_turns(nodes, calls)) {
      table <- turn_table(nodes)
      found <- equal_as_loops(found, table, rows_of_turns(table, calls), first)
    }
  }
  Map(function(new, old) labelled(new, attr(old, "labels")), found, values)
}

# `values` by a graph with a loop for each of `rows`
equal_as_loops <- function(values, table, rows, first) {
  plain <- nodes_behind(nodes_of(values), function(node) node$inputs, first)
  table$plain <- node_ids(table$nodes) %in% node_ids(plain)
  # From the last row to the first: what is before a row stays as the table has it.
  for (row in rows) values <- turns_as_loop(values, table, row, first)
  values
}

# Whether the kinds of operations come again and again
has_equal_turns <- function(nodes, calls) {
  names <- vapply(nodes, function(node) node$op, "")
  length(repeated_lengths(match(names, names), calls, most = 1L)) > 0L
}

# The longest row, the longest one beside it, and so on, with the last one in the graph first
rows_of_turns <- function(table, calls) {
  rows <- list()
  periods <- repeated_lengths(table$kinds, calls)
  for (apart in c(FALSE, TRUE)) {
    while (length(rows) < most_rows && !is.null(row <- longest_turns(table, periods, apart))) {
      rows <- c(rows, list(row))
      table$kinds[seq.int(row$from, length.out = row$length)] <- 0L
    }
  }
  rows[order(-vapply(rows, function(row) row$from, 0))]
}

has_effects <- function() !length(trace_state$traces) || length(effects()) > 0L

# The nodes with side effects of the program or region that is being traced
effects <- function() {
  depth <- length(trace_state$traces)
  if (depth) trace_state$traces[[depth]]
}

# What rows are found by: of each node a number for its kind, 0 for one that is no part of a row, and its operands:
# `ids` the nodes that these are results of, `indices` the places among their results, `back` how many nodes before.
# Where a slice begins does not count. `plain` are those that are no mere part of what an op's call gave: derivatives go
# through them.
turn_table <- function(nodes) {
  kinds <- integer(length(nodes))
  known <- utils::hashtab()
  numbered <- function(key) {
    number <- utils::gethash(known, key)
    if (is.null(number)) utils::sethash(known, key, number <- utils::numhash(known) + 1L)
    number
  }
  ops <- list()
  operands <- lapply(nodes, turn_operands)
  for (i in seq_along(nodes)) {
    node <- nodes[[i]]
    if (!may_repeat(node) || length(operands[[i]]) > most_operands) {
      next
    }
    params <- node$params
    if (node$op == "op") {
      recent <- which(seq_along(ops) > length(ops) - most_ops)
      recent <- recent[vapply(ops[recent], function(one) identical(one$name, params$op$name), NA)]
      at <- recent[vapply(ops[recent], same_rules, NA, params$op)]
      if (!length(at)) ops[[at <- length(ops) + 1L]] <- params$op
      none <- function(value) 0
      params <- list(at, params$arguments, map_values(params$results, none), map_values(params$residuals, none))
    } else if (node$op == "later") {
      params <- params$solver
    } else if (node$op == "slice") {
      params <- params$step
    } else if (node$op == "constant") {
      params <- list(class(params$data), length(params$data))
    }
    types <- node$types
    kinds[[i]] <- numbered(c(list(node$op, length(types), params), lapply(types, attributes)))
  }
  flat <- unlist(operands, recursive = FALSE)
  holder <- rep(seq_along(operands), lengths(operands))
  number <- sequence(lengths(operands))
  columns <- lapply(seq_len(min(max(number, 0L), most_operands)), function(j) {
    at <- integer(length(nodes))
    at[holder[number == j]] <- which(number == j)
    at
  })
  column <- function(of) lapply(columns, function(at) c(0, of)[at + 1L])
  ids_of <- column(vapply(flat, function(value) value@node$id, 0))
  ids <- node_ids(nodes)
  back <- lapply(ids_of, function(x) {
    at <- match(x, ids, nomatch = 0L)
    ifelse(at > 0L, seq_along(x) - at, 0L)
  })
  list(
    nodes = nodes, kinds = kinds, operands = operands, ids = ids_of,
    indices = column(vapply(flat, function(value) value@index, 0)), back = back
  )
}

turn_operands <- function(node) if (node$op == "op") replay_edges(node) else node$inputs

# Nodes with regions, or with functions that may belong to one turn, are no part of a row; nor is what counts calls.
may_repeat <- function(node) {
  op <- node$op
  params <- node$params
  if (op == "op" || op == "later") {
    return(TRUE)
  }
  if (op == "parameter" || op == "linear" || (op %in% of_tokens && any_token(node$types))) {
    return(FALSE)
  }
  if (!length(params) || op == "slice") {
    return(TRUE)
  }
  for (param in params) if (is.function(param)) return(FALSE)
  !isTRUE(params$has_side_effect) && is.null(params[["region"]]) && !length(params[["regions"]]) &&
    !(op == "constant" && is.object(params$data))
}

# Whether two ops, or what belongs to them, do the same: functions of this package may be made anew for each call, with
# the same code, and the same variables as far as their code names these.
same_rules <- function(x, y, deep = 0L) {
  if (identical(x, y)) {
    return(TRUE)
  }
  if (deep > 20L) {
    return(FALSE)
  }
  if (is.list(x) && is.list(y)) {
    same <- identical(attributes(x), attributes(y)) && length(x) == length(y)
    return(same && all(vapply(seq_along(x), function(i) same_rules(x[[i]], y[[i]], deep + 1L), NA)))
  }
  if (!is.function(x) || !is.function(y) || is.primitive(x) || is.primitive(y)) {
    return(FALSE)
  }
  own <- topenv()
  from <- list(environment(x), environment(y))
  names <- setdiff(c(all.names(body(x)), unlist(lapply(formals(x), all.names))), names(formals(x)))
  if (!identical(body(x), body(y)) || !identical(formals(x), formals(y)) ||
    !all(vapply(from, function(env) identical(topenv(env), own), NA))) {
    return(FALSE)
  }
  while (!identical(from[[1L]], from[[2L]])) {
    if (any(vapply(from, identical, NA, own))) {
      return(FALSE)
    }
    there <- lapply(from, function(env) intersect(names, ls(env, all.names = TRUE, sorted = FALSE)))
    if (!setequal(there[[1L]], there[[2L]])) {
      return(FALSE)
    }
    for (name in there[[1L]]) {
      # An argument that was not given is an error.
      parts <- tryCatch(lapply(from, function(env) get(name, env)), error = function(e) NULL)
      if (is.null(parts) || !same_rules(parts[[1L]], parts[[2L]], deep + 1L)) {
        return(FALSE)
      }
    }
    names <- setdiff(names, there[[1L]])
    from <- lapply(from, parent.env)
  }
  TRUE
}

# The longest row of equal turns: where it begins (`from`), how many nodes a turn has (`period`), how many turns there
# are, and all of its nodes (`length`); NULL if none is long enough. With `apart` turns may also take any results from
# before the row, as what a loop before this one has computed.
longest_turns <- function(table, periods, apart) {
  best <- NULL
  for (period in periods) {
    now <- seq_len(length(table$kinds) - period)
    same <- table$kinds[now] == table$kinds[now + period] & table$kinds[now] > 0L
    found <- longest_stretch(same & (apart | same_operands(table, now, now + period)))
    row <- turns_from(table, found[[1L]], found[[2L]] + period, period)
    if (is.null(row) || !any(vapply(first_turn(table, row), computes, NA))) {
      next
    }
    # Several turns in one are no better.
    calls <- any(vapply(first_turn(table, row), is_later, NA))
    if (row$length < max(least_nodes(period, calls), 1.25 * best$length)) {
      next
    }
    if (row$length >= least_of_large || may_be_few(first_turn(table, row))) best <- row
  }
  best
}

# Rows of numbers and of parts of arrays alone are no work.
computes <- function(node) !node$op %in% c("constant", "slice", "reshape", "broadcast_in_dim")

# How many nodes a row has at least; of turns that call solvers any number will do.
least_nodes <- function(period, calls) {
  usual <- if (period <= short_turn) least_of_short else least_repeated
  max(if (!calls) usual, least_turns * period)
}

# The likely lengths of turns, in order, with which there are rows of the same kinds, whatever their operands are; no
# more than `most` of them, those that come most often.
repeated_lengths <- function(kinds, calls, most = most_periods) {
  if (length(kinds) < if (calls) least_turns else least_repeated) {
    return(integer())
  }
  counts <- kinds > 0L
  found <- integer()
  for (period in likely_periods(kinds)) {
    now <- seq_len(length(kinds) - period)
    same <- kinds[now] == kinds[now + period] & counts[now]
    least <- least_nodes(period, calls) - period
    if (sum(same) >= least && longest_stretch(same)[[2L]] >= least) found <- c(found, period)
    if (length(found) == most) break
  }
  sort(found)
}

# Lengths that turns may have, the most frequent first, by the distances of places where four nodes of the same kinds
# come one after the other
likely_periods <- function(kinds) {
  groups <- kinds
  for (ahead in 1:2) {
    groups <- numbered_pairs(groups, c(groups[-seq_len(ahead)], rep(0, ahead)))
  }
  places <- split(seq_along(groups), groups)
  distances <- unlist(lapply(places, function(at) {
    unlist(lapply(seq_len(min(most_in_turn, length(at) - 1L)), function(lag) diff(at, lag)))
  }))
  counts <- tabulate(as.integer(distances))
  periods <- which(counts > 0L & seq_along(counts) <= length(kinds) %/% least_turns)
  utils::head(periods[order(-counts[periods])], most_periods)
}

first_turn <- function(table, row) table$nodes[seq.int(row$from, length.out = row$period)]

# Whether a few turns with these nodes are a loop: they call a solver, or all arrays of a turn are small. One into which
# elements are put is none that the turn computes.
may_be_few <- function(nodes) {
  if (any(vapply(nodes, is_later, NA))) {
    return(TRUE)
  }
  nodes <- Filter(function(node) node$op != "dynamic_update_slice", nodes)
  types <- unlist(lapply(nodes, function(node) node$types), recursive = FALSE)
  all(vapply(types, function(type) prod(type@shape), 0) <= most_small)
}

# Where the longest stretch of TRUE begins, and its length
longest_stretch <- function(x) {
  ends <- c(0L, which(!x), length(x) + 1L)
  lengths <- ends[-1L] - ends[-length(ends)] - 1L
  at <- which.max(lengths)
  c(ends[[at]] + 1L, lengths[[at]])
}

# Whether the operands of the nodes at `now` and `then` are the same values, or as many nodes before
same_operands <- function(table, now, then) {
  same <- rep(TRUE, length(now))
  for (j in seq_along(table$ids)) same <- same & same_operand(table, now, then, j)
  same
}

same_operand <- function(table, now, then, j) {
  one <- table$ids[[j]][now] == table$ids[[j]][then]
  moved <- table$back[[j]][now] == table$back[[j]][then] & table$back[[j]][now] > 0L
  (one | moved) & table$indices[[j]][now] == table$indices[[j]][then]
}

# Whole turns within a stretch of `length` nodes from `from` on. What all turns take is computed before them, and so is
# what differs from turn to turn in another way than that it is as many nodes before.
turns_from <- function(table, from, length, period) {
  repeat {
    turns <- length %/% period
    if (turns < least_turns) {
      return()
    }
    now <- seq.int(from, length.out = (turns - 1L) * period)
    late <- 0L
    for (j in seq_along(table$ids)) {
      one <- table$ids[[j]][now] == table$ids[[j]][now + period] & table$back[[j]][now] > 0L
      late <- max(late, (now - table$back[[j]][now])[one])
      apart <- !same_operand(table, now, now + period, j)
      sources <- (now - table$back[[j]][now])[apart & table$back[[j]][now] > 0L]
      then <- (now + period - table$back[[j]][now + period])[apart & table$back[[j]][now + period] > 0L]
      late <- max(late, sources, then)
    }
    if (late < from) {
      return(list(from = from, period = period, turns = turns, length = turns * period))
    }
    length <- length - (late + 1L - from)
    from <- late + 1L
  }
}
