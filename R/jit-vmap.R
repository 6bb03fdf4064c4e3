#' Apply a function along an axis
#'
#' `xla_vmap(f)` gives a function that works on batches: the arguments have one more axis than `f`
#' takes, along which the elements of the batch lie, and so have the results.
#'
#' @details
#' The batch is not a loop round `f`: each operation of its program is replaced by one on the whole
#' batch. A custom call follows its `vmap_method` ([ffi_call()]), an op its own rule ([ffi_op()]).
#' What has no counterpart for batches, such as [hlo_while()], becomes a loop over the elements
#' inside the program.
#'
#' Results can be batched again, and differentiated: an op's derivative rule goes with it.
#'
#' @section An op's own rule:
#' `ffi_op(call, vmap = function(arguments, axes, size) ...)`: `arguments` are the op's, mapped ones
#' with their batch axis, of length `size`, in front. `axes` is a list like them: 1 for a mapped
#' argument, NULL for one that is the same for all elements. The rule returns the results as the
#' op does, each with the batch axis in front.
#'
#' @param f A function of [values][xlaffi_value], or what [xla_jit()], [ffi_op()], [ffi_call()],
#'   [xla_jvp()] and the like return.
#' @param in_axes The axis, counted from 1, along which the elements of an argument lie: one number
#'   for all arguments, or a list with a number for each, NULL where the argument is the same for all
#'   elements. An argument that is a list may have a list of its own. Named, the list may leave
#'   out arguments that are not mapped.
#' @param out_axes The same for the results: the axis where the batch goes. NULL for what does not
#'   depend on mapped arguments.
#' @return A function as [xla_jit()] returns it.
#' @section Errors:
#' Mapped axes of different lengths, an axis that an array has not, and no mapped argument at all are errors that name
#' the arrays with their types. Any dtype that `f` takes can be batched.
#'
#' @examplesIf plugins_downloaded()
#' norm <- function(x) sqrt(sum(x^2))
#' x <- matrix(c(3, 4, 6, 8), 2)
#' xla_vmap(norm)(x)
#' xla_vmap(norm, in_axes = 2)(x)
#'
#' # A matrix times each of several vectors
#' xla_vmap(hlo_matmul, in_axes = list(NULL, 2), out_axes = 2)(diag(2), x)
#' @export
xla_vmap <- function(f, in_axes = 1, out_axes = 1) {
  check_function(f)
  check_axes_tree(in_axes, "in_axes")
  check_axes_tree(out_axes, "out_axes")
  new_jit(function(...) {
    env <- quote(xla_vmap())
    arguments <- arranged(f, list(...))
    leaves <- tree_leaves(arguments)
    axes <- axes_for(given_axes(in_axes, f, arguments), arguments, "in_axes", "the arguments", env)
    mapped <- !vapply(axes, is.null, NA)
    size <- batch_size(leaves, axes, mapped, env)
    leaves[mapped] <- Map(to_front, leaves[mapped], axes[mapped])
    tree <- NULL
    batch <- batch_leaves(function(leaves) {
      tree <<- call_written(f, tree_fill(arguments, leaves))
      lapply(tree_leaves(tree), as_value, "f", call = env)
    }, leaves, mapped, size)
    axes <- axes_for(out_axes, tree, "out_axes", "the results", env)
    tree_fill(tree, Map(function(value, mapped, axis, number) {
      from_front(value, mapped, axis, size, number, env)
    }, batch$values, batch$mapped, axes, seq_along(axes)))
  }, "vmap")
}

# Without axes for arguments that the call leaves to their defaults
given_axes <- function(in_axes, f, arguments) {
  if (!is_branch(in_axes) || !is_named(in_axes)) {
    return(in_axes)
  }
  absent <- setdiff(formal_names(written_function(f)), c(names(arguments), "..."))
  in_axes[setdiff(names(in_axes), absent)]
}

check_axes_tree <- function(axes, name, call = rlang::caller_env()) {
  for (axis in tree_leaves(if (is.numeric(axes)) as.list(axes) else axes)) {
    if (!is.numeric(axis) || length(axis) != 1L || is.na(axis) || axis < 1 || axis != trunc(axis)) {
      abort(sprintf("`%s` must be axes counted from 1, NULL, or a list of them, not %s", name, describe(axis)),
        operand = name, call = call
      )
    }
  }
}

# One axis or NULL for each leaf of `like`. A single number counts for all below it.
axes_for <- function(axes, like, name, what, call) {
  if (is.null(like)) {
    return(list())
  }
  if (is_sparse(like) && !is.null(unlist(axes))) {
    abort(sprintf("`%s` has an axis for a sparse matrix among %s, which has none to be mapped", name, what),
      operand = name, hint = "NULL stands for no axis; a batch goes through the entries, `hlo_nonzeros()`.", call = call
    )
  }
  if (!is_branch(like)) {
    if (is_branch(axes)) {
      if (length(axes) != 1L) {
        abort(sprintf("`%s` has a list of %d axes for one array of %s", name, length(axes), what),
          operand = name, call = call
        )
      }
      axes <- axes[[1L]]
    }
    return(list(axes))
  }
  axes <- if (is.null(axes) || (is.numeric(axes) && length(axes) == 1L)) {
    rep(list(axes), length(like))
  } else {
    one_for_each(axes, like, name, "axes", what, call)
  }
  do.call(c, c(list(list()), lapply(seq_along(like), function(i) axes_for(axes[[i]], like[[i]], name, what, call))))
}

# How many elements the batch has, of which all mapped arguments have to be of one mind.
batch_size <- function(leaves, axes, mapped, call) {
  if (!any(mapped)) {
    abort("`in_axes` must have an axis for at least one argument", operand = "in_axes", call = call)
  }
  sizes <- vapply(which(mapped), function(i) {
    shape <- leaves[[i]]@shape
    if (axes[[i]] > length(shape)) {
      abort(
        sprintf("`in_axes`: array %d of the arguments is %s and has no axis %d", i, type_text(leaves[[i]]), axes[[i]]),
        operand = "in_axes", call = call
      )
    }
    shape[[axes[[i]]]]
  }, 0L)
  if (length(unique(sizes)) > 1L) {
    types <- vapply(leaves[mapped], type_text, "")
    abort(
      sprintf(
        "`in_axes`: the mapped axes must have one length, not %s",
        paste(sprintf("%d (axis %d of %s)", sizes, unlist(axes[mapped]), types), collapse = ", ")
      ),
      operand = "in_axes", call = call
    )
  }
  sizes[[1L]]
}
