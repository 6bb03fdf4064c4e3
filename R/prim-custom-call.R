#' A custom call in a program
#'
#' Puts a `stablehlo.custom_call` with typed FFI (`api_version = 4`) into the program.
#'
#' @param target The name under which the handler is registered, see [ffi_targets()].
#' @param operands A value or a list of values; tokens ([hlo_token()]) among them.
#' @param results What comes back: a type ([ffi_type()]) or anything that has a dtype and a shape,
#'   or a (named) list of them. `ffi_type("token")` is a token for calls that come later.
#' @param attributes A named list; [ffi_attribute()] tells what R types become. Names that a handler of this package
#'   does not know are an error.
#' @param operand_layouts,result_layouts How the arrays lie in memory. `NULL` or `"row"`: by rows.
#'   `"column"`: matrices by columns, the batch axes before them by rows, for every array of 2 or more
#'   axes. Or a list with, for each array, one of these or its axes (counted from 1), that which runs
#'   fastest first.
#' @param aliases Results that may take the memory of an operand: a list of
#'   `c(operand, result)`, counted from 1.
#' @param has_side_effect Whether the call must stay though nobody uses its results, and be made as often as it is
#'   written: calls without side effects of the same target, operands and attributes are made once. `"ordered"`: and
#'   the included CPU plugin makes all such calls, and those of `print_tensor`, in the order of the
#'   program, whatever their handlers. On other platforms XLA may order them by data flow alone. In a program over
#'   several devices the first device makes such a call, once and with the whole arrays; inside of [xla_shard_map()]
#'   each device makes it.
#' @param vmap_method How [xla_vmap()] works on the call: `"sequential"`, `"expand_dims"`,
#'   `"broadcast_all"` or `NULL`, see [ffi_call()].
#' @return A value, or a list of values as `results`; `NULL`, invisibly, where there are none.
#' @examplesIf plugins_downloaded()
#' factors <- xla_jit(function(a) {
#'   n <- nrow(a)
#'   hlo_custom_call("lu", a, list(lu = a, pivots = ffi_type("i32", n)),
#'     operand_layouts = "column", result_layouts = "column"
#'   )
#' })
#' factors(matrix(c(4, 2, 1, 3), 2))
#' @export
hlo_custom_call <- function(target, operands, results, attributes = list(), operand_layouts = NULL,
                            result_layouts = NULL, aliases = list(), has_side_effect = FALSE,
                            vmap_method = NULL) {
  check_given(target, operands, results)
  check_string(target, "target")
  check_side_effect(has_side_effect, "has_side_effect")
  check_vmap_method(vmap_method)
  call <- environment()
  attributes <- check_attribute_names(attributes, target, call)
  custom_call(target, operands, results, attributes, operand_layouts, result_layouts, aliases, has_side_effect,
    vmap_method, call = call
  )
}

# `own` marks a call of an op of the user's own: the attribute that says which definition it means. Of such calls the
# handler knows what axes of batches are.
custom_call <- function(target, operands, results, attributes, operand_layouts, result_layouts, aliases,
                        has_side_effect, vmap_method, own = NULL, call = rlang::caller_env()) {
  inputs <- lapply(tree_leaves(operands), as_value, "operands", call = call)
  types <- lapply(tree_leaves(results), function(result) {
    if (!is_value(result) && !is_type(result)) {
      abort(sprintf("`results` must be types made by ffi_type(), not %s", describe(result)),
        op = target, operand = "results", call = call
      )
    }
    type_of(result)
  })
  node <- new_node("custom_call", inputs, types, list(
    target = target, owner = trace_state$owner,
    attributes = attributes_text(own_marks(attributes, own, 0L), target, call),
    own = if (!is.null(own)) list(attributes = attributes, mark = own, batch_axes = 0L),
    operand_layouts = check_layouts(operand_layouts, inputs, "operand_layouts", call),
    result_layouts = check_layouts(result_layouts, types, "result_layouts", call),
    aliases = check_aliases(aliases, inputs, types, call),
    has_side_effect = !isFALSE(has_side_effect), ordered = is_ordered(has_side_effect),
    vmap_method = vmap_method
  ))
  if (node$params$has_side_effect) {
    record_effect(node)
  }
  if (length(types)) tree_fill(results, node_values(node)) else invisible()
}

# With the names that the handler of own ops looks for
own_marks <- function(attributes, mark, batch_axes) {
  if (!is.null(mark)) {
    attributes[["xlaffi.op"]] <- mark
    if (batch_axes > 0L) {
      attributes[["xlaffi.batch"]] <- raw_attribute(batch_axes, "i64")
    }
  }
  attributes
}

# What our handler refuses when it runs, where the call is written. JAX's targets are left to the handlers: programs
# of other versions of JAX carry more than ours.
check_attribute_names <- function(attributes, target, call) {
  own <- if (length(attributes) && !grepl("^(lapack|cusolver|cu)_", target)) own_target(target)
  if (is.null(own)) {
    return(attributes)
  }
  known <- strsplit(own$attributes, ", ", fixed = TRUE)[[1L]]
  unknown <- setdiff(names(attributes), c(known, ""))
  if (length(unknown)) {
    all <- if (length(known)) sprintf("The attributes are: %s.", toString(known)) else "It has none."
    abort(sprintf("%s: there is no attribute `%s`", target, unknown[[1L]]),
      op = target, operand = unknown[[1L]], call = call, hint = name_hint(unknown[[1L]], known, "`%s`", all)
    )
  }
  attributes
}

is_ordered <- function(has_side_effect) identical(has_side_effect, "ordered")

check_side_effect <- function(x, name, call = rlang::caller_env()) {
  if (!is_ordered(x) && !isTRUE(x) && !isFALSE(x)) {
    abort(
      sprintf("`%s` must be TRUE, FALSE or \"ordered\", not %s", name, describe(x)),
      operand = name, call = call
    )
  }
}

# For each array its axes, the fastest first.
check_layouts <- function(layouts, types, name, call) {
  if (!is.list(layouts)) {
    layouts <- rep(list(layouts), length(types))
  }
  if (length(layouts) != length(types)) {
    abort(sprintf("`%s` must have %d entries, one per array, not %d", name, length(types), length(layouts)),
      operand = name, call = call
    )
  }
  Map(function(layout, type) {
    rank <- length(type@shape)
    # XLA's compiler divides by the number of elements where the layout is not the default one.
    plain <- is.null(layout) || identical(layout, "row")
    by_column <- identical(layout, "column")
    if (plain || (by_column && (rank < 2L || 0L %in% type@shape))) {
      rev(seq_len(rank))
    } else if (by_column) {
      c(rank - 1L, rank, rev(seq_len(rank - 2L)))
    } else if (is.numeric(layout) && setequal(layout, seq_len(rank)) && length(layout) == rank) {
      if (0L %in% type@shape) rev(seq_len(rank)) else as.integer(layout)
    } else {
      abort(
        sprintf("`%s` must be NULL, \"row\", \"column\" or the axes 1 to %d, not %s", name, rank, values_text(layout)),
        operand = name, call = call
      )
    }
  }, layouts, types)
}

check_aliases <- function(aliases, inputs, types, call) {
  if (is.numeric(aliases)) {
    aliases <- list(aliases)
  }
  lapply(aliases, function(pair) {
    fine <- is.numeric(pair) && length(pair) == 2L && pair[[1L]] %in% seq_along(inputs) &&
      pair[[2L]] %in% seq_along(types)
    if (!fine) {
      abort(
        sprintf(
          "`aliases` must be pairs c(operand, result) up to c(%d, %d), not %s",
          length(inputs), length(types), values_text(pair)
        ),
        operand = "aliases", call = call
      )
    }
    pair <- as.integer(pair)
    if (!same_type(inputs[[pair[[1L]]]], types[[pair[[2L]]]])) {
      abort(
        sprintf(
          "`aliases`: operand %d is %s, but result %d is %s", pair[[1L]], type_text(inputs[[pair[[1L]]]]),
          pair[[2L]], type_text(types[[pair[[2L]]]])
        ),
        operand = "aliases", call = call
      )
    }
    pair
  })
}

layouts_text <- function(layouts) {
  one <- function(axes) {
    sprintf("dense<%s> : tensor<%dxindex>", if (length(axes)) axes_text(axes) else "", length(axes))
  }
  sprintf("[%s]", paste(vapply(layouts, one, ""), collapse = ", "))
}

aliases_text <- function(aliases, count) {
  one <- function(pair) {
    sprintf(
      paste0(
        "#stablehlo.output_operand_alias<output_tuple_indices = [%s], operand_index = %d, ",
        "operand_tuple_indices = []>"
      ),
      if (count > 1L) pair[[2L]] - 1L else "", pair[[1L]] - 1L
    )
  }
  sprintf("[%s]", paste(vapply(aliases, one, ""), collapse = ", "))
}

custom_call_text <- function(node, operands, scope) {
  p <- node$params
  if (p$has_side_effect && !is.null(scope$mesh)) {
    return(once_text(node, operands, scope))
  }
  fields <- c(
    "api_version = 4 : i32", sprintf("backend_config = %s", p$attributes),
    sprintf("operand_layouts = %s", layouts_text(p$operand_layouts)),
    sprintf("result_layouts = %s", layouts_text(p$result_layouts)),
    if (length(p$aliases)) {
      sprintf("output_operand_aliases = %s", aliases_text(p$aliases, length(node$types)))
    },
    if (p$has_side_effect) "has_side_effect = true",
    # The CPU plugin looks for this mark.
    if (isTRUE(p$ordered)) "mhlo.frontend_attributes = {xlaffi.ordered = \"true\"}"
  )
  sprintf(
    "stablehlo.custom_call @%s(%s) {%s} : %s", target_text(p$target), toString(operands), toString(fields),
    signature_text(node)
  )
}

# A symbol of MLIR: quoted unless it is a plain name.
target_text <- function(target) {
  if (grepl("^[A-Za-z_][A-Za-z0-9_$.]*$", target)) target else mlir_string(target)
}

own_target <- function(target) {
  # What the package calls by itself is not looked up: the list of all takes as long as twenty nodes.
  if (startsWith(target, private_prefix)) {
    return(NULL)
  }
  targets <- ffi_targets()
  own <- targets[targets$target == target & !is.na(targets$operands), ]
  if (nrow(own)) own
}

vmap_methods <- c("sequential", "expand_dims", "broadcast_all")

check_vmap_method <- function(method, call = rlang::caller_env()) {
  if (!is.null(method) && !(is.character(method) && length(method) == 1L && method %in% vmap_methods)) {
    abort(
      sprintf(
        "`vmap_method` must be NULL or one of %s, not %s",
        paste(dQuote(vmap_methods, FALSE), collapse = ", "), describe(method)
      ),
      operand = "vmap_method", call = call
    )
  }
}

# An attribute whose text is known.
raw_attribute <- function(number, dtype) {
  structure(list(text = paste(number, ":", dtype)), class = "xlaffi_attribute")
}

custom_call_vmap <- function(node, inputs, mapped, size) {
  p <- node$params
  method <- p$vmap_method
  if (is.null(method)) {
    abort(sprintf("%s has no `vmap_method`, so there are no batches of it", node_title(node)),
      "UNIMPLEMENTED", op = public_target(p$target), operand = "vmap_method", call = NULL,
      hint = sprintf("`ffi_call(vmap_method = )` is one of %s.", paste(dQuote(vmap_methods, FALSE), collapse = ", "))
    )
  }
  if (method == "sequential") {
    return(hooks$batch_one_by_one(node, inputs, mapped, size))
  }
  inputs <- if (method == "broadcast_all") {
    all_in_front(inputs, mapped, size)
  } else {
    all_in_front(inputs, mapped, 1L)
  }
  # The batch axis is the slowest one.
  with_batch <- function(layouts) lapply(layouts, function(axes) c(axes + 1L, 1L))
  p$operand_layouts <- with_batch(p$operand_layouts)
  p$result_layouts <- with_batch(p$result_layouts)
  types <- lapply(node$types, batch_type, size)
  # Memory of another size cannot be taken over.
  p$aliases <- Filter(function(pair) same_type(inputs[[pair[[1L]]]], types[[pair[[2L]]]]), p$aliases)
  if (!is.null(p$own)) {
    p$own$batch_axes <- p$own$batch_axes + 1L
    p$attributes <- attributes_text(own_marks(p$own$attributes, p$own$mark, p$own$batch_axes), p$target)
  }
  call <- new_node(node$op, inputs, types, p)
  if (p$has_side_effect) {
    record_effect(call)
  }
  node_values(call)
}

primitive("custom_call",
  text = custom_call_text,
  vmap = custom_call_vmap,
  # What acts may find something else on each device.
  replication = function(node, given, known) {
    rep(list(if (node$params$has_side_effect) mesh_axes(known) else all_of(given)), length(node$types))
  },
  export = function(node) {
    p <- node$params
    names <- c("target", "operand_layouts", "result_layouts", "aliases", "has_side_effect", "ordered")
    list(attributes = c(p[names], list(backend_config = p$attributes)), operands = length(node$inputs))
  }
)
