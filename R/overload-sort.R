# sort(), order(), rank(), findInterval() and what goes with them.

sort_overload <- function(name, f, by = "conversion", dtypes = "all", derivative = "none", differs = "") {
  overload(name, "base", f, by, topic = "Sorting", dtypes = dtypes, derivative = derivative, differs = differs)
}

# Where NaN goes: R leaves it out by default, which would give results of another length.
nan_first <- function(na.last, op, call) {
  if (!(is.logical(na.last) && length(na.last) == 1L)) {
    abort(sprintf("%s: `na.last` must be TRUE or FALSE, not %s", op, describe(na.last)),
      operand = "na.last", call = call
    )
  }
  isFALSE(na.last)
}

refuse_dropping <- function(na.last, op, call) {
  if (length(na.last) == 1L && is.na(na.last)) {
    abort(sprintf("%s: how many elements are left without NaN is not known while the program is written", op),
      operand = "na.last", hint = "`na.last = TRUE` and FALSE keep them.", call = call, unknown = TRUE
    )
  }
}

check_sort_method <- function(method, call) {
  if (!is.null(method) && !(is.character(method) && all(method %in% c("auto", "radix", "shell", "quick")))) {
    abort(sprintf("`method` must be R's name of one, not %s", describe(method)), operand = "method", call = call)
  }
}

overload_sort <- function(x, decreasing = FALSE, na.last = NA, partial = NULL, method = NULL, index.return = FALSE,
                          ...) {
  call <- method_call("sort")
  check_dots_empty(..., call = call)
  sort_elements(x, decreasing, na.last, partial, method, index.return, "sort()", call)
}

overload_sort_int <- function(x, partial = NULL, na.last = NA, decreasing = FALSE, method = NULL,
                              index.return = FALSE) {
  call <- method_call("sort.int")
  sort_elements(x, decreasing, na.last, partial, method, index.return, "sort.int()", call)
}

sort_elements <- function(x, decreasing, na.last, partial, method, index.return, op, call) {
  check_flag(decreasing, "decreasing", call)
  check_flag(index.return, "index.return", call)
  check_sort_method(method, call)
  if (!is.null(partial)) {
    abort(sprintf("%s: values are sorted as a whole, without `partial`", op), operand = "partial", call = call)
  }
  x <- as_column(as_value(x, "x", call = call))
  first <- nan_first(na.last, op, call)
  if (is_complex(x@dtype) || may_have_na(x)) {
    at <- order_of(list(x), decreasing, first)
    found <- list(gathered(x, at, 1L), at)
  } else {
    found <- sorted_along(x, decreasing, first)
  }
  if (index.return) list(x = found[[1L]], ix = found[[2L]] + 1L) else found[[1L]]
}

sort_differs <- "NaN stays, at the end: R leaves it out unless `na.last` is TRUE or FALSE."

sort_overload("sort", overload_sort, "method", derivative = "yes", differs = sort_differs)
sort_overload("sort.int", overload_sort_int, derivative = "yes", differs = sort_differs)

# The positions, counted from 0, that put the keys in order, the last key first.
order_of <- function(keys, decreasing, nan_first) {
  parts <- lapply(keys, function(key) if (is_complex(key@dtype)) list(Re(key), Im(key)) else list(with_nan(key)))
  decreasing <- rep(rep_len(decreasing, length(keys)), lengths(parts))
  parts <- unlist(parts, recursive = FALSE)
  order <- NULL
  for (i in rev(seq_along(parts))) {
    key <- if (is.null(order)) parts[[i]] else gathered(parts[[i]], order, 1L)
    at <- sorted_along(key, decreasing[[i]], nan_first)[[2L]]
    order <- if (is.null(order)) at else gathered(order, at, 1L)
  }
  order
}

sort_overload("order", function(..., na.last = TRUE, decreasing = FALSE, method = NULL) {
  call <- method_call("order")
  refuse_dropping(na.last, "order()", call)
  check_sort_method(method, call)
  keys <- lapply(list(...), function(key) as_column(as_value(key, "...", call = call)))
  if (length(unique(lengths(keys))) != 1L) {
    abort(sprintf("order(): keys must have one length, not %s", toString(lengths(keys))), operand = "...", call = call)
  }
  if (!is.logical(decreasing) || anyNA(decreasing) || !length(decreasing) %in% c(1L, length(keys))) {
    abort("order(): `decreasing` must be TRUE or FALSE, or one of them for each key",
      operand = "decreasing", call = call
    )
  }
  order_of(keys, decreasing, nan_first(na.last, "order()", call)) + 1L
})

overload_rank <- function(x, na.last = "keep", ties.method = c("average", "first", "last", "random", "max", "min")) {
  call <- method_call("rank")
  ties <- check_choice(ties.method, "ties.method", c("average", "first", "last", "random", "max", "min"), call)
  if (ties == "random") {
    abort("rank(): programs have no random numbers without a key", "UNIMPLEMENTED",
      operand = "ties.method", call = call
    )
  }
  refuse_dropping(na.last, "rank()", call)
  keep <- identical(na.last, "keep")
  first <- !keep && nan_first(na.last, "rank()", call)
  check_kind(x, if (x@dtype == "pred") "a logical or an integer" else "a real number", "rank()", "x", call)
  ranks_of(as_column(x), ties, keep, first)
}

ranks_of <- function(x, ties, keep, first) {
  x <- if (x@dtype == "pred") converted(x, "i32") else with_nan(x)
  i32 <- function(op, x, y) bind(op, list(x, y), "i32", x@shape)
  counted <- hlo_iota("i32", x@shape)
  ordered <- sorted_along(x, FALSE, first)
  by_place <- i32("add", scattered("set", filled(0L, counted), ordered[[2L]], counted, 1L), filled(1L, counted))
  sorted <- if (first) sorted_along(x)[[1L]] else ordered[[1L]]
  less <- count_before(sorted, x, FALSE)
  up_to <- count_before(sorted, x, TRUE)
  dtype <- if (x@dtype == "f32") "f32" else "f64"
  nan <- if (is_float(x@dtype)) compared(x, x, "NE", "rank()")
  place <- by_place
  if (first && !is.null(nan)) {
    # NaN that came first does not count here.
    missing <- hlo_sum(converted(nan, "i32"))
    place <- i32("subtract", by_place, repeated(missing, by_place@shape))
  }
  ranks <- switch(ties,
    min = i32("add", less, filled(1L, less)),
    max = up_to,
    first = place,
    last = i32("subtract", i32("add", i32("add", less, up_to), filled(1L, less)), place),
    average = {
      sum <- converted(i32("add", i32("add", less, up_to), filled(1L, less)), dtype)
      bind("multiply", list(sum, filled(0.5, sum)), dtype, x@shape)
    }
  )
  if (is.null(nan)) {
    return(ranks)
  }
  if (keep) {
    return(selected(nan, filled(missing_number(ranks@dtype), ranks), ranks))
  }
  if (first) {
    ranks <- bind("add", list(ranks, repeated(converted(missing, ranks@dtype), ranks@shape)), ranks@dtype, x@shape)
  }
  selected(nan, converted(by_place, ranks@dtype), ranks)
}

# It is not the same in all versions of R.
formals(overload_rank)$na.last <- formals(base::rank)$na.last

sort_overload("rank", overload_rank, dtypes = "real", differs = "No ties by chance. Names are dropped.")

overload_find_interval <- function(x, vec, rightmost.closed = FALSE, all.inside = FALSE, left.open = FALSE) {
  call <- method_call("findInterval")
  check_flag(rightmost.closed, "rightmost.closed", call)
  check_flag(all.inside, "all.inside", call)
  check_flag(left.open, "left.open", call)
  if (!is_value(vec) && is_data(vec) && (anyNA(vec) || is.unsorted(vec))) {
    abort("findInterval(): `vec` must be in ascending order and without NA", operand = "vec", call = call)
  }
  both <- lapply(common(list(x, vec), "findInterval()", c("x", "vec"), call), as_column)
  x <- both[[1L]]
  vec <- both[[2L]]
  check_kind(x, "a real number", "findInterval()", "x", call)
  found <- count_before(vec, x, !left.open)
  size <- length(vec)
  limited <- function(op, by) bind(op, list(found, filled(as.integer(by), found)), "i32", x@shape)
  if (rightmost.closed && size) {
    end <- repeated(reshaped(if (left.open) sliced(vec, 1L, 1L) else sliced(vec, size, size), integer()), x@shape)
    closed <- filled(as.integer(if (left.open) 1L else size - 1L), found)
    found <- selected(compared(x, end, "EQ", "findInterval()"), closed, found)
  }
  if (all.inside) {
    found <- limited("minimum", size - 1L)
    found <- limited("maximum", 1L)
  }
  if (is_float(x@dtype)) {
    found <- selected(compared(x, x, "NE", "findInterval()"), filled(NA_integer_, found), found)
  }
  found
}

sort_overload("findInterval", overload_find_interval,
  dtypes = "real", differs = "That a `vec` that is a value is in order is not checked."
)

sort_overload("is.unsorted", function(x, na.rm = FALSE, strictly = FALSE) {
  call <- method_call("is.unsorted")
  check_flag(strictly, "strictly", call)
  if (!isFALSE(na.rm)) {
    abort("is.unsorted(): values are compared as they are, without `na.rm`", operand = "na.rm", call = call)
  }
  x <- as_column(x)
  check_kind(x, if (x@dtype == "pred") "a logical or an integer" else "a real number", "is.unsorted()", "x", call)
  size <- length(x)
  if (size < 2L) {
    return(constant(FALSE, "pred", integer(), "x"))
  }
  before <- seq_len(size - 1L)
  fine <- compared(taken(x, before, 1L), taken(x, before + 1L, 1L), if (strictly) "LT" else "LE", "")
  bad <- converted(bind("not", list(fine), "pred", fine@shape), "i32")
  bad <- reduced("reduce_max", bad, NULL, "is.unsorted()", call)
  compared(bad, 0L, "GT", "is.unsorted()")
}, dtypes = "real", differs = "With NaN it is TRUE where R gives NA.")

sort_overload("tabulate", function(bin, nbins) {
  call <- method_call("tabulate")
  if (missing(nbins)) {
    abort("tabulate(): `nbins` must be given: the largest bin is not known while the program is written",
      operand = "nbins", call = call, unknown = TRUE
    )
  }
  nbins <- check_count(nbins, "nbins", call)
  place <- lapply(counted_positions(as_column(as_value(bin, "bin", call = call)), nbins, 1L, call), as_column)
  none <- constant(0L, "i32", nbins, "nbins")
  at <- selected(place$inside, place$at, filled(-1L, place$at))
  scattered("add", none, at, filled(1L, at), 1L, within = FALSE)
}, dtypes = "numbers", differs = "`nbins` must be given.")
