# Derivatives and batches of functions that run on every device. What comes from outside is the same for all of them.

# The region for other parameters and other values from outside
replayed_on <- function(node, params, captured) {
  replay_region(node$params$region, params, shard_map_inputs(node)$captured, captured)
}

shard_map_jvp <- function(node, tangents) {
  p <- node$params
  inputs <- shard_map_inputs(node)
  given <- shard_map_inputs(node, tangents)
  own <- seq_along(inputs$own)
  changing <- which(!vapply(given$own, is.null, NA))
  inexact <- inexact_results(node)
  body <- function(params) {
    roots <- lapply(c(params[own], inputs$captured), alias_of)
    results <- for_derivatives(function() replayed_on(node, roots[own], beyond(roots, length(own))), roots)
    directions <- c(vector("list", length(own)), given$captured)
    directions[changing] <- beyond(params, length(own))
    changes <- jvp_graph(results, roots, directions)
    list(values = Map(or_zero, changes[inexact], results[inexact]), specs = p$out_specs[inexact])
  }
  changes <- vector("list", length(inexact))
  changes[inexact] <- node_values(shard_map_node(
    body, c(inputs$own, given$own[changing]), c(p$in_specs, p$in_specs[changing]), p$mesh,
    silent = TRUE
  ))
  changes
}

# Reverse mode in which the cotangent of a result counts once for all devices: those that have the same result get equal
# shares of it, and the shares of an argument that devices have in common are added up. Collectives are transposed as
# what they are, linear functions of what all devices have.
shard_map_linearize <- function(node, moving) {
  p <- node$params
  inputs <- shard_map_inputs(node)
  linear <- on_devices(p$mesh, function() linearized(p$region, inputs$captured, moving))
  kept <- residual_values(linear, function(value) !value@node$op %in% cheap)
  own <- seq_along(node$types)
  keep_on_devices(node, linear, kept)
  outputs <- beyond(node_values(node), length(own))
  changing <- !vapply(linear$cotangents, is.null, NA)
  sharing <- !vapply(linear$shares, is.null, NA)
  specs <- c(p$in_specs, lapply(inputs$captured, whole_spec))
  ends <- cumsum(c(length(inputs$own), length(kept)))
  body <- function(params) {
    at <- seq_along(params)
    given <- params[at > ends[[2L]]]
    cotangents <- Map(function(x, spec) shared_out(x, spec, p$mesh), given, p$out_specs[changing])
    stacked <- params[at > ends[[1L]] & at <= ends[[2L]]]
    residuals <- Map(function(value, like) reshaped(value, like@shape), stacked, kept)
    shares <- replay(
      linear$shares[sharing],
      c(linear$params, kept, linear$cotangents[changing], beyond(linear$roots, length(linear$params))),
      c(params[seq_along(inputs$own)], residuals, cotangents, inputs$captured), linear$first
    )
    list(values = Map(function(x, spec) added_up(x, spec, p$mesh), shares, specs[sharing]), specs = specs[sharing])
  }
  pull <- function(given) {
    cotangents <- Map(or_zero, given[own][changing], node$types[own][changing])
    shares <- vector("list", length(sharing))
    if (any(sharing)) {
      shares[sharing] <- node_values(shard_map_node(
        body, c(inputs$own, outputs, cotangents),
        c(p$in_specs, beyond(node$params$out_specs, length(own)), p$out_specs[changing]), p$mesh,
        silent = TRUE
      ))
    }
    shares
  }
  list(changing = changing, pull = pull)
}

shared_out <- function(cotangent, spec, mesh) {
  copies <- group_size(mesh, other_axes(spec, mesh))
  if (copies == 1L) cotangent else cotangent / copies
}

added_up <- function(share, spec, mesh) {
  axes <- other_axes(spec, mesh)
  axes <- axes[mesh$axes[axes] > 1L]
  if (length(axes)) all_reduced(share, list(mesh = mesh, axes = axes, size = group_size(mesh, axes)), "add") else share
}

# Adds `kept` to the results of a node: the devices' own values one after another along a new axis.
keep_on_devices <- function(node, linear, kept) {
  p <- node$params
  specs <- lapply(kept, function(value) c(list(names(p$mesh$axes)), whole_spec(value)))
  region <- on_devices(p$mesh, function() {
    trace_region(function(params) {
      values <- replay(
        c(linear$results, kept), c(linear$params, beyond(linear$roots, length(params))), c(params, linear$captured),
        linear$first, linear$effects
      )
      count <- length(linear$results)
      c(values[seq_len(count)], lapply(beyond(values, count), with_axis, 1L))
    }, lapply(linear$params, type_of))
  })
  node$params$region <- region
  node$varying <- varying_in_shards(region, p$in_specs, p$mesh, NULL)
  node$params$out_specs <- c(p$out_specs, specs)
  node$types <- c(node$types, Map(function(x, spec) {
    whole_type(x, spec, p$mesh)
  }, beyond(region$results, length(linear$results)), specs))
  node$inputs <- c(shard_map_inputs(node)$own, captured_by(list(region)))
}

shard_map_vmap <- function(node, inputs, mapped, size) {
  p <- node$params
  old <- shard_map_inputs(node)$captured
  new <- shard_map_inputs(node, inputs)
  flags <- lapply(shard_map_inputs(node, as.list(mapped)), as.logical)
  along_batch <- function(specs, mapped) {
    Map(function(spec, mapped) c(if (mapped) list(character()), spec), specs, mapped)
  }
  node_values(shard_map_node(function(params) {
    batch <- batch_region(p$region, params, flags$own, old, new$captured, flags$captured, size)
    list(
      values = all_in_front(batch$values, batch$mapped, size),
      specs = along_batch(p$out_specs, rep(TRUE, length(p$out_specs)))
    )
  }, new$own, along_batch(p$in_specs, flags$own), p$mesh))
}

# `body` is a function of the parts that one device has of `inputs`; it gives list(values, specs). With `call`, for
# errors, it is checked that devices come to the same collectives: those that do not would end the process.
shard_map_node <- function(body, inputs, specs, mesh, silent = FALSE, call = NULL) {
  out <- NULL
  region <- on_devices(mesh, function() {
    trace_region(function(params) {
      out <<- body(params)
      out$values
    }, Map(function(x, spec) part_type(x, spec, mesh), inputs, specs), silent)
  })
  types <- Map(function(x, spec) whole_type(x, spec, mesh), out$values, out$specs)
  node <- new_node("shard_map", c(inputs, captured_by(list(region))), types, list(
    region = region, mesh = mesh, in_specs = specs, out_specs = out$specs
  ))
  node$varying <- varying_in_shards(region, specs, mesh, call)
  if (length(region$effects)) {
    record_effect(node)
  }
  node
}

# Calls `f` where collectives speak along the axes of `mesh`.
on_devices <- function(mesh, f) {
  outer <- trace_state$manual
  on.exit(trace_state$manual <- outer)
  trace_state$manual <- mesh
  f()
}

part_type <- function(x, spec, mesh) new_type(x@dtype, local_shape(spec, mesh, x@shape))

whole_type <- function(x, spec, mesh) new_type(x@dtype, x@shape * parts_per_dimension(spec, mesh))

# The axes of the mesh along which a spec makes no difference
other_axes <- function(spec, mesh) setdiff(names(mesh$axes), unlist(spec))

# What a node takes by what it is, or values that belong to these, such as tangents.
shard_map_inputs <- function(node, inputs = node$inputs) {
  count <- length(node$params$in_specs)
  list(own = inputs[seq_len(count)], captured = beyond(inputs, count))
}

# The axes of the mesh along which the results of a region differ. Along axes of one device nothing does.
varying_in_shards <- function(region, specs, mesh, call) {
  known <- list(axes = new_table(), mesh = names(mesh$axes)[mesh$axes > 1L], call = call)
  replication_of_results(region, lapply(specs, function(spec) intersect(unlist(spec), mesh_axes(known))), known)
}

shard_map_text <- function(node, operands, scope) {
  p <- node$params
  inner <- scope
  inner$indent <- paste0(scope$indent, "  ")
  # The region sees nothing of the program around it.
  inner$names <- new_table()
  inner$mesh <- NULL
  inner$shared <- new_constants(sprintf("shard%d_", scope$count$values))
  inputs <- shard_map_inputs(node)
  specs <- c(p$in_specs, lapply(inputs$captured, whole_spec))
  names <- sprintf("%%shard%d_%d", scope$count$values, seq_along(operands) - 1L)
  scope$count$values <- scope$count$values + 1L
  own <- seq_along(inputs$own)
  name_parameters(inner, p$region$params, names[own])
  Map(function(value, name) name_value(inner, value, name), inputs$captured, beyond(names, length(own)))
  types <- vapply(c(p$region$params, inputs$captured), mlir_type, "")
  shardings <- function(specs) sprintf("[%s]", toString(vapply(specs, sharding_text, "")))
  body <- region_lines(inner, p$region)
  constants <- inner$shared$entries
  operands <- c(operands, vapply(constants, function(entry) large_name(scope$shared, entry$node), ""))
  names <- c(names, vapply(constants, function(entry) entry$name, ""))
  constant_types <- lapply(constants, function(entry) entry$type)
  types <- c(types, vapply(constant_types, mlir_type, ""))
  specs <- c(specs, lapply(constant_types, whole_spec))
  results <- vapply(p$region$results, value_name, "", scope = inner)
  part_types <- vapply(p$region$results, mlir_type, "")
  whole_types <- vapply(node$types, mlir_type, "")
  c(
    sprintf(
      "sdy.manual_computation(%s) in_shardings=%s out_shardings=%s manual_axes={%s} (%s) {", toString(operands),
      shardings(specs), shardings(p$out_specs), quoted(names(p$mesh$axes)),
      paste(sprintf("%s: %s", names, types), collapse = ", ")
    ),
    body,
    paste0(
      inner$indent, "sdy.return", if (length(results)) sprintf(" %s : %s", toString(results), toString(part_types))
    ),
    sprintf("%s} : (%s) -> (%s)", scope$indent, toString(c(input_types(node), vapply(constant_types, mlir_type, ""))),
      toString(whole_types)
    )
  )
}

primitive("shard_map",
  text = shard_map_text,
  jvp = shard_map_jvp,
  transpose = transposed_by_linearize,
  vmap = shard_map_vmap,
  rebind = function(node, inputs) {
    p <- node$params
    new <- shard_map_inputs(node, inputs)
    node_values(shard_map_node(function(params) {
      list(values = replayed_on(node, params, new$captured), specs = p$out_specs)
    }, new$own, p$in_specs, p$mesh))
  },
  linearize = shard_map_linearize
)

# Names a value that nodes of a scope take.
name_value <- function(scope, value, name) {
  value <- resolved(value)
  names <- of_node(scope$names, value@node)
  names[value@index] <- name
  set_of_node(scope$names, value@node, names)
}
