# The name puts this file first among those that add to the table.
# What programs are made of: one entry per kind of node, `op` of the node being its name.
#
# text       function(node, operands): the lines of StableHLO, without "%0 = ", see hlo-text.R
# jvp        function(node, tangents): one tangent per result. A tangent is a value or NULL for
#            zero; at least one that comes is a value
# transpose  function(node, cotangents, linear): for a node that is linear in the operands
#            that `linear` marks (the others do not depend on what is differentiated), one
#            cotangent per operand, NULL for zero and for those not marked
#
# vmap       function(node, inputs, mapped, size): the values for a batch, see vmap-rules.R
#
# A kind without `jvp` or `transpose` has no derivative of that kind; one without `vmap` works on a
# batch in a loop.
primitives <- new.env(parent = emptyenv())

# Adds to the entries of one or several kinds.
primitive <- function(ops, ...) {
  for (op in ops) {
    primitives[[op]] <- utils::modifyList(as.list(primitives[[op]]), list(...))
  }
}

primitive_rule <- function(op, rule) primitives[[op]][[rule]]

# Kinds that work element by element on operands and a result of one type.
elementwise <- c(
  "negate", "sign", "sqrt", "rsqrt", "exponential", "exponential_minus_one", "log", "log_plus_one", "sine",
  "cosine", "tanh", "logistic", "floor", "ceil", "round_nearest_even", "not", "add", "subtract", "multiply",
  "divide", "power", "maximum", "minimum", "atan2", "remainder", "and", "or", "xor", "shift_left",
  "shift_right_logical", "shift_right_arithmetic", "popcnt", "count_leading_zeros"
)
