# Comparisons of R's functions of distributions with those for values.

# What `name` gives for values, with further arguments that are none
of_values <- function(name, arguments, ...) {
  f <- get(paste0("overload_", name), asNamespace("xlaffi"))
  options <- list(...)
  as.vector(do.call(xla_jit(function(...) do.call(f, c(list(...), options))), as.list(arguments)))
}

in_r <- function(name, arguments, ...) {
  suppressWarnings(do.call(get(name, asNamespace("stats")), c(as.list(arguments), list(...))))
}

# The relative error; the absolute one where that is smaller and `absolute`. 0 where both are the same, be it NaN; Inf
# where one is special and the other is not. Numbers below the normal ones may be taken for 0.
distance <- function(found, expected, absolute = FALSE) {
  d <- abs(found - expected)
  e <- d / abs(expected)
  if (absolute) {
    e <- pmin(e, d)
  }
  tiny <- .Machine$double.xmin
  same <- (is.nan(found) & is.nan(expected)) | (!is.nan(d) & d == 0) | found %in% expected & found == expected |
    (abs(found) < tiny & abs(expected) < tiny)
  e[same %in% TRUE] <- 0
  e[is.na(e)] <- Inf
  e
}

# What functions give for their arguments, computed by one program: each of `cases` has `f` and a list `arguments`. The
# same data are one argument of the program, so that XLA computes once what functions have in common.
computed_together <- function(cases) {
  keys <- lapply(cases, function(case) vapply(case$arguments, rlang::hash, ""))
  data <- unlist(lapply(cases, `[[`, "arguments"), recursive = FALSE, use.names = FALSE)
  data <- stats::setNames(data, unlist(keys))[!duplicated(unlist(keys))]
  xla_jit(function(data) {
    lapply(seq_along(cases), function(i) {
      do.call(cases[[i]]$f, stats::setNames(data[keys[[i]]], names(cases[[i]]$arguments)))
    })
  })(data)
}

# The checks of `cases` by programs of a dozen each, those of one function beside one another.
check_together <- function(cases, check) {
  cases <- cases[order(vapply(cases, `[[`, "", "name"))]
  for (some in split(cases, (seq_along(cases) - 1) %/% 12)) {
    found <- computed_together(some)
    for (i in seq_along(some)) check(some[[i]], found[[i]])
  }
}

# `name` beside R's over all combinations of the arguments in `grid`; where R gives NaN, `own` says what is there.
distribution_case <- function(name, grid, ..., tolerance = 1e-12, absolute = FALSE, own = NaN) {
  options <- list(...)
  f <- get(paste0("overload_", name), asNamespace("xlaffi"))
  list(
    name = name, arguments = as.list(expand.grid(grid)), options = options, tolerance = tolerance,
    absolute = absolute, own = own, f = function(...) do.call(f, c(list(...), options))
  )
}

expect_distributions <- function(cases) {
  check_together(cases, function(case, found) {
    found <- as.vector(found)
    expected <- do.call(in_r, c(list(case$name, case$arguments), case$options))
    e <- distance(found, expected, case$absolute)
    e[is.nan(expected) & found %in% case$own] <- 0
    # R's own logarithms of what underflows have few digits, or none.
    if (case$absolute) {
      e[expected < -700 & found < -700] <- 0
    }
    worst <- which.max(e)
    at <- vapply(case$arguments, `[[`, 0, worst)
    shown <- sprintf("%s(%s)", case$name, toString(sprintf("%s = %.17g", names(at), at)))
    testthat::expect_lte(e[[worst]], case$tolerance,
      label = sprintf("the error of %s, %.17g for %.17g,", shown, found[[worst]], expected[[worst]])
    )
  })
}
