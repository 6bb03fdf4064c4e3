# Sets of columns. While the dependence of values on the elements of others is found out, each element of a value has
# the number of a set, the columns that it depends on; 0 is the empty set. Most elements share their set with others,
# and what moves elements about moves numbers. A table `sets` keeps for set k its `size[k]` members, in ascending order,
# behind the first `start[k]` ones of `member`. The first sets are those of one column each.

new_sets <- function(columns) {
  list2env(list(
    count = columns, start = seq_len(columns) - 1L, size = rep(1L, columns), member = seq_len(columns)
  ), parent = emptyenv())
}

# What could be more than a program can hold is refused while it is small.
most_members <- 2e8

# For each of 1, ..., `count` the set of all members of those `ids` whose `owner` it is; each has two or more.
merged_sets <- function(sets, owner, ids, count) {
  sizes <- sets$size[ids]
  if (sum(as.double(sizes)) > most_members) {
    abort("the derivatives have too many elements that are not zero for a sparse matrix", "RESOURCE_EXHAUSTED",
      call = NULL, hint = "What all elements depend on, such as a sum that is squared, makes a dense matrix."
    )
  }
  owners <- rep.int(owner, sizes)
  members <- sets$member[sequence(sizes, sets$start[ids] + 1L)]
  ordered <- order(owners, members, method = "radix")
  owners <- owners[ordered]
  members <- members[ordered]
  last <- length(owners)
  fresh <- c(TRUE, owners[-1L] != owners[-last] | members[-1L] != members[-last])
  owners <- owners[fresh]
  members <- members[fresh]
  size <- tabulate(owners, count)
  # A set that has the others within is the union.
  largest <- order(owner, -sizes, method = "radix")
  largest <- largest[!duplicated(owner[largest])]
  result <- ids[largest]
  new <- which(size > sizes[largest])
  if (length(new)) {
    kept <- owners %in% new
    result[new] <- sets$count + seq_along(new)
    sets$start <- c(sets$start, length(sets$member) + c(0L, cumsum(size[new])[-length(new)]))
    sets$size <- c(sets$size, size[new])
    sets$member <- c(sets$member, members[kept])
    sets$count <- sets$count + length(new)
  }
  result
}

# The unions of two vectors of sets, element by element; NULL is a vector of empty ones.
united <- function(sets, a, b) {
  if (is.null(a) || identical(a, b)) {
    return(b)
  }
  if (is.null(b)) {
    return(a)
  }
  result <- a
  empty <- a == 0L
  result[empty] <- b[empty]
  differ <- which(a != b & !empty & b != 0L)
  if (length(differ)) {
    low <- pmin(a[differ], b[differ])
    high <- pmax(a[differ], b[differ])
    keys <- low * (sets$count + 1) + high
    first <- which(!duplicated(keys))
    at <- match(keys, keys[first])
    pairs <- seq_along(first)
    result[differ] <- merged_sets(sets, c(pairs, pairs), c(low[first], high[first]), length(first))[at]
  }
  result
}

all_united <- function(sets, given) {
  result <- NULL
  for (ids in given) result <- united(sets, result, ids)
  result
}

# The union of the sets of each group, of which there are `count`.
grouped_sets <- function(sets, ids, group, count) {
  here <- which(ids != 0L & group != 0L)
  keys <- group[here] * (sets$count + 1) + ids[here]
  here <- here[!duplicated(keys)]
  ids <- ids[here]
  group <- group[here]
  result <- integer(count)
  several <- tabulate(group, count) > 1L
  alone <- !several[group]
  result[group[alone]] <- ids[alone]
  if (any(several)) {
    places <- which(several)
    result[places] <- merged_sets(sets, match(group[!alone], places), ids[!alone], length(places))
  }
  result
}

# The members of the sets `ids` one after the other, and how many each has
members_of <- function(sets, ids) {
  sizes <- integer(length(ids))
  sizes[ids != 0L] <- sets$size[ids]
  list(sizes = sizes, members = sets$member[sequence(sets$size[ids[ids != 0L]], sets$start[ids[ids != 0L]] + 1L)])
}

# Elements of arrays by their coordinates, which count from 0; the last axis is the fastest.

coordinate <- function(shape, axis) {
  rep(rep(seq_len(shape[[axis]]) - 1L, each = prod(shape[-seq_len(axis)])), times = prod(shape[seq_len(axis - 1L)]))
}

coordinates <- function(shape) lapply(seq_along(shape), function(axis) coordinate(shape, axis))

# The numbers of elements, from 1 on; one for a scalar.
places <- function(shape, coordinates, count = length(coordinates[[1L]])) {
  place <- rep(1L, count)
  stride <- 1
  for (axis in rev(seq_along(shape))) {
    place <- place + as.integer(coordinates[[axis]] * stride)
    stride <- stride * shape[[axis]]
  }
  place
}

# The union along axes, without them
sets_along <- function(sets, ids, shape, axes) {
  left <- setdiff(seq_along(shape), axes)
  group <- places(shape[left], lapply(left, function(axis) coordinate(shape, axis)), length(ids))
  grouped_sets(sets, ids, group, as.integer(prod(shape[left])))
}

# Repeated along new axes, and axes of length 1: `axes` are those of the result that the axes of `shape` become.
sets_repeated <- function(ids, shape, result, axes) {
  from <- lapply(seq_along(shape), function(k) if (shape[[k]] == 1L) 0L else coordinate(result, axes[[k]]))
  ids[places(shape, from, as.integer(prod(result)))]
}

# The union along axes for all elements along them
sets_spread <- function(sets, ids, shape, axes) {
  left <- setdiff(seq_along(shape), axes)
  sets_repeated(sets_along(sets, ids, shape, axes), shape[left], shape, left)
}
