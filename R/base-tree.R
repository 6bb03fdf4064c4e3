#' Nested lists as flat ones
#'
#' Arguments and results of programs are flat; those of R functions may be nested lists.
#' `flatten()` gives the leaves of a nested list from left to right, `build_tree()` its structure
#' without the leaves, and `unflatten()` puts leaves into a structure.
#'
#' @details
#' Lists without a class are branches, with or without names. `NULL` is a branch without leaves,
#' which the structure keeps: `list(x, NULL)` and `list(NULL, x)` differ. Everything else is a
#' leaf: vectors, buffers, functions, lists with a class. Names must not be `NA`.
#'
#' @param x For `unflatten()` a list of as many leaves as `tree` has; otherwise any object.
#' @param tree,in_tree A tree made by `build_tree()`. That of `flatten_fun()` is the one of the
#'   list of arguments.
#' @param .x A nested list or a leaf.
#' @param .l A list of nested lists of the same structure.
#' @param f,.f A function: `.f` is called on each leaf (of `.l`: on the leaves at one place), with
#'   what else is in `...`.
#' @param ... More arguments of `.f`.
#' @return `flatten()` a list; `build_tree()` a tree, class `xlaffi_tree`; `unflatten()`,
#'   `map_tree()` and `pmap_tree()` a nested list or a leaf. `flatten_fun()` a function, class
#'   `xlaffi_flattened_function`, that takes the leaves of `f`'s arguments one by one and returns a
#'   list of two: the tree of the result, and its leaves.
#' @seealso [tree_size()] and other functions that describe a tree.
#' @examples
#' x <- list(a = 1, b = list(c = 2, 3))
#' tree <- build_tree(x)
#' tree
#' flatten(x)
#' unflatten(tree, list("x", "y", "z"))
#' map_tree(x, function(leaf) leaf * 10)
#' pmap_tree(list(x, x), `+`)
#'
#' add <- function(p) list(sum = p$a + p$b)
#' flatten_fun(add, build_tree(list(list(a = 1, b = 2))))(3, 4)
#' @export
flatten <- function(x) {
  check_tree_names(x)
  tree_leaves(x)
}

#' @rdname flatten
#' @export
build_tree <- function(x) {
  check_tree_names(x)
  new_tree(tree_map(x, function(leaf) TRUE))
}

#' @rdname flatten
#' @export
unflatten <- function(tree, x) {
  check_given(tree, x)
  skeleton <- skeleton_of(tree)
  if (!is_branch(x)) {
    abort(sprintf("`x` must be a list of leaves, not %s", describe(x)), operand = "x")
  }
  size <- length(tree_leaves(skeleton))
  if (length(x) != size) {
    abort(sprintf("the tree has %d leaves, but `x` has %d", size, length(x)), operand = "x")
  }
  tree_fill(skeleton, x)
}

#' @rdname flatten
#' @export
map_tree <- function(.x, .f, ...) {
  check_function(.f, ".f")
  tree <- build_tree(.x)
  leaves <- tree_leaves(.x)
  unflatten(tree, lapply(seq_along(leaves), function(i) {
    at_leaf(.f(leaves[[i]], ...), tree, i)
  }))
}

#' @rdname flatten
#' @export
pmap_tree <- function(.l, .f, ...) {
  check_given(.l, .f)
  if (!is_branch(.l) || !length(.l)) {
    abort(sprintf("`.l` must be a list of nested lists, at least one, not %s", describe(.l)), operand = ".l")
  }
  check_function(.f, ".f")
  trees <- lapply(.l, build_tree)
  for (i in seq_along(trees)[-1L]) {
    difference <- tree_diff(trees[[1L]], trees[[i]])
    if (!is.null(difference)) {
      place <- if (nzchar(difference$prefix)) {
        sprintf("First mismatch at `%s`:", difference$prefix)
      } else {
        "Mismatch at the root:"
      }
      abort("all elements of `.l` must have the same structure",
        operand = ".l",
        hint = c(place, sprintf("`.l[[1]]` has %s, `.l[[%d]]` has %s.", difference$a, i, difference$b))
      )
    }
  }
  leaves <- lapply(unname(.l), tree_leaves)
  unflatten(trees[[1L]], lapply(seq_along(leaves[[1L]]), function(i) {
    at_leaf(do.call(.f, c(lapply(leaves, `[[`, i), list(...)), quote = TRUE), trees[[1L]], i)
  }))
}

#' @rdname flatten
#' @export
flatten_fun <- function(f, in_tree) {
  check_function(f)
  skeleton <- skeleton_of(in_tree)
  if (!is.list(skeleton)) {
    abort("`in_tree` must be the tree of a list of arguments", operand = "in_tree")
  }
  flat <- function(...) {
    result <- do.call(f, unflatten(in_tree, list(...)), quote = TRUE)
    list(build_tree(result), flatten(result))
  }
  structure(flat, class = "xlaffi_flattened_function")
}

# A tree is the nested list itself, with TRUE for every leaf.
new_tree <- function(skeleton) structure(list(skeleton = skeleton), class = "xlaffi_tree")

skeleton_of <- function(tree, name = "tree", call = rlang::caller_env()) {
  check_not_missing(tree, name, call)
  if (!inherits(tree, "xlaffi_tree") || !is.list(tree)) {
    abort(
      sprintf("`%s` must be a tree made by build_tree(), not %s", name, describe(tree)),
      operand = name, hint = foreign_hint(tree), call = call
    )
  }
  unclass(tree)$skeleton
}

check_tree_names <- function(x, call = rlang::caller_env()) {
  check_not_missing(x, "x", call)
  if (is_branch(x)) {
    if (anyNA(names(x))) {
      abort("names in a nested list must not be NA", operand = "x", call = call)
    }
    lapply(x, check_tree_names, call = call)
  }
  invisible()
}

# An error in a function of the user's, with the leaf that it failed for.
at_leaf <- function(result, tree, i, call = rlang::caller_env(2)) {
  tryCatch(result, error = function(error) {
    path <- tree_path(tree, i)
    abort(sprintf("`.f` failed for the leaf at `%s`", if (nzchar(path)) path else "<root>"),
      operand = ".f", call = call, parent = error
    )
  })
}
