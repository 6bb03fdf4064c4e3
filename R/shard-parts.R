# Arrays in parts: which part lies at which place of a mesh, and the way there and back. A part is known by its numbers,
# one for each dimension, counted from 0.

# The numbers of the part that lies at each place of the mesh, a row for each.
mesh_parts <- function(mesh, entries) {
  coordinates <- mesh_coordinates(mesh)
  numbers <- lapply(entries, function(names) {
    number <- numeric(nrow(coordinates))
    for (name in names) number <- number * mesh$axes[[name]] + coordinates[, name]
    number
  })
  matrix(as.numeric(unlist(numbers)), nrow(coordinates), length(entries))
}

# Of the places of this process.
local_parts <- function(mesh, entries) mesh_parts(mesh, entries)[mesh$local, , drop = FALSE]

# Where numbers, from 0, stand in a grid of these sizes that is numbered along its last axis first: a row for each.
grid_places <- function(numbers, sizes) {
  steps <- rev(cumprod(c(1L, rev(sizes))))[-1L]
  along <- Map(function(step, size) (numbers %/% step) %% size, steps, sizes)
  matrix(as.numeric(unlist(along)), length(numbers), length(sizes))
}

# The numbers of the tile that each device has, where XLA says that an array is tiled. It lists for each tile the places
# of the devices that have it.
tile_numbers <- function(sharding) {
  tiles <- (seq_along(sharding$devices) - 1L) %/% sharding$last_replicated
  grid_places(tiles, sharding$tiles)[order(sharding$devices), , drop = FALSE]
}

# From where to where, both counted from 1, the part has elements of the array.
part_range <- function(numbers, local) {
  list(start = as.integer(numbers * local + 1), end = as.integer((numbers + 1) * local))
}

# For each row the first one that is the same.
first_of_same <- function(parts) {
  keys <- do.call(paste, c(list(character(nrow(parts))), lapply(seq_len(ncol(parts)), function(axis) parts[, axis])))
  match(keys, keys)
}

# Buffers on the local devices of a mesh with parts of R data or of a buffer. `parts` has a row for each device: the
# numbers of its part within `x`.
parts_on_devices <- function(x, type, mesh, parts, local, first = first_of_same(parts)) {
  own <- unique(first)
  on <- mesh$devices[mesh$local]
  if (inherits(x, "xlaffi_buffer")) {
    pieces <- if (identical(local, type@shape)) list(x) else hooks$cut_buffer(x, parts[own, , drop = FALSE], local)
    return(Map(function(piece, device) copy_buffer(pieces[[piece]], device), match(first, own), on))
  }
  buffers <- vector("list", length(first))
  for (i in own) {
    piece <- cut_data(x, type@shape, part_range(parts[i, ], local))
    for (j in which(first == i)) {
      buffers[[j]] <- pjrt_buffer(piece, type@dtype, on[[j]], local)
    }
  }
  buffers
}

cut_data <- function(x, shape, range) {
  if (identical(range$end - range$start + 1L, shape)) {
    return(x)
  }
  class <- oldClass(x)
  # bit64's method for `[` looks for NA among positions.
  x <- unclass(x)
  if (length(shape) > 1L) {
    dim(x) <- shape
  }
  piece <- do.call(`[`, c(list(x), indices_of(range), drop = FALSE), quote = TRUE)
  oldClass(piece) <- class
  piece
}

indices_of <- function(range) {
  Map(function(start, end) seq.int(start, length.out = end - start + 1L), range$start, range$end)
}

# An R array of the elements of a sharded array at `indices`, a vector of positions for each dimension. `read` brings a
# buffer to R, as an array that may have `extra` dimensions in front.
gather_parts <- function(x, indices, read, extra = integer(), call = rlang::caller_env()) {
  local <- local_shape(x@spec, x@mesh, x@shape)
  assembled(x@shards, local_parts(x@mesh, x@spec), local, indices, read, extra, call)
}

# The same of buffers with parts of shape `local`, which have the numbers in `parts`.
assembled <- function(buffers, parts, local, indices, read, extra = integer(), call = rlang::caller_env()) {
  whole <- lapply(extra, seq_len)
  size <- prod(lengths(indices))
  found <- 0
  result <- class <- NULL
  for (i in unique(first_of_same(parts))) {
    range <- part_range(parts[i, ], local)
    at <- Map(function(index, start, end) which(index >= start & index <= end), indices, range$start, range$end)
    # Where nothing is asked for, a part still tells of what type that is.
    if (!all(lengths(at)) && (size > 0 || !is.null(result))) next
    piece <- read(buffers[[i]])
    class <- oldClass(piece)
    piece <- unclass(piece)
    if (is.null(result)) {
      result <- array(piece[0L][1L], c(extra, lengths(indices)))
    }
    inside <- Map(function(index, at, start) index[at] - start + 1L, indices, at, range$start)
    if (!identical(inside, lapply(local, seq_len))) {
      piece <- do.call(`[`, c(list(piece), whole, inside, drop = FALSE), quote = TRUE)
    }
    # As an assignment R does it in place.
    target <- as.call(c(list(quote(`[`), quote(result)), whole, at))
    eval(call("<-", target, quote(piece)))
    found <- found + prod(lengths(at))
  }
  if (found < size) {
    refuse_remote(call)
  }
  oldClass(result) <- class
  result
}

refuse_remote <- function(call) {
  abort("parts of the array lie on devices of other processes", "UNIMPLEMENTED",
    operand = "x", call = call,
    hint = "`xla_shard(x, mesh, xla_spec())`, called in every process, gives each the whole array."
  )
}
