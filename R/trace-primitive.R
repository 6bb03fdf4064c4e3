# What programs are made of: one entry per primitive. A node's `op` is the primitive's name, an entry holds its rules.
# A primitive has one file, which calls primitive() once for all of them; rules that several primitives share are added
# to all of these together:
#
# text         function(node, operands, scope): the lines of StableHLO, without "%0 = "; trace-text.R. Of several
#              operations a list of `lines`, whole ones, the `names` of the results, and `calls`, whether a handler is
#              called: equal ones are written once, as XLA does not find them
# jvp          function(node, tangents): one tangent per result. A tangent is a value or NULL for zero; at least one
#              that comes is a value; ad-jvp.R
# transpose    function(node, cotangents, linear): for a node that is linear in the operands that `linear` marks (the
#              others do not depend on what is differentiated), one cotangent per operand, NULL for zero and for those
#              not marked; ad-transpose.R
# vmap         function(node, inputs, mapped, size): the results for a batch, where `mapped` says which of `inputs` have
#              the batch's axis in front; batch-graph.R
# rebind       function(node, inputs): the results of the same node for other inputs; trace-region.R
# linearize    function(node, moving): reverse mode of a primitive with regions, in two parts; ad-region.R
# replication  function(node, given, known): along which axes of the mesh each result differs from device to device;
#              trace-replication.R
# sparsity     function(node, given, sets, known): which elements of the operands those of the results depend on;
#              ad-sparsity.R
# export       function(node): what xla_graph() says of the node: its `attributes`, how many of the inputs are
#              `operands` (what follows them is captured by regions), and its `regions`; ?xla_graph is the contract
#
# Without `jvp` or `transpose` there is no derivative of that kind; results that are logicals or integers need none.
# Without `vmap` a batch is a loop. Without `rebind` a node of the same params is made. `linearize` and `rebind` are for
# primitives with regions, and `op` (ad-op.R), which has another one, `replay`. Without `replication` a result differs
# where an input does. Without `sparsity` all depends on all. Without `export` a primitive belongs to programs for
# several devices and is not exported.
# tests/testthat/test-primitives.R walks this table; every rule must be reached by test-primitives-reached.R or, about
# devices, by devices/test-rules.R.
primitives <- new.env(parent = emptyenv())

# Adds rules to one or several primitives.
primitive <- function(ops, ...) {
  for (op in ops) {
    primitives[[op]] <- utils::modifyList(as.list(primitives[[op]]), list(...))
  }
}

primitive_rule <- function(op, rule) primitives[[op]][[rule]]

# Primitives that work element by element on operands and a result of one type.
elementwise <- c(
  "negate", "sign", "sqrt", "rsqrt", "exponential", "exponential_minus_one", "log", "log_plus_one", "sine",
  "cosine", "tanh", "logistic", "floor", "ceil", "round_nearest_even", "not", "add", "subtract", "multiply",
  "divide", "power", "maximum", "minimum", "atan2", "remainder", "and", "or", "xor", "shift_left",
  "shift_right_logical", "shift_right_arithmetic", "popcnt", "count_leading_zeros"
)

# Those of logicals and integers, which have no derivatives: nobody asks these for rules about them.
elementwise_integers <- c(
  "not", "and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic", "popcnt",
  "count_leading_zeros"
)

# A rule `export` by which params go under their own names
exported_params <- function(...) {
  names <- c(...)
  function(node) list(attributes = node$params[names], operands = length(node$inputs))
}

with_regions <- function(node, attributes, operands, regions) {
  list(attributes = attributes, operands = operands, regions = regions)
}
