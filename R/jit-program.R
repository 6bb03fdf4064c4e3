#' The program of a function
#'
#' The StableHLO text that [xla_jit()] compiles for such arguments. Comments before it name the operations that made a
#' sparse derivative (`sparse = TRUE` of [xla_hessian()] and [xla_jacobian()]) fuller than it need be, if any.
#'
#' @section Errors:
#' What [xla_jit()] would refuse is refused here: arguments that are no data, results that are no values.
#'
#' @param f A function of [values][xlaffi_value], or what [xla_jit()], [ffi_op()], [ffi_call()]
#'   and the like return.
#' @param ... Arguments for it: R data, buffers, or their types ([ffi_type()]).
#' @return A string, class `xlaffi_text`, that prints as it is. [pjrt_program()] takes it.
#' @examplesIf plugins_downloaded()
#' xla_program(function(x, y) x * y + 1, c(1, 2, 3), ffi_type("f64", 3))
#' @export
xla_program <- function(f, ...) {
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, not %s", describe(f)), operand = "f")
  }
  arguments <- tree_map(list(...), program_data)
  types <- argument_types(arguments)
  env <- if (inherits(f, "xlaffi_jit")) environment(f)
  placed <- placed_arguments(f, env$shardings, arguments, types, rlang::current_env())
  # What it does with its arguments and results stands in the attributes of the program's.
  inner <- if (is.null(env$shardings)) f else env$f
  labels <- lapply(unname(as.list(tree_leaves(arguments))), data_labels)
  traced <- trace_program(inner, types, mesh = placed$mesh, labels = if (length(labels)) labels else list(NULL))
  text <- program_text(traced$region, program_layout(traced, placed, env$shardings), default_platform())
  notes <- sprintf("// %s\n", traced$opaque)
  structure(paste(c(notes, text), collapse = ""), class = "xlaffi_text")
}

#' @export
print.xlaffi_text <- function(x, ...) {
  check_print_dots(...)
  cat(x)
  invisible(x)
}
