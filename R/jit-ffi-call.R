#' Call a handler like a function
#'
#' Makes a function of R arrays, buffers or values of the custom call `target`, as `jax.ffi.ffi_call`
#' does in Python. The program round the call is written, compiled and kept on its own.
#'
#' @details
#' Operands go by position, or by the names of the arguments of `results`, where that is a function. Where it is
#' not, the names are those that [ffi_targets()] tells of our own handlers; operands of others have none. Like
#' [xla_jit()]'s, the function gives R data for R data, buffers where an argument is a buffer, and
#' values inside another program; R numbers beside buffers adapt as there. A call without results gives
#' `NULL`, invisibly.
#'
#' What `vmap_method` means for [xla_vmap()], with batches of `b` elements:
#' * `"sequential"`: the handler is called `b` times, in a loop inside the program.
#' * `"expand_dims"`: it is called once. Operands and results have one more axis in front, of length
#'   `b`; that of operands that are not mapped has length 1.
#' * `"broadcast_all"`: as `"expand_dims"`, with operands that are not mapped repeated `b` times.
#' * `NULL`: there is no batching; trying is an error.
#'
#' @param target The name under which the handler is registered, see [ffi_targets()] and
#'   [pjrt_register_custom_call()].
#' @param results The types of the results: one [ffi_type()], a (named) list of them, or a function
#'   that is given the operands' types and returns such.
#' @param attributes A named list; [ffi_attribute()] tells what R types become. Names that a handler of this package
#'   does not know are an error when the call is written.
#' @inheritParams hlo_custom_call
#' @param jvp,vmap,vjp Rules for derivatives and batches, as [ffi_op()] has them. Where `vmap` is NULL,
#'   `vmap_method` counts.
#' @param check_target Whether to look up `target` before the program is compiled. `FALSE` is for
#'   handlers that only the plugin itself knows.
#' @return An op: a function of the operands, class `xlaffi_op`.
#' @seealso [xla_program()] shows its program; `vignette("ffi-call")`.
#' @examplesIf plugins_downloaded()
#' lu <- ffi_call("lu", function(a) list(lu = a, pivots = ffi_type("i32", min(shape(a)))),
#'   operand_layouts = "column", result_layouts = "column"
#' )
#' lu(matrix(c(4, 2, 1, 3), 2))
#'
#' kepler <- ffi_call("kepler", function(M, e) list(sin = M, cos = M), vmap_method = "broadcast_all")
#' kepler(c(0.1, 1), c(0.5, 0.3))
#' @export
ffi_call <- function(target, results, attributes = list(), operand_layouts = NULL, result_layouts = NULL,
                     aliases = list(), has_side_effect = FALSE, vmap_method = NULL, jvp = NULL, vmap = NULL,
                     check_target = TRUE, vjp = NULL) {
  check_string(target, "target")
  check_side_effect(has_side_effect, "has_side_effect")
  check_flag(check_target, "check_target")
  check_vmap_method(vmap_method)
  # Told here, and not at the first call.
  attributes_text(attributes, target)
  if (!is.function(results)) {
    check_results(results, target)
  }
  check_rule(jvp, "jvp", target)
  check_rule(vmap, "vmap", target)
  check_vjp(vjp, target)
  run <- function(...) {
    operands <- unname(list(...))
    env <- environment()
    if (check_target) {
      check_registered(target, env)
    }
    types <- if (is.function(results)) results_for(results, operands, target, env) else results
    hlo_custom_call(
      target, operands, types, attributes, operand_layouts, result_layouts, aliases, has_side_effect, vmap_method
    )
  }
  arrange <- function(arguments) operands_in_order(arguments, target, results)
  new_op(run, list(jvp = jvp, vmap = vmap, transpose = NULL, vjp = vjp), target, arrange, list(results))
}

# Operands under the names that the rule for results gives them, or our own handlers have for them.
operands_in_order <- function(arguments, target, results) {
  given <- names2(arguments)
  absent <- vapply(arguments, holds_null, NA)
  if (any(absent)) {
    first <- which(absent)[[1L]]
    name <- if (nzchar(given[[first]])) sprintf("`%s`", given[[first]]) else first
    abort(sprintf("%s: operand %s is NULL", target, name), op = target, operand = given[[first]], call = NULL)
  }
  known <- if (is.function(results)) names(formals(args(results))) else names_of_operands(target)
  if (is.null(known) || "..." %in% known || (!any(nzchar(given)) && length(given) > length(known))) {
    if (any(nzchar(given))) {
      abort(sprintf("%s: operands go by position, as their names are not known", target),
        op = target, operand = given[nzchar(given)][[1L]], call = NULL,
        hint = "A function as `results` gives the operands the names of its arguments."
      )
    }
    return(arguments)
  }
  arranged <- named_arguments(taking(known), arguments, target)
  before <- setdiff(known[seq_along(arranged)], names(arranged))
  if (length(before)) {
    abort(sprintf("%s: operand `%s` is missing", target, before[[1L]]),
      op = target, operand = before[[1L]], call = NULL
    )
  }
  arranged
}

holds_null <- function(x) is.null(x) || (is_branch(x) && any(vapply(x, holds_null, NA)))

# Of a target that we answer; NULL of others.
names_of_operands <- function(target) {
  own <- own_target(target)
  if (!is.null(own)) strsplit(own$operands, ", ", fixed = TRUE)[[1L]]
}

check_results <- function(results, target, call = rlang::caller_env()) {
  for (leaf in tree_leaves(results)) {
    if (!is_type(leaf)) {
      abort(sprintf("`results` must be types made by ffi_type(), a list of them or a function, not %s", describe(leaf)),
        op = target, operand = "results", call = call
      )
    }
  }
}

# What the function `results` says for these operands.
results_for <- function(results, operands, target, call) {
  types <- lapply(operands, function(operand) tree_map(operand, function(leaf) type_of(as_value(leaf, "operands"))))
  given <- types_text(tree_leaves(types))
  types <- tryCatch(call_written(results, types, "results"), error = function(e) {
    abort(sprintf("`results` fails for operands %s: %s", given, conditionMessage(e)),
      op = target, operand = "results", call = call
    )
  })
  check_results(types, target, call)
  types
}

# An unknown target would only be an error of XLA's, with less to go by.
check_registered <- function(target, call) {
  known <- unique(ffi_targets()$target)
  if (target %in% known) {
    return(invisible())
  }
  abort(sprintf("no handler is registered for custom call \"%s\"", target),
    code = "NOT_FOUND", op = target, operand = "target", call = call,
    hint = c(
      name_hint(target, known, "\"%s\""),
      "`ffi_targets()` lists all, `pjrt_register_custom_call()` adds one."
    )
  )
}
