# What a program computes of some of its arguments alone, those that are the same call after call, as the data of an
# objective are: such as the logarithms of counts in their density. A program of its own computes it, once for each set
# of these arguments, and the program has it as further arguments. Large constants, which are arguments as well, count
# as such arguments.

# Nodes that take no longer than to read what they give
quick_operations <- c(
  cheap, "add", "subtract", "multiply", "negate", "abs", "compare", "select", "and", "or", "not", "xor", "convert",
  "slice", "concatenate", "transpose", "reverse", "pad", "maximum", "minimum", "sign", "floor", "ceil",
  "round_nearest_even", "clamp", "real", "imag", "complex", "op", "optimization_barrier"
)

# It is worth another program from the time on that so many elements of a logarithm take: some 0.1 ms each call, where
# to make the program takes some 10 ms more.
least_of_terms <- 2^16

# So many elements stay in memory at most.
most_of_terms <- 2^24

# The time that a node takes, in elements of a logarithm
node_cost <- function(node) {
  if (node$op %in% quick_operations) {
    return(0)
  }
  if (length(inner_regions(node)) && !node$op %in% c("reduce", "reduce_window")) {
    return(least_of_terms)
  }
  sizes <- vapply(c(lapply(node$inputs, type_of), node$types), function(type) prod(type@shape), 0)
  switch(node$op,
    # Of two matrices and their product it is the number of multiplications.
    dot_general = sqrt(prod(sizes)) / 16,
    custom_call = max(0, sizes)^1.5 / 16,
    max(0, sizes)
  )
}

# Calls of the package's own handlers do the same each time; of others nobody knows.
may_differ <- function(node) {
  acts(node) || (node$op == "custom_call" &&
    !(startsWith(node$params$target, private_prefix) && is.null(node$params$own)))
}

# The values of a region that are to be computed apart: of what is computed of the `fixed` parameters and of large
# constants, and of no other parameter, what the rest of the region uses.
fixed_terms <- function(region, fixed) {
  nodes <- region_nodes(region)
  sizes <- vapply(region$params, function(value) prod(value@shape), 0)
  if (!any(sizes[fixed] >= large_constant) && !any(vapply(nodes, is_large_constant, NA))) {
    return(list())
  }
  # 0 for what depends on nothing, 1 for what depends on what is fixed, 2 for what depends on other parameters, too;
  # by the numbers of nodes
  before <- region$first - 1
  kinds <- integer(region$last - before)
  dear <- logical(region$last - before)
  kinds[node_ids(nodes_of(region$params)) - before] <- ifelse(fixed, 1L, 2L)
  cost <- 0
  terms <- region$results
  for (node in nodes) {
    if (node$op == "parameter") next
    at <- node$id - before
    edges <- program_edges(node)
    kind <- if (is_large_constant(node)) 1L else 0L
    is_dear <- FALSE
    for (value in edges) {
      source <- value@node$id - before
      if (source > 0) {
        kind <- max(kind, kinds[[source]])
        is_dear <- is_dear || dear[[source]]
      }
    }
    if (kind == 1L && may_differ(node)) kind <- 2L
    kinds[[at]] <- kind
    if (kind == 1L) {
      own <- node_cost(node)
      cost <- cost + own
      dear[[at]] <- own > 0 || is_dear
    } else if (kind == 2L && is_dear && !node$op %in% c("op", "alias")) {
      terms <- c(terms, edges)
    }
  }
  if (cost < least_of_terms) {
    return(list())
  }
  is_term <- function(value) {
    at <- value@node$id - before
    at > 0 && kinds[[at]] == 1L && dear[[at]] && length(value@node$types) == 1L && !is_token(value)
  }
  terms <- unique_values(Filter(is_term, lapply(terms, before_broadcast)))
  sizes <- vapply(terms, function(value) prod(value@shape), 0)
  terms <- terms[order(sizes)][cumsum(sort(sizes)) <= most_of_terms]
  terms[order(node_ids(nodes_of(terms)))]
}

# A value, or what it is a repetition of
before_broadcast <- function(value) {
  repeat {
    value <- resolved(value)
    if (!value@node$op %in% c("broadcast_in_dim", "reshape")) {
      return(value)
    }
    value <- value@node$inputs[[1L]]
  }
}

# The terms of a traced function, as a part of its call; NULL for none.
terms_call <- function(region, terms, fixed, device, name, types) {
  if (!length(terms)) {
    return(NULL)
  }
  part <- list(params = region$params[fixed], results = terms, first = region$first, effects = list())
  written <- written_program(part, NULL, platform(device), TRUE)
  program <- compiled_program(written$text, device, data_name(name), tree_leaves(types)[fixed])
  new_terms(program, which(fixed), uploaded_constants(written$constants, device, NULL), lapply(terms, type_of))
}

# What xla_cache() calls their program
data_name <- function(name) paste("data of", name)

# Their `program`, the numbers of the `fixed` arguments, and what it was `last` run with. Nothing here keeps the
# arguments in memory: `last` is a weak reference to the first one.
new_terms <- function(program, fixed, constants, types) {
  list2env(
    list(program = program, fixed = fixed, constants = constants, types = types, last = NULL), parent = emptyenv()
  )
}

# The terms of a call's arguments, computed if these are others than in the call before
terms_of <- function(terms, arguments) {
  if (is.null(terms)) {
    return(NULL)
  }
  given <- unname(arguments[terms$fixed])
  last <- if (rlang::is_weakref(terms$last)) rlang::wref_value(terms$last) else terms$last
  if (!is.null(last) && isTRUE(.Call(wrap__same_objects, given, last$given))) {
    return(last$buffers)
  }
  hidden <- lapply(terms$constants, `[[`, "argument")
  outputs <- .Call(wrap__executable_execute, terms$program$executable, c(given, hidden), NULL, TRUE, FALSE, TRUE)
  last <- list(given = given, buffers = if (is.object(outputs)) finish(outputs, NULL) else outputs)
  terms$last <- if (length(given)) rlang::new_weakref(given[[1L]], last) else last
  last$buffers
}
