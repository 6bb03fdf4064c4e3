# Matching and what goes with it: match(), `%in%`, is.element(), Position(), Find(), inherits().

# So many elements of a table are compared with all of `x`; more of them are sorted and searched.
longest_compared <- 32L

match_values <- function(x, table, nomatch, shown, names, call) {
  nomatch <- as.integer(nomatch)
  both <- lapply(list(x, table), function(part) if (is.null(part)) logical() else part)
  both <- lapply(common(both, shown, names, call), function(part) as_numbers(as_column(part)))
  x <- both[[1L]]
  table <- both[[2L]]
  size <- length(table)
  if (!size || !length(x)) {
    return(filled(nomatch, new_type("i32", x@shape)))
  }
  if (size <= longest_compared || is_complex(x@dtype)) {
    shape <- c(size, as.integer(length(x)))
    found <- same_elements(broadcast(x, shape, 2L), broadcast(table, shape, 1L))
    places <- hlo_iota("i32", shape, 1L)
    at <- reduced("reduce_min", selected(found, places, filled(size, places)), 1L, shown, call)
    found <- compared(at, size, "LT", shown)
  } else {
    ordered <- sorted_along(table)
    before <- count_before(ordered[[1L]], x, FALSE)
    if (is_float(x@dtype)) {
      # NaN lies behind all numbers.
      numbers <- hlo_sum(converted(!where_nan(table), "i32"))
      before <- selected(where_nan(x), repeated(numbers, x@shape), before)
    }
    before <- hlo_min(before, size - 1L)
    at <- gathered(ordered[[2L]], before, 1L)
    found <- same_elements(gathered(ordered[[1L]], before, 1L), x)
  }
  selected(found, at + 1L, filled(nomatch, at))
}

# NaN is the same as NaN here.
same_elements <- function(x, y) {
  same <- compared(x, y, "EQ", "match()")
  if (is_inexact(x@dtype)) same | (where_nan(x) & where_nan(y)) else same
}

match_differs <- "NA of doubles is NaN, and R's NA matches NaN."

overload("match", "base", function(x, table, nomatch = NA_integer_, incomparables = NULL) {
  call <- method_call("match")
  if (!(is_data(nomatch) && length(nomatch) == 1L)) {
    abort(sprintf("match(): `nomatch` must be one number that is known, not %s", describe(nomatch)),
      op = "match", operand = "nomatch", call = call
    )
  }
  if (!is.null(incomparables) && !isFALSE(incomparables)) {
    abort("match(): `incomparables` is not available for values of programs", "UNIMPLEMENTED",
      op = "match", operand = "incomparables", call = call
    )
  }
  match_values(x, table, nomatch, "match()", c("x", "table"), call)
}, topic = "Sorting", dtypes = "all", derivative = "none", differs = match_differs)

overload("%in%", "base", function(x, table) {
  call <- method_call("%in%")
  match_values(x, table, 0L, "%in%", c("x", "table"), call) > 0L
}, topic = "Sorting", dtypes = "all", derivative = "none", differs = match_differs)

# The second argument is called so or so in versions of R.
overload("is.element", "base", function(el, set, table = set) {
  call <- method_call("is.element")
  match_values(el, table, 0L, "is.element()", names(formals(base::is.element)), call) > 0L
}, topic = "Sorting", dtypes = "all", derivative = "none", differs = match_differs)

# The first place where a condition holds, of elements of which R knows whether it does.
first_place <- function(f, x, right, shown, call) {
  f <- called_function(f, parent.frame(2L), call)
  check_flag(right, "right", call)
  x <- if (is_value(x)) elements_of(x) else x
  for (i in if (right) rev(seq_along(x)) else seq_along(x)) {
    holds <- f(x[[i]])
    if (is_value(holds)) {
      abort(sprintf("%s: whether `f` holds is known only when the program runs", shown), "UNIMPLEMENTED",
        op = sub("()", "", shown, fixed = TRUE), operand = "f", call = call,
        hint = "`match(TRUE, condition)` is the first place where a condition holds, NA where there is none."
      )
    }
    if (holds) {
      return(i)
    }
  }
  NULL
}

element_overload("Position", function(f, x, right = FALSE, nomatch = NA_integer_) {
  call <- method_call("Position")
  at <- first_place(f, x, right, "Position()", call)
  if (is.null(at)) nomatch else at
}, differs = "With conditions that are no values.")

element_overload("Find", function(f, x, right = FALSE, nomatch = NULL) {
  call <- method_call("Find")
  at <- first_place(f, x, right, "Find()", call)
  if (is.null(at)) nomatch else x[[at]]
}, differs = "With conditions that are no values.")

# R's vector or array of the kind of a value, without elements
like_in_r <- function(x) {
  empty <- vector(r_type(x), 0L)
  if (length(x@shape) > 1L) array(empty, replace(x@shape, 1L, 0L)) else empty
}

overload_kind("inherits", function(x, what, which = FALSE) {
  if (!is_value(x)) {
    return(base::inherits(x, what, which))
  }
  own <- base::inherits(x, what, which)
  as_in_r <- base::inherits(like_in_r(x), what, which)
  if (isTRUE(which)) pmax(own, as_in_r) else own || as_in_r
}, differs = "Besides the class that R's data have a value has the class xlaffi_value.")
