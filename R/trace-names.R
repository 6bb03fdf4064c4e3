# Names of vectors and dimnames of arrays in programs. Those of arguments are known while a function is traced, and go
# with a value, as its attribute `labels`: a list with the names along each axis. What is computed has none.

# Of R data; NULL without any
data_labels <- function(x) {
  if (is_value(x)) {
    return(attr(x, "labels"))
  }
  if (!is_data(x)) {
    return(NULL)
  }
  labels <- if (is.null(dim(x))) list(names(x)) else dimnames(x)
  if (!all(vapply(labels, is.null, NA))) unname(labels)
}

# A value with these names, NULL for none
labelled <- function(x, labels) {
  attr(x, "labels") <- labels
  x
}

# What the trace learns of names holds for arguments with the same names alone.
labels_of <- function(x) {
  trace_state$names_read <- TRUE
  attr(x, "labels")
}

# Whether a call was traced for these names, if they mattered.
same_names <- function(call, leaves) {
  is.null(call$known_names) || identical(call$known_names, lapply(unname(leaves), data_labels))
}

#' @export
names.xlaffi_value <- function(x) if (length(x@shape) < 2L) labels_of(x)[[1L]]

#' @export
dimnames.xlaffi_value <- function(x) if (length(x@shape) > 1L) labels_of(x)

# Names and factors among indices as positions: of a factor R takes the codes.
positions_of_names <- function(x, given, call) {
  Map(function(index, place) {
    if (is.factor(index)) {
      as.integer(index)
    } else if (is.character(index)) {
      position_of_name(x, index, if (length(given) > 1L || rank_of(x) < 2L) place, call)
    } else {
      index
    }
  }, given, seq_along(given))
}

position_of_name <- function(x, index, axis, call) {
  labels <- if (!is.null(axis)) labels_of(x)
  known <- if (length(labels)) labels[[axis]]
  if (is.null(known)) {
    abort(sprintf("index %d is %s, but no names of `x` are known", max(axis, 1L), values_text(index)),
      operand = "...", call = call, hint = paste(
        "Names are known of arguments, and of what `names<-`, `dimnames<-` or an index by names gave them: what is",
        "computed has none. Positions, or a list with names, go everywhere."
      )
    )
  }
  positions <- match(index, known)
  if (anyNA(positions)) {
    quoted <- function(names) toString(encodeString(names, quote = "\""), width = 60)
    abort(sprintf("index %d: there is no name %s among %s", axis, quoted(index[is.na(positions)]), quoted(known)),
      operand = "...", call = call
    )
  }
  positions
}

# The names of what positions that are known take out of a vector
taken_labels <- function(x, y, index) {
  labels <- attr(x, "labels")
  known <- length(x@shape) == 1L && !is.null(labels) && !is_value(index) && length(y@shape) < 2L
  if (!known) {
    return(y)
  }
  labelled(y, list(names_at(labels[[1L]], index)))
}

# As R takes names along with elements
names_at <- function(names, index) names(stats::setNames(seq_along(names), names)[index])

overload_names_set <- function(x, value) {
  call <- quote(`names<-`(x, value))
  if (!is.null(value) && length(value) > length(x)) {
    abort(sprintf("names<-: there are %d names for %.0f elements", length(value), length(x)),
      operand = "value", call = call
    )
  }
  if (length(x@shape) > 1L || is.null(value)) {
    return(if (length(x@shape) > 1L) x else labelled(x, NULL))
  }
  labelled(x, list(c(as.character(value), rep(NA_character_, length(x) - length(value)))))
}

overload_dimnames_set <- function(x, value) {
  call <- quote(`dimnames<-`(x, value))
  fits <- is.null(value) || (is.list(value) && length(value) == length(x@shape) &&
    all(lengths(value) == 0L | lengths(value) == x@shape))
  if (!fits) {
    abort(sprintf("dimnames<-: `value` must be a list of names for each axis of %s", type_text(x)),
      operand = "value", call = call
    )
  }
  labelled(x, if (!is.null(value)) lapply(unname(value), function(names) if (length(names)) as.character(names)))
}

# As R's colnames() and its kin
overload_axis_names <- function(axis) {
  force(axis)
  name <- c("rownames", "colnames")[[axis]]
  own_prefix <- c("row", "col")[[axis]]
  function(x, do.NULL = TRUE, prefix = own_prefix) {
    call <- method_call(name)
    check_flag(do.NULL, "do.NULL", call)
    rank <- length(x@shape)
    labels <- if (rank > 1L) labels_of(x)
    found <- if (length(labels) >= axis) labels[[axis]]
    if (do.NULL || !is.null(found)) {
      return(found)
    }
    # R takes a vector for one column.
    size <- if (rank > 1L) x@shape[[axis]] else c(length(x), 1L)[[axis]]
    if (size > 0L) paste0(prefix, seq_len(size)) else character()
  }
}

overload_axis_names_set <- function(axis) {
  force(axis)
  function(x, value) {
    labels <- attr(x, "labels")
    if (is.null(labels)) labels <- vector("list", length(x@shape))
    labels[axis] <- list(value)
    overload_dimnames_set(x, labels)
  }
}
