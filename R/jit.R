#' Compile a function of values
#'
#' `xla_jit(f)` gives a function that writes `f` down as a StableHLO program, compiles it and runs
#' it. It is traced and compiled once per signature: the dtypes and shapes of the arguments.
#'
#' @details
#' R data are passed on in R's own precision: doubles as `f64`, integers `i32`, logicals `pred`,
#' complex numbers `c128`. A vector without dimensions has shape (n). With R data alone the
#' results are R arrays; with a buffer among the arguments they are buffers; with a
#' [value][xlaffi_value] they are values: inside another such function, `f` is written out.
#'
#' Arguments may be lists of data. Everything else that `f` uses is taken as it is while the program is
#' written: R's `if` and `for` decide then what the program contains.
#'
#' @param f A function of [values][xlaffi_value] that gives a value or a (named) list of values.
#' @return A function of R data, buffers or values.
#' @seealso [ffi_program()] shows the program; [ffi_op()], [ffi_jvp()], [ffi_vjp()].
#' @examplesIf plugins_downloaded()
#' norm <- xla_jit(function(x) sqrt(sum(x^2)))
#' norm(c(3, 4))
#' norm(pjrt_buffer(c(3, 4), "f32"))
#' @export
xla_jit <- function(f) {
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, not %s", describe(f)), operand = "f")
  }
  programs <- new.env(parent = emptyenv())
  compiled <- function(...) {
    arguments <- list(...)
    leaves <- tree_leaves(arguments)
    if (any_of_class(leaves, c("xlaffi_value", "xlaffi_type"))) {
      call <- rlang::current_env()
      return(do.call(f, Map(
        function(argument, name) tree_map(argument, as_value, name, call = call),
        arguments, rlang::names2(arguments)
      )))
    }
    types <- argument_types(arguments)
    key <- signature_key(types)
    if (is.null(programs[[key]])) {
      programs[[key]] <- compile_function(f, types)
    }
    program <- programs[[key]]
    outputs <- run_leaves(program, leaves)
    if (!any_of_class(leaves, "xlaffi_buffer")) {
      outputs <- lapply(outputs, as_array)
    }
    tree_fill(program$results, outputs)
  }
  structure(compiled, class = c("xlaffi_jit", "function"))
}

any_of_class <- function(leaves, class) any(vapply(leaves, inherits, NA, what = class))

# Names, dtypes and shapes of the arguments.
signature_key <- function(types) {
  leaves <- vapply(tree_leaves(types), type_text, "")
  paste(c(leaves, deparse(tree_map(types, function(type) 0))), collapse = " ")
}

compile_function <- function(f, types) {
  program <- trace_program(f, types)
  program$executable <- pjrt_compile(pjrt_program(program$text))
  program
}

run_leaves <- function(program, leaves) {
  buffers <- lapply(leaves, function(leaf) {
    if (inherits(leaf, "xlaffi_buffer")) leaf else pjrt_buffer(leaf, r_dtype(leaf))
  })
  do.call(pjrt_execute, c(list(program$executable), unname(buffers), simplify = FALSE))
}

#' @export
print.xlaffi_jit <- function(x, ...) {
  cat("<function of R data, buffers and values, compiled by XLA>\n")
  invisible(x)
}
