#' Fourier transforms of real numbers
#'
#' `hlo_rfft()` gives the first half of the discrete Fourier transform of real numbers, along the last axis: the other
#' half is its mirror image, conjugated. `hlo_irfft()` goes back. For complex numbers, and as R has it, there is
#' [stats::fft()], which takes [values][xlaffi_value] too.
#'
#' @param x A value of dtype f32 or f64 with at least one axis.
#' @param z A complex value whose last axis has `n %/% 2 + 1` elements.
#' @param n How many real numbers there were.
#' @return `hlo_rfft()`: a complex value, `n %/% 2 + 1` elements along the last axis, where `x` has n. `hlo_irfft()`:
#'   real numbers, n along the last axis, divided by n: `hlo_irfft(hlo_rfft(x), n)` is `x`.
#' @section Errors:
#' `hlo_rfft()` wants f32 or f64 with elements along the last axis, `hlo_irfft()` complex numbers with `n %/% 2 + 1`;
#' all else is an error.
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) hlo_rfft(x))(c(1, 2, 3, 4))
#' fft(c(1, 2, 3, 4))
#' xla_jit(function(x) hlo_irfft(hlo_rfft(x), 4))(c(1, 2, 3, 4))
#' @export
hlo_rfft <- function(x) {
  x <- as_value(x, "x")
  call <- environment()
  rank <- length(x@shape)
  if (!rank || !x@dtype %in% c("f32", "f64") || !x@shape[[rank]]) {
    abort(sprintf("hlo_rfft: `x` must be f32 or f64 with elements along its last axis, not %s", type_text(x)),
      op = "hlo_rfft", operand = "x", call = call
    )
  }
  n <- x@shape[[rank]]
  fft_node(x, "RFFT", n, complex_dtype(x@dtype), c(x@shape[-rank], n %/% 2L + 1L))
}

#' @rdname hlo_rfft
#' @export
hlo_irfft <- function(z, n) {
  z <- as_value(z, "z")
  call <- environment()
  rank <- length(z@shape)
  n <- check_per_axis(n, "n", 1L)
  if (!rank || !is_complex(z@dtype) || n < 1L || z@shape[[rank]] != n %/% 2L + 1L) {
    abort(
      sprintf(
        "hlo_irfft: `z` must be complex with %d elements along its last axis, for `n` = %d, not %s", n %/% 2L + 1L, n,
        type_text(z)
      ),
      op = "hlo_irfft", operand = "z", call = call
    )
  }
  fft_node(z, "IRFFT", n, real_dtype(z@dtype), c(z@shape[-rank], n))
}

overload("hlo_rfft", "xlaffi", hlo_rfft, by = "own", topic = "Complex numbers and bits", dtypes = "f32, f64")
overload("hlo_irfft", "xlaffi", hlo_irfft, by = "own", topic = "Complex numbers and bits", dtypes = "complex numbers")

# Along the last axes, as many as `lengths`; StableHLO divides the inverse ones by these.
fft_node <- function(x, type, lengths, dtype = x@dtype, shape = x@shape) {
  bind("fft", list(x), dtype, shape, list(type = type, lengths = lengths))
}

# The matrix of a whole transform is symmetric. Half of one is a whole one of which the rest is left out; its inverse
# takes all but the ends twice.
fft_transpose <- function(node, cotangents, linear) {
  p <- node$params
  given <- cotangents[[1L]]
  n <- as.integer(p$lengths[[length(p$lengths)]])
  rank <- length(given@shape)
  list(switch(p$type,
    RFFT = {
      high <- c(rep(0L, rank - 1L), n - given@shape[[rank]])
      whole <- padded(given, zero_scalar(given), 0L * high, high, 0L * high)
      hlo_real(fft_node(whole, "FFT", n))
    },
    IRFFT = {
      half <- hlo_conj(hlo_rfft(given))
      place <- hlo_iota(given@dtype, half@shape, rank)
      is_end <- place == 0L
      if (n %% 2L == 0L) {
        is_end <- is_end | place == n %/% 2L
      }
      weight <- selected(is_end, filled(1 / n, place), filled(2 / n, place))
      hlo_complex(hlo_real(half) * weight, hlo_imag(half) * weight)
    },
    fft_node(given, p$type, p$lengths)
  ))
}

# R's transform along `axes`; the inverse is not divided.
fourier <- function(x, axes, inverse) {
  size <- prod(x@shape[axes])
  if (length(x) == 0L || !length(axes)) {
    return(x)
  }
  # StableHLO takes three axes at once, the last ones.
  groups <- split(axes, (seq_along(axes) - 1L) %/% 3L)
  for (group in groups) {
    order <- c(setdiff(seq_along(x@shape), group), group)
    x <- transposed(x, order)
    x <- fft_node(x, if (inverse) "IFFT" else "FFT", x@shape[length(order) - rev(seq_along(group)) + 1L])
    x <- transposed(x, order(order))
  }
  if (inverse) x * converted(constant(size, real_dtype(x@dtype), integer(), "size"), x@dtype) else x
}

fourier_operand <- function(z, inverse, op, call) {
  if (is_value(inverse) || !(is.logical(inverse) || is.numeric(inverse)) || length(inverse) != 1L || is.na(inverse)) {
    abort(sprintf("%s: `inverse` must be TRUE or FALSE, not %s", op, describe_leaf(inverse)),
      op = op, operand = "inverse", call = call
    )
  }
  z <- as_value(z, "z", call = call, op = op)
  check_no_token(z, op, "z", call)
  as_complex(z, op, "z", call)
}

overload_fft <- function(z, inverse = FALSE) {
  call <- method_call("fft")
  z <- fourier_operand(z, inverse, "fft()", call)
  fourier(z, seq_along(z@shape), inverse != 0)
}

overload_mvfft <- function(z, inverse = FALSE) {
  call <- method_call("mvfft")
  z <- fourier_operand(z, inverse, "mvfft()", call)
  if (length(z@shape) != 2L) {
    abort(sprintf("mvfft(): `z` must be a matrix, not %s", type_text(z)), op = "mvfft", operand = "z", call = call)
  }
  fourier(z, 1L, inverse != 0)
}

overload("fft", "stats", overload_fft, topic = "Complex numbers and bits", dtypes = "all numbers")
overload("mvfft", "stats", overload_mvfft, topic = "Complex numbers and bits", dtypes = "all numbers")

fft_text <- function(node, operands, scope) {
  p <- node$params
  text <- text_lines(scope)
  if (!is.null(scope$mesh)) {
    # On a mesh the transformed axes are whole on each device: what XLA gathers itself, as it finds it cut along them,
    # gets a layout that its own transform refuses.
    rank <- length(node$inputs[[1L]]@shape)
    entries <- sharding_text(rep(list(character()), rank), seq_len(rank - length(p$lengths)))
    operands <- text$add(sprintf("sdy.sharding_constraint %s %s : %s", operands, entries, input_types(node)))
  }
  name <- text$add(sprintf(
    "stablehlo.fft %s, type = %s, length = %s : %s", operands, p$type, sizes_text(p$lengths), signature_text(node)
  ))
  list(names = name, lines = text$lines(), calls = TRUE)
}

primitive("fft",
  text = fft_text,
  jvp = function(node, tangents) {
    type <- node$types[[1L]]
    list(bind("fft", tangents, type@dtype, type@shape, node$params))
  },
  transpose = fft_transpose,
  vmap = function(node, inputs, mapped, size) rebind_batch(node, inputs, size),
  export = exported_params("type", "lengths"),
  sparsity = function(node, given, sets, known) {
    shape <- node$inputs[[1L]]@shape
    result <- node$types[[1L]]@shape
    axes <- length(shape) + 1L - seq_along(node$params$lengths)
    left <- setdiff(seq_along(shape), axes)
    list(sets_repeated(sets_along(sets, given[[1L]], shape, axes), shape[left], result, left))
  }
)
