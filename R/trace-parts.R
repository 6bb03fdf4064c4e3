# Long programs in parts: functions that XLA is told not to put in their callers' place. It looks at each pair of the
# steps of a function, so a program of 6,200 steps took 9 s to compile and takes 1.7 s in parts; with 12,500 it takes
# 3.4 s. See trace-kind.R and src/rust/crates/pjrt/src/kind.rs.

# What parts may take and give: each `name` with its `type` and the place of the node among `nodes` that it comes from,
# 0 for arguments and large constants.
known_values <- function(scope, nodes, params, arguments) {
  constants <- scope$shared$entries
  written <- lapply(nodes, written_with)
  place <- rep(seq_along(written), lengths(written))
  nodes <- unlist(written, recursive = FALSE)
  names <- lapply(nodes, function(node) of_node(scope$names, node))
  outside <- c(arguments, vapply(constants, function(entry) entry$name, ""))
  values <- list(
    name = c(outside, unlist(names)),
    type = c(
      lapply(params, type_of), lapply(constants, function(entry) entry$type),
      unlist(Map(function(node, names) node$types[seq_along(names)], nodes, names), recursive = FALSE)
    ),
    node = c(integer(length(outside)), rep(place, lengths(names)))
  )
  # A name that several nodes have is the first one's.
  lapply(values, `[`, !duplicated(values$name))
}

# The `lines` of each node as functions of `least_long` nodes, the calls of these, and the names of the program's
# results.
parts_of_program <- function(lines, values, results, indent) {
  parts <- split(seq_along(lines), (seq_along(lines) - 1L) %/% least_long)
  wanted <- unique(results)
  functions <- calls <- character()
  for (i in rev(seq_along(parts))) {
    at <- match(wanted, values$name)
    given <- at[which(values$node[at] %in% parts[[i]])]
    # Constants that stand elsewhere, and what was written before, have no lines.
    if (!length(given)) next
    text <- unlist(lines[parts[[i]]])
    at <- match(value_names_in(text), values$name)
    taken <- at[which(values$node[at] < parts[[i]][[1L]])]
    part <- part_of_program(i, text, lapply(values, `[`, taken), lapply(values, `[`, given), indent)
    functions <- c(part$text, functions)
    calls <- c(part$call, calls)
    wanted <- unique(c(setdiff(wanted, values$name[given]), values$name[taken]))
  }
  list(functions = functions, calls = calls, results = outside_name(results))
}

# What a function takes and gives has the same names within it and around it, but for one of several results of a node:
# no argument has a name such as `%5#1`.
outside_name <- function(names) sub("%(.*)#(.*)", "%of\\1_\\2", names)

part_of_program <- function(number, lines, taken, given, indent) {
  name <- sprintf("@part%d", number)
  arguments <- outside_name(taken$name)
  types <- lapply(list(taken$type, given$type), function(types) vapply(types, mlir_type, ""))
  renamed <- arguments != taken$name
  results <- toString(types[[2L]])
  list(
    text = c(
      sprintf(
        "  func.func private %s(%s) -> (%s) {", name,
        paste0(arguments, ": ", types[[1L]], recycle0 = TRUE, collapse = ", "), results
      ),
      renamed_in(lines, taken$name[renamed], arguments[renamed]),
      sprintf("    return %s : %s", toString(given$name), results),
      "  }"
    ),
    call = sprintf(
      "%s%s = func.call %s(%s) : (%s) -> (%s)", indent, toString(outside_name(given$name)), name, toString(arguments),
      toString(types[[1L]]), results
    )
  )
}

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
