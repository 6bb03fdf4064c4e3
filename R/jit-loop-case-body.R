# Writes a row of turns that differ (jit-loop-cases.R) as one loop with a branch for each kind of turn.

# What is used behind the row: `before`, values that stay as they are; `within`, those of the loop, each with its
# `turn`, its `key`, which is the same for the same result of all turns of a kind, and the place among all that is
# carried where it is at the end (`carry`), 0 for none. NULL if nothing of the loop is used.
used_of_differing <- function(values, table, row, plan) {
  ids <- node_ids(table$nodes)
  ends <- row$starts[[length(row$starts)]] + row$lengths[[length(row$lengths)]]
  of_row <- ids[seq.int(row$starts[[1L]], ends - 1L)]
  behind <- nodes_behind(nodes_of(values), replay_edges, of_row[[length(of_row)]] + 1)
  taken <- unique_values(c(unlist(lapply(behind, turn_operands), recursive = FALSE), values))
  at <- match(node_ids(nodes_of(taken)), of_row)
  within <- lapply(which(!is.na(at)), function(i) {
    source <- row$starts[[1L]] + at[[i]] - 1L
    turn <- findInterval(source, row$starts)
    kind <- row$kinds[[turn]]
    place <- source - row$starts[[turn]] + 1L
    index <- taken[[i]]@index
    is_last <- vapply(plan$slots, function(slot) {
      slot$last == turn && slot$places[[kind]] == place && slot$indices[[kind]] == index
    }, NA)
    list(
      turn = turn, kind = kind, place = place, index = index, key = member_key(kind, place, index),
      carry = if (any(is_last)) plan$slots[[which(is_last)[[1L]]]]$first else 0L, value = taken[[i]]
    )
  })
  computed <- vapply(within, function(one) !one$place %in% plan$kinds[[one$kind]]$taken, NA)
  if (any(computed)) {
    older <- node_ids(nodes_of(taken)) < of_row[[1L]]
    list(before = c(taken[older], lapply(within[!computed], function(one) one$value)), within = within[computed])
  }
}

# Results of turns of which there are to be stacks, each once for its kind and with the `number` of its stack: kinds
# share these as far as types allow.
numbered_results <- function(used) {
  stacked <- Filter(function(one) one$carry == 0L, used$within)
  wanted <- stacked[!duplicated(vapply(stacked, function(one) one$key, ""))]
  wanted <- wanted[order(vapply(wanted, function(one) one$place, 0))]
  types <- vapply(wanted, function(one) type_text(one$value), "")
  rank <- stats::ave(seq_along(wanted), vapply(wanted, function(one) one$kind, 0L), types, FUN = seq_along)
  numbers <- match(paste(types, rank), unique(paste(types, rank)))
  Map(function(one, number) c(one, list(number = number)), wanted, numbers)
}

of_kind <- function(wanted, i) Filter(function(one) one$kind == i, wanted)

numbers_of <- function(wanted) vapply(wanted, function(one) one$number, 0L)

# The loop: values of the row, `from`, and what takes their place, `to`; NULL where its stacks would be too large.
loop_of_differing <- function(table, row, plan, used, first) {
  wanted <- numbered_results(used)
  types <- lapply(wanted[!duplicated(numbers_of(wanted))], function(one) type_of(one$value))
  taken <- unlist(lapply(plan$kinds, function(kind) {
    numbers <- lapply(kind$taken, function(place) node_of_turn(table, row, kind$turn, place)$types[[1L]])
    c(numbers, lapply(kind$apart, type_of))
  }), recursive = FALSE)
  if (sum(vapply(c(taken, types), function(type) prod(type@shape), 0)) * length(row$kinds) > most_stacked) {
    return()
  }
  branches <- lapply(seq_along(plan$kinds), function(i) {
    differing_branch(table, row, plan, i, of_kind(wanted, i), first)
  })
  # Turns that take nothing of one another are computed side by side, where all that is in them has batches.
  row_with <- if (!length(plan$slots) && !calls_users(nodes_of_kinds(table, row))) {
    tryCatch(differing_together(row, plan, branches, wanted), error = function(e) NULL)
  }
  found <- if (is.null(row_with)) differing_in_turns(row, plan, branches, wanted, types)
  if (is.null(row_with)) row_with <- found$row_with
  keys <- vapply(wanted, function(one) one$key, "")
  to <- lapply(used$within, function(one) {
    if (one$carry > 0L) found$carry[[one$carry]] else row_with(wanted[[match(one$key, keys)]]$number, one$turn)
  })
  list(from = lapply(used$within, function(one) one$value), to = to)
}

# What a turn of the `i`th kind computes: a function of what is carried, and of its numbers, windows and places of
# windows. It gives all that is carried, and those `results` that are wanted.
differing_branch <- function(table, row, plan, i, results, first) {
  kind <- plan$kinds[[i]]
  value_at <- function(place, index = 1L) new_value(node_of_turn(table, row, kind$turn, place), index)
  gives <- which(vapply(plan$slots, function(slot) slot$places[[i]] > 0L, NA))
  fresh <- lapply(plan$slots[gives], function(slot) value_at(slot$places[[i]], slot$indices[[i]]))
  wanted <- lapply(results, function(one) value_at(one$place, one$index))
  moving <- node_ids(lapply(kind$moving, node_of_turn, table = table, row = row, turn = kind$turn))
  taken <- c(lapply(kind$taken, value_at), kind$apart)
  from <- c(kind$outside, kind$carried, taken)
  function(carry, given) {
    places <- beyond(given, length(taken))
    window <- function(node, now) {
      k <- match(node$id, moving)
      if (!is.na(k)) {
        list(moving_window(now(node$inputs[[1L]]), places[[k]], node$types[[1L]]@shape, node$params$step))
      }
    }
    to <- c(kind$outside, carry[kind$carry], given[seq_along(taken)])
    now <- replay(c(fresh, wanted), from, to, first, other = window)
    # What was the last value becomes the one before it, and so on.
    for (i in seq_along(gives)) {
      slot <- plan$slots[[gives[[i]]]]
      at <- slot$first + seq_along(slot$starts) - 1L
      carry[at] <- c(now[i], carry[at[-length(at)]])
    }
    list(carry = carry, ys = beyond(now, length(fresh)))
  }
}

# The numbers, windows and places of windows of a kind as stacks, see stack_of_numbers()
stacks_of_kind <- function(kind, turns) {
  places <- function(at) {
    constant(t(at[, ifelse(is.na(turns), 1L, turns), drop = FALSE]) - 1L, "i32", c(length(turns), nrow(at)), "at")
  }
  c(lapply(kind$stacks, function(stack) stack(turns)), lapply(kind$at, places))
}

# Turns one after the other, each by the branch of its kind: what is carried at the end (`carry`), and `row_with`, a
# function that gives the result with a number in a turn.
differing_in_turns <- function(row, plan, branches, wanted, types) {
  count <- length(row$kinds)
  stacks <- lapply(seq_along(plan$kinds), function(i) {
    turns <- rep(NA_integer_, count)
    turns[row$kinds == i] <- seq_len(sum(row$kinds == i))
    stacks_of_kind(plan$kinds[[i]], turns)
  })
  ends <- cumsum(lengths(stacks))
  body <- function(carry, x) {
    calls <- lapply(seq_along(branches), function(i) {
      function() {
        found <- branches[[i]](carry, x[1L + ends[[i]] - rev(seq_along(stacks[[i]])) + 1L])
        ys <- lapply(types, zero_of)
        ys[numbers_of(of_kind(wanted, i))] <- found$ys
        c(found$carry, ys)
      }
    })
    values <- if (length(calls) == 1L) calls[[1L]]() else case_node(calls, x[[1L]])
    list(carry = values[seq_along(carry)], ys = beyond(values, length(carry)))
  }
  kinds <- constant(row$kinds - 1L, "i32", count, "kind")
  start <- unlist(lapply(plan$slots, function(slot) slot$starts), recursive = FALSE)
  found <- scan_node(body, start, c(list(kinds), unlist(stacks, recursive = FALSE)), count)
  own <- seq_along(start)
  list(carry = found[own], row_with = function(number, turn) row_of(found[[length(own) + number]], turn))
}

# All turns of a kind as a batch: such a function. Results of all kinds are put in the order of the turns.
differing_together <- function(row, plan, branches, wanted) {
  found <- lapply(seq_along(plan$kinds), function(i) {
    count <- sum(row$kinds == i)
    stacks <- stacks_of_kind(plan$kinds[[i]], seq_len(count))
    batch <- batch_leaves(function(x) branches[[i]](list(), x)$ys, stacks, rep(TRUE, length(stacks)), count)
    all_in_front(batch$values, batch$mapped, count)
  })
  all <- lapply(seq_len(max(numbers_of(wanted))), function(number) {
    at <- lapply(seq_along(found), function(i) which(numbers_of(of_kind(wanted, i)) == number))
    have <- which(lengths(at) > 0L)
    turns <- unlist(lapply(have, function(i) which(row$kinds == i)))
    stack <- joined(Map(function(values, at) values[[at]], found[have], at[have]))
    list(stack = taken(stack, order(turns), 1L), turns = sort(turns))
  })
  function(number, turn) row_of(all[[number]]$stack, match(turn, all[[number]]$turns))
}
