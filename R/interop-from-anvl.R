# Functions of anvl's as ops. anvl traces and lowers them; what it writes becomes a node with its text.

#' @rdname as_anvl
#' @export
from_anvl <- function(g, name = "anvl") {
  check_function(g, "g")
  check_string(name, "name")
  need_anvl("from_anvl")
  anvl_op(g, name)
}

anvl_op <- function(g, name, transpose = NULL) {
  ffi_op(
    function(...) anvl_values(g, list(...), name),
    transpose = transpose, name = name, vjp = function(primals, results, cotangents) {
      anvl_pulled(g, name, primals, results, cotangents)
    }
  )
}

# What `g` gives for values, as values
anvl_values <- function(g, arguments, name) {
  leaves <- lapply(tree_leaves(arguments), as_value, "...", call = NULL)
  for (leaf in leaves) {
    check_anvl_type(leaf, "from_anvl", sprintf("an argument of `%s`", name))
  }
  stand_ins <- lapply(leaves, function(leaf) anvl("AbstractArray")(anvl_dtype(leaf@dtype), leaf@shape))
  graph <- anvl_graph(g, tree_fill(arguments, stand_ins))
  captured <- lapply(graph$constants, captured_constant, name)
  node <- new_node("stablehlo_text", c(captured, leaves), lapply(graph$outputs, type_from_anvl), anvl_text(graph, name))
  if (node$params$has_side_effect) {
    record_effect(node)
  }
  anvl("unflatten")(graph$out_tree, node_values(node))
}

anvl_graph <- function(g, arguments) {
  tracing <- !is.null(anvl(".current_descriptor")(silent = TRUE))
  anvl("trace_fn")(
    function(...) g(...),
    mode = if (tracing) "subgraph" else "toplevel",
    args_flat = anvl("flatten")(arguments), in_tree = anvl("build_tree")(arguments)
  )
}

captured_constant <- function(x, name) {
  if (!inherits(x$aval, "ConcreteArray")) {
    abort(sprintf("from_anvl: `%s` uses a value of {anvl} that is computed outside of it", name),
      op = name, operand = "g", call = NULL, hint = "It must be an argument."
    )
  }
  type <- type_from_anvl(x)
  data <- anvl("as_array")(x$aval$data)
  # as.vector() would take the class of 64-bit integers, and leave their bits.
  dim(data) <- NULL
  constant(data, type@dtype, type@shape, "g", rounded = TRUE)
}

# The lines of what anvl writes, and the names that arguments and results have in them.
anvl_text <- function(graph, name) {
  func <- anvl("stablehlo")(graph)[[1L]]
  lines <- strsplit(stablehlo("repr")(func), "\n", fixed = TRUE)[[1L]]
  lines <- lines[nzchar(lines)]
  last <- length(lines) - 1L
  arguments <- names_in(sub("->.*", "", lines[[1L]]))
  results <- names_in(sub(" : .*", "", lines[[last]]))
  known <- startsWith(lines[[1L]], "func.func @main") && startsWith(trimws(lines[[last]]), "return") &&
    length(arguments) == length(graph$constants) + length(graph$inputs) && length(results) == length(graph$outputs)
  if (!known) {
    abort(sprintf("from_anvl: {stablehlo} writes `%s` in a form that is not known here", name), "INTERNAL",
      op = name, call = NULL
    )
  }
  list(
    text = lines[seq_along(lines) > 1L & seq_along(lines) < last], arguments = arguments, results = results,
    has_side_effect = any(grepl("has_side_effect = true", lines, fixed = TRUE))
  )
}

# Names of values in MLIR, and strings, in which nothing is a name
names_or_strings <- "\"(?:[^\"\\\\]|\\\\.)*\"|%[A-Za-z0-9_$.-]+(?:#[0-9]+)?"

names_in <- function(line) {
  found <- regmatches(line, gregexpr(names_or_strings, line, perl = TRUE))[[1L]]
  found[startsWith(found, "%")]
}

# The cotangents of arguments for those of results: anvl's gradient of the sum of the results, each times its own.
anvl_pulled <- function(g, name, primals, results, cotangents) {
  leaves <- tree_leaves(primals)
  moving <- vapply(leaves, function(leaf) is_float(leaf@dtype), NA)
  given <- tree_slots(results, cotangents)
  counts <- !vapply(given, is.null, NA)
  shares <- vector("list", length(leaves))
  if (any(moving) && any(counts)) {
    wide <- length(unique(vapply(given[counts], function(x) x@dtype, ""))) > 1L
    pulled <- anvl_pullback(g, primals, moving, counts, wide)
    arguments <- list(moving = leaves[moving], fixed = leaves[!moving], cotangents = given[counts])
    op <- anvl_op(pulled, sprintf("%s' of reverse mode", name), transpose = function(primals, cotangents) {
      anvl_transposed(pulled, name, arguments, primals, cotangents)
    })
    shares[moving] <- do.call(op, arguments)
  }
  tree_fill(primals, shares)
}

# A function of anvl's. `wide`: results of several dtypes are added up as f64.
anvl_pullback <- function(g, like, moving, counts, wide) {
  weighted <- function(moving_arrays, rest) {
    leaves <- vector("list", length(moving))
    leaves[moving] <- moving_arrays
    leaves[!moving] <- rest$fixed
    results <- anvl("flatten")(do.call(g, as.list(tree_fill(like, leaves))))[counts]
    shares <- Map(function(result, cotangent) {
      share <- sum(result * cotangent)
      if (wide) anvl("nv_convert")(share, dtype = "f64") else share
    }, results, rest$cotangents)
    Reduce(`+`, shares)
  }
  gradient <- anvl("gradient")(weighted, wrt = "moving_arrays")
  function(moving, fixed, cotangents) {
    gradient(moving, list(fixed = fixed, cotangents = cotangents))$moving_arrays
  }
}

# The pullback is linear in the cotangents of the results, so its derivative by these is its transpose, wherever it is
# taken.
anvl_transposed <- function(pulled, name, arguments, primals, cotangents) {
  slots <- tree_slots(arguments, primals)
  linear <- vapply(slots, is.null, NA)
  primals <- tree_fill(arguments, Map(function(slot, like) {
    if (is.null(slot)) filled(0, like) else slot
  }, slots, tree_leaves(arguments)))
  shares <- tree_slots(arguments, anvl_pulled(pulled, name, primals, arguments$moving, cotangents))
  shares[!linear] <- list(NULL)
  tree_fill(arguments, shares)
}

primitive("stablehlo_text",
  text = function(node, operands, scope) {
    p <- node$params
    prefix <- paste0("%text", sub("%", "", fresh_name(scope)), "_")
    renamed <- function(names) {
      at <- match(names, p$arguments)
      is_name <- startsWith(names, "%")
      names[is_name] <- ifelse(is.na(at), paste0(prefix, substring(names, 2L)), operands[at])[is_name]
      names
    }
    text <- p$text
    places <- gregexpr(names_or_strings, text, perl = TRUE)
    regmatches(text, places) <- lapply(regmatches(text, places), renamed)
    list(lines = paste0(scope$indent, text), names = renamed(p$results))
  },
  export = exported_params("text", "arguments", "results", "has_side_effect")
)
