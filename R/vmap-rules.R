# Rules for batches: function(node, inputs, mapped, size), where `mapped` says which of `inputs`
# have the batch axis in front. They give the node's values for all elements.

primitive("alias", vmap = function(node, inputs, mapped, size) inputs)

primitive(
  c(elementwise, "real", "imag", "abs", "complex", "convert", "compare", "optimization_barrier", "triangular_solve"),
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

# Positions that differ from element to element are those of a gather, axis by axis.
primitive("dynamic_slice", vmap = function(node, inputs, mapped, size) {
  sizes <- node$params$sizes
  x <- inputs[[1L]]
  here <- mapped[[1L]]
  for (axis in which(mapped[-1L])) {
    at <- window_positions(inputs[[axis + 1L]], node$inputs[[1L]]@shape[[axis]], sizes[[axis]])
    x <- batched_gather(list(x, at), c(here, TRUE), size, axis)
    here <- TRUE
  }
  zero <- constant(0L, "i32", integer(), "start")
  starts <- inputs[-1L]
  starts[mapped[-1L]] <- list(zero)
  list(dynamic_sliced(x, c(list(zero), starts), c(size, sizes)))
})

# The positions in a window of `count` along an axis of `length` elements, which XLA moves back inside.
window_positions <- function(start, length, count) {
  shape <- c(start@shape, count)
  limit <- function(op, x, by) record(op, list(x, filled(by, x)), x@dtype, x@shape)
  start <- converted(limit("minimum", limit("maximum", start, 0L), length - count), "i32")
  parts <- list(broadcast(start, shape, seq_along(start@shape)), hlo_iota("i32", shape, length(shape)))
  record("add", parts, "i32", shape)
}

primitive("dynamic_update_slice", vmap = function(node, inputs, mapped, size) {
  both <- all_in_front(inputs[1:2], mapped[1:2], size)
  starts <- inputs[-(1:2)]
  if (!any(mapped[-(1:2)])) {
    zero <- constant(0L, "i32", integer(), "start")
    return(list(dynamic_updated(both[[1L]], both[[2L]], c(list(zero), starts))))
  }
  starts <- all_in_front(starts, mapped[-(1:2)], size)
  list(windows_set(both[[1L]], both[[2L]], starts))
})

# Puts the window `update` of each element of a batch at its place in `x`, by rows.
windows_set <- function(x, update, starts) {
  dim <- x@shape[-1L]
  window <- update@shape[-1L]
  strides <- rev(cumprod(c(1, rev(dim))))[-1L]
  at <- Reduce(`+`, Map(function(start, axis) {
    along <- window_positions(start, dim[[axis]], window[[axis]])
    broadcast(along, update@shape, c(1L, axis + 1L)) * as.integer(strides[[axis]])
  }, starts, seq_along(dim)))
  in_rows <- function(x) reshaped(x, c(x@shape[[1L]], as.integer(prod(x@shape[-1L]))))
  reshaped(scattered("set", in_rows(x), in_rows(at), in_rows(update), 2L, 1L), x@shape)
}

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
