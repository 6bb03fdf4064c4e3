# Random numbers of the sampler. Each transition of a chain takes its numbers from Threefry at places of its own: the
# counter's first word is the number of the transition, the second that of the number. So a chain's draws depend on its
# key alone. A trajectory needs a number for each leaf: these come from a seed of 64 bits, one of the transition's
# numbers, by SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators",
# OOPSLA 2014), which is a dozen operations on one integer.

# `normal` and `uniform`, numbers of (-1, 1), which are made of the same bits: a transition needs one of the two; and
# the `seed` of the leaves
transition_numbers <- function(key, clock, size, dtype) {
  places <- random_places(key, size + 1L)
  words <- pair_at(places, converted(clock, "ui32"))
  bits <- kept_apart(either(bits_left(converted(words[[1L]], "ui64"), 32), converted(words[[2L]], "ui64")))
  vector <- sliced(bits, 1L, size)
  # Numbers of (0, 1), in the middle between two that have 52 digits behind the point
  unit <- (converted(bits_right(vector, 12), "f64") + 0.5) * 2^-52
  signed <- 2 * unit - 1
  list(
    normal = converted(chlo("erf_inv", signed) * sqrt(2), dtype), uniform = converted(signed, dtype),
    seed = reshaped(sliced(bits, size + 1L, size + 1L), integer())
  )
}

next_seed <- function(seed) bind("add", list(seed, wide("9E3779B97F4A7C15")), "ui64", integer())

# The number that belongs to a seed, of which all bits are random
mixed <- function(seed) {
  folded <- function(x, distance) exclusive_or(x, bits_right(x, distance))
  times <- function(x, factor) bind("multiply", list(x, wide(factor)), "ui64", integer())
  folded(times(folded(times(folded(seed, 30), "BF58476D1CE4E5B9"), 27), "94D049BB133111EB"), 31)
}

# A constant of 64 bits, of hexadecimal digits
wide <- function(digits) {
  half <- function(from) {
    number <- strtoi(substring(digits, from + c(0, 4), from + c(3, 7)), 16L)
    constant(number[[1L]] * 65536 + number[[2L]], "ui64", integer(), "number")
  }
  either(bits_left(half(1), 32), half(9))
}

# A number of [0, 1) of the upper 53 bits
unit_number <- function(bits) converted(bits_right(bits, 11), "f64") * 2^-53

# The sign of time in a doubling, of a bit that unit_number() does not look at
direction_of <- function(bits) {
  converted(both_bits(bits, filled(1, bits)), "f64") * 2 - 1
}
