#' Sharded arrays
#'
#' `xla_shard()` cuts an array into parts and puts each on its device of a mesh. Functions made by [xla_jit()] and the
#' like take such arrays, compute with the parts where they are, and give such arrays. `xla_shards()` gives the parts.
#'
#' @details
#' R data become arrays of R's own precision, as in [xla_jit()]: doubles `f64`, integers `i32`, logicals `pred`, complex
#' numbers `c128`, [bit64::integer64] `i64`; `dtype` asks for another. A vector without dimensions has shape (n). A
#' buffer is cut by its device. An array that is sharded already gets another specification: XLA moves what has to be
#' moved; to another mesh it goes through R's memory.
#'
#' A dimension must be a multiple of the number of its parts. Where axes of the mesh cut nothing, all devices along
#' them have the same part.
#'
#' With `global_shape`, `x` is what this process has of an array that is spread over several processes: along each
#' dimension either all of it, or the parts of this process's devices in their order. The whole array need not exist
#' anywhere. In one process that has all devices, it is the array itself.
#'
#' @section What they can do: [shape()], `dim()`, `length()`, [dtype()], [platform()], `devices()`, `print()`;
#'   [as_array()] and [as_raw()] gather the array; `x[i, j]` gives elements as R data and reads only the parts that
#'   have some; [await()] and [is_ready()] look at all parts. Everything else is computed in functions:
#'   `xla_jit(function(x) x + 1)(x)`. R's own functions refuse such arrays with an error.
#'
#' @param x An array: R data, a buffer or a sharded array. For `xla_shards()` a sharded array.
#' @param mesh A mesh, see [xla_mesh()].
#' @param spec Along which axes of the mesh it is cut, see [xla_spec()]. The default: not at all, each device has all.
#' @param dtype The element type for R data, as in [pjrt_buffer()].
#' @param global_shape The dimensions of the whole array, where `x` is this process's part of it.
#' @param check Whether `NA` of doubles is an error, too. Logicals and integers have none.
#' @return `xla_shard()` a sharded array, class `xlaffi_sharded`. `xla_shards()` a list with an element for each
#'   device of this process, in the order of the mesh: a list of `buffer`, `device`, and `start` and `end`, which
#'   elements of the array these are in each dimension, counted from 1.
#' @seealso [xla_mesh()], [xla_jit()], [hlo_shard()].
#' @aliases %*%,xlaffi_sharded,ANY-method %*%,ANY,xlaffi_sharded-method
#'   %*%,xlaffi_sharded,xlaffi_sharded-method %*%,xlaffi_sharded,xlaffi_value-method
#'   %*%,xlaffi_value,xlaffi_sharded-method
#' @examplesIf plugins_downloaded()
#' mesh <- xla_mesh(c(data = 1))
#' x <- xla_shard(matrix(c(1, 2, 3, 4), 2), mesh, "data")
#' x
#' xla_jit(function(x) colSums(x))(x)
#' xla_shards(x)[[1]]$end
#' @export
xla_shard <- function(x, mesh, spec = xla_spec(), dtype = NULL, global_shape = NULL, check = FALSE) {
  call <- environment()
  check_mesh(mesh)
  if (is_value(x)) {
    abort("`x` is a value of a program: there `hlo_shard()` says where it lies", operand = "x")
  }
  shape <- if (!is.null(global_shape)) check_shape(global_shape, "global_shape")
  if (is_sharded(x)) {
    check_kept_dtype(x@dtype, dtype, call)
    return(hooks$resharded(x, mesh, spec, shape, call))
  }
  x <- r_data(x)
  if (!is_data(x) && !inherits(x, "xlaffi_buffer")) {
    abort(sprintf("`x` must be numbers, logicals, a buffer or a sharded array, not %s", describe(x)),
      operand = "x", hint = data_hint(x)
    )
  }
  type <- argument_type(x, "`x`", call)
  if (inherits(x, "xlaffi_buffer")) {
    check_kept_dtype(type@dtype, dtype, call)
  } else {
    check_no_na(x, check, call)
    if (!is.null(dtype)) type <- new_type(check_dtype(dtype, "dtype"), type@shape)
  }
  check_shard_na(x, type@dtype, call)
  if (is.null(shape)) {
    shape <- type@shape
  }
  entries <- checked_spec(spec, mesh, shape, "`x`", call = call)
  local <- local_shape(entries, mesh, shape)
  parts <- local_parts(mesh, entries)
  if (!is.null(global_shape)) {
    parts <- parts_within(parts, type@shape, shape, local, call)
  }
  new_sharded(parts_on_devices(x, type, mesh, parts, local), mesh, entries, new_type(type@dtype, shape))
}

# Only programs with R's meaning take sharded arrays.
check_shard_na <- function(x, dtype, call) {
  problem <- if (!inherits(x, "xlaffi_buffer")) {
    na_problem(x, dtype)
  } else if (buffer_info(x)$has_na) {
    "is a buffer of data with NA"
  }
  if (!is.null(problem)) {
    abort(paste("`x`", problem), operand = "x", hint = na_hint(x), call = call)
  }
}

new_sharded <- function(shards, mesh, entries, type) {
  x <- blank_sharded
  attr(x, "shards") <- unname(shards)
  attr(x, "mesh") <- mesh
  attr(x, "spec") <- entries
  attr(x, "shape") <- type@shape
  attr(x, "dtype") <- type@dtype
  attr(x, "key") <- paste(type_text(type), format_spec(entries), mesh$key)
  x
}

check_kept_dtype <- function(own, dtype, call) {
  if (!is.null(dtype) && check_dtype(dtype, "dtype", call) != own) {
    abort(sprintf("`x` has dtype %s; `dtype` is for R data", own),
      operand = "dtype", hint = "`hlo_convert()` in a program changes the dtype.", call = call
    )
  }
}

# The numbers of parts of the whole array as those within what this process has of it: along each dimension all
# elements, or those of its own devices.
parts_within <- function(parts, own, whole, local, call) {
  if (length(own) != length(whole)) {
    abort(sprintf("`x` has shape %s, which is no part of %s", shape_text(own), shape_text(whole)),
      operand = "x", call = call
    )
  }
  for (axis in which(own != whole)) {
    numbers <- sort(unique(parts[, axis]))
    if (own[[axis]] != length(numbers) * local[[axis]]) {
      abort(
        sprintf(
          "dimension %d of `x` has %d elements: of the %d of the whole, the devices of this process have %d",
          axis, own[[axis]], whole[[axis]], length(numbers) * local[[axis]]
        ),
        operand = "x", call = call
      )
    }
    parts[, axis] <- match(parts[, axis], numbers) - 1
  }
  parts
}

#' @rdname xla_shard
#' @export
xla_shards <- function(x) {
  check_sharded(x)
  local <- local_shape(x@spec, x@mesh, x@shape)
  parts <- local_parts(x@mesh, x@spec)
  lapply(seq_along(x@shards), function(i) {
    c(
      list(buffer = x@shards[[i]], device = x@mesh$devices[[x@mesh$local[[i]]]]),
      part_range(parts[i, ], local)
    )
  })
}

check_sharded <- function(x, name = "x", call = rlang::caller_env()) {
  check_not_missing(x, name, call)
  if (!is_sharded(x)) {
    abort(sprintf("`%s` must be a sharded array made by xla_shard(), not %s", name, describe(x)),
      operand = name, call = call
    )
  }
}
