# splinefun() and spline(): piecewise cubics. R's functions, made of known data, hold their coefficients; of values, as
# `y` of known places `x`, the coefficients are R's for each unit vector, since they are linear in `y`.

# What a function made by splinefun() is on values: `f` holds `z`, knots x with y + d (b + d (c + d d3)) behind each,
# where d is the way from the knot (R's .splinefun()).
convert_spline <- function(f) {
  z <- environment(f)$z
  function(x, deriv = 0L) {
    if (!is_value(x)) {
      return(f(x, deriv))
    }
    kind <- c("periodic", "natural", "fmm")[[z$method]]
    cubic_at(z, x, deriv, kind, sys.call(-1L))
  }
}

# The same of method "monoH.FC", whose function holds places, heights, slopes and the ways between; outside it goes on
# straight or as the cubics at the ends.
convert_hermite <- function(f) {
  data <- environment(f)
  force(data$dx)
  function(x, deriv = 0L, extrapol = c("linear", "cubic")) {
    extrapol <- match.arg(extrapol)
    if (!is_value(x)) {
      return(f(x, deriv, extrapol))
    }
    n <- length(data$x0)
    rise <- diff(data$y0) / data$dx
    low <- data$m[-n]
    high <- data$m[-1L]
    table <- list(
      x = data$x0, y = data$y0, b = data$m,
      c = c((3 * rise - 2 * low - high) / data$dx, 0), d = c((low + high - 2 * rise) / data$dx^2, 0)
    )
    if (extrapol == "cubic") table <- lapply(table, utils::head, n - 1L)
    cubic_at(table, x, deriv, if (extrapol == "linear") "straight" else "fmm", sys.call(-1L))
  }
}

# `table`: x, y, b, c, d, numbers or values of rank 1, in order of x. `kind` says what is done outside.
cubic_at <- function(table, x, deriv, kind, call) {
  shown <- "splinefun()"
  if (!(is_one_number(deriv) && as.integer(deriv) %in% 0:3)) {
    abort(sprintf("%s: `deriv` must be 0, 1, 2 or 3, not %s", shown, describe_leaf(deriv)),
      op = "splinefun", operand = "deriv", call = call
    )
  }
  deriv <- as.integer(deriv)
  parts <- common(c(list(x), unname(table[c("x", "y", "b", "c", "d")]), 0), shown, c("x", rep("y", 6L)), call)
  check_kind(parts[[1L]], "a floating-point number", shown, "x", call)
  at <- as_column(parts[[1L]])
  knots <- parts[[2L]]
  first <- repeated(first_of(knots), at@shape)
  if (kind == "periodic") {
    width <- repeated(reshaped(sliced(knots, length(knots), length(knots)), integer()), at@shape) - first
    at <- selected(width == 0, first, (at - first) %% selected(width == 0, filled(1, width), width) + first)
  }
  place <- hlo_max(count_before(knots, at, TRUE) - 1L, 0L)
  of <- lapply(parts[2:6], gathered, place, 1L)
  way <- at - of[[1L]]
  # Left of all knots straight ones go on straight, natural ones without a cubic part; to the right the last knot's
  # coefficients say what is done.
  if (kind == "natural") {
    of[[5L]] <- selected(at <= first, filled(0, way), of[[5L]])
    if (deriv > 0L) way <- selected(at <= first, filled(0, way), way)
  } else if (kind == "straight") {
    of[4:5] <- lapply(of[4:5], function(part) selected(at < first, filled(0, way), part))
  }
  y <- switch(deriv + 1L,
    of[[2L]] + way * (of[[3L]] + way * (of[[4L]] + way * of[[5L]])),
    of[[3L]] + way * (2 * of[[4L]] + way * (3 * of[[5L]])),
    2 * of[[4L]] + way * (6 * of[[5L]]),
    selected(is.finite(way), 6 * of[[5L]], filled(NaN, way))
  )
  like_argument(y, x)
}

# The coefficients of `y`, a value, at known places `x`
spline_of_values <- function(x, y, method, shown, call) {
  refuse <- function(name, ...) {
    abort(sprintf("%s: `%s` must %s", shown, name, sprintf(...)),
      op = sub("()", "", shown, fixed = TRUE), operand = name, call = call
    )
  }
  both <- x_and_y(x, y)
  x <- both$x
  y <- both$y
  if (method %in% c("monoH.FC", "hyman")) {
    refuse("method", "be \"fmm\", \"periodic\" or \"natural\" where `y` is a value, not \"%s\"", method)
  }
  if (is_value(x) || !is_data(x) || !is.numeric(x) || anyNA(x) || anyDuplicated(x)) {
    refuse("x", "be distinct numbers that are known, not %s", describe_leaf(x))
  }
  y <- as_column(as_doubles(as_value(y, "y", call = call, op = shown)))
  check_kind(y, "a floating-point number", shown, "y", call)
  n <- length(x)
  if (length(y) != n || !n) {
    refuse("y", "have %d elements as `x` has, and at least one, not %.0f", n, length(y))
  }
  at <- order(x)
  units <- diag(n)
  if (method == "periodic") units[n, ] <- units[1L, ]
  of_units <- lapply(seq_len(n), function(i) environment(stats::splinefun(x[at], units[, i], method))$z)
  y <- reshaped(gathered(y, constant(at - 1L, "i32", n, "x"), 1L), c(n, 1L))
  part <- function(name) {
    whole <- vapply(of_units, function(z) as.double(z[[name]]), numeric(n))
    as_column(hlo_matmul(constant(matrix(whole, n), y@dtype, c(n, n), name), y))
  }
  c(list(x = as.double(x[at])), sapply(c("y", "b", "c", "d"), part, simplify = FALSE))
}

spline_methods <- c("fmm", "periodic", "natural", "monoH.FC", "hyman")

splinefun_of_values <- function(x, y = NULL, method = "fmm", ties = mean, .call) {
  method <- check_start_of_choice(method, "method", spline_methods, .call)
  table <- spline_of_values(x, y, method, "splinefun()", .call)
  function(x, deriv = 0L) cubic_at(table, value_beside(x, table$y, "x", op = "splinefun()"), deriv, method, sys.call())
}

overload("splinefun", "stats", makes_function("splinefun", splinefun_of_values),
  topic = "Sorting", dtypes = "real numbers", functional = TRUE,
  differs = paste(
    "`y` may be a value where `x` is known, with method \"fmm\", \"periodic\" or \"natural\"; then NaN in `y` makes",
    "all NaN, and a periodic `y` ends as it begins. At a knot derivatives that jump are those of the piece to its",
    "right; `deriv = 3` with method \"monoH.FC\" is the derivative, where R's lacks a division by the distance of the",
    "knots."
  )
)

overload_spline <- function(x, y = NULL, n = 3 * length(x), method = "fmm", xmin = min(x), xmax = max(x), xout,
                        ties = mean) {
  call <- method_call("spline")
  method <- check_start_of_choice(method, "method", setdiff(spline_methods, "monoH.FC"), call)
  known <- identical(given_anywhere(x, y), for_r)
  table <- if (known) {
    environment(if (missing(ties)) stats::splinefun(x, y, method) else stats::splinefun(x, y, method, ties))$z
  } else {
    spline_of_values(x, y, method, "spline()", call)
  }
  own <- missing(xout)
  if (!own && !length(xout)) {
    abort("spline(): `xout` must have one element or more", op = "spline", operand = "xout", call = call)
  }
  if (own) {
    if (missing(n)) n <- 3 * length(table$x)
    if (missing(xmin)) xmin <- table$x[[1L]]
    if (missing(xmax)) xmax <- table$x[[length(table$x)]]
    n <- count_of_places(n, call)
    ends <- common(list(xmin, xmax, 0), "spline()", c("xmin", "xmax", "n"), call, function(x) integer())
    xout <- evenly(ends[[1L]], ends[[2L]], n)
  }
  xout <- if (own) converted(xout, table$y@dtype) else value_beside(xout, table$y, "xout", call, "spline()")
  list(x = as_doubles(as_column(xout)), y = as_column(cubic_at(table, xout, 0L, method, call)))
}

overload("spline", "stats", overload_spline,
  topic = "Sorting", dtypes = "real numbers",
  differs = "`y` may be a value where `x` is known, as for splinefun()."
)
