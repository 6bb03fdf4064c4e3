#' Options for compiling a program
#'
#' How many copies of a program run side by side, over how many devices XLA partitions it, and which these are. The
#' result goes to [pjrt_compile()].
#'
#' @details
#' A program for several devices is one program. With `num_partitions = 4` XLA splits it (SPMD) into what each of four
#' devices does: as its text says, by the mesh and the shardings that JAX wrote into it (`sdy` attributes, or
#' `mhlo.sharding` in older programs). Arguments without a sharding are whole on each device; of results without one
#' Shardy chooses it, and with GSPMD they are whole. With `num_replicas = 2` two copies run, each on data of its own,
#' which meet only in collective operations.
#'
#' [pjrt_execute()] of such a program takes, in place of each buffer, a list of buffers, one per device in the order of
#' `devices(executable)`, each with the device's part; results come so too. Which part is whose tells
#' `pjrt_shardings()`.
#'
#' On the CPU, XLA's own reductions over devices lose NaN: the largest or smallest numbers (`stablehlo.maximum` and
#' `stablehlo.minimum` in an all-reduce, or in a reduction that is partitioned) of data with NaN on one device are some
#' number, and not NaN, in programs that JAX exports as in JAX itself. Programs that [xla_jit()] writes keep NaN: they
#' reduce beside it which numbers are NaN.
#'
#' The CPU has one device unless the first call of [pjrt_client()] says otherwise:
#' `pjrt_client("cpu", cpu_device_count = 4)`, or the environment variable `PJRT_CPU_DEVICE_COUNT`.
#'
#' @param num_replicas How many copies of the program run side by side.
#' @param num_partitions Over how many devices each copy is partitioned.
#' @param devices The devices, replica by replica: a list of devices or a character vector of names such as `"cpu:1"`.
#'   `NULL` takes the first that the client has.
#' @param shardy Whether XLA's partitioner Shardy does the work, or the one before it (GSPMD). `NULL` takes the one that
#'   the program was written for.
#' @return Options, class `xlaffi_compile_options`.
#' @section Errors:
#' Numbers that are no whole numbers from 1 are an error.
#'
#' @examples
#' pjrt_compile_options(num_partitions = 4L)
#' @examplesIf plugins_downloaded() && length(devices()) > 1
#' # The program adds up the two halves of a vector, each on a device of its own.
#' program <- pjrt_program('
#' sdy.mesh @mesh = <["x"=2]>
#' func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
#'   %zero = stablehlo.constant dense<0.0> : tensor<f32>
#'   %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
#'     : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
#'   return %sum : tensor<f32>
#' }')
#' sum <- pjrt_compile(program, pjrt_compile_options(num_partitions = 2L))
#' halves <- Map(pjrt_buffer, list(c(1, 2), c(3, 4)), "f32", devices(sum))
#' pjrt_execute(sum, halves)
#' @export
pjrt_compile_options <- function(num_replicas = 1L, num_partitions = 1L, devices = NULL, shardy = NULL) {
  num_replicas <- check_device_count(num_replicas, "num_replicas")
  num_partitions <- check_device_count(num_partitions, "num_partitions")
  if (!is.null(shardy)) {
    check_flag(shardy, "shardy")
  }
  wanted <- num_replicas * num_partitions
  if (!is.null(devices)) {
    devices <- as_device_list(devices, "devices")
    if (length(devices) != wanted) {
      abort(
        sprintf(
          "%d replica(s) of %d partition(s) run on %d device(s), `devices` has %d",
          num_replicas, num_partitions, wanted, length(devices)
        ),
        operand = "devices"
      )
    }
  }
  structure(
    list(replicas = num_replicas, partitions = num_partitions, devices = devices, shardy = shardy),
    class = "xlaffi_compile_options"
  )
}

check_device_count <- function(x, name, call = rlang::caller_env()) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || x != trunc(x) || x < 1 || x > 65536) {
    abort(sprintf("`%s` must be a whole number from 1, not %s", name, describe(x)), operand = name, call = call)
  }
  as.integer(x)
}

# Devices of one platform, each once, from devices or their names.
as_device_list <- function(x, name, call = rlang::caller_env()) {
  if (inherits(x, "xlaffi_device")) {
    x <- list(x)
  }
  if (!is.character(x) && !(is.list(x) && all(vapply(x, inherits, NA, what = "xlaffi_device")))) {
    abort(sprintf("`%s` must be a list of devices or their names, not %s", name, describe(x)),
      operand = name, call = call
    )
  }
  found <- lapply(x, as_pjrt_device)
  labels <- vapply(found, function(device) paste(platform(device), device_info(device)$id), "")
  if (anyDuplicated(labels)) {
    abort(sprintf("`%s` has a device twice", name), operand = name, call = call)
  }
  if (length(unique(sub(" .*$", "", labels))) > 1L) {
    abort(sprintf("`%s` has devices of several platforms", name), operand = name, call = call)
  }
  found
}

new_compile_options <- function() pjrt_compile_options()

is_for_one_device <- function(options) options$replicas * options$partitions == 1L

#' @export
print.xlaffi_compile_options <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
format.xlaffi_compile_options <- function(x, ...) {
  check_format_dots(...)
  devices <- if (!is.null(x$devices)) paste0(" on ", toString(vapply(x$devices, format, "")))
  paste0(
    "<PJRTCompileOptions: ", x$replicas, " replica(s), ", x$partitions, " partition(s)", devices,
    if (!is.null(x$shardy)) if (x$shardy) ", Shardy" else ", GSPMD", ">"
  )
}

# Where a program goes: `device`, one to find the client by, and `options` for the glue, with the ids of all of them.
compilation_place <- function(options, device, call = rlang::caller_env()) {
  if (!inherits(options, "xlaffi_compile_options")) {
    abort(sprintf("`compile_options` must be compile options, not %s", describe(options)),
      operand = "compile_options", call = call
    )
  }
  if (!is.null(device) && !is.null(options$devices)) {
    abort("the devices are in `compile_options`: `device` must be NULL", operand = "device", call = call)
  }
  if (is.null(options$devices) && is_for_one_device(options)) {
    return(list(device = as_pjrt_device(device), options = NULL))
  }
  devices <- options$devices
  if (is.null(devices)) {
    devices <- enough_devices(options$replicas * options$partitions, device, call)
  }
  options["devices"] <- list(vapply(devices, function(device) device_info(device)$id, 1L))
  list(device = devices[[1L]], options = options)
}

# The first `count` devices of a client, that of `device` where it is a platform.
enough_devices <- function(count, device, call) {
  if (!is.null(device) && !(is.character(device) && length(device) == 1L && !grepl(":", device, fixed = TRUE))) {
    abort(
      sprintf("the program is for %d devices: name them with `pjrt_compile_options(devices = )`", count),
      operand = "device", call = call
    )
  }
  all <- devices(as_pjrt_client(device))
  if (length(all) < count) {
    here <- platform(all[[1L]])
    abort(
      sprintf(
        "the program is for %d devices, platform \"%s\" has %d", count, here, length(all)
      ),
      code = "FAILED_PRECONDITION", operand = "compile_options", call = call,
      hint = if (here == "cpu") {
        sprintf(
          "Begin the session with `pjrt_client(\"cpu\", cpu_device_count = %d)`, which makes more of the CPU.",
          count
        )
      }
    )
  }
  all[seq_len(count)]
}

#' How the arrays of a program are split over its devices
#'
#' What XLA decided on for a program that was compiled for several devices, see [pjrt_compile_options()].
#'
#' @section Errors:
#' What is no executable is an error.
#'
#' @param executable An executable, see [pjrt_compile()].
#' @return A list with `parameters` (`NULL` where the plugin does not tell, or for one device) and `results`, of which
#'   each has for each array a list with `kind`: `"replicated"`, each device has all of it; `"tiled"`, it is split;
#'   `"maximal"`, one device has all of it; or `"unknown"`. Of what is tiled, `tiles` says into how many parts each
#'   dimension is split, `last_replicated` how many devices have each tile, and `devices` which: the places of the
#'   devices in the program's device assignment (that is `devices(executable)`, unless other processes have some of
#'   them), counted from 0, tile by tile in row-major order (the last dimension runs fastest), those with the same tile
#'   one after the other. A parameter also has `dtype` and `shape` of what each device gets of it.
#' @examplesIf plugins_downloaded()
#' double <- pjrt_compile(pjrt_program("
#' func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
#'   %0 = stablehlo.add %x, %x : tensor<2xf32>
#'   return %0 : tensor<2xf32>
#' }
#' "))
#' pjrt_shardings(double)$results
#' @export
pjrt_shardings <- function(executable) {
  check_given(executable)
  info <- check(.Call(wrap__executable_info, executable))
  list(parameters = info$parameters, results = info$shardings)
}
