#' Whole arrays for programs on several devices
#'
#' `pjrt_shard()` cuts arrays into the parts that the devices of a program want, `pjrt_gather()` puts results together:
#' what runs a program that JAX exported for several devices on whole arrays.
#'
#' @details
#' Where each part belongs is what XLA wrote into the compiled program, see [pjrt_shardings()]. A dimension must be a
#' multiple of the number of its parts. Each copy of a program with replicas has data of its own: their parts are given
#' by hand.
#'
#' @param executable An executable for several devices of this process, see [pjrt_compile_options()].
#' @param ... Arrays, one per parameter of the program: R data, in the parameter's dtype on the devices; buffers;
#'   or arrays made by [xla_shard()], which must be cut as the program wants them.
#' @param results What [pjrt_execute()] gave, with `simplify` or without: a list of buffers for each result, or for one
#'   result alone its list.
#' @return `pjrt_shard()` a list with an element per parameter, each a list of buffers, one per device: the arguments of
#'   [pjrt_execute()]. `pjrt_gather()` a list of R arrays, as [as_array()] gives them, one per result.
#' @examplesIf plugins_downloaded() && length(devices()) > 1
#' program <- pjrt_program('
#' sdy.mesh @mesh = <["x"=2]>
#' func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
#'   %0 = stablehlo.add %x, %x : tensor<4xf32>
#'   return %0 : tensor<4xf32>
#' }')
#' twice <- pjrt_compile(program, pjrt_compile_options(num_partitions = 2L))
#' results <- do.call(pjrt_execute, c(twice, pjrt_shard(twice, 1:4)))
#' pjrt_gather(twice, results)
#' @export
pjrt_shard <- function(executable, ...) {
  plan <- sharding_plan(executable)
  arguments <- list(...)
  parameters <- plan$info$parameters
  if (length(arguments) != length(parameters)) {
    abort(sprintf("the program takes %d argument(s), got %d", length(parameters), length(arguments)), operand = "...")
  }
  call <- environment()
  unname(Map(function(x, parameter, i) {
    name <- sprintf("..%d", i)
    x <- r_data(x)
    if (!inherits(x, "xlaffi_buffer") && !is_sharded(x) && !is_data(x)) {
      abort(sprintf("`%s` must be an array or a buffer, not %s", name, describe(x)),
        operand = name, hint = data_hint(x), call = call
      )
    }
    type <- argument_type(x, sprintf("`%s`", name), call)
    if (is_data(x)) {
      # One number may be meant for an array without dimensions.
      shape <- if (length(x) == 1L && is.null(dim(x)) && !length(parameter$shape)) integer() else type@shape
      type <- new_type(parameter$dtype, shape)
    }
    parts <- parts_of(parameter, length(plan$devices), name, call)
    whole <- as.integer(parameter$shape * tiles_of(parameter))
    if (!identical(type@shape, whole) || type@dtype != parameter$dtype) {
      abort(
        sprintf("`%s` must be an array of %s, not of %s", name, shape_of(parameter$dtype, whole), format(type)),
        operand = name, call = call
      )
    }
    if (is_sharded(x)) {
      return(parts_as_they_lie(x, parts, plan$devices, name, call))
    }
    parts_on_devices(x, type, list(devices = plan$devices, local = seq_along(plan$devices)), parts, parameter$shape)
  }, arguments, parameters, seq_along(arguments)))
}

# Those of a sharded array, if each device has what the program wants there.
parts_as_they_lie <- function(x, parts, devices, name, call) {
  lie <- local_parts(x@mesh, x@spec)
  wanted <- if (ncol(parts)) parts else 0 * lie
  if (!identical(vapply(devices, format, ""), vapply(x@mesh$devices, format, "")) || !all(lie == wanted)) {
    abort(sprintf("`%s` is cut over its devices in another way than the program wants it", name),
      operand = name, call = call,
      hint = "`as_array()` gives the whole array, which is cut as it is wanted; see also `pjrt_shardings()`."
    )
  }
  x@shards
}

shape_of <- function(dtype, shape) format(new_type(dtype, shape))

#' @rdname pjrt_shard
#' @export
pjrt_gather <- function(executable, results) {
  plan <- sharding_plan(executable)
  shardings <- plan$info$shardings
  is_part <- function(x) inherits(x, "xlaffi_buffer")
  if (length(shardings) == 1L && is.list(results) && all(vapply(results, is_part, NA))) {
    results <- list(results)
  }
  count <- length(plan$devices)
  is_result <- function(x) is.list(x) && length(x) == count && all(vapply(x, is_part, NA))
  if (!is.list(results) || length(results) != length(shardings) || !all(vapply(results, is_result, NA))) {
    abort(
      sprintf("`results` must be %d list(s) of %d buffers as pjrt_execute() gives them", length(shardings), count),
      operand = "results"
    )
  }
  call <- environment()
  Map(function(buffers, sharding, i) {
    put_together(buffers, sharding, parts_of(sharding, count, sprintf("result %d", i), call))
  }, results, shardings, seq_along(results))
}

# What is known of an executable whose parts are all here: `info` and `devices`.
sharding_plan <- function(executable, call = rlang::caller_env()) {
  check_not_missing(executable, "executable", call)
  info <- check(.Call(wrap__executable_info, executable), call)
  if (info$partitions == 1L || info$replicas > 1L || length(info$devices) != info$partitions) {
    abort(
      sprintf(
        "the program must be for several partitions of one replica on devices of this process: it has %d of %d on %d",
        info$partitions, info$replicas, length(info$devices)
      ),
      code = "FAILED_PRECONDITION", operand = "executable", call = call
    )
  }
  list(info = info, devices = find_devices(info$client, info$devices))
}

tiles_of <- function(sharding) if (sharding$kind == "tiled") sharding$tiles else 1L

# The numbers of the part that each device has, a row for each; see shard-parts.R.
parts_of <- function(sharding, count, name, call) {
  if (sharding$kind == "replicated") {
    return(matrix(0, count, 0L))
  }
  if (sharding$kind != "tiled") {
    abort(sprintf("nobody knows how %s is split over the devices", name),
      code = "UNIMPLEMENTED", operand = "executable", call = call
    )
  }
  tile_numbers(sharding)
}

put_together <- function(buffers, sharding, parts) {
  if (!ncol(parts)) {
    return(as_array(buffers[[1L]]))
  }
  local <- shape(buffers[[1L]])
  assembled(buffers, parts, local, lapply(local * sharding$tiles, seq_len), as_array)
}
