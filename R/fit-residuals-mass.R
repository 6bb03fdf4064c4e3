# Where an observation lies among all that it could have been, by the logarithm of their density at any number.
# Densities may have several modes far from each other, and a scale that has nothing to do with that of the data. They
# add up to 1, or to another number if the model leaves constants out: where what was found does not, the search goes on
# from `likely` numbers. Gives the residual, the logarithm of the sum and the scale.

# Sums of less than that are left out, and more than that may not be missing without another search.
mass_left_out <- 1e-9
mass_missing <- 1e-4

log_of_sum <- function(x) {
  highest <- max(x, -Inf)
  if (is.finite(highest)) highest + log(sum(exp(x - highest))) else highest
}

# The normal quantile of a probability by the logarithms of both tails, from the smaller one
quantile_of_tails <- function(below, above) {
  total <- log_of_sum(c(below, above))
  if (below < above) stats::qnorm(below - total, log.p = TRUE) else -stats::qnorm(above - total, log.p = TRUE)
}

# Of whole numbers: sums on both sides, as far as terms matter
step_residual <- function(y, log_density, range, scale, likely) {
  numbers <- logs <- numeric()
  walked <- logical()
  at <- function(x, walk) {
    i <- match(x, numbers, nomatch = length(numbers) + 1L)
    if (i > length(numbers)) {
      numbers[[i]] <<- x
      logs[[i]] <<- log_density(x)
      walked[[i]] <<- FALSE
    }
    walked[[i]] <<- walked[[i]] || walk
    logs[[i]]
  }
  walk_from <- function(x) {
    start <- at(x, TRUE)
    for (by in c(-1, 1)) {
      # Tails count beside what is in them.
      term <- total <- start
      next_one <- x + by
      while (next_one >= range[[1L]] && next_one <= range[[2L]] && !next_one %in% numbers[walked]) {
        following <- at(next_one, TRUE)
        total <- log_of_sum(c(total, following))
        if (following <= term && (total == -Inf || following < log(mass_left_out) + total)) break
        term <- following
        next_one <- next_one + by
      }
    }
  }
  walk_from(y)
  for (x in likely) {
    if (abs(log_of_sum(logs)) < mass_missing) break
    if (!x %in% numbers[walked] && at(x, FALSE) > log(mass_left_out) + log_of_sum(logs)) walk_from(x)
  }
  here <- at(y, TRUE)
  u <- stats::runif(1)
  below <- c(logs[numbers < y], here + log(u))
  above <- c(logs[numbers > y], here + log1p(-u))
  list(residual = quantile_of_tails(log_of_sum(below), log_of_sum(above)), total = log_of_sum(logs), scale = scale)
}

# Tails begin so many scales from a mode, and are left out where the logarithm of the density has fallen by so much. Of
# a normal distribution it has fallen by 24.5.
mode_reach <- 7
tail_fall <- 20

smooth_residual <- function(y, log_density, range, scale, likely) {
  modes <- list(mode_from(y, log_density, range, scale))
  found <- mass_around(y, log_density, range, modes)
  for (x in likely) {
    if (abs(log_of_sum(unlist(found))) < mass_missing || length(modes) == most_modes) break
    near <- vapply(modes, function(mode) abs(x - mode$at) <= mode_reach * mode$scale, NA)
    if (any(near) || log_density(x) < log_of_sum(unlist(found)) - 2 * tail_fall) next
    modes <- c(modes, list(mode_from(x, log_density, range, modes[[1L]]$scale)))
    found <- mass_around(y, log_density, range, modes)
  }
  list(
    residual = quantile_of_tails(found$below, found$above), total = log_of_sum(unlist(found)),
    scale = modes[[1L]]$scale
  )
}

most_modes <- 8L

# A mode uphill from `x`, and the scale there: of a normal density the standard deviation, else the distance over which
# the density falls by a factor of about e, at least on one side.
mode_from <- function(x, log_density, range, scale) {
  here <- log_density(x)
  last <- 0L
  grown <- FALSE
  for (turn in 1:200) {
    sides <- pmin(pmax(c(x - scale, x + scale), range[[1L]]), range[[2L]])
    values <- vapply(sides, log_density, 0)
    # A pole is no place to look from.
    poles <- values == Inf
    up <- which.max(ifelse(poles, -Inf, values))
    if (values[[up]] > here && !poles[[up]]) {
      if (last == up) scale <- 2 * scale
      x <- sides[[up]]
      here <- values[[up]]
      last <- up
      grown <- FALSE
      next
    }
    last <- 0L
    fall <- min((here - values)[sides != x & !poles], Inf)
    if (!is.finite(here) || (fall < 0.1 && !all(sides == range))) {
      scale <- 4 * scale
      grown <- TRUE
    } else if (fall > 3 && !grown) {
      scale <- scale / 3
    } else if (fall <= 3 && all(sides != x) && !any(poles)) {
      return(parabola_mode(x, scale, here, values))
    } else {
      break
    }
    if (!is.finite(scale) || x + scale == x) break
  }
  list(at = x, scale = if (grown) scale / 2 else scale)
}

# The top of the parabola through three points, if there is one
parabola_mode <- function(x, scale, here, values) {
  falls <- here - values
  if (all(is.finite(values)) && all(falls < 5) && sum(falls) > 0) {
    x <- x + scale * (falls[[1L]] - falls[[2L]]) / (2 * sum(falls))
    scale <- scale / sqrt(sum(falls))
  }
  list(at = x, scale = scale)
}

# The logarithms of the integrals below and above y
mass_around <- function(y, log_density, range, modes) {
  at <- vapply(modes, `[[`, 0, "at")
  scale <- vapply(modes, `[[`, 0, "scale")
  highest <- max(vapply(at, log_density, 0))
  if (!is.finite(highest)) {
    return(list(below = -Inf, above = -Inf))
  }
  widest <- max(scale)
  # An integral, to seven digits or those that matter beside the others
  piece <- function(from, to, scale = to - from, top = highest, least = 1e-9 * widest * exp(highest - top)) {
    if (!(from < to)) {
      return(-Inf)
    }
    start <- if (is.finite(from)) from else to
    along <- function(t) {
      values <- vapply(t, function(t) exp(log_density(start + scale * t) - top), 0)
      # Poles
      ifelse(is.finite(values), values, 0)
    }
    value <- stats::integrate(along, (from - start) / scale, (to - start) / scale,
      rel.tol = 1e-7, abs.tol = least / scale, stop.on.error = FALSE, subdivisions = 200L
    )$value
    log(max(value, 0)) + log(scale) + top
  }
  ends <- c(at - mode_reach * scale, at + mode_reach * scale)
  inner <- sort(unique(c(y, at, ends)))
  inner <- inner[inner > range[[1L]] & inner < range[[2L]]]
  points <- c(range[[1L]], inner, range[[2L]])
  logs <- vapply(seq_len(length(points) - 1L), function(i) {
    from <- points[[i]]
    to <- points[[i + 1L]]
    if (i > 1L && i < length(points) - 1L) {
      return(piece(from, to))
    }
    edge <- if (i == 1L) to else from
    if (from == to || log_density(edge) < highest - tail_fall) -Inf else piece(from, to, min(widest, to - from))
  }, 0)
  left <- points[-1L] <= y
  found <- list(below = log_of_sum(logs[left]), above = log_of_sum(logs[!left]))
  # A tail that is small beside the rest has a scale of its own.
  least <- log_of_sum(logs) + log(1e-6)
  here <- log_density(y)
  if (is.finite(here) && min(unlist(found)) < least) {
    side <- if (found$below < found$above) -1 else 1
    own <- tail_scale(y, side, log_density, widest)
    end <- range[[if (side < 0) 1L else 2L]]
    limits <- sort(c(y, end))
    found[[if (side < 0) "below" else "above"]] <- piece(limits[[1L]], limits[[2L]], own, here, least = 0)
  }
  found
}

# The distance from y over which the density falls by a factor of about e
tail_scale <- function(y, side, log_density, scale) {
  here <- log_density(y)
  for (turn in 1:200) {
    fall <- here - log_density(y + side * scale)
    if (is.nan(fall) || fall > 3) {
      scale <- scale / 2
    } else if (fall < 0.3) {
      scale <- 2 * scale
    } else {
      break
    }
  }
  scale
}
