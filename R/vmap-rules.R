# Rules for batches: function(node, inputs, mapped, size), where `mapped` says which of `inputs`
# have the batch axis in front. They give the node's values for all elements.

primitive("alias", vmap = function(node, inputs, mapped, size) inputs)

primitive(
  c(elementwise, "real", "imag", "abs", "complex", "convert", "compare", "triangular_solve"),
  vmap = function(node, inputs, mapped, size) batch_again(node, all_in_front(inputs, mapped, size), size)
)

primitive("select", vmap = function(node, inputs, mapped, size) {
  inputs <- all_in_front(inputs, mapped, size)
  # One condition for all of an element.
  inputs[[1L]] <- broadcast(inputs[[1L]], inputs[[2L]]@shape, seq_along(inputs[[1L]]@shape))
  batch_again(node, inputs, size)
})

primitive("broadcast_in_dim", vmap = function(node, inputs, mapped, size) {
  list(broadcast(inputs[[1L]], c(size, node$types[[1L]]@shape), c(1L, node$params$axes + 1L)))
})

primitive("reshape", vmap = function(node, inputs, mapped, size) {
  list(reshaped(inputs[[1L]], c(size, node$types[[1L]]@shape)))
})

primitive("transpose", vmap = function(node, inputs, mapped, size) {
  list(transposed(inputs[[1L]], c(1L, node$params$permutation + 1L)))
})

primitive("reverse", vmap = function(node, inputs, mapped, size) {
  batch_again(node, inputs, size, list(axes = node$params$axes + 1L))
})

primitive("slice", vmap = function(node, inputs, mapped, size) {
  p <- node$params
  list(sliced(inputs[[1L]], c(1L, p$start), c(size, p$end), c(1L, p$step)))
})

primitive("concatenate", vmap = function(node, inputs, mapped, size) {
  batch_again(node, all_in_front(inputs, mapped, size), size, list(axis = node$params$axis + 1L))
})

primitive("pad", vmap = function(node, inputs, mapped, size) {
  if (mapped[[2L]]) {
    return(batch_one_by_one(node, inputs, mapped, size))
  }
  batch_again(node, inputs, size, lapply(node$params, function(counts) c(0L, counts)))
})

# Where the positions are the same for all elements.
primitive("dynamic_slice", vmap = function(node, inputs, mapped, size) {
  if (any(mapped[-1L])) {
    return(batch_one_by_one(node, inputs, mapped, size))
  }
  zero <- constant(0L, "i32", integer(), "start")
  list(dynamic_sliced(inputs[[1L]], c(list(zero), inputs[-1L]), c(size, node$params$sizes)))
})

primitive("dynamic_update_slice", vmap = function(node, inputs, mapped, size) {
  if (any(mapped[-(1:2)])) {
    return(batch_one_by_one(node, inputs, mapped, size))
  }
  both <- all_in_front(inputs[1:2], mapped[1:2], size)
  zero <- constant(0L, "i32", integer(), "start")
  list(dynamic_updated(both[[1L]], both[[2L]], c(list(zero), inputs[-(1:2)])))
})

# The axes of a product are the shared ones, then what is left of x, then of y.
primitive("dot_general", vmap = function(node, inputs, mapped, size) {
  p <- node$params
  shift <- function(axes) Map(function(axes, mapped) axes + mapped, axes, mapped)
  contract <- shift(p$contract)
  batch <- shift(p$batch)
  if (all(mapped)) {
    return(list(dot(inputs[[1L]], inputs[[2L]], contract, Map(c, list(1L, 1L), batch))))
  }
  product <- dot(inputs[[1L]], inputs[[2L]], contract, batch)
  before <- length(batch[[1L]])
  if (mapped[[2L]]) {
    before <- before + length(kept(inputs[[1L]]@shape, c(contract[[1L]], batch[[1L]])))
  }
  list(to_front(product, before + 1L))
})

primitive("custom_call", vmap = function(node, inputs, mapped, size) {
  p <- node$params
  method <- p$vmap_method
  if (is.null(method)) {
    abort(sprintf("%s has no `vmap_method`, so there are no batches of it", node_title(node)),
      "UNIMPLEMENTED", op = public_target(p$target), operand = "vmap_method", call = NULL,
      hint = sprintf("`ffi_call(vmap_method = )` is one of %s.", paste(dQuote(vmap_methods, FALSE), collapse = ", "))
    )
  }
  if (method == "sequential") {
    return(batch_one_by_one(node, inputs, mapped, size))
  }
  inputs <- if (method == "broadcast_all") {
    all_in_front(inputs, mapped, size)
  } else {
    all_in_front(inputs, mapped, 1L)
  }
  # The batch axis is the slowest one.
  with_batch <- function(layouts) lapply(layouts, function(axes) c(axes + 1L, 1L))
  p$operand_layouts <- with_batch(p$operand_layouts)
  p$result_layouts <- with_batch(p$result_layouts)
  types <- lapply(node$types, batch_type, size)
  # Memory of another size cannot be taken over.
  p$aliases <- Filter(function(pair) same_type(inputs[[pair[[1L]]]], types[[pair[[2L]]]]), p$aliases)
  if (!is.null(p$own)) {
    p$own$batch_axes <- p$own$batch_axes + 1L
    p$attributes <- attributes_text(own_marks(p$own$attributes, p$own$mark, p$own$batch_axes), p$target)
  }
  call <- new_node(node$op, inputs, types, p)
  if (p$has_side_effect) {
    record_effect(call)
  }
  node_values(call)
})
