# `optimization_barrier`: XLA does not look through it.

# For integers, which have no derivatives.
kept_apart <- function(x) bind("optimization_barrier", list(x), x@dtype, x@shape)

primitive("optimization_barrier", text = function(node, operands, scope) {
  sprintf("stablehlo.optimization_barrier %s : %s", toString(operands), toString(result_types(node)))
})

primitive("optimization_barrier", replication = function(node, given, known) given)

primitive("optimization_barrier", export = exported_params())

primitive("optimization_barrier", vmap = batch_together)
