# What sharded arrays answer themselves. Everything else is refused: see mesh-refused.R.

#' @export
length.xlaffi_sharded <- function(x) {
  size <- prod(x@shape)
  if (size > .Machine$integer.max) size else as.integer(size)
}

#' @export
platform.xlaffi_sharded <- function(x, ...) platform(x@mesh)

#' @export
devices.xlaffi_sharded <- function(x = NULL, ...) x@mesh$devices

#' @export
device.xlaffi_sharded <- function(x, ...) {
  if (mesh_size(x@mesh) > 1L) {
    abort(sprintf("the array lies on %s: `devices()` lists them", mesh_label(x@mesh)), operand = "x")
  }
  x@mesh$devices[[1L]]
}

#' @export
await.xlaffi_sharded <- function(x, ...) {
  for (shard in x@shards) wait_for(shard)
  invisible(x)
}

#' @export
is_ready.xlaffi_sharded <- function(x, ...) all(vapply(x@shards, is_ready, NA))

#' @export
as_array.xlaffi_sharded <- function(x, check = FALSE, ...) {
  # Whole on each device
  if (!any(lengths(x@spec))) {
    return(as_array(x@shards[[1L]], check = check))
  }
  gather_parts(x, lapply(x@shape, seq_len), function(shard) as_array(shard, check = check))
}

#' @export
as_raw.xlaffi_sharded <- function(x, row_major, ...) {
  if (missing(row_major)) {
    abort("`row_major` is missing: TRUE or FALSE", operand = "row_major")
  }
  check_flag(row_major, "row_major")
  if (!any(lengths(x@spec)) || !prod(x@shape)) {
    return(as_raw(x@shards[[1L]], row_major))
  }
  local <- local_shape(x@spec, x@mesh, x@shape)
  bytes <- length(as_raw(x@shards[[1L]], FALSE)) / prod(local)
  read <- function(shard) array(as_raw(shard, row_major = FALSE), c(bytes, local))
  whole <- gather_parts(x, lapply(x@shape, seq_len), read, bytes)
  if (row_major) {
    whole <- aperm(whole, c(1L, rev(seq_along(x@shape)) + 1L))
  }
  as.vector(whole)
}

# `value()` of it is the array: the parts are on their way meanwhile, as they are in any case.
#' @export
as_array_async.xlaffi_sharded <- function(x, ...) {
  structure(list2env(list(buffer = x), parent = emptyenv()), class = "xlaffi_array_promise")
}

# Elements as R data: `x[i, j]`, of which only those parts are read that have some. Other forms are those of the array.
#' @export
`[.xlaffi_sharded` <- function(x, ..., drop = TRUE) {
  rank <- length(x@shape)
  # `x[]` and `x[i, ]` have arguments that are not there.
  given <- as.list(substitute(list(...)))[-1L]
  absent <- vapply(given, is_missing_arg, NA)
  if (length(given) != rank || rank == 0L) {
    return(as_array(x)[..., drop = drop])
  }
  indices <- lapply(seq_len(rank), function(axis) {
    if (absent[[axis]]) seq_len(x@shape[[axis]]) else positions_on_axis(...elt(axis), x@shape[[axis]], axis)
  })
  if (any(vapply(indices, is.null, NA))) {
    return(as_array(x)[..., drop = drop])
  }
  result <- gather_parts(x, indices, as_array)
  if (drop) drop(result) else result
}

# Which elements of an axis R takes for an index; NULL for what only R itself understands.
positions_on_axis <- function(index, size, axis, call = rlang::caller_env(2)) {
  if (!(is.numeric(index) || is.logical(index)) || is.object(index) || !is.null(dim(index))) {
    return(NULL)
  }
  found <- if (is.logical(index) && length(index) > size) NA else seq_len(size)[index]
  if (anyNA(found)) {
    abort(sprintf("index of dimension %d is outside of the %d elements there are", axis, size), "OUT_OF_RANGE",
      op = "[", operand = "...", call = call
    )
  }
  found
}
