# Comparisons of R's functions of distributions with those for values.

# What `name` gives for values, with further arguments that are none
of_values <- function(name, arguments, ...) {
  f <- get(paste0("word_", name), asNamespace("xlaffi"))
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

# `name` beside R's over all combinations of the arguments in `grid`; where R gives NaN, `own` says what is there.
expect_distribution <- function(name, grid, ..., tolerance = 1e-12, absolute = FALSE, own = NaN) {
  grid <- expand.grid(grid)
  found <- of_values(name, grid, ...)
  expected <- in_r(name, grid, ...)
  e <- distance(found, expected, absolute)
  e[is.nan(expected) & found %in% own] <- 0
  # R's own logarithms of what underflows have few digits, or none.
  if (absolute) {
    e[expected < -700 & found < -700] <- 0
  }
  worst <- which.max(e)
  shown <- sprintf("%s(%s)", name, toString(sprintf("%s = %.17g", names(grid), unlist(grid[worst, ]))))
  testthat::expect_lte(e[[worst]], tolerance,
    label = sprintf("the error of %s, %.17g for %.17g,", shown, found[[worst]], expected[[worst]])
  )
}

# Derivatives in all arguments `at` (vectors of one length) beside differences of R's own function.
expect_slopes <- function(name, at, ..., which = seq_along(at), tolerance = 1e-6, step = 1e-4) {
  f <- get(paste0("word_", name), asNamespace("xlaffi"))
  options <- list(...)
  names <- names(at)
  g <- ffi_grad(function(...) sum(do.call(f, c(stats::setNames(list(...), names), options))), which)
  found <- do.call(g, unname(at))
  found <- if (is.list(found)) found else list(found)
  for (i in seq_along(which)) {
    moved <- function(by) {
      to <- at
      to[[which[[i]]]] <- at[[which[[i]]]] * (1 + by * step)
      in_r(name, to, ...)
    }
    # The error of the central difference is of order step^4.
    slope <- (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * step * at[[which[[i]]]])
    testthat::expect_equal(as.vector(found[[i]]), slope,
      tolerance = tolerance, label = sprintf("the slope of %s in %s", name, names[[which[[i]]]])
    )
  }
}
