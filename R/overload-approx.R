# approx(): interpolation by a binary search of all at once.

overload_approx <- function(x, y = NULL, xout, method = "linear", n = 50, yleft, yright, rule = 1, f = 0, ties = mean,
                        na.rm = TRUE) {
  call <- method_call("approx")
  refuse <- function(name, ...) {
    abort(sprintf("approx(): `%s` must %s", name, sprintf(...)), op = "approx", operand = name, call = call)
  }
  method <- check_start_of_choice(method, "method", c("linear", "constant"), call)
  check_flag(na.rm, "na.rm", call)
  if (!(is.numeric(rule) && length(rule) %in% 1:2 && all(rule %in% 1:2))) {
    refuse("rule", "be 1 or 2, or two of them, not %s", describe(rule))
  }
  if (!(is_one_number(f) && f >= 0 && f <= 1)) {
    refuse("f", "be a number from 0 to 1 that is known, not %s", describe(f))
  }
  as_they_are <- identical(ties, "ordered")
  means <- list("mean", base::mean, patch_of(base::mean))
  if (!as_they_are && !any(vapply(means, identical, NA, ties))) {
    refuse("ties", "be mean or \"ordered\" for values of programs")
  }
  both <- x_and_y(x, y)
  x <- both$x
  y <- both$y
  ends <- list(if (!missing(yleft)) yleft, if (!missing(yright)) yright)
  places <- if (missing(xout)) NULL else xout
  given <- list(x, y, places, ends[[1L]], ends[[2L]])
  names <- c("x", "y", "xout", "yleft", "yright")
  used <- !vapply(given, is.null, NA)
  # With a double, as an NA alone is a logical.
  parts <- common(c(given[used], list(0)), "approx()", c(names[used], "f"), call)
  given[used] <- lapply(parts[seq_len(sum(used))], as_column)
  check_kind(given[[1L]], "a floating-point number", "approx()", "x", call)
  if (length(given[[1L]]) != length(given[[2L]])) {
    refuse("y", "have %.0f elements as `x` has, not %.0f", length(given[[1L]]), length(given[[2L]]))
  }
  if (length(given[[1L]]) < (if (method == "linear") 2L else 1L)) {
    refuse("x", "have %s to interpolate", if (method == "linear") "two elements or more" else "elements")
  }
  for (i in 4:5) {
    if (used[[i]] && length(given[[i]]) != 1L) {
      refuse(names[[i]], "be one number, not %s", type_text(given[[i]]))
    }
  }
  points <- points_in_order(given[[1L]], given[[2L]], as_they_are, na.rm)
  if (is.null(places) && !missing(xout)) {
    return(list(x = NULL, y = filled(0, new_type(given[[1L]]@dtype, 0L))))
  }
  if (is.null(places)) {
    n <- count_of_places(n, call)
    from <- first_of(points$x)
    given[[3L]] <- evenly(from, at_place(points$x, points$last), n)
  }
  rule <- rep_len(rule, 2L)
  outside <- Map(function(value, rule, inside) {
    if (!is.null(value)) value else if (rule == 1) filled(NaN, inside) else inside
  }, given[4:5], rule, list(first_of(points$y), at_place(points$y, points$last)))
  list(
    x = if (is.null(places)) given[[3L]] else places_as_given(places, given[[3L]]),
    y = interpolated(points, given[[3L]], outside, method, f)
  )
}

# R gives the places back as they came. R's doubles are of the dtype that they have in the program.
places_as_given <- function(places, column) {
  if (is_value(places)) places else if (is.double(places)) from_column(column, r_shape(places)) else places
}

# What R's xy.coords() makes of them: two vectors, a list of two, two columns of a matrix, parts of complex numbers, or
# heights alone
x_and_y <- function(x, y) {
  if (!is.null(y)) {
    list(x = x, y = y)
  } else if (if (is_value(x)) is_complex(x@dtype) else is.complex(x)) {
    list(x = Re(x), y = Im(x))
  } else if ((if (is_value(x)) rank_of(x) else length(dim(x))) == 2L && ncol(x) > 0L) {
    if (ncol(x) == 1L) x_and_y(x[, 1L], NULL) else list(x = x[, 1L], y = x[, 2L])
  } else if (is.list(x) && all(c("x", "y") %in% names(x))) {
    x[c("x", "y")]
  } else {
    list(x = seq_along(x), y = x)
  }
}

# As R's seq(length.out = n): places from one value of rank 0 to another, which is itself the last one
evenly <- function(from, to, n) {
  if (n == 1L) {
    return(reshaped(from, 1L))
  }
  steps <- hlo_iota(from@dtype, n)
  all <- from + steps * ((to - from) / (n - 1))
  selected(steps == n - 1, repeated(to, n), all)
}

# How many places are asked for: R rounds up.
count_of_places <- function(n, call) {
  check_count(n, "n", call)
  check_count(ceiling(n), "n", call, 1)
}

# Sorted by x, without what is NaN, which is moved behind `last`; of equal ones each has the mean of their y.
points_in_order <- function(x, y, as_they_are, na.rm) {
  if (na.rm) {
    x <- selected(where_nan(y), filled(NaN, x), x)
  }
  if (!as_they_are || na.rm) {
    at <- sorted_along(if (as_they_are) behind_nan(x) else x)[[2L]]
    x <- gathered(x, at, 1L)
    y <- gathered(y, at, 1L)
  }
  missing <- where_nan(x)
  last <- hlo_sum(converted(!missing, "i32")) - 1L
  if (!as_they_are) {
    first <- count_before(x, x, FALSE)
    put <- function(part) scattered("add", filled(0, x), first, selected(missing, filled(0, x), part), 1L)
    count <- put(filled(1, x))
    y <- gathered(put(y) / selected(count == 0, filled(1, count), count), first, 1L)
  }
  list(x = x, y = y, last = last)
}

# In order but for NaN
behind_nan <- function(x) {
  place <- hlo_iota(x@dtype, x@shape, 1L)
  selected(where_nan(x), x, place)
}

first_of <- function(x) reshaped(sliced(x, 1L, 1L), integer())

at_place <- function(x, at) reshaped(gathered(x, reshaped(hlo_max(at, 0L), 1L), 1L), integer())

interpolated <- function(points, at, outside, method, f) {
  linear <- method == "linear"
  last <- hlo_max(repeated(points$last, at@shape), 0L)
  low <- hlo_max(count_before(points$x, at, TRUE) - 1L, 0L)
  # The last element ends a piece and begins none.
  if (linear) {
    low <- hlo_min(low, hlo_max(last - 1L, 0L))
  }
  high <- hlo_min(low + 1L, last)
  x0 <- gathered(points$x, low, 1L)
  x1 <- gathered(points$x, high, 1L)
  y0 <- gathered(points$y, low, 1L)
  y1 <- gathered(points$y, high, 1L)
  y <- if (linear) {
    # From the end of the piece where it is met, so that the result there is exact and has the piece's slope.
    ends <- at == x1
    step <- x1 - x0
    share <- (at - selected(ends, x1, x0)) / selected(step == 0, filled(1, step), step)
    met <- selected(ends, y1, y0)
    rise <- y1 - y0
    # Where the other end is infinite or NaN, too.
    selected(share == 0 & !(abs(rise) < Inf), met, met + rise * share)
  } else {
    between <- (if (f < 1) y0 * (1 - f) else filled(0, y0)) + (if (f > 0) y1 * f else filled(0, y1))
    selected(at == x0, y0, between)
  }
  y <- selected(at < repeated(first_of(points$x), at@shape), repeated(reshaped(outside[[1L]], integer()), at@shape), y)
  beyond <- at > repeated(at_place(points$x, points$last), at@shape)
  y <- selected(beyond, repeated(reshaped(outside[[2L]], integer()), at@shape), y)
  y <- selected(where_nan(at), at, y)
  # Too few points are left.
  least <- if (linear) 1L else 0L
  selected(repeated(points$last < least, at@shape), filled(NaN, y), y)
}

overload("approx", "stats", overload_approx,
  topic = "Sorting", dtypes = "real numbers",
  differs = paste(
    "`ties` is mean or \"ordered\". Where R raises an error as all but one element are NaN the result is NaN. At one",
    "of `x` the slope is that of the piece to its right, at the last one that of the piece before. Computed positions",
    "that are equal but for rounding may be one here and two in R, or the other way round."
  )
)
