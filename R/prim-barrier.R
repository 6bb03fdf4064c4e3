# `optimization_barrier`: XLA does not look through it.

# For integers, which have no derivatives.
kept_apart <- function(x) bind("optimization_barrier", list(x), x@dtype, x@shape)

primitive("optimization_barrier",
  text = function(node, operands, scope) {
    sprintf("stablehlo.optimization_barrier %s : %s", toString(operands), toString(result_types(node)))
  },
  vmap = batch_together,
  replication = function(node, given, known) given,
  export = exported_params()
)
