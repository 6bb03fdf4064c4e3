#' @rdname hlo_shape
#' @export
hlo_dynamic_update_slice <- function(x, update, start) {
  x <- as_value(x, "x")
  update <- as_value(update, "update", new_type(x@dtype, rep(1L, length(x@shape))))
  fits <- length(update@shape) == length(x@shape) && all(update@shape <= x@shape)
  if (update@dtype != x@dtype || !fits) {
    abort(
      sprintf(
        "hlo_dynamic_update_slice: `update` must be %s and fit into `x`, which is %s, not %s",
        x@dtype, type_text(x), type_text(update)
      ),
      op = "hlo_dynamic_update_slice", operand = "update"
    )
  }
  dynamic_updated(x, update, check_starts(start, x))
}

dynamic_updated <- function(x, update, starts) {
  value <- bind("dynamic_update_slice", c(list(x, update), starts), x@dtype, x@shape)
  at <- known_window(value@node)
  if (!is.null(at)) {
    before <- x@node$replaced
    value@node$window <- at
    note_assigned(value@node, x, at)
    value@node$replaced <- if (is.null(before)) {
      c(list(x = x), at)
    } else {
      list(x = before$x, from = pmin(at$from, before$from), to = pmax(at$to, before$to))
    }
  }
  value
}

# XLA may write an update into the memory of the array that it updates. Where the update reads that array in another
# order, and a reshape stands between the two, XLA (jaxlib 0.10.2) reads elements that it has already replaced:
# `cumsum({ r <- x; r[1:2] <- x[2:1]; r })` would have a wrong second element, as it has in JAX. trace-updates.R finds
# where that cannot be; everywhere else the result is written as a new array, as it always is where the array is small:
# 1,000 assignments in a row take as long to compile in either way.
update_text <- function(node, operands, scope) {
  whole <- node$types[[1L]]@shape
  part <- node$inputs[[2L]]@shape
  starts <- lapply(node$inputs[-(1:2)], known_start)
  known <- !any(vapply(starts, is.null, NA))
  if (identical(whole, part)) {
    return(list(lines = character(), names = operands[[2L]]))
  }
  if (isTRUE(node$in_place) && !(known && is_small(node$types[[1L]]))) {
    return(signed_text()(node, operands, scope))
  }
  text <- text_lines(scope)
  axes <- which(part != whole)
  name <- if (known && any(part[axes] != 1L)) {
    starts <- pmin(pmax(unlist(starts), 0), whole - part)
    joined_text(text, node$types[[1L]], operands[[1L]], operands[[2L]], starts, part, axes)
  } else {
    chosen_text(text, node, operands, axes, starts)
  }
  list(lines = text$lines(), names = name)
}

# The pieces of `x` before and behind the update `y`, and `y` between them, along the first of `axes`; along the others
# likewise in the piece between.
joined_text <- function(text, type, x, y, starts, part, axes) {
  axis <- axes[[1L]]
  size <- type@shape[[axis]]
  resized <- function(to) new_type(type@dtype, replace(type@shape, axis, as.integer(to)))
  piece <- function(from, to) {
    bounds <- sprintf("0:%d:1", type@shape)
    bounds[[axis]] <- sprintf("%d:%d:1", as.integer(from), as.integer(to))
    given <- resized(to - from)
    name <- text$add(sprintf(
      "stablehlo.slice %s [%s] : (%s) -> %s", x, toString(bounds), mlir_type(type), mlir_type(given)
    ))
    list(name = name, type = given)
  }
  from <- starts[[axis]]
  to <- from + part[[axis]]
  between <- list(name = y, type = resized(part[[axis]]))
  if (length(axes) > 1L) {
    here <- piece(from, to)
    between$name <- joined_text(text, here$type, here$name, y, starts, part, axes[-1L])
  }
  pieces <- c(if (from > 0) list(piece(0, from)), list(between), if (to < size) list(piece(to, size)))
  text$add(sprintf(
    "stablehlo.concatenate %s, dim = %d : (%s) -> %s", toString(vapply(pieces, function(p) p$name, "")), axis - 1L,
    toString(vapply(pieces, function(p) mlir_type(p$type), "")), mlir_type(type)
  ))
}

# For each element the update where it falls, else the one that was there. `starts` has numbers where they are known.
chosen_text <- function(text, node, operands, axes, starts) {
  type <- node$types[[1L]]
  part <- node$inputs[[2L]]@shape
  add <- function(...) text$add(paste0("stablehlo.", sprintf(...)))
  typed <- function(dtype, shape = type@shape) mlir_type(new_type(dtype, shape))
  y <- operands[[2L]]
  mask <- NULL
  for (axis in axes) {
    index <- node$inputs[[axis + 2L]]@dtype
    number <- function(n, shape = integer()) number_text(add, typed, n, index, shape)
    spread <- function(name) {
      add("broadcast_in_dim %s, dims = [] : (%s) -> %s", name, typed(index, integer()), typed(index))
    }
    position <- add("iota dim = %d : %s", axis - 1L, typed(index))
    compared <- function(position, direction, bound) {
      add("compare %s, %s, %s : (%s, %s) -> %s", direction, position, bound, typed(index), typed(index), typed("pred"))
    }
    last <- type@shape[[axis]] - part[[axis]]
    known <- starts[[axis]]
    here <- if (part[[axis]] == 1L && !is.null(known)) {
      compared(position, "EQ", number(as.integer(min(max(known, 0), last)), type@shape))
    } else {
      start <- add("clamp %s, %s, %s : %s", number(0L), operands[[axis + 2L]], number(last), typed(index, integer()))
      if (part[[axis]] == 1L) {
        compared(position, "EQ", spread(start))
      } else {
        end <- add("add %s, %s : %s", start, number(part[[axis]]), typed(index, integer()))
        y <- moved_text(add, typed, node, y, part, axis, start)
        part[[axis]] <- type@shape[[axis]]
        from <- compared(position, "GE", spread(start))
        add("and %s, %s : %s", from, compared(position, "LT", spread(end)), typed("pred"))
      }
    }
    mask <- if (is.null(mask)) here else add("and %s, %s : %s", mask, here, typed("pred"))
  }
  if (!identical(part, type@shape)) {
    y <- add("broadcast_in_dim %s, dims = %s : (%s) -> %s", y, axes_text(seq_along(part)), typed(type@dtype, part),
      typed(type@dtype))
  }
  add("select %s, %s, %s : %s, %s", mask, y, operands[[1L]], typed("pred"), typed(type@dtype))
}

number_text <- function(add, typed, n, dtype, shape = integer()) {
  add("constant %s : %s", mlir_dense(n, dtype, shape), typed(dtype, shape))
}

# The update `y` at its place along one axis of the whole: with as many elements as the axis has on both sides, of which
# a window is taken.
moved_text <- function(add, typed, node, y, part, axis, start) {
  dtype <- node$types[[1L]]@dtype
  size <- node$types[[1L]]@shape[[axis]]
  index <- node$inputs[[axis + 2L]]@dtype
  sides <- function(n) sprintf("[%s]", toString(replace(integer(length(part)), axis, n)))
  wide <- replace(part, axis, part[[axis]] + 2L * size)
  number <- function(n) number_text(add, typed, n, index)
  zero <- number_text(add, typed, 0, dtype)
  padded <- add(
    "pad %s, %s, low = %s, high = %s, interior = %s : (%s, %s) -> %s", y, zero, sides(size), sides(size), sides(0L),
    typed(dtype, part), typed(dtype, integer()), typed(dtype, wide)
  )
  from <- add("subtract %s, %s : %s", number(size), start, typed(index, integer()))
  starts <- replace(rep(number(0L), length(part)), axis, from)
  moved <- replace(part, axis, size)
  add(
    "dynamic_slice %s, %s, sizes = %s : (%s%s) -> %s", padded, toString(starts), sizes_text(moved), typed(dtype, wide),
    strrep(paste0(", ", typed(index, integer())), length(part)), typed(dtype, moved)
  )
}

primitive("dynamic_update_slice",
  text = update_text,
  jvp = same_on_tangents(1:2),
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    update <- node$inputs[[2L]]
    starts <- node$inputs[-(1:2)]
    c(
      list(
        if (linear[[1L]]) dynamic_updated(given, filled(0, update), starts),
        if (linear[[2L]]) dynamic_sliced(given, starts, update@shape)
      ),
      vector("list", length(starts))
    )
  },
  vmap = function(node, inputs, mapped, size) {
    both <- all_in_front(inputs[1:2], mapped[1:2], size)
    starts <- inputs[-(1:2)]
    if (!any(mapped[-(1:2)])) {
      zero <- constant(0L, "i32", integer(), "start")
      return(list(dynamic_updated(both[[1L]], both[[2L]], c(list(zero), starts))))
    }
    starts <- all_in_front(starts, mapped[-(1:2)], size)
    list(windows_set(both[[1L]], both[[2L]], starts))
  },
  export = exported_params(),
  sparsity = function(node, given, sets, known) {
    shape <- node$types[[1L]]@shape
    sizes <- node$inputs[[2L]]@shape
    starts <- known_starts(node$inputs[-(1:2)], shape, sizes, known)
    anywhere <- which(vapply(starts, is.null, NA))
    whole <- if (is.null(given[[1L]])) integer(prod(shape)) else given[[1L]]
    update <- if (is.null(given[[2L]])) integer(prod(sizes)) else given[[2L]]
    here <- setdiff(seq_along(shape), anywhere)
    window <- sets_along(sets, update, sizes, anywhere)
    starts[anywhere] <- list(0L)
    counts <- replace(sizes, anywhere, shape[anywhere])
    at <- places(shape, Map(`+`, coordinates(counts), starts), as.integer(prod(counts)))
    spread <- sets_repeated(window, sizes[here], counts, here)
    # Where the place is known what was there is gone.
    whole[at] <- if (length(anywhere)) united(sets, whole[at], spread) else spread
    list(whole)
  }
)

# Puts the window `update` of each element of a batch at its place in `x`, by rows.
windows_set <- function(x, update, starts) {
  dim <- x@shape[-1L]
  window <- update@shape[-1L]
  strides <- rev(cumprod(c(1, rev(dim))))[-1L]
  at <- Reduce(`+`, Map(function(start, axis) {
    along <- window_positions(start, dim[[axis]], window[[axis]])
    broadcast(along, update@shape, c(1L, axis + 1L)) * as.integer(strides[[axis]])
  }, starts, seq_along(dim)))
  in_rows <- function(x) reshaped(x, c(x@shape[[1L]], as.integer(prod(x@shape[-1L]))))
  reshaped(scattered("set", in_rows(x), in_rows(at), in_rows(update), 2L, 1L), x@shape)
}
