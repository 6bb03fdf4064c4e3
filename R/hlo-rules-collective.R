# Collectives in programs: their text, derivatives and batches. A `group` is the mesh and the names of the axes along
# which its devices lie.

# The numbers of the devices, counted from 0: each group is a row, the first axis of a group the slowest.
device_groups <- function(group) {
  sizes <- group$mesh$axes
  numbers <- aperm(array(seq_len(prod(sizes)) - 1L, rev(sizes)))
  at <- match(group$axes, names(sizes))
  matrix(aperm(numbers, c(setdiff(seq_along(sizes), at), rev(at))), ncol = group$size)
}

integers_text <- function(x) {
  rows <- apply(x, 1L, sizes_text)
  sprintf("dense<%s> : tensor<%dx%dxi64>", if (length(x)) sizes_text(rows) else "", nrow(x), ncol(x))
}

# A call of StableHLO with the attributes that collectives have.
collective_text <- function(node, operands, scope, name, ..., group = node$params$group, reduction = NULL,
                            global = TRUE) {
  scope$count$channels <- c(scope$count$channels, 0L)[[1L]] + 1L
  fields <- c(
    if (!is.null(group)) sprintf("replica_groups = %s", integers_text(device_groups(group))), ...,
    sprintf("channel_handle = #stablehlo.channel_handle<handle = %d, type = 1>", scope$count$channels),
    if (global) "use_global_device_ids"
  )
  head <- sprintf("\"stablehlo.%s\"(%s) <{%s}>", name, operands, toString(fields))
  if (is.null(reduction)) {
    return(sprintf("%s : %s", head, signature_text(node)))
  }
  scalar <- mlir_type(new_type(node$types[[1L]]@dtype, integer()))
  names <- sprintf("%%reduce%d_%s", scope$count$channels, c("x", "y", "both"))
  c(
    sprintf("%s ({", head), sprintf("%s^bb0(%s: %s, %s: %s):", scope$indent, names[[1L]], scalar, names[[2L]], scalar),
    sprintf("%s  %s = stablehlo.%s %s : %s", scope$indent, names[[3L]], reduction, toString(names[1:2]), scalar),
    sprintf("%s  stablehlo.return %s : %s", scope$indent, names[[3L]], scalar),
    sprintf("%s}) : %s", scope$indent, signature_text(node))
  )
}

dimension_text <- function(name, at) sprintf("%s = %d : i64", name, at - 1L)

# They are linear.
on_tangents <- function(node, tangents) {
  type <- node$types[[1L]]
  list(record(node$op, tangents, type@dtype, type@shape, node$params))
}

# The same node with axes of arrays moved by that of the batch
with_batch_axis <- function(axes) {
  function(node, inputs, mapped, size) {
    p <- node$params
    p[axes] <- lapply(p[axes], `+`, 1L)
    batch_again(node, inputs, size, p)
  }
}

primitive("all_reduce",
  text = function(node, operands, scope) all_reduce_text(node, operands, scope),
  # Of an extremum: the mean over the devices that have it.
  jvp = function(node, tangents) {
    p <- node$params
    x <- node$inputs[[1L]]
    total <- function(x) all_reduced(x, p$group, "add")
    if (p$reduction == "add") {
      return(list(total(tangents[[1L]])))
    }
    here <- converted(x == output(node), x@dtype)
    list(total(tangents[[1L]] * here) / total(here))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, node$params$reduction == "add")
    list(all_reduced(cotangents[[1L]], node$params$group, "add"))
  },
  vmap = with_batch_axis(character())
)

primitive("all_gather",
  text = function(node, operands, scope) {
    collective_text(node, operands, scope, "all_gather", dimension_text("all_gather_dim", node$params$dim))
  },
  jvp = on_tangents,
  transpose = function(node, cotangents, linear) {
    list(reduce_scattered(cotangents[[1L]], node$params$group, node$params$dim))
  },
  vmap = with_batch_axis("dim")
)

primitive("reduce_scatter",
  text = function(node, operands, scope) {
    collective_text(node, operands, scope, "reduce_scatter", dimension_text("scatter_dimension", node$params$dim),
      reduction = "add"
    )
  },
  jvp = on_tangents,
  transpose = function(node, cotangents, linear) {
    list(all_gathered(cotangents[[1L]], node$params$group, node$params$dim))
  },
  vmap = with_batch_axis("dim")
)

primitive("all_to_all",
  text = function(node, operands, scope) {
    p <- node$params
    collective_text(node, operands, scope, "all_to_all",
      dimension_text("split_dimension", p$split), dimension_text("concat_dimension", p$concat),
      sprintf("split_count = %d : i64", p$group$size),
      global = FALSE
    )
  },
  jvp = on_tangents,
  transpose = function(node, cotangents, linear) {
    p <- node$params
    list(exchanged_parts(cotangents[[1L]], p$group, p$concat, p$split))
  },
  vmap = with_batch_axis(c("split", "concat"))
)

primitive("collective_permute",
  text = function(node, operands, scope) {
    p <- node$params
    groups <- device_groups(p$group)
    pairs <- cbind(c(groups[, p$perm[, 1L]]), c(groups[, p$perm[, 2L]]))
    collective_text(node, operands, scope, "collective_permute",
      sprintf("source_target_pairs = %s", integers_text(pairs)),
      group = NULL, global = FALSE
    )
  },
  jvp = on_tangents,
  transpose = function(node, cotangents, linear) {
    list(permuted(cotangents[[1L]], node$params$group, node$params$perm[, 2:1, drop = FALSE]))
  },
  vmap = with_batch_axis(character())
)

# Along axes along which the operand is the same (see hlo-varying.R) there is nothing to ask for: the sum is a multiple.
all_reduce_text <- function(node, operands, scope) {
  p <- node$params
  axes <- setdiff(p$group$axes, node$spared)
  group <- list(mesh = p$group$mesh, axes = axes, size = group_size(p$group$mesh, axes))
  copies <- p$group$size %/% group$size
  text <- text_lines(scope)
  name <- operands
  if (length(axes)) {
    reduced <- function(node, x, reduction) {
      text$add(collective_text(node, x, scope, "all_reduce", group = group, reduction = reduction))
    }
    name <- if (loses_nan(node, p$reduction)) {
      keeping_nan(node, name, p$reduction, reduced, text)
    } else {
      reduced(node, name, p$reduction)
    }
  }
  if (copies > 1L && p$reduction == "add") {
    type <- node$types[[1L]]
    factor <- text$add(sprintf(
      "stablehlo.constant %s : %s", mlir_dense(copies, type@dtype, type@shape), mlir_type(type)
    ))
    name <- text$add(sprintf("stablehlo.multiply %s, %s : %s", name, factor, mlir_type(type)))
  }
  list(names = name, lines = text$lines())
}

# The place along the axes, counted from 0: the number of the device, which is by rows as the mesh is, taken apart.
primitive("axis_index", text = function(node, operands, scope) {
  group <- node$params$group
  sizes <- group$mesh$axes
  strides <- rev(cumprod(c(1L, rev(sizes)))[seq_along(sizes)])
  names(strides) <- names(sizes)
  type <- "tensor<ui32>"
  text <- text_lines(scope)
  add <- function(...) text$add(paste0("stablehlo.", sprintf(...)))
  with_number <- function(op, x, number) {
    add("%s %s, %s : %s", op, x, add("constant dense<%d> : %s", number, type), type)
  }
  device <- add("partition_id : %s", type)
  index <- NULL
  for (axis in group$axes) {
    place <- with_number("remainder", with_number("divide", device, strides[[axis]]), sizes[[axis]])
    before <- if (!is.null(index)) with_number("multiply", index, sizes[[axis]])
    index <- if (is.null(index)) place else add("add %s, %s : %s", before, place, type)
  }
  index <- add("convert %s : (%s) -> tensor<i32>", index, type)
  list(lines = text$lines(), names = index)
})
