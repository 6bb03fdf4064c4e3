# Summaries of values: the group Summary, and means.

#' @export
Summary.xlaffi_value <- function(..., na.rm = FALSE) {
  shown <- paste0(.Generic, "()")
  call <- method_call(.Generic)
  # R adds it.
  call$na.rm <- if (!isFALSE(na.rm)) na.rm
  if (...length() != 1L || isTRUE(na.rm)) {
    abort(sprintf("%s takes one value of a program and no `na.rm`", shown), op = .Generic, call = call)
  }
  switch(.Generic,
    sum = hlo_sum(..1),
    max = reduced("reduce_max", ..1, NULL, shown, call),
    min = reduced("reduce_min", ..1, NULL, shown, call),
    abort(sprintf("%s is not available for values of programs", shown), "UNIMPLEMENTED", op = .Generic, call = call)
  )
}

#' @export
mean.xlaffi_value <- function(x, ...) {
  call <- method_call("mean")
  check_dots_empty(..., call = call)
  x <- if (is_integer(x@dtype)) converted(x, "f64") else as_doubles(x)
  check_kind(x, "a floating-point or complex number", "mean()", "x", call)
  sum(x) / length(x)
}
