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
