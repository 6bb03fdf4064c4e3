# The graph as StableHLO text. A `scope` holds the names of the values so far.

# A whole module. `region` is what trace_region() gave. `layout`, for a mesh: the `mesh`, and for each of `inputs` and
# `outputs` along which axes it is cut; NULL leaves that to XLA.
program_text <- function(region, layout = NULL, platform = "cpu") {
  written_program(region, layout, platform, hidden = FALSE)$text
}

# The `text`, and the large `constants`, which are arguments behind the others, if they are `hidden`. Values that are
# `given` are arguments between these and the region's own.
written_program <- function(region, layout, platform, hidden, given = list()) {
  kind <- if (is.null(layout) && platform == "cpu") new_kind()
  scope <- new_scope("    ",
    mesh = if (!is.null(layout) && mesh_size(layout$mesh) > 1L) layout$mesh, kind = kind, platform = platform,
    ordered = isTRUE(region$ordered)
  )
  params <- c(region$params, given)
  arguments <- sprintf("%%arg%d", seq_along(params) - 1L)
  scope$arguments <- node_ids(nodes_of(params))
  name_parameters(scope, params, arguments)
  scope <- region_scope(scope)
  nodes <- nodes_to_write(region, scope, given)
  if (!is.null(kind)) {
    note_kind(kind, nodes, is_outermost = TRUE)
  }
  body <- lapply(nodes, node_lines, scope = scope)
  types <- vapply(region$results, mlir_type, "")
  results <- vapply(region$results, value_name, "", scope = scope)
  parts <- if (is_in_parts(kind) && !length(region$effects) && !any(vapply(nodes, acts, NA))) {
    parts_of_program(body, known_values(scope, nodes, params, arguments), results, scope$indent)
  }
  constants <- if (hidden) scope$shared$entries
  constant_types <- lapply(constants, function(entry) entry$type)
  parameters <- sprintf(
    "%s: %s", c(arguments, vapply(constants, function(entry) entry$name, "")),
    vapply(c(params, constant_types), mlir_type, "")
  )
  inputs <- if (!is.null(layout)) c(layout$inputs, lapply(constant_types, whole_spec))
  lines <- c(
    sprintf("module %s {", module_name(kind, scope)),
    if (!is.null(layout)) paste0("  ", mesh_text(layout$mesh)),
    sprintf(
      "  func.func public @main(%s) -> (%s) {",
      paste0(parameters, sharding_attributes(inputs), collapse = ", "),
      paste0(types, sharding_attributes(layout$outputs), collapse = ", ")
    ),
    if (!hidden) large_lines(scope),
    if (is.null(parts)) unlist(body) else parts$calls,
    if (length(types)) {
      sprintf("    return %s : %s", toString(if (is.null(parts)) results else parts$results), toString(types))
    } else {
      "    return"
    },
    "  }",
    parts$functions,
    "}"
  )
  list(text = paste0(paste(lines, collapse = "\n"), "\n"), constants = constants)
}

# `prefix` begins the names of values; `kind` takes what kind of program it is, see trace-kind.R. `ordered`: factors are
# multiplied in the order in which they are written.
new_scope <- function(indent, mesh = NULL, prefix = "", kind = NULL, platform = "", ordered = FALSE) {
  count <- new.env(parent = emptyenv())
  count$values <- 0L
  list(
    names = new_table(), count = count, indent = indent, mesh = mesh, prefix = prefix, kind = kind,
    platform = platform, ordered = ordered,
    shared = new_constants(prefix), block = new_constants()
  )
}

# Of the parameters or the results of a program; nothing for one device.
sharding_attributes <- function(specs) {
  vapply(specs, function(entries) {
    if (is.null(entries)) "" else sprintf(" {sdy.sharding = #sdy.sharding%s}", sharding_text(entries))
  }, "")
}

name_parameters <- function(scope, params, names) {
  for (i in seq_along(params)) {
    set_of_node(scope$names, params[[i]]@node, names[[i]])
  }
}

# Of a region within another one
region_lines <- function(scope, region) {
  scope <- region_scope(scope)
  nodes <- nodes_to_write(region, scope)
  if (!is.null(scope$kind)) {
    note_kind(scope$kind, nodes, is_outermost = FALSE)
  }
  unlist(lapply(nodes, node_lines, scope = scope))
}

# What a region names is seen in it alone.
region_scope <- function(scope) {
  scope$block <- new_constants()
  scope$written <- utils::hashtab()
  scope
}

nodes_to_write <- function(region, scope, given = list()) {
  nodes <- written_nodes(region, given)
  note_updates(nodes)
  with_products_together(without_joined(nodes, region$results), scope)
}

# The nodes of a region that a program shows, without those that values are computed by which are `given`
written_nodes <- function(region, given = list()) {
  known <- node_ids(nodes_of(given))
  edges <- function(node) if (node$id %in% known) list() else program_edges(node)
  nodes <- nodes_behind(c(nodes_of(region$results), region$effects), edges, region$first)
  Filter(function(node) !node$op %in% c("alias", "op", "parameter") && !node$id %in% known, nodes)
}

value_name <- function(value, scope) {
  value <- resolved(value)
  names <- of_node(scope$names, value@node)
  if (is.null(names)) value_of_another(value)
  names[[value@index]]
}

value_of_another <- function(value) {
  abort(
    sprintf("a value of another program is used here: %s", format(value)),
    operand = "f", hint = "Values live in the function that they were made in: return them, or pass them on.",
    call = NULL
  )
}

node_lines <- function(scope, node, alone = FALSE) {
  if (!alone && !is.null(node$together)) {
    return(together_lines(node, scope))
  }
  before <- scope$count$values
  operands <- character()
  text <- if (is.null(node$joined)) {
    operands <- character(length(node$inputs))
    for (i in seq_along(operands)) operands[[i]] <- value_name(node$inputs[[i]], scope)
    primitive_rule(node$op, "text")(node, operands, scope)
  } else {
    joined_updates_text(node, scope)
  }
  named <- is.list(text)
  count <- length(node$types)
  if (!named && !count) {
    return(paste0(scope$indent, text))
  }
  key <- key_of(scope, node, operands, text, before)
  known <- if (!is.null(key)) utils::gethash(scope$written, key)
  if (!is.null(known)) {
    set_of_node(scope$names, node, known)
    return(character())
  }
  if (named) {
    names <- text$names
    lines <- text$lines
  } else {
    name <- fresh_name(scope)
    names <- result_names(name, count)
    lines <- c(paste0(scope$indent, name, count_text(count), " = ", text[[1L]]), text[-1L])
  }
  set_of_node(scope$names, node, names)
  if (!is.null(key)) {
    utils::sethash(scope$written, key, names)
  }
  lines
}

# By what a node is left out where its block has computed the same before: its text, or what it is made of where the
# text has names of its own; NULL for one that is written always. XLA finds equal nodes itself, but for custom calls,
# and with these all that is computed from them. What has side effects is done as often as it is written; barriers and
# new tokens are there to keep apart what is equal.
key_of <- function(scope, node, operands, text, before) {
  if (node$op %in% c("optimization_barrier", "after_all") || isTRUE(node$params$has_side_effect)) {
    return(NULL)
  }
  named <- is.list(text)
  if (length(inner_regions(node)) && length(node$types)) {
    return(region_key(scope, node, if (named) text$lines else text, before))
  }
  if (named) {
    return(if (isTRUE(text$calls)) made_of(node, operands))
  }
  if (length(text) == 1L) {
    return(text)
  }
  if (is.null(node$joined)) made_of(node, operands)
}

# The same of a loop or a branch, which XLA would run as often as it is written: its lines, with the names that are its
# own counted from its first one
region_key <- function(scope, node, lines, before) {
  if (nzchar(scope$prefix) || any_token(node$types) || acts(node)) {
    return(NULL)
  }
  text <- paste(lines, collapse = "\n")
  strings <- regmatches(text, gregexpr("\"[^\"]*\"", text))[[1L]]
  if (any(grepl("%", strings, fixed = TRUE))) {
    return(NULL)
  }
  at <- gregexpr("%(loop)?[0-9]+", text)
  names <- regmatches(text, at)[[1L]]
  numbers <- as.numeric(sub("%(loop)?", "", names))
  own <- numbers >= before
  names[own] <- paste0(sub("[0-9]+", "own", names[own]), numbers[own] - before)
  regmatches(text, at) <- list(names)
  text
}

made_of <- function(node, operands) list(node$op, operands, node$params, node$types)

fresh_name <- function(scope) {
  name <- paste0("%", scope$prefix, scope$count$values)
  scope$count$values <- scope$count$values + 1L
  name
}

# What stands behind the name of a line that gives so many results, and what these are called
count_text <- function(count) if (count > 1L) paste0(":", count)

result_names <- function(name, count) if (count == 1L) name else sprintf("%s#%d", name, seq_len(count) - 1L)

# Collects the lines of a node that takes several: `add(text, count)` gives the names of what the text computes.
text_lines <- function(scope) {
  lines <- character()
  add <- function(text, count = 1L) {
    # Its own lines come before it.
    force(text)
    name <- fresh_name(scope)
    lines <<- c(lines, paste0(scope$indent, name, count_text(count), " = ", text[[1L]]), text[-1L])
    result_names(name, count)
  }
  list(add = add, lines = function() lines)
}

# The last line of a region
return_line <- function(scope, names, types) {
  types <- vapply(types, mlir_type, "")
  paste0(scope$indent, "stablehlo.return", if (length(names)) sprintf(" %s : %s", toString(names), toString(types)))
}

# Pieces of syntax.

input_types <- function(node) vapply(node$inputs, mlir_type, "")

result_types <- function(node) vapply(node$types, mlir_type, "")

signature_text <- function(node) {
  results <- result_types(node)
  inputs <- paste(input_types(node), collapse = ", ")
  paste0("(", inputs, ") -> ", if (length(results) == 1L) results else sprintf("(%s)", toString(results)))
}

# Axes, which MLIR counts from 0.
axes_text <- function(axes) sprintf("[%s]", toString(axes - 1L))

sizes_text <- function(sizes) sprintf("[%s]", toString(sizes))

# Operands and result of one type.
plain_text <- function(node, operands, scope) {
  paste0("stablehlo.", node$op, " ", paste(operands, collapse = ", "), " : ", mlir_type(node$types[[1L]]))
}

# The type of the result differs from that of the operands. `details` comes before the colon.
signed_text <- function(details = function(params) "") {
  function(node, operands, scope) {
    sprintf("stablehlo.%s %s%s : %s", node$op, toString(operands), details(node$params), signature_text(node))
  }
}
