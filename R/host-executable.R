#' Compile a program
#'
#' @param program A program, see [pjrt_program()].
#' @param compile_options How many replicas and partitions, and on which devices, see [pjrt_compile_options()]. The
#'   default is one of each.
#' @param device The device to compile for: a device, a name such as `"cpu:1"`, or `NULL` for the
#'   default.
#' @return An executable, class `xlaffi_executable`, for [pjrt_execute()].
#' @section Errors:
#' What XLA says about a program that it cannot parse or compile is the error's message, with its code as class.
#'
#' @examplesIf plugins_downloaded()
#' program <- pjrt_program("
#' func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
#'   %0 = stablehlo.add %x, %x : tensor<2xf32>
#'   return %0 : tensor<2xf32>
#' }
#' ")
#' double <- pjrt_compile(program)
#' pjrt_execute(double, pjrt_buffer(c(1, 2)))
#' @export
pjrt_compile <- function(program, compile_options = new_compile_options(), device = NULL) {
  check_given(program)
  place <- compilation_place(compile_options, device)
  note_flags(platform(place$device))
  finish(.Call(wrap__client_compile, place$device, program, place$options), meanwhile = compiling_notice())
}

#' Execute a program
#'
#' Arguments go by position. The call may return before the work is done, see [await()]; reading
#' the result waits for it. While R waits, here or there, what the program prints is shown as it comes,
#' and Ctrl-C ends the wait: the program itself goes on, and its results are dropped. Ctrl-C also ends
#' the upload or the reading of a large array.
#'
#' Where the launch fails because the device has no memory left (`RESOURCE_EXHAUSTED`), R collects what
#' nobody needs and the program is launched once more. An error that comes later, with the results, is
#' raised as it is when they are waited for: the program may have printed and called handlers by then,
#' and its arguments may be gone. After `gc()` it can be called again.
#'
#' @param executable An executable, see [pjrt_compile()].
#' @param ... Buffers, one per parameter of the program; for a program on several devices lists of buffers, one per
#'   device in the order of `devices(executable)`.
#' @param execution_options `NULL` or options made by [pjrt_execution_options()].
#' @param simplify Whether a single result is returned as such, and not as a list of one.
#' @param check Whether the arguments are checked before the launch: their class, their device and
#'   whether they still exist. `FALSE` leaves that to the plugin.
#' @return A buffer, or a list of buffers. Of a program on several devices each result is a list of buffers, one per
#'   device.
#' @inherit pjrt_compile examples
#' @export
pjrt_execute <- function(executable, ..., execution_options = NULL, simplify = TRUE, check = TRUE) {
  if (!(is.logical(simplify) && length(simplify) == 1L && !is.na(simplify))) {
    check_flag(simplify, "simplify")
  }
  result <- .Call(wrap__executable_execute, executable, list(...), execution_options, check, simplify, FALSE)
  if (!is.list(result)) {
    return(result)
  }
  # Not a plain list of buffers: a failure, a run under way, or text that waits to be shown.
  if (is.object(result)) {
    result <- finish(result)
  }
  if (simplify && length(result) == 1L) result[[1L]] else result
}

# What a run under way ends with. It works on another thread; between two turns of waiting R looks
# for Ctrl-C, which it does in Sys.sleep() and outside of Rust, and shows what the program prints.
# Interrupted, the work goes on and its result is dropped; R functions that it calls are not served any more.
# `meanwhile` is called at each turn.
finish <- function(run, call = rlang::caller_env(), meanwhile = NULL) {
  if (inherits(run, "xlaffi_launched")) {
    run <- run[[1L]]
  }
  if (inherits(run, "xlaffi_run")) {
    started <- run
    on.exit(.Call(wrap__run_abandon, started))
  }
  while (inherits(run, "xlaffi_run")) {
    if (!is.null(meanwhile)) meanwhile()
    done <- .Call(wrap__run_wait, run, 0.05)
    if (is.null(done)) {
      print_waiting()
      Sys.sleep(0)
    } else {
      run <- done
    }
  }
  print_waiting()
  if (inherits(run, "xlaffi_executed")) unclass(run) else check(run, call)
}

#' Options for one execution
#'
#' @section Errors:
#' Numbers that are no whole numbers from 0 are an error.
#'
#' @param non_donatable_input_indices Numbers of parameters, counted from 0, whose buffers must
#'   stay valid although the program may reuse (donate) them.
#' @param launch_id A number that programs over several hosts agree on.
#' @return Options for [pjrt_execute()], class `xlaffi_execution_options`.
#' @examples
#' pjrt_execution_options(non_donatable_input_indices = 0L)
#' @export
pjrt_execution_options <- function(non_donatable_input_indices = integer(), launch_id = 0L) {
  whole <- function(x) is.numeric(x) && !anyNA(x) && all(x == trunc(x)) && all(abs(x) < 2^31)
  if (!whole(non_donatable_input_indices) || any(non_donatable_input_indices < 0)) {
    abort(
      sprintf(
        "`non_donatable_input_indices` must be whole numbers from 0, not %s",
        describe(non_donatable_input_indices)
      ),
      operand = "non_donatable_input_indices"
    )
  }
  if (!whole(launch_id) || length(launch_id) != 1L) {
    abort(sprintf("`launch_id` must be one whole number, not %s", describe(launch_id)),
      operand = "launch_id"
    )
  }
  structure(
    list(as.integer(non_donatable_input_indices), as.integer(launch_id)),
    class = "xlaffi_execution_options"
  )
}

#' @export
print.xlaffi_execution_options <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
format.xlaffi_execution_options <- function(x, ...) {
  check_format_dots(...)
  keep <- if (length(x[[1L]])) toString(x[[1L]]) else "none"
  paste0("<PJRTExecuteOptions: not donated ", keep, ", launch ", x[[2L]], ">")
}

#' @export
print.xlaffi_executable <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# Any two external pointers of one class are equal to R.
#' @method all.equal xlaffi_executable
#' @export
all.equal.xlaffi_executable <- function(target, current, ...) {
  check_equal_dots(...)
  if (!inherits(current, "xlaffi_executable")) {
    return(sprintf("target is an executable, current is %s", describe(current)))
  }
  if (identical(target, current)) {
    return(TRUE)
  }
  told <- codes_differ(lapply(list(target, current), function(x) {
    code <- check(.Call(wrap__executable_serialize, x))$program
    if (any(code == 0L)) code else rawToChar(code)
  }))
  devices <- vapply(list(target, current), function(x) toString(vapply(devices(x), format, "")), "")
  if (devices[[1L]] != devices[[2L]]) {
    told <- c(if (!isTRUE(told)) told, sprintf("devices are %s and %s", devices[[1L]], devices[[2L]]))
  }
  told
}

#' @export
format.xlaffi_executable <- function(x, ...) {
  check_format_dots(...)
  why <- why_gone(check(.Call(wrap__executable_info, x)))
  paste0("<PJRTLoadedExecutable", if (!is.null(why)) paste0(": ", why), ">")
}

#' @export
platform.xlaffi_executable <- function(x, ...) {
  check_dots_empty(...)
  check(.Call(wrap__executable_info, x))$platform
}

#' @export
device.xlaffi_executable <- function(x, ...) {
  check_dots_empty(...)
  devices(x)[[1L]]
}

#' @export
devices.xlaffi_executable <- function(x = NULL, ...) {
  check_dots_empty(...)
  info <- check(.Call(wrap__executable_info, x))
  find_devices(info$client, info$devices)
}

# What an interactive session is shown while XLA compiles for long.

# Seconds that nothing is said in
progress_after <- 3

# A function that the loop of a wait calls again and again: it says once in a session what takes so long.
compiling_notice <- function() {
  began <- proc.time()[["elapsed"]]
  function() {
    if (proc.time()[["elapsed"]] - began >= progress_after) say_compiling()
  }
}

say_compiling <- function() {
  if (isTRUE(host_state$said_compiling) || !shows_progress()) {
    return(invisible())
  }
  host_state$said_compiling <- TRUE
  cli::cli_inform(c(
    "XLA is compiling a program, which takes longer the more operations it has.",
    i = paste(
      "{.fn hlo_scan} and {.fn hlo_fori} are compiled as one turn, loops of R's where their turns are equal",
      "(see {.fn xla_jit}), {.fn xla_vmap} and functions of whole arrays as one operation for all elements."
    ),
    i = "Programs are kept, see {.fn xla_cache}. {.code options(xlaffi.progress = FALSE)} turns this message off."
  ), class = "xlaffi_message_progress")
}
