# Summaries of values: the group Summary, means, and where the extremes are.

#' @export
Summary.xlaffi_value <- function(..., na.rm = FALSE) {
  shown <- paste0(.Generic, "()")
  call <- method_call(.Generic)
  # R adds it.
  call$na.rm <- if (!isFALSE(na.rm)) na.rm
  check_known_flag(na.rm, "na.rm", shown, call)
  switch(.Generic,
    sum = sum_of(list(...), na.rm, call),
    prod = prod_of(list(...), na.rm, call),
    max = extremum_of("reduce_max", list(...), na.rm, shown, call),
    min = extremum_of("reduce_min", list(...), na.rm, shown, call),
    range = range_of(list(...), na.rm, call),
    any = logical_summary("reduce_or", known_logicals(list(...), FALSE, na.rm), shown, call),
    all = logical_summary("reduce_and", known_logicals(list(...), TRUE, na.rm), shown, call)
  )
}

# Logicals, of which those that are NA in R are `neutral` where it leaves them out
known_logicals <- function(parts, neutral, na.rm) {
  if (!na.rm) {
    return(parts)
  }
  lapply(parts, function(x) {
    unknown <- if (is_value(x) && x@dtype == "pred") undecided(x)
    if (is.null(unknown)) x else selected(unknown, filled(neutral, x), x)
  })
}

check_known_flag <- function(x, name, shown, call) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort(sprintf("%s: `%s` must be TRUE or FALSE, not %s", shown, name, describe(x)),
      op = sub("()", "", shown, fixed = TRUE), operand = name, call = call
    )
  }
}

# The arguments as values of one dtype, logicals as integers. NULL stands for nothing.
summands <- function(parts, shown, call) {
  parts <- Filter(Negate(is.null), parts)
  lapply(common(parts, shown, argument_labels(parts), call), as_numbers)
}

argument_labels <- function(parts) ifelse(nzchar(names2(parts)), names2(parts), "...")

# Not a number, element by element; integers are all numbers.
where_nan <- function(x) compared(x, x, "NE", "is.nan()")

# What R's NA and NaN are replaced by
without_nan <- function(x, number, na_rm = TRUE) {
  if (!na_rm || !is_inexact(x@dtype)) {
    return(x)
  }
  nan <- where_nan(x)
  as_choice(selected(nan, filled(number, x), x))
}

# `x` with no derivative where it is NaN, for what leaves that out in another way
apart_from_nan <- function(x) if (isTRUE(trace_state$differentiated)) without_nan(x, NaN) else x

sum_of <- function(parts, na_rm, call) {
  parts <- summands(parts, "sum()", call)
  integers <- length(parts) && parts[[1L]]@dtype == "i32"
  if (integers) parts <- lapply(parts, wide_summands, na_rm)
  sums <- lapply(parts, function(x) reduced("reduce_add", without_nan(x, 0, na_rm), NULL, "sum()", call))
  total <- Reduce(`+`, sums)
  if (integers) r_integers(total, !r_integer_range(total)) else total
}

# R's integers as 64-bit ones; in place of NA a number with which every sum is too large
wide_summands <- function(x, na_rm) {
  wide <- converted(x, "i64")
  if (may_have_na(x)) selected(is_na_integer(x), filled(if (na_rm) 0 else 2^40, wide), wide) else wide
}

# Which 64-bit integers R's integers have a place for
r_integer_range <- function(x) {
  largest <- .Machine$integer.max
  x <= filled(largest, x) & x >= filled(-largest, x)
}

# 64-bit integers as R's, which are NA where they are `too_large`
r_integers <- function(x, too_large) {
  x <- converted(x, "i32")
  selected(too_large, filled(NA_integer_, x), x)
}

# R's products of integers are doubles.
prod_of <- function(parts, na_rm, call) {
  parts <- lapply(summands(parts, "prod()", call), as_doubles)
  parts <- lapply(parts, without_nan, 1, na_rm)
  product <- Reduce(`*`, lapply(parts, function(x) reduced("reduce_multiply", x, NULL, "prod()", call)))
  if (!length(parts) || !is_float(product@dtype)) {
    return(product)
  }
  every <- function(op, test) {
    Reduce(if (op == "reduce_or") `|` else `&`, lapply(parts, function(x) reduced(op, test(x), NULL, "prod()", call)))
  }
  vanishes <- every("reduce_or", function(x) x == filled(0, x)) & every("reduce_and", is.finite)
  with_zeros(product, vanishes)
}

# Products are 0 where `vanishes`, though others of the factors, multiplied first, have overflowed. Their derivatives
# stay.
with_zeros <- function(product, vanishes) {
  mended <- selected(vanishes & where_nan(product), filled(0, product), product)
  with_slope <- made_once("op product", function() {
    ffi_op(function(value, product) value - 0,
      jvp = function(primals, results, tangents) tangents[[2L]], name = "product"
    )
  })
  with_slope(mended, product)
}

# All elements of all parts in a row, so that equals share a derivative in equal parts.
in_a_row <- function(parts, shown, call) {
  parts <- summands(parts, shown, call)
  x <- if (length(parts) == 1L) parts[[1L]] else concatenated(lapply(parts, as_column), 1L, call)
  check_kind(x, "a real number", shown, "x", call)
  # Of no integers R's extremes are infinite.
  if (length(x) == 0L) as_doubles(x) else x
}

extremum_of <- function(op, parts, na_rm, shown, call) extremum(op, in_a_row(parts, shown, call), na_rm, shown, call)

extremum <- function(op, x, na_rm, shown, call) {
  largest <- op == "reduce_max"
  if (may_have_na(x)) {
    other <- filled((if (largest) -1 else 1) * .Machine$integer.max, x)
    found <- reduced(op, selected(is_na_integer(x), other, x), NULL, shown, call)
    return(if (na_rm) na_if_all(found, x) else na_if_any(found, x))
  }
  reduced(op, without_nan(x, if (largest) -Inf else Inf, na_rm), NULL, shown, call)
}

range_of <- function(parts, na_rm, call) {
  finite <- if (is.null(parts$finite)) FALSE else parts$finite
  parts$finite <- NULL
  check_known_flag(finite, "finite", "range()", call)
  x <- in_a_row(parts, "range()", call)
  end <- function(op, number) {
    known <- if (finite && is_float(x@dtype)) selected(is.finite(x), x, filled(number, x)) else x
    reshaped(extremum(op, known, na_rm || finite, "range()", call), 1L)
  }
  concatenated(list(end("reduce_min", Inf), end("reduce_max", -Inf)), 1L, call)
}

logical_summary <- function(op, parts, shown, call) {
  parts <- Filter(Negate(is.null), parts)
  parts <- lapply(common(parts, shown, argument_labels(parts), call), function(x) {
    if (is_inexact(x@dtype)) {
      abort(sprintf("%s: `...` must be logicals or integers, not %s", shown, type_text(x)),
        op = sub("()", "", shown, fixed = TRUE), operand = "...", hint = "`x != 0` gives logicals.", call = call
      )
    }
    reduced(op, if (x@dtype == "pred") x else x != 0L, NULL, shown, call)
  })
  Reduce(if (op == "reduce_or") `|` else `&`, parts)
}

for (name in c("sum", "prod", "max", "min", "range", "any", "all")) {
  overload(name, "base",
    by = "group", topic = "Summaries",
    dtypes = switch(name,
      sum = "all numbers",
      prod = "real and complex numbers, as doubles",
      any = "logicals and integers",
      all = "logicals and integers",
      "real numbers"
    ),
    derivative = if (name %in% c("any", "all")) "none" else "yes",
    differs = switch(name,
      sum = paste(
        "Sums are of the dtype's precision, without R's longer numbers. Where those of R's integers are too large they",
        "are NA (R has doubles), and other integers wrap round. Comparisons with NaN count as FALSE."
      ),
      prod = paste(
        "Products are of the dtype's precision and range, without R's longer numbers: NaN where a part of one is too",
        "large and another too small."
      ),
      any = ,
      all = "Numbers with a fraction are refused, where R warns. Comparisons with NaN are FALSE, where R has NA.",
      "Of nothing they are infinite, without R's warning; of integers that are all NA they are NA, where R has doubles."
    )
  )
}
rm(name)

#' @export
mean.xlaffi_value <- function(x, trim = 0, na.rm = FALSE, ...) {
  call <- method_call("mean")
  check_dots_empty(..., call = call)
  check_known_flag(na.rm, "na.rm", "mean()", call)
  if (!is_one_number(trim)) {
    abort(sprintf("mean(): `trim` must be one number that is known, not %s", describe(trim)),
      op = "mean", operand = "trim", call = call
    )
  }
  numbers <- mean_operand(x, "mean()", call)
  if (trim > 0 && length(x)) {
    trimmed_mean(x, numbers, trim, na.rm, call)
  } else {
    mean_along(numbers, seq_along(numbers@shape), na.rm)
  }
}

# Of the elements in order, without a share of them at each end. The median is of the type that was given.
trimmed_mean <- function(given, x, trim, na_rm, call) {
  if (na_rm || is_complex(x@dtype)) {
    abort("mean(): `trim` is not available with `na.rm = TRUE` or for complex values of programs", "UNIMPLEMENTED",
      op = "mean", operand = "trim", call = call
    )
  }
  if (trim >= 0.5) {
    return(median.xlaffi_value(given))
  }
  x <- as_column(x)
  left_out <- as.integer(floor(length(x) * trim))
  kept <- sliced(sorted_along(x)[[1L]], left_out + 1L, length(x) - left_out)
  nan_if_any(mean_along(kept, 1L), x)
}

overload("mean", "base",
  f = mean.xlaffi_value, by = "method", topic = "Summaries", dtypes = "all numbers",
  differs = paste(
    "`trim` is known, and without `na.rm`. Sums are of the dtype's precision, without R's longer numbers. Comparisons",
    "with NaN count as FALSE."
  )
)

# Means of integers of any dtype are doubles.
mean_operand <- function(x, shown, call) {
  x <- if (x@dtype == "pred" || is_integer(x@dtype)) converted(x, "f64") else x
  check_kind(x, "a floating-point or complex number", shown, "x", call)
  x
}

# Means along axes, of what is a number with `na_rm`.
mean_along <- function(x, axes, na_rm = FALSE) {
  total <- hlo_sum(without_nan(x, 0, na_rm), axes)
  total / if (na_rm) count_along(x, axes) else prod(x@shape[axes])
}

# How many are numbers, in the dtype of `x`
count_along <- function(x, axes) {
  if (is_inexact(x@dtype)) hlo_sum(converted(!where_nan(x), x@dtype), axes) else prod(x@shape[axes])
}

# Positions of the first extreme; R's integer NA, which XLA has as the smallest integer, where all is NaN.
which_extreme <- function(x, largest, shown, call) {
  if (!is_value(x)) {
    x <- as_value(x, "x", call = call)
  }
  x <- as_numbers(as_column(x))
  check_kind(x, "a real number", shown, "x", call)
  if (length(x) == 0L) {
    return(constant(integer(), "i32", 0L, "x"))
  }
  at <- extremum_places(x, 1L, largest, nan = FALSE)$first
  selected(at == .Machine$integer.max, filled(NA_integer_, at), at + 1L)
}

for (name in c("which.max", "which.min")) {
  overload(name, "base",
    f = local({
      name <- name
      function(x) {
        call <- method_call(name)
        which_extreme(x, name == "which.max", paste0(name, "()"), call)
      }
    }), topic = "Summaries",
    dtypes = "real numbers", derivative = "none",
    differs = "Where all elements are NaN the position is NA, as its length must be known."
  )
}

# R takes both as vectors.
extremum_of_two <- function(op, x, y, na_rm, shown, names, call) {
  both <- if (is.null(common_shape(x@shape, y@shape))) list(as_column(x), as_column(y)) else list(x, y)
  both <- operands(both[[1L]], both[[2L]], shown, names, call)
  x <- both[[1L]]
  y <- both[[2L]]
  if (na_rm && is_float(x@dtype)) {
    both <- lapply(both, apart_from_nan)
    # Only where the other one is a number: of nothing but NaN the result is NaN.
    x <- selected(where_nan(both[[1L]]), both[[2L]], both[[1L]])
    y <- selected(where_nan(both[[2L]]), both[[1L]], both[[2L]])
  }
  if (na_rm && may_have_na(x)) x <- selected(is_na_integer(x), both[[2L]], x)
  if (na_rm && may_have_na(y)) y <- selected(is_na_integer(y), both[[1L]], y)
  with_na_of(bind(op, list(x, y), x@dtype, x@shape), list(x, y))
}

# Elementwise extremes of several arguments. As in R, dimensions are those of the first one or there are none.
parallel_extremum <- function(op, parts, na_rm, shown, call) {
  check_known_flag(na_rm, "na.rm", shown, call)
  if (!length(parts)) {
    abort(sprintf("%s: no arguments", shown), op = sub("()", "", shown, fixed = TRUE), operand = "...", call = call)
  }
  if (length(parts) == 1L && is_value(parts[[1L]])) {
    return(parts[[1L]])
  }
  # R's names for what has none
  names(parts) <- ifelse(nzchar(names2(parts)), names2(parts), sprintf("..%d", seq_along(parts)))
  given <- lapply(parts, function(part) if (is.null(part)) logical() else part)
  parts <- summands(given, shown, call)
  check_kinds(parts, given, "a real number", shown, names(given), call)
  result <- parts[[1L]]
  for (i in seq_along(parts)[-1L]) {
    result <- extremum_of_two(op, result, parts[[i]], na_rm, shown, names(given)[c(1L, i)], call)
  }
  first <- parts[[1L]]@shape
  if (identical(result@shape, first)) {
    return(result)
  }
  # Of vectors there are no dimensions to give back.
  as_first <- length(first) > 1L && length(result) == prod(first)
  if (as_first) from_column(as_column(result), first) else without_dim(result)
}

overload("pmax", "base",
  f = function(..., na.rm = FALSE) {
    call <- method_call("pmax")
    parallel_extremum("maximum", list(...), na.rm, "pmax()", call)
  },
  topic = "Summaries", dtypes = "real numbers"
)

overload("pmin", "base",
  f = function(..., na.rm = FALSE) {
    call <- method_call("pmin")
    parallel_extremum("minimum", list(...), na.rm, "pmin()", call)
  },
  topic = "Summaries", dtypes = "real numbers"
)
