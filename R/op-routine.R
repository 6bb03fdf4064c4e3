#' A package's routine as an op
#'
#' Makes an op of a C or Fortran routine that a package has for [.C()] or [.Fortran()]: a function whose arguments
#' are all pointers.
#'
#' @details `arguments` names, in the order of the routine, what each argument points to: an array of the signature,
#' a dimension or an attribute (numbers: a copy as an `int` or in the attribute's dtype). Routines for `.C()` and
#' `.Fortran()` know `i32` and `f64` (and `c128`), and matrices in `column` order. What the routine overwrites must
#' be a result (in place if it is an operand too) or scratch memory: operands belong to XLA. Constants are attributes
#' with a default. NA, NaN and infinite numbers reach the routine as they are, as with `NAOK = TRUE` in `.C()`.
#'
#' # On which thread
#' R's own functions in C, such as `error()`, `R_alloc()`, `unif_rand()`, `Rprintf()` and `R_CheckUserInterrupt()`, work
#' on R's thread alone. With `thread = "r"` the routine runs there, by way of `.C()` or `.Fortran()`, as a function of
#' [ffi_callback()] does (which says when that is): all that it may do in R it may do in a program. An R error in it is
#' the program's error, with R's condition as its parent. A call takes some 20 us more, and arrays are copied.
#'
#' With `thread = "any"` the routine is called where XLA computes, on XLA's own arrays, at the price of a function call.
#' It must only compute: **if it calls `error()` there, or anything else of R's, the R session crashes or goes on in a
#' broken state, and nothing can catch that**. It is run by one thread at a time for the elements of one batch, and it
#' must allow for calls of other programs at the same time.
#'
#' C++ exceptions that leave the routine are caught on either thread and become the program's error.
#'
#' @param routine What [getNativeSymbolInfo()] returns, or an element of what [getDLLRegisteredRoutines()] returns.
#' @param thread `"r"`: R's; `"any"`: XLA's, for routines that use nothing of R's. See details.
#' @inheritParams ffi_load
#' @return An op, see [ffi_source()].
#' @seealso [ffi_load()] for functions of other libraries.
#' @examplesIf plugins_downloaded()
#' # Levinson and Durbin's recursion, which stats::ar() calls: solves toeplitz(r) f = g for all orders
#' eureka <- ffi_routine(
#'   "r: f64[lr + 1], g: f64[k]; lr: i32 -> f: f64[lr, lr] column, var: f64[lr]; a: f64[lr]",
#'   getDLLRegisteredRoutines("stats")$.Fortran$eureka, c("lr", "r", "g", "f", "var", "a")
#' )
#' @export
ffi_routine <- function(signature, routine, arguments, name = NULL, thread = c("r", "any"), side_effect = FALSE,
                        jvp = NULL, vjp = NULL, transpose = NULL, vmap = NULL) {
  check_given(signature, routine, arguments)
  if (!inherits(routine, "NativeSymbolInfo")) {
    abort(sprintf("`routine` must be what getNativeSymbolInfo() returns, not %s", describe(routine)),
      operand = "routine"
    )
  }
  refused <- intersect(class(routine), c("CallRoutine", "ExternalRoutine"))
  if (length(refused)) {
    abort(
      sprintf("%s is a routine for `%s`: its arguments are R objects", dQuote(routine$name, FALSE),
        c(CallRoutine = ".Call()", ExternalRoutine = ".External()")[[refused[[1L]]]]
      ),
      operand = "routine"
    )
  }
  arguments <- check_strings(arguments, "arguments")
  thread <- check_choice(thread, "thread", c("r", "any"))
  count <- routine$numParameters
  if (!is.null(count) && count >= 0L && count != length(arguments)) {
    abort(sprintf("%s has %d arguments, not %d", dQuote(routine$name, FALSE), count, length(arguments)),
      operand = "arguments"
    )
  }
  op <- list(name = if (is.null(name)) routine$name else name, text = signature)
  check_op_name(op$name, environment())
  words <- argument_words(arguments, signature, op$name, addresses = TRUE)
  rules <- list(jvp = jvp, vjp = vjp, transpose = transpose, vmap = vmap)
  if (thread == "r") {
    check_side_effect(side_effect, "side_effect")
    parts <- read_signature(signature)
    caller <- routine_caller(parts, routine, arguments, op$name)
    return(new_own_op(new_callback(caller, parts, FALSE, op$name, list()), rules, side_effect))
  }
  options <- loaded_options(FALSE, side_effect, FALSE)
  library <- routine[["dll"]][["path"]]
  options$common <- library_common(library, routine$name, signature, arguments)
  options$digest <- text_digest(c(if (!is.null(library)) file_stamp(library), routine$name, signature, arguments))
  loaded_op(op, list(routine$address), words, options, rules)
}

# An R function of operands and attributes, as ffi_callback() takes it, that calls the routine.
routine_caller <- function(parts, routine, arguments, op, call = rlang::caller_env()) {
  check_routine_parts(parts, arguments, op, call)
  shapes <- lapply(c(parts$operands, parts$results, parts$scratch), function(array) {
    list(dims = lapply(array$dims, str2lang), order = memory_order(length(array$dims), array$order))
  })
  # Results that are operands too come as these.
  made <- c(parts$results, parts$scratch)
  made <- made[setdiff(names(made), names(parts$operands))]
  interface <- if (inherits(routine, "FortranRoutine")) quote(.Fortran) else quote(.C)
  # XLA's bits as they are, as with `thread = "any"`: NaN and NA are numbers here.
  calling <- as.call(c(interface, quote(.routine), lapply(arguments, as.name), NAOK = TRUE))
  guarded <- check(.Call(wrap__routine_new, op, routine$address, as.double(length(arguments))), call)
  function(...) {
    given <- list(...)
    unnamed <- seq_along(parts$operands)
    names(given)[unnamed] <- names(parts$operands)
    sizes <- routine_sizes(parts, given)
    dims_of <- function(name) vapply(shapes[[name]]$dims, eval, 0, sizes)
    for (name in names(parts$operands)) {
      given[[name]] <- to_memory(given[[name]], shapes[[name]]$order)
    }
    for (name in names(made)) {
      given[[name]] <- vector(routine_modes[[made[[name]]$dtype]], prod(dims_of(name)))
    }
    for (name in parts$dims) {
      if (abs(sizes[[name]]) > .Machine$integer.max) {
        abort(sprintf("%s: the dimension `%s` is %.0f, which is no `int`", op, name, sizes[[name]]),
          code = "OUT_OF_RANGE", op = op, operand = name, call = NULL
        )
      }
      given[[name]] <- as.integer(sizes[[name]])
    }
    # What it throws must not pass R's own frames.
    given[[".routine"]] <- check(.Call(wrap__routine_guarded, guarded))
    values <- eval(calling, given)
    thrown <- check(.Call(wrap__routine_thrown))
    if (!is.null(thrown)) {
      abort(sprintf("%s: threw %s", op, thrown), code = "INTERNAL", op = op, call = NULL)
    }
    lapply(stats::setNames(nm = names(parts$results)), function(name) {
      from_memory(values[[match(name, arguments)]], dims_of(name), shapes[[name]]$order)
    })
  }
}

# What `.C()` and `.Fortran()` take, by dtype.
routine_modes <- c(i32 = "integer", f64 = "double", c128 = "complex")

check_routine_parts <- function(parts, arguments, op, call) {
  refuse <- function(fault, name) {
    abort(sprintf("%s: `%s` %s", op, name, fault),
      op = op, operand = name, call = call, hint = "`thread = \"any\"` has more kinds, for routines that only compute."
    )
  }
  for (array in c(parts$operands, parts$results, parts$scratch, parts$attributes)) {
    if (!array$dtype %in% names(routine_modes)) {
      refuse(sprintf("must be of dtype i32, f64 or c128 for `.C()` and `.Fortran()`, not %s", array$dtype), array$name)
    }
    if (isTRUE(array$optional) || !is.null(array$count)) {
      refuse("is optional or comes several times, which `.C()` and `.Fortran()` do not know", array$name)
    }
  }
  twice <- intersect(arguments[duplicated(arguments)], names(parts$results))
  if (length(twice)) {
    refuse("is a result and is among `arguments` twice, of which `.C()` and `.Fortran()` make two copies", twice[[1L]])
  }
}

# The values of all names that dimensions follow from, and what R means by the division of a signature.
routine_sizes <- function(parts, given) {
  sizes <- list(`/` = function(a, b) a %/% b)
  for (operand in parts$operands) {
    value <- given[[operand$name]]
    dims <- if (is.null(dim(value))) length(value) else dim(value)
    for (i in seq_along(operand$dims)) {
      sizes[[operand$dims[[i]]]] <- as.double(dims[[i]])
    }
  }
  for (attribute in parts$attributes) {
    value <- given[[attribute$name]]
    if (is.null(attribute$length)) {
      sizes[[attribute$name]] <- as.double(value)
    } else {
      sizes[[attribute$length]] <- as.double(length(value))
    }
  }
  sizes
}

# The axes of an array in the order in which they run in memory, the fastest first.
memory_order <- function(rank, order) {
  axes <- rev(seq_len(rank))
  if (rank > 1L && order == "column") c(axes[2:1], axes[-(1:2)]) else axes
}

to_memory <- function(x, order) {
  as.vector(if (length(order) > 1L && is.unsorted(order)) aperm(x, order) else x)
}

from_memory <- function(x, dims, order) {
  if (length(order) < 2L) {
    return(x)
  }
  x <- array(x, dims[order])
  if (is.unsorted(order)) aperm(x, order(order)) else x
}
