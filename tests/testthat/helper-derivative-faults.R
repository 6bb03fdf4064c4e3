# What is wrong with derivatives, in words.

# How much a gradient may be off, relative to itself: more than by the last digits of special functions.
gradient_noise <- 1e-11

# For each number that is off one line, three at most
fault_lines <- function(case, what, off, got, want) {
  off <- which(is.na(off) | off, arr.ind = TRUE)
  points <- case_points(case)
  names <- if (is.null(colnames(points))) seq_len(ncol(points)) else colnames(points)
  vapply(seq_len(min(nrow(off), 3L)), function(i) {
    at <- off[i, , drop = FALSE]
    sprintf(
      "%s: %s by %s at %s: %.10g for %.10g", case$name, what, toString(names[at[-1L]]),
      toString(format(points[at[[1L]], ], digits = 5L)), got[at], want[at]
    )
  }, "")
}

# A number for each point, as often as there are numbers `like`, which have points in front
by_point <- function(x, like) array(x, dim(like))

# What the digits of values are counted from. Those that are `relative` have theirs however small they are.
value_size <- function(case, value) if (isTRUE(case$relative)) abs(value) else pmax(abs(value), 1e-2)

# Gradient and Hessian beside differences of the values and of the gradient
derivative_faults <- function(case, r) {
  units <- r$units
  k <- nrow(units)
  n <- ncol(units)
  size <- value_size(case, r$value)
  noise <- gradient_noise / step_size
  off <- abs(r$gradient - r$slopes) > 1e-6 * abs(r$gradient) + noise * size / units
  faults <- fault_lines(case, "gradient", off, r$gradient, r$slopes)
  of_ends <- end_faults(case, r$ends, is.infinite(r$end_values))
  if (isTRUE(case$first)) {
    return(c(faults, of_ends))
  }
  # Dimensions: point, direction, argument. Without units, and the largest there.
  by_direction <- array(units, c(k, n, n))
  by_argument <- aperm(by_direction, c(1L, 3L, 2L))
  size <- pmax(size, apply(abs(r$gradient) * units, 1L, max))
  noise <- noise * by_point(size, r$hessian) / (by_direction * by_argument)
  off <- abs(r$hessian - r$bends) > 1e-5 * abs(r$hessian) + noise
  faults <- c(faults, fault_lines(case, "Hessian", off, r$hessian, r$bends))
  other <- aperm(r$hessian, c(1L, 3L, 2L))
  off <- abs(r$hessian - other) > hessian_tolerance(r$hessian, by_direction * by_argument)
  c(faults, fault_lines(case, "Hessian (not symmetric)", off, r$hessian, other), of_ends)
}

# 1e-8 of each number, and 1e-14 of the largest at the point in units of the arguments
hessian_tolerance <- function(hessian, units) {
  largest <- apply(abs(hessian) * units, 1L, max)
  1e-8 * abs(hessian) + 1e-14 * by_point(largest, hessian) / units
}

# Derivatives at an end of the support are limits from inside: what is finite is near, what is infinite grows towards
# it. Where a derivative is infinite only the gradient is compared: along a direction it meets zeros, and 0 times Inf is
# NaN. An infinite density has no slopes in parameters: their parts rise and fall without bound.
end_faults <- function(case, ends, infinite) {
  if (!length(ends)) {
    return(character())
  }
  part <- function(i) array(ends[, i, , ], dim(ends)[-2L])
  at <- part(1L)
  far <- part(2L)
  near <- part(3L)
  grows <- abs(near) > 1.1 * abs(far) & abs(near) > 1
  nears <- abs(near - at) <= pmax(1e-4 * pmax(1, abs(at)), 0.1 * abs(far - at))
  right <- ifelse(grows, at == sign(near) * Inf, nears)
  regular <- by_point(apply(!grows, 1L, all), at)
  of_gradient <- slice.index(at, 3L) <= length(case$at) & !by_point(case$relative & infinite, at)
  off <- which(!(right %in% TRUE) & (regular | of_gradient))
  vapply(utils::head(off, 3L), function(i) {
    index <- arrayInd(i, dim(at))
    sprintf(
      "%s: at end %d derivative %d along %d is %.10g, but near it %.10g and %.10g",
      case$name, index[[1L]], index[[3L]], index[[2L]], at[[i]], far[[i]], near[[i]]
    )
  }, "")
}

# Where a mode gives another Hessian than forward over reverse mode
mode_faults <- function(cases, modes = setdiff(names(second_modes), "forward")) {
  plans <- lapply(cases, derivative_plan)
  data <- Map(plan_data, cases, plans, FALSE)
  found <- lapply(second_modes[c("forward", modes)], function(mode) {
    xla_jit(function(data) Map(function(case, d) mode(case, d$x, d$t, d$held), cases, data))(data)
  })
  faults <- lapply(seq_along(cases), function(i) {
    plan <- plans[[i]]
    hessian <- function(mode) array(unlist(lapply(found[[mode]][[i]], as.vector)), c(plan$k, plan$n, plan$n))
    want <- hessian("forward")
    units <- array(plan$units, dim(want)) * aperm(array(plan$units, dim(want)), c(1L, 3L, 2L))
    lapply(modes, function(mode) {
      got <- hessian(mode)
      fault_lines(cases[[i]], paste("Hessian by", mode), abs(got - want) > hessian_tolerance(want, units), got, want)
    })
  })
  unlist(faults)
}

# The values at the points beside R's own, of which some have few digits far out; other tests compare them closely.
value_faults <- function(case, r, tolerance = 1e-7) {
  want <- suppressWarnings(do.call(case$f, c(case$at, case$held)))
  off <- abs(r$value - want) > tolerance * value_size(case, want)
  fault_lines(case, "value", cbind(off), cbind(r$value), cbind(want))
}

# Programs of some thousand nodes are compiled fastest.
in_groups <- function(cases, size) split(cases, (seq_along(cases) - 1L) %/% size)

# Outside of `make test-all` only gradients: Hessians of all words take the compiler minutes.
expect_derivatives_right <- function(cases, size = 8L, check = derivative_faults) {
  if (!all_run()) {
    cases <- lapply(cases, function(case) utils::modifyList(case, list(first = TRUE)))
  }
  faults <- lapply(in_groups(cases, size), function(some) unlist(Map(check, some, derivatives_together(some))))
  testthat::expect_identical(as.character(unlist(faults)), character())
}

# The last variant of each word: that of the upper tail, and of logarithms. It has the rules of all others.
last_variants <- function(cases) {
  words <- sub("[( ].*", "", vapply(cases, `[[`, "", "name"))
  cases[!duplicated(words, fromLast = TRUE)]
}

# In a loop every second case: what differs there is the loop, not the word, and compiling it takes as long as all else.
expect_modes_agree <- function(cases, size = 8L) {
  in_loops <- seq_along(cases) %% 2L == 1L
  without_loop <- setdiff(names(second_modes), c("forward", "loop"))
  faults <- c(
    lapply(in_groups(cases[in_loops], size), mode_faults),
    lapply(in_groups(cases[!in_loops], size), mode_faults, modes = without_loop)
  )
  testthat::expect_identical(as.character(unlist(faults)), character())
}

value_and_derivative_faults <- function(case, r) c(value_faults(case, r), derivative_faults(case, r))
