# The frame of R's functions of distributions: d, p and q with values among their arguments. All compute in f64: f32 is
# converted, and the result rounded once.

# `f` of the arguments as values of dtype f64 and one shape; its result in the arguments' dtype.
distribution <- function(shown, arguments, f, call) {
  names <- names(arguments)
  values <- lapply(common(arguments, shown, names, call), as_doubles)
  dtype <- values[[1L]]@dtype
  if (!dtype %in% c("f32", "f64")) {
    at <- Position(is_value, arguments, nomatch = 1L)
    abort(sprintf("%s: `%s` must be f32 or f64, not %s", shown, names[[at]], type_text(values[[at]])),
      op = shown, operand = names[[at]], hint = "`hlo_convert()` changes the dtype.", call = call
    )
  }
  values <- lapply(recycled_parameters(values, names, shown, call), converted, "f64")
  converted(do.call(f, unname(values)), dtype)
}

# Values of one shape
recycled_parameters <- function(values, names, shown, call) {
  widest <- 1L
  for (i in seq_along(values)[-1L]) {
    both <- operands(values[[widest]], values[[i]], shown, names[c(widest, i)], call)
    if (!identical(both[[1L]]@shape, values[[widest]]@shape)) {
      widest <- i
    }
    values[[i]] <- both[[2L]]
  }
  shape <- if (any(lengths(values) == 0L)) 0L else values[[widest]]@shape
  lapply(values, repeated, shape)
}

# The density of its logarithm, NaN where an argument is NaN or no parameter of the distribution.
density_of <- function(log_density, valid, log) {
  only_where(valid, if (log) log_density else exp(log_density))
}

check_density <- function(log, call) check_flag(log, "log", call)

# Arguments that R has for distributions that we have not
check_no_ncp <- function(ncp, shown, call) {
  if (!is_value(ncp) && identical(as.numeric(ncp), 0)) {
    return()
  }
  abort(sprintf("%s: non-central distributions are not available for values of programs", shown), "UNIMPLEMENTED",
    op = shown, operand = "ncp", call = call
  )
}

# One of two parameters that say the same
check_one_given <- function(given, names, shown, call) {
  if (sum(given) != 1L) {
    text <- if (all(given)) "not both" else "one of them"
    abort(sprintf("%s: give `%s` or `%s`, %s", shown, names[[1L]], names[[2L]], text),
      op = shown, operand = names[[2L]], call = call
    )
  }
}

# R takes numbers for whole ones that are within 1e-7 of them.
is_whole <- function(x) abs(x - round(x)) <= 1e-7 * hlo_max(abs(x), 1)

finite <- function(x) abs(x) < Inf
