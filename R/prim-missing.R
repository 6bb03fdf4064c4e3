# NA among the integers of a program. XLA has none: R data with NA are refused, see na_problem(). What is NA in R since
# it was read outside of a vector, divided by zero or is too large is the least integer, which R reads as NA. Arithmetic
# with it gives it again, and where it becomes a floating-point number that is NaN.

# What gives it again by itself
na_moves <- c(
  "select", "reshape", "broadcast_in_dim", "transpose", "reverse", "slice", "pad", "concatenate", "dynamic_slice",
  "dynamic_update_slice", "gather", "scatter_set", "alias", "optimization_barrier", "negate", "abs", "reduce_min",
  "minimum", "cumulative_minimum", "sort"
)

# Whether a value may hold it, as far as the program shows where it comes from.
may_have_na <- function(x) {
  if (!x@dtype %in% c("i32", "i64")) {
    return(FALSE)
  }
  seen <- list()
  open <- list(x@node)
  found <- FALSE
  while (length(open) && !found) {
    node <- open[[length(open)]]
    open[[length(open)]] <- NULL
    if (is.null(node$na)) {
      # Until it is known to be otherwise
      node$na <- FALSE
      seen[[length(seen) + 1L]] <- node
      found <- node$op == "constant" && !is.double(node$params$data) && anyNA(node$params$data)
      if (node$op %in% na_moves) {
        inputs <- Filter(function(input) input@dtype == x@dtype, node$inputs)
        open <- c(open, lapply(inputs, function(input) input@node))
      }
    } else {
      found <- node$na
    }
  }
  if (found) {
    # What else was seen may be asked again.
    for (node in seen) node$na <- NULL
    x@node$na <- TRUE
  }
  found
}

is_na_integer <- function(x) compared(x, filled(missing_number(x@dtype), x), "EQ", "is.na()")

# With NaN in the place of NA: what is put in order
with_nan <- function(x) if (may_have_na(x)) converted(x, "f64") else x

# NA where `x` has any
na_if_any <- function(result, x) {
  if (!may_have_na(x)) {
    return(result)
  }
  selected(any(is_na_integer(x)), filled(missing_number(result@dtype), result), result)
}

# NA where `x` has nothing else
na_if_all <- function(result, x) {
  selected(all(is_na_integer(x)), filled(missing_number(result@dtype), result), result)
}

# Where an operand is NA, of which `result` was computed, that is NA.
with_na_of <- function(result, operands) {
  for (operand in Filter(may_have_na, operands)) {
    result <- selected(is_na_integer(operand), filled(missing_number(result@dtype), result), result)
  }
  result
}

# What stands for R's NA: numbers without one give 0, logicals FALSE.
missing_number <- function(dtype) {
  if (is_inexact(dtype)) {
    NaN
  } else {
    switch(dtype,
      i32 = NA_integer_,
      i64 = bit64::NA_integer64_,
      pred = FALSE,
      0
    )
  }
}
