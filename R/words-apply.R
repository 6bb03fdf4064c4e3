# Functions of elements: as.list(), lapply() and their kin. Elements are taken in R's order, and the function is called
# for each of them, so that a program has as many copies; of many elements it is called once and works on a batch.

# The elements of a value of any shape, a list of values of rank 0: what `for` goes through.
elements_of <- function(x) {
  column <- as_column(x)
  lapply(seq_len(length(column)), function(i) reshaped(sliced(column, i, i), integer()))
}

element_word("as.list", function(x, ...) {
  call <- method_call("as.list")
  check_dots_empty(..., call = call)
  elements_of(x)
}, "method")

# Up to so many copies are written out.
most_copies <- 64L

# `f` of each row of `rows`, the values that it is called with: a list of what it gives.
mapped_rows <- function(f, rows) {
  size <- rows@shape[[1L]]
  shape <- rows@shape[-1L]
  if (size <= most_copies) {
    return(lapply(seq_len(size), function(i) f(reshaped(taken(rows, i, 1L), shape))))
  }
  tree <- NULL
  batch <- batch_leaves(function(leaves) {
    tree <<- f(leaves[[1L]])
    lapply(tree_leaves(tree), as_value, "FUN", call = NULL)
  }, list(rows), TRUE, size)
  stacks <- Map(in_front, batch$values, batch$mapped, size)
  lapply(seq_len(size), function(i) {
    tree_fill(tree, lapply(stacks, function(stack) reshaped(taken(stack, i, 1L), stack@shape[-1L])))
  })
}

# A function that may change something outside of itself must be called for each element: one that assigns there, is
# given an environment, or calls such a function.
changes_things <- function(f, ...) {
  given <- list(f, ...)
  reached <- lapply(captured_variables(Filter(is.function, given)), function(group) group$values)
  any(vapply(c(given, unlist(reached, recursive = FALSE)), may_change, NA))
}

changing_names <- c(
  "<<-", "assign", "delayedAssign", "makeActiveBinding", "list2env", "environment", "parent.frame", "parent.env",
  "sys.frame", "globalenv", "topenv", "eval", "evalq", "UseMethod", "standardGeneric"
)

may_change <- function(x) {
  if (typeof(x) == "closure") {
    home <- environment(x)
    known <- in_package(home) || inherits(x, "xlaffi_jit") || exists(".packageName", envir = home, inherits = FALSE)
    !known && any(changing_names %in% all.names(body(x)))
  } else if (is_branch(x)) {
    any(vapply(x, may_change, NA))
  } else {
    is.environment(x)
  }
}

# `f` of each element of a value, list or vector.
each_element <- function(x, f, ...) {
  if (is_value(x)) {
    g <- function(element) f(element, ...)
    one_by_one <- length(x) > most_copies && changes_things(f, ...)
    if (one_by_one) lapply(elements_of(x), g) else mapped_rows(g, as_column(x))
  } else {
    base::lapply(x, f, ...)
  }
}

word_lapply <- function(X, FUN, ...) each_element(X, called_function(FUN), ...)

word_sapply <- function(X, FUN, ..., simplify = TRUE, USE.NAMES = TRUE) {
  call <- method_call("sapply")
  answer <- each_element(X, called_function(FUN), ...)
  if (isTRUE(USE.NAMES) && is.character(X) && is.null(names(answer))) {
    names(answer) <- X
  }
  if (isFALSE(simplify)) answer else simplified(answer, identical(simplify, "array"), "sapply()", call)
}

# Results of one length as a vector, a matrix with a column for each, or an array; else the list.
simplified <- function(answer, higher, shown, call) {
  if (!has_values(answer)) {
    return(base::simplify2array(answer, higher))
  }
  plain <- vapply(answer, function(x) is_value(x) || is_data(x), NA)
  sizes <- lengths(answer)
  if (!all(plain) || length(unique(sizes)) != 1L || sizes[[1L]] == 0L) {
    return(answer)
  }
  parts <- common(answer, shown, call = call)
  if (sizes[[1L]] == 1L && !(higher && length(parts[[1L]]@shape) > 1L)) {
    return(joined(lapply(parts, as_column)))
  }
  dim <- if (higher && all_alike(parts)) dim_of(parts[[1L]]) else sizes[[1L]]
  stacked_parts(parts, dim)
}

has_values <- function(x) any(vapply(x, is_value, NA))

all_alike <- function(parts) all(vapply(parts, function(part) identical(part@shape, parts[[1L]]@shape), NA))

# Values of one length side by side along a new last axis, each of dimensions `dim`
stacked_parts <- function(parts, dim) {
  from_column(joined(lapply(parts, as_column)), c(dim, length(parts)))
}

word_vapply <- function(X, FUN, FUN.VALUE, ..., USE.NAMES = TRUE) {
  call <- method_call("vapply")
  answer <- each_element(X, called_function(FUN), ...)
  if (!has_values(answer)) {
    at <- 0L
    return(base::vapply(X, function(x) answer[[at <<- at + 1L]], FUN.VALUE, USE.NAMES = USE.NAMES))
  }
  like <- as_value(FUN.VALUE, "FUN.VALUE", call = call)
  parts <- lapply(answer, function(x) {
    x <- as_value(x, "FUN", call = call)
    float <- is_float(x@dtype) && like@dtype == "f64"
    fits <- float || (x@dtype %in% r_dtypes && match(x@dtype, r_dtypes) <= match(like@dtype, r_dtypes))
    if (length(x) != length(like) || !fits) {
      abort(sprintf("vapply(): `FUN` must give %s as `FUN.VALUE` is, not %s", type_text(like), type_text(x)),
        operand = "FUN", call = call
      )
    }
    if (float) x else converted(x, like@dtype)
  })
  parts <- common(parts, "vapply()", call = call)
  if (length(like) == 1L && is.null(dim(FUN.VALUE))) {
    return(joined(lapply(parts, as_column)))
  }
  stacked_parts(parts, if (is.null(dim(FUN.VALUE))) length(like) else dim(FUN.VALUE))
}

word_apply <- function(X, MARGIN, FUN, ..., simplify = TRUE) {
  call <- method_call("apply")
  check_flag(simplify, "simplify", call)
  f <- called_function(FUN)
  dim <- if (is_value(X)) X@shape else base::dim(X)
  if (length(dim) < 2L) {
    abort("apply(): `X` must be a matrix or an array", operand = "X", call = call)
  }
  margin <- check_axes(MARGIN, "MARGIN", length(dim), call = call)
  g <- function(part) f(part, ...)
  if (!all(dim[margin])) {
    return(applied_to_nothing(X, margin, dim, g))
  }
  answer <- if (!is_value(X)) {
    lapply(base::apply(X, margin, function(part) list(g(part))), `[[`, 1L)
  } else if (prod(dim[margin]) > most_copies && changes_things(f, ...)) {
    lapply(slices_of(X, margin), g)
  } else {
    rows <- transposed(X, c(rev(margin), setdiff(seq_along(dim), margin)))
    mapped_rows(g, reshaped(rows, c(as.integer(prod(dim[margin])), dim[-margin])))
  }
  shape <- dim[margin]
  if (!has_values(answer)) {
    at <- 0L
    return(base::apply(X, margin, function(part) answer[[at <<- at + 1L]], simplify = simplify))
  }
  if (!simplify) {
    return(structure(unname(answer), dim = if (length(shape) > 1L) shape))
  }
  y <- simplified(answer, FALSE, "apply()", call)
  if (!is_value(y) || length(shape) == 1L) {
    return(y)
  }
  size <- length(answer[[1L]])
  from_column(as_column(y), c(if (size != 1L) size, shape))
}

# As R, which calls the function once to see what it would give
applied_to_nothing <- function(X, margin, dim, f) {
  rest <- dim[-margin]
  dtype <- if (is_value(X)) X@dtype else r_dtype(X)
  part <- if (is_value(X)) {
    constant(if (dtype == "pred") FALSE else 0, dtype, rest, "X")
  } else {
    vector(typeof(X), prod(rest))
  }
  if (!is_value(X) && length(rest) > 1L) dim(part) <- rest
  answer <- f(part)
  if (is.null(answer)) {
    return(NULL)
  }
  answer <- as_value(answer, "FUN")
  shape <- if (length(margin) > 1L) dim[margin] else 0L
  constant(if (answer@dtype == "pred") FALSE else 0, answer@dtype, shape, "FUN")
}

element_word("lapply", word_lapply)
element_word("sapply", word_sapply, differs = "Names are dropped.")
element_word("vapply", word_vapply, differs = "Names are dropped.")
element_word("apply", word_apply, differs = "Names are dropped.")

# The function that an argument names, as it is in traces.
called_function <- function(f, env = parent.frame(2L), call = rlang::caller_env()) {
  if (is.character(f) && length(f) == 1L) {
    f <- get(f, envir = env, mode = "function")
  }
  if (!is.function(f)) {
    abort(sprintf("`FUN` must be a function, not %s", describe(f)), operand = "FUN", call = call)
  }
  in_scope(f)
}
