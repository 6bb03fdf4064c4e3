# Long regions in parts: functions of the program that XLA is told not to put in their callers' place. It looks at each
# pair of the steps of a function, so a program of 6,200 steps took 9 s to compile and takes 1.7 s in parts; with 12,500
# it takes 3.4 s. See trace-kind.R and src/rust/crates/pjrt/src/kind.rs.

# Whether the nodes of a region may be functions of their own: not where one is done for effects, which have an order.
may_be_parts <- function(nodes, region) !length(region$effects) && !any(vapply(nodes, acts, NA))

# What has been named, in this order, with its type, for programs that may have parts. What stands before all else is
# number 0.
new_types <- function() list2env(list(count = 0L, known = new.env(parent = emptyenv())), parent = emptyenv())

note_types <- function(scope, names, types, first = FALSE) {
  found <- scope$kind$types
  if (is.null(found)) {
    return(invisible())
  }
  for (i in seq_along(names)) {
    if (is.null(found$known[[names[[i]]]])) {
      if (!first) found$count <- found$count + 1L
      found$known[[names[[i]]]] <- list(at = if (first) 0L else found$count, type = types[[i]])
    }
  }
}

# The lines of a region whose nodes are `size` by `size` in functions. What a function takes and gives has the same
# names within it and around it, but for one of several results of a node.
lines_in_parts <- function(scope, nodes, region, size) {
  types <- scope$kind$types
  start <- types$count
  parts <- lapply(split(nodes, (seq_along(nodes) - 1L) %/% size), function(nodes) {
    before <- types$count
    lines <- unlist(lapply(nodes, node_lines, scope = scope))
    list(lines = lines, named = value_names_in(lines), before = before, after = types$count)
  })
  at <- function(names) vapply(names, function(name) c(types$known[[name]]$at, NA_integer_)[[1L]], 0L)
  wanted <- unique(vapply(region$results, value_name, "", scope = scope))
  calls <- character()
  for (part in rev(parts)) {
    taken <- part$named[which(at(part$named) <= part$before)]
    given <- wanted[which(at(wanted) > part$before & at(wanted) <= part$after)]
    operands <- ifelse(at(taken) > start, outside_name(taken), taken)
    calls <- c(call_of_part(scope, part$lines, taken, operands, given), calls)
    wanted <- unique(c(setdiff(wanted, given), taken))
  }
  for (value in lapply(region$results, resolved)) {
    names <- of_node(scope$names, value@node)
    inner <- which(at(names) > start)
    names[inner] <- outside_name(names[inner])
    set_of_node(scope$names, value@node, names)
  }
  calls
}

# How a result is called outside of its part: no argument has a name such as `%5#1`.
outside_name <- function(names) sub("%(.*)#(.*)", "%of\\1_\\2", names)

call_of_part <- function(scope, lines, taken, operands, given) {
  kind <- scope$kind
  if (!length(lines)) {
    return(character())
  }
  types_of <- function(names) {
    as.character(lapply(names, function(name) mlir_type(kind$types$known[[name]]$type)))
  }
  taken_types <- types_of(taken)
  given_types <- types_of(given)
  name <- sprintf("@part%d", length(kind$functions))
  renamed <- taken != outside_name(taken)
  kind$functions <- c(kind$functions, list(c(
    sprintf(
      "  func.func private %s(%s)%s {", name,
      paste0(outside_name(taken), ": ", taken_types, recycle0 = TRUE, collapse = ", "), results_of_function(given_types)
    ),
    renamed_in(lines, taken[renamed], outside_name(taken[renamed])),
    paste0("    return", if (length(given)) sprintf(" %s : %s", toString(given), toString(given_types))),
    "  }"
  )))
  sprintf(
    "%s%sfunc.call %s(%s) : (%s) -> (%s)", scope$indent,
    if (length(given)) paste0(toString(outside_name(given)), " = ") else "", name, toString(operands),
    toString(taken_types), toString(given_types)
  )
}

results_of_function <- function(types) if (length(types)) sprintf(" -> (%s)", toString(types)) else ""

# Names of values in lines, each once
value_names_in <- function(lines) unique(unlist(regmatches(lines, gregexpr(name_pattern, lines, perl = TRUE))))

name_pattern <- "%[A-Za-z0-9_]+(?:#[0-9]+)?"

renamed_in <- function(lines, from, to) {
  if (!length(from)) {
    return(lines)
  }
  places <- gregexpr(name_pattern, lines, perl = TRUE)
  names <- regmatches(lines, places)
  regmatches(lines, places) <- lapply(names, function(names) {
    at <- match(names, from)
    ifelse(is.na(at), names, to[at])
  })
  lines
}
