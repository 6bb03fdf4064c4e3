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
  scope <- new_scope("    ", mesh = if (!is.null(layout) && mesh_size(layout$mesh) > 1L) layout$mesh, kind = kind)
  params <- c(region$params, given)
  arguments <- sprintf("%%arg%d", seq_along(params) - 1L)
  scope$arguments <- node_ids(nodes_of(params))
  name_parameters(scope, params, arguments)
  body <- region_lines(scope, region, given)
  types <- vapply(region$results, mlir_type, "")
  results <- vapply(region$results, value_name, "", scope = scope)
  constants <- if (hidden) scope$shared$entries
  constant_types <- lapply(constants, function(entry) entry$type)
  parameters <- sprintf(
    "%s: %s", c(arguments, vapply(constants, function(entry) entry$name, "")),
    vapply(c(params, constant_types), mlir_type, "")
  )
  inputs <- if (!is.null(layout)) c(layout$inputs, lapply(constant_types, whole_spec))
  lines <- c(
    sprintf("module %s {", module_name(kind)),
    if (!is.null(layout)) paste0("  ", mesh_text(layout$mesh)),
    sprintf(
      "  func.func public @main(%s) -> (%s) {",
      paste0(parameters, sharding_attributes(inputs), collapse = ", "),
      paste0(types, sharding_attributes(layout$outputs), collapse = ", ")
    ),
    if (!hidden) large_lines(scope),
    body,
    if (length(types)) sprintf("    return %s : %s", toString(results), toString(types)) else "    return",
    "  }",
    "}"
  )
  list(text = paste0(paste(lines, collapse = "\n"), "\n"), constants = constants)
}

# `prefix` begins the names of values; `kind` takes what kind of program it is, see trace-text.R.
new_scope <- function(indent, mesh = NULL, prefix = "", kind = NULL) {
  count <- new.env(parent = emptyenv())
  count$values <- 0L
  list(
    names = new_table(), count = count, indent = indent, mesh = mesh, prefix = prefix, kind = kind,
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

region_lines <- function(scope, region, given = list()) {
  scope$block <- new_constants()
  scope$written <- utils::hashtab()
  nodes <- written_nodes(region, given)
  note_updates(nodes)
  nodes <- without_joined(nodes, region$results)
  if (!is.null(scope$kind)) {
    note_kind(scope$kind, nodes)
  }
  unlist(lapply(nodes, node_lines, scope = scope))
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

node_lines <- function(scope, node) {
  operands <- character()
  text <- if (is.null(node$joined)) {
    operands <- character(length(node$inputs))
    for (i in seq_along(operands)) operands[[i]] <- value_name(node$inputs[[i]], scope)
    primitive_rule(node$op, "text")(node, operands, scope)
  } else {
    joined_updates_text(node, scope)
  }
  # What `text` names itself
  if (is.list(text)) {
    if (isTRUE(text$calls)) {
      key <- made_of(node, operands)
      known <- utils::gethash(scope$written, key)
      if (!is.null(known)) {
        set_of_node(scope$names, node, known)
        return(character())
      }
      utils::sethash(scope$written, key, text$names)
    }
    set_of_node(scope$names, node, text$names)
    return(text$lines)
  }
  count <- length(node$types)
  if (!count) {
    return(paste0(scope$indent, text))
  }
  key <- key_of(node, operands, text)
  known <- if (!is.null(key)) utils::gethash(scope$written, key)
  if (!is.null(known)) {
    set_of_node(scope$names, node, known)
    return(character())
  }
  name <- fresh_name(scope)
  names <- if (count == 1L) name else sprintf("%s#%d", name, seq_len(count) - 1L)
  set_of_node(scope$names, node, names)
  if (!is.null(key)) {
    utils::sethash(scope$written, key, names)
  }
  text[[1L]] <- paste0(scope$indent, name, if (count > 1L) paste0(":", count), " = ", text[[1L]])
  text
}

# By what a node is left out where its block has computed the same before: its text, or what it is made of where the
# text has names of its own; NULL for one that is written always. XLA finds equal nodes itself, but for custom calls,
# and with these all that is computed from them. What has side effects is done as often as it is written; barriers and
# new tokens are there to keep apart what is equal.
key_of <- function(node, operands, text) {
  if (node$op %in% c("optimization_barrier", "after_all") || isTRUE(node$params$has_side_effect)) {
    return(NULL)
  }
  if (length(text) == 1L) {
    return(text)
  }
  if (is.null(node$joined) && !length(inner_regions(node))) made_of(node, operands)
}

made_of <- function(node, operands) list(node$op, operands, node$params, node$types)

fresh_name <- function(scope) {
  name <- paste0("%", scope$prefix, scope$count$values)
  scope$count$values <- scope$count$values + 1L
  name
}

# Collects the lines of a node that takes several: `add(text)` gives the name of what the text computes.
text_lines <- function(scope) {
  lines <- character()
  add <- function(text) {
    # Its own lines come before it.
    force(text)
    name <- fresh_name(scope)
    lines <<- c(lines, sprintf("%s%s = %s", scope$indent, name, text[[1L]]), text[-1L])
    name
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

# What kind of program a text is, which says how it is compiled. Of many small computations, such as a loop of R's over
# scalars that was written out, XLA's compiler fuses each result with all that it is computed from, again in each of its
# users: that takes time which grows with the third power of the length of such a row, or faster. A module of nothing
# else has a name of its own, by which the compiler is told not to fuse; see src/rust/crates/pjrt/src/kind.rs, where
# the measurements are. (Functions in the text that the compiler is told to leave apart are quicker still to compile,
# but XLA ends the process where one of their arguments turns out to be a constant.)

# Regions with fewer nodes, or with no row of so many, are compiled as all programs are. Values and gradients of single
# densities have 500 to 1,800 nodes and rows of 75 to 130; fused they compile in half the time and run in less.
least_long <- 512L
least_row <- 192L

# Arrays of up to so many elements are small: nothing is gained by threads or by fused loops over them.
most_small <- 1024

# Elements of a matrix by which vectors are multiplied without LLVM's optimisation: with 300 rows and columns a product
# takes 12 us instead of 8 and 5 ms to compile instead of 15, with 700 it takes 65 to 150 us instead of 45.
most_of_matrix <- 2^17

# Turns of a loop in a program of small nodes
most_turns <- 64

# Kinds of nodes at which XLA's optimiser has nothing to gain where their results are small
quick_kinds <- c(
  elementwise, "real", "imag", "abs", "complex", "convert", "bitcast_convert", "reshape", "broadcast_in_dim",
  "transpose", "concatenate", "dynamic_slice", "dynamic_update_slice", "pad", "slice", "constant", "iota", "reverse",
  "compare", "select"
)

# dtypes of which XLA compiles a single operation without fusion. Of the others (jaxlib 0.10.2) it takes a transposed
# array's elements in the order that they had before.
single_dtypes <- c("pred", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")

# Collects, while a program is written, whether a region of it is `long` and all of it is `small`.
new_kind <- function() {
  kind <- new.env(parent = emptyenv())
  kind$long <- FALSE
  kind$small <- TRUE
  kind
}

note_kind <- function(kind, nodes) {
  kind$long <- kind$long ||
    (sum(vapply(nodes, compile_weight, 0)) >= least_long && longest_row(nodes) >= least_row)
  kind$small <- kind$small && all(vapply(nodes, is_small_node, NA))
}

is_small <- function(type) prod(type@shape) <= most_small && type@dtype %in% single_dtypes

all_small <- function(types) all(vapply(types, is_small, NA))

# Loops take as long as they take, but for those of a few turns, such as the one over the rows of a Hessian. Random
# numbers, which stand behind a barrier, are those of JAX to the last bit.
is_small_node <- function(node) {
  node$op == "constant" || all_small(node$types) && switch(node$op,
    "while" = , optimization_barrier = FALSE,
    scan = !node$params$counted && node$params$turns <= most_turns,
    dot_general = all(vapply(node$inputs, function(x) prod(x@shape) <= most_of_matrix, NA)),
    node$op %in% quick_kinds || all_small(node$inputs)
  )
}

# How many nodes there are in the longest row, in which each is computed from the one before it. What is wide instead,
# as a loop over elements that do not depend on one another, XLA fuses and compiles in less time than the single nodes.
longest_row <- function(nodes) {
  ids <- node_ids(nodes)
  before <- min(ids) - 1
  row <- numeric(max(ids) - before)
  for (i in seq_along(nodes)) {
    longest <- 0
    for (value in nodes[[i]]$inputs) {
      at <- resolved(value)@node$id - before
      if (at > 0) longest <- max(longest, row[[at]])
    }
    row[[ids[[i]] - before]] <- longest + compile_weight(nodes[[i]])
  }
  max(row)
}

# As how many nodes one counts. The product of a matrix and a vector is a kernel of its own, with unrolled loops.
compile_weight <- function(node) {
  if (node$op == "dot_general" && !all_small(node$inputs)) 8 else 1
}

module_name <- function(kind) if (!is.null(kind) && kind$long && kind$small) "@xlaffi_scalars" else "@main"
