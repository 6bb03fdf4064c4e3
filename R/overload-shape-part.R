# Parts and orders of elements: head(), tail(), rev(), diff(), embed(), asplit(), combn().

overload_head <- function(x, n = 6L, ...) {
  call <- method_call("head")
  check_dots_empty(..., call = call)
  ends(x, n, function(size, count) seq_len(count), call)
}

# `keepnums` and `addrownums` are about names.
overload_tail <- function(x, n = 6L, keepnums = FALSE, addrownums, ...) {
  call <- method_call("tail")
  check_dots_empty(..., call = call)
  ends(x, n, function(size, count) size - count + seq_len(count), call)
}

shape_overload("head", overload_head, "method", "utils")
shape_overload("tail", overload_tail, "method", "utils", differs = "There are no names of rows.")

# `n` elements of a vector, or along each axis of an array: of a negative one all but so many.
ends <- function(x, n, positions, call) {
  vector <- length(x@shape) < 2L
  rank <- if (vector) 1L else length(x@shape)
  fine <- (is.numeric(n) || is.logical(n)) && length(n) >= 1L && length(n) <= rank
  if (!fine || any(n != trunc(n) | abs(n) > .Machine$integer.max, na.rm = TRUE) || (vector && anyNA(n))) {
    abort(sprintf("`n` must be 1 to %d whole numbers, not %s", rank, describe(n)), operand = "n", call = call)
  }
  if (vector) {
    x <- as_column(x)
  }
  for (axis in which(!is.na(n))) {
    size <- x@shape[[axis]]
    count <- if (n[[axis]] < 0) max(size + n[[axis]], 0) else min(n[[axis]], size)
    x <- taken(x, positions(size, count), axis)
  }
  x
}

shape_overload("rev", function(x) {
  if (!length(x)) {
    return(x)
  }
  x <- as_column(x)
  if (length(x) > 1L) hlo_reverse(x, 1L) else x
}, "method")

overload_diff <- function(x, lag = 1L, differences = 1L, ...) {
  call <- method_call("diff")
  check_dots_empty(..., call = call)
  check_no_token(x, "diff()", "x", call)
  lag <- check_count(lag, "lag", call, 1)
  x <- if (length(x@shape) == 2L) x else as_column(x)
  differences <- check_count(differences, "differences", call, 1)
  # Where nothing is left, a matrix has its columns since R 4.6.
  if (lag * differences >= x@shape[[1L]] && length(dim(diff(matrix(0, 0, 1)))) < 2L) {
    return(taken(as_column(x), integer(), 1L))
  }
  x <- if (x@dtype == "pred") converted(x, "i32") else x
  for (turn in seq_len(differences)) {
    size <- x@shape[[1L]]
    count <- max(size - lag, 0L)
    x <- taken(x, size - count + seq_len(count), 1L) - taken(x, seq_len(count), 1L)
  }
  x
}

overload("diff", "base", overload_diff, "method", topic = "Shapes", dtypes = "all")

shape_overload("embed", function(x, dimension = 1) {
  call <- method_call("embed")
  matrix <- length(x@shape) == 2L
  if (length(x@shape) > 2L) {
    abort(sprintf("embed(): `x` must be a vector or a matrix, not %s", type_text(x)), operand = "x", call = call)
  }
  # R puts a matrix into one of doubles.
  x <- if (matrix) as_doubles(x) else as_column(x)
  size <- x@shape[[1L]]
  check_count(dimension, "dimension", call, 1)
  if (dimension > size || dimension != trunc(dimension)) {
    abort(sprintf("embed(): `dimension` must be a whole number from 1 to %d, not %s", size, format(dimension)),
      operand = "dimension", call = call
    )
  }
  rows <- size - dimension + 1L
  lagged <- lapply(rev(seq_len(dimension)), function(first) {
    part <- taken(x, first - 1L + seq_len(rows), 1L)
    if (matrix) part else reshaped(part, c(rows, 1L))
  })
  joined(lagged, 2L)
}, package = "stats")

shape_overload("asplit", function(x, MARGIN) {
  call <- method_call("asplit")
  check_needed("asplit()", c(x = missing(x), MARGIN = missing(MARGIN)), call)
  margin <- check_axes(MARGIN, "MARGIN", length(x@shape), call = call)
  if (!length(margin)) {
    abort("asplit(): `MARGIN` must have one axis or more", op = "asplit", operand = "MARGIN", call = call)
  }
  dim <- x@shape[margin]
  structure(slices_of(x, margin), dim = dim)
}, differs = "Names are dropped.")

shape_overload("combn", function(x, m, FUN = NULL, simplify = TRUE, ...) {
  call <- method_call("combn")
  check_flag(simplify, "simplify", call)
  x <- as_column(as_value(x, "x", call = call, op = "combn()"))
  count <- length(x)
  m <- check_count(m, "m", call)
  if (count < max(m, 2L)) {
    abort(sprintf("combn(): `x` must have %d elements or more, not %d", max(m, 2L), count),
      op = "combn", operand = "x", call = call
    )
  }
  places <- utils::combn(count, m)
  if (is.null(FUN) && simplify) {
    return(from_column(taken(x, as.vector(places), 1L), dim(places)))
  }
  f <- if (is.null(FUN)) function(part) part else called_function(FUN)
  each <- lapply(seq_len(ncol(places)), function(i) f(taken(x, places[, i], 1L), ...))
  if (simplify) simplified(each, FALSE, "combn()", call) else each
}, package = "utils", differs = "One number is an error, where R counts to it.")

# The parts of an array for each position along the axes `margin`, in R's order.
slices_of <- function(x, margin) {
  dim <- x@shape[margin]
  rest <- x@shape[-margin]
  lapply(seq_len(prod(dim)), function(i) {
    at <- arrayInd(i, dim)
    for (k in seq_along(margin)) {
      x <- taken(x, at[[k]], margin[[k]])
    }
    reshaped(x, rest)
  })
}
