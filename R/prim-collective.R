#' Collectives: what devices tell one another
#'
#' Functions for the function that [xla_shard_map()] runs on every device of a mesh, on its own part of the data.
#' `hlo_psum()`, `hlo_pmean()`, `hlo_pmax()` and `hlo_pmin()` combine the values of the devices, element by element,
#' and give the result to all of them: NaN where any device has NaN.
#'
#' @details
#' `axis` names one or several axes of the mesh. The devices that differ in their places along these axes only are a
#' group; each group computes for itself. Several names count as one axis, of which the first name is the slowest.
#' Places, like axes of arrays, are counted from 1.
#'
#' * `hlo_axis_index()` is the place of this device, an i32 scalar; `hlo_axis_size()` the number of devices in a
#'   group, a number of R's.
#' * `hlo_all_gather()` puts the values of the group together: along a new axis `dim` or, with `tiled = TRUE`, along
#'   the axis `dim` that is there.
#' * `hlo_psum_scatter()` adds up like `hlo_psum()` and gives each device its part of the sum: of the axis `dim`, whose
#'   length is the size of the group, its element (the axis is gone) or, with `tiled = TRUE`, of any multiple of that
#'   its stretch.
#' * `hlo_ppermute()` sends values from device to device. A device that nobody sends to gets zeros.
#' * `hlo_all_to_all()` cuts the axis `split` into parts, one for each device of the group, and puts the parts that come
#'   together along `concat`. As they are, the axis `split` has the size of the group and is gone, and there is a
#'   new axis `concat`; with `tiled = TRUE` the axis `split` gets shorter and the axis `concat` longer.
#'
#' All devices must come to the same collectives in the same order. So the condition of a [hlo_cond()] or
#' [hlo_while()] with collectives in it must be the same on all devices that they join, which [xla_shard_map()] checks:
#' a sum or maximum over the axis makes it so.
#'
#' Derivatives, in forward and reverse mode and of any order, are those of the whole: one device's argument counts for
#' the results of all. Of equal values on several devices `hlo_pmax()` and `hlo_pmin()` give each its share.
#'
#' Random numbers: `hlo_fold_in(key, hlo_axis_index("data"))` is a key for each device.
#'
#' @param x A [value][xlaffi_value], or a (nested) list of values.
#' @param axis Names of axes of the mesh.
#' @param dim,split,concat An axis of `x`, or a new one.
#' @param tiled Whether the number of axes stays as it is.
#' @param perm Who sends to whom: a list of pairs `c(from, to)`, or a matrix with such rows. No device sends, or is sent
#'   to, twice.
#' @return A value, or a list as `x`.
#' @seealso [xla_shard_map()]
#' @examplesIf plugins_downloaded()
#' mesh <- xla_mesh(c(data = 1L))
#' share <- xla_shard_map(
#'   function(x) list(share = x / hlo_psum(sum(x), "data"), largest = hlo_pmax(max(x), "data")),
#'   mesh, "data", list(share = "data", largest = xla_spec())
#' )
#' share(c(1, 2, 5))
#' # What the others have, whole and in parts; and who they are
#' exchanged <- xla_shard_map(
#'   function(x) {
#'     list(
#'       all = hlo_all_gather(x, "data", tiled = TRUE),
#'       part = hlo_psum_scatter(x, "data", tiled = TRUE),
#'       turned = hlo_all_to_all(x, "data", split = 1, concat = 1, tiled = TRUE),
#'       next_one = hlo_ppermute(x, "data", list(c(1, 1))),
#'       least = hlo_pmin(min(x), "data"), place = hlo_axis_index("data") / hlo_axis_size("data")
#'     )
#'   },
#'   mesh, "data",
#'   list(
#'     all = xla_spec(), part = "data", turned = "data", next_one = "data", least = NULL, place = NULL
#'   )
#' )
#' exchanged(c(1, 2, 5))
#' @name hlo_collective
NULL

# The mesh and the axes that a collective is about.
named_axes <- function(axis, op, call) {
  mesh <- trace_state$manual
  if (is.null(mesh)) {
    abort(sprintf("%s: there are no devices to speak to outside of the function of xla_shard_map()", op),
      op = op, call = call
    )
  }
  known <- names(mesh$axes)
  if (!is.character(axis) || !length(axis) || anyNA(axis)) {
    abort(sprintf("%s: `axis` must name axes of the mesh (%s), not %s", op, quoted(known), describe(axis)),
      op = op, operand = "axis", call = call
    )
  }
  unknown <- setdiff(axis, known)
  if (length(unknown)) {
    abort(sprintf("%s: the mesh has no axis %s, but %s", op, quoted(unknown[[1L]]), quoted(known)),
      op = op, operand = "axis", call = call
    )
  }
  if (anyDuplicated(axis)) {
    abort(sprintf("%s: `axis` names %s twice", op, quoted(axis[duplicated(axis)][[1L]])),
      op = op, operand = "axis", call = call
    )
  }
  list(mesh = mesh, axes = axis, size = group_size(mesh, axis))
}

group_size <- function(mesh, axes) as.integer(prod(mesh$axes[axes]))

# `f` of each value in `x`
each_value <- function(x, op, call, f) {
  tree_map(x, function(leaf) {
    leaf <- as_value(leaf, "x", call = call, op = op)
    check_no_token(leaf, op, "x", call)
    f(leaf)
  })
}

all_reduced <- function(x, group, reduction) {
  bind("all_reduce", list(x), x@dtype, x@shape, list(group = group, reduction = reduction))
}

reduced_over <- function(x, axis, reduction, op, call, before = identity, kind = "a number") {
  group <- named_axes(axis, op, call)
  each_value(x, op, call, function(x) {
    x <- before(x)
    check_kind(x, kind, op, "x", call)
    all_reduced(x, group, reduction)
  })
}

#' @rdname hlo_collective
#' @export
hlo_psum <- function(x, axis) reduced_over(x, axis, "add", "hlo_psum", environment(), as_numbers)

#' @rdname hlo_collective
#' @export
hlo_pmean <- function(x, axis) {
  kind <- "a floating-point or complex number"
  sums <- reduced_over(x, axis, "add", "hlo_pmean", environment(), as_doubles, kind)
  tree_map(sums, `/`, hlo_axis_size(axis))
}

#' @rdname hlo_collective
#' @export
hlo_pmax <- function(x, axis) reduced_over(x, axis, "maximum", "hlo_pmax", environment(), as_numbers, "a real number")

#' @rdname hlo_collective
#' @export
hlo_pmin <- function(x, axis) reduced_over(x, axis, "minimum", "hlo_pmin", environment(), as_numbers, "a real number")

#' @rdname hlo_collective
#' @export
hlo_axis_index <- function(axis) {
  group <- named_axes(axis, "hlo_axis_index", environment())
  bind("axis_index", list(), "i32", integer(), list(group = group)) + 1L
}

#' @rdname hlo_collective
#' @export
hlo_axis_size <- function(axis) named_axes(axis, "hlo_axis_size", environment())$size

for (name in c("hlo_psum", "hlo_pmean")) {
  overload(name, "xlaffi", get(name), by = "own", topic = "Several devices", dtypes = "all numbers")
}
for (name in c("hlo_pmax", "hlo_pmin")) {
  overload(name, "xlaffi", get(name), by = "own", topic = "Several devices", dtypes = "real")
}
overload("hlo_axis_index", "xlaffi", hlo_axis_index,
  by = "own", topic = "Several devices", dtypes = "all", derivative = "none"
)
overload("hlo_axis_size", "xlaffi", hlo_axis_size,
  by = "own", topic = "Several devices", dtypes = "all", derivative = "none"
)

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

# A call of StableHLO with the attributes that collectives have. StableHLO refuses arrays without elements, of which
# there is nothing to tell.
collective_text <- function(node, operands, scope, name, ..., group = node$params$group, reduction = NULL,
                            global = TRUE) {
  type <- node$types[[1L]]
  if (any(type@shape == 0L)) {
    return(sprintf("stablehlo.constant dense<> : %s", mlir_type(type)))
  }
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
  scalar <- mlir_type(new_type(type@dtype, integer()))
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
  list(bind(node$op, tangents, type@dtype, type@shape, node$params))
}

# The same node with axes of arrays moved by that of the batch
with_batch_axis <- function(axes) {
  function(node, inputs, mapped, size) {
    p <- node$params
    p[axes] <- lapply(p[axes], `+`, 1L)
    rebind_batch(node, inputs, size, p)
  }
}

# Along axes along which the operand is the same (see trace-replication.R) there is nothing to ask for: the sum is a
# multiple.
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
axis_index_text <- function(node, operands, scope) {
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
}

# What a collective makes equal along its axes
becomes_equal <- function(node, given, known) {
  # What is the same along an axis need not be asked for there; all_reduce_text() looks at this.
  node$spared <- setdiff(node$params$group$axes, given[[1L]])
  list(setdiff(given[[1L]], node$params$group$axes))
}

# The weights of what this device has in the derivative of the extremum over devices. All of them find the same ones, in
# what they have gathered: `x` may be computed a second time to be compared (see prim-extremum-weights.R).
weight_of_device <- function(x, group, largest) {
  all <- all_gathered(with_axis(x, 1L), group, 1L)
  extremum <- reduced(if (largest) "reduce_max" else "reduce_min", all, 1L, "hlo_pmax")
  weights <- extremum_weights(all, extremum, 1L, largest)
  zero <- constant(0L, "i32", integer(), "x")
  place <- bind("axis_index", list(), "i32", integer(), list(group = group))
  own <- dynamic_sliced(weights, c(list(place), rep(list(zero), rank_of(x))), c(1L, x@shape))
  reshaped(own, x@shape)
}

primitive("all_reduce",
  text = all_reduce_text,
  # Of an extremum: the mean over the devices that have it.
  jvp = function(node, tangents) {
    p <- node$params
    t <- tangents[[1L]]
    if (p$reduction != "add") t <- t * weight_of_device(node$inputs[[1L]], p$group, p$reduction == "maximum")
    list(all_reduced(t, p$group, "add"))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, node$params$reduction == "add")
    list(all_reduced(cotangents[[1L]], node$params$group, "add"))
  },
  vmap = with_batch_axis(character()),
  replication = becomes_equal
)

primitive("axis_index",
  text = axis_index_text,
  replication = function(node, given, known) {
    list(intersect(node$params$group$axes, mesh_axes(known)))
  }
)
