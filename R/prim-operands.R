# What R does to operands before it computes: one dtype for all, and short vectors repeated.

# R's own types, each with room for those before it
r_dtypes <- c("pred", "i32", "f64", "c128")

# The dtype in which R computes with these, NULL where R has no rule: logicals go along with everything.
promoted_dtype <- function(dtypes) {
  dtypes <- unique(dtypes)
  if (all(dtypes %in% r_dtypes)) {
    return(r_dtypes[[max(match(dtypes, r_dtypes))]])
  }
  others <- dtypes[dtypes != "pred"]
  if (length(others) == 1L) others
}

# The dtype in which `parts`, values and R data, meet. R data beside values of another dtype than R's take theirs.
meeting_dtype <- function(parts, op, names, call) {
  are_values <- vapply(parts, is_value, NA)
  dtypes <- vapply(parts[are_values], function(x) x@dtype, "")
  dtype <- if (length(dtypes)) promoted_dtype(dtypes) else "pred"
  if (is.null(dtype)) {
    refuse_mixture(dtypes, names[are_values], op, call)
  }
  data <- parts[!are_values]
  if (dtype %in% r_dtypes && length(data)) {
    data <- vapply(data, r_dtype, "")
    known <- data[data %in% r_dtypes]
    dtype <- if (!length(dtypes) && !length(known)) data[[1L]] else promoted_dtype(c(dtype, known))
  }
  dtype
}

refuse_mixture <- function(dtypes, names, op, call) {
  first <- which(dtypes != "pred")[[1L]]
  other <- which(dtypes != "pred" & dtypes != dtypes[[first]])[[1L]]
  text <- if (names[[first]] == names[[other]]) {
    sprintf("%s: `%s` must have one dtype, not %s and %s", op, names[[other]], dtypes[[first]], dtypes[[other]])
  } else {
    sprintf("%s: `%s` must have dtype %s as `%s` has, not %s", op, names[[other]], dtypes[[first]], names[[first]],
      dtypes[[other]]
    )
  }
  abort(text,
    op = op, operand = names[[other]], hint = "`hlo_convert()` changes the dtype.", call = call
  )
}

# Any number of values and R data as values of one dtype, each with its own shape: of R data `shape_of` them.
common <- function(parts, op, names = rep("...", length(parts)), call = rlang::caller_env(), shape_of = r_shape) {
  parts <- lapply(parts, r_data)
  for (i in seq_along(parts)) {
    check_no_token(parts[[i]], op, names[[i]], call)
    check_operand(parts[[i]], names[[i]], call, op)
  }
  dtype <- meeting_dtype(parts, op, names, call)
  Map(function(part, name) {
    if (is_value(part)) converted(part, dtype) else constant(part, dtype, shape_of(part), name, call, op)
  }, unname(parts), names, USE.NAMES = FALSE)
}

# R's numbers beside a value of the user's: of its dtype where that holds them
value_beside <- function(x, other, name, call = rlang::caller_env(), op = NULL) {
  if (is_value(x) || !is_value(other) || !is_data(x)) {
    return(as_value(x, name, call = call, op = op))
  }
  dtype <- meeting_dtype(list(x, other), op, c(name, name), call)
  constant(x, dtype, r_shape(x), name, call, op)
}

# Both operands as values of one dtype and shape.
operands <- function(x, y, op, names = c("e1", "e2"), call = rlang::caller_env()) {
  check_not_missing(x, names[[1L]], call)
  check_not_missing(y, names[[2L]], call)
  check_no_token(x, op, names[[1L]], call)
  check_no_token(y, op, names[[2L]], call)
  if (is_value(x) && is_value(y) && x@dtype == y@dtype && identical(x@shape, y@shape)) {
    return(list(x, y))
  }
  x <- r_data(x)
  y <- r_data(y)
  check_operand(x, names[[1L]], call, op)
  check_operand(y, names[[2L]], call, op)
  dtype <- meeting_dtype(list(x, y), op, names, call)
  # One number is written down in the shape of the other side.
  like <- function(other) new_type(dtype, if (is_value(other)) other@shape else r_shape(other))
  y <- converted(as_value(y, names[[2L]], like(x), call, op), dtype)
  x <- converted(as_value(x, names[[1L]], like(y), call, op), dtype)
  shape <- common_shape(x@shape, y@shape)
  if (is.null(shape)) {
    ranks <- lengths(list(x@shape, y@shape))
    one <- if (any(ranks == 1L) && any(ranks > 1L)) c(length(x), length(y))[ranks > 1L] == 1
    abort(
      sprintf(
        "%s: `%s` must have shape %s as `%s` has, or be a vector that is repeated a whole number of times, not %s",
        op, names[[2L]], shape_text(x@shape), names[[1L]], shape_text(y@shape)
      ),
      op = op, operand = names[[2L]], call = call, hint = if (isTRUE(one)) {
        "R repeats an array of one element, and warns that it will not for long: `c()` makes it a number."
      } else {
        "`hlo_broadcast()` repeats along axes."
      }
    )
  }
  list(repeated(x, shape), repeated(y, shape))
}

# The arguments of a function that works element by element, as values of one dtype and one shape. `first` is the place
# of R's first argument, NULL where R keeps no dimensions of it.
elementwise_values <- function(arguments, shown, call, first = 1L) {
  values <- common(arguments, shown, names(arguments), call, free_shape)
  as_first_full(recycled_values(lapply(values, as_doubles), names(arguments), shown, call, first), values, first)
}

# Of several arguments R's functions, other than its operators, look at the first one that is as long as the result: the
# dimensions are its own, or there are none.
as_first_full <- function(values, arguments, first = 1L) {
  arguments <- arguments[c(first, setdiff(seq_along(arguments), first))]
  full <- vapply(arguments, length, 0) == length(values[[1L]])
  if (length(values[[1L]]) == 0L || length(values[[1L]]@shape) < 2L || !any(full)) {
    return(values)
  }
  if (length(arguments[[which(full)[[1L]]]]@shape) < 2L) lapply(values, as_column) else values
}

# One number goes along with values of any shape.
free_shape <- function(x) if (length(x) == 1L && is.null(dim(x))) integer() else r_shape(x)

recycled_values <- function(values, names, shown, call, first = 1L) {
  # Without elements R keeps the dimensions of its first argument: up to R 4.5 if there are no more than two arguments.
  if (any(lengths(values) == 0L)) {
    if (is.null(first) && r_keeps_dimensions()) first <- 1L
    few <- length(values) <= 2L || r_keeps_dimensions()
    keeps <- length(first) && few && length(values[[first]]) == 0L
    empty <- if (keeps) values[[first]]@shape else 0L
    return(lapply(values, function(value) filled(0, new_type(value@dtype, empty))))
  }
  widest <- 1L
  for (i in seq_along(values)[-1L]) {
    both <- operands(values[[widest]], values[[i]], shown, names[c(widest, i)], call)
    if (!identical(both[[1L]]@shape, values[[widest]]@shape)) {
      widest <- i
    }
    values[[i]] <- both[[2L]]
  }
  lapply(values, repeated, values[[widest]]@shape)
}

r_keeps_dimensions <- function() length(dim(stats::dcauchy(matrix(0, 0, 1)))) == 2L

# The shape that R gives to what it computes of two, NULL where R would warn or refuse.
common_shape <- function(x, y) {
  if (identical(x, y)) {
    return(x)
  }
  if (length(x) < length(y)) {
    return(common_shape(y, x))
  }
  fits <- function(short, long) {
    if (short == 0) long == 0 else long %% short == 0
  }
  if (length(x) < 2L) {
    # Vectors, of which an empty one leaves nothing
    sizes <- c(prod(x), prod(y))
    if (any(sizes == 0)) {
      return(0L)
    }
    if (fits(min(sizes), max(sizes))) as.integer(max(sizes))
  } else if (length(y) < 2L && fits(prod(y), prod(x))) {
    x
  }
}

# A vector repeated until it fills `shape`, in R's order.
repeated <- function(x, shape) {
  if (identical(x@shape, shape)) {
    return(x)
  }
  size <- prod(shape)
  if (length(x) == 1L) {
    return(broadcast(reshaped(x, integer()), shape, integer()))
  }
  if (size == 0) {
    return(constant(if (x@dtype == "pred") FALSE else 0, x@dtype, shape, "x"))
  }
  if (length(x) == shape[[1L]]) {
    return(broadcast(x, shape, 1L))
  }
  times <- as.integer(size / length(x))
  from_column(reshaped(broadcast(x, c(times, length(x)), 2L), as.integer(size)), shape)
}

# Logicals as R's integers, which it computes with.
as_numbers <- function(x) if (x@dtype == "pred") converted(x, "i32") else x

# R's logicals and integers as doubles, for what R computes in doubles.
as_doubles <- function(x) if (x@dtype %in% c("pred", "i32")) converted(x, "f64") else x

# Arguments of functions of vectors as floating-point values of one dtype, each with its own shape
vector_parameters <- function(parameters, op, call) {
  names <- names(parameters)
  parameters <- lapply(common(parameters, op, names, call), as_doubles)
  dtype <- parameters[[1L]]@dtype
  if (!dtype %in% c("f32", "f64")) {
    abort(sprintf("%s: `%s` must be of f32 or f64, not %s", op, names[[1L]], dtype),
      op = op, operand = names[[1L]], call = call
    )
  }
  stats::setNames(parameters, names)
}
