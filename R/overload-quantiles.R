# What goes by the order of the elements: medians, quantiles and what is made of them.

real_column <- function(x, shown, call) {
  x <- mean_operand(as_column(as_value(x, "x", call = call)), shown, call)
  check_kind(x, "a floating-point number", shown, "x", call)
  x
}

# Elements of a vector at positions counted from 1: numbers, or a value of integers
ordered_at <- function(x, at) {
  at <- if (is_value(at)) at else constant(as.integer(at), "i32", length(at), "at")
  gathered(x, at - 1L, 1L)
}

# NaN where any element is, as R has NA there
nan_if_any <- function(result, x) {
  selected(repeated(reduced("reduce_or", where_nan(x), NULL, "quantile()"), result@shape), filled(NaN, result), result)
}

median.xlaffi_value <- function(x, na.rm = FALSE, ...) {
  call <- method_call("median")
  check_dots_empty(..., call = call)
  check_known_flag(na.rm, "na.rm", "median()", call)
  x <- as_column(x)
  check_kind(as_numbers(x), "a real number", "median()", "x", call)
  size <- length(x)
  if (size == 0L && x@dtype == "pred") {
    abort("median(): of no logicals it is NA, which logicals of a program cannot be",
      op = "median", operand = "x", call = call
    )
  }
  if (size == 0L) {
    return(filled(if (x@dtype == "i32") NA_integer_ else NaN, as_scalar_type(x)))
  }
  # How many are left is not known, so these are doubles.
  if (na.rm && (is_float(x@dtype) || may_have_na(x))) {
    return(quantiles(mean_operand(x, "median()", call), 0.5, 7, TRUE, scalar = TRUE))
  }
  # One element as it is, the mean of two as doubles
  whole <- size %% 2L == 1L
  x <- if (whole) x else mean_operand(x, "median()", call)
  sorted <- sorted_along(x)[[1L]]
  middle <- ordered_at(sorted, (size + 1L) %/% 2L + if (whole) 0L else 0:1)
  middle <- if (whole) reshaped(middle, integer()) else hlo_sum(middle * 0.5)
  if (is_float(middle@dtype)) nan_if_any(middle, x) else na_if_any(middle, x)
}

as_scalar_type <- function(x) new_type(x@dtype, integer())

overload("median", "stats",
  f = median.xlaffi_value, by = "method", topic = "Summaries", dtypes = "real numbers",
  differs = "R's NA is NaN where R may give a double; with `na.rm = TRUE` so is the median of integers that may be NA."
)

# Quantiles of a vector at `probs`, numbers or a value. Without `na_rm` the number of elements is known, and so are the
# positions if `probs` are.
quantiles <- function(x, probs, type, na_rm, scalar = FALSE) {
  if (na_rm) x <- apart_from_nan(x)
  sorted <- sorted_along(x)[[1L]]
  size <- if (na_rm) count_along(x, 1L) else length(x)
  if (is_value(size) || is_value(probs)) {
    probs <- converted(as_value(probs, "probs"), "f64")
    size <- repeated(if (is_value(size)) converted(size, "f64") else constant(size, "f64", integer(), "x"), probs@shape)
  }
  place <- quantile_places(size, probs, type)
  within <- function(at) at_least(at_most(at, size), 1)
  at <- function(place) {
    place <- within(place)
    ordered_at(sorted, if (is_value(place)) converted(reshaped(place, length(place)), "i32") else place)
  }
  below <- at(place$below)
  above <- at(place$below + 1)
  share <- as_value(place$share, "probs", new_type("f64", length(below)))
  share <- converted(reshaped(share, length(below)), x@dtype)
  # What a share of 0 or 1 leaves out may be infinite; what is finite is a part of the slope in `probs`.
  leaves_out <- function(limit, other) {
    left <- compared(share, filled(limit, share), "EQ", "quantile()")
    if (is_value(probs)) left & !is.finite(other) else left
  }
  # Equal neighbours may be infinite.
  result <- selected(
    compared(below, above, "EQ", "quantile()") | leaves_out(0, above), below, (1 - share) * below + share * above
  )
  result <- selected(leaves_out(1, below), above, result)
  if (na_rm) {
    none <- compared(reshaped(converted(size, x@dtype), length(below)), filled(0, result), "EQ", "quantile()")
    result <- selected(none, filled(NaN, result), result)
  } else {
    result <- nan_if_any(result, x)
  }
  if (scalar) reshaped(result, integer()) else result
}

at_least <- function(x, limit) if (is_value(x)) hlo_max(x, limit) else pmax(x, limit)

at_most <- function(x, limit) if (is_value(x)) hlo_min(x, limit) else pmin(x, limit)

# The element below, counted from 1 (0 stands for the first one too), and the share of the next one.
quantile_places <- function(size, probs, type) {
  fuzz <- 4 * .Machine$double.eps
  if (type == 7) {
    index <- 1 + at_least(size - 1, 0) * probs
    # The last one has a slope, too: that on its left.
    below <- at_most(floor(index), at_least(size - 1, 1))
    return(list(below = below, share = index - below))
  }
  if (type <= 3) {
    index <- if (type == 3) size * probs - 0.5 else size * probs
    below <- floor(index + fuzz)
    beyond <- as_share(index > below)
    share <- switch(type,
      beyond,
      (beyond + 1) / 2,
      1 - (1 - as_share(index != below)) * (1 - as_share(below %% 2 == 1))
    )
    return(list(below = below, share = share))
  }
  offsets <- switch(type - 3, c(0, 1), c(0.5, 0.5), c(0, 0), c(1, 1), c(1 / 3, 1 / 3), c(3 / 8, 3 / 8))
  index <- offsets[[1L]] + probs * (size + 1 - offsets[[1L]] - offsets[[2L]])
  below <- floor(index + fuzz)
  share <- index - below
  list(below = below, share = share * as_share(abs(share) >= fuzz))
}

as_share <- function(x) if (is_value(x)) converted(x, "f64") else as.numeric(x)

check_probs <- function(probs, shown, call) {
  if (is_value(probs)) {
    check_kind(probs, "a floating-point number", shown, "probs", call)
    return(as_column(probs))
  }
  eps <- 100 * .Machine$double.eps
  if (!is.numeric(probs) || anyNA(probs) || any(probs < -eps | probs > 1 + eps)) {
    abort(sprintf("%s: `probs` must be numbers from 0 to 1, not %s", shown, values_text(probs)),
      op = sub("()", "", shown, fixed = TRUE), operand = "probs", call = call
    )
  }
  pmax(0, pmin(1, as.vector(probs)))
}

check_quantile_type <- function(type, shown, call) {
  if (!is_one_number(type) || !type %in% 1:9) {
    abort(sprintf("%s: `type` must be a number from 1 to 9, not %s", shown, describe(type)),
      op = sub("()", "", shown, fixed = TRUE), operand = "type", call = call
    )
  }
}

quantile.xlaffi_value <- function(x, probs = seq(0, 1, 0.25), na.rm = FALSE, names = TRUE, type = 7, ...) {
  call <- method_call("quantile")
  dots <- list(...)
  dots$digits <- NULL
  do.call(check_dots_empty, c(dots, list(call = call)))
  check_known_flag(na.rm, "na.rm", "quantile()", call)
  check_quantile_type(type, "quantile()", call)
  probs <- check_probs(probs, "quantile()", call)
  own <- x@dtype
  x <- real_column(x, "quantile()", call)
  if (length(x) == 0L || length(probs) == 0L) {
    return(constant(NaN, x@dtype, length(probs), "x"))
  }
  y <- quantiles(x, probs, type, na.rm)
  # These types give elements, and nothing between them.
  own <- if (type %in% c(1, 3)) own else "f64"
  switch(own,
    pred = compared(y, 0, "NE", "quantile()"),
    i32 = converted(y, own),
    y
  )
}

overload("quantile", "stats",
  f = quantile.xlaffi_value, by = "method", topic = "Summaries", dtypes = "real numbers",
  differs = paste(
    "Names are left out, results are doubles but of types 1 and 3; with NaN among the elements all are NaN, where R",
    "raises an error."
  )
)

overload("IQR", "stats",
  f = function(x, na.rm = FALSE, type = 7) {
    call <- method_call("IQR")
    check_known_flag(na.rm, "na.rm", "IQR()", call)
    check_quantile_type(type, "IQR()", call)
    x <- real_column(x, "IQR()", call)
    if (length(x) == 0L) {
      return(constant(NaN, x@dtype, integer(), "x"))
    }
    hlo_sum(quantiles(x, c(0.25, 0.75), type, na.rm) * c(-1, 1))
  }, topic = "Summaries", dtypes = "real numbers", differs = "R's NA is NaN."
)

overload("mad", "stats",
  f = function(x, center = median(x), constant = 1.4826, na.rm = FALSE, low = FALSE, high = FALSE) {
    call <- method_call("mad")
    check_known_flag(na.rm, "na.rm", "mad()", call)
    if (!isFALSE(low) || !isFALSE(high)) {
      abort("mad(): `low` and `high` are not available for values of programs", "UNIMPLEMENTED",
        op = "mad", operand = "low", call = call
      )
    }
    x <- real_column(x, "mad()", call)
    center <- if (missing(center)) median.xlaffi_value(x, na.rm) else center
    both <- operands(x, center, "mad()", c("x", "center"), call)
    constant * median.xlaffi_value(abs(both[[1L]] - both[[2L]]), na.rm)
  }, topic = "Summaries", dtypes = "real numbers", differs = "`low` and `high` are refused."
)

overload("fivenum", "stats",
  f = function(x, na.rm = TRUE) {
    call <- method_call("fivenum")
    check_known_flag(na.rm, "na.rm", "fivenum()", call)
    x <- real_column(x, "fivenum()", call)
    if (length(x) == 0L) {
      return(constant(NaN, x@dtype, 5L, "x"))
    }
    size <- if (na.rm) converted(count_along(x, 1L), "f64") else length(x)
    quarter <- floor((size + 3) / 2) / 2
    at <- list(1, quarter, (size + 1) / 2, size + 1 - quarter, size)
    at <- if (na.rm) {
      concatenated(lapply(at, function(place) reshaped(as_value(place, "x", size), 1L)), 1L, call)
    } else {
      unlist(at)
    }
    sorted <- sorted_along(x)[[1L]]
    element <- function(place) ordered_at(sorted, if (is_value(place)) converted(place, "i32") else place)
    result <- 0.5 * (element(floor(at)) + element(ceiling(at)))
    if (na.rm) result else nan_if_any(result, x)
  }, topic = "Summaries", dtypes = "real numbers", differs = "Of nothing NaN, where R's NA are logicals."
)
