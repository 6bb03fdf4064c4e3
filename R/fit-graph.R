# What `f` of an objective has written. Its value, its gradient, its Hessian and the plan of that by the random effects
# are programs of their own; `f` is called once for them all, as loops of R's take long to be traced.

# The graph of the objective that was made last. It goes with that one, and is not saved with it.
objective_graph <- session_state("objective_graph", last = NULL)

# As self$traced, a function of the parameters, a vector or a column for each leaf of the template, and of the data,
# which calls `f`
with_kept_graph <- function(self) {
  force(self)
  function(parameters, ...) {
    graph <- kept_graph(self)
    if (!is.null(graph)) {
      inputs <- c(if (is_value(parameters)) parameter_columns(self$template, parameters) else parameters, list(...))
      if (fits_graph(graph$region, inputs)) {
        trace_state$session_reads <- joined_reads(trace_state$session_reads, graph$reads)
        return(replay_region(graph$region, inputs, list(), list())[[1L]])
      }
    }
    self$traced(parameters, ...)
  }
}

kept_graph <- function(self) {
  last <- objective_graph$last
  if (is.null(last) || !identical(rlang::wref_key(last), self)) {
    return()
  }
  graph <- rlang::wref_value(last)
  if (!changed(graph$watched)) graph
}

fits_graph <- function(region, inputs) {
  length(inputs) == length(region$params) &&
    all(as.logical(Map(function(x, param) is_value(x) && same_type(x, param), inputs, region$params)))
}

# Calls `f`, and keeps what it wrote if that can be written again in another program and `f` has said nothing. Gives
# the number of its results.
traced_count <- function(self) {
  objective_graph$last <- NULL
  captured <- captured_variables(list(self$f))
  sizes <- lengths(tree_leaves(self$template))
  traced <- noting_speech(traced_objective(self, sizes, function(...) {
    inputs <- list(...)
    own <- seq_along(sizes)
    do.call(self$traced, c(list(inputs[own]), inputs[-own]))
  }))
  region <- traced$region
  plain <- is.null(traced$mesh) && is.null(traced$present) && !length(region$effects) && !traced$spoke
  if (plain && can_be_kept(region)) {
    reads <- trace_state$session_reads
    graph <- list(region = region, reads = reads, watched = watched(captured, grouped_reads(reads)))
    objective_graph$last <- rlang::new_weakref(self, graph)
  }
  list(count = traced$results@shape)
}

# Whether the nodes of a region hold nothing that belongs to one program: no functions but those of ops, which mention
# no values.
can_be_kept <- function(region) {
  nodes <- nodes_behind(nodes_of(region$results), replay_edges, region$first)
  ops <- Filter(function(node) node$op == "op", nodes)
  others <- Filter(function(node) node$op != "op", nodes)
  length(ops) <= most_kept_ops && all(vapply(others, is_kept_node, NA)) &&
    !any(vapply(ops, function(node) mentions_values(node$params$op), NA))
}

most_kept_ops <- 200L

is_kept_node <- function(node) {
  params <- node$params
  if (isTRUE(params$has_side_effect) || any(vapply(params, is.function, NA))) {
    return(FALSE)
  }
  all(vapply(inner_regions(node), can_be_kept, NA))
}

# Whether `x` has values, or functions that read some
mentions_values <- function(x, depth = 0L) {
  if (is_value(x) || is.environment(x) || depth > 10L) {
    return(TRUE)
  }
  if (is.function(x)) x <- if (is.primitive(x)) list() else lapply(free_variables(x)$groups, `[[`, "values")
  is.list(x) && any(vapply(x, mentions_values, NA, depth + 1L))
}
