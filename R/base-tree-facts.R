#' What a tree looks like
#'
#' Facts about trees made by [build_tree()], their comparison, and trees made of trees.
#'
#' @param tree,a,b A tree.
#' @param i The number of a leaf, counted from 1 from left to right.
#' @param names For `tree_filter_by_names()` the names of the children to keep; for `tree_concat()`
#'   names of the children, or `NULL`.
#' @param groups Names of children.
#' @param children A list of trees.
#' @return
#' * `tree_size()`: how many leaves the tree has.
#' * `tree_root_kind()`: `"leaf"`, `"list"` or `"null"`.
#' * `tree_child_names()`: the names of the root's children, `""` where one has none; `NULL` if
#'   the root has no names or is no list. `tree_child_kinds()` and `tree_child_sizes()`: their
#'   kinds and numbers of leaves.
#' * `tree_path()`: how R code would reach a leaf, such as `"a$b"` or `"a[[2]]"`; `""` at the root.
#' * `tree_leaf_mask()`: for each leaf, whether it is below a child of the root named in `groups`.
#' * `tree_filter_by_names()`: the tree of the children that are named, in the order of `tree`.
#' * `tree_concat()`: a tree whose root's children are the given trees.
#' * `tree_equal()`: whether two trees have the same structure and names; `tree_hash()`: a string
#'   that is the same for equal trees.
#' * `tree_repr()`: the structure as text: `*` is a leaf, `list<named>` a list with names.
#' * `tree_diff()`: `NULL` for equal trees; else a list of the path `prefix` at which they differ
#'   first, and what is there in `a` and `b`, as `tree_repr()` writes it.
#' @section Errors:
#' What [build_tree()] did not make is an error, and a leaf that there is not one of class `xlaffi_error_out_of_range`.
#'
#' @examples
#' tree <- build_tree(list(a = 1, b = list(2, NULL, c = 3)))
#' tree_size(tree)
#' tree_path(tree, 3)
#' tree_child_sizes(tree)
#' tree_leaf_mask(tree, "b")
#' tree_filter_by_names(tree, "b")
#' tree_diff(tree, build_tree(list(a = 1, b = list(2, NULL, c = NULL))))
#' tree_root_kind(tree)
#' tree_child_names(tree)
#' tree_child_kinds(tree)
#' tree_repr(tree)
#' both <- tree_concat(list(tree, tree), names = c("x", "y"))
#' tree_equal(both, tree)
#' tree_hash(tree) == tree_hash(build_tree(list(a = 5, b = list(6, NULL, c = 7))))
#' @export
tree_size <- function(tree) length(tree_leaves(skeleton_of(tree)))

#' @rdname tree_size
#' @export
tree_root_kind <- function(tree) kind_of(skeleton_of(tree))

#' @rdname tree_size
#' @export
tree_child_names <- function(tree) names(skeleton_of(tree))

#' @rdname tree_size
#' @export
tree_child_kinds <- function(tree) vapply(children_of(tree), kind_of, "", USE.NAMES = FALSE)

#' @rdname tree_size
#' @export
tree_child_sizes <- function(tree) {
  vapply(children_of(tree), function(child) length(tree_leaves(child)), 0L, USE.NAMES = FALSE)
}

#' @rdname tree_size
#' @export
tree_path <- function(tree, i) {
  skeleton <- skeleton_of(tree)
  size <- length(tree_leaves(skeleton))
  if (!is.numeric(i) || length(i) != 1L || is.na(i) || i != trunc(i) || i < 1 || i > size) {
    abort(sprintf("there is no leaf %s: the tree has %d", describe(i), size),
      code = "OUT_OF_RANGE", operand = "i"
    )
  }
  path <- ""
  while (is.list(skeleton)) {
    # The child that holds the leaf, and its number there.
    sizes <- vapply(skeleton, function(child) length(tree_leaves(child)), 0L)
    k <- which(cumsum(sizes) >= i)[[1L]]
    path <- child_path(path, skeleton, k)
    i <- i - sum(sizes[seq_len(k - 1L)])
    skeleton <- skeleton[[k]]
  }
  path
}

#' @rdname tree_size
#' @export
tree_leaf_mask <- function(tree, groups) {
  children <- children_of(tree)
  groups <- check_names(groups, "groups")
  # A child without a name belongs to no group.
  names <- if (is.null(names(children))) rep("", length(children)) else names(children)
  rep(names %in% groups & nzchar(names), tree_child_sizes(tree))
}

#' @rdname tree_size
#' @export
tree_filter_by_names <- function(tree, names) {
  children <- children_of(tree)
  names <- check_names(names, "names")
  if (is.null(names(children))) {
    abort("`tree` must have names", operand = "tree")
  }
  new_tree(children[names(children) %in% names])
}

#' @rdname tree_size
#' @export
tree_concat <- function(children, names = NULL) {
  check_given(children)
  if (!is_branch(children)) {
    abort(sprintf("`children` must be a list of trees, not %s", describe(children)), operand = "children")
  }
  skeletons <- lapply(seq_along(children), function(i) skeleton_of(children[[i]], sprintf("children[[%d]]", i)))
  if (!is.null(names)) {
    names <- check_names(names, "names")
    if (length(names) != length(skeletons)) {
      abort(sprintf("there are %d `names` for %d children", length(names), length(skeletons)), operand = "names")
    }
    names(skeletons) <- names
  }
  new_tree(skeletons)
}

#' @rdname tree_size
#' @export
tree_equal <- function(a, b) is.null(skeleton_difference(skeleton_of(a, "a"), skeleton_of(b, "b")))

#' @rdname tree_size
#' @export
tree_hash <- function(tree) rlang::hash(plain_skeleton(skeleton_of(tree)))

#' @rdname tree_size
#' @export
tree_repr <- function(tree) skeleton_text(skeleton_of(tree))

#' @rdname tree_size
#' @export
tree_diff <- function(a, b) skeleton_difference(skeleton_of(a, "a"), skeleton_of(b, "b"))

#' @export
format.xlaffi_tree <- function(x, ...) {
  check_format_dots(...)
  tree_repr(x)
}

#' @export
print.xlaffi_tree <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# The first place where skeletons differ, and what is there; NULL for equal ones
skeleton_difference <- function(a, b, path = "") {
  same_kind <- is.list(a) && is.list(b) && length(a) == length(b) && identical(names(a), names(b))
  if (!same_kind) {
    same <- if (is_sparse(a) && is_sparse(b)) same_pattern(a@pattern, b@pattern) else identical(a, b)
    return(if (!same) list(prefix = path, a = skeleton_text(a), b = skeleton_text(b)))
  }
  for (k in seq_along(a)) {
    found <- skeleton_difference(a[[k]], b[[k]], child_path(path, a, k))
    if (!is.null(found)) {
      return(found)
    }
  }
}

kind_of <- function(skeleton) {
  if (is.null(skeleton)) "null" else if (is.list(skeleton)) "list" else "leaf"
}

children_of <- function(tree, call = rlang::caller_env()) {
  skeleton <- skeleton_of(tree, call = call)
  if (!is.list(skeleton)) {
    abort("the root of `tree` must be a list node", operand = "tree", call = call)
  }
  skeleton
}

child_path <- function(path, skeleton, k) {
  name <- names(skeleton)[k]
  if (is.null(name) || !nzchar(name)) {
    sprintf("%s[[%d]]", path, k)
  } else if (nzchar(path)) {
    paste0(path, "$", name)
  } else {
    name
  }
}

skeleton_text <- function(skeleton) {
  if (is_sparse(skeleton)) {
    return(pattern_text(skeleton@pattern))
  }
  if (!is.list(skeleton)) {
    return(if (is.null(skeleton)) "NULL" else "*")
  }
  children <- vapply(skeleton, skeleton_text, "")
  named <- !is.null(names(skeleton))
  if (named) {
    children <- paste0(ifelse(nzchar(names(skeleton)), paste(names(skeleton), "= "), ""), children)
  }
  sprintf("list%s(%s)", if (named) "<named>" else "", paste(children, collapse = ", "))
}

# What a hash sees: names of one encoding, the keys of patterns
plain_skeleton <- function(skeleton) {
  if (is_sparse(skeleton)) {
    return(list(pattern_key(skeleton@pattern), skeleton@values))
  }
  if (!is.list(skeleton)) {
    return(skeleton)
  }
  names <- names(skeleton)
  stats::setNames(lapply(skeleton, plain_skeleton), if (!is.null(names)) enc2utf8(names))
}

check_names <- function(x, name, call = rlang::caller_env()) {
  if (!is.character(x) || anyNA(x)) {
    abort(sprintf("`%s` must be strings, none of them NA, not %s", name, describe(x)), operand = name, call = call)
  }
  x
}
