# Errors of what ffi_check() compares: `error`, relative to the largest number, and a `note`.

# Zero where both are zero everywhere, or NaN and infinite at the same places
relative_error <- function(x, y, floor = 0) {
  if (is.null(x)) x <- 0 * y
  if (is.null(y)) y <- 0 * x
  if (length(x) != length(y)) {
    return(Inf)
  }
  finite <- is.finite(x) & is.finite(y)
  if (!identical(is.finite(x), is.finite(y))) {
    return(Inf)
  }
  x <- x[finite]
  y <- y[finite]
  size <- max(0, Mod(x), Mod(y))
  if (size == 0) 0 else max(Mod(x - y)) / (size + floor)
}

# Central differences with steps near the third root of the precision; those on both sides for the shortest.
differences <- function(run, point, directions, factors = c(1, 8, 1 / 8)) {
  moved <- function(h) {
    leaves <- Map(function(x, direction) if (is.null(direction)) x else x + h * direction, point$leaves, directions)
    run(leaves)$leaves
  }
  counting <- inexact_types(point$results)
  slope <- function(upper, lower, h) {
    slopes <- vector("list", length(counting))
    slopes[counting] <- Map(function(upper, lower) (upper - lower) / h, upper[counting], lower[counting])
    slopes
  }
  lapply(point$eps^(1 / 3) * factors, function(h) {
    upper <- moved(h)
    lower <- moved(-h)
    list(
      h = h, slopes = slope(upper, lower, 2 * h),
      right = slope(upper, point$value, h), left = slope(point$value, lower, h)
    )
  })
}

# Tangents against differences. Rounding leaves an error in these which is nobody's fault.
compare_differences <- function(tangents, run, point, directions) {
  tries <- differences(run, point, directions)
  counting <- which(inexact_types(point$results))
  finite <- lapply(counting, function(i) {
    slopes <- lapply(tries, function(try) is.finite(try$slopes[[i]]))
    Reduce(`&`, slopes, is.finite(point$value[[i]]))
  })
  if (!any(unlist(finite))) {
    return(list(error = NA_real_, note = "nothing finite to compare with"))
  }
  missing <- vapply(seq_along(counting), function(k) {
    any(!is.finite(tangents[[counting[[k]]]][finite[[k]]]))
  }, NA)
  if (any(missing)) {
    return(list(error = Inf, note = "NaN or infinite where differences are finite"))
  }
  error_to <- function(x, h, other) {
    errors <- Map(function(i, finite) {
      rounding <- point$eps * max(0, Mod(point$value[[i]][finite])) / h
      relative_error(x[[i]][finite], other[[i]][finite], rounding / point$tolerance)
    }, counting, finite)
    max(unlist(errors))
  }
  error <- min(vapply(tries, function(try) error_to(tangents, try$h, try$slopes), 0))
  shortest <- tries[[length(tries)]]
  kink <- error > point$tolerance && error_to(shortest$right, shortest$h, shortest$left) > 0.05
  list(
    error = error,
    note = if (kink) "differences to both sides differ: is there a derivative at this point?" else ""
  )
}

# What transposition keeps: sum(weights * changes) = sum(gradients * directions), of complex numbers the real part.
compare_products <- function(gradients, directions, moving, changes, weights, counting, point) {
  product <- function(x, y, f = Re) sum(f(unlist(Map(function(x, y) if (!is.null(x) && !is.null(y)) x * y, x, y))))
  if (!all(is.finite(unlist(c(point$value[counting], changes[counting]))))) {
    return(list(error = NA_real_, note = "the value or the tangent is NaN or infinite"))
  }
  size <- product(gradients[moving], directions[moving], Mod) + product(changes[counting], weights[counting], Mod)
  if (!is.finite(size)) {
    return(list(error = Inf, note = "NaN or infinite"))
  }
  gap <- product(gradients[moving], directions[moving]) - product(changes[counting], weights[counting])
  list(error = if (size == 0) 0 else abs(gap) / size, note = "")
}

# The results of a batch against those of its elements.
compare_batch <- function(batch, elements) {
  errors <- vapply(seq_along(batch), function(i) {
    rows <- matrix(batch[[i]], nrow = length(elements))
    max(0, vapply(seq_along(elements), function(k) {
      want <- elements[[k]]$leaves[[i]]
      if (is.double(want) || is.complex(want)) relative_error(rows[k, ], want) else +!identical(rows[k, ], want)
    }, 0))
  }, 0)
  list(error = max(0, errors), note = "")
}
