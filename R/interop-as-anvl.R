#' Functions of ours in anvl, and functions of anvl's in ours
#'
#' `as_anvl()` makes a function of [values][xlaffi_value] into a primitive of the package anvl, with derivatives of
#' any order; `from_anvl()` a function of anvl's into an op. anvl has to be installed; this package does not need
#' it for anything else.
#'
#' @details
#' # as_anvl()
#' `f` may be all that [xla_jit()] takes and all that it makes: linear algebra ([xla_svd()] and its kin), [ffi_call()],
#' own ops ([ffi_source()], [ffi_callback()], ...), loops. anvl's `jit()`, `gradient()` and `value_and_gradient()` of
#' functions that call it work as with anvl's own primitives. Each derivative is that of [xla_vjp()], as a primitive
#' of the same kind. It computes what it needs of the function again; XLA finds that, and computes it once. A function
#' with side effects has a derivative if that does not need what they give; it does not repeat them.
#'
#' Arrays of anvl's among the arguments, in nested lists too, become values of their dtype and shape. Everything else
#' is handed on as it is, and numbers adapt to the values beside them, as in [xla_jit()]. Called outside of `jit()`,
#' anvl makes arrays of numbers; their dtype, which anvl calls ambiguous, becomes that of the first array that has
#' numbers of their kind. Arguments that are no arrays are named by `static` then, as for anvl's `jit()`.
#'
#' anvl's dtypes are `bool` (`pred` here) and integers and floating-point numbers of all sizes from `i8`, `ui8` and
#' `f32` to 64 bits: complex numbers may be computed with inside of `f`, but not be returned.
#'
#' Custom calls in `f` are answered by this package's handlers, which it gives to pjrt, on which anvl runs. Handlers
#' of yours must be known to pjrt too (its `pjrt_register_custom_call()`), unless it uses this package's CPU plugin.
#'
#' # from_anvl()
#' `g` is traced by anvl for the dtypes and shapes that it is called with; what anvl makes of it becomes a part of
#' the program. Derivatives are anvl's: reverse mode by its `gradient()`, as often as anvl can, and forward mode by
#' the transpose of that. Batches go one element after the other.
#'
#' All arguments and results are arrays, in nested lists too. Arrays that `g` captures are copied into the program. An
#' option of `g` goes into a function: `from_anvl(function(x) g(x, option))`.
#'
#' @param f A function of [values][xlaffi_value] that gives a value or a nested (named) list of values.
#' @param name What it is called in messages and in graphs.
#' @param static Names or numbers of arguments that are no arrays.
#' @param platform What anvl will run it on, `"cpu"` or `"cuda"`; `NULL`: the environment variable `PJRT_PLATFORM`, or
#'   the CPU.
#' @param g A function of anvl's arrays, jitted or not, that gives one or a nested list of them.
#' @return `as_anvl()`: a primitive, anvl's class `JitPrimitive`: a function with `f`'s arguments. `from_anvl()`: an
#'   op, see [ffi_op()].
#' @seealso [xla_graph()], by which other packages can do the same.
#' @examplesIf requireNamespace("anvl", quietly = TRUE) && plugins_downloaded()
#' singular_values <- as_anvl(function(x) xla_svd(x)$d)
#' x <- anvl::nv_array(matrix(c(2, 1, 0, 3, 1, 1), 3), dtype = "f64")
#' singular_values(x)
#' anvl::jit(anvl::gradient(function(x) sum(singular_values(x))))(x)
#'
#' cubed <- from_anvl(function(x) x * x * x)
#' xla_jit(function(x) sum(cubed(x)))(c(1, 2))
#' xla_grad(function(x) sum(cubed(x)))(c(1, 2))
#' @export
as_anvl <- function(f, name = "xlaffi", static = character(), platform = NULL) {
  check_function(f)
  check_string(name, "name")
  if (!is.null(platform)) check_string(platform, "platform")
  need_anvl("as_anvl")
  run <- function() NULL
  formals(run) <- formals(args(written_function(f)))
  # The arguments may have any name, so the body names nothing.
  body(run) <- bquote(.(function(call, env) {
    anvl_result(made, f, lapply(as.list(call)[-1L], eval, env), platform)
  })(match.call(), parent.frame()))
  made <- anvl("new_primitive")(name, run, static = static, register = FALSE)
  made[["stablehlo"]] <- function(..., program) embedded(list(...), program)
  made[["reverse"]] <- anvl("rule_reverse")(backward = function(inputs, outputs, grads, params, required) {
    anvl_shares(made, params$program, inputs, grads, required, name)
  })
  made
}

# The primitive `made` in the graph that anvl is tracing, for these arguments
anvl_result <- function(made, f, arguments, platform) {
  leaves <- tree_leaves(arguments)
  is_array <- vapply(leaves, inherits, NA, what = c("AnvlBox", "AnvlArray"))
  arrays <- adapted_arrays(leaves[is_array])
  tree <- NULL
  program <- anvl_program(function(...) {
    leaves[is_array] <- list(...)
    tree <<- call_written(f, tree_fill(arguments, leaves))
    tree_leaves(tree)
  }, lapply(arrays, type_from_anvl), platform)
  tree_fill(tree, anvl_call_of(made, program, arrays))
}

# Numbers that anvl chose a dtype for take that of the first array which has numbers of their kind.
adapted_arrays <- function(arrays) {
  chosen <- vapply(arrays, anvl("ambiguous"), NA)
  dtypes <- vapply(arrays, function(array) type_from_anvl(array)@dtype, "")
  Map(function(array, dtype, chosen) {
    kind <- if (is_float(dtype)) is_float else is_integer
    like <- if (chosen) Find(kind, dtypes[!vapply(arrays, anvl("ambiguous"), NA)])
    if (is.null(like) || like == dtype) array else anvl("nv_convert")(array, dtype = like)
  }, arrays, dtypes, chosen)
}

# What a call of the primitive computes: `f`, a function of values that gives a list of values; its graph for
# arguments of these types; and the types of its results. An environment: anvl shows it by its format().
anvl_program <- function(f, types, platform) {
  graph <- do.call(xla_graph, c(list(f), types, list(.platform = platform)))
  results <- lapply(attr(graph, "region")$results, type_of)
  if (!length(results)) {
    abort("as_anvl: `f` gives nothing, which a primitive of {anvl} cannot", operand = "f", call = NULL)
  }
  for (type in results) {
    check_anvl_type(type, "as_anvl", "a result of `f`")
  }
  program <- list(f = f, graph = graph, types = types, results = results, platform = platform)
  structure(list2env(program, parent = emptyenv()), class = "xlaffi_anvl_program")
}

#' @export
format.xlaffi_anvl_program <- function(x, ...) {
  check_format_dots(...)
  sprintf("%s -> %s", types_text(x$types), types_text(x$results))
}

anvl_call_of <- function(made, program, arrays) {
  results <- function(...) {
    lapply(program$results, function(type) anvl("AbstractArray")(anvl_dtype(type@dtype), type@shape))
  }
  anvl("graph_desc_add")(made, arrays, params = list(program = program), infer_fn = results)
}

# The cotangents of a call's inputs, NULL where none is asked for, by another call.
anvl_shares <- function(made, program, inputs, cotangents, required, name) {
  moving <- required & vapply(program$types, function(type) is_inexact(type@dtype), NA)
  given <- vapply(program$results, function(type) is_inexact(type@dtype), NA)
  shares <- vector("list", length(inputs))
  if (any(moving) && any(given)) {
    derivative <- derivative_program(program, moving, given, name)
    shares[moving] <- anvl_call_of(made, derivative, c(inputs, cotangents[given]))
  }
  shares
}

# From the inputs and the cotangents of those results that have some to the cotangents of the moving inputs
derivative_program <- function(program, moving, given, name) {
  own <- seq_along(moving)
  derivative <- anvl_program(function(...) {
    arrays <- list(...)
    primals <- arrays[own]
    cotangents <- vector("list", length(given))
    cotangents[given] <- arrays[-own]
    along <- function(...) {
      primals[moving] <- list(...)
      do.call(program$f, primals)
    }
    silently(function() tree_leaves(xla_vjp(along)(primals[moving], cotangents)$gradients))
  }, c(program$types, program$results[given]), program$platform)
  if (any_effect(derivative$graph$nodes)) {
    abort(
      sprintf("as_anvl: the derivative of `%s` would repeat calls with side effects, as it needs what they give", name),
      "UNIMPLEMENTED",
      op = name, operand = "f", call = NULL
    )
  }
  derivative
}

any_effect <- function(nodes) {
  any(vapply(nodes, function(node) {
    isTRUE(node$attributes$has_side_effect) || any(vapply(node$regions, function(x) any_effect(x$nodes), NA))
  }, NA))
}

# The program as one operation of the function that stablehlo is building, on its values
embedded <- function(values, program) {
  func <- if (length(values)) values[[1L]]$func else stablehlo(".current_func")()
  type <- function(type) stablehlo("ValueType")(anvl_dtype(type@dtype), type@shape)
  types <- lapply(program$results, type)
  ids <- lapply(types, function(type) stablehlo("ValueId")())
  inputs <- lapply(values, function(value) value$value_id)
  if (stablehlo_has_ops()) {
    op <- stablehlo("Op")(
      stablehlo("OpName")("xlaffi"),
      stablehlo("OpInputs")(
        stablehlo("OpInputValues")(lapply(inputs, stablehlo("OpInputValue"))), custom_attrs = list(program = program)
      ),
      stablehlo("OpOutputs")(lapply(ids, stablehlo("OpOutput"))),
      stablehlo("OpSignature")(
        stablehlo("ValueTypes")(lapply(values, function(value) value$value_type)), stablehlo("ValueTypes")(types)
      )
    )
    class(op) <- c("xlaffi_embedded", class(op))
    func$body <- stablehlo("FuncBody")(c(func$body, list(op)))
  } else {
    # Since 0.4.0 an operation is a function that writes its lines, and what that is called with.
    func$buf$add(list(function(ids) lines_of(program, ids$inputs, ids$outputs), list(inputs = inputs, outputs = ids)))
  }
  Map(function(id, type) stablehlo("FuncValue")(id, type, func), ids, types)
}

# The method of stablehlo's repr() for an operation
embedded_text <- function(x, ...) lines_of(x$inputs$custom_attrs$program, x$inputs$values, x$outputs)

# Names of ours begin with that of the first result, which nothing else has.
lines_of <- function(program, inputs, outputs) {
  repr <- stablehlo("repr")
  results <- vapply(outputs, repr, "")
  text <- xla_graph_text(program$graph, vapply(inputs, repr, ""), paste0("v", sub("%", "", results[[1L]])))
  types <- vapply(program$results, mlir_type, "")
  named <- sprintf("  %s = stablehlo.reshape %s : (%s) -> %s", results, text$results, types, types)
  paste(c(text$lines, named), collapse = "\n")
}
