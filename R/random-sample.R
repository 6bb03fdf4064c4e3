#' Random samples
#'
#' What R's [sample()] gives, from a key, see [hlo_random].
#'
#' @details
#' Samples of equal probabilities without replacement are those with the smallest of as many random numbers of 64 bits,
#' so all of `x` is sorted also where `size` is small. With replacement and `prob` they are found in the sums of the
#' probabilities. Without replacement and with `prob`, R draws one element after the other, each with a probability
#' proportional to its `prob` among those that are left; this draws all at once, by sorting exponential numbers of rate
#' `prob`, and the samples, their order included, have the same distribution.
#'
#' Derivatives are those of the elements that were drawn; `prob` has none.
#'
#' A `prob` that is a value and has negative or missing or infinite numbers, or too few that are positive, gives NaN and
#' NA where R raises an error.
#'
#' @param key A key, see [hlo_key()].
#' @param x What to draw from: a [value][xlaffi_value] of two elements or more, whose elements are taken in R's order,
#'   an R vector, or one whole number that stands for the numbers from 1 to `x`. For rows of a matrix draw positions:
#'   `x[hlo_sample(key, nrow(x), 3), ]`.
#' @param size How many, known while the program is written. By default as many as there are.
#' @param replace Whether an element may be drawn more than once.
#' @param prob Numbers proportional to the probabilities of the elements: a value or an R vector. They need not sum
#'   to 1.
#' @return A value of shape `size`: elements of `x`, or i32 for a number `x`.
#' @seealso [hlo_random_numbers] and [hlo_random_vectors] for distributions.
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(seed, x) {
#'   keys <- hlo_split(hlo_key(seed), 2)
#'   list(hlo_sample(keys[1, ], x), hlo_sample(keys[2, ], 3, 10, replace = TRUE, prob = c(1, 2, 7)))
#' })
#' f(1L, c(2.5, 3.5, 7))
#' @export
hlo_sample <- function(key, x, size, replace = FALSE, prob = NULL) {
  call <- environment()
  key <- as_key(key)
  check_flag(replace, "replace")
  elements <- sampled_elements(x, call)
  count <- if (is.null(elements)) as.integer(x) else length(elements)
  size <- if (missing(size)) count else check_count(size, "size", call)
  if (size > count && (!replace || !count)) {
    abort(sprintf("hlo_sample: `size` is %d, but there are %d to draw from", size, count),
      op = "hlo_sample", operand = "size", hint = if (count) "`replace = TRUE` draws an element more than once.",
      call = call
    )
  }
  weights <- if (!is.null(prob)) sampling_weights(prob, elements, count, if (replace) min(size, 1L) else size, call)
  at <- if (!size) {
    constant(0L, "i32", 0L, "size")
  } else if (is.null(weights)) {
    equal_positions(key, count, size, replace)
  } else if (replace) {
    weighted_positions(key, weights, size)
  } else {
    race_positions(key, weights, size)
  }
  found <- if (is.null(elements)) at + 1L else gathered(elements, at, 1L)
  if (!is_value(prob) || !size) {
    return(found)
  }
  fine <- hlo_sum(converted(weights > 0, "i32")) >= (if (replace) 1L else size)
  selected(repeated(fine & all(weights >= 0 & weights < Inf), size), found, filled(missing_number(found@dtype), found))
}

overload("hlo_sample", "xlaffi", hlo_sample, "own",
  topic = "Random numbers", dtypes = "all", derivative = "in the elements",
  differs = "As sample(), with a key. Values of one element are refused."
)

# NULL for a number that stands for those from 1 on. What a single number of a program is, R could not tell.
sampled_elements <- function(x, call) {
  if (is_value(x) && length(x) == 1L) {
    abort(sprintf("hlo_sample: `x` must be a value of two elements or more, not %s", type_text(x)),
      op = "hlo_sample", operand = "x", hint = "A number known while the program is written stands for 1, 2, ..., `x`.",
      call = call
    )
  }
  if (is_value(x) || length(x) != 1L || !is.numeric(x)) {
    return(as_column(as_value(x, "x", call = call, op = "hlo_sample")))
  }
  if (is.na(x) || x < 1 || x != trunc(x) || x > .Machine$integer.max) {
    abort(sprintf("hlo_sample: a single number `x` must be whole, from 1 to 2^31 - 1, not %s", describe(x)),
      op = "hlo_sample", operand = "x", call = call
    )
  }
  NULL
}

# The probabilities as f64 of rank 1; what is known of them is checked.
sampling_weights <- function(prob, elements, count, least, call) {
  refuse <- function(text, ...) {
    abort(sprintf(paste("hlo_sample:", text), ...), op = "hlo_sample", operand = "prob", call = call)
  }
  known <- !is_value(prob)
  if (known && (!is.numeric(prob) || anyNA(prob) || any(prob < 0 | prob == Inf))) {
    refuse("`prob` must be finite numbers from 0, not %s", describe(prob))
  }
  if (known && sum(prob > 0) < least) {
    refuse("`prob` is positive %d times, but %d are to be drawn", sum(prob > 0), least)
  }
  prob <- as_value(prob, "prob", call = call, op = "hlo_sample")
  check_kind(prob, "a real number", "hlo_sample", "prob", call)
  if (length(prob) != count) {
    refuse("`prob` must have %d elements, as `x`, not %d", count, length(prob))
  }
  if (!known && !is.null(elements) && !is_inexact(elements@dtype) && elements@dtype != "i32") {
    refuse("with a `prob` that is a value, `x` must have a dtype that has NaN or NA, not %s", elements@dtype)
  }
  prob <- as_column(converted(prob, "f64"))
  if (!count) prob else prob / reduced("reduce_max", abs(prob), NULL, "hlo_sample")
}

# All positions are i32, rank 1, and counted from 0.
equal_positions <- function(key, count, size, replace) {
  bits <- random_bits(random_places(key, if (replace) size else count), "ui64")
  if (!replace) {
    return(taken(sorted_along(bits)[[2L]], seq_len(size), 1L))
  }
  converted(bind("remainder", list(bits, filled(count, bits)), "ui64", bits@shape), "i32")
}

sampling_places <- function(key, size) c(random_places(key, size), list(dtype = "f64"))

# The largest come first, so that rounded sums cannot lead to elements of probability 0, which come last.
weighted_positions <- function(key, weights, size) {
  ordered <- sorted_along(weights, decreasing = TRUE)
  sums <- cumulated("add", ordered[[1L]], 1L)
  count <- length(weights)
  u <- uniform(sampling_places(key, size)) * sliced(sums, count, count)
  last <- hlo_max(hlo_sum(converted(weights > 0, "i32")), 1L) - 1L
  gathered(ordered[[2L]], hlo_min(count_before(sums, u, right = TRUE), last), 1L)
}

# Exponential numbers of rate `weights`, in logarithms: those that end first.
race_positions <- function(key, weights, size) {
  ends <- log(exponential(sampling_places(key, length(weights)))) - log(weights)
  taken(sorted_along(ends)[[2L]], seq_len(size), 1L)
}
