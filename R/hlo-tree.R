# Arguments and results are trees: a leaf, or a (named) list of trees. NULL stands for nothing, and
# has no leaves.

is_branch <- function(x) is.list(x) && !is.object(x)

tree_leaves <- function(x) {
  if (is.null(x)) {
    list()
  } else if (is_branch(x)) {
    do.call(c, c(list(list()), lapply(unname(x), tree_leaves)))
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
    at <<- at + 1L
    leaves[[at]]
  }
  fill(x)
}

tree_map <- function(x, f, ...) tree_fill(x, lapply(tree_leaves(x), f, ...))

# A function that takes one argument is given it without a list round it.
as_arguments <- function(x) if (is_branch(x)) x else list(x)

type_of <- function(x) new_type(x@dtype, x@shape)

types_text <- function(types) {
  if (length(types)) paste(vapply(types, type_text, ""), collapse = ", ") else "nothing"
}
