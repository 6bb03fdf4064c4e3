# Collectives that move elements. The nodes work along axes that are there (`tiled`); new axes are made, and those of
# length 1 taken away, around them.

#' @rdname hlo_collective
#' @export
hlo_all_gather <- function(x, axis, dim = 1, tiled = FALSE) {
  call <- environment()
  op <- "hlo_all_gather"
  group <- named_axes(axis, op, call)
  check_flag(tiled, "tiled")
  each_value(x, op, call, function(x) {
    dim <- check_axis(dim, "dim", length(x@shape) + !tiled, x, op, call)
    all_gathered(if (tiled) x else with_axis(x, dim), group, dim)
  })
}

all_gathered <- function(x, group, dim) {
  shape <- x@shape
  shape[[dim]] <- shape[[dim]] * group$size
  bind("all_gather", list(x), x@dtype, shape, list(group = group, dim = dim))
}

#' @rdname hlo_collective
#' @export
hlo_psum_scatter <- function(x, axis, dim = 1, tiled = FALSE) {
  call <- environment()
  op <- "hlo_psum_scatter"
  group <- named_axes(axis, op, call)
  check_flag(tiled, "tiled")
  each_value(x, op, call, function(x) {
    x <- as_numbers(x)
    dim <- check_axis(dim, "dim", length(x@shape), x, op, call)
    check_parts(x, dim, "dim", group, tiled, op, call)
    part <- reduce_scattered(x, group, dim)
    if (tiled) part else without_axis(part, dim)
  })
}

reduce_scattered <- function(x, group, dim) {
  shape <- x@shape
  shape[[dim]] <- shape[[dim]] %/% group$size
  bind("reduce_scatter", list(x), x@dtype, shape, list(group = group, dim = dim))
}

#' @rdname hlo_collective
#' @export
hlo_all_to_all <- function(x, axis, split, concat, tiled = FALSE) {
  call <- environment()
  op <- "hlo_all_to_all"
  group <- named_axes(axis, op, call)
  check_flag(tiled, "tiled")
  each_value(x, op, call, function(x) {
    rank <- length(x@shape)
    split <- check_axis(split, "split", rank, x, op, call)
    concat <- check_axis(concat, "concat", rank, x, op, call)
    check_parts(x, split, "split", group, tiled, op, call)
    if (tiled || split == concat) {
      return(exchanged_parts(x, group, split, concat))
    }
    # The new axis stands where it will be when that of the parts has gone.
    added <- concat + (concat > split)
    from <- split + (split >= added)
    without_axis(exchanged_parts(with_axis(x, added), group, from, added), from)
  })
}

exchanged_parts <- function(x, group, split, concat) {
  shape <- x@shape
  shape[[split]] <- shape[[split]] %/% group$size
  shape[[concat]] <- shape[[concat]] * group$size
  bind("all_to_all", list(x), x@dtype, shape, list(group = group, split = split, concat = concat))
}

#' @rdname hlo_collective
#' @export
hlo_ppermute <- function(x, axis, perm) {
  call <- environment()
  op <- "hlo_ppermute"
  group <- named_axes(axis, op, call)
  perm <- check_perm(perm, group$size, op, call)
  each_value(x, op, call, function(x) permuted(x, group, perm))
}

permuted <- function(x, group, perm) {
  bind("collective_permute", list(x), x@dtype, x@shape, list(group = group, perm = perm))
}

for (name in c("hlo_all_gather", "hlo_all_to_all", "hlo_ppermute")) {
  overload(name, "xlaffi", get(name), by = "own", topic = "Several devices", dtypes = "all")
}
overload("hlo_psum_scatter", "xlaffi", hlo_psum_scatter, by = "own", topic = "Several devices", dtypes = "all numbers")

with_axis <- function(x, at) reshaped(x, append(x@shape, 1L, at - 1L))

without_axis <- function(x, at) reshaped(x, x@shape[-at])

check_axis <- function(at, name, most, x, op, call) {
  if (!is.numeric(at) || length(at) != 1L || !isTRUE(at >= 1 && at <= most && at == trunc(at))) {
    abort(
      if (most) {
        sprintf("%s: `%s` must be an axis from 1 to %d, not %s (`x` is %s)", op, name, most, describe(at), type_text(x))
      } else {
        sprintf("%s: `x` must have an axis, but it is %s", op, type_text(x))
      },
      op = op, operand = name, call = call
    )
  }
  as.integer(at)
}

# That an axis can be shared out among the devices of a group.
check_parts <- function(x, at, name, group, tiled, op, call) {
  length <- x@shape[[at]]
  if (if (tiled) length %% group$size == 0L else length == group$size) {
    return(invisible())
  }
  abort(
    sprintf(
      "%s: axis %d of `x` (`%s`) must have %s%d elements, one%s for each device along %s, but `x` is %s", op, at, name,
      if (tiled) "a multiple of " else "", group$size, if (tiled) " part" else "", quoted(group$axes), type_text(x)
    ),
    op = op, operand = name, call = call,
    hint = if (!tiled && length %% group$size == 0L) "`tiled = TRUE` gives each device several elements."
  )
}

# A matrix with rows (from, to).
check_perm <- function(perm, size, op, call) {
  refuse <- function(text) abort(sprintf("%s: %s", op, text), op = op, operand = "perm", call = call)
  if (is_branch(perm)) {
    fine <- vapply(perm, function(pair) is.numeric(pair) && length(pair) == 2L, NA)
    if (!all(fine)) {
      refuse(sprintf("`perm` must be pairs c(from, to), but its element %d is %s", which(!fine)[[1L]],
        values_text(perm[[which(!fine)[[1L]]]])
      ))
    }
    perm <- matrix(as.double(unlist(perm)), ncol = 2L, byrow = TRUE)
  }
  if (!is.numeric(perm) || !is.matrix(perm) || ncol(perm) != 2L) {
    refuse(sprintf("`perm` must be a list of pairs c(from, to) or a matrix with two columns, not %s", describe(perm)))
  }
  wrong <- perm[!perm %in% seq_len(size)]
  if (length(wrong)) {
    refuse(sprintf("`perm` must have places from 1 to %d, not %s", size, format(wrong[[1L]])))
  }
  for (side in 1:2) {
    twice <- perm[duplicated(perm[, side]), side]
    if (length(twice)) {
      refuse(sprintf("place %d %s twice in `perm`", twice[[1L]], c("sends", "is sent to")[[side]]))
    }
  }
  storage.mode(perm) <- "integer"
  perm
}

# What a collective gives each device differs along its axes.
becomes_different <- function(node, given, known) {
  list(union(given[[1L]], intersect(node$params$group$axes, mesh_axes(known))))
}

# Parts that were put together are taken apart, and the other way round.
gone_back <- function(f) {
  function(node, cotangents, linear) list(f(cotangents[[1L]], node$params$group, node$params$dim))
}

primitive("all_gather",
  text = function(node, operands, scope) {
    collective_text(node, operands, scope, "all_gather", dimension_text("all_gather_dim", node$params$dim))
  },
  jvp = on_tangents,
  transpose = gone_back(reduce_scattered),
  vmap = with_batch_axis("dim"),
  replication = becomes_equal
)

primitive("reduce_scatter",
  text = function(node, operands, scope) {
    collective_text(node, operands, scope, "reduce_scatter", dimension_text("scatter_dimension", node$params$dim),
      reduction = "add"
    )
  },
  jvp = on_tangents,
  transpose = gone_back(all_gathered),
  vmap = with_batch_axis("dim"),
  replication = becomes_different
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
  vmap = with_batch_axis(c("split", "concat")),
  replication = becomes_different
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
  vmap = with_batch_axis(character()),
  replication = becomes_different
)
