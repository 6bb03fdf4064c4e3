# Derivatives and batches of loops along an axis.

# The loop for other inputs of the same types
rebind_scan <- function(node, inputs) {
  p <- node$params
  old <- scan_inputs(node)$captured
  new <- scan_inputs(node, inputs)
  replayed <- function(region) function(leaves) replay_region(region, leaves, old, new$captured)
  scan_node(
    function(carry, x) scan_results(node, replayed(p$region)(c(carry, x))), new$start, new$slices, p$turns, p$reverse,
    p$keep, if (!is.null(p$stop)) replayed(p$stop), new$count
  )
}

# What a turn gives, carry and results
scan_results <- function(node, values) {
  count <- node$params$carry
  list(carry = values[seq_len(count)], ys = beyond(values, count))
}

scan_jvp <- function(node, tangents) {
  check_no_carried_token(node)
  p <- node$params
  inputs <- scan_inputs(node)
  given <- scan_inputs(node, tangents)
  own <- seq_len(p$carry)
  moving <- which(vapply(inputs$start, function(x) is_inexact(x@dtype), NA))
  # Those of the slices that change
  changing <- which(!vapply(given$slices, is.null, NA))
  inexact <- inexact_results(node)
  body <- function(carry, x) {
    params <- c(carry[own], x[seq_len(p$slices)])
    roots <- lapply(c(params, inputs$captured), alias_of)
    here <- seq_along(params)
    results <- for_derivatives(function() {
      replay_region(p$region, roots[here], inputs$captured, beyond(roots, length(params)))
    }, roots)
    now <- vector("list", p$carry)
    now[moving] <- beyond(carry, p$carry)
    along_x <- vector("list", p$slices)
    along_x[changing] <- beyond(x, p$slices)
    changes <- jvp_graph(results, roots, c(now, along_x, given$captured))
    changes <- Map(or_zero, changes[inexact], results[inexact])
    list(carry = c(results[own], changes[seq_along(moving)]), ys = beyond(changes, length(moving)))
  }
  values <- scan_node(
    body, c(inputs$start, Map(or_zero, given$start[moving], inputs$start[moving])),
    c(inputs$slices, given$slices[changing]), p$turns, p$reverse, p$keep,
    if (!is.null(p$stop)) function(carry) replay_region(p$stop, carry[own], list(), list()),
    inputs$count,
    silent = TRUE
  )
  changes <- vector("list", length(inexact))
  changes[inexact] <- beyond(values, p$carry)
  changes
}

# Reverse mode: the loop keeps what the derivatives of its turns need in stacks, which a loop in the other direction
# takes apart. What is the same for all turns is computed outside of both.
scan_linearize <- function(node, moving) {
  check_no_carried_token(node)
  p <- node$params
  inputs <- scan_inputs(node)
  own <- seq_len(p$carry)
  moving <- if (p$counted) moving[-1L] else moving
  moving <- settled_moving(p$region, inputs$captured, moving, own)
  linear <- linearized(p$region, inputs$captured, moving)
  carried <- value_keys(linear$params[own])
  shares <- Filter(Negate(is.null), linear$shares)
  varies <- dependents(c(shares, linear$results), linear$params, linear$first)
  found <- residual_values(linear, function(value) {
    if (value@node$op == "parameter") {
      value_key(value) %in% carried
    } else {
      !value@node$op %in% cheap && (p$keep || !varies(value))
    }
  })
  fixed <- !vapply(found, varies, NA)
  kept <- found[!fixed]
  invariant <- replay(found[fixed], list(), list(), linear$first)
  results <- length(node$types)
  keep_in_turns(node, linear, kept)
  outputs <- node_values(node)
  count <- if (!is.null(p$stop)) outputs[[1L]] else inputs$count

  at <- seq_along(linear$roots)
  of_slices <- at > p$carry & at <= p$carry + p$slices
  of_captured <- at > p$carry + p$slices
  sharing <- !vapply(linear$shares, is.null, NA)
  changing <- !vapply(linear$cotangents, is.null, NA)
  state <- which(moving[own])
  stacked <- setdiff(which(changing), own)
  outside <- which(of_captured & sharing)
  pull <- function(given) {
    # The cotangents of the carry, and the sums of those of what is outside.
    start <- c(
      Map(or_zero, given[state], inputs$start[state]), lapply(inputs$captured[outside - sum(!of_captured)], zero_of)
    )
    above <- Map(function(cotangent, i) or_zero(cotangent, outputs[[i]]), given[stacked], stacked)
    body <- function(carry, x) {
      own_x <- x[seq_len(p$slices)]
      residuals <- x[p$slices + seq_along(kept)]
      now <- vector("list", results)
      now[state] <- carry[seq_along(state)]
      now[stacked] <- x[p$slices + length(kept) + seq_along(stacked)]
      slots <- which(changing)
      shares <- vector("list", length(linear$shares))
      shares[sharing] <- replay(
        linear$shares[sharing],
        c(beyond(linear$params, p$carry), kept, found[fixed], linear$cotangents[slots], linear$roots[of_captured]),
        c(own_x, residuals, invariant, now[slots], inputs$captured), linear$first
      )
      sums <- Map(function(sum, share) sum + share, carry[length(state) + seq_along(outside)], shares[outside])
      list(
        carry = c(Map(or_zero, shares[state], inputs$start[state]), sums),
        ys = shares[of_slices & sharing]
      )
    }
    values <- scan_node(
      body, start, c(inputs$slices, outputs[results + seq_along(kept)], above), p$turns, !p$reverse,
      count = count, silent = TRUE
    )
    gradients <- vector("list", length(at))
    gradients[state] <- values[seq_along(state)]
    gradients[outside] <- values[length(state) + seq_along(outside)]
    gradients[of_slices & sharing] <- beyond(values, length(start))
    c(if (p$counted) list(NULL), gradients)
  }
  list(changing = changing, pull = pull)
}

# The marks of what a loop's region takes that moves: what the carry takes up moves it.
settled_moving <- function(region, captured, moving, own) {
  params <- seq_along(region$params)
  inexact <- inexact_types(region$results[own])
  repeat {
    further <- inexact & depending(region, moving[params], captured, moving[-params])[own] & !moving[own]
    if (!any(further)) {
      return(moving)
    }
    moving[own][further] <- TRUE
  }
}

# Adds the stacks of `kept` to the results of a loop.
keep_in_turns <- function(node, linear, kept) {
  p <- node$params
  inputs <- scan_inputs(node)
  region <- trace_region(function(params) {
    replay(
      c(linear$results, kept), c(linear$params, beyond(linear$roots, length(params))), c(params, linear$captured),
      linear$first, linear$effects
    )
  }, lapply(linear$params, type_of))
  node$params$region <- region
  node$types <- c(node$types, lapply(kept, function(value) new_type(value@dtype, c(p$turns, value@shape))))
  node$inputs <- c(
    if (p$counted) list(inputs$count), inputs$start, inputs$slices,
    captured_by(c(list(region), if (!is.null(p$stop)) list(p$stop)))
  )
}

scan_vmap <- function(node, inputs, mapped, size) {
  p <- node$params
  old <- scan_inputs(node)$captured
  new <- scan_inputs(node, inputs)
  flags <- lapply(scan_inputs(node, as.list(mapped)), as.logical)
  own <- seq_len(p$carry)
  carried <- flags$start
  batch <- function(region, params, marks) {
    batch_region(region, params, marks, old, new$captured, flags$captured, size)
  }
  slices <- Map(exchanged, new$slices, flags$slices)
  # What the carry takes up is mapped too.
  repeat {
    mapped_results <- depending(p$region, c(carried, flags$slices), old, flags$captured)
    if (!any(mapped_results[own] & !carried)) {
      break
    }
    carried <- carried | mapped_results[own]
  }
  mapped_stop <- !is.null(p$stop) && depending(p$stop, carried, old, flags$captured)
  if (isTRUE(flags$count) && is.null(p$stop)) {
    return(scan_to_counts(node, inputs, mapped, size))
  }
  if (isTRUE(flags$count) || mapped_stop) {
    return(hooks$batch_one_by_one(node, inputs, mapped, size))
  }
  body <- function(carry, x) {
    out <- batch(p$region, c(carry, x), c(carried, flags$slices))
    list(carry = front_where(carried, out$values[own], out$mapped[own], size), ys = beyond(out$values, p$carry))
  }
  values <- scan_node(
    body, front_where(carried, new$start, flags$start, size), slices, p$turns, p$reverse, p$keep,
    if (!is.null(p$stop)) function(carry) batch(p$stop, carry, carried)$values, new$count
  )
  stacked <- Map(exchanged, beyond(values, p$carry), beyond(mapped_results, p$carry))
  all_in_front(c(values[own], stacked), c(carried, beyond(mapped_results, p$carry)), size)
}

# Which results of a region depend on what `marks` and `marks_captured` mark of its parameters and of what it captures
depending <- function(region, marks, captured, marks_captured) {
  is_dependent <- dependents(region$results, c(region$params[marks], captured[marks_captured]), region$first)
  vapply(region$results, is_dependent, NA)
}

# A batch whose elements make different numbers of turns: all go through the turns of the one that makes the most,
# with a mark that says whether a turn is one of an element's own. Otherwise its carry stays, and its results are zero.
scan_to_counts <- function(node, inputs, mapped, size) {
  p <- node$params
  count <- inputs[[1L]]
  shape <- c(size, p$turns)
  own_turn <- compared(hlo_iota("i32", shape, 2), broadcast(count, shape, 1L), "LT", "hlo_scan")
  most <- reduced("reduce_max", count, NULL, "hlo_scan")
  batch <- batch_leaves(function(leaves) {
    given <- scan_inputs(node, c(list(NULL), beyond(leaves, 2L)))
    marked <- function(carry, x) {
      # What is computed in turns that are not an element's own has no derivative.
      own <- function(values) lapply(values, function(value) gated(repeated(x[[1L]], value@shape), value))
      results <- replay_region(
        p$region, c(own(carry), own(x[-1L])), scan_inputs(node)$captured, own(given$captured)
      )
      kept <- c(carry, lapply(beyond(results, p$carry), zero_of))
      scan_results(node, Map(function(new, old) selected(repeated(x[[1L]], new@shape), new, old), results, kept))
    }
    scan_node(marked, given$start, c(leaves[1L], given$slices), p$turns, p$reverse, p$keep, count = leaves[[2L]])
  }, c(list(own_turn, most), inputs[-1L]), c(TRUE, FALSE, mapped[-1L]), size)
  all_in_front(batch$values, batch$mapped, size)
}

# With the batch axis where `wanted`
front_where <- function(wanted, values, mapped, size) {
  Map(function(wanted, value, mapped) if (wanted) in_front(value, mapped, size) else value, wanted, values, mapped)
}

# The batch axis and that of the turns in each other's place
exchanged <- function(x, mapped) {
  if (mapped) transposed(x, c(2L, 1L, seq_along(x@shape)[-(1:2)])) else x
}

# `keep`: whether reverse mode keeps more than the carry. `stop` is a function of the carry: the loop ends before a turn
# where it gives FALSE; then the first of the carry counts the turns. `count`: a value, the
# number of turns, if that is less than `turns`.
scan_node <- function(body, start, slices, turns, reverse = FALSE, keep = TRUE, stop = NULL, count = NULL,
                      silent = FALSE) {
  elements <- lapply(slices, function(x) new_type(x@dtype, x@shape[-1L]))
  own <- seq_along(start)
  out <- NULL
  region <- trace_region(function(params) {
    out <<- body(params[own], beyond(params, length(start)))
    c(out$carry, out$ys)
  }, c(lapply(start, type_of), elements), silent)
  stop <- if (!is.null(stop)) trace_region(stop, lapply(start, type_of), silent)
  types <- c(lapply(start, type_of), lapply(out$ys, function(y) new_type(y@dtype, c(turns, y@shape))))
  if (turns == 0L) {
    return(c(start, lapply(beyond(types, length(start)), zero_of)))
  }
  regions <- c(list(region), if (!is.null(stop)) list(stop))
  node <- new_node("scan", c(if (!is.null(count)) list(count), start, slices, captured_by(regions)), types, list(
    region = region, stop = stop, carry = length(start), slices = length(slices), turns = turns, reverse = reverse,
    keep = keep, counted = !is.null(count)
  ))
  if (!silent && any(lengths(lapply(regions, function(region) region$effects)))) {
    record_effect(node)
  }
  node_values(node)
}

# The inputs of a node by what they are, or values that belong to these, such as tangents.
scan_inputs <- function(node, inputs = node$inputs) {
  p <- node$params
  ends <- cumsum(c(p$counted, p$carry, p$slices))
  at <- seq_along(inputs)
  list(
    count = if (p$counted) inputs[[1L]], start = inputs[at > ends[[1L]] & at <= ends[[2L]]],
    slices = inputs[at > ends[[2L]] & at <= ends[[3L]]], captured = inputs[at > ends[[3L]]]
  )
}

scan_replication <- function(node, given, known) {
  p <- node$params
  parts <- scan_inputs(node, given)
  own <- seq_len(p$carry)
  count <- all_of(list(parts$count))
  stop <- count
  turn <- function(carry) {
    if (!is.null(p$stop)) {
      stop <<- union(count, replication_of_results(p$stop, carry, known)[[1L]])
    }
    lapply(replication_of_results(p$region, c(carry, parts$slices), known), union, stop)
  }
  carry <- settled_carry(parts$start, function(carry) turn(carry)[own])
  results <- turn(carry)
  for (region in c(list(p$region), if (!is.null(p$stop)) list(p$stop))) {
    check_together(region, stop, "a loop", "the number of turns", known)
  }
  c(carry, beyond(results, p$carry))
}

# Turn by turn: what one turn does is found out once.
scan_dependence <- function(node, given, sets, known) {
  p <- node$params
  inputs <- scan_inputs(node)
  now <- scan_inputs(node, given)
  own <- seq_len(p$carry)
  floats <- vapply(inputs$start, function(x) is_inexact(x@dtype), NA)
  live <- c(floats, !vapply(c(now$slices, now$captured), is.null, NA))
  dependence <- region_dependence(p$region, inputs$captured, live, known)
  sizes <- dependence$sizes
  carry <- now$start
  rows <- lapply(now$slices, function(ids) if (!is.null(ids)) matrix(ids, ncol = p$turns))
  stacks <- replicate(length(node$types) - p$carry, vector("list", p$turns), simplify = FALSE)
  ended <- carry
  for (turn in if (p$reverse) rev(seq_len(p$turns)) else seq_len(p$turns)) {
    slices <- lapply(rows, function(ids) if (!is.null(ids)) ids[, turn])
    results <- composed_dependence(dependence, sets_in_a_row(c(carry, slices, now$captured), sizes), sets)
    carry <- results[own]
    # A loop may end after any turn.
    ended <- Map(function(a, b) united(sets, a, b), ended, carry)
    for (k in seq_along(stacks)) stacks[[k]][[turn]] <- results[[p$carry + k]]
  }
  c(if (p$counted || !is.null(p$stop)) ended else carry, lapply(stacks, unlist))
}

primitive("scan",
  jvp = scan_jvp,
  transpose = transposed_by_linearize,
  vmap = scan_vmap,
  rebind = rebind_scan,
  linearize = scan_linearize,
  replication = scan_replication,
  export = function(node) {
    p <- node$params
    with_regions(
      node, p[c("turns", "counted", "carry", "slices", "reverse")], p$counted + p$carry + p$slices,
      c(list(body = p$region), if (!is.null(p$stop)) list(cond = p$stop))
    )
  },
  sparsity = scan_dependence
)

# A loop over the elements, for a node that works on one.
hooks$batch_one_by_one <- function(node, inputs, mapped, size) {
  element <- function(carry, slices) {
    inputs[mapped] <- slices
    list(carry = list(), ys = rebind_node(node, inputs))
  }
  scan_loop(element, list(), inputs[mapped], size)
}
