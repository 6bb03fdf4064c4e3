# Loops of R's whose turns differ, as where R's `if` leaves out what an observation that is missing has no part in, or
# does something else for one that is censored. While a program is traced its loops note where each turn begins
# (note_turn(), trace-graph.R). Turns with the same nodes, each operand the same node of the turn or something from
# before it, are of one kind; a row of turns of a few kinds becomes a loop of the program with a branch for each kind.
# What turns take of turns before them is carried: of each such variable a kind gives a new value, or passes on what it
# got. jit-loop-case-body.R writes the loop.

# Rows have so many turns at least, of no more than so many kinds, and are so many times as long as a turn of each kind.
# What turns take of values from outside tells kinds apart if it is one of up to `most_shared`.
# What stays of a graph is at most half of what stays with loops for rows of equal turns, which is `least_left` or more.
least_differing <- 12L
most_kinds <- 8L
most_shared <- 3L
least_left <- 64
times_as_long <- 4

# In which turn each of the nodes is, 0 before the first one; NULL if there are not enough.
noted_turns <- function(nodes, first) {
  marks <- unique(trace_state$turns[trace_state$turns >= first - 1])
  if (length(marks) >= least_differing) findInterval(node_ids(nodes), marks + 1)
}

# `values` by a graph with loops in place of rows of turns that differ; NULL where there is none, or where more than
# half of what `left` tells would stay.
differing_as_loops <- function(values, table, turns, left, first) {
  if (left < least_left) {
    return()
  }
  rows <- rows_of_differing(table, turns)
  gained <- vapply(rows, function(row) sum(row$lengths) - length(nodes_of_kinds(table, row)), 0)
  if (!length(rows) || length(table$nodes) - sum(gained) > left / 2) {
    return()
  }
  found <- NULL
  # From the last row to the first: what is before a row stays as the table has it.
  for (row in rev(rows)) {
    now <- if (is.null(found)) values else found
    plan <- differing_plan(table, row)
    used <- if (!is.null(plan)) used_of_differing(now, table, row, plan)
    loop <- if (!is.null(used)) loop_of_differing(table, row, plan, used, first)
    if (!is.null(loop)) found <- replay(now, c(loop$from, used$before), c(loop$to, used$before), first)
  }
  found
}

# The nodes of one turn of each kind
nodes_of_kinds <- function(table, row) {
  turns <- which(!duplicated(row$kinds))
  table$nodes[sequence(row$lengths[turns], row$starts[turns])]
}

# Rows of turns that may be in loops, in order: where the first node of each turn is (`starts`), how many it has
# (`lengths`), and of which kind it is (`kinds`, from 1 on).
rows_of_differing <- function(table, turns) {
  begins <- which(diff(c(0L, turns)) > 0L)
  if (length(begins) < least_differing) {
    return(list())
  }
  lengths <- diff(c(begins, length(turns) + 1L))
  whole <- vapply(split(table$kinds, turns)[as.character(turns[begins])], function(kinds) all(kinds > 0L), NA)
  stretches <- split(which(whole), cumsum(!whole)[whole])
  rows <- lapply(stretches, function(at) rows_in_stretch(table, begins[at], lengths[at]))
  Filter(function(row) {
    nodes <- nodes_of_kinds(table, row)
    length <- sum(row$lengths)
    length >= times_as_long * length(nodes) && (length >= least_of_large || may_be_few(nodes))
  }, unlist(unname(rows), recursive = FALSE))
}

# Rows among the turns that begin at `starts`. Where no kind of turn that was there comes again another loop begins, or
# what a loop begins and ends with. Of turns of too many kinds there are rows between those that have no equal.
rows_in_stretch <- function(table, starts, lengths) {
  if (length(starts) < least_differing) {
    return(list())
  }
  kinds <- kinds_of_turns(table, starts, lengths)
  last <- match(seq_len(max(kinds)), rev(kinds))
  ends <- cummax(length(kinds) + 1L - last[kinds]) == seq_along(kinds)
  pieces <- split(seq_along(kinds), cumsum(c(FALSE, ends[-length(ends)])))
  if (length(pieces) == 1L && max(kinds) <= most_kinds) {
    return(list(list(starts = starts, lengths = lengths, kinds = kinds)))
  }
  if (length(pieces) == 1L) {
    often <- which(tabulate(kinds)[kinds] > 1L)
    pieces <- split(often, cumsum(c(TRUE, diff(often) > 1L)))
    if (length(pieces) == 1L) {
      return(list())
    }
  }
  unlist(unname(lapply(pieces, function(at) rows_in_stretch(table, starts[at], lengths[at]))), recursive = FALSE)
}

# Of which kind turns are. Operands from before the turn may be any, but where they are never a result of the row, and
# one of a few values, the same ones.
kinds_of_turns <- function(table, starts, lengths) {
  at <- sequence(lengths, starts)
  turn <- rep(seq_along(starts), lengths)
  place <- sequence(lengths)
  within <- table$kinds[at]
  for (j in seq_along(table$ids)) {
    back <- table$back[[j]][at]
    inner <- back > 0L & back < place
    # 0 and 1 stand for no operand and for one from before the turn.
    within <- numbered_pairs(within, ifelse(inner, back + 1, table$ids[[j]][at] > 0))
    within <- numbered_pairs(within, ifelse(inner, table$indices[[j]][at], 0))
  }
  kinds <- numbered_rows(within, lengths)
  position <- numbered_pairs(kinds[turn], place)
  first <- node_ids(table$nodes[starts[[1L]]])
  shared <- within
  for (j in seq_along(table$ids)) {
    ids <- table$ids[[j]][at]
    values <- numbered_pairs(match(ids, unique(ids)), table$indices[[j]][at])
    counts <- tabulate(position[!duplicated(numbered_pairs(position, values))], max(position))
    late <- tabulate(position[ids >= first], max(position)) > 0L
    shared <- numbered_pairs(shared, ifelse((counts > most_shared | late)[position], 0L, values))
  }
  numbered_rows(shared, lengths)
}

# What is read of turns before, or of what is outside of the row: a row for each operand of each node, with the `turn`
# and its `kind`, the node's `place` in it, the number of the operand, where its source is among all nodes (`source`; NA
# for what is older than these) and which of its results it is, its node's number `id`, and whether it is `inside` the
# row. `position` is the same for the same operand of all turns of a kind, `member` for the same result of these.
reads_of_differing <- function(table, row) {
  at <- sequence(row$lengths, row$starts)
  turn <- rep(seq_along(row$starts), row$lengths)
  place <- sequence(row$lengths)
  ids <- node_ids(table$nodes)
  reads <- do.call(rbind, lapply(seq_along(table$ids), function(j) {
    back <- table$back[[j]][at]
    here <- which(table$ids[[j]][at] > 0 & !(back > 0L & back < place))
    data.frame(
      turn = turn[here], kind = row$kinds[turn[here]], place = place[here], operand = rep(j, length(here)),
      id = table$ids[[j]][at[here]], index = table$indices[[j]][at[here]]
    )
  }))
  reads$source <- match(reads$id, ids)
  reads$inside <- !is.na(reads$source) & reads$source >= row$starts[[1L]]
  reads$position <- paste(reads$kind, reads$place, reads$operand)
  reads$writer <- ifelse(reads$inside, findInterval(reads$source, row$starts), 0L)
  writer <- pmax(reads$writer, 1L)
  members <- member_key(row$kinds[writer], reads$source - row$starts[writer] + 1L, reads$index)
  reads$member <- ifelse(reads$inside, members, "")
  reads
}

member_key <- function(kind, place, index) paste(kind, place, index)

# How the row is a loop: `slots`, what is carried, see slot_of_row(), each from place `first` of all on; and of each
# kind what differing_kind() tells. NULL where it is none.
differing_plan <- function(table, row) {
  reads <- reads_of_differing(table, row)
  carried <- reads$position %in% reads$position[reads$inside]
  reads$slot <- slots_of_reads(reads, carried)
  members <- unique(reads[reads$inside, c("member", "slot")])
  slots <- list()
  reads$carry <- integer(nrow(reads))
  for (slot in seq_len(max(0L, reads$slot))) {
    here <- reads$slot == slot
    found <- slot_of_row(table, row, reads[here, ], members$member[members$slot == slot])
    if (is.null(found)) {
      return()
    }
    found$first <- 1L + sum(lengths(lapply(slots, function(slot) slot$starts)))
    reads$carry[here] <- found$first + found$lags
    slots[[slot]] <- found
  }
  kinds <- lapply(seq_len(max(row$kinds)), function(kind) differing_kind(table, row, reads[reads$kind == kind, ], kind))
  if (!any(vapply(kinds, is.null, NA))) list(slots = slots, kinds = kinds)
}

# A number for each read of what is carried, the same where one variable is read: operands that some turns take from the
# same result have it in common. 0 for what all turns share.
slots_of_reads <- function(reads, carried) {
  slot <- ifelse(carried, match(reads$position, unique(reads$position)), 0L)
  known <- reads$inside
  repeat {
    before <- slot
    slot[known] <- stats::ave(slot[known], reads$member[known], FUN = min)
    slot[carried] <- stats::ave(slot[carried], reads$position[carried], FUN = min)
    if (identical(before, slot)) break
  }
  match(slot, sort(unique(slot[carried])), nomatch = 0L)
}

# One variable: which result of each kind gives it (`places` and `indices`, 0 for kinds that pass it on), its values
# before the row, the last one first (`starts`), and the `last` turn that gives it. `lags` says of each read how many
# values there were since the one it takes. NULL where that differs from turn to turn.
slot_of_row <- function(table, row, reads, members) {
  parts <- matrix(as.integer(unlist(strsplit(members, " "))), 3L)
  if (anyDuplicated(parts[1L, ])) {
    return()
  }
  places <- indices <- integer(max(row$kinds))
  places[parts[1L, ]] <- parts[2L, ]
  indices[parts[1L, ]] <- parts[3L, ]
  writers <- which(places[row$kinds] > 0L)
  now <- findInterval(reads$turn - 1L, writers)
  lags <- stats::ave(ifelse(reads$inside, now - match(reads$writer, writers), 0L), reads$position, FUN = max)
  wanted <- now - lags
  if (any(ifelse(reads$inside, c(0L, writers)[pmax(wanted, 0L) + 1L] != reads$writer, wanted > 0L))) {
    return()
  }
  given <- lapply(writers[!duplicated(row$kinds[writers])], function(turn) {
    kind <- row$kinds[[turn]]
    node_of_turn(table, row, turn, places[[kind]])$types[[indices[[kind]]]]
  })
  type <- given[[1L]]
  starts <- lapply(seq_len(max(lags) + 1L), function(lag) {
    here <- which(!reads$inside & wanted == 1L - lag)
    found <- unique_values(lapply(here, operand_of, table = table, row = row, reads = reads))
    if (length(found)) found else list(zero_of(type))
  })
  all <- unlist(starts, recursive = FALSE)
  if (any(lengths(starts) > 1L) || !all(vapply(c(given, all), same_type, NA, type))) {
    return()
  }
  list(places = places, indices = indices, last = max(writers), starts = all, lags = lags)
}

node_of_turn <- function(table, row, turn, place) table$nodes[[row$starts[[turn]] + place - 1L]]

operand_of <- function(i, table, row, reads) {
  table$operands[[row$starts[[reads$turn[[i]]]] + reads$place[[i]] - 1L]][[reads$operand[[i]]]]
}

# Turns of one kind: one of them whose nodes stand for all (`turn`), what it reads of variables (`carried`, which are at
# the places `carry`) and of what all share (`outside`), the nodes that differ from turn to turn, numbers and windows of
# what all share (`taken`), results from before the row that differ (`apart`), with functions that make the `stacks` of
# both, and windows of what the turns compute (`moving`, `at` the places of all turns). NULL where there is no such
# turn, or something else differs.
differing_kind <- function(table, row, reads, kind) {
  turns <- which(row$kinds == kind)
  places <- seq_len(row$lengths[[turns[[1L]]]])
  nodes_at <- function(place) lapply(turns, function(turn) node_of_turn(table, row, turn, place))
  stacks <- at <- vector("list", length(places))
  for (place in places) {
    nodes <- nodes_at(place)
    if (nodes[[1L]]$op == "constant") {
      data <- lapply(nodes, function(node) node$params$data)
      if (!all(vapply(data, is_same, NA, data[[1L]]))) {
        stacks[[place]] <- stack_of_numbers(data, nodes[[1L]]$types[[1L]])
      }
    } else if (nodes[[1L]]$op == "slice") {
      starts <- vapply(nodes, function(node) node$params$start, nodes[[1L]]$params$start)
      starts <- matrix(starts, ncol = length(turns))
      if (any(starts != starts[, 1L])) {
        shared <- any(reads$place == place & reads$carry == 0L)
        stack <- if (shared) stack_of_windows(nodes[[1L]], starts)
        # Of what all turns share no places are read within the loop: sparse derivatives would take each for possible.
        if (shared && is.null(stack)) {
          return()
        }
        if (shared) stacks[[place]] <- stack else at[[place]] <- starts
      }
    }
  }
  taken <- which(!vapply(stacks, is.null, NA))
  moving <- which(!vapply(at, is.null, NA))
  reads <- reads[!reads$place %in% taken, ]
  columns <- results_apart(table, row, reads)
  reads$carry <- ifelse(is.na(columns$number), reads$carry, -columns$number)
  turn <- clear_turn(reads, rev(turns))
  if (is.null(turn)) {
    return()
  }
  reads <- reads[reads$turn == turn, ]
  values <- lapply(seq_len(nrow(reads)), operand_of, table = table, row = row, reads = reads)
  is_carried <- reads$carry > 0L
  list(
    turn = turn, carried = values[is_carried], carry = reads$carry[is_carried], outside = values[reads$carry == 0L],
    taken = taken, apart = values[match(-seq_along(columns$values), reads$carry)],
    stacks = c(stacks[taken], lapply(columns$values, stack_of_results)), moving = moving, at = at[moving]
  )
}

# What turns of one kind take of results from before the row that are not the same ones in all: `number` tells of each
# read in which of the lists `values` these are, one value for each turn; NA of other reads.
results_apart <- function(table, row, reads) {
  keys <- paste(reads$id, reads$index)
  several <- stats::ave(match(keys, unique(keys)), reads$position, FUN = function(x) length(unique(x))) > 1L
  number <- rep(NA_integer_, nrow(reads))
  values <- list()
  known <- character()
  for (position in unique(reads$position[several & reads$carry == 0L])) {
    here <- which(reads$position == position)
    here <- here[order(reads$turn[here])]
    column <- paste(keys[here], collapse = " ")
    if (!column %in% known) {
      known <- c(known, column)
      values <- c(values, list(lapply(here, operand_of, table = table, row = row, reads = reads)))
    }
    number[here] <- match(column, known)
  }
  list(number = number, values = values)
}

# A turn in which no value is that of two variables, or of one and of something that all turns share
clear_turn <- function(reads, turns) {
  for (turn in turns) {
    here <- unique(data.frame(key = paste(reads$id, reads$index), carry = reads$carry)[reads$turn == turn, ])
    if (!anyDuplicated(here$key)) {
      return(turn)
    }
  }
}

# Functions that make a stack with a row for each of `turns`, counted among those of the kind; NA is one of another
# kind, whose row does not count. Of windows and results it is zero, so that it depends on nothing.
stack_of_numbers <- function(data, type) {
  force(data)
  force(type)
  function(turns) stacked_numbers(data[ifelse(is.na(turns), 1L, turns)], type)
}

stack_of_windows <- function(node, starts) {
  sizes <- node$types[[1L]]@shape
  if (sum(varying_axes(starts)) == 1L || all(sizes == 1L)) {
    function(turns) rows_or_zero(stacked_windows(node$inputs[[1L]], starts, sizes, node$params$step), turns)
  }
}

stack_of_results <- function(values) {
  force(values)
  function(turns) rows_or_zero(stacked_results(values), turns)
}

rows_or_zero <- function(stack, turns) {
  count <- stack@shape[[1L]]
  if (anyNA(turns)) stack <- joined(list(stack, zero_of(new_type(stack@dtype, c(1L, stack@shape[-1L])))))
  taken(stack, ifelse(is.na(turns), count + 1L, turns), 1L)
}
