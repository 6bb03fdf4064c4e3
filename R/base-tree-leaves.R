# Arguments and results are trees: a leaf, or a (named) list of trees. NULL stands for nothing, and has no leaves. A
# sparse matrix has one leaf, its entries: the rest of it is known.

is_branch <- function(x) is.list(x) && !is.object(x)

tree_leaves <- function(x) {
  if (is.null(x)) {
    list()
  } else if (is_branch(x)) {
    do.call(c, c(list(list()), lapply(unname(x), tree_leaves)))
  } else if (is_sparse(x)) {
    tree_leaves(x@values)
  } else {
    list(x)
  }
}

# A tree like `x` with other leaves.
tree_fill <- function(x, leaves) {
  at <- 0L
  fill <- function(x) {
    if (is.null(x)) {
      return(NULL)
    }
    if (is_branch(x)) {
      return(lapply(x, fill))
    }
    if (is_sparse(x)) {
      return(new_sparse(fill(x@values), x@pattern))
    }
    at <<- at + 1L
    leaves[[at]]
  }
  fill(x)
}

tree_map <- function(x, f, ...) tree_fill(x, lapply(tree_leaves(x), f, ...))

# Residuals are trees of any R objects, some of them values.
values_in <- function(tree) Filter(is_value, tree_leaves(tree))

map_values <- function(tree, f) tree_map(tree, function(leaf) if (is_value(leaf)) f(leaf) else leaf)

fill_values <- function(tree, values) {
  at <- 0L
  map_values(tree, function(value) {
    at <<- at + 1L
    values[[at]]
  })
}

# Of a list of settings, such as `many` "axes", those of the elements of `like`: by their names, where both have some,
# or in order.
one_for_each <- function(settings, like, name, many, what, call) {
  if (is_named(settings) && is_named(like)) {
    unknown <- setdiff(names(settings), names(like))
    if (length(unknown)) {
      abort(sprintf("`%s` has `%s`, which is not among %s: %s", name, unknown[[1L]], what, toString(names(like))),
        operand = name, call = call
      )
    }
    settings <- lapply(names(like), function(name) settings[[name]])
  } else if (length(settings) != length(like)) {
    abort(sprintf("`%s` has %d %s, but there are %d of %s", name, length(settings), many, length(like), what),
      operand = name, call = call
    )
  }
  settings
}

# Whether all have names
is_named <- function(x) !is.null(names(x)) && all(nzchar(names2(x)))

# `x` in the order that `like` has: where lists of both have names, names say what is what. `refuse` is told of names
# that only one of them has.
in_order_of <- function(x, like, refuse) {
  if (!is_branch(x) || !is_branch(like)) {
    return(x)
  }
  if (is_named(x) && is_named(like)) {
    unknown <- setdiff(names(x), names(like))
    if (length(unknown)) refuse(sprintf("there is no `%s`", unknown[[1L]]))
    absent <- setdiff(names(like), names(x))
    if (length(absent)) refuse(sprintf("`%s` is missing", absent[[1L]]))
    if (!anyDuplicated(names(x)) && !anyDuplicated(names(like))) x <- x[names(like)]
  }
  if (length(x) != length(like)) {
    return(x)
  }
  stats::setNames(lapply(seq_along(x), function(i) in_order_of(x[[i]], like[[i]], refuse)), names(x))
}

# A function that takes one argument is given it without a list round it.
as_arguments <- function(x) if (is_branch(x)) x else list(x)

types_text <- function(types) {
  if (length(types)) paste(vapply(types, type_text, ""), collapse = ", ") else "nothing"
}
