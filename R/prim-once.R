# Calls with side effects in a program over several devices, outside of xla_shard_map(): one device makes them, with the
# whole of what they take, and tells the others what they gave. (XLA refuses to partition such calls.)

# The text of such a call: that of a node which runs on every device.
once_text <- function(node, operands, scope) {
  if (any_token(c(node$inputs, node$types))) {
    abort(sprintf("%s takes or gives a token, which programs over several devices do not have", node_title(node)),
      "UNIMPLEMENTED", op = public_target(node$params$target), call = NULL,
      hint = "`xla_shard_map()` has it called by each device."
    )
  }
  mesh <- scope$mesh
  # The program has been traced: what is written here takes values of its own, and `operands` are their names.
  everywhere <- NULL
  trace_region(function(inputs) {
    everywhere <<- on_every_device(node, inputs, mesh)
    list()
  }, lapply(node$inputs, type_of), silent = TRUE)
  primitive_rule("shard_map", "text")(everywhere, operands, scope)
}

on_every_device <- function(node, inputs, mesh) {
  group <- list(mesh = mesh, axes = names(mesh$axes), size = mesh_size(mesh))
  shard_map_node(function(params) {
    first <- bind("axis_index", list(), "i32", integer(), list(group = group))
    call <- function() {
      again <- new_node(node$op, params, node$types, node$params)
      record_effect(again)
      node_values(again)
    }
    values <- case_node(list(call, function() lapply(node$types, zero_of)), first)
    list(values = lapply(values, from_first, group), specs = lapply(node$types, whole_spec))
  }, inputs, lapply(inputs, whole_spec), mesh)
}

# What all but the first device have is zero.
from_first <- function(x, group) {
  if (x@dtype == "pred") {
    converted(all_reduced(converted(x, "i32"), group, "add"), "pred")
  } else {
    all_reduced(x, group, "add")
  }
}
