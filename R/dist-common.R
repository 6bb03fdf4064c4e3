# The frame of R's functions of distributions: d, p and q with values among their arguments. All compute in f64: f32 is
# converted, and the result rounded once.

# `f` of the arguments as values of dtype f64 and one shape; its result in the arguments' dtype. `flags` are those of
# which `f` makes something else; without them it is called each time (see trace-template.R).
distribution <- function(shown, arguments, f, call, flags = NULL) {
  values <- special_values(arguments, shown, call)
  dtype <- values[[1L]]@dtype
  values <- lapply(unname(values), converted, "f64")
  key <- if (!is.null(flags)) c(shown, names(arguments), flags)
  converted(if (is.null(key)) do.call(f, values) else by_template(key, f, values), dtype)
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

# Of two parameters that say the same the one that the caller was given, in a list with its name
one_given <- function(names, shown, call, frame = parent.frame()) {
  given <- !vapply(names, function(name) eval(call("missing", as.name(name)), frame), NA)
  if (sum(given) != 1L) {
    text <- if (all(given)) "not both" else "one of them"
    abort(sprintf("%s: give `%s` or `%s`, %s", shown, names[[1L]], names[[2L]], text),
      op = shown, operand = names[[2L]], call = call
    )
  }
  mget(names[given], frame)
}

# R takes numbers for whole ones that are next to them: within 1e-7, newer ones within 1e-9. The one in use is asked.
is_whole <- function(x) {
  near <- if (suppressWarnings(stats::dpois(1 + 1e-8, 1)) > 0) 1e-7 else 1e-9
  abs(x - round(x)) <= near * hlo_max(abs(x), 1)
}

# As distribution(), for the tail that is asked for: `f` of the values gives the probability inside the support, where
# there is nothing before and behind, where the parameters are valid, and the ends of the support (see end_of()).
probability_overload <- function(shown, arguments, lower, log, call, f) {
  check_tails(lower, log, call)
  distribution(shown, arguments, function(...) {
    found <- f(...)
    probability <- with_ends(found$inner, found$before, found$behind, lower, log)
    only_where(found$valid, probability_at_ends(probability, found$ends, lower, log))
  }, call, c(lower, log))
}

# As distribution(): `f` of the values gives the quantile of probabilities inside (0, 1), where the support begins and
# ends, and where the parameters are valid. `closed` names the ends at which `f` holds too, with its derivatives.
quantile_overload <- function(shown, arguments, lower, log, call, f, closed = character()) {
  check_tails(lower, log, call)
  distribution(shown, arguments, function(p, ...) {
    from <- if (log) -Inf else 0
    to <- if (log) 0 else 1
    limits <- if (lower) c(begin = from, end = to) else c(begin = to, end = from)
    inside <- p > from & p < to
    taken <- inside
    for (limit in Filter(is.finite, limits[closed])) taken <- taken | p == limit
    found <- f(hlo_select(taken, p, if (log) -0.5 else 0.5), ...)
    ends <- hlo_select(p == limits[["begin"]], found$begin, found$end)
    inner <- inside | (taken & found$inner == found$inner)
    only_where(found$valid & p >= from & p <= to, hlo_select(inner, found$inner, ends))
  }, call)
}

whole_line <- function(x) list(begin = filled(-Inf, x), end = filled(Inf, x))

# The functions d, p and q of distributions in the table of supported functions. `counts`: of whole numbers.
distribution_overloads <- function(names, counts = FALSE) {
  for (name in paste0(rep(c("d", "p", "q"), length(names)), rep(names, each = 3L))) {
    f <- get(paste0("overload_", name), envir = topenv())
    part <- substr(name, 1L, 1L)
    in_parameters <- if (part == "q" && counts) "none" else "in the parameters"
    of <- c(d = "x", p = "q", q = "p")[[part]]
    overload(name, "stats", f,
      topic = "Distributions", dtypes = "f32, f64; integers become f64",
      derivative = if (counts) in_parameters else sprintf("in %s and the parameters", of),
      differs = paste0(
        "No warnings", if (part == "q") "; parameters that are none give NaN also where p is 0 or 1", ".",
        if ("ncp" %in% names(formals(f))) " No non-central ones (`ncp`).",
        if (name == "qf") " Small ones, which R gives as 0 or with half of the digits, are exact here."
      )
    )
  }
}
