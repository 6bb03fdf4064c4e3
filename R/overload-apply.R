# Functions of elements: as.list(), lapply() and their kin. Elements are taken in R's order, and the function is called
# for each of them, so that a program has as many copies; of many elements it is called once and works on a batch.

# The elements of a value of any shape, a list of values of rank 0: what `for` goes through.
elements_of <- function(x) {
  column <- as_column(x)
  lapply(seq_len(length(column)), function(i) reshaped(sliced(column, i, i), integer()))
}

element_overload("as.list", function(x, ...) {
  call <- method_call("as.list")
  check_dots_empty(..., call = call)
  named_as(elements_of(x), x)
}, "method", differs = "Names that are known stay.")

# A list with the names of a vector, as far as they are known
named_as <- function(list, x) {
  names <- if (is_value(x) && length(x@shape) < 2L) labels_of(x)[[1L]]
  if (length(names)) stats::setNames(list, names) else list
}

# Up to so many copies are written out.
most_copies <- 64L

# `f` of the first rows of all `rows`, of the second ones …: a list of what it gives, or a batch, see batch_of_rows().
mapped_rows <- function(f, rows) {
  size <- rows[[1L]]@shape[[1L]]
  if (size > most_copies) {
    return(batch_of_rows(f, rows, size))
  }
  lapply(seq_len(size), function(i) do.call(f, lapply(unname(rows), row_of, i), quote = TRUE))
}

# What `f` gives for all rows at once: `tree`, what it gave, and `stacks`, for each of its leaves what stands there for
# all rows, one after another along a first axis.
batch_of_rows <- function(f, rows, size) {
  tree <- NULL
  batch <- batch_leaves(function(leaves) {
    tree <<- do.call(f, unname(leaves), quote = TRUE)
    lapply(tree_leaves(tree), as_value, "FUN", call = NULL)
  }, rows, rep(TRUE, length(rows)), size)
  stacks <- Map(in_front, batch$values, batch$mapped, size)
  structure(list(tree = tree, stacks = stacks, size = size), class = "xlaffi_batch")
}

# The list that lapply() gives
as_elements <- function(answer) {
  if (!inherits(answer, "xlaffi_batch")) {
    return(answer)
  }
  lapply(seq_len(answer$size), function(i) tree_fill(answer$tree, lapply(answer$stacks, row_of, i)))
}

# What a batch is as a whole, where the function gives one value each; NULL for all else
stack_of <- function(answer) {
  one <- inherits(answer, "xlaffi_batch") && (is_value(answer$tree) || is_data(answer$tree))
  if (one && all(answer$stacks[[1L]]@shape > 0L)) answer$stacks[[1L]]
}

# Its elements as sapply() puts them together: a vector, or a matrix with a column for each
stacked_columns <- function(stack) {
  shape <- stack@shape
  if (prod(shape[-1L]) == 1) {
    return(reshaped(stack, shape[[1L]]))
  }
  columns <- transposed(stack, c(rev(seq_along(shape)[-1L]), 1L))
  reshaped(columns, c(as.integer(prod(shape[-1L])), shape[[1L]]))
}

# A function that may change something outside of itself must be called for each element: one that assigns there, is
# given an environment, or calls such a function.
changes_things <- function(...) {
  given <- list(...)
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

# `FUN` of each element of a value, list or vector, as mapped_rows() gives it. The names are those of lapply(): further
# arguments of the user's function may have any other.
each_element <- function(X, FUN, ...) { # nolint: object_name_linter.
  if (is_value(X)) {
    g <- function(element) FUN(element, ...)
    one_by_one <- length(X) > most_copies && changes_things(FUN, ...)
    if (one_by_one) lapply(elements_of(X), g) else mapped_rows(g, list(as_column(X)))
  } else {
    if (is.environment(X)) note_whole(X)
    base::lapply(X, FUN, ...)
  }
}

overload_lapply <- function(X, FUN, ...) named_as(as_elements(each_element(X, called_function(FUN), ...)), X)

overload_sapply <- function(X, FUN, ..., simplify = TRUE, USE.NAMES = TRUE) {
  call <- method_call("sapply")
  answer <- each_element(X, called_function(FUN), ...)
  if (isTRUE(USE.NAMES) && is.character(X) && is.null(names(answer))) {
    names(answer) <- X
  }
  simplified_or_named(answer, simplify, USE.NAMES, X, "sapply()", call)
}

# What sapply() and mapply() make of the answers for the elements of `first`: a list has its names.
simplified_or_named <- function(answer, simplify, use_names, first, shown, call) {
  answer <- if (isFALSE(simplify)) {
    as_elements(answer)
  } else {
    simplified(answer, identical(simplify, "array"), shown, call)
  }
  if (is_branch(answer) && isTRUE(use_names)) named_as(answer, first) else answer
}

# Results of one length as a vector, a matrix with a column for each, or an array; else the list.
simplified <- function(answer, higher, shown, call) {
  stack <- stack_of(answer)
  if (!is.null(stack) && !(higher && length(stack@shape) > 2L)) {
    return(stacked_columns(stack))
  }
  answer <- as_elements(answer)
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

overload_vapply <- function(X, FUN, FUN.VALUE, ..., USE.NAMES = TRUE) {
  call <- method_call("vapply")
  answer <- each_element(X, called_function(FUN), ...)
  stack <- stack_of(answer)
  if (is.null(stack)) answer <- as_elements(answer)
  if (is.null(stack) && !has_values(answer)) {
    at <- 0L
    return(base::vapply(X, function(x) answer[[at <<- at + 1L]], FUN.VALUE, USE.NAMES = USE.NAMES))
  }
  # It says a type and a shape: NA of logicals and integers may stand for them.
  if (is.logical(FUN.VALUE) || is.integer(FUN.VALUE)) FUN.VALUE[is.na(FUN.VALUE)] <- FALSE
  like <- as_value(FUN.VALUE, "FUN.VALUE", call = call)
  as_like <- function(x, type = type_of(x)) {
    float <- is_float(x@dtype) && is_float(like@dtype)
    fits <- float || (x@dtype %in% r_dtypes && match(x@dtype, r_dtypes) <= match(like@dtype, r_dtypes))
    if (prod(type@shape) != length(like) || !fits) {
      abort(sprintf("vapply(): `FUN` must give %s as `FUN.VALUE` is, not %s", type_text(like), type_text(type)),
        operand = "FUN", call = call
      )
    }
    if (float) x else converted(x, like@dtype)
  }
  y <- if (is.null(stack)) {
    parts <- lapply(answer, function(x) as_like(as_value(x, "FUN", call = call)))
    joined(lapply(common(parts, "vapply()", call = call), as_column))
  } else {
    as_column(stacked_columns(as_like(stack, new_type(stack@dtype, stack@shape[-1L]))))
  }
  if (length(like) == 1L && is.null(dim(FUN.VALUE))) {
    return(y)
  }
  count <- if (length(like)) length(y) / length(like) else length(X)
  from_column(y, c(if (is.null(dim(FUN.VALUE))) length(like) else dim(FUN.VALUE), count))
}

overload_apply <- function(X, MARGIN, FUN, ..., simplify = TRUE) {
  call <- method_call("apply")
  check_flag(simplify, "simplify", call)
  f <- called_function(FUN)
  dim <- if (is_value(X)) X@shape else base::dim(X)
  if (length(dim) < 2L) {
    abort("apply(): `X` must be a matrix or an array", operand = "X", call = call)
  }
  margin <- check_axes(MARGIN, "MARGIN", length(dim), call = call)
  if (!length(margin)) {
    abort("apply(): `MARGIN` must have one axis or more", op = "apply", operand = "MARGIN", call = call)
  }
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
    mapped_rows(g, list(reshaped(rows, c(as.integer(prod(dim[margin])), dim[-margin]))))
  }
  shape <- dim[margin]
  stack <- stack_of(answer)
  if (is.null(stack) || !simplify) answer <- as_elements(answer)
  if (is.null(stack) && !has_values(answer)) {
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
  size <- length(y) / prod(shape)
  from_column(as_column(y), c(if (size != 1) size, shape))
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

element_overload("lapply", overload_lapply)
element_overload("sapply", overload_sapply, differs = "Names are dropped.")
element_overload("vapply", overload_vapply, differs = "Names are dropped.")
element_overload("apply", overload_apply, differs = "Names are dropped.")

# The function that an argument names, as it is in traces.
called_function <- function(f, env = parent.frame(2L), call = rlang::caller_env()) {
  if (is.character(f) && length(f) == 1L) {
    f <- noted_function(f, env)
  }
  if (!is.function(f)) {
    abort(sprintf("`FUN` must be a function, not %s", describe(f)), operand = "FUN", call = call)
  }
  convert_function(f)
}
