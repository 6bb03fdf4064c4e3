# Choices between what is computed in any case, element by element: R's ifelse(). What is not chosen has no derivative,
# be it infinite, as that of log(x) at 0 is: 0 times that would be NaN. So what counts only where a choice falls on it
# is computed from gates (prim-case.R), which have no derivative elsewhere. Where a value counts can be told when all is
# known that is computed from it: before derivatives are taken.
#
# A place is where a value counts: the `literals` that must all be true there, by their keys, each a function of `now()`
# (see replay()) that gives a value of dtype pred, and the `key` of them all. NULL is everywhere.

# A choice that a select makes
as_choice <- function(x) {
  x@node$params$is_choice <- TRUE
  x
}

is_choice <- function(node) isTRUE(node$params$is_choice)

# `values`, computed from `roots` by nodes from `first` on, with gates. What is a result itself counts everywhere; where
# choices take it as well, these have one of their own.
hooks$with_gates <- function(values, roots, first) {
  edges <- derivative_edges("jvp")
  nodes <- nodes_behind(nodes_of(values), edges, first)
  if (!any(vapply(nodes, is_choice, NA))) {
    return(values)
  }
  places <- places_of_values(nodes, roots, edges)
  gates <- new_table()
  for (node in nodes) {
    wanted <- of_node(places$wanted, node)
    is_gated <- vapply(seq_along(wanted), function(i) {
      input <- edges(node)[[i]]
      key <- wanted[[i]]$key
      # What the operand is computed from counts in the same place.
      goes_on <- identical(key, places$of(input)$key) && !all(vapply(of_node(places$wanted, input@node), is.null, NA))
      !is.null(key) && !goes_on && !identical(key, gate_key(input@node))
    }, NA)
    wanted[!is_gated] <- list(NULL)
    if (any(is_gated)) set_of_node(gates, node, wanted)
  }
  everywhere <- vapply(values, function(value) is.null(places$of(value)), NA)
  values[everywhere] <- replay(values[everywhere], list(), list(), first, other = function(node, now) {
    wanted <- of_node(gates, node)
    if (!is.null(wanted)) {
      return(behind_gates(node, edges(node), wanted, now))
    }
    same <- vapply(replay_edges(node), function(value) identical(now(value), value), NA)
    if (all(same) || acts(node)) node_values(node)
  })
  values
}

# A node with gates before those of its operands that have a place in `wanted`. Only a choice may have the same value in
# two places.
behind_gates <- function(node, operands, wanted, now) {
  gated_at <- function(i) {
    value <- now(operands[[i]])
    if (is.null(wanted[[i]])) value else gated(place_value(wanted[[i]], now), value)
  }
  if (node$op != "op") {
    inputs <- lapply(seq_along(operands), gated_at)
    return(if (is_choice(node)) list(selected(inputs[[1L]], inputs[[2L]], inputs[[3L]])) else rebind_node(node, inputs))
  }
  keys <- value_keys(operands)
  primitive_rule("op", "replay")(node, function(value) {
    at <- match(value_key(value), keys)
    if (is.na(at)) now(value) else gated_at(at)
  })
}

# For each node the places in which it wants its operands, `wanted`, and a function that gives the place `of` a value:
# wherever one of the nodes that are computed from it wants it.
places_of_values <- function(nodes, roots, edges) {
  depends <- computed_from(roots, nodes, function(node) Filter(function(value) is_inexact(value@dtype), edges(node)))
  moves <- function(value) is_inexact(value@dtype) && depends(value)
  wanted <- new_table()
  uses <- new_table()
  known <- new_table()
  of <- function(value) {
    place <- of_value(known, value)
    if (is.null(place)) {
      place <- list(any_place(of_value(uses, value)))
      set_of_value(known, value, place)
    }
    place[[1L]]
  }
  for (node in rev(nodes)) {
    operands <- edges(node)
    counts <- vapply(operands, moves, NA)
    if (!any(counts) || !any(inexact_results(node))) {
      next
    }
    here <- if (length(node$types) == 1L) of(new_value(node, 1L))
    places <- vector("list", length(operands))
    for (i in which(counts)) {
      places[i] <- list(operand_place(node, i, here))
      set_of_value(uses, operands[[i]], c(of_value(uses, operands[[i]]), places[i]))
    }
    set_of_node(wanted, node, places)
  }
  list(wanted = wanted, of = of)
}

# Where operand `i` of a node counts whose result counts `here`: everywhere, if it is not taken element by element.
operand_place <- function(node, i, here) {
  if (is_choice(node)) {
    return(both_places(here, literal_place(node$inputs[[1L]], i == 3L)))
  }
  moved <- moved_place[[node$op]]
  if (is.null(here) || is_element_wise(node, node$types[[1L]]@shape)) {
    here
  } else if (!is.null(moved)) {
    shape <- node$inputs[[i]]@shape
    key <- paste0(node$op, toString(c(i, shape, unlist(node$params))), "[", here$key, "]")
    one_literal(key, function(now) moved(node, i, place_value(here, now)))
  }
}

# What gives elements another place: where an operand counts by where the result does
moved_place <- list(
  alias = function(node, i, here) here,
  reshape = function(node, i, here) reshaped(here, node$inputs[[1L]]@shape),
  transpose = function(node, i, here) transposed(here, order(node$params$permutation)),
  reverse = function(node, i, here) hlo_reverse(here, node$params$axes),
  concatenate = function(node, i, here) {
    axis <- node$params$axis
    ends <- cumsum(vapply(node$inputs, function(part) part@shape[[axis]], 0L))
    from <- replace(rep(1L, length(here@shape)), axis, ends[[i]] - node$inputs[[i]]@shape[[axis]] + 1L)
    sliced(here, from, replace(here@shape, axis, ends[[i]]))
  }
)

is_element_wise <- function(node, shape) {
  kind <- node$op %in% c(elementwise, "real", "imag", "abs", "complex", "convert", "compare", "select") ||
    is_special_op(node)
  kind && all(vapply(c(node$inputs, node$types), function(x) identical(x@shape, shape), NA))
}

is_special_op <- function(node) {
  node$op == "op" && all(vapply(node$params$body, function(value) {
    value@node$op == "custom_call" && identical(value@node$params$target, private_target("special"))
  }, NA))
}

one_literal <- function(key, value) place_with(stats::setNames(list(value), key))

# Bounds, so that many choices take no time that grows with their square. They make places larger, never smaller, so
# only gates are missing: of more literals those of the innermost choice are left, more places are not made simpler, and
# still more are everywhere.
most_literals <- 16L
most_joined <- 8L
most_places <- 64L

# Where a value counts within a choice `y` that counts itself in `x`
both_places <- function(x, y) {
  if (is.null(x)) {
    return(y)
  }
  literals <- c(x$literals, y$literals)
  literals <- literals[sort(unique(names(literals)))]
  if (length(literals) > most_literals) y else place_with(literals)
}

place_with <- function(literals) list(literals = literals, key = paste(names(literals), collapse = "&"))

# Where a value of dtype pred is true; `opposite`: where it is not
literal_place <- function(value, opposite = FALSE) {
  while (value@node$op == "not") {
    value <- value@node$inputs[[1L]]
    opposite <- !opposite
  }
  if (value@node$op == "and" && !opposite) {
    parts <- lapply(value@node$inputs, literal_place)
    return(both_places(parts[[1L]], parts[[2L]]))
  }
  one_literal(paste0(if (opposite) "!", value_key(value)), function(now) {
    if (opposite) bind("not", list(now(value)), "pred", value@shape) else now(value)
  })
}

# Wherever one of these places is; of values that nobody uses, everywhere
any_place <- function(places) {
  apart <- function(places) places[!duplicated(vapply(places, function(place) place$key, ""))]
  if (!length(places) || any(vapply(places, is.null, NA)) || length(places <- apart(places)) > most_places) {
    return()
  }
  while (length(places) <= most_joined && !is.null(joined <- joined_places(places))) {
    # A choice and its opposite
    if (!length(joined$place$literals)) {
      return()
    }
    places <- apart(c(places[-joined$at], list(joined$place)))
  }
  if (length(places) == 1L) {
    return(places[[1L]])
  }
  key <- paste0("(", paste(sort(vapply(places, function(place) place$key, "")), collapse = "|"), ")")
  one_literal(key, function(now) {
    Reduce(function(x, y) bind("or", list(x, y), "pred", x@shape), lapply(places, place_value, now))
  })
}

# Two places that are one: a part of the other one, or with and without one literal
joined_places <- function(places) {
  for (i in seq_along(places)) {
    for (j in seq_along(places)[-i]) {
      x <- names(places[[i]]$literals)
      y <- names(places[[j]]$literals)
      rest <- setdiff(x, y)
      apart <- setdiff(y, x)
      one <- length(rest) == 1L && length(apart) == 1L
      opposite <- one && (rest == paste0("!", apart) || apart == paste0("!", rest))
      if (!length(rest) || opposite) {
        return(list(at = c(i, j), place = place_with(places[[i]]$literals[setdiff(x, rest)])))
      }
    }
  }
}

place_value <- function(place, now) {
  Reduce(function(x, y) bind("and", list(x, y), "pred", x@shape), lapply(place$literals, function(value) value(now)))
}

# The key of the place for which a node is a gate, NULL for none
gate_key <- function(node) {
  if (node$op == "op" && identical(node$params$op, gate)) literal_place(node$inputs[[1L]])$key
}
