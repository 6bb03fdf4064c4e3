# Gather and scatter along one axis, the kinds of nodes behind indices. `at` are positions counted from 0, dtype i32.
# The first `batch` axes of operand, positions and updates go side by side; after them `at` has one axis, which takes
# the place of axis `axis` of the operand.
#
# gather         the elements at the positions, which must lie within
# scatter_add    adds the updates to those at the positions
# scatter_set    puts the updates in their place; each position comes once
# scatter_max    the larger ones; for integers, without derivatives
#
# A scatter leaves out updates whose position lies outside, if `within` is FALSE.

gathered <- function(x, at, axis, batch = 0L) {
  shape <- x@shape
  shape[[axis]] <- at@shape[[batch + 1L]]
  if (!prod(shape)) {
    return(constant(if (x@dtype == "pred") FALSE else 0, x@dtype, shape, "x"))
  }
  bind("gather", list(x, at), x@dtype, shape, list(axis = axis, batch = batch))
}

scattered <- function(kind, x, at, updates, axis, batch = 0L, within = TRUE) {
  if (!length(updates)) {
    return(x)
  }
  params <- list(axis = axis, batch = batch, within = within)
  bind(paste0("scatter_", kind), list(x, at, updates), x@dtype, x@shape, params)
}

scatters <- c("scatter_add", "scatter_set", "scatter_max")

# The axes that positions do not run along, counted from 0
window_axes <- function(node) {
  p <- node$params
  setdiff(seq_along(node$inputs[[1L]]@shape), c(seq_len(p$batch), p$axis)) - 1L
}

gather_text <- function(node, operands, scope) {
  p <- node$params
  batch <- toString(seq_len(p$batch) - 1L)
  sizes <- node$inputs[[1L]]@shape
  sizes[c(seq_len(p$batch), p$axis)] <- 1L
  sprintf(
    paste0(
      "\"stablehlo.gather\"(%s) <{dimension_numbers = #stablehlo.gather<offset_dims = [%s], ",
      "collapsed_slice_dims = [%d], operand_batching_dims = [%s], start_indices_batching_dims = [%s], ",
      "start_index_map = [%d], index_vector_dim = %d>, indices_are_sorted = false, ",
      "slice_sizes = array<i64: %s>}> : %s"
    ),
    toString(operands), toString(window_axes(node)), p$axis - 1L, batch, batch, p$axis - 1L, p$batch + 1L,
    toString(sizes), signature_text(node)
  )
}

# `inputs` are operand and positions, of which at least one has the axis of a batch in front.
batched_gather <- function(inputs, mapped, size, axis, batch = 0L) {
  if (mapped[[2L]] && !mapped[[1L]] && !batch) {
    # Positions that differ where the operand does not are one longer row of positions.
    count <- inputs[[2L]]@shape
    found <- gathered(inputs[[1L]], reshaped(inputs[[2L]], as.integer(prod(count))), axis)
    shape <- append(found@shape[-axis], count, axis - 1L)
    return(to_front(reshaped(found, shape), axis))
  }
  side_by_side <- mapped[[2L]] || batch
  if (side_by_side) {
    inputs <- all_in_front(inputs, mapped, size)
  }
  gathered(inputs[[1L]], inputs[[2L]], axis + 1L, batch + side_by_side)
}

# Derivatives of gather and scatter: all are linear in operand and updates.

primitive(c("scatter_add", "scatter_set"), jvp = same_on_tangents(c(1L, 3L)))

primitive("scatter_add", transpose = function(node, cotangents, linear) {
  list(if (linear[[1L]]) cotangents[[1L]], NULL, if (linear[[3L]]) updates_cotangent(node, cotangents[[1L]]))
})

primitive("scatter_set", transpose = function(node, cotangents, linear) {
  p <- node$params
  given <- cotangents[[1L]]
  updates <- node$inputs[[3L]]
  list(
    if (linear[[1L]]) scattered("set", given, node$inputs[[2L]], filled(0, updates), p$axis, p$batch, p$within),
    NULL,
    if (linear[[3L]]) updates_cotangent(node, given)
  )
})

# What is left out gets nothing.
updates_cotangent <- function(node, given) {
  p <- node$params
  at <- node$inputs[[2L]]
  if (p$within) {
    return(gathered(given, at, p$axis, p$batch))
  }
  inside <- at >= 0L & at < given@shape[[p$axis]]
  found <- gathered(given, selected(inside, at, filled(0L, at)), p$axis, p$batch)
  selected(broadcast(inside, found@shape, c(seq_len(p$batch), p$axis)), found, filled(0, found))
}

# Elements at positions, counted from 1, along an axis: slices where a few do, a gather otherwise.
taken <- function(x, positions, axis) {
  count <- length(positions)
  steps <- unique(diff(positions))
  run <- function(first, last, step = 1) {
    start <- replace(rep(1L, length(x@shape)), axis, as.integer(first))
    end <- replace(x@shape, axis, as.integer(last))
    sliced(x, start, end, replace(rep(1L, length(x@shape)), axis, as.integer(step)))
  }
  if (!count) {
    return(run(1, 0))
  }
  if (length(steps) < 2L) {
    step <- c(steps, 1)[[1L]]
    first <- positions[[1L]]
    last <- positions[[count]]
    if (step > 0) {
      return(run(first, last, step))
    }
    if (step < 0) {
      return(hlo_reverse(run(last, first, -step), axis))
    }
    one <- run(first, first)
    return(broadcast(one, replace(one@shape, axis, count), seq_along(one@shape)))
  }
  ends <- c(which(diff(positions) != 1), count)
  if (length(ends) <= 4L) {
    starts <- c(1L, ends[-length(ends)] + 1L)
    return(joined(Map(run, positions[starts], positions[ends]), axis))
  }
  gathered(x, constant(as.integer(positions - 1), "i32", count, "index"), axis)
}

# Values of one dtype, side by side along an axis
joined <- function(parts, axis = 1L) concatenated(unname(parts), axis, environment())

# Where the positions are not known an element may come from anywhere along the axis.
gather_dependence <- function(node, given, sets, known) {
  p <- node$params
  shape <- node$inputs[[1L]]@shape
  result <- node$types[[1L]]@shape
  ids <- given[[1L]]
  at <- known(node$inputs[[2L]])
  from <- coordinates(result)
  if (is.null(at)) {
    ids <- sets_along(sets, ids, shape, p$axis)
    left <- setdiff(seq_along(shape), p$axis)
    return(list(sets_repeated(ids, shape[left], result, left)))
  }
  from[[p$axis]] <- positions_at(at, from, node$inputs[[2L]]@shape, p)
  list(ids[places(shape, from)])
}

# The positions for elements with these coordinates
positions_at <- function(at, coordinates, shape, p) {
  at <- aperm(array(at, shape))
  at[places(shape, coordinates[c(seq_len(p$batch), p$axis)])]
}

scatter_dependence <- function(node, given, sets, known) {
  p <- node$params
  shape <- node$types[[1L]]@shape
  updates <- node$inputs[[3L]]@shape
  whole <- given[[1L]]
  ids <- given[[3L]]
  at <- known(node$inputs[[2L]])
  if (is.null(at)) {
    if (!is.null(ids)) {
      left <- setdiff(seq_along(shape), p$axis)
      ids <- sets_repeated(sets_along(sets, ids, updates, p$axis), updates[left], shape, left)
    }
    return(list(united(sets, whole, ids)))
  }
  to <- coordinates(updates)
  to[[p$axis]] <- positions_at(at, to, node$inputs[[2L]]@shape, p)
  inside <- to[[p$axis]] >= 0L & to[[p$axis]] < shape[[p$axis]]
  place <- places(shape, lapply(to, `[`, inside), sum(inside))
  if (node$op == "scatter_set" && !is.null(whole)) whole[place] <- 0L
  if (!is.null(ids)) ids <- grouped_sets(sets, ids[inside], place, as.integer(prod(shape)))
  list(united(sets, whole, ids))
}

primitive("gather",
  text = gather_text,
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    p <- node$params
    zero <- filled(0, node$inputs[[1L]])
    list(scattered("add", zero, node$inputs[[2L]], cotangents[[1L]], p$axis, p$batch), NULL)
  },
  vmap = function(node, inputs, mapped, size) {
    list(batched_gather(inputs, mapped, size, node$params$axis, node$params$batch))
  },
  export = exported_params("axis", "batch"),
  sparsity = gather_dependence
)

primitive(scatters,
  text = function(node, operands, scope) {
    p <- node$params
    batch <- toString(seq_len(p$batch) - 1L)
    type <- mlir_type(new_type(node$types[[1L]]@dtype, integer()))
    # Names of their own: those of a region must not hide others
    part <- sprintf("%%part%d_%d", scope$count$values, 1:3)
    combined <- switch(node$op,
      scatter_add = "stablehlo.add",
      scatter_max = "stablehlo.maximum"
    )
    c(
      sprintf(
        paste0(
          "\"stablehlo.scatter\"(%s) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [%s], ",
          "inserted_window_dims = [%d], input_batching_dims = [%s], scatter_indices_batching_dims = [%s], ",
          "scatter_dims_to_operand_dims = [%d], index_vector_dim = %d>, indices_are_sorted = false, ",
          "unique_indices = %s}> ({"
        ),
        toString(operands), toString(window_axes(node)), p$axis - 1L, batch, batch, p$axis - 1L, p$batch + 1L,
        if (is.null(combined)) "true" else "false"
      ),
      sprintf("%s^bb0(%s: %s, %s: %s):", scope$indent, part[[1L]], type, part[[2L]], type),
      if (!is.null(combined)) {
        sprintf("%s  %s = %s %s, %s : %s", scope$indent, part[[3L]], combined, part[[1L]], part[[2L]], type)
      },
      sprintf("%s  stablehlo.return %s : %s", scope$indent, part[[if (is.null(combined)) 2L else 3L]], type),
      sprintf("%s}) : %s", scope$indent, signature_text(node))
    )
  },
  vmap = function(node, inputs, mapped, size) {
    p <- node$params
    side_by_side <- mapped[[2L]] || p$batch
    moved <- if (side_by_side) 1:3 else c(1L, 3L)
    inputs[moved] <- all_in_front(inputs[moved], mapped[moved], size)
    kind <- sub("scatter_", "", node$op, fixed = TRUE)
    list(scattered(kind, inputs[[1L]], inputs[[2L]], inputs[[3L]], p$axis + 1L, p$batch + side_by_side, p$within))
  },
  export = exported_params("axis", "batch", "within")
)
primitive(setdiff(scatters, "scatter_max"), sparsity = scatter_dependence)
