#' Meshes of devices
#'
#' A mesh is a grid of devices whose axes have names. `xla_spec()` says along which of these axes an array is cut
#' into parts, [xla_shard()] cuts it, and [xla_jit()] computes with the parts where they are.
#'
#' @details
#' The names and the meaning are those of JAX's `Mesh` and `PartitionSpec`. In a mesh with the axes `data` of 4 and
#' `model` of 2 devices, the specification `xla_spec("data", NULL)` cuts the rows of a matrix into four parts, each of
#' which lies on two devices; `xla_spec(c("data", "model"))` cuts the rows into eight; `xla_spec()` gives every device
#' all of it. A dimension must be a multiple of the number of its parts.
#'
#' The CPU has as many devices as [pjrt_client()]'s option `cpu_device_count`, or the environment variable
#' `PJRT_CPU_DEVICE_COUNT`, says; more than there are cores share these.
#'
#' @param axes Sizes of the axes with their names: `c(data = 4, model = 2)`.
#' @param devices The devices, as many as the sizes' product, those along the last axis next to one another: a list
#'   of devices or their names. `NULL`: the first devices of the default platform.
#' @param ... For each dimension of an array: the name of an axis, names of several (the first is the slowest), or
#'   `NULL` or `NA` where it is not cut. Dimensions beyond the last entry are not cut.
#' @return `xla_mesh()` a mesh, class `xlaffi_mesh`, with the fields `axes` and `devices`. `xla_spec()` a
#'   specification, class `xlaffi_spec`. Where one is expected, a character vector or a list of its entries will do:
#'   `"data"`, `c("data", NA)`, `list(NULL, c("data", "model"))`.
#' @seealso [xla_shard()], [xla_jit()].
#' @examplesIf plugins_downloaded()
#' mesh <- xla_mesh(c(data = 1))
#' mesh
#' xla_shard(matrix(1:6, 2), mesh, xla_spec("data", NULL))
#' @export
xla_mesh <- function(axes, devices = NULL) {
  check_given(axes)
  axes <- check_mesh_axes(axes)
  size <- prod(axes)
  devices <- if (is.null(devices)) first_devices(size) else check_mesh_devices(devices, axes)
  new_mesh(axes, devices)
}

new_mesh <- function(axes, devices) {
  sizes <- paste(names(axes), axes, sep = "=", collapse = ",")
  labels <- vapply(devices, format, "")
  structure(
    list(
      axes = axes, devices = devices, local = local_positions(devices),
      key = sprintf("%s on %s %s", sizes, platform(devices[[1L]]), toString(labels))
    ),
    class = "xlaffi_mesh"
  )
}

# The places in a mesh whose devices this process computes with.
local_positions <- function(devices) {
  local <- which(vapply(devices, function(device) device_info(device)$addressable, NA))
  if (!length(local)) {
    abort("none of the devices of the mesh belongs to this process",
      operand = "devices", call = NULL, hint = "A mesh over several processes has devices of each."
    )
  }
  local
}

check_mesh_axes <- function(axes, call = rlang::caller_env()) {
  whole <- is.numeric(axes) && !is.object(axes) && length(axes) && !anyNA(axes) && all(axes >= 1 & axes == trunc(axes))
  if (!whole || prod(axes) > .Machine$integer.max) {
    abort(sprintf("`axes` must be whole numbers from 1 with names, not %s", values_text(axes)),
      operand = "axes", hint = "For example `c(data = 4, model = 2)`.", call = call
    )
  }
  names <- names2(axes)
  if (!all(grepl("^[[:alnum:]_.-]+$", names)) || anyDuplicated(names)) {
    abort(
      sprintf(
        "`axes` must have names of letters, digits, `_`, `.` and `-`, each once, not %s",
        toString(dQuote(names, FALSE))
      ),
      operand = "axes", call = call
    )
  }
  stats::setNames(as.integer(axes), names)
}

first_devices <- function(size, call = rlang::caller_env()) {
  all <- devices()
  if (length(all) < size) {
    abort(
      sprintf("the mesh has %.0f places, but platform \"%s\" has %d device%s", size, platform(all[[1L]]), length(all),
        if (length(all) == 1L) "" else "s"
      ),
      "OUT_OF_RANGE", operand = "axes", call = call,
      hint = if (platform(all[[1L]]) == "cpu") "Set PJRT_CPU_DEVICE_COUNT before the first use to have more."
    )
  }
  all[seq_len(size)]
}

check_mesh_devices <- function(devices, axes, call = rlang::caller_env()) {
  devices <- unname(as_device_list(devices, "devices", call))
  if (length(devices) != prod(axes)) {
    abort(
      sprintf(
        "`devices` must be %.0f, one for each place of the mesh (%s), not %d", prod(axes), axes_label(axes),
        length(devices)
      ),
      operand = "devices", call = call
    )
  }
  devices
}

check_mesh <- function(mesh, name = "mesh", call = rlang::caller_env()) {
  check_not_missing(mesh, name, call)
  if (!inherits(mesh, "xlaffi_mesh")) {
    abort(sprintf("`%s` must be a mesh made by xla_mesh(), not %s", name, describe(mesh)), operand = name, call = call)
  }
  check_mesh_is_here(mesh, name, call)
  mesh
}

# A function may come from a file with the mesh that it is for.
check_mesh_is_here <- function(mesh, name, call) {
  force(mesh)
  if (!is.null(why_gone(mesh_label(mesh)))) {
    abort(sprintf("`%s` is a mesh of another session, %s, whose devices are gone", name, format(mesh)),
      "FAILED_PRECONDITION", operand = name, call = call,
      hint = "Make it again with `xla_mesh()`, and the functions and arrays that are for it."
    )
  }
}

mesh_size <- function(mesh) length(mesh$devices)

same_mesh <- function(x, y) identical(x$key, y$key)

# For each place of the mesh (a row) where it is along each axis, counted from 0.
mesh_coordinates <- function(mesh) {
  coordinates <- grid_places(seq_along(mesh$devices) - 1L, mesh$axes)
  colnames(coordinates) <- names(mesh$axes)
  coordinates
}

axes_label <- function(axes) paste(names(axes), axes, sep = " = ", collapse = ", ")

mesh_label <- function(mesh) {
  count <- mesh_size(mesh)
  sprintf("%d %s device%s", count, platform(mesh$devices[[1L]]), if (count == 1L) "" else "s")
}

#' @export
format.xlaffi_mesh <- function(x, ...) {
  check_format_dots(...)
  sprintf("<mesh %s>", axes_label(x$axes))
}

#' @export
print.xlaffi_mesh <- function(x, ...) {
  check_print_dots(...)
  if (!is.null(why_gone(mesh_label(x)))) {
    writeLines(c(format(x), "(its devices are gone, as they do not survive saving and loading)"))
    return(invisible(x))
  }
  cat(sprintf("<mesh %s of %s>\n", axes_label(x$axes), mesh_label(x)))
  cat(toString(vapply(x$devices, format, ""), width = 200), "\n", sep = "")
  invisible(x)
}

#' @export
devices.xlaffi_mesh <- function(x = NULL, ...) {
  check_dots_empty(...)
  x$devices
}

#' @export
platform.xlaffi_mesh <- function(x, ...) {
  check_dots_empty(...)
  platform(x$devices[[1L]])
}

# As the module of a program has it. Partition i of the program is place i of the mesh, whatever device that is.
mesh_text <- function(mesh) {
  sprintf("sdy.mesh @mesh = <[%s]>", paste(sprintf("\"%s\"=%d", names(mesh$axes), mesh$axes), collapse = ", "))
}
