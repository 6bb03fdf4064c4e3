#' The graph of a function
#'
#' `xla_graph()` gives the program of a function as plain lists, for packages that look at programs or write them down
#' for another system; `xla_graph_text()` the same as lines of StableHLO that fit into another program. This is an
#' interface: what this page tells stays, or `version` grows.
#'
#' @details
#' Every value of a program has a number. A node takes values, its *operands*, and gives values, its *results*. Nodes
#' come in an order of computation: what a node takes was given before it, by another node, as an input, or, in a
#' region, by the program round it. What nobody needs and has no side effect is not there.
#'
#' `xla_graph()` gives an object of class `xlaffi_graph`, a list of:
#' * `version`: 1.
#' * `platform`: what the program is for, `"cpu"` or `"cuda"`. Some nodes differ.
#' * `inputs`: values, `list(id = , dtype = , shape = )`. `id` is the number, `dtype` the element type as [ffi_type()]
#'   has it (`"token"` for what orders calls, see [hlo_token()]), `shape` an integer vector, empty for scalars.
#' * `nodes`: each `list(id = , op = , operands = , results = , attributes = , regions = )`: the number of the node, its
#'   kind, the numbers of the values it takes, the values it gives (like `inputs`), a named list, and a named list of
#'   regions. A region is `list(inputs = , nodes = , outputs = )`.
#' * `outputs`: the numbers of the values that the function returns.
#' * `constants`: the numbers of the nodes that are constants, those in regions not among them.
#' * `arguments`, `value`: the arguments and the result of the function, as (nested) lists of numbers of values.
#'
#' Ops ([ffi_op()]) and functions within the function are written out. Programs for several devices
#' (`vignette("devices")`) have no such graph.
#'
#' @section Errors:
#' A program for several devices is an error of class `xlaffi_error_unimplemented`. What [xla_jit()] refuses is refused
#' here, too.
#'
#' @section Kinds of nodes:
#' Axes and positions in attributes count from 1; values of a program that are positions count from 0, as in StableHLO.
#' Where nothing else is said a kind is StableHLO's operation of that name.
#' * Without attributes: `add`, `subtract`, `multiply`, `divide`, `remainder`, `power`, `maximum`, `minimum`, `atan2`,
#'   `negate`, `abs`, `sign`, `sqrt`, `rsqrt`, `exponential`, `exponential_minus_one`, `log`, `log_plus_one`, `sine`,
#'   `cosine`, `tanh`, `logistic`, `floor`, `ceil`, `round_nearest_even`, `not`, `and`, `or`, `xor`, `shift_left`,
#'   `shift_right_logical`, `shift_right_arithmetic`, `popcnt`, `count_leading_zeros`, `select`, `convert`,
#'   `bitcast_convert`, `real`, `imag`, `complex`, `reshape`; and of CHLO, the dialect beside StableHLO, `chlo_asin`,
#'   `chlo_acos`, `chlo_atan`, `chlo_asinh`, `chlo_acosh`, `chlo_atanh`, `chlo_erf_inv`. `optimization_barrier`: its
#'   operands, as they are: computed once and not within what uses them, all of them before one is used.
#' * `constant`: `value`, R data: one number that fills the result, or all elements in R's order.
#' * `compare`: `direction`, `"EQ"`, `"NE"`, `"GE"`, `"GT"`, `"LE"` or `"LT"`. NaN is unequal to all.
#' * `iota`, `concatenate`: `axis`. `broadcast_in_dim`: `axes`, those of the result that the operand's become.
#'   `transpose`: `permutation`. `reverse`: `axes`.
#' * `slice`: `start`, `end` (included) and `step`, for each axis. `dynamic_slice`: `sizes`; its operands are the array
#'   and a position for each axis. `dynamic_update_slice`: array, update, positions. `pad`: `low`, `high`, `interior`.
#' * `dot_general`: `contract` and `batch`, each a list of the left and the right operand's axes. In full precision.
#' * `reduce_add`, `reduce_multiply`, `reduce_max`, `reduce_min`, `reduce_and`, `reduce_or`: along `axes`, which the
#'   result lacks; the second operand is what they start from. `cumulative_add`, `cumulative_multiply`,
#'   `cumulative_maximum`, `cumulative_minimum`: running ones along `axis`, from its end if `reverse`.
#' * `extremum_places`: the largest (`largest`) or smallest elements along `axes` of the first operand, and of these the
#'   least of the positions in the second operand and the greatest of those in the third. The other three operands are
#'   what these results start from.
#' * `extremum_weights`: of x and its largest (`largest`) or smallest elements along `axes`, the weights of all elements
#'   in the derivative of these, see [xla_grad()].
#' * `sort`: of x and of positions, along the last axis by x, stable: `decreasing`; NaN comes last, or first if
#'   `nan_first`.
#' * `gather`: the elements of the first operand at the positions of the second (i32, which lie within), which take the
#'   place of axis `axis`; the first `batch` axes of both go side by side. `scatter_add`, `scatter_set`, `scatter_max`:
#'   the first operand with the third added, put in (each position comes once), or the larger one; what lies outside is
#'   left out, unless `within` says that nothing does. `permute_rows`: row `i` of the matrices of the result is the row
#'   of the first operand whose number the second one has at `i`.
#' * `triangular_solve`: `left` (else the matrix is on the right), `lower`, `unit` diagonal, `transpose` (`"none"`,
#'   `"transpose"` or `"adjoint"`).
#' * `fft`: `type` (`"FFT"`, `"IFFT"`, `"RFFT"`, `"IRFFT"`), `lengths`.
#' * `custom_call`: `target`; `backend_config`, the attributes as a dictionary of MLIR; `operand_layouts` and
#'   `result_layouts`, for each array its axes, the fastest first; `aliases`, pairs `c(operand, result)`;
#'   `has_side_effect`; `ordered`, see [hlo_custom_call()].
#' * `after_all`: a token that comes after its operands.
#' * `while`: regions `cond` and `body`; the operands are what the loop begins with. `case`: the operand is the number
#'   of the branch that runs, from 0, the last one for any other number; regions `branch1` and so on have no inputs.
#' * `scan`: a loop of `turns` turns. Operands: if `counted`, a number of turns that counts if it is less; `carry`
#'   values that are carried; `slices` arrays, of which each turn gets the next element along the first axis, the last
#'   one first if `reverse`. Region `body` takes what is carried and the elements, and gives what is carried and
#'   elements of the stacks; region `cond`, where there is one, takes what is carried: the loop ends before a turn for
#'   which it gives false, and the rest of the stacks is zero. Results: what is carried at last, and the stacks.
#' * `stablehlo_text`: a piece of StableHLO, see [from_anvl()]: the lines `text`, in which the operands are called
#'   `arguments` and the results `results`; `has_side_effect`.
#'
#' @param f A function of [values][xlaffi_value], or what [xla_jit()], [ffi_op()], [ffi_call()] and the like return.
#' @param ... Arguments for it: R data, buffers, or their types ([ffi_type()]).
#' @param .platform The platform that the program is for; `NULL`: the environment variable `PJRT_PLATFORM`, or the CPU.
#' @param graph What `xla_graph()` returned.
#' @param operands The names of the inputs in the other program, such as `"%arg0"`.
#' @param prefix What the names of all other values begin with, behind the `%`: a letter, and letters, digits and
#'   underscores.
#' @return `xla_graph()`: a list of class `xlaffi_graph`. `xla_graph_text()`: `list(lines = , results = )`, lines of
#'   StableHLO, and the names of the outputs in them: of a value that `lines` computes, or one of `operands`.
#' @seealso [xla_program()] for a whole program, [as_anvl()], which is made of this and of [xla_vjp()].
#' @examplesIf plugins_downloaded()
#' graph <- xla_graph(function(x, y) sum(x * y), ffi_type("f64", 3), ffi_type("f64", 3))
#' graph
#' graph$nodes[[1]]
#' writeLines(xla_graph_text(graph, c("%a", "%b"), prefix = "dot")$lines)
#' @export
xla_graph <- function(f, ..., .platform = NULL) {
  check_function(f)
  platform <- if (is.null(.platform)) default_platform() else .platform
  check_string(platform, ".platform")
  types <- argument_types(list(...))
  traced <- trace_program(f, types, platform)
  if (!is.null(traced$mesh) && mesh_size(traced$mesh) > 1L) {
    abort("xla_graph: `f` is a program for several devices, which has no graph of this kind", "UNIMPLEMENTED",
      operand = "f"
    )
  }
  new_graph(traced$region, types, traced$results, platform)
}

new_graph <- function(region, arguments, results, platform) {
  numbers <- new.env(parent = emptyenv())
  numbers$values <- numbers$nodes <- 0L
  numbers$of <- new_table()
  whole <- graph_region(region, numbers)
  is_constant <- vapply(whole$nodes, function(node) node$op == "constant", NA)
  structure(
    list(
      version = 1L, platform = platform, inputs = whole$inputs, nodes = whole$nodes, outputs = whole$outputs,
      constants = vapply(whole$nodes[is_constant], `[[`, 0L, "id"),
      arguments = tree_fill(arguments, vapply(whole$inputs, `[[`, 0L, "id")), value = tree_fill(results, whole$outputs)
    ),
    class = "xlaffi_graph", region = region
  )
}

# `numbers` has how many values and nodes there are, and the numbers of values.
graph_region <- function(region, numbers) {
  inputs <- lapply(region$params, graph_value, numbers)
  nodes <- lapply(written_nodes(region), graph_node, numbers)
  list(inputs = inputs, nodes = nodes, outputs = vapply(region$results, graph_number, 0L, numbers))
}

graph_value <- function(value, numbers) {
  numbers$values <- numbers$values + 1L
  set_of_value(numbers$of, value, numbers$values)
  list(id = numbers$values, dtype = value@dtype, shape = value@shape)
}

graph_number <- function(value, numbers) {
  number <- of_value(numbers$of, resolved(value))
  if (is.null(number)) value_of_another(value)
  number
}

graph_node <- function(node, numbers) {
  exported <- primitive_rule(node$op, "export")
  if (is.null(exported)) {
    abort(sprintf("xla_graph: %s is for programs for several devices", node_title(node)), "UNIMPLEMENTED", call = NULL)
  }
  exported <- exported(node)
  operands <- vapply(node$inputs[seq_len(exported$operands)], graph_number, 0L, numbers)
  regions <- lapply(exported$regions, graph_region, numbers)
  numbers$nodes <- numbers$nodes + 1L
  list(
    id = numbers$nodes, op = node$op, operands = operands, results = lapply(node_values(node), graph_value, numbers),
    attributes = exported$attributes, regions = regions
  )
}

#' @rdname xla_graph
#' @export
xla_graph_text <- function(graph, operands, prefix = "xlaffi") {
  check_given(graph, operands)
  if (!inherits(graph, "xlaffi_graph")) {
    abort(sprintf("`graph` must be what xla_graph() returned, not %s", describe(graph)), operand = "graph")
  }
  if (!is.character(operands) || anyNA(operands) || length(operands) != length(graph$inputs)) {
    abort(
      sprintf("`operands` must be the names of %d inputs, not %s", length(graph$inputs), describe(operands)),
      operand = "operands"
    )
  }
  check_string(prefix, "prefix")
  if (!grepl("^[A-Za-z][A-Za-z0-9_]*$", prefix)) {
    abort(sprintf("`prefix` must be a letter, and letters, digits and underscores, not %s", describe(prefix)),
      operand = "prefix"
    )
  }
  outer <- trace_state$platform
  on.exit(trace_state$platform <- outer)
  trace_state$platform <- graph$platform
  region <- attr(graph, "region")
  scope <- new_scope("  ", prefix = paste0(prefix, "_"))
  name_parameters(scope, region$params, operands)
  lines <- as.character(region_lines(scope, region))
  list(lines = c(large_lines(scope), lines), results = vapply(region$results, value_name, "", scope = scope))
}

#' @export
format.xlaffi_graph <- function(x, ...) {
  check_format_dots(...)
  value <- function(value) sprintf("%%%d: %s", value$id, type_text(new_type(value$dtype, value$shape)))
  values <- function(values) toString(vapply(values, value, ""))
  numbers <- function(numbers) toString(sprintf("%%%d", numbers))
  lines <- function(nodes, indent) unlist(lapply(nodes, node_lines, indent))
  node_lines <- function(node, indent) {
    head <- paste0(
      indent, if (length(node$results)) paste0(values(node$results), " = "), node$op,
      if (length(node$operands)) paste0(" ", numbers(node$operands)), attributes_shown(node$attributes)
    )
    inner <- paste0(indent, "  ")
    regions <- Map(function(region, name) {
      c(
        sprintf("%s%s(%s) {", inner, name, values(region$inputs)), lines(region$nodes, paste0(inner, "  ")),
        sprintf("%s} -> %s", inner, numbers(region$outputs))
      )
    }, node$regions, names(node$regions))
    c(head, unlist(regions))
  }
  c(
    sprintf("<graph of %d nodes for the platform %s>", length(x$nodes), x$platform),
    sprintf("inputs  %s", values(x$inputs)), lines(x$nodes, "  "), sprintf("outputs %s", numbers(x$outputs))
  )
}

# Attributes that there are in one line; what is long is cut.
attributes_shown <- function(attributes) {
  attributes <- Filter(function(x) length(x) && !isFALSE(x) && !identical(x, "{}"), attributes)
  if (!length(attributes)) {
    return("")
  }
  texts <- vapply(attributes, function(x) {
    x <- if (is.numeric(x) && !is.object(x)) format(x, trim = TRUE) else as.character(unlist(x))
    text <- paste(x, collapse = " ")
    if (nchar(text) > 40L) paste0(substr(text, 1L, 37L), "...") else text
  }, "")
  sprintf(" {%s}", paste(names(attributes), texts, sep = " = ", collapse = ", "))
}

# Numbers too must be the same, unless `tolerance` says otherwise.
#' @method all.equal xlaffi_graph
#' @export
all.equal.xlaffi_graph <- function(target, current, ..., tolerance = 0) {
  if (!inherits(current, "xlaffi_graph")) {
    return(sprintf("target is a graph, current is %s", describe(current)))
  }
  # Without the values that the program was written with
  plain <- function(graph) {
    attr(graph, "region") <- NULL
    unclass(graph)
  }
  told <- all.equal(plain(target), plain(current), ..., tolerance = tolerance)
  shown <- codes_differ(lapply(list(target, current), function(graph) paste(format(graph), collapse = "\n")))
  if (isTRUE(told) || isTRUE(shown)) told else shown
}

#' @export
print.xlaffi_graph <- function(x, ...) {
  check_print_dots(...)
  writeLines(format(x))
  invisible(x)
}
