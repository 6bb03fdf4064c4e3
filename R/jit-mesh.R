# Compiled functions on a mesh: where their arguments come to lie, where XLA left the results, and the run.
#
# `shardings` of a function: its `mesh` (NULL: that of its arguments), trees of specifications for `inputs` and
# `outputs`, and whether they are `strict`: arguments that are sharded otherwise are refused, and as a part of another
# program the function keeps them. `inputs` came by the argument `name` and are for the arguments of the function `of`.

check_spec_tree <- function(specs, name, call = rlang::caller_env()) {
  leaves <- if (is_spec_like(specs)) list(specs) else tree_leaves(specs)
  for (spec in leaves) as_spec(spec, name, call)
}

# NULL for arguments of one device; else the `mesh`, and for each leaf along which axes it is cut (`inputs`).
placed_arguments <- function(f, shardings, arguments, types, call) {
  leaves <- tree_leaves(arguments)
  sharded <- vapply(leaves, is_sharded, NA)
  mesh <- shardings$mesh
  for (x in leaves[sharded]) {
    if (is.null(mesh)) {
      mesh <- x@mesh
    } else if (!same_mesh(mesh, x@mesh)) {
      refuse_meshes(mesh, x@mesh, call)
    }
  }
  if (is.null(mesh)) {
    if (!is.null(shardings$inputs)) refuse_no_mesh(call)
    return(NULL)
  }
  check_mesh_is_here(mesh, "mesh", call)
  name <- if (is.null(shardings$name)) "in_shardings" else shardings$name
  given <- given_specs(if (is.null(shardings$of)) f else shardings$of, shardings$inputs, arguments, call, name)
  entries <- Map(function(x, type, spec, label) {
    if (is.null(spec)) {
      return(if (is_sharded(x)) x@spec else replicated_entries(type@shape))
    }
    wanted <- checked_spec(spec, mesh, type@shape, paste("argument", label), name, call)
    # Axes of one device make no difference.
    if (!is_sharded(x) || identical(mesh_parts(mesh, wanted), mesh_parts(mesh, x@spec))) {
      return(wanted)
    }
    if (isTRUE(shardings$strict)) {
      abort(
        sprintf(
          "argument %s is sharded by %s, not by %s of `in_shardings`", label, format_spec(x@spec), format_spec(wanted)
        ),
        operand = "in_shardings", hint = "`xla_shard(x, mesh, spec)` moves an array.", call = call
      )
    }
    x@spec
  }, leaves, tree_leaves(types), given, leaf_labels(arguments))
  list(mesh = mesh, inputs = unname(entries))
}

refuse_no_mesh <- function(call) {
  abort("`in_shardings` and `out_shardings` need a mesh: no argument is sharded", "FAILED_PRECONDITION",
    operand = "mesh", hint = "`xla_jit(f, mesh = xla_mesh(...), in_shardings = )` names one.", call = call
  )
}

# The name or number of the argument that each leaf belongs to
leaf_labels <- function(arguments) {
  counts <- vapply(arguments, function(argument) length(tree_leaves(argument)), 0L)
  rep(argument_names(arguments), counts)
}

# The names that `f` gives its arguments; "" where it gives none
parameter_names <- function(f, arguments) {
  named <- named_arguments(f, stats::setNames(as.list(seq_along(arguments)), names(arguments)))
  names2(named)[order(as.integer(unlist(named)))]
}

# A specification or NULL for each leaf of the arguments, which go by the names that `f` gives them or by their places.
given_specs <- function(f, specs, arguments, call, name = "in_shardings") {
  named <- names(named_arguments(f, stats::setNames(as.list(seq_along(arguments)), names(arguments))))
  order <- unlist(named_arguments(f, stats::setNames(as.list(seq_along(arguments)), names(arguments))))
  in_order <- arguments[order]
  names(in_order) <- named
  if (is_branch(specs) && is_named(specs)) {
    # Arguments that a call leaves to their defaults
    absent <- setdiff(formal_names(f), c(named, "..."))
    specs <- specs[setdiff(names(specs), absent)]
  }
  found <- spec_leaves(specs, in_order, name, "the arguments", call)
  counts <- vapply(in_order, function(argument) length(tree_leaves(argument)), 0L)
  by_argument <- split(found, factor(rep(seq_along(order), counts), seq_along(order)))
  unlist(unname(by_argument[match(seq_along(order), order)]), recursive = FALSE)
}

# What the text of a traced program says about its arguments and results. NULL for one device.
program_layout <- function(traced, placed, shardings, call = NULL) {
  mesh <- traced$mesh
  if (is.null(mesh)) {
    if (!is.null(shardings$outputs)) refuse_no_mesh(call)
    return(NULL)
  }
  inputs <- placed$inputs
  if (is.null(placed)) {
    inputs <- lapply(traced$region$params, function(x) replicated_entries(x@shape))
  }
  given <- spec_leaves(shardings$outputs, traced$results, "out_shardings", "the results", call)
  types <- tree_leaves(traced$results)
  outputs <- Map(function(spec, type, i) {
    if (!is.null(spec)) checked_spec(spec, mesh, type@shape, sprintf("result %d", i), "out_shardings", call)
  }, given, types, seq_along(types))
  list(mesh = mesh, inputs = inputs, outputs = outputs)
}

# The layout of a compiled program, with what XLA chose for results. Where that is no specification (a part of an axis,
# or an order of its own) these results are asked for whole, and `chosen` is FALSE: it has to be compiled like that.
settled_layout <- function(layout, program, traced, types) {
  open <- vapply(layout$outputs, is.null, NA)
  # A program for one device has no shardings.
  alone <- mesh_size(layout$mesh) == 1L
  shardings <- check(.Call(wrap__executable_info, program$executable))$shardings
  results <- tree_leaves(traced$results)
  found <- lapply(which(open), function(i) {
    shape <- results[[i]]@shape
    if (alone) replicated_entries(shape) else entries_of(shardings[[i]], layout$mesh, shape)
  })
  unknown <- vapply(found, is.null, NA)
  found[unknown] <- lapply(results[open][unknown], function(type) replicated_entries(type@shape))
  layout$outputs[open] <- found
  layout$chosen <- !any(unknown)
  # What calls fill in, and what they cut arguments by
  layout$results <- Map(function(type, entries) {
    new_sharded(list(), layout$mesh, entries, type)
  }, results, layout$outputs)
  layout$arguments <- Map(function(type, entries) {
    parts <- local_parts(layout$mesh, entries)
    list(
      type = type, parts = parts, local = local_shape(entries, layout$mesh, type@shape), first = first_of_same(parts)
    )
  }, tree_leaves(types), layout$inputs)
  layout
}

# XLA's sharding of an array as entries of a specification; NULL where it is none.
entries_of <- function(sharding, mesh, shape) {
  if (is.null(sharding) || sharding$kind == "replicated") {
    return(if (!is.null(sharding)) replicated_entries(shape))
  }
  if (sharding$kind != "tiled" || length(sharding$tiles) != length(shape)) {
    return(NULL)
  }
  tiles <- tile_numbers(sharding)
  coordinates <- mesh_coordinates(mesh)
  entries <- lapply(seq_along(shape), function(axis) {
    axes_of_tiles(tiles[, axis], sharding$tiles[[axis]], mesh, coordinates)
  })
  fits <- !any(vapply(entries, is.null, NA)) && !anyDuplicated(unlist(entries)) && all(shape %% sharding$tiles == 0)
  if (fits) entries
}

# The axes along which the places have these numbers of tiles, of `count`
axes_of_tiles <- function(tiles, count, mesh, coordinates, chosen = character(), number = 0 * tiles) {
  parts <- prod(mesh$axes[chosen])
  if (parts == count) {
    return(if (all(number == tiles)) chosen)
  }
  for (name in setdiff(names(mesh$axes), chosen)) {
    size <- mesh$axes[[name]]
    if (size > 1L && count %% (parts * size) == 0) {
      found <- axes_of_tiles(tiles, count, mesh, coordinates, c(chosen, name), number * size + coordinates[, name])
      if (!is.null(found)) {
        return(found)
      }
    }
  }
  NULL
}

# Runs a call on a mesh. With R data alone, and nothing said of where they lie, the results are R data.
run_on_mesh <- function(call, leaves) {
  layout <- call$layout
  arguments <- lapply(seq_along(leaves), function(i) {
    x <- leaves[[i]]
    to <- layout$arguments[[i]]
    if (is_sharded(x)) {
      return(x@shards)
    }
    x <- representable(x, to$type@dtype, call$labels[[i]])
    parts_on_devices(x, to$type, layout$mesh, to$parts, to$local, to$first)
  })
  # A program for one device takes and gives buffers, one for several lists of them.
  alone <- mesh_size(layout$mesh) == 1L
  if (alone) {
    arguments <- lapply(arguments, `[[`, 1L)
  }
  arguments <- c(arguments, call$hidden)
  outputs <- .Call(wrap__executable_execute, call$program$executable, arguments, NULL, TRUE, FALSE, TRUE)
  if (is.object(outputs)) {
    outputs <- finish(outputs, NULL)
  }
  if (alone) {
    outputs <- lapply(outputs, list)
  }
  results <- layout$results
  for (i in seq_along(results)) attr(results[[i]], "shards") <- outputs[[i]]
  stays <- call$any || layout$stays || !is.null(call$present)
  in_form(call, if (stays) results else read_results(results, leaves), leaves)
}

# A function whose shardings are its own, as a part of a program
inlined_sharded <- function(self, values, call) {
  mesh <- if (is.null(self$shardings$mesh)) mesh_of_program() else self$shardings$mesh
  if (is.null(mesh)) {
    refuse_no_mesh(call)
  }
  use_mesh(mesh, call)
  constrain <- function(tree, specs, name, labels) {
    leaves <- Map(function(x, spec, label) {
      if (is.null(spec)) x else sharding_constrained(x, checked_spec(spec, mesh, x@shape, label, name, call))
    }, tree_leaves(tree), specs, labels)
    tree_fill(tree, leaves)
  }
  specs <- given_specs(self$f, self$shardings$inputs, values, call)
  values <- constrain(values, specs, "in_shardings", paste("argument", leaf_labels(values)))
  tree <- call_written(self$f, values)
  results <- tree_map(tree, as_value, "f", call = NULL)
  specs <- spec_leaves(self$shardings$outputs, results, "out_shardings", "the results", call)
  constrain(results, specs, "out_shardings", paste("result", seq_along(specs)))
}

# That of the sharded arrays in a tree, NULL without any
mesh_of_data <- function(data) {
  sharded <- Find(is_sharded, tree_leaves(data))
  if (!is.null(sharded)) sharded@mesh
}

# A partition for each place. XLA may cut results of which the program says nothing.
mesh_options <- function(mesh) {
  pjrt_compile_options(num_partitions = mesh_size(mesh), devices = mesh$devices)
}

# Its device cuts it.
hooks$cut_buffer <- function(x, parts, local) {
  cut <- made_once(paste("cut", toString(parts), "by", toString(local)), function() {
    new_jit(function(x) {
      lapply(seq_len(nrow(parts)), function(i) {
        range <- part_range(parts[i, ], local)
        sliced(x, range$start, range$end, rep(1L, length(local)))
      })
    }, "shard", list())
  })
  cut(x)
}

# A sharded array of another sharding, by a program that gives it back
hooks$resharded <- function(x, mesh, spec, shape, call) {
  if (!is.null(shape) && !identical(shape, x@shape)) {
    abort(
      sprintf("`x` is a sharded array of shape %s, not %s", shape_text(x@shape), shape_text(shape)),
      operand = "global_shape", call = call
    )
  }
  entries <- checked_spec(spec, mesh, x@shape, "`x`", call = call)
  if (!same_mesh(x@mesh, mesh)) {
    bytes <- as_raw(x, row_major = TRUE)
    to <- mesh$devices[[mesh$local[[1L]]]]
    whole <- check(.Call(wrap__buffer_from_raw, bytes, x@dtype, to, x@shape, TRUE), call)
    return(xla_shard(whole, mesh, spec))
  }
  if (identical(x@spec, entries)) {
    return(x)
  }
  again <- made_once(paste("reshard", format_spec(entries)), function() {
    new_jit(function(x) x, "shard", list(), shardings = list(outputs = as_spec(entries)))
  })
  again(x)
}
