# The attributes of a custom call as a dictionary of MLIR.
attributes_text <- function(attributes, target, call = rlang::caller_env()) {
  if (!is.list(attributes) || (length(attributes) && !rlang::is_named(attributes))) {
    abort(sprintf("`attributes` must be a named list, not %s", describe(attributes)),
      op = target, operand = "attributes", call = call
    )
  }
  one <- function(name) {
    x <- attributes[[name]]
    if (!is.atomic(x) || length(x) != 1L || is.na(x)) {
      abort(sprintf("attribute `%s` of %s must be one value, not %s", name, target, describe(x)),
        op = target, operand = name, call = call
      )
    }
    text <- switch(typeof(x),
      logical = if (x) "true" else "false",
      integer = sprintf("%d : i32", x),
      double = sprintf("%s : f64", mlir_numbers(x, "f64")),
      character = quoted(x)
    )
    sprintf("%s = %s", quoted(name), text)
  }
  sprintf("{%s}", paste(vapply(names(attributes), one, ""), collapse = ", "))
}
