# Functions that R makes of data, approxfun(), splinefun(), stepfun(), ecdf(): in traced functions they take values,
# whether they were made of known data, outside or inside, or of values.

convert_approx <- function(f) {
  data <- environment(f)
  method <- c("linear", "constant")[[data$method]]
  function(v) {
    if (!is_value(v)) {
      return(f(v))
    }
    # R has sorted the data and dropped what is NA, unless it was to be kept.
    y <- overload_approx(data$x, data$y, v, method,
      yleft = data$yleft, yright = data$yright, f = data$f, ties = "ordered", na.rm = FALSE
    )$y
    like_argument(y, v)
  }
}

# As R has it the result is a vector whatever the argument's dimensions; of a scalar it is one.
like_argument <- function(y, v) if (is_value(v) && !length(v@shape)) reshaped(y, integer()) else y

# An overload of R's function `name`, which gives a function: `of_values` where an argument is a value, else R's own.
makes_function <- function(name, of_values) {
  force(of_values)
  in_r <- eval(bquote(function(...) .(as.name(name))(...)), asNamespace("stats"))
  function(...) {
    call <- method_call(name)
    if (identical(given_anywhere(...), for_values)) of_values(..., .call = call) else convert_function(in_r(...))
  }
}

approxfun_of_values <- function(x, y = NULL, method = "linear", yleft = NULL, yright = NULL, rule = 1, f = 0,
                                ties = mean, na.rm = TRUE, .call) {
  force(list(x, y, method, yleft, yright, rule, f, ties, na.rm))
  function(v) {
    found <- overload_approx(x, y, v, method,
      yleft = yleft, yright = yright, rule = rule, f = f, ties = ties, na.rm = na.rm
    )
    like_argument(found$y, v)
  }
}

overload("approxfun", "stats", makes_function("approxfun", approxfun_of_values),
  topic = "Sorting", dtypes = "real numbers", functional = TRUE, differs = "As approx()."
)

stepfun_of_values <- function(x, y, f = as.numeric(right), ties = "ordered", right = FALSE, .call) {
  check_flag(right, "right", .call)
  if (is_value(x) || !is_data(x) || !is.numeric(x) || !length(x) || anyNA(x) || is.unsorted(x)) {
    abort(sprintf("stepfun(): `x` must be numbers in increasing order that are known, not %s", describe_leaf(x)),
      op = "stepfun", operand = "x", call = .call
    )
  }
  n <- length(y)
  if (n != length(x) + 1L) {
    abort(sprintf("stepfun(): `y` must have %.0f elements, one more than `x`, not %.0f", length(x) + 1, n),
      op = "stepfun", operand = "y", call = .call
    )
  }
  approxfun_of_values(x, y[-if (right) n else 1L], "constant", y[1L], y[n], f = f, ties = ties)
}

overload("stepfun", "stats", makes_function("stepfun", stepfun_of_values),
  topic = "Sorting", dtypes = "real numbers", functional = TRUE,
  differs = "`y` may be a value where `x` is known; then there is no knots() of it."
)

ecdf_of_values <- function(x, .call) {
  x <- as_column(as_doubles(as_value(x, "x", call = .call)))
  check_kind(x, "a floating-point number", "ecdf()", "x", .call)
  if (!length(x)) {
    abort("ecdf(): `x` must have elements", op = "ecdf", operand = "x", call = .call)
  }
  ordered <- sorted_along(x)[[1L]]
  size <- hlo_sum(converted(!where_nan(x), x@dtype))
  function(v) {
    parts <- common(list(as_value(v, "v", like = size), ordered, size), "ecdf()", c("v", "x", "x"))
    at <- as_column(parts[[1L]])
    share <- converted(count_before(parts[[2L]], at, TRUE), at@dtype) / repeated(parts[[3L]], at@shape)
    like_argument(selected(where_nan(at), at, share), v)
  }
}

overload("ecdf", "stats", makes_function("ecdf", ecdf_of_values),
  topic = "Sorting", dtypes = "real numbers", derivative = "none", functional = TRUE,
  differs = "Where all of `x` is NaN the result is NaN; of values there is no knots()."
)
