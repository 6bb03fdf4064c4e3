# Convolutions and filters.

# As in R, part of a name will do.
check_start_of_choice <- function(x, name, choices, call) {
  found <- if (is.character(x) && length(x) == 1L) pmatch(x, choices) else NA
  if (is.na(found)) check_choice(x, name, choices, call) else choices[[found]]
}

overload_convolve <- function(x, y, conj = TRUE, type = c("circular", "open", "filter")) {
  call <- method_call("convolve")
  check_flag(conj, "conj", call)
  type <- check_start_of_choice(type, "type", c("circular", "open", "filter"), call)
  both <- list(value_beside(x, y, "x", call, "convolve()"), value_beside(y, x, "y", call, "convolve()"))
  if (any(vapply(both, rank_of, 0L) > 1L)) {
    abort("convolve(): `x` and `y` must be vectors: of matrices R takes transforms of two dimensions", "UNIMPLEMENTED",
      op = "convolve", operand = "x", call = call
    )
  }
  # R takes logicals for no numbers, and gives complex ones.
  real <- !any(vapply(both, function(part) is_complex(part@dtype) || part@dtype == "pred", NA))
  both <- lapply(common(both, "convolve()", c("x", "y"), call), as_column)
  both <- Map(function(part, name) as_complex(part, "convolve()", name, call), both, c("x", "y"))
  size <- length(both[[1L]])
  short <- length(both[[2L]])
  if (!size || !short || (type == "circular" && size != short)) {
    expected <- if (type == "circular") "have the same length" else "have elements"
    abort(sprintf("convolve(): `x` and `y` must %s, not %.0f and %.0f", expected, size, short),
      op = "convolve", operand = "y", call = call
    )
  }
  if (type != "circular") {
    both <- list(hlo_pad(both[[1L]], 0, short - 1L, 0L), hlo_pad(both[[2L]], 0, 0L, size - 1L))
  }
  n <- length(both[[1L]])
  both <- lapply(both, fourier, 1L, FALSE)
  y <- fourier(both[[1L]] * (if (conj) hlo_conj(both[[2L]]) else both[[2L]]), 1L, TRUE)
  y <- if (real) hlo_real(y) else y
  # With one `y`, R leaves out the first element and the last one, too.
  kept <- if (type == "filter") seq_len(n)[-c(1L:(short - 1L), (n - short + 2L):n)] else seq_len(n)
  taken(y, kept, 1L) / n
}

overload("convolve", "stats", overload_convolve, topic = "Complex numbers and bits", dtypes = "all numbers")

# Up to so many coefficients are written out.
most_taps <- 64L

# The sums of `size` products of coefficients and neighbours, the latest one first: of n elements n - size + 1.
window_sums <- function(x, coefficients) {
  size <- as.integer(length(coefficients))
  count <- as.integer(length(x)) - size + 1L
  if (size <= most_taps) {
    terms <- lapply(seq_len(size), function(j) {
      taken(x, seq_len(count) + size - j, 1L) * reshaped(sliced(coefficients, j, j), integer())
    })
    return(Reduce(`+`, terms))
  }
  shape <- c(count, size)
  at <- hlo_iota("i32", shape, 1L) + (size - 1L - hlo_iota("i32", shape, 2L))
  windows <- reshaped(gathered(x, reshaped(at, count * size), 1L), shape)
  dot(windows, coefficients, list(2L, 1L), list(integer(), integer()))
}

moving_sums <- function(x, coefficients, sides, circular) {
  n <- as.integer(length(x))
  size <- as.integer(length(coefficients))
  ahead <- if (sides == 2) size %/% 2L else 0L
  behind <- size - 1L - ahead
  if (circular) {
    places <- (seq_len(n + size - 1L) - 1L - behind) %% n + 1L
    return(window_sums(taken(x, places, 1L), coefficients))
  }
  hlo_pad(window_sums(x, coefficients), NaN, behind, ahead)
}

# `init` has what comes before the first element, the latest one first.
feed_back <- function(x, coefficients, init) {
  size <- as.integer(length(coefficients))
  hlo_scan(function(before, x) {
    now <- x + sum(coefficients * before)
    list(joined(list(reshaped(now, 1L), sliced(before, 1L, size - 1L))), now)
  }, init, x)$y
}

overload_filter <- function(x, filter, method = c("convolution", "recursive"), sides = 2L, circular = FALSE,
                            init = NULL) {
  call <- method_call("filter")
  method <- check_start_of_choice(method, "method", c("convolution", "recursive"), call)
  check_flag(circular, "circular", call)
  refuse <- function(name, ...) {
    abort(sprintf("filter(): `%s` must %s", name, sprintf(...)), op = "filter", operand = name, call = call)
  }
  parts <- lapply(common(list(x, filter), "filter()", c("x", "filter"), call), as_doubles)
  x <- parts[[1L]]
  coefficients <- as_column(parts[[2L]])
  check_kind(x, "a floating-point number", "filter()", "x", call)
  if (rank_of(x) > 2L) {
    refuse("x", "be a vector or a matrix, not %s", type_text(x))
  }
  size <- length(coefficients)
  columns <- if (rank_of(x) == 2L) columns_as_list(x) else list(as_column(x))
  rows <- length(columns[[1L]])
  if (!size) {
    refuse("filter", "have elements")
  }
  if (method == "convolution") {
    if (size > rows) {
      refuse("filter", "not be longer than `x`: it has %.0f elements, `x` %.0f", size, rows)
    }
    if (!(is_one_number(sides) && sides %in% 1:2)) {
      refuse("sides", "be 1 or 2, not %s", describe(sides))
    }
    answers <- lapply(columns, moving_sums, coefficients, sides, circular)
  } else {
    before <- if (is.null(init)) 0 else init
    before <- converted(as_value(before, "init", call = call, op = "filter()"), x@dtype)
    count <- if (rank_of(before) == 2L) before@shape[[2L]] else 1L
    if (!is.null(init) && (length(before) != size * count || !count %in% c(1L, length(columns)))) {
      refuse("init", "have %.0f elements for each column, not be %s", size, type_text(before))
    }
    before <- cycled(as_column(before), size * length(columns))
    answers <- lapply(seq_along(columns), function(j) {
      feed_back(columns[[j]], coefficients, taken(before, seq_len(size) + (j - 1L) * size, 1L))
    })
  }
  if (rank_of(x) == 2L) stacked_parts(answers, rows) else answers[[1L]]
}

columns_as_list <- function(x) {
  rows <- x@shape[[1L]]
  lapply(seq_len(x@shape[[2L]]), function(j) reshaped(sliced(x, c(1L, j), c(rows, j)), rows))
}

overload("filter", "stats", overload_filter,
  topic = "Summaries", dtypes = "real numbers",
  differs = "The result is no time series. NA at the ends is NaN."
)

overload("toeplitz", "stats", function(x) {
  call <- method_call("toeplitz")
  if (rank_of(x) > 1L) {
    abort(sprintf("toeplitz(): `x` must be a vector, not %s", type_text(x)),
      op = "toeplitz", operand = "x", call = call
    )
  }
  n <- as.integer(length(x))
  at <- abs(hlo_iota("i32", c(n, n), 1L) - hlo_iota("i32", c(n, n), 2L))
  reshaped(gathered(as_column(x), reshaped(at, n * n), 1L), c(n, n))
}, topic = "Linear algebra", dtypes = "all", differs = "Symmetric, of one vector.")
