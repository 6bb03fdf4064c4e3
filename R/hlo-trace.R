# Runs `f` on values of the given types and gives the program that it wrote: its `region`. `arguments` is a list
# of trees of types, `results` a tree of types; `present` is what `f` has set, a function that makes of the results of a
# run what its caller gets. `platform` is where it is going to run, `mesh` on which devices if these are several; what
# `f` does may make it a program for a mesh, see use_mesh().
trace_program <- function(f, arguments, platform = default_platform(), mesh = NULL, labels = list(NULL)) {
  own <- c("platform", "undecided", "mesh", "manual", "names_read", "branch", "present")
  outer <- mget(own, the, ifnotfound = list(NULL))
  the$branch <- whole <- new.env(parent = emptyenv())
  on.exit({
    list2env(outer, the)
    whole$ended <- TRUE
  })
  the$platform <- platform
  the$mesh <- mesh
  the$undecided <- the$manual <- the$names_read <- the$present <- NULL
  check_no_tokens(tree_leaves(arguments), "a program cannot be given a token")
  tree <- NULL
  seed <- random_state()
  region <- trace_region(function(params) {
    params <- if (length(params)) Map(labelled, params, labels) else params
    tree <<- with_written_calls(call_written(f, tree_fill(arguments, params)))
    if (!is.null(the$undecided)) stop(the$undecided)
    check_no_draws(seed)
    results <- lapply(tree_leaves(tree), result_value)
    check_no_tokens(results, "the function returns a token, which a program cannot give back")
    results
  }, tree_leaves(arguments))
  list(
    region = region, results = tree_fill(tree, lapply(region$results, type_of)), mesh = the$mesh,
    names_read = isTRUE(the$names_read), present = the$present
  )
}

result_value <- function(x) {
  x <- r_data(x)
  if (!is_value(x) && !is_data(x)) {
    abort(sprintf("the function's result must be values of the program, numbers or logicals, not %s", describe(x)),
      operand = "f", hint = if (!inherits(x, "xlaffi_buffer")) data_hint(x), call = NULL
    )
  }
  problem <- if (!is_value(x)) na_problem(x, r_dtype(x))
  if (!is.null(problem)) {
    abort(paste("the function's result", problem), operand = "f", hint = na_hint(x), call = NULL)
  }
  as_value(x, "f", call = NULL)
}

default_platform <- function() Sys.getenv("PJRT_PLATFORM", "cpu")

# The type of an argument: of a buffer its own, of R data that in which they are passed on.
argument_type <- function(x, name, call = rlang::caller_env()) {
  if (is_type(x)) {
    return(x)
  }
  if (is_value(x)) {
    return(type_of(x))
  }
  if (inherits(x, "xlaffi_buffer")) {
    info <- buffer_info(x, call)
    return(new_type(info$dtype, info$shape))
  }
  if (is_sharded(x)) {
    return(new_type(x@dtype, x@shape))
  }
  x <- r_data(x)
  if (!is_data(x)) {
    hint <- data_hint(x)
    abort(
      sprintf("argument %s must be numbers, logicals, a buffer or a value of a program, not %s", name, describe(x)),
      operand = name, call = call,
      hint = if (is.null(hint)) "Other options can go into the function: `function(x) f(x, option)`." else hint
    )
  }
  new_type(r_dtype(x), r_shape(x))
}

# Names of the arguments for messages: the given one or the number.
argument_names <- function(arguments) {
  names <- names2(arguments)
  ifelse(nzchar(names), sprintf("`%s`", names), as.character(seq_along(arguments)))
}

argument_types <- function(arguments, call = rlang::caller_env()) {
  Map(
    function(argument, name) tree_map(argument, argument_type, name, call),
    arguments, argument_names(arguments)
  )
}

#' The program of a function
#'
#' The StableHLO text that [xla_jit()] compiles for such arguments.
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
  arguments <- list(...)
  types <- argument_types(arguments)
  env <- if (inherits(f, "xlaffi_jit")) environment(f)
  placed <- placed_arguments(f, env$shardings, arguments, types, rlang::current_env())
  # What it does with its arguments and results stands in the attributes of the program's.
  inner <- if (is.null(env$shardings)) f else env$f
  labels <- lapply(unname(as.list(tree_leaves(arguments))), data_labels)
  traced <- trace_program(inner, types, mesh = placed$mesh, labels = if (length(labels)) labels else list(NULL))
  text <- program_text(traced$region, program_layout(traced, placed, env$shardings), default_platform())
  structure(text, class = "xlaffi_text")
}

#' @export
print.xlaffi_text <- function(x, ...) {
  cat(x)
  invisible(x)
}
