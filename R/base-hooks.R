# What functions of lower layers have done by upper ones. A file of the upper layer sets the hook when it is loaded, by
# `hooks$NAME <- function(...)`; tests/packaging/test-layers.R checks that each is set, once.
#
# shown_call(call)              the call that an error shows: that of the user's code while it is traced
# shown_trace()                 the calls that lead to an error, without this package's own; NULL for R's choice
# callback_condition(message)   the R condition behind an error of a callback, or NULL
# not_decided(condition)        notes that a program cannot be written, whatever a handler of the user's makes of it
# convert_function(f)           what is called in place of a function of the user's while a program is written
# with_written_calls(code)      runs code that writes a program; errors name the user's calls
# with_loops(values, first)     the same values, with loops in their graph for rows of turns
# with_gates(values, roots, first)   the same values, of which choices give no derivatives of what they do not take
# batch_one_by_one(node, inputs, mapped, size)   the batch of a primitive without a rule `vmap`, by a loop
# cut_buffer(x, parts, local)   the parts of a buffer, cut by its device
# resharded(x, mesh, spec, shape, call)          a sharded array in another sharding
# sparse_hessian(gradient, x), sparse_jacobian(f, arguments, chosen, mode, call)   derivatives as sparse matrices
# code_folder(), clear_code()   where compiled custom ops are kept, and their removal
hooks <- new.env(parent = emptyenv())

# For hooks of R's, which wait for a package to be loaded
remove_hook <- function(package, hook) {
  event <- packageEvent(package, "onLoad")
  left <- Filter(function(f) !identical(f, hook), getHook(event))
  setHook(event, left, action = "replace")
}
