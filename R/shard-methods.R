# What sharded arrays answer themselves. Everything else is refused: see overload-methods.R.

#' @export
length.xlaffi_sharded <- function(x) r_length(x@shape)

#' @export
is.matrix.xlaffi_sharded <- function(x) length(x@shape) == 2L

#' @export
is.array.xlaffi_sharded <- function(x) length(x@shape) > 0L

#' @export
platform.xlaffi_sharded <- function(x, ...) {
  check_dots_empty(...)
  platform(x@mesh)
}

#' @export
devices.xlaffi_sharded <- function(x = NULL, ...) {
  check_dots_empty(...)
  x@mesh$devices
}

#' @export
device.xlaffi_sharded <- function(x, ...) {
  check_dots_empty(...)
  if (mesh_size(x@mesh) > 1L) {
    abort(sprintf("the array lies on %s: `devices()` lists them", mesh_label(x@mesh)), operand = "x")
  }
  x@mesh$devices[[1L]]
}

#' @export
await.xlaffi_sharded <- function(x, ...) {
  check_dots_empty(...)
  for (shard in x@shards) wait_for(shard)
  invisible(x)
}

#' @export
is_ready.xlaffi_sharded <- function(x, ...) {
  check_dots_empty(...)
  all(vapply(x@shards, is_ready, NA))
}

#' @export
as_array.xlaffi_sharded <- function(x, check = FALSE, ...) {
  check_dots_empty(...)
  # Whole on each device
  if (!any(lengths(x@spec))) {
    return(as_array(x@shards[[1L]], check = check))
  }
  gather_parts(x, lapply(x@shape, seq_len), function(shard) as_array(shard, check = check))
}

#' @export
as_raw.xlaffi_sharded <- function(x, row_major, ...) {
  check_dots_empty(...)
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
  check_dots_empty(...)
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

# More than this is not gathered only to be looked at.
most_printed <- 2^20

#' @export
format.xlaffi_sharded <- function(x, ...) {
  check_format_dots(...)
  sprintf("<sharded array %s, %s on %s>", type_text(x), format_spec(x@spec), format(x@mesh))
}

#' @export
print.xlaffi_sharded <- function(x, ...) {
  check_print_dots(..., allowed = names(formals(print.xlaffi_buffer)))
  cat("Sharded array\n")
  label <- if (x@dtype == "pred") "bool" else x@dtype
  is_gone <- is_from_elsewhere(x)
  facts <- c(
    sprintf("[ %s%s{%s} ]", if (is_gone) "" else toupper(platform(x)), label, paste(x@shape, collapse = "x")),
    sprintf("%s on %s", format_spec(x@spec), format(x@mesh))
  )
  hidden <- if (is_gone) {
    "its parts are gone, as they do not survive saving and loading: make it again with xla_shard()"
  } else if (length(x) > most_printed) {
    "it is large"
  } else if (!is_here(x)) {
    "parts of it lie on devices of other processes"
  }
  if (is.null(hidden)) {
    print(on_one_device(x), header = FALSE, footer = paste(facts, collapse = "\n"), ...)
  } else {
    writeLines(c(sprintf("(not shown: %s)", hidden), facts))
  }
  invisible(x)
}

# Whether it was saved and loaded, which its parts do not survive
is_from_elsewhere <- function(x) {
  tryCatch(
    {
      buffer_info(x@shards[[1L]])
      FALSE
    },
    xlaffi_error_failed_precondition = function(e) TRUE
  )
}

# Whether this process has all parts
is_here <- function(x) {
  length(unique(first_of_same(local_parts(x@mesh, x@spec)))) == prod(parts_per_dimension(x@spec, x@mesh))
}

# The whole array as one buffer
on_one_device <- function(x, to = x@mesh$devices[[x@mesh$local[[1L]]]]) {
  if (!any(lengths(x@spec))) {
    return(copy_buffer(x@shards[[1L]], to))
  }
  check(.Call(wrap__buffer_from_raw, as_raw(x, row_major = TRUE), x@dtype, to, x@shape, TRUE))
}
