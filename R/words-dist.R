# The frame of R's functions of distributions: d, p and q with values among their arguments. All compute in f64: f32 is
# converted, and the result rounded once.

# `f` of the arguments as values of dtype f64 and one shape; its result in the arguments' dtype.
distribution <- function(shown, arguments, f, call) {
  values <- special_values(arguments, shown, call)
  dtype <- values[[1L]]@dtype
  values <- lapply(values, converted, "f64")
  converted(do.call(f, unname(values)), dtype)
}

# The density of its logarithm, NaN where an argument is NaN or no parameter of the distribution.
density_of <- function(log_density, valid, log, ends = list()) {
  only_where(valid, density_at_ends(if (log) log_density else exp(log_density), ends, log))
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

# R takes numbers for whole ones that are next to them: within 1e-7, newer ones within 1e-9. The one in use is asked.
is_whole <- function(x) {
  near <- if (suppressWarnings(stats::dpois(1 + 1e-8, 1)) > 0) 1e-7 else 1e-9
  abs(x - round(x)) <= near * hlo_max(abs(x), 1)
}

finite <- function(x) abs(x) < Inf
