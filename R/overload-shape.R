# Dimensions: array(), matrix(), dim<-, aperm(), rep() and their kin, in R's order of elements.

# Sizes that somebody gave, as integers.
check_dim <- function(dim, name, call) {
  if (is_value(dim)) {
    abort(sprintf("`%s` must be known while the program is written: results have fixed shapes", name),
      operand = name, call = call, unknown = TRUE
    )
  }
  if (!is.numeric(dim) || !length(dim) || anyNA(dim) || any(dim < 0 | dim > .Machine$integer.max)) {
    abort(sprintf("`%s` must be whole numbers from 0 on, not %s", name, values_text(dim)), operand = name, call = call)
  }
  as.integer(dim)
}

# Names of all axes, though they are dropped
check_dimnames <- function(dimnames, dim, call) {
  sizes <- if (is.list(dimnames)) lengths(dimnames)
  fits <- length(sizes) <= length(dim) && all(sizes == 0L | sizes == dim[seq_along(sizes)])
  if (!is.null(dimnames) && (!is.list(dimnames) || !fits)) {
    abort(sprintf("`dimnames` must be a list of names for the axes of an array %s, not %s", shape_text(dim),
      if (is.list(dimnames)) sprintf("of lengths %s", toString(sizes)) else describe(dimnames)
    ), operand = "dimnames", call = call)
  }
}

# The data of array() and matrix() as a value of rank 1 and of `count` elements.
filling <- function(data, count, call) {
  column <- as_column(as_value(data, "data", call = call))
  if (length(column)) {
    return(cycled(column, count))
  }
  if (count > 0 && !is_inexact(column@dtype)) {
    abort(sprintf("`data` has no elements, and %s values have no NA", kind_of_exact(column@dtype)),
      operand = "data", call = call
    )
  }
  filled(missing_number(column@dtype), new_type(column@dtype, as.integer(count)))
}

shape_overload("array", function(data = NA, dim = length(data), dimnames = NULL) {
  call <- method_call("array")
  dim <- check_dim(dim, "dim", call)
  check_dimnames(dimnames, dim, call)
  from_column(filling(data, prod(dim), call), dim)
}, differs = "Names are dropped.")

overload_matrix <- function(data = NA, nrow = 1, ncol = 1, byrow = FALSE, dimnames = NULL) {
  call <- method_call("matrix")
  check_flag(byrow, "byrow", call)
  data <- as_value(data, "data", call = call)
  size <- length(data)
  rows <- if (!missing(nrow)) check_count(nrow, "nrow", call)
  columns <- if (!missing(ncol)) check_count(ncol, "ncol", call)
  if (size && xor(is.null(rows), is.null(columns)) && c(rows, columns) == 0L) {
    abort(sprintf("matrix(): %.0f elements do not fit into no %s", size, if (is.null(columns)) "rows" else "columns"),
      op = "matrix", operand = if (is.null(columns)) "nrow" else "ncol", call = call
    )
  }
  if (is.null(rows)) {
    rows <- if (is.null(columns)) size else if (size) ceiling(size / columns) else 0
  } else if (is.null(columns)) {
    columns <- if (size) ceiling(size / rows) else 0
  }
  dim <- as.integer(c(rows, if (is.null(columns)) 1L else columns))
  count <- prod(dim)
  if (size > 1 && (count %% size != 0 || (size > count && count > 0))) {
    abort(
      sprintf("matrix(): %.0f elements do not fill a matrix %s a whole number of times", size, shape_text(dim)),
      operand = "data", call = call
    )
  }
  check_dimnames(dimnames, dim, call)
  column <- filling(data, count, call)
  if (byrow) reshaped(column, dim) else from_column(column, dim)
}

shape_overload("matrix", overload_matrix,
  differs = "Names are dropped. Data that do not fill the matrix a whole number of times are an error."
)

shape_overload("dim<-", function(x, value) {
  call <- quote(`dim<-`(x, value))
  if (is.null(value)) {
    return(as_column(x))
  }
  value <- check_dim(value, "value", call)
  if (prod(value) != length(x)) {
    abort(sprintf("dim<-: %s has %.0f elements, but `x` is %s", shape_text(value), prod(value), type_text(x)),
      operand = "value", call = call
    )
  }
  from_column(as_column(x), value)
}, "method")

names_differ <- "Names serve as indices of the value that has them; what is computed of it, and results, have none."

shape_overload("names<-", overload_names_set, "method", differs = names_differ)
shape_overload("dimnames<-", overload_dimnames_set, "method", differs = names_differ)

shape_overload("length<-", function(x, value) {
  call <- quote(`length<-`(x, value))
  # R leaves the dimensions where the length stays.
  if (identical(as.numeric(value), as.numeric(length(x)))) {
    return(x)
  }
  elements_at(x, seq_len(check_count(value, "value", call)), call)
}, "method")

shape_overload("aperm", function(a, perm = NULL, resize = TRUE, ...) {
  call <- method_call("aperm")
  check_dots_empty(..., call = call)
  check_flag(resize, "resize", call)
  rank <- length(a@shape)
  if (rank < 2L) {
    abort(sprintf("aperm(): `a` must be a matrix or an array, not %s", type_text(a)), operand = "a", call = call)
  }
  perm <- if (is.null(perm)) rev(seq_len(rank)) else check_axes(perm, "perm", rank, rank, call)
  y <- transposed(a, perm)
  if (resize) y else from_column(as_column(y), a@shape)
}, "method")

#' @export
t.xlaffi_value <- function(x) {
  if (length(x@shape) < 2L) reshaped(x, c(1L, as.integer(length(x)))) else hlo_t(x)
}

shape_overload("t", t.xlaffi_value, "method", differs = "Of arrays of more than two axes the last two are exchanged.")

# Elements of a value of rank 1 several times, as rep(). `keep`: what has no elements stays as it is, with its
# dimensions, as in R.
repeat_elements <- function(x, times, length.out, each, call, keep = FALSE) {
  given <- x
  x <- as_column(x)
  each <- if (is_na(each)) 1L else check_count(each, "each", call)
  if (each != 1L) {
    size <- as.integer(length(x))
    x <- reshaped(broadcast(x, c(size, each), 1L), size * each)
  }
  keep <- keep && !length(given)
  size <- length(x)
  if (!is_na(length.out)) {
    length.out <- check_count(length.out, "length.out", call)
    if (each == 0L && length(given) && length.out) {
      abort(sprintf("`each` must be 1 or more where there are to be %d elements, not 0", length.out),
        operand = "each", call = call
      )
    }
    return(if (keep && !size && !length.out) given else filling(x, length.out, call))
  }
  if (!is_value(times) && length(times) != 1L) {
    if (!is.numeric(times) || anyNA(times) || any(times < 0) || length(times) != size) {
      abort(sprintf("`times` must be one number or one for each of %.0f elements, not %s", size, values_text(times)),
        operand = "times", call = call
      )
    }
    return(taken(x, rep(seq_len(size), times), 1L))
  }
  times <- check_count(times, "times", call)
  if (keep && !size) given else if (times && size) cycled(x, size * times) else sliced(x, 1L, 0L)
}

is_na <- function(x) !is_value(x) && length(x) == 1L && is.na(x)

# R's own functions repeat lists.
check_known_counts <- function(counts, call) {
  for (name in names(counts)) {
    if (is_value(counts[[name]])) check_count(counts[[name]], name, call)
  }
}

overload_rep <- function(x, times = 1, length.out = NA, each = 1, ...) {
  call <- method_call("rep")
  check_dots_empty(..., call = call)
  if (is_branch(x)) {
    check_known_counts(list(times = times, length.out = length.out, each = each), call)
    return(base::rep(x, times = times, length.out = length.out, each = each))
  }
  repeat_elements(as_value(x, "x", call = call), times, length.out, each, call, TRUE)
}

# R dispatches on `x`; the scope sees counts that are values too.
shape_overload("rep", overload_rep, differs = "Counts must be known while the program is written.")
shape_overload("rep.int", function(x, times) {
  call <- method_call("rep.int")
  if (is_branch(x)) {
    check_known_counts(list(times = times), call)
    return(base::rep.int(x, times))
  }
  repeat_elements(as_value(x, "x", call = call), times, NA, 1, call)
})
shape_overload("rep_len", function(x, length.out) {
  call <- method_call("rep_len")
  if (is_branch(x)) {
    check_known_counts(list(length.out = length.out), call)
    return(base::rep_len(x, length.out))
  }
  repeat_elements(as_value(x, "x", call = call), 1, check_count(length.out, "length.out", call), 1, call, TRUE)
})

#' @export
rep.xlaffi_value <- overload_rep

shape_overload("drop", function(x) reshaped(x, x@shape[x@shape != 1L]))

shape_overload("as.matrix", function(x, ...) {
  if (length(x@shape) == 2L) x else reshaped(as_column(x), c(as.integer(length(x)), 1L))
}, "method")

shape_overload("as.array", function(x, ...) if (length(x@shape)) x else reshaped(x, 1L), "method")

# What R computes of the dimensions alone: R's numbers, which may be indices.
by_dim <- function(name, f) {
  force(f)
  shape_overload(name, function(x, ...) {
    call <- method_call(name)
    if (length(x@shape) != 2L) {
      abort(sprintf("%s(): `x` must be a matrix, not %s", name, type_text(x)), operand = "x", call = call)
    }
    if (has_values(list(...))) {
      abort(sprintf("%s(): the other arguments must be known while the program is written", name),
        operand = "...", call = call, unknown = TRUE
      )
    }
    f(array(0L, x@shape), ...)
  }, differs = "The result is R's.")
}

by_dim("row", row)
by_dim("col", col)
by_dim("lower.tri", lower.tri)
by_dim("upper.tri", upper.tri)

shape_overload("slice.index", function(x, MARGIN) base::slice.index(array(0L, dim_of(x)), MARGIN),
  differs = "The result is R's."
)

shape_overload("unname", function(obj, force = FALSE) labelled(obj, NULL))
shape_overload("setNames",
  function(object = nm, nm) if (is_value(object)) overload_names_set(object, nm) else stats::setNames(object, nm),
  package = "stats", differs = names_differ
)
shape_overload("rownames", overload_axis_names(1L), differs = names_differ)
shape_overload("colnames", overload_axis_names(2L), differs = names_differ)
shape_overload("rownames<-", overload_axis_names_set(1L), differs = names_differ)
shape_overload("colnames<-", overload_axis_names_set(2L), differs = names_differ)
