#' @rdname hlo_sum
#' @export
hlo_dot <- function(x, y, contract, batch = list(integer(), integer())) {
  both <- same_dtype(x, y, "hlo_dot")
  x <- both[[1L]]
  y <- both[[2L]]
  contract <- check_axis_pairs(contract, "contract", x, y)
  batch <- check_axis_pairs(batch, "batch", x, y)
  twice <- vapply(1:2, function(i) anyDuplicated(c(contract[[i]], batch[[i]])) > 0L, NA)
  if (any(twice)) {
    abort("hlo_dot: an axis is both in `contract` and in `batch`", op = "hlo_dot", operand = "batch")
  }
  dot(x, y, contract, batch)
}

dot <- function(x, y, contract, batch) {
  shape <- c(
    x@shape[batch[[1L]]], kept(x@shape, c(contract[[1L]], batch[[1L]])), kept(y@shape, c(contract[[2L]], batch[[2L]]))
  )
  bind("dot_general", list(x, y), x@dtype, shape, list(contract = contract, batch = batch))
}

# What is left of `x` without the positions `axes`.
kept <- function(x, axes) x[setdiff(seq_along(x), axes)]

same_dtype <- function(x, y, op, names = c("x", "y"), call = rlang::caller_env()) {
  check_not_missing(x, names[[1L]], call)
  check_not_missing(y, names[[2L]], call)
  both <- common(list(x, y), op, names, call)
  if (both[[1L]]@dtype == "pred") {
    both <- lapply(both, as_numbers)
  }
  check_kind(both[[1L]], "a number", op, names[[1L]], call)
  both
}

check_axis_pairs <- function(axes, name, x, y, call = rlang::caller_env()) {
  if (!is.list(axes) || length(axes) != 2L || length(axes[[1L]]) != length(axes[[2L]])) {
    abort(sprintf("hlo_dot: `%s` must be a list of two vectors of axes of one length", name),
      op = "hlo_dot", operand = name, call = call
    )
  }
  if (!is.null(names(axes))) {
    # By the names of the operands, as in the call
    if (!setequal(names(axes), c("x", "y"))) {
      abort(sprintf("hlo_dot: names of `%s` must be `x` and `y`, not %s", name, toString(names(axes))),
        op = "hlo_dot", operand = name, call = call
      )
    }
    axes <- unname(axes[c("x", "y")])
  }
  axes <- list(
    check_axes(axes[[1L]], name, length(x@shape), call = call),
    check_axes(axes[[2L]], name, length(y@shape), call = call)
  )
  if (!identical(x@shape[axes[[1L]]], y@shape[axes[[2L]]])) {
    abort(
      sprintf(
        "hlo_dot: axes (%s) of `x` %s and axes (%s) of `y` %s must have the same lengths",
        toString(axes[[1L]]), type_text(x), toString(axes[[2L]]), type_text(y)
      ),
      op = "hlo_dot", operand = name, call = call
    )
  }
  axes
}

#' @rdname hlo_sum
#' @export
hlo_matmul <- function(x, y) {
  both <- same_dtype(x, y, "hlo_matmul")
  x <- both[[1L]]
  y <- both[[2L]]
  ranks <- c(length(x@shape), length(y@shape))
  refuse <- function() {
    abort(
      sprintf(
        "hlo_matmul: `x` must be (..., m, k) and `y` (..., k, n) of equal batch axes, not %s and %s",
        type_text(x), type_text(y)
      ),
      op = "hlo_matmul", operand = "y"
    )
  }
  if (any(ranks < 1L)) {
    refuse()
  }
  inner <- c(ranks[[1L]], max(1L, ranks[[2L]] - 1L))
  leading <- pmax(ranks - 2L, 0L)
  shared <- if (all(leading > 0L)) seq_len(leading[[1L]]) else integer()
  fits <- x@shape[[inner[[1L]]]] == y@shape[[inner[[2L]]]] &&
    (!length(shared) || identical(x@shape[shared], y@shape[seq_len(leading[[2L]])]))
  if (!fits) {
    refuse()
  }
  product <- dot(x, y, as.list(inner), list(shared, shared))
  if (leading[[2L]] > 0L && !length(shared) && ranks[[1L]] == 2L) {
    # The rows of x came before the batch axes of y.
    rank <- length(product@shape)
    product <- transposed(product, c(seq_len(leading[[2L]]) + 1L, 1L, rank))
  }
  product
}

# Derivatives of products and of triangular systems.

# The cotangent of operand `side`: the given one times the other operand, over what is left of that.
dot_transposed <- function(node, given, side) {
  contract <- node$params$contract
  batch <- node$params$batch
  other <- 3L - side
  left <- lapply(1:2, function(i) {
    setdiff(seq_along(node$inputs[[i]]@shape), c(contract[[i]], batch[[i]]))
  })
  batches <- seq_along(batch[[1L]])
  places <- length(batches) + seq_along(c(left[[1L]], left[[2L]]))
  first <- seq_along(left[[1L]])
  of_other <- if (other == 1L) places[first] else places[setdiff(seq_along(places), first)]
  product <- dot(given, node$inputs[[other]], list(of_other, left[[other]]), list(batches, batch[[other]]))
  # Which axis of the operand each axis of the product is.
  axes <- c(batch[[side]], left[[side]], contract[[side]][order(contract[[other]])])
  transposed(product, order(axes))
}

turned <- function(a, kind) switch(kind, none = a, transpose = hlo_t(a), adjoint = hlo_conj(hlo_t(a)))

# The axes of a product are the shared ones, then what is left of x, then of y.
dot_general_vmap <- function(node, inputs, mapped, size) {
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
}

# The elements of one side that meet a zero of the other one do not count, where that one is known.
dot_dependence <- function(node, given, sets, known) {
  p <- node$params
  parts <- lapply(which(!vapply(given, is.null, NA)), function(side) {
    other <- 3L - side
    shape <- node$inputs[[side]]@shape
    contract <- p$contract[[side]]
    batch <- p$batch[[side]]
    left <- setdiff(seq_along(shape), c(contract, batch))
    plain <- !length(batch) && length(contract) == 1L && length(node$inputs[[other]]@shape) <= 2L
    numbers <- if (plain) known(node$inputs[[other]])
    if (any(numbers == 0, na.rm = TRUE)) {
      return(sparse_dot_dependence(node, given[[side]], side, numbers, sets))
    }
    result <- node$types[[1L]]@shape
    before <- length(batch)
    first <- length(node$inputs[[1L]]@shape) - length(p$contract[[1L]]) - before
    axes <- c(batch, left)
    along <- sets_along(sets, given[[side]], shape, contract)
    # The axes that are left, in their own order, and where they are in the result
    ordered <- order(axes)
    places <- c(seq_len(before), before + (if (side == 2L) first else 0L) + seq_along(left))
    sets_repeated(along, shape[axes][ordered], result, places[ordered])
  })
  list(all_united(sets, parts))
}

# ... of a matrix or a vector with one of the known `numbers`
sparse_dot_dependence <- function(node, ids, side, numbers, sets) {
  contract <- node$params$contract
  other <- 3L - side
  as_matrix <- function(x, axis) {
    if (length(dim(x)) < 2L) matrix(x, 1L, byrow = TRUE) else if (axis == 1L) t(x) else x
  }
  # A row for each element that is left, a column for each that is added up
  numbers <- as_matrix(array(numbers, node$inputs[[other]]@shape), contract[[other]])
  shape <- node$inputs[[side]]@shape
  ids <- array(ids, rev(shape))
  own <- if (length(shape) == 2L) (if (contract[[side]] == 2L) t(ids) else ids) else matrix(ids, 1L)
  met <- which(is.na(numbers) | numbers != 0, arr.ind = TRUE)
  rows <- nrow(own)
  found <- as.vector(own[, met[, 2L]])
  left <- rep(met[, 1L], each = rows) - 1L
  mine <- rep(seq_len(rows), times = nrow(met)) - 1L
  group <- if (side == 1L) mine * nrow(numbers) + left else left * rows + mine
  grouped_sets(sets, found, group + 1L, rows * nrow(numbers))
}

dot_text <- signed_text(function(p) {
  pair <- function(axes) sprintf("%s x %s", axes_text(axes[[1L]]), axes_text(axes[[2L]]))
  batch <- if (length(p$batch[[1L]])) sprintf(", batching_dims = %s", pair(p$batch)) else ""
  sprintf("%s, contracting_dims = %s, precision = [HIGHEST, HIGHEST]", batch, pair(p$contract))
})

primitive("dot_general",
  text = function(node, operands, scope) {
    tall <- tall_product(node, scope)
    if (is.null(tall)) dot_text(node, operands, scope) else crossprod_text(list(node), list(tall), scope)
  },
  jvp = function(node, tangents) {
    p <- node$params
    x <- node$inputs[[1L]]
    y <- node$inputs[[2L]]
    list(add_tangents(
      along(tangents[[1L]], function(t) dot(t, y, p$contract, p$batch)),
      along(tangents[[2L]], function(t) dot(x, t, p$contract, p$batch))
    ))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !all(linear))
    side <- if (linear[[1L]]) 1L else 2L
    parts <- vector("list", 2L)
    parts[[side]] <- dot_transposed(node, cotangents[[1L]], side)
    parts
  },
  vmap = dot_general_vmap,
  export = exported_params("contract", "batch"),
  sparsity = dot_dependence
)
