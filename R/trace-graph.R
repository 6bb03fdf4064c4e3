# Walks over the graph of a program.

# The program that is being written. How many nodes there have been; the programs and regions that are being traced, the
# innermost last; the branch, see check_living(). Functions of the user's and what stands for them, in pairs; the last
# error about what R cannot decide of a value; the name of the op whose call is being traced; whether derivatives are
# going to be taken; the platform, the mesh (NULL for one device), and while the body of xla_shard_map() is traced its
# mesh; whether names of values were read; what the function does with R's `present`; what it read of the session; what
# sparse derivatives did not see through; what is copied (see trace-template.R); how many nodes there were where turns
# of R's loops began (see note_turn()), the loops themselves (see overload-turns.R), and how many loops code has had;
# whether sums keep their order; the solvers that such turns have called, ops within their functions, and the number of
# the last node `later` (see jit-later.R).
trace_state <- session_state("trace_state",
  node_count = 0, traces = list(), branch = NULL, converted = list(), undecided = NULL, owner = NULL,
  differentiated = NULL, platform = NULL, mesh = NULL, manual = NULL, names_read = NULL, present = NULL,
  session_reads = list(), opaque = NULL, templates = NULL, turns = numeric(), loops = list(), loop_ids = 0L,
  ordered = FALSE, solved = NULL, solved_ops = NULL, later = 0
)

value_key <- function(value) paste0(value@node$id, ":", value@index)

value_keys <- function(values) vapply(values, value_key, "")

unique_values <- function(values) values[!duplicated(value_keys(values))]

nodes_of <- function(values) lapply(values, function(value) value@node)

# Tables of what is known of nodes, and of values. No environments: R keeps the names of their variables for good, and
# each program has nodes of new numbers.
new_table <- function() utils::hashtab("address")

of_node <- function(table, node) utils::gethash(table, node)

set_of_node <- function(table, node, what) utils::sethash(table, node, what)

of_value <- function(table, value) {
  all <- utils::gethash(table, value@node)
  if (value@index <= length(all)) all[[value@index]]
}

set_of_value <- function(table, value, what) {
  all <- utils::gethash(table, value@node)
  all[value@index] <- list(what)
  utils::sethash(table, value@node, all)
}

# What is known of all results of a node, as a list
set_of_results <- function(table, node, all) utils::sethash(table, node, all)

# These nodes and those that they are computed from, in the order of computation; none with a number
# below `first` is looked at. `edges` gives the values that a node is computed from.
nodes_behind <- function(nodes, edges, first = 0) {
  found <- list()
  # Those behind a node have smaller numbers, so that what was seen is a vector by the distance from the largest.
  last <- max(node_ids(nodes), first)
  seen <- logical(min(last - first + 1, 256))
  waiting <- nodes
  while (length(waiting)) {
    fresh <- list()
    for (node in waiting) {
      if (node$id >= first) {
        at <- last - node$id + 1
        if (at > length(seen)) seen <- c(seen, logical(at))
        if (!seen[[at]]) {
          seen[[at]] <- TRUE
          found[[length(found) + 1L]] <- node
          for (value in edges(node)) fresh[[length(fresh) + 1L]] <- attr(value, "node")
        }
      }
    }
    waiting <- fresh
  }
  in_order(found)
}

# Tells of values whether they are computed from `roots` by `nodes`, which are in the order of computation.
computed_from <- function(roots, nodes, edges) {
  found <- new_table()
  for (root in roots) set_of_node(found, root@node, TRUE)
  is_found <- function(value) !is.null(of_node(found, value@node))
  for (node in nodes) {
    if (any(vapply(edges(node), is_found, NA))) set_of_node(found, node, TRUE)
  }
  is_found
}

# What `outputs` have of something that `roots` have as in `given` and that nodes pass on: `rule(node, inputs)` gives it
# for each result of a node that is computed from what has any, NULL for nothing. What the roots are computed from does
# not count.
passed_on <- function(outputs, roots, given, edges, rule) {
  found <- new_table()
  leaf <- new_table()
  for (i in seq_along(roots)) {
    set_of_node(leaf, roots[[i]]@node, TRUE)
    set_of_value(found, roots[[i]], given[[i]])
  }
  is_leaf <- function(node) !is.null(of_node(leaf, node))
  first <- if (length(roots)) min(vapply(roots, function(root) root@node$id, 0)) else Inf
  nodes <- nodes_behind(nodes_of(outputs), function(node) if (is_leaf(node)) list() else edges(node), first)
  for (node in Filter(Negate(is_leaf), nodes)) {
    inputs <- lapply(edges(node), of_value, table = found)
    if (all(vapply(inputs, is.null, NA))) {
      next
    }
    set_of_results(found, node, rule(node, inputs))
  }
  lapply(outputs, of_value, table = found)
}

node_ids <- function(nodes) vapply(nodes, function(node) node$id, 0)

in_order <- function(nodes) unname(nodes)[order(node_ids(nodes))]

# An op stands for the values that its call gave (see ffi_op()): that is what a program is made of.
program_edges <- function(node) if (node$op == "op") node$params$body else node$inputs

all_edges <- function(node) c(node$inputs, if (node$op == "op") node$params$body)

# Follows names to what was computed.
resolved <- function(value) {
  repeat {
    node <- value@node
    if (node$op != "alias" && node$op != "op") {
      return(value)
    }
    value <- program_edges(node)[[value@index]]
  }
}

# Calls `f` with parameters of the given types and records what it does: a program, or a region of
# one. Nodes with side effects are kept though nobody uses what they give.
trace_region <- function(f, types, silent = FALSE) {
  depth <- length(trace_state$traces)
  is_inner <- is_tracing()
  on.exit({
    trace_state$traces <- trace_state$traces[seq_len(depth)]
    if (depth == 0L) {
      trace_state$converted <- list()
      trace_state$turns <- numeric()
    }
  })
  trace_state$traces[[depth + 1L]] <- list()
  first <- trace_state$node_count + 1
  params <- NULL
  trace <- function() {
    params <<- lapply(types, new_parameter)
    f(params)
  }
  results <- if (is_inner) trace() else marked_as_trace(trace())
  list(
    params = params, results = results, first = first, last = trace_state$node_count,
    effects = if (!silent) trace_state$traces[[depth + 1L]]
  )
}

# R's collector may come in the middle of a trace, and call finalizers, which have nothing to do with the program that
# is being written. R hides from them what restarts there are: so a trace has one, and who does not see it is no part
# of it.
marked_as_trace <- function(expr) withRestarts(expr, xlaffi_trace = function() NULL)

# Asked while a program is being written: whether a finalizer calls.
in_finalizer <- function() {
  for (restart in computeRestarts()) {
    if (restart[[1L]] == "xlaffi_trace") return(FALSE)
  }
  TRUE
}

# Values that are computed here, with a loop of the program for each row of equal turns (jit-loops.R): what a loop, a
# branch or a solver is given by a function of the user's.
looped <- function(values) {
  first <- trace_state$node_count + 1
  force(values)
  is_computed <- vapply(values, is_value, NA)
  values[is_computed] <- hooks$with_loops(values[is_computed], first)
  values
}

# What `f` gives, recorded without side effects.
silently <- function(f) {
  results <- NULL
  trace_region(function(params) results <<- f(), list(), silent = TRUE)
  results
}

# Notes that a turn of a loop of R's begins: called by the code that overload-convert-code.R writes, for
# jit-loop-cases.R. Of turns without nodes nothing is kept.
note_turn <- function() {
  count <- length(trace_state$turns)
  if (count == 0L || trace_state$turns[[count]] != trace_state$node_count) {
    trace_state$turns[[count + 1L]] <- trace_state$node_count
  }
}

record_effect <- function(node) {
  if (is_tracing()) {
    depth <- length(trace_state$traces)
    trace_state$traces[[depth]] <- c(trace_state$traces[[depth]], node)
  }
}

# The nodes of a region that are computed for its results or for what they do.
region_nodes <- function(region) {
  nodes_behind(c(nodes_of(region$results), region$effects), program_edges, region$first)
}

# The values from outside that a region uses, also those that only an op's rules use.
region_captures <- function(region) {
  nodes <- nodes_behind(c(nodes_of(region$results), region$effects), all_edges, region$first)
  inputs <- unlist(lapply(nodes, all_edges), recursive = FALSE)
  Filter(function(value) value@node$id < region$first, c(inputs, region$results))
}

node_title <- function(node) {
  if (node$op != "custom_call") {
    return(sprintf("`%s`", node$op))
  }
  owner <- node$params$owner
  call <- sprintf("the custom call \"%s\"", public_target(node$params$target))
  if (is.null(owner)) call else sprintf("the op `%s` (%s)", owner, call)
}

no_rule <- function(node, rule, text, hint = NULL) {
  op <- if (node$op == "custom_call") public_target(node$params$target) else node$op
  abort(sprintf("%s %s", node_title(node), text), "UNIMPLEMENTED", op = op, operand = rule, hint = hint, call = NULL)
}

inner_regions <- function(node) {
  Filter(Negate(is.null), c(node$params[["regions"]], list(node$params[["region"]], node$params[["stop"]])))
}

# What comes after the first `count` of a list
beyond <- function(x, count) x[seq_along(x) > count]

# Whether what calls is a part of a trace.
is_tracing <- function() length(trace_state$traces) > 0L && !in_finalizer()
