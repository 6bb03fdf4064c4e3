#' Run a function on every device of a mesh
#'
#' `xla_shard_map(f)` gives a function that cuts its arguments into parts, one for each device of a mesh, runs `f` on
#' every device with the parts of that device, and puts the results together. Inside of `f`, devices speak to one
#' another by [collectives][hlo_collective].
#'
#' @details
#' A spec ([xla_spec()]) says for each axis of an array along which axes of the mesh it is cut: with `"data"` each
#' device along the axis `data` gets its stretch of the first axis of the array, in equal parts. Axes of the mesh that a
#' spec does not name make no difference: devices that differ along these only get the same. Results are put together in
#' the same manner: where the spec of a result names an axis of the mesh, the parts lie one after another; along axes
#' that it does not name the results are the same on all devices, and one is taken.
#'
#' That they are the same is checked while the program is written: what `f` computes differs along the axes along which
#' its arguments do, unless a collective such as [hlo_psum()] or [hlo_all_gather()] makes it equal; and the results of
#' calls with side effects may differ along all of them. An R function ([ffi_callback()]) or an op that was not said to
#' have a side effect is believed to give equal results for equal operands: one that draws random numbers, counts its
#' calls or reads a clock gives each device its own, and the check does not see it. Say `side_effect = TRUE` of it.
#' `check = FALSE` trusts you altogether, and takes the result of one device. Collectives in branches and loops are
#' checked in any case: all devices that they join must come to them, as the others would wait for ever.
#'
#' The function is called with sharded arrays ([xla_shard()]), with R data, or inside [xla_jit()] as a part of a larger
#' program, of which XLA shares out the rest by itself. Values that `f` uses from outside are given to each device as a
#' whole. What `f` calls runs once on each device, on its part: custom calls and ops of yours too (outside of
#' `xla_shard_map()` XLA runs these on the whole array, on every device).
#'
#' Derivatives go through it in forward and reverse mode, any number of times, and so does [xla_vmap()]. Inside of `f`,
#' derivatives are those of the sum of the results over all devices: `xla_grad()` of a loss that `hlo_psum()` has added
#' up is as many times the gradient of the device's own loss as there are devices that share the sum. So take the
#' gradient of the device's own loss there, and add up gradients. Outside, where the loss is one number, the
#' gradient is what it is.
#'
#' @param f A function of [values][xlaffi_value]. It sees the parts that one device has.
#' @param mesh What [xla_mesh()] makes.
#' @param in_specs A spec for all arguments, or a list with one for each (named or in order); an argument that is a
#'   list may have a list of its own. `NULL`: the whole argument for each device.
#' @param out_specs The same for the results.
#' @param check Whether to check that results are the same on all devices where `out_specs` says so.
#' @return A function as [xla_jit()] returns it.
#' @seealso [hlo_collective], [xla_mesh()], [xla_shard()]
#' @examplesIf plugins_downloaded()
#' mesh <- xla_mesh(c(data = 1L))
#' # The cross product of a matrix whose rows lie on several devices
#' cross <- xla_shard_map(
#'   function(x) hlo_psum(crossprod(x), "data"),
#'   mesh, in_specs = "data", out_specs = xla_spec()
#' )
#' cross(matrix(1:6 / 2, 3))
#'
#' # Mean squared error and its gradient
#' loss <- xla_shard_map(
#'   function(w, x, y) hlo_pmean(mean((drop(x %*% w) - y)^2), "data"),
#'   mesh, in_specs = list(w = NULL, x = "data", y = "data"), out_specs = NULL
#' )
#' xla_grad(loss)(c(1, 2), cbind(1, 1:4), c(2, 4, 7, 8))
#' @export
xla_shard_map <- function(f, mesh, in_specs, out_specs, check = TRUE) {
  check_function(f)
  check_mesh(mesh, "mesh")
  check_flag(check, "check")
  own <- written_function(f)
  # Where R data come to lie
  placed <- if (!"..." %in% formal_names(own)) in_specs
  new_jit(function(...) {
    call <- quote(xla_shard_map())
    if (!is.null(trace_state$manual)) {
      abort("xla_shard_map: this is called in the function of another xla_shard_map(), where there is one device",
        op = "xla_shard_map", operand = "f", call = call
      )
    }
    use_mesh(mesh, call)
    arguments <- arranged(f, list(...))
    specs <- specs_of(in_specs, arguments, mesh, "in_specs", "argument", call)
    tree <- NULL
    node <- shard_map_node(function(params) {
      tree <<- call_written(f, tree_fill(arguments, params))
      values <- lapply(tree_leaves(tree), as_value, "f", call = call)
      tree <<- tree_fill(tree, values)
      list(values = values, specs = specs_of(out_specs, tree, mesh, "out_specs", "result", call, mesh_size(mesh)))
    }, tree_leaves(arguments), specs, mesh, call = call)
    if (check) {
      check_replication(node, tree, call)
    }
    tree_fill(tree, node_values(node))
  }, "shard_map", shardings = list(mesh = mesh, inputs = placed, name = "in_specs", of = own, strict = FALSE))
}

# For each leaf of `like`, values, a spec with an entry for each of its axes. Of a result, `parts` is the number of
# devices: its axes are going to be longer.
specs_of <- function(specs, like, mesh, name, what, call, parts = 1) {
  tree <- new_tree(tree_map(like, function(leaf) TRUE))
  leaves <- tree_leaves(like)
  Map(function(spec, value, i) {
    path <- tree_path(tree, i)
    title <- paste0(what, if (nzchar(path)) sprintf(" `%s`", path))
    if (length(spec) > length(value@shape)) {
      abort(
        sprintf("xla_shard_map: %s is %s, but %s has %s", title, type_text(value), format(spec),
          if (length(spec) == 1L) "an entry" else sprintf("%d entries", length(spec))
        ),
        op = "xla_shard_map", operand = name, call = call,
        hint = if (!length(value@shape)) "`hlo_reshape(x, 1)` makes a vector of a scalar."
      )
    }
    checked_spec(spec, mesh, value@shape * parts, title, name, call)
  }, spec_leaves(specs, like, name, paste0("the ", what, "s"), call), leaves, seq_along(leaves))
}

check_replication <- function(node, tree, call) {
  p <- node$params
  for (i in seq_along(node$varying)) {
    wrong <- intersect(node$varying[[i]], other_axes(p$out_specs[[i]], p$mesh))
    if (length(wrong)) {
      path <- tree_path(new_tree(tree_map(tree, function(leaf) TRUE)), i)
      abort(
        sprintf(
          "xla_shard_map: %s may differ along axis %s, which `out_specs` does not name for it",
          if (nzchar(path)) sprintf("result `%s`", path) else "the result", quoted(wrong[[1L]])
        ),
        op = "xla_shard_map", operand = "out_specs", call = call, hint = c(
          sprintf("A spec with %s puts the results of the devices one after another.", quoted(wrong[[1L]])),
          "`hlo_psum()`, `hlo_pmax()`, `hlo_all_gather()` and their kin make them the same.",
          "`check = FALSE` if you know that they are."
        )
      )
    }
  }
}
