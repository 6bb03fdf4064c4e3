# Transforms of numbers without constraints to parameters, see ?xla_constraints. `y` is a value of rank 1 with the free
# numbers in R's order, `shape` the parameter's.

number_like <- function(x, like, shape = integer()) constant(x, like@dtype, shape, "x", rounded = TRUE)

# Of each element by its bounds, where there are any
bounded_elements <- function(lower, upper, text) {
  whole <- max(length(lower), length(upper))
  dims <- unique(Filter(Negate(is.null), list(dim(lower), dim(upper))))
  expected <- function(shape) {
    if (whole > 1L && whole != prod(shape)) {
      sprintf("%d elements, as it has bounds", whole)
    } else if (!all(vapply(dims, function(dim) identical(as.integer(dim), as.integer(shape)), NA))) {
      sprintf("the shape %s, as its bounds have", shape_text(dims[[1L]]))
    }
  }
  new_constraint(text, function(y, shape) {
    bounds <- list(lower = array(rep_len(lower, prod(shape)), shape), upper = array(rep_len(upper, prod(shape)), shape))
    bounded_from(from_column(y, shape), bounds)
  }, function(x, refuse) {
    if (any(x <= lower | x >= upper)) refuse(paste("be", text))
    above <- rep_len(is.finite(lower), length(x))
    below <- rep_len(is.finite(upper), length(x))
    as.vector(ifelse(above & below, log(x - lower) - log(upper - x), ifelse(above, log(abs(x - lower)),
      ifelse(below, log(abs(upper - x)), x)
    )))
  }, check = expected, by_element = TRUE)
}

bounded_from <- function(y, bounds) {
  above <- is.finite(bounds$lower)
  below <- is.finite(bounds$upper)
  kinds <- list(
    both = above & below, lower = above & !below, upper = below & !above, none = !above & !below
  )
  kinds <- kinds[vapply(kinds, any, NA)]
  made <- lapply(names(kinds), function(kind) {
    # Where another kind is taken the numbers are harmless.
    own <- lapply(bounds, function(bound) replace(bound, !kinds[[kind]], 0))
    if (kind == "both") own$upper[!kinds$both] <- 1
    bounded_kind(kind, y, own)
  })
  joint <- made[[1L]]
  for (k in seq_along(kinds)[-1L]) {
    here <- constant(kinds[[k]], "pred", y@shape, "kind")
    joint <- Map(function(own, other) hlo_select(here, own, other), made[[k]], joint)
  }
  list(value = joint$value, log_jacobian = hlo_sum(joint$log_jacobian))
}

bounded_kind <- function(kind, y, bounds) {
  if (kind == "none") {
    return(list(value = y, log_jacobian = filled(0, y)))
  }
  # The next numbers inside
  inside <- lapply(c(lower = 1, upper = -1), function(sign) {
    bound <- bounds[[if (sign > 0) "lower" else "upper"]]
    number_like(next_number(bound, sign, y@dtype), y, y@shape)
  })
  lower <- number_like(bounds$lower, y, y@shape)
  upper <- number_like(bounds$upper, y, y@shape)
  if (kind == "lower") {
    return(list(value = hlo_max(lower + exp(y), inside$lower), log_jacobian = y))
  }
  if (kind == "upper") {
    return(list(value = hlo_min(upper - exp(y), inside$upper), log_jacobian = y))
  }
  # From the nearer bound, which keeps digits
  width <- upper - lower
  value <- hlo_select(y < 0, lower + width * hlo_logistic(y), upper - width * hlo_logistic(-y))
  list(
    value = hlo_min(hlo_max(value, inside$lower), inside$upper),
    log_jacobian = log(width) - hlo_log1pexp(y) - hlo_log1pexp(-y)
  )
}

# The next number above (sign 1) or below (-1), of those that a dtype has
next_number <- function(x, sign, dtype) {
  single <- dtype == "f32"
  size <- if (single) 4L else 8L
  rounded <- readBin(writeBin(as.vector(x), raw(), size = size), "double", length(x), size = size)
  smallest <- if (single) 2^-126 else 2^-1022
  epsilon <- if (single) 2^-23 else 2^-52
  # One unit in the last place, on the far side of a power of two as well
  step <- pmax(abs(rounded) * epsilon, smallest)
  x[] <- rounded + sign * step
  x
}

ordered_from <- function(positive) {
  force(positive)
  function(y, shape) {
    y <- from_column(y, shape)
    axis <- length(shape)
    size <- shape[[axis]]
    if (!length(y)) {
      return(list(value = y, log_jacobian = number_like(0, y)))
    }
    if (positive) {
      return(list(value = cumulated("add", exp(y), axis), log_jacobian = hlo_sum(y)))
    }
    later <- taken(y, seq_len(size)[-1L], axis)
    steps <- joined(list(taken(y, 1L, axis), exp(later)), axis)
    list(value = cumulated("add", steps, axis), log_jacobian = hlo_sum(later))
  }
}

# Stan's basis of what has the sum 0, Helmert's contrasts of length 1 as rows: the k-th has 1 at the first k places and
# -k at the next, divided by sqrt(k (k + 1)).
sum_to_zero_from <- function(y, shape) {
  axis <- length(shape)
  size <- shape[[axis]]
  if (size < 2L) {
    return(number_like(0, y, shape))
  }
  k <- seq_len(size - 1L)
  y <- from_column(y, less_one(shape))
  along <- function(numbers) broadcast(number_like(numbers, y, size - 1L), y@shape, axis)
  w <- y * along(1 / sqrt(k * (k + 1)))
  none <- number_like(0, y, replace(shape, axis, 1L))
  joined(list(cumulated("add", w, axis, reverse = TRUE), none), axis) - joined(list(none, w * along(k)), axis)
}

# The numbers of which sum_to_zero_from() makes a vector
contrasts_of <- function(x) {
  k <- seq_along(x)[-length(x)]
  (cumsum(x)[k] - k * x[k + 1L]) / sqrt(k * (k + 1))
}

simplex_from <- function(y, shape) {
  axis <- length(shape)
  size <- shape[[axis]]
  z <- sum_to_zero_from(y, shape)
  total <- hlo_logsumexp(z, axis)
  value <- exp(z - broadcast(total, z@shape, seq_along(shape)[-axis]))
  # The logarithms of the elements have the sum -n total.
  list(value = value, log_jacobian = hlo_sum(0.5 * log(size) - size * total))
}

unit_vector_from <- function(y, shape) {
  axis <- length(shape)
  y <- from_column(y, shape)
  square <- hlo_sum(y * y, axis)
  value <- y * broadcast(1 / sqrt(square), y@shape, seq_along(shape)[-axis])
  list(value = value, log_jacobian = -0.5 * hlo_sum(square))
}

# The number `diagonal` and what is above the diagonal, column by column, as an upper triangular matrix
upper_triangle <- function(above, diagonal, size) {
  # By rows, as values lie
  at <- matrix(length(above) + 2L, size, size)
  at[upper.tri(at)] <- seq_len(length(above))
  diag(at) <- length(above) + 1L
  entries <- joined(list(above, number_like(c(diagonal, 0), above, 2L)))
  reshaped(taken(entries, as.vector(t(at)), 1L), c(size, size))
}

# Each column is a row of Stan's lower factor: partial correlations tanh(y), times what the squares before leave of the
# column's length, the product of 1 / cosh(y).
corr_cholesky_from <- function(y, shape) {
  size <- shape[[1L]]
  if (size == 1L) {
    return(list(value = number_like(1, y, shape), log_jacobian = number_like(0, y)))
  }
  log_sech <- log(2) + y - hlo_log1pexp(2 * y)
  before <- shifted(cumulated("add", upper_triangle(log_sech, 0, size), 1L), 1L, 0)
  at <- which(upper.tri(diag(size)), arr.ind = TRUE)
  weights <- number_like(at[, 2L] - at[, 1L] + 1, y, length(y))
  list(
    value = upper_triangle(tanh(y), 1, size) * exp(before), log_jacobian = hlo_sum(weights * log_sech)
  )
}

cov_cholesky_from <- function(y, shape) {
  size <- shape[[1L]]
  on_diagonal <- cumsum(seq_len(size))
  own <- taken(y, on_diagonal, 1L)
  least <- number_like(next_number(0, 1, y@dtype), y, integer())
  entries <- joined(list(y, hlo_max(exp(own), least), number_like(0, y, 1L)))
  at <- matrix(length(entries), size, size)
  at[upper.tri(at, diag = TRUE)] <- seq_len(length(y))
  diag(at) <- length(y) + seq_len(size)
  list(value = reshaped(taken(entries, as.vector(t(at)), 1L), c(size, size)), log_jacobian = hlo_sum(own))
}
