#' An op from an R function
#'
#' @description
#' `ffi_callback()` makes an op whose body is an R function: compiled programs call R, as they call the ops of
#' [ffi_targets()]. For what XLA cannot do, or what need not be fast: a root finder, a random generator of R's, a
#' progress bar, a look at a value in the middle of a loop:
#'
#' ```r
#' roots <- ffi_callback(function(p) polyroot(p), "p: f64[n] -> z: c128[n - 1]")
#' xla_jit(function(p) abs(roots(p * 2)))(c(6, -5, 1))
#' ```
#'
#' @details
#' # What `f` gets and gives
#' Operands come by position, in the order of the signature, as R data: numbers as doubles, integers of up to 32 bits
#' as integers, those of 64 bits (and `ui32`) as bit64's `integer64`, `pred` as logical, complex numbers as complex.
#' What has two or more axes is an array, what has none or one is a vector without dimensions. An operand that comes
#' several times (`*k`) is a list, one that was left out is missing. Attributes follow by name.
#'
#' `f` returns the result, or a list of the results by name or in the order of the signature. Dtype and shape are
#' checked. Doubles are rounded to the floating-point type of a result; numbers that are not whole, out of range or
#' `NA` are refused for integer types, everything but logical values for `pred`, and factors, dates and other
#' objects everywhere.
#'
#' With `...` in the signature `f` is called for each element of the batch, with `vectorized = TRUE` once for all: then
#' all operands have the dimensions of the batch in front, of length 1 where they are the same for all of its elements.
#'
#' # When `f` is called
#' R runs on one thread. Programs that need it queue, and are served while R waits: for this or any other program, for
#' a buffer, or (not on Windows) at the prompt and in [Sys.sleep()]. [pjrt_execute()] waits for programs that may call
#' R; one that another package started is served when R has time, and where that package waits for it in the CPU plugin
#' of this package (a jump out of `f` then ends at the program). `print()`, [message()], warnings, [browser()] and
#' Ctrl-C work in `f`, and it may run other programs. An R error becomes the program's error: a condition of class
#' `xlaffi_error`, whose `parent` is R's. When R waits for a program no more, because it was interrupted, the functions
#' that the program calls get an error instead of being called (code `CANCELLED`).
#'
#' Where R does something else for `options(xlaffi.callback_wait =)` seconds (60) while a program needs it, the
#' program fails with `DEADLINE_EXCEEDED`: R's thread may be waiting for the very program where nobody is served, in
#' another maker's plugin or in JAX, whose own XLA does not call this package. What still waits when R ends, or the
#' package is unloaded, fails (`UNAVAILABLE`).
#'
#' The program may call `f` less or more often than it was written down, unless it is said to have a side effect:
#' results that nobody needs are not computed, equal calls are made once, and a program that found no memory is run once
#' more. Several calls may come in any order unless the side effect is `"ordered"`. So a function whose results are not
#' settled by its operands, such as one that draws random numbers, should be said to have one. Of others
#' [xla_shard_map()] believes that results are equal on all devices where operands are.
#'
#' # Derivatives
#' A `jvp` rule, as for [ffi_op()], or `"numeric"`: central differences, of which two calls of `f` make a
#' directional derivative, and two for each element of the operands a gradient. The step is about 6e-6 of the operand's
#' largest element (or of 1), which leaves about ten correct digits of a smooth `f` that computes in double precision.
#' There are no second derivatives by differences, none of complex numbers, and none of arrays that come several times
#' (`*k`): these are refused.
#'
#' @param f An R function.
#' @param signature What it takes and gives, see [ffi_signature()]: for example
#'   `"x: f64[n], k: i32[] -> y: f64[n]"`.
#' @param vectorized Whether `f` takes a whole batch.
#' @param name The op's name in messages and in programs.
#' @param dtypes What variables for dtypes in the signature stand for: a list such as `list(T = c("f32", "f64"))`, which
#'   is the default for each.
#' @param side_effect `TRUE` if calls must not be left out, `"ordered"` if they come in the order of the program as
#'   well.
#' @param jvp,vjp,transpose,vmap Rules, as for [ffi_op()]; `jvp` may be `"numeric"`.
#' @return An op: a function of R data, buffers and [values][xlaffi_value].
#' @seealso [ffi_signature()], [ffi_op()], [hlo_custom_call()].
#' @examplesIf plugins_downloaded()
#' roots <- ffi_callback(function(p) polyroot(p), "p: f64[n] -> z: c128[n - 1]")
#' xla_jit(function(p) abs(roots(p * 2)))(c(6, -5, 1))
#'
#' show <- ffi_callback(function(x) cat("x is", x, "\n"), "x: f64[n] ->", side_effect = "ordered")
#' invisible(xla_jit(function(x) {
#'   show(x)
#'   x + 1
#' })(c(1, 2)))
#' @export
ffi_callback <- function(f, signature, vectorized = FALSE, name = NULL, dtypes = list(), side_effect = FALSE,
                         jvp = NULL, vjp = NULL, transpose = NULL, vmap = NULL) {
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, not %s", describe(f)), operand = "f")
  }
  check_flag(vectorized, "vectorized")
  if (is.null(name)) {
    name <- if (is.name(substitute(f))) paste0("r.", as.character(substitute(f))) else "r.callback"
  }
  check_own_name(name)
  check_side_effect(side_effect, "side_effect")
  parts <- read_signature(signature)
  if (identical(jvp, "numeric")) {
    jvp <- numeric_jvp(f, parts, vectorized, name, dtypes)
  } else if (is.character(jvp)) {
    abort(sprintf("`jvp` must be a function, \"numeric\" or NULL, not %s", describe(jvp)), operand = "jvp")
  }
  pointer <- new_callback(f, parts, vectorized, name, dtypes)
  new_own_op(pointer, list(jvp = jvp, vjp = vjp, transpose = transpose, vmap = vmap), has_side_effect = side_effect)
}

# The op's pointer. R keeps the function under a number, which is free again when the op is gone: XLA drops its
# programs on any thread.
new_callback <- function(f, parts, vectorized, name, dtypes, call = rlang::caller_env()) {
  wait <- getOption("xlaffi.callback_wait", 60)
  if (!is.numeric(wait) || length(wait) != 1L || is.na(wait) || wait <= 0) {
    abort(sprintf("option `xlaffi.callback_wait` must be a number of seconds, not %s", describe(wait)), call = call)
  }
  for (number in .Call(wrap__callback_released)) {
    op_state$callbacks[number] <- list(NULL)
  }
  number <- match(list(NULL), op_state$callbacks, nomatch = length(op_state$callbacks) + 1L)
  # Errors and sys.call() show the function under this name.
  shown <- make.names(sub("^r\\.", "", name))
  op_state$callbacks[[number]] <- list2env(list(
    name = as.name(shown), given = NULL, call = NULL, attributes = names(parts$attributes),
    order = c(names(parts$operands), names(parts$attributes)),
    several = names(Filter(function(spec) !is.null(spec$count), parts$operands)),
    env = list2env(stats::setNames(list(f), shown), parent = baseenv())
  ), parent = emptyenv())
  done <- .Call(
    wrap__callback_new, name, parts$text, names(dtypes), unname(dtypes), number, vectorized, wait
  )
  if (inherits(done, "xlaffi_failure")) {
    op_state$callbacks[number] <- list(NULL)
    raise(done, call)
  }
  own_registered(name, done)
}

# Rust calls this on R's thread for a program: `calls` times, for an element of a batch each, or once where that is
# negative. Where jumps are contained nobody else would hear of an interrupt.
serve_callback <- function(number, calls, contained) {
  print_waiting()
  callback <- op_state$callbacks[[number]]
  if (contained) {
    tryCatch(call_callback(callback, calls), interrupt = function(cnd) {
      .Call(wrap__callback_failed, "CANCELLED", "the R function was interrupted")
      .Call(wrap__callback_interrupted)
    })
  } else {
    call_callback(callback, calls)
  }
}

# An error leaves by return_from(): tryCatch() alone costs more than all else here.
call_callback <- function(callback, calls) {
  frame <- environment()
  withCallingHandlers(
    if (calls < 0) {
      call_once(callback, -1)
    } else {
      for (which in seq_len(calls) - 1) {
        if (!call_once(callback, which)) break
      }
    },
    error = function(cnd) {
      callback_error(cnd, rlang::trace_back())
      rlang::return_from(frame)
    }
  )
}

call_once <- function(callback, which) {
  arguments <- .Call(wrap__callback_arguments, which)
  if (is.object(arguments)) {
    raise(arguments, NULL)
  }
  # What comes any number of times and came none is an empty list.
  none <- setdiff(callback$several, names(arguments))
  if (length(none)) {
    arguments[none] <- list(list())
    arguments <- arguments[order(match(names(arguments), callback$order))]
  }
  if (!identical(names(arguments), callback$given)) {
    callback$given <- names(arguments)
    callback$call <- callback_call(callback, callback$given)
  }
  value <- eval(callback$call, arguments, callback$env)
  .Call(wrap__callback_take, which, value)
}

# `f(x, y, alpha = alpha)`: operands by position, attributes by name.
callback_call <- function(callback, names) {
  is_attribute <- names %in% callback$attributes
  arguments <- lapply(names, as.name)
  names(arguments) <- ifelse(is_attribute, names, "")
  as.call(c(list(callback$name), arguments))
}

# A program's errors are texts: R's condition is kept for a while under a number that is in the text.
callback_error <- function(cnd, trace) {
  if (is.null(cnd$trace)) {
    cnd$trace <- trace
  }
  op_state$condition_count <- op_state$condition_count + 1
  key <- as.character(op_state$condition_count)
  op_state$conditions <- c(utils::tail(op_state$conditions, 63L), stats::setNames(list(cnd), key))
  # Where memory was short, R would run the program, and the function, once more.
  own <- inherits(cnd, "xlaffi_error") && !identical(cnd$code, "RESOURCE_EXHAUSTED")
  code <- if (own) cnd$code else "UNKNOWN"
  text <- sprintf("the R function failed [R condition %s]: %s", key, conditionMessage(cnd))
  .Call(wrap__callback_failed, code, text)
}

# The R condition that a program's error speaks of, and what is to be said before it.
hooks$callback_condition <- function(message) {
  if (!grepl("[R condition ", message, fixed = TRUE)) {
    return(NULL)
  }
  key <- sub("^.*?\\[R condition ([0-9]+)\\].*$", "\\1", sub("\n.*", "", message), perl = TRUE)
  cnd <- op_state$conditions[[key]]
  if (!is.null(cnd)) {
    list(message = sub(" \\[R condition [0-9]+\\]:(.|\n)*$", "", message), parent = cnd)
  }
}
