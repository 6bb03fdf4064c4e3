# Updates of parts of arrays: where they are, and how a program writes them.

# The number of a start that is a constant, or NULL
known_start <- function(value) {
  node <- resolved(value)@node
  if (node$op == "constant") node$params$data[[1L]]
}

# Where the update of a node is, if all of its starts are known: the first and the last place along each axis
known_window <- function(node) {
  starts <- lapply(node$inputs[-(1:2)], known_start)
  if (any(vapply(starts, is.null, NA))) {
    return()
  }
  size <- node$inputs[[2L]]@shape
  from <- as.integer(pmin(pmax(unlist(starts), 0), node$types[[1L]]@shape - size)) + 1L
  list(from = from, to = from + size - 1L)
}

# Updates of single elements, one after the other, are a row: `row` of a node has the value before the first one
# (`before`), the `last` node, and the nodes that assigned to each place (`assigned`). One of an array that is no longer
# the last one begins another row.
note_assigned <- function(node, x, at) {
  if (any(at$from != at$to)) {
    return(invisible())
  }
  row <- x@node$row
  if (is.null(row) || !identical(row$last, x@node)) {
    row <- new.env(parent = emptyenv())
    row$before <- x
    row$assigned <- utils::hashtab()
  }
  row$last <- node
  node$row <- row
  utils::sethash(row$assigned, at$from, c(utils::gethash(row$assigned, at$from), node))
}

# The node of the row of `node`, up to it, that assigned last to a place; NULL if there is none.
assigned_last <- function(node, at) {
  Find(function(one) one$id <= node$id, utils::gethash(node$row$assigned, as.integer(at)), right = TRUE)
}

# A window of a value, `x` from `start` to `end`, may be one of what was there before updates at known places or of the
# last of these. Loops that assign element by element read what they have assigned before, or not yet. `replaced` of a
# node has what was there before a row of updates, and bounds of all of their places.
before_updates <- function(x, start, end) {
  is_element <- all(start == end)
  for (step in seq_len(1024L)) {
    node <- x@node
    if (node$op != "dynamic_update_slice" || is.null(node$replaced)) {
      break
    }
    if (is_element && !is.null(node$row)) {
      node <- assigned_last(node, start)
      if (!is.null(node)) {
        ones <- rep(1L, length(start))
        return(list(x = node$inputs[[2L]], start = ones, end = ones))
      }
      x <- x@node$row$before
      next
    }
    all <- node$replaced
    at <- node$window
    if (any(end < all$from | start > all$to)) {
      x <- all$x
    } else if (any(end < at$from | start > at$to)) {
      x <- node$inputs[[1L]]
    } else {
      if (all(start >= at$from & end <= at$to)) {
        return(list(x = node$inputs[[2L]], start = start - at$from + 1L, end = end - at$from + 1L))
      }
      break
    }
  }
  list(x = x, start = start, end = end)
}

# Where an update of a part of an array may be done in the array's own memory; see prim-dynamic-update-slice.R for why
# it may not be everywhere.

# Notes at each `dynamic_update_slice` among the nodes of a region whether nothing can turn into a reshape between the
# array and the update: neither is the array a reshaped one, nor is the result used but by what XLA computes element for
# element, takes slices of, updates further, or hands out.
note_updates <- function(nodes) {
  updates <- vapply(nodes, function(node) node$op == "dynamic_update_slice", NA)
  if (!any(updates)) {
    return(invisible())
  }
  for (node in nodes[updates]) {
    node$in_place <- !resolved(node$inputs[[1L]])@node$op %in% reshaping
  }
  # Users come behind what they use: what a user of an update says is known before it is asked for.
  for (node in rev(nodes)) {
    plain <- node$op %in% reading_alike || (node$op == "dynamic_update_slice" && node$in_place)
    if (!plain) {
      for (value in node$inputs) {
        used <- resolved(value)@node
        if (used$op == "dynamic_update_slice") used$in_place <- FALSE
      }
    }
  }
}

reshaping <- c("reshape", "transpose", "broadcast_in_dim", "bitcast_convert")

reading_alike <- c(elementwise, "compare", "convert", "select", "slice", "dynamic_slice")

# A row of updates at known places, each of what the one before it gave and nobody else uses, is one concatenation of
# what each place holds in the end. It is written for the last of them, whose `joined` has all, the first one first; the
# others go. Where arrays are updated in their own memory they stay so.
without_joined <- function(nodes, results) {
  updates <- Filter(function(node) node$op == "dynamic_update_slice", nodes)
  for (node in updates) node$joined <- NULL
  updates <- Filter(function(node) {
    (is_small(node$types[[1L]]) || !isTRUE(node$in_place)) && !is.null(flat_window(node))
  }, updates)
  if (length(updates) < 2L) {
    return(nodes)
  }
  used <- lapply(c(unlist(lapply(nodes, function(node) node$inputs), recursive = FALSE), results), resolved)
  used <- vapply(nodes_of(used), function(node) node$id, 0)
  once <- setdiff(used, used[duplicated(used)])
  ids <- node_ids(updates)
  gone <- numeric()
  for (node in updates) {
    before <- resolved(node$inputs[[1L]])@node
    if (before$id %in% ids && before$id %in% once) {
      node$joined <- c(if (is.null(before$joined)) list(before) else before$joined, list(node))
      gone <- c(gone, before$id)
    }
  }
  Filter(function(node) !node$id %in% gone, nodes)
}

# The first place of an update and its number of elements, by rows, where these are next to one another and known
flat_window <- function(node) {
  at <- known_window(node)
  size <- node$inputs[[2L]]@shape
  shape <- node$types[[1L]]@shape
  cut <- which(size != shape)
  if (is.null(at) || !all(size) || !length(cut) || any(size[seq_len(max(cut) - 1L)] != 1L)) {
    return()
  }
  strides <- rev(cumprod(c(1, rev(shape))))[-1L]
  list(from = sum((at$from - 1L) * strides) + 1, count = prod(size))
}

joined_updates_text <- function(node, scope) {
  text <- text_lines(scope)
  type <- node$types[[1L]]
  windows <- lapply(node$joined, flat_window)
  # Which update each element has in the end, or 0
  holder <- integer(prod(type@shape))
  for (i in seq_along(windows)) {
    holder[windows[[i]]$from - 1 + seq_len(windows[[i]]$count)] <- i
  }
  pieces <- rle(holder)
  ends <- cumsum(pieces$lengths)
  flat_type <- function(count) new_type(type@dtype, as.integer(count))
  columns <- new.env(parent = emptyenv())
  # The elements `from` to `to` of an operand by rows
  piece <- function(key, value, from, to) {
    count <- prod(value@shape)
    if (is.null(columns[[key]])) {
      name <- value_name(value, scope)
      if (length(value@shape) != 1L) name <- text$add(reshape_text(name, value, flat_type(count)))
      assign(key, name, columns)
    }
    if (to - from + 1 == count) {
      return(columns[[key]])
    }
    text$add(sprintf(
      "stablehlo.slice %s [%d:%d:1] : (%s) -> %s", columns[[key]], as.integer(from - 1), as.integer(to),
      mlir_type(flat_type(count)), mlir_type(flat_type(to - from + 1))
    ))
  }
  names <- mapply(function(i, end, count) {
    if (i == 0L) {
      return(piece("0", node$joined[[1L]]$inputs[[1L]], end - count + 1, end))
    }
    last <- end - windows[[i]]$from + 1
    piece(as.character(i), node$joined[[i]]$inputs[[2L]], last - count + 1, last)
  }, pieces$values, ends, pieces$lengths)
  types <- vapply(pieces$lengths, function(count) mlir_type(flat_type(count)), "")
  whole <- flat_type(prod(type@shape))
  name <- text$add(sprintf(
    "stablehlo.concatenate %s, dim = 0 : (%s) -> %s", toString(names), toString(types), mlir_type(whole)
  ))
  if (length(type@shape) > 1L) name <- text$add(reshape_text(name, whole, type))
  list(lines = text$lines(), names = name)
}

reshape_text <- function(name, from, to) {
  sprintf("stablehlo.reshape %s : (%s) -> %s", name, mlir_type(from), mlir_type(to))
}
