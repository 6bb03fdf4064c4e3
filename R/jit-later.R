# Calls of solvers in turns of R's loops, as an integral for each observation. A solver's op is a loop of several
# hundred operations, which take a tenth of a second to be written and more to be compiled. So in a turn of a loop of
# R's (note_turn(), trace-graph.R) a solver that has been called before, for a function that does the same with other
# numbers, is one node `later`, of which only the types are known. Rows of equal turns take such nodes as any others
# (jit-loops.R); the loop's body calls the solver, once. What is left is called where the node is.

# The results of the op `op_of(problem)` for `arguments` and what the functions of `problem`, see problem_of(), have
# captured. The op is made of `problem` and of `facts` alone, and takes what is captured as its argument `given`, or
# behind the others.
bind_solver <- function(op_of, arguments, problem, facts, behind = FALSE) {
  count <- length(tree_leaves(arguments))
  run <- function(inputs, moved = list()) {
    own <- seq_len(count)
    op <- op_of(if (length(moved)) problem$capturing(moved) else problem)
    given <- inputs[-own]
    bind_op(op, c(tree_fill(arguments, inputs[own]), if (behind) given else list(given = given)))
  }
  inputs <- c(tree_leaves(arguments), problem$captured)
  shape <- if (may_be_later()) shape_of_functions(problem$regions, problem$captured)
  if (is.null(shape)) {
    return(run(inputs))
  }
  key <- list(facts, shape$key, lapply(inputs, function(value) attributes(type_of(value))))
  at <- Position(function(one) identical(one$key, key), trace_state$solved)
  if (is.na(at)) {
    before <- trace_state$node_count
    found <- run(inputs)
    known <- list(
      key = key, tree = tree_map(found, function(leaf) 0), types = lapply(tree_leaves(found), type_of),
      room = 4 * (trace_state$node_count - before) + least_room
    )
    trace_state$solved <- c(trace_state$solved, list(known))
    return(found)
  }
  known <- trace_state$solved[[at]]
  tree_fill(known$tree, node_values(later_node(run, inputs, shape$moving, at, known)))
}

# The numbers of nodes that are kept free for what a node `later` becomes
least_room <- 4096

may_be_later <- function() {
  length(trace_state$turns) > 0L && is.null(trace_state$mesh) && is.null(trace_state$manual) &&
    !is.null(trace_state$solved)
}

# `moving` are values inside of the solver's function that may differ from turn to turn; each has a copy outside, which
# becomes an input if it does (`lifted`).
later_node <- function(run, inputs, moving, solver, known) {
  copies <- lapply(moving, function(value) {
    new_value(checked_node(value@node$op, value@node$inputs, value@node$types, value@node$params))
  })
  start <- trace_state$node_count
  trace_state$node_count <- start + known$room
  node <- new_node("later", inputs, known$types, list(
    solver = solver, plain = inputs, copies = copies, lifted = integer(), start = start,
    run = function(inputs, lifted) run(inputs, moving[lifted])
  ))
  trace_state$later <- node$id
  node
}

is_later <- function(node) node$op == "later"

primitive("later", rebind = function(node, inputs) tree_leaves(node$params$run(inputs, node$params$lifted)))

# Gives nodes of one solver what differs among them as inputs, besides the `plain` ones.
lift_differing <- function(nodes) {
  solvers <- vapply(nodes, function(node) node$params$solver, 0L)
  for (same in split(nodes, solvers)) {
    first <- same[[1L]]$params$copies
    differ <- vapply(seq_along(first), function(i) {
      own <- number_or_place(first[[i]])
      !all(vapply(same, function(node) is_same(number_or_place(node$params$copies[[i]]), own), NA))
    }, NA)
    for (node in same) {
      node$params$lifted <- which(differ)
      node$inputs <- c(node$params$plain, node$params$copies[differ])
    }
  }
}

number_or_place <- function(value) {
  params <- value@node$params
  if (value@node$op == "constant") params$data else params$start
}

# The nodes `later` that values, and effects, are computed by
later_behind <- function(values, first) {
  # To compute them may make such nodes.
  force(values)
  if (trace_state$later >= first) {
    Filter(is_later, nodes_behind(c(nodes_of(values), effects()), replay_edges, first))
  }
}

# The same values, with all solvers called
all_solved <- function(values, first) {
  for (node in later_behind(values, first)) solved_now(node)
  values
}

# Calls the solver: the node becomes another name for its results, which lie before it.
solved_now <- function(node) {
  count <- trace_state$node_count
  on.exit(trace_state$node_count <- count)
  trace_state$node_count <- node$params$start
  found <- tree_leaves(node$params$run(node$inputs, node$params$lifted))
  if (trace_state$node_count >= node$id) {
    abort("a solver takes more operations in one turn of a loop than in another one", "INTERNAL", call = NULL)
  }
  node$op <- "alias"
  node$inputs <- found
  node$params <- list()
}

# What functions that were traced do, whatever values they capture: a `key`, the same for functions that do the same
# but for numbers and for where parts of captured arrays begin, and `moving`, the values of these. NULL where two of the
# same kind cannot be told from others.
shape_of_functions <- function(regions, captured) {
  names <- new_table()
  moving <- list()
  for (i in seq_along(captured)) set_of_value(names, captured[[i]], paste0("captured ", i))
  is_captured <- function(value) any(startsWith(as.character(of_value(names, value)), "captured"))
  keys_of <- function(region, within, outermost = FALSE) {
    for (i in seq_along(region$params)) set_of_value(names, region$params[[i]], paste0(within, "parameter ", i))
    nodes <- nodes_behind(nodes_of(region$results), replay_edges, region$first)
    nodes <- Filter(function(node) node$op != "parameter", nodes)
    keys <- lapply(seq_along(nodes), function(i) {
      node <- nodes[[i]]
      here <- paste0(within, i, " ")
      inputs <- lapply(replay_edges(node), of_value, table = names)
      may_move <- outermost && length(node$types) == 1L && prod(node$types[[1L]]@shape) <= most_moving &&
        (is_number(node) || (node$op == "slice" && is_captured(node$inputs[[1L]])))
      if (may_move) moving <<- c(moving, new_value(node))
      params <- if (may_move) list(class(node$params$data), node$params$step) else facts_of(node, keys_of, here)
      set_of_results(names, node, as.list(paste0(here, seq_along(node$types))))
      if (!is.null(params) && !any(vapply(inputs, is.null, NA))) {
        list(node$op, inputs, lapply(node$types, attributes), params)
      }
    })
    results <- lapply(region$results, of_value, table = names)
    types <- lapply(region$params, function(param) attributes(type_of(param)))
    if (!any(vapply(c(keys, results), is.null, NA))) list(keys, results, types)
  }
  key <- lapply(seq_along(regions), function(i) keys_of(regions[[i]], paste0(i, " "), outermost = TRUE))
  if (!any(vapply(key, is.null, NA))) list(key = key, moving = moving)
}

# Elements that a number which differs from turn to turn may have
most_moving <- 64

is_number <- function(node) node$op == "constant" && is.numeric(node$params$data) && !is.object(node$params$data)

# What tells a node from others of its kind; NULL for functions, of which only those of ops can be compared. Functions
# of nodes with regions do what the regions have.
facts_of <- function(node, keys_of, here) {
  params <- node$params
  none <- function(value) 0
  if (node$op == "op") {
    return(list(
      number_of_op(params$op), params$arguments, map_values(params$results, none), map_values(params$residuals, none)
    ))
  }
  regions <- inner_regions(node)
  if (length(regions)) {
    keys <- lapply(seq_along(regions), function(i) keys_of(regions[[i]], paste0(here, "region ", i, " ")))
    if (any(vapply(keys, is.null, NA))) {
      return()
    }
    rest <- params[!names(params) %in% c("regions", "region", "stop")]
    return(list(keys, Filter(Negate(is.function), rest)))
  }
  if (!any(vapply(params, is.function, NA))) list(params)
}

# The same number for ops that do the same, see same_rules()
number_of_op <- function(op) {
  at <- Position(function(one) same_rules(one, op), trace_state$solved_ops)
  if (is.na(at)) {
    trace_state$solved_ops <- c(trace_state$solved_ops, list(op))
    at <- length(trace_state$solved_ops)
  }
  at
}
