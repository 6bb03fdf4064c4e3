# A loop with derivatives carries the tangents too. Reverse mode would have to know how many turns
# there are, so there is no transpose.

while_jvp <- function(node, tangents) {
  # The second loop would make the calls behind the tokens again.
  if (any_token(node$types)) {
    no_rule(node, "jvp", "carries tokens, so it has no derivatives")
  }
  p <- node$params
  count <- length(node$types)
  carried <- seq_len(count)
  moving <- which(vapply(node$types, function(type) is_inexact(type@dtype), NA))
  captured <- node$inputs[-carried]
  start <- c(node$inputs[carried], Map(or_zero, tangents[moving], node$inputs[moving]))
  turn <- function(leaves) {
    values <- leaves[carried]
    now <- vector("list", count)
    now[moving] <- leaves[-carried]
    results <- for_derivatives(function() p$body(values), c(values, captured))
    changes <- jvp_graph(results, c(values, captured), c(now, tangents[-carried]))
    c(results, Map(or_zero, changes[moving], results[moving]))
  }
  out <- while_loop(function(leaves) p$cond(leaves[carried]), turn, start, silent = TRUE, together = p$together)
  changes <- vector("list", count)
  changes[moving] <- out[-carried]
  changes
}

#' Loops
#'
#' `hlo_while()` repeats `body` while `cond` holds.
#'
#' @details
#' What the loop carries keeps its names, dtypes and shapes from turn to turn. Both functions may use
#' values from outside. Derivatives: forward mode ([xla_jvp()]) goes through loops. Reverse mode ([xla_vjp()]) needs a
#' bound, `max_iter`: it keeps what the derivative of each turn needs, and has to know for how many turns there must be
#' room. The loop then ends after so many turns even if `cond` still holds. Loops of a known number of turns are
#' [hlo_scan()] and [hlo_fori()]. XLA takes it that loops end: one that never would, and has no side effects, may be
#' left out.
#'
#' @param cond A function of the carried values (as separate arguments) that gives a scalar of dtype
#'   pred.
#' @param body A function of them that gives the new ones, as `init` is: a value or a list.
#' @param init What is carried at first: a value or a (named) list of values. One number of R is a scalar.
#' @param max_iter `NULL`, or a number: no more turns than that.
#' @param checkpoint With `max_iter`: whether reverse mode keeps the carry only, and computes the rest of a turn again.
#' @return What is carried at last, as `init`.
#' @examplesIf plugins_downloaded()
#' # Newton's method for a square root
#' root <- xla_jit(function(y) {
#'   hlo_while(
#'     cond = function(x) abs(x * x - y) > 1e-12,
#'     body = function(x) (x + y / x) / 2,
#'     init = y
#'   )
#' })
#' root(2)
#' @export
hlo_while <- function(cond, body, init, max_iter = NULL, checkpoint = FALSE) {
  check_given(cond, body, init)
  for (name in c("cond", "body")) {
    if (!is.function(get(name))) {
      abort(sprintf("hlo_while: `%s` must be a function, not %s", name, describe(get(name))),
        op = "hlo_while", operand = name
      )
    }
  }
  call <- environment()
  max_iter <- check_max_iter(max_iter, "hlo_while", call)
  check_flag(checkpoint, "checkpoint")
  start <- carried_leaves(init, "hlo_while", call)
  types <- lapply(start, type_of)
  run <- function(f, leaves, name) {
    arguments <- as_arguments(tree_fill(init, leaves))
    check_takes(f, arguments, "hlo_while", name, call)
    tree <- call_written(f, arguments, name)
    if (name == "body") {
      tree <- in_order_of(tree, init, function(text) {
        said <- sprintf("hlo_while: `body` must give what `init` has: %s", text)
        abort(said, op = "hlo_while", operand = "body", call = call)
      })
      check_patterns(init, tree, call)
    }
    tree_leaves(tree)
  }
  test <- function(leaves) looped(loop_test(run(cond, leaves, "cond"), call))
  turn <- function(leaves) looped(loop_turn(run(body, leaves, "body"), types, call))
  values <- if (is.null(max_iter)) {
    while_loop(test, turn, start)
  } else {
    counted <- function(carry, x) list(carry = c(list(carry[[1L]] + 1L), turn(carry[-1L])), ys = list())
    scan_node(counted, c(list(constant(0L, "i32", integer(), "turns")), start), list(), max_iter,
      keep = !checkpoint, stop = function(carry) test(carry[-1L])
    )[-1L]
  }
  tree_fill(init, values)
}

overload("hlo_while", "xlaffi", hlo_while,
  by = "own", topic = "Logic and control", dtypes = "all", derivative = "yes; forward only without `max_iter`"
)

# `cond` and `body` are functions of lists of values. They are kept, since a loop with
# derivatives is another loop; a `silent` one has no side effects, since the first one has them. In a batch, the
# elements of a loop that go `together` take turns until all have ended, see while_together().
while_loop <- function(cond, body, start, silent = FALSE, together = FALSE) {
  types <- lapply(start, type_of)
  regions <- list(trace_region(cond, types, silent), trace_region(body, types, silent))
  captured <- unique_values(unlist(lapply(regions, region_captures), recursive = FALSE))
  params <- list(cond = cond, body = body, regions = regions, together = together)
  node <- new_node("while", c(start, captured), types, params)
  if (!silent && any(lengths(lapply(regions, function(region) region$effects)))) {
    record_effect(node)
  }
  node_values(node)
}

# The loop on a whole batch: as long as any element goes on. What an element has that has ended stays as it is, though
# its turns are computed; so it is for loops whose turns do nothing but compute. Which elements go on is carried.
while_together <- function(node, inputs, mapped, size) {
  carried <- seq_along(node$types)
  captured <- node$inputs[-carried]
  batch_of <- function(region, leaves) {
    batch <- batch_region(
      region, leaves, rep(TRUE, length(leaves)), captured, inputs[-carried], mapped[-carried], size
    )
    all_in_front(batch$values, batch$mapped, size)
  }
  goes_on <- function(leaves) batch_of(node$params$regions[[1L]], leaves)[[1L]]
  start <- all_in_front(inputs[carried], mapped[carried], size)
  turn <- function(leaves) {
    going <- leaves[[1L]]
    after <- Map(function(new, old) {
      selected(repeated_along(going, old), new, old)
    }, batch_of(node$params$regions[[2L]], leaves[-1L]), leaves[-1L])
    c(list(going & goes_on(after)), after)
  }
  any_left <- function(leaves) list(reduced("reduce_or", leaves[[1L]], NULL, "hlo_while"))
  while_loop(any_left, turn, c(list(goes_on(start)), start), together = TRUE)[-1L]
}

loop_test <- function(leaves, call) {
  test <- lapply(leaves, as_value, "cond", call = call)
  if (length(test) != 1L || test[[1L]]@dtype != "pred" || length(test[[1L]]) != 1L) {
    abort(sprintf("hlo_while: `cond` must give one value pred(), not %s", types_text(test)),
      op = "hlo_while", operand = "cond", call = call
    )
  }
  list(reshaped(test[[1L]], integer()))
}

# Sparse matrices keep their patterns.
check_patterns <- function(init, tree, call) {
  if (!has_sparse(init) && !has_sparse(tree)) {
    return(invisible())
  }
  shown <- function(pattern) if (is.null(pattern)) "an array" else pattern_text(pattern)
  Map(function(before, after, i) {
    if (!identical(before, after) && (is.null(before) || is.null(after) || !same_pattern(before, after))) {
      abort(sprintf("hlo_while: number %d that `body` gives must be %s, as in `init`, not %s", i, shown(before),
        shown(after)
      ), op = "hlo_while", operand = "body", call = call)
    }
  }, leaf_patterns(init), leaf_patterns(tree)[seq_along(leaf_patterns(init))], seq_along(leaf_patterns(init)))
}

loop_turn <- function(leaves, types, call) {
  like <- c(types, rep(list(NULL), max(0L, length(leaves) - length(types))))[seq_along(leaves)]
  leaves <- Map(function(leaf, like) {
    leaf <- as_value(leaf, "body", like, call)
    # One number of R in `init` is a scalar.
    scalar <- !is.null(like) && !length(like@shape) && identical(leaf@shape, 1L)
    if (scalar) reshaped(leaf, integer()) else leaf
  }, leaves, like)
  check_carried(leaves, types, "hlo_while", "body", call)
  leaves
}

# A body gives what it was given, type by type.
check_carried <- function(leaves, types, op, name, call) {
  if (length(leaves) == length(types) && all(mapply(same_type, leaves, types))) {
    return(invisible())
  }
  hint <- if (length(leaves) == length(types) && any(mapply(is_widened, leaves, types))) {
    "An integer and a double make a double, as in R: write `i + 1L`, not `i + 1`, or begin with a double."
  }
  abort(
    sprintf("%s: `%s` must give what `init` has, %s, not %s", op, name, types_text(types), types_text(leaves)),
    op = op, operand = name, hint = hint, call = call
  )
}

is_widened <- function(value, type) value@dtype == "f64" && type@dtype == "i32" && identical(value@shape, type@shape)

while_text <- function(node, operands, scope) {
  carried <- seq_along(node$types)
  inner <- scope
  inner$indent <- paste0(scope$indent, "  ")
  names <- sprintf("%%loop%d_%d", scope$count$values, carried - 1L)
  region <- function(region) {
    name_parameters(inner, region$params, names)
    scope$count$values <- scope$count$values + 1L
    lines <- region_lines(inner, region)
    c(lines, return_line(inner, vapply(region$results, value_name, "", scope = inner), region$results))
  }
  head <- sprintf(
    "stablehlo.while(%s) : %s",
    paste(sprintf("%s = %s", names, operands[carried]), collapse = ", "), toString(result_types(node))
  )
  c(
    head, paste0(scope$indent, "cond {"), region(node$params$regions[[1L]]),
    paste0(scope$indent, "} do {"), region(node$params$regions[[2L]]), paste0(scope$indent, "}")
  )
}

primitive("while",
  text = while_text,
  jvp = while_jvp,
  # The loop with other values in place of what it takes from outside
  rebind = function(node, inputs) {
    carried <- seq_along(node$types)
    region_with <- function(region) {
      function(leaves) replay_region(region, leaves, node$inputs[-carried], inputs[-carried])
    }
    while_loop(region_with(node$params$regions[[1L]]), region_with(node$params$regions[[2L]]), inputs[carried],
      together = node$params$together
    )
  },
  vmap = function(node, inputs, mapped, size) {
    (if (node$params$together) while_together else hooks$batch_one_by_one)(node, inputs, mapped, size)
  },
  replication = function(node, given, known) {
    regions <- node$params$regions
    own <- seq_along(node$types)
    test <- function(carry) replication_of_results(regions[[1L]], carry, known)[[1L]]
    carry <- settled_carry(given[own], function(carry) {
      stop <- test(carry)
      lapply(replication_of_results(regions[[2L]], carry, known), union, stop)
    })
    for (region in regions) {
      check_together(region, test(carry), "`hlo_while()`", "its condition", known)
    }
    carry
  },
  export = function(node) {
    with_regions(node, list(), length(node$types), stats::setNames(node$params$regions, c("cond", "body")))
  },
  sparsity = function(node, given, sets, known) {
    own <- seq_along(node$types)
    floats <- vapply(node$types, function(type) is_inexact(type@dtype), NA)
    live <- c(floats, !vapply(given[-own], is.null, NA))
    dependence <- region_dependence(node$params$regions[[2L]], node$inputs[-own], live, known)
    settled_dependence(dependence, given, own, sets)
  }
)
