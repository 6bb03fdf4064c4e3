# What xla_graph() tells of each kind of node: a rule `graph`, function(node), that gives its `attributes`, how many of
# the inputs are `operands` (what follows them is captured by regions), and its `regions`. ?xla_graph is the contract;
# kinds without a rule are those of programs for several devices.

# Params go under their own names.
told <- function(...) {
  names <- c(...)
  function(node) list(attributes = node$params[names], operands = length(node$inputs))
}

with_regions <- function(node, attributes, operands, regions) {
  list(attributes = attributes, operands = operands, regions = regions)
}

primitive(
  c(
    elementwise, paste0("chlo_", chlo_functions), "select", "convert", "bitcast_convert", "real", "imag", "abs",
    "complex", "reshape", "optimization_barrier", "dynamic_update_slice", "permute_rows", "after_all"
  ),
  graph = told()
)
primitive("constant", graph = function(node) list(attributes = list(value = node$params$data), operands = 0L))
primitive("compare", graph = told("direction"))
primitive(c("iota", "concatenate"), graph = told("axis"))
primitive(c("broadcast_in_dim", "reverse", names(reductions)), graph = told("axes"))
primitive("transpose", graph = told("permutation"))
primitive("slice", graph = told("start", "end", "step"))
primitive("dynamic_slice", graph = told("sizes"))
primitive("pad", graph = told("low", "high", "interior"))
primitive("dot_general", graph = told("contract", "batch"))
primitive(paste0("cumulative_", names(cumulative_reductions)), graph = told("axis", "reverse"))
primitive("first_extremum", graph = told("axis", "largest"))
primitive("sort", graph = told("decreasing", "nan_first"))
primitive("gather", graph = told("axis", "batch"))
primitive(scatters, graph = told("axis", "batch", "within"))
primitive("triangular_solve", graph = told("left", "lower", "unit", "transpose"))
primitive("fft", graph = told("type", "lengths"))
primitive("stablehlo_text", graph = told("text", "arguments", "results", "has_side_effect"))

primitive("custom_call", graph = function(node) {
  p <- node$params
  names <- c("target", "operand_layouts", "result_layouts", "aliases", "has_side_effect", "ordered")
  list(attributes = c(p[names], list(backend_config = p$attributes)), operands = length(node$inputs))
})

primitive("while", graph = function(node) {
  with_regions(node, list(), length(node$types), stats::setNames(node$params$regions, c("cond", "body")))
})

primitive("case", graph = function(node) {
  regions <- node$params$regions
  with_regions(node, list(), 1L, stats::setNames(regions, sprintf("branch%d", seq_along(regions))))
})

primitive("scan", graph = function(node) {
  p <- node$params
  with_regions(
    node, p[c("turns", "counted", "carry", "slices", "reverse")], p$counted + p$carry + p$slices,
    c(list(body = p$region), if (!is.null(p$stop)) list(cond = p$stop))
  )
})
