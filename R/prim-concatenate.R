# `concatenate`: arrays one behind the other along an axis.

#' @rdname hlo_shape
#' @export
hlo_concatenate <- function(..., axis = 1) concatenated(list(...), axis, environment())

concatenated <- function(parts, axis, call) {
  if (!length(parts)) {
    abort("hlo_concatenate: nothing to concatenate", op = "hlo_concatenate", operand = "...", call = call)
  }
  first <- Find(is_value, parts)
  parts <- lapply(parts, as_value, "...", if (!is.null(first)) new_type(first@dtype, 1L), call)
  first <- parts[[1L]]
  axis <- check_axes(axis, "axis", length(first@shape), 1L, call)
  for (part in parts) {
    if (part@dtype != first@dtype || !identical(part@shape[-axis], first@shape[-axis])) {
      abort(
        sprintf(
          "hlo_concatenate: all must be as the first, %s, but for axis %d; one is %s",
          type_text(first), axis, type_text(part)
        ),
        op = "hlo_concatenate", operand = "...", call = call
      )
    }
  }
  if (length(parts) == 1L) {
    return(first)
  }
  shape <- first@shape
  shape[[axis]] <- sum(vapply(parts, function(part) as.double(part@shape[[axis]]), 0))
  bind("concatenate", parts, first@dtype, shape, list(axis = axis))
}

# Rows of one stack one behind the other are a part of it, as where sapply() puts together what the turns of a loop
# give.
rebind_concatenate <- function(node, inputs) {
  shape <- node$types[[1L]]@shape
  if (node$params$axis == 1L) inputs <- rows_together(inputs, shape[-1L])
  if (length(inputs) == 1L) {
    return(list(reshaped(inputs[[1L]], shape)))
  }
  node_values(new_node("concatenate", inputs, node$types, node$params))
}

# Rows in any order are taken together if there are so many at least.
least_taken <- 8L

# The same parts, of the given shape but for their first axis, with one in place of rows of one stack
rows_together <- function(parts, rest) {
  rows <- lapply(parts, rows_in_stack)
  stacks <- paste("part", seq_along(parts))
  is_row <- !vapply(rows, is.null, NA)
  stacks[is_row] <- vapply(rows[is_row], function(row) value_key(row$stack), "")
  from <- to <- integer(length(parts))
  from[is_row] <- vapply(rows[is_row], function(row) row$from, 0L)
  to[is_row] <- vapply(rows[is_row], function(row) row$to, 0L)
  other_stack <- c(TRUE, stacks[-1L] != stacks[-length(stacks)])
  several <- stats::ave(from, cumsum(other_stack), FUN = length) >= least_taken
  follows <- c(FALSE, from[-1L] == to[-length(to)] + 1L)
  groups <- split(seq_along(parts), cumsum(other_stack | !(several | follows)))
  unname(lapply(groups, function(group) {
    if (length(group) == 1L) {
      return(parts[[group]])
    }
    found <- taken(rows[[group[[1L]]]]$stack, sequence(to[group] - from[group] + 1L, from[group]), 1L)
    reshaped(found, c(sum(vapply(parts[group], function(part) part@shape[[1L]], 0L)), rest))
  }))
}

# Which rows of which stack (`stack`, `from`, `to`) a value is, whatever its shape; NULL if it is none.
rows_in_stack <- function(value) {
  while (value@node$op == "reshape") value <- value@node$inputs[[1L]]
  node <- value@node
  if (node$op != "slice") {
    return()
  }
  stack <- node$inputs[[1L]]
  params <- node$params
  shape <- value@shape
  if (identical(shape[-1L], stack@shape[-1L]) && all(params$step == 1L)) {
    from <- as.integer(params$start[[1L]])
    list(stack = stack, from = from, to = from + as.integer(shape[[1L]]) - 1L)
  }
}

concatenate_transpose <- function(node, cotangents, linear) {
  given <- cotangents[[1L]]
  axis <- node$params$axis
  before <- 0L
  parts <- vector("list", length(linear))
  for (i in seq_along(linear)) {
    size <- node$inputs[[i]]@shape[[axis]]
    start <- rep(1L, length(given@shape))
    end <- given@shape
    start[[axis]] <- before + 1L
    end[[axis]] <- before + size
    if (linear[[i]]) {
      parts[[i]] <- sliced(given, start, end)
    }
    before <- before + size
  }
  parts
}

primitive("concatenate",
  text = signed_text(function(p) sprintf(", dim = %d", p$axis - 1L)),
  jvp = same_on_tangents("all"),
  transpose = concatenate_transpose,
  rebind = rebind_concatenate,
  vmap = function(node, inputs, mapped, size) {
    rebind_batch(node, all_in_front(inputs, mapped, size), size, list(axis = node$params$axis + 1L))
  },
  export = exported_params("axis"),
  sparsity = function(node, given, sets, known) {
    axis <- node$params$axis
    shape <- node$types[[1L]]@shape
    result <- integer(prod(shape))
    end <- 0L
    for (i in seq_along(given)) {
      own <- node$inputs[[i]]@shape
      if (!is.null(given[[i]])) {
        at <- coordinates(own)
        at[[axis]] <- at[[axis]] + end
        result[places(shape, at)] <- given[[i]]
      }
      end <- end + own[[axis]]
    }
    list(result)
  }
)
