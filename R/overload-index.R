# Indices of values, as R's: `[` and `[[`.

#' @export
`[.xlaffi_value` <- function(x, ..., drop = TRUE) {
  if (nargs() == 2L && missing(drop) && !missing(..1)) {
    element <- one_element(x, ..1)
    if (!is.null(element)) return(element)
  }
  call <- method_call("[")
  given <- index_arguments(...)
  if (!is_value(x)) {
    if (!is_data(x) || !any(vapply(given, is_value, NA))) {
      check_fixed_index(x, given, call)
      return(if (missing(drop)) x[...] else x[..., drop = drop])
    }
    x <- labelled(as_value(x, "x", call = call), data_labels(x))
  }
  check_no_token(x, "`[`", "x", call)
  check_flag(drop, "drop", call)
  given <- positions_of_names(x, given, call)
  if (length(given) == 1L && !is.null(given[[1L]])) {
    y <- elements_at(x, given[[1L]], call)
    y <- if (drop && identical(y@shape, 1L) && names_one(given[[1L]])) reshaped(y, integer()) else y
    return(taken_labels(x, y, given[[1L]]))
  }
  if (length(given) == 1L || (!length(given) && length(x@shape) < 2L)) {
    return(x)
  }
  check_index_count(x, given, call)
  y <- part_at(x, given, call)
  labels <- labels_at(x, given)
  if (drop) {
    kept <- y@shape != 1L
    y <- reshaped(y, y@shape[kept])
    labels <- labels[kept]
  }
  if (any(lengths(labels) > 0L)) labelled(y, labels) else y
}

# The names of each axis at positions that are known
labels_at <- function(x, given) {
  labels <- attr(x, "labels")
  if (is.null(labels)) {
    return(NULL)
  }
  Map(function(names, index) {
    if (is.null(names) || is.null(index)) {
      names
    } else if (!is_value(index)) {
      names_at(names, index)
    }
  }, labels, given)
}

# Whether an index of one element asks for it: what is left of a vector without others is a vector, of any length.
names_one <- function(index) is_value(index) || is.numeric(index) && !any(index < 0, na.rm = TRUE)

# The indices of a call, NULL for the whole axis.
index_arguments <- function(...) {
  left_out <- vapply(eval(substitute(alist(...))), identical, NA, rlang::missing_arg())
  lapply(seq_along(left_out), function(i) {
    if (!left_out[[i]]) {
      index <- ...elt(i)
      if (is.null(index)) integer() else index
    }
  })
}

check_index_count <- function(x, given, call) {
  rank <- length(x@shape)
  if (length(given) != rank) {
    abort(
      sprintf(
        "`x[...]` needs %s for a value of shape %s, not %d",
        if (rank > 1L) sprintf("1 or %d indices", rank) else "1 index", shape_text(x@shape), length(given)
      ),
      operand = "...", call = call
    )
  }
}

# Of what a program has no values of, a list or text.
check_fixed_index <- function(x, given, call) {
  if (any(vapply(given, is_value, NA))) {
    what <- if (is.list(x)) "a list" else describe(x)
    abort(sprintf("an index of %s must be known while the program is written, not a value", what),
      operand = "...", hint = "`hlo_case()` chooses among programs; elements of one shape can be rows of a matrix.",
      call = call, unknown = TRUE
    )
  }
}

# One index: elements in R's order, as a value of rank 1.
elements_at <- function(x, index, call) {
  dim <- x@shape
  if (is_value(index)) {
    at <- moving_elements(x, index, call)
    return(moving_taken(reshaped(x, as.integer(length(x))), list(at), 1L))
  }
  positions <- matrix_positions(index, dim, call)
  if (is.null(positions)) {
    positions <- fixed_positions(index, length(x), 1L, call, open = TRUE)
  }
  x <- as_column(x)
  beyond <- is.na(positions) | positions > length(x)
  if (any(beyond)) {
    if (!is_inexact(x@dtype)) {
      abort(
        sprintf(
          "index 1 must be positions from 1 to %.0f, for %s values have no NA, not %s", length(x),
          kind_of_exact(x@dtype), values_text(index)
        ),
        operand = "...", call = call,
        hint = "`as.double(x)[...]` gives NaN outside of `x`."
      )
    }
    positions[beyond] <- length(x) + 1
    x <- joined(list(x, filled(NaN, new_type(x@dtype, 1L))))
  }
  taken(x, positions, 1L)
}

# Positions that are values among the elements of `x` by rows
moving_elements <- function(x, index, call) {
  dim <- x@shape
  at <- if (is_index_matrix(index, dim)) {
    moving_rows(index, dim, call)
  } else {
    lapply(moving_positions(index, length(x), 1L, call), as_column)
  }
  if (length(dim) > 1L && length(x)) {
    at$at <- by_row_positions(at$at, dim)
  }
  at
}

# A matrix of positions that are values
moving_rows <- function(index, dim, call) {
  columns <- lapply(seq_along(dim), function(axis) {
    column <- reshaped(sliced(index, c(1L, axis), c(index@shape[[1L]], axis)), index@shape[[1L]])
    counted_positions(column, dim[[axis]], axis, call)
  })
  before <- cumprod(c(1, dim))
  list(
    at = Reduce(`+`, Map(function(column, by) column$at * as.integer(by), columns, before[seq_along(dim)])),
    inside = Reduce(`&`, lapply(columns, function(column) column$inside))
  )
}

# One index per axis.
part_at <- function(x, given, call) {
  moving <- list()
  for (axis in seq_along(given)) {
    index <- given[[axis]]
    if (is_value(index)) {
      moving[[as.character(axis)]] <- moving_positions(as_column(index), x@shape[[axis]], axis, call)
    } else if (!is.null(index)) {
      x <- taken(x, fixed_positions(index, x@shape[[axis]], axis, call), axis)
    }
  }
  if (length(moving)) moving_taken(x, unname(moving), as.integer(names(moving))) else x
}

# Elements at positions that are values, see moving_positions(); outside there is what stands for NA.
moving_taken <- function(x, positions, axes) {
  counts <- vapply(positions, function(position) position$at@shape, 0L)
  if (!length(x)) {
    shape <- replace(x@shape, axes, counts)
    return(filled(missing_number(x@dtype), new_type(x@dtype, shape)))
  }
  single <- axes[counts == 1L]
  if (length(single)) {
    zero <- constant(0L, "i32", integer(), "index")
    starts <- rep(list(zero), length(x@shape))
    starts[single] <- lapply(positions[counts == 1L], function(position) reshaped(position$at, integer()))
    x <- dynamic_sliced(x, starts, replace(x@shape, single, 1L))
  }
  for (i in which(counts != 1L)) {
    x <- gathered(x, positions[[i]]$at, axes[[i]])
  }
  nothing <- filled(missing_number(x@dtype), x)
  for (i in seq_along(axes)) {
    x <- selected(broadcast(positions[[i]]$inside, x@shape, axes[[i]]), x, nothing)
  }
  x
}

#' @export
`[[.xlaffi_value` <- function(x, ..., exact = TRUE) {
  call <- method_call("[[")
  given <- index_arguments(...)
  if (!is_value(x) && (!is_data(x) || !any(vapply(given, is_value, NA)))) {
    check_fixed_index(x, given, call)
    return(if (missing(exact)) x[[...]] else x[[..., exact = exact]])
  }
  x <- labelled(as_value(x, "x", call = call), data_labels(x))
  given <- positions_of_names(x, given, call)
  check_one_each(given, call)
  one <- if (length(given) == 1L) {
    if (!is_value(given[[1L]])) {
      fixed_positions(given[[1L]], length(x), 1L, call)
    }
    elements_at(x, given[[1L]], call)
  } else {
    check_index_count(x, given, call)
    part_at(x, given, call)
  }
  reshaped(one, integer())
}

# One position per index, as `[[` takes.
check_one_each <- function(given, call) {
  fine <- vapply(given, function(index) {
    if (is_value(index)) {
      length(index) == 1L && is.null(negated(index))
    } else {
      is.numeric(index) && length(index) == 1L && isTRUE(index >= 1)
    }
  }, NA)
  if (!length(given) || !all(fine)) {
    abort("`x[[...]]` takes the position of one element, a number from 1 on", operand = "...", call = call)
  }
}

index_differs <- paste(
  "Positions that are values and lie outside give NaN (integers NA, logicals FALSE), negative ones too but for `x[-i]`",
  "of one position; logical values as indices are an error."
)

overload("[", "base", `[.xlaffi_value`, topic = "Indices", dtypes = "all", differs = index_differs)
overload("[[", "base", `[[.xlaffi_value`, topic = "Indices", dtypes = "all", differs = index_differs)

# What loops of R's ask for most, an element of a vector without names; NULL for all else
one_element <- function(x, index) {
  if (!is_value(x) || length(x@shape) != 1L || !is.null(attr(x, "labels")) || !is.numeric(index) ||
    length(index) != 1L || !is.null(attributes(index)) || !isTRUE(index >= 1 && index < x@shape + 1)) {
    return()
  }
  at <- as.integer(index)
  reshaped(sliced(x, at, at), integer())
}
