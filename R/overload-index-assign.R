# Functional update: `x[i] <- value` and `x[[i]] <- value`, as R's.

#' @export
`[<-.xlaffi_value` <- function(x, ..., value) {
  call <- assign_call("[<-")
  if (missing(value)) {
    return(with_value_last(`[<-.xlaffi_value`, x, ...))
  }
  given <- index_arguments(...)
  if (keeps_r_meaning(x, given, value)) {
    check_fixed_index(x, given, call)
    x[...] <- if (is.list(x) && is_value(value)) list(value) else value
    return(x)
  }
  assigned(x, given, value, "`[<-`", call)
}

#' @export
`[[<-.xlaffi_value` <- function(x, ..., value) {
  call <- assign_call("[[<-")
  if (missing(value)) {
    return(with_value_last(`[[<-.xlaffi_value`, x, ...))
  }
  given <- index_arguments(...)
  if (keeps_r_meaning(x, given, value) || is.null(x)) {
    # NULL becomes a list.
    check_fixed_index(x, given, call)
    x[[...]] <- value
    return(x)
  }
  # One name may be new.
  if (!(length(given) == 1L && rlang::is_string(given[[1L]]))) {
    given <- positions_of_assigned(x, given, call)
    check_one_each(given, call)
  }
  if (length(value) != 1L) {
    abort(sprintf("`x[[...]] <- value` replaces one element, but `value` has %.0f", length(value)),
      op = "[[<-", operand = "value", call = call
    )
  }
  assigned(x, given, value, "`[[<-`", call)
}

# As the user wrote it: R calls the object that changes `*tmp*`, and has the new elements in the call.
assign_call <- function(generic) {
  parts <- as.list(sys.call(-1L))[-1L]
  if (!identical(parts[[1L]], quote(`*tmp*`))) {
    return(as.call(list(as.name(generic), quote(x), quote(...), value = quote(value))))
  }
  inlined <- vapply(parts, function(part) is_value(part) || (is.vector(part) && length(part) > 1L), NA)
  parts[inlined] <- list(quote(value))
  parts[[1L]] <- quote(x)
  value <- if (is.null(parts$value)) quote(value) else parts$value
  parts$value <- NULL
  call("<-", as.call(c(as.name(sub("<-", "", generic, fixed = TRUE)), parts)), value)
}

# Somebody who calls the function itself may leave out the name `value`.
with_value_last <- function(f, x, ...) {
  given <- index_arguments(...)
  last <- length(given)
  given[vapply(given, is.null, NA)] <- list(rlang::missing_arg())
  eval(as.call(c(list(f, x), given[-last], list(value = given[[last]]))))
}

# Lists and environments take values as they take anything.
keeps_r_meaning <- function(x, given, value) {
  !is_value(x) && !is.null(x) &&
    (!is_data(x) || !(is_value(value) || any(vapply(given, is_value, NA))))
}

# Names stay where the shape does, and a vector that becomes longer gets further ones.
assigned <- function(x, given, value, shown, call) {
  labels <- data_labels(x)
  is_vector <- is.null(x) || length(if (is_value(x)) x@shape else r_shape(x)) < 2L
  by_name <- length(given) == 1L && is.character(given[[1L]]) && is_vector
  if (by_name && (!is_value(x) || !is.null(labels_of(x)))) {
    known <- if (is.null(labels)) character(length(x)) else labels[[1L]]
    labels <- list(c(known, setdiff(given[[1L]], known)))
    given <- list(match(given[[1L]], labels[[1L]]))
  }
  y <- assigned_elements(x, positions_of_assigned(x, given, call), value, shown, call)
  if (is.null(labels)) {
    return(y)
  }
  if (is_vector) {
    return(labelled(y, list(c(labels[[1L]], character(length(y) - length(labels[[1L]]))))))
  }
  labelled(y, labels)
}

# R data have names of their own.
positions_of_assigned <- function(x, given, call) {
  named <- is_data(x) && any(vapply(given, is.character, NA))
  if (is_value(x)) {
    positions_of_names(x, given, call)
  } else if (named || any(vapply(given, is.factor, NA))) {
    like <- new_type("pred", if (is.null(x)) 0L else r_shape(x))
    positions_of_names(labelled(filled(FALSE, like), data_labels(x)), given, call)
  } else {
    given
  }
}

assigned_elements <- function(x, given, value, shown, call) {
  both <- assignment_operands(x, value, shown, call)
  x <- both[[1L]]
  value <- both[[2L]]
  if (length(given) > 1L) {
    check_index_count(x, given, call)
    return(assigned_part(x, given, value, call))
  }
  if (!length(given) || is.null(given[[1L]])) {
    return(if (length(x)) refilled(value, x@shape, call) else x)
  }
  index <- given[[1L]]
  if (is_value(index) && index@dtype == "pred") {
    return(assigned_where(x, as_mask(index, x@shape, call), value, call))
  }
  if (is_value(index)) {
    return(assigned_at_values(x, index, value, call))
  }
  positions <- matrix_positions(index, x@shape, call)
  if (is.null(positions)) {
    positions <- fixed_positions(index, length(x), 1L, call, open = TRUE)
  }
  assigned_at(x, positions, value, call)
}

# Object and new elements in the dtype that R gives the result.
assignment_operands <- function(x, value, shown, call) {
  with_na <- function(x) if (is.logical(x) && anyNA(x)) x + 0L else x
  if (!is_value(value) && !is_data(value)) {
    as_value(value, "value", call = call, op = shown)
  }
  x <- with_na(x)
  value <- with_na(value)
  dtype <- function(x) if (is_value(x)) x@dtype else r_dtype(x)
  if (is.null(x)) {
    x <- constant(if (dtype(value) == "pred") FALSE else 0, dtype(value), 0L, "x", call)
  }
  if (dtype(x) == "pred" && !is_value(value) && anyNA(value)) {
    abort(sprintf("%s: logical values have no NA", shown), operand = "value", call = call)
  }
  common(list(x, value), shown, c("x", "value"), call)
}

# Elements in R's order, at positions counted from 1; those beyond the end make a vector longer.
assigned_at <- function(x, positions, value, call) {
  if (anyNA(positions)) {
    abort("positions that are replaced must not be NA", operand = "...", call = call)
  }
  if (!length(positions)) {
    return(x)
  }
  dim <- x@shape
  count <- max(positions)
  if (count > length(x)) {
    x <- lengthened(x, positions, count, call)
    dim <- as.integer(count)
  }
  value <- refilled(value, length(positions), call)
  if (length(dim) > 1L) {
    # By rows
    at <- arrayInd(positions, dim) - 1
    positions <- drop(at %*% rev(cumprod(c(1, rev(dim))))[-1L]) + 1
  }
  column <- reshaped(x, as.integer(length(x)))
  reshaped(put(column, positions, value, 1L), dim)
}

lengthened <- function(x, positions, count, call) {
  added <- seq(length(x) + 1, count)
  if (length(x@shape) > 1L) {
    abort(
      sprintf(
        "index 1 must be positions from 1 to %.0f, for a matrix does not become longer, not %s", length(x),
        values_text(positions)
      ),
      operand = "...", call = call
    )
  }
  if (!is_inexact(x@dtype) && !all(added %in% positions)) {
    abort(sprintf("%s values have no NA, which would fill the elements between", kind_of_exact(x@dtype)),
      operand = "...", call = call
    )
  }
  rest <- filled(missing_number(x@dtype), new_type(x@dtype, length(added)))
  joined(list(as_column(x), rest))
}

assigned_at_values <- function(x, index, value, call) {
  at <- moving_elements(x, index, call)
  if (!length(x) || !length(at$at)) {
    return(x)
  }
  value <- refilled(value, length(at$at), call)
  reshaped(put_moving(reshaped(x, as.integer(length(x))), at, value, 1L), x@shape)
}

# One index per axis.
assigned_part <- function(x, given, value, call) {
  mask <- vapply(given, function(index) is_value(index) && index@dtype == "pred", NA)
  if (any(mask)) {
    return(assigned_where(x, crossed_masks(x, given, call), value, call))
  }
  places <- Map(function(index, size, axis) {
    if (is_value(index)) {
      moving_positions(as_column(index), size, axis, call)
    } else if (!is.null(index)) {
      positions <- fixed_positions(index, size, axis, call)
      if (!identical(as.integer(positions), seq_len(size))) positions
    }
  }, given, x@shape, seq_along(given))
  counts <- mapply(function(place, size) {
    if (is.null(place)) size else if (is.list(place)) length(place$at) else length(place)
  }, places, x@shape)
  if (!all(counts) || !length(x)) {
    return(x)
  }
  put_part(x, places, refilled(value, counts, call))
}

# Where `mask`, of x's shape, is TRUE.
assigned_where <- function(x, mask, value, call) {
  if (length(value) != 1L) {
    abort(
      sprintf("where the index is a logical value, `value` must be one number, not %s", type_text(value)),
      operand = "value", hint = "`ifelse()` chooses element by element.", call = call
    )
  }
  selected(mask, repeated(reshaped(value, integer()), x@shape), x)
}

as_mask <- function(index, shape, call) {
  if (identical(index@shape, shape)) {
    return(index)
  }
  count <- prod(shape)
  if (length(index) > count) {
    abort(sprintf("an index of logicals must have at most %.0f elements, not %s", count, type_text(index)),
      operand = "...", call = call
    )
  }
  if (!length(index)) {
    return(constant(FALSE, "pred", shape, "index"))
  }
  from_column(cycled(as_column(index), count), shape)
}

# Of indices per axis some of which are logical values
crossed_masks <- function(x, given, call) {
  shape <- x@shape
  masks <- lapply(seq_along(given), function(axis) {
    index <- given[[axis]]
    size <- shape[[axis]]
    if (is_value(index) && index@dtype != "pred") {
      abort("logical values and positions that are values do not go together as indices", operand = "...", call = call)
    }
    if (!is.null(index)) {
      mask <- if (is_value(index)) {
        as_mask(index, size, call)
      } else {
        constant(seq_len(size) %in% fixed_positions(index, size, axis, call), "pred", size, "index")
      }
      broadcast(mask, shape, axis)
    }
  })
  Reduce(function(x, y) bind("and", list(x, y), "pred", shape), Filter(Negate(is.null), masks))
}

# `value` in as many copies as fill the dimensions `dim`.
refilled <- function(value, dim, call) {
  dim <- as.integer(dim)
  count <- prod(dim)
  size <- length(value)
  if (size == 0 || count %% size != 0) {
    abort(sprintf("%.0f elements cannot be replaced by %.0f", count, size), operand = "value", call = call)
  }
  if (identical(value@shape[value@shape != 1L], dim[dim != 1L])) {
    return(reshaped(value, dim))
  }
  if (size == 1) {
    return(repeated(reshaped(value, integer()), dim))
  }
  from_column(cycled(as_column(value), count), dim)
}

# The elements of a value of rank 1 over and over, `count` in all.
cycled <- function(x, count) {
  size <- length(x)
  if (size == count) {
    return(x)
  }
  if (size > count) {
    return(sliced(x, 1L, as.integer(count)))
  }
  times <- as.integer(ceiling(count / size))
  rows <- reshaped(broadcast(x, c(times, as.integer(size)), 2L), times * as.integer(size))
  sliced(rows, 1L, as.integer(count))
}

assign_differs <- paste(
  "Updates at positions that are values and lie outside are left out; where the index is a logical value, one number",
  "replaces the elements. Matrices do not become longer."
)

overload("[<-", "base", `[<-.xlaffi_value`, topic = "Indices", dtypes = "all", differs = assign_differs)
overload("replace", "base", function(x, list, values) {
  call <- method_call("replace")
  check_needed("replace()", c(list = missing(list), values = missing(values)), call)
  `[<-.xlaffi_value`(x, list, value = values)
},
  topic = "Indices", dtypes = "all", differs = assign_differs
)
overload("[[<-", "base", `[[<-.xlaffi_value`, topic = "Indices", dtypes = "all", differs = assign_differs)
