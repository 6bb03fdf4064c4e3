#' Random numbers in programs
#'
#' Random numbers from explicit keys, by the counter-based generator Threefry: the same key gives the same numbers, in
#' every program, batch and process.
#'
#' @details
#' A key is a value of dtype ui32 and shape (2): two numbers that decide on all that follows. Nothing changes it, so
#' **use a key once**: two calls with one key give the same numbers, or dependent ones. `hlo_split()` makes new keys of
#' one, `hlo_fold_in()` makes one of a key and a number, such as that of a turn of a loop. A program that is run again
#' with the same key does the same again: pass the seed or the key as an argument.
#'
#' Keys come back from programs as two numbers of class integer64, which may be passed on to the next program.
#'
#' What is reproducible: bits, `hlo_split()` and `hlo_fold_in()` and `hlo_runif()` with `min` 0 and `max` 1 are those of
#' `jax.random` (its default implementation, `threefry2x32`, partitionable) bit by bit on every platform. Other
#' distributions are computed from them by functions such as `log()`, of which a platform may round the last bit in its
#' own way; on CPUs `hlo_rnorm()` agrees with `jax.random.normal()` bit by bit. [xla_vmap()] over keys gives what a loop
#' over keys gives.
#'
#' R's own generator and `set.seed()` have no part in this: `rnorm()` in a traced function would be one constant.
#'
#' The bits of a draw are an array of their own while the program runs, from which all that uses the numbers computes
#' them: 8 bytes for each number of dtype f64 or ui64, up to 4 for each other one.
#'
#' `hlo_random_bits()` gives integers of dtype ui8, ui16, ui32 or ui64.
#'
#' @param seed A whole number, of at most 2^53 in size or of class integer64, or an integer value.
#' @param key A key.
#' @param num How many keys; several numbers give the keys an array of that shape.
#' @param data A whole number from 0 to 2^32 - 1, or an integer value, of which the lower 32 bits count.
#' @param shape The dimensions of the result.
#' @param dtype The element type.
#' @return `hlo_key()` and `hlo_fold_in()`: a key. `hlo_split()`: keys, shape (num, 2), of which `keys[i, ]` is one.
#' @references J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw (2011), Parallel random numbers: as easy as
#'   1, 2, 3, SC '11, Article 16.
#' @seealso [hlo_random_numbers] and [hlo_random_vectors] for distributions, [hlo_sample()] for samples.
#' @section Errors:
#' A seed or a number that is not one integer, what is no key (also several keys at once), and other dtypes of bits are
#' an error.
#'
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(seed) {
#'   keys <- hlo_split(hlo_key(seed), 2)
#'   list(hlo_runif(keys[1, ], 3), hlo_rnorm(keys[2, ], 3))
#' })
#' f(42L)
#' # A key for each step, and the bits that all numbers are made of
#' xla_jit(function(seed) hlo_random_bits(hlo_fold_in(hlo_key(seed), 3L), 2))(42L)
#' @name hlo_random
NULL

#' @rdname hlo_random
#' @export
hlo_key <- function(seed) {
  check_given(seed)
  if (!is_value(seed)) {
    return(constant(seed_halves(seed), "ui32", 2L, "seed"))
  }
  if (!is_integer(seed@dtype) || length(seed) != 1L) {
    abort(sprintf("hlo_key: `seed` must be one integer, not %s", type_text(seed)), op = "hlo_key", operand = "seed")
  }
  seed <- reshaped(seed, integer())
  high <- if (seed@dtype %in% c("i64", "ui64")) {
    converted(bits_right(converted(seed, "ui64"), 32), "ui32")
  } else if (startsWith(seed@dtype, "ui")) {
    constant(0, "ui32", integer(), "seed")
  } else {
    # The sign, as of the same number of 64 bits
    converted(hlo_select(seed < 0L, -1L, filled(0L, converted(seed, "i32"))), "ui32")
  }
  as_pair(high, converted(seed, "ui32"))
}

# The upper and the lower half of a 64-bit integer
seed_halves <- function(seed, call = rlang::caller_env()) {
  one <- is_data(seed) && length(seed) == 1L && (is.numeric(seed) || is_integer64(seed)) && !is.na(seed)
  if (!one || (!is_integer64(seed) && (seed != trunc(seed) || abs(seed) > 2^53))) {
    abort(sprintf("hlo_key: `seed` must be one whole number, not %s", describe(seed)),
      op = "hlo_key", operand = "seed", call = call
    )
  }
  bytes <- as.double(as.integer(writeBin(unclass(bit64::as.integer64(seed)), raw(), endian = "little")))
  c(sum(bytes[5:8] * 256^(0:3)), sum(bytes[1:4] * 256^(0:3)))
}

#' @rdname hlo_random
#' @export
hlo_split <- function(key, num = 2) {
  key <- as_key(key)
  shape <- check_shape(num, "num")
  bits <- random_pair(key, shape)
  last <- length(shape) + 1L
  concatenated(lapply(bits, function(half) reshaped(half, c(shape, 1L))), last, environment())
}

#' @rdname hlo_random
#' @export
hlo_fold_in <- function(key, data) {
  key <- as_key(key)
  if (is_value(data)) {
    if (!is_integer(data@dtype) || length(data) != 1L) {
      abort(sprintf("hlo_fold_in: `data` must be one integer, not %s", type_text(data)),
        op = "hlo_fold_in", operand = "data"
      )
    }
    data <- converted(reshaped(data, integer()), "ui32")
  } else {
    data <- constant(data, "ui32", integer(), "data", op = "hlo_fold_in")
  }
  halves <- key_halves(key)
  do.call(as_pair, threefry(halves[[1L]], halves[[2L]], filled(0, data), data))
}

#' @rdname hlo_random
#' @export
hlo_random_bits <- function(key, shape, dtype = "ui32") {
  key <- as_key(key)
  dtype <- check_dtype(dtype, "dtype")
  if (!dtype %in% c("ui8", "ui16", "ui32", "ui64")) {
    abort(sprintf("hlo_random_bits: `dtype` must be ui8, ui16, ui32 or ui64, not %s", dtype),
      op = "hlo_random_bits", operand = "dtype"
    )
  }
  random_bits(random_places(key, check_shape(shape, "shape")), dtype)
}

# A key as a value: what came back to R from a program is two numbers of class integer64.
as_key <- function(key, call = rlang::caller_env()) {
  check_not_missing(key, "key", call)
  given <- key
  if (!is_value(key) && is_integer64(key) && length(key) == 2L && !anyNA(key)) {
    key <- constant(key, "i64", 2L, "key", call)
  }
  if (!is_value(key) || !key@dtype %in% c("ui32", "i64") || !identical(key@shape, 2L)) {
    abort(
      sprintf(
        "`key` must be one key, ui32(2), not %s", if (is_value(given)) type_text(given) else describe(given)
      ),
      operand = "key", hint = "`hlo_key()` makes a key of a number, and `keys[i, ]` takes one of several.", call = call
    )
  }
  converted(key, "ui32")
}

key_halves <- function(key) lapply(1:2, function(i) reshaped(sliced(key, i, i), integer()))

as_pair <- function(high, low) concatenated(list(reshaped(high, 1L), reshaped(low, 1L)), 1L, NULL)

# Random numbers are functions of places: the two halves of a key and the number of the element, each of the shape of
# the result. So what is computed of them goes element by element, and a batch of keys is a larger array.
random_places <- function(key, shape, call = rlang::caller_env()) {
  count <- prod(shape)
  if (count >= 2^32) {
    abort(sprintf("`shape` %s has 2^32 elements or more", shape_text(shape)), operand = "shape", call = call)
  }
  halves <- lapply(key_halves(key), repeated, shape)
  number <- if (count == 0) {
    constant(0, "ui32", shape, "shape")
  } else {
    reshaped(bind("iota", list(), "ui32", as.integer(count), list(axis = 1L)), shape)
  }
  list(high = halves[[1L]], low = halves[[2L]], number = number)
}

# Two times 32 bits for each place. `turn` counts what is drawn for one place: a value, or a number.
random_pair <- function(key, shape) pair_at(random_places(key, shape), 0)

pair_at <- function(places, turn) {
  turn <- if (is_value(turn)) repeated(turn, places$number@shape) else filled(turn, places$number)
  threefry(places$high, places$low, turn, places$number)
}

# Kept apart, since XLA would fuse all of Threefry into every loop of what uses them, where LLVM's vectorizer asks for
# the users of the loop's counter along every path: there are more than 2^20.
random_bits <- function(places, dtype, turn = 0) {
  bits <- pair_at(places, turn)
  kept_apart(if (dtype == "ui64") {
    either(bits_left(converted(bits[[1L]], "ui64"), 32), converted(bits[[2L]], "ui64"))
  } else {
    converted(exclusive_or(bits[[1L]], bits[[2L]]), dtype)
  })
}

# Threefry-2x32 with 20 rounds: the key (k0, k1) applied to the counter (x0, x1), all ui32 of one shape.
threefry <- function(k0, k1, x0, x1) {
  keys <- list(k0, k1, exclusive_or(exclusive_or(k0, k1), filled(0x1BD11BDA, k0)))
  distances <- list(c(13, 15, 26, 6), c(17, 29, 16, 24))
  x0 <- x0 + k0
  x1 <- x1 + k1
  for (group in 1:5) {
    for (distance in distances[[(group - 1L) %% 2L + 1L]]) {
      x0 <- x0 + x1
      x1 <- exclusive_or(rotated(x1, distance), x0)
    }
    x0 <- x0 + keys[[group %% 3L + 1L]]
    x1 <- x1 + (keys[[(group + 1L) %% 3L + 1L]] + filled(group, x1))
  }
  list(x0, x1)
}

rotated <- function(x, distance) either(bits_left(x, distance), bits_right(x, 32 - distance))

bits_left <- function(x, distance) bind("shift_left", list(x, filled(distance, x)), x@dtype, x@shape)

bits_right <- function(x, distance) bind("shift_right_logical", list(x, filled(distance, x)), x@dtype, x@shape)

either <- function(x, y) bind("or", list(x, y), x@dtype, x@shape)

exclusive_or <- function(x, y) bind("xor", list(x, y), x@dtype, x@shape)

for (name in c("hlo_key", "hlo_split", "hlo_fold_in", "hlo_random_bits")) {
  overload(name, "xlaffi", get(name),
    by = "own", topic = "Random numbers", dtypes = "keys (ui32)", derivative = "none",
    differs = "Random numbers of explicit keys: R's generator is not used."
  )
}
rm(name)
