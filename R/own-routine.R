#' A package's routine as an op
#'
#' Makes an op of a C or Fortran routine that a package has for [.C()] or [.Fortran()]: a function whose arguments
#' are all pointers.
#'
#' @details `arguments` names, in the order of the routine, what each argument points to: an array of the signature,
#' a dimension or an attribute (numbers: a copy as an `int` or in the attribute's dtype). Routines for `.C()` and
#' `.Fortran()` know `i32` and `f64` (and `c128`), and matrices in `column` order. What the routine overwrites must
#' be a result (in place if it is an operand too) or scratch memory: operands belong to XLA. Constants are attributes
#' with a default.
#'
#' The routine runs on a thread of XLA's. It must not call R's functions for errors, random numbers, memory
#' (`R_alloc()`) or printing; it is run by one thread at a time for the elements of one batch, and it must allow for
#' calls of other programs at the same time.
#'
#' @param routine What [getNativeSymbolInfo()] returns, or an element of what [getDLLRegisteredRoutines()] returns.
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
ffi_routine <- function(signature, routine, arguments, name = NULL, side_effect = FALSE, jvp = NULL, vjp = NULL,
                        transpose = NULL, vmap = NULL) {
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
  count <- routine$numParameters
  if (!is.null(count) && count >= 0L && count != length(arguments)) {
    abort(sprintf("%s has %d arguments, not %d", dQuote(routine$name, FALSE), count, length(arguments)),
      operand = "arguments"
    )
  }
  op <- list(name = if (is.null(name)) routine$name else name, text = signature)
  check_op_name(op$name, rlang::current_env())
  words <- argument_words(arguments, signature, op$name, addresses = TRUE)
  options <- loaded_options(FALSE, side_effect, FALSE)
  library <- routine[["dll"]][["path"]]
  options$digest <- text_digest(c(if (!is.null(library)) file_stamp(library), routine$name, signature, arguments))
  rules <- list(jvp = jvp, vjp = vjp, transpose = transpose, vmap = vmap)
  loaded_op(op, list(routine$address), words, options, rules)
}
