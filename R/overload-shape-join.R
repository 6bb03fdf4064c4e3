# c(), unlist(), append(), cbind() and rbind() of values and numbers, in R's order of elements.

#' @export
c.xlaffi_value <- function(..., recursive = FALSE, use.names = TRUE) {
  call <- method_call("c")
  parts <- list(...)
  answer <- column_of(parts, recursive, "c()", call)
  if (is_value(answer) && isTRUE(use.names)) labelled(answer, joined_names(parts)) else answer
}

# The names that c() gives, NULL where those of a part are not known
joined_names <- function(parts) {
  like <- list()
  tags <- names2(parts)
  for (i in seq_along(parts)) {
    part <- parts[[i]]
    names <- if (is_value(part)) attr(part, "labels")[[1L]] else names(part)
    known <- !is_value(part) || !is.null(names) || length(part) == 1L && nzchar(tags[[i]])
    if (!known || is.list(part) || is_value(part) && length(part@shape) > 1L) {
      return(NULL)
    }
    like[[i]] <- stats::setNames(logical(length(part)), names)
  }
  names <- names(do.call(base::c, stats::setNames(like, tags)))
  if (!is.null(names)) list(names)
}

overload("c", "base", c.xlaffi_value,
  topic = "Shapes", dtypes = "all", differs = "Names are known where those of all parts are."
)

# Vectors one after another; with a list among them a list, as in R.
column_of <- function(parts, recursive, shown, call) {
  check_flag(recursive, "recursive", call)
  if (recursive) parts <- unlist_leaves(parts)
  parts <- Filter(Negate(is.null), parts)
  if (!all(vapply(parts, function(part) is_value(part) || is_data(part), NA))) {
    if (any(vapply(parts, is.character, NA))) {
      abort(sprintf("%s: values of programs do not go together with text", shown), operand = "...", call = call)
    }
    strange <- Find(function(part) is.object(part) && is.atomic(part) && !is_data(part), parts)
    if (!is.null(strange)) {
      abort(sprintf("%s: values of programs do not go together with %s", shown, describe(strange)),
        operand = "...", hint = "`unclass()` and `as.numeric()` take the numbers out of objects.", call = call
      )
    }
    if (!recursive) {
      lists <- lapply(parts, function(part) if (is_value(part)) elements_of(part) else part)
      return(do.call(base::c, lists, quote = TRUE))
    }
  }
  parts <- common(unname(parts), shown, call = call)
  if (length(parts)) joined(lapply(parts, as_column))
}

unlist_leaves <- function(x) if (is.list(x)) do.call(base::c, lapply(unname(unclass(x)), unlist_leaves)) else list(x)

overload_unlist <- function(x, recursive = TRUE, use.names = TRUE) {
  call <- method_call("unlist")
  if (is_value(x)) x else column_of(unclass(x), recursive, "unlist()", call)
}

overload("unlist", "base", overload_unlist,
  topic = "Shapes", dtypes = "all", differs = "Names are dropped."
)

overload_append <- function(x, values, after = length(x)) {
  call <- method_call("append")
  if (is.list(x) || is.list(values)) {
    as_part <- function(x) if (is_value(x)) elements_of(x) else x
    return(base::append(as_part(x), as_part(values), after))
  }
  check_count(after, "after", call)
  if (after != trunc(after)) {
    abort(sprintf("append(): `after` must be a whole number, not %s", format(after)),
      op = "append", operand = "after", call = call
    )
  }
  if (is.null(x) || is.null(values)) {
    return(as_column(as_value(if (is.null(x)) values else x, "x", call = call)))
  }
  both <- lapply(common(list(x, values), "append()", c("x", "values"), call), as_column)
  size <- length(both[[1L]])
  after <- min(after, size)
  joined(list(taken(both[[1L]], seq_len(after), 1L), both[[2L]], taken(both[[1L]], after + seq_len(size - after), 1L)))
}

overload("append", "base", overload_append,
  topic = "Shapes", dtypes = "all", differs = "Names are dropped."
)

#' @export
cbind.xlaffi_value <- function(..., deparse.level = 1) {
  call <- method_call("cbind")
  if (!any(vapply(list(...), is_value, NA))) refuse_buffer("cbind", call)
  bound(list(...), 2L, "cbind()", call)
}

#' @export
rbind.xlaffi_value <- function(..., deparse.level = 1) {
  call <- method_call("rbind")
  if (!any(vapply(list(...), is_value, NA))) refuse_buffer("rbind", call)
  bound(list(...), 1L, "rbind()", call)
}

bind_differs <- "Names are dropped. Vectors are repeated a whole number of times, or it is an error."

overload("cbind", "base", cbind.xlaffi_value, topic = "Shapes", dtypes = "all", differs = bind_differs)
overload("rbind", "base", rbind.xlaffi_value, topic = "Shapes", dtypes = "all", differs = bind_differs)

# Matrices side by side along `axis`; vectors are rows or columns, repeated to the length of the others.
bound <- function(parts, axis, shown, call) {
  parts <- common(Filter(Negate(is.null), unname(parts)), shown, call = call)
  other <- 3L - axis
  is_matrix <- vapply(parts, function(part) length(part@shape) == 2L, NA)
  parts[!is_matrix] <- lapply(parts[!is_matrix], as_column)
  lengths <- vapply(parts, function(part) part@shape[[if (length(part@shape) == 2L) other else 1L]], 0L)
  size <- if (any(is_matrix)) lengths[is_matrix][[1L]] else max(lengths)
  if (any(lengths[is_matrix] != size)) {
    abort(
      sprintf("%s: matrices must have as many %s as the first, %d, not %s", shown,
        c("columns", "rows")[[axis]], size, toString(setdiff(lengths[is_matrix], size))
      ),
      operand = "...", call = call
    )
  }
  # As in R, vectors without elements do not count beside others.
  stays <- is_matrix | lengths > 0L | size == 0L
  joined(lapply(which(stays), function(i) {
    part <- parts[[i]]
    if (is_matrix[[i]]) {
      return(part)
    }
    if (size > 0L && size %% lengths[[i]] != 0L) {
      abort(sprintf("%s: a vector of length %d cannot be repeated to length %d", shown, lengths[[i]], size),
        operand = "...", call = call
      )
    }
    if (size == 0L) {
      part <- sliced(part, 1L, 0L)
    }
    reshaped(cycled(part, size), if (axis == 1L) c(1L, size) else c(size, 1L))
  }), axis)
}
