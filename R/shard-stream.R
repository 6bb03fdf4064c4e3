#' A sharded array whose parts are read where they go
#'
#' Each device of a mesh gets its rows from a function, so that no device, and no process of several, reads
#' what is not its own, and the whole array need not exist anywhere.
#'
#' @param read A function of `rows`, the first and the last row that are wanted, counted from 1, and
#'   `device`. It returns a buffer with those rows on that device, for instance by [pjrt_buffer_from_file()],
#'   [pjrt_buffer_from_npy()] or [pjrt_buffer_from()]. It is called once for each part of the array that this
#'   process has; where several devices have the same part, the others get copies.
#' @param mesh A mesh, see [xla_mesh()].
#' @param spec Along which axes of the mesh the rows are cut, see [xla_spec()]: other dimensions are not cut.
#' @param shape The dimensions of the whole array.
#' @return A sharded array, see [xla_shard()]. Errors of `read` are passed on; a buffer of another shape,
#'   dtype or device than its part has is an error of class `xlaffi_error_invalid_argument`.
#' @examplesIf plugins_downloaded()
#' file <- tempfile()
#' x <- matrix(rnorm(60), 20)
#' writeBin(c(x), file)
#' mesh <- xla_mesh(c(data = 1))
#' read <- function(rows, device) {
#'   pjrt_buffer_from_file(file, "f64", c(20, 3), device, row_major = FALSE, rows = rows)
#' }
#' xla_shard_from(read, mesh, "data", c(20, 3))
#' @export
xla_shard_from <- function(read, mesh, spec, shape) {
  call <- environment()
  if (!is.function(read)) {
    abort(sprintf("`read` must be a function, not %s", describe(read)), operand = "read")
  }
  check_mesh(mesh)
  shape <- check_shape(shape, "shape")
  entries <- checked_spec(spec, mesh, shape, "`shape`")
  local <- local_shape(entries, mesh, shape)
  if (!length(shape) || !identical(local[-1L], shape[-1L])) {
    abort("`spec` must cut the rows only, the first dimension", operand = "spec")
  }
  parts <- local_parts(mesh, entries)
  devices <- mesh$devices[mesh$local]
  first <- first_of_same(parts)
  buffers <- vector("list", length(devices))
  for (i in seq_along(devices)) {
    if (first[[i]] < i) {
      buffers[[i]] <- copy_buffer(buffers[[first[[i]]]], devices[[i]])
    } else {
      range <- part_range(parts[i, ], local)
      rows <- c(range$start[[1L]], range$end[[1L]])
      buffers[[i]] <- check_read_part(read(rows, devices[[i]]), rows, local, buffers[[1L]], devices[[i]], call)
    }
  }
  new_sharded(buffers, mesh, entries, new_type(buffer_info(buffers[[1L]])$dtype, shape))
}

# The buffer that `read` gave for some rows, if it is what it must be.
check_read_part <- function(buffer, rows, local, before, device, call) {
  refuse <- function(...) {
    rows <- sprintf("for the rows %.0f to %.0f `read` gave", rows[[1L]], rows[[2L]])
    abort(paste(rows, sprintf(...)), operand = "read", call = call)
  }
  if (!inherits(buffer, "xlaffi_buffer")) {
    refuse("%s, which is no buffer", describe(buffer))
  }
  if (!identical(shape(buffer), local)) {
    refuse("a buffer of shape %s, not %s", shape_text(shape(buffer)), shape_text(local))
  }
  if (buffer_info(buffer)$has_na) {
    refuse("a buffer of data with NA, which %s cannot hold", as.character(elt_type(buffer)))
  }
  if (device(buffer) != device) {
    refuse("a buffer on %s, not on %s", format(device(buffer)), format(device))
  }
  if (!is.null(before) && elt_type(buffer) != elt_type(before)) {
    refuse("a buffer of dtype %s, and %s before", as.character(elt_type(buffer)), as.character(elt_type(before)))
  }
  buffer
}
