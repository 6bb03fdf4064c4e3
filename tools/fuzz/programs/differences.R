# What programs compute otherwise than R, and say so: by kind. A program in which R's `functions` meet arguments and a
# result of which `when` is TRUE is not compared, unless `unless` is TRUE of the program. Nothing else is let through.
has_na <- function(arguments) any(vapply(arguments, function(a) is.atomic(a) && anyNA(a), NA))

# Whether finite numbers gave an infinite one, among those that `counts`.
overflows <- function(arguments, counts, value) {
  infinite <- is.infinite(unlist(value))
  any(infinite & rep_len(counts, length(infinite)), na.rm = TRUE) &&
    !any(is.infinite(unlist(Filter(is.numeric, arguments))))
}

# Whether a zero that code comes to may have the other sign in R. Of a number alone `-` says which.
has_unsure_zeros <- function(code) {
  if (!is.call(code)) {
    return(is.name(code) && as.character(code) %in% zero_signs)
  }
  if (identical(code[[1L]], quote(`-`)) && length(code) == 2L) code <- code[-1L]
  any_part(code, has_unsure_zeros)
}

# Whether a part of a call, but for an index that is left out, is of a kind
any_part <- function(code, is_kind) {
  any(vapply(as.list(code), function(x) !identical(x, quote(expr = )) && is_kind(x), NA)) # nolint
}

# Whether code may divide by one. What has no entry in a sparse matrix stays 0, whatever it is divided by.
has_unsure_divisors <- function(code) {
  if (!is.call(code)) {
    return(FALSE)
  }
  divisor <- if (identical(code[[1L]], quote(`/`))) code[[3L]] else if (identical(code[[1L]], quote(`^`))) code[[2L]]
  any(c("function", "<-", names(sparse_words)) %in% all.names(code)) || has_unsure_zeros(divisor) ||
    any_part(code, has_unsure_divisors)
}

differences <- list(
  list(
    name = "comparison with NaN", functions = c("==", "!=", "<", ">", "<=", ">="),
    when = function(arguments, value) anyNA(value),
    documented = "?xla_supported: `==` and its kin are FALSE beside NaN, `!=` is TRUE"
  ),
  list(
    name = "NA is NaN", functions = "is.nan",
    when = function(arguments, value) !identical(is.na(arguments[[1L]]), value),
    documented = "?xla_supported: is.nan"
  ),
  list(
    name = "integers wrap around", functions = c("+", "-", "*", "sum", "cumsum", "prod", "abs", "^"),
    when = function(arguments, value) is.integer(value) && anyNA(value) && !has_na(arguments),
    documented = "?xlaffi_value: integers wrap around where R gives NA"
  ),
  list(
    name = "median of NA", functions = "median", when = function(arguments, value) is.integer(value) && anyNA(value),
    documented = "?xla_supported: median, NaN where R may give a double"
  ),
  list(
    name = "extremes of no integers", functions = c("max", "min", "range"),
    when = function(arguments, value) {
      is.double(value) && all(is.infinite(value)) && !any(vapply(arguments, is.double, NA))
    },
    documented = "?xla_supported: max, NA of integers that are all NA"
  ),
  list(
    name = "angles of zeros", functions = c("atan2", "Arg"),
    when = function(arguments, value) {
      y <- arguments[[1L]]
      x <- if (length(arguments) > 1L) arguments[[2L]] else if (is.complex(y)) Re(y) else 1
      if (is.complex(y)) y <- Im(y)
      size <- max(length(x), length(y))
      # To the right of 0 the angle is a zero, of whatever sign.
      any(rep_len(y, size) == 0 & rep_len(x, size) <= 0, na.rm = TRUE)
    },
    documented = "?xlaffi_value: signs of zeros that are computed"
  ),
  list(
    name = "logicals of NaN", functions = c("as.logical", "!", "&", "|", "xor", "any", "all"),
    when = function(arguments, value) has_na(arguments),
    documented = "?xla_supported: as.logical"
  ),
  list(
    name = "integers of NaN", functions = "as.integer", when = function(arguments, value) anyNA(value),
    documented = "?xla_supported: as.integer"
  ),
  list(
    name = "types of ifelse()", functions = "ifelse",
    when = function(arguments, value) typeof(value) != typeof(c(arguments[[2L]], arguments[[3L]])),
    documented = "?xla_supported: ifelse, the larger type of both branches"
  ),
  list(
    name = "positions of NaN alone", functions = c("which.max", "which.min"),
    when = function(arguments, value) length(value) == 0L, documented = "?xla_supported: which.max"
  ),
  list(
    name = "five numbers of nothing", functions = "fivenum", when = function(arguments, value) is.logical(value),
    documented = "?xla_supported: fivenum"
  ),
  list(
    name = "integers that are NA, rounded", functions = "zapsmall", when = function(arguments, value) is.integer(value),
    documented = "?xla_supported: zapsmall"
  ),
  list(
    name = "assignment behind the end", functions = c("[<-", "[[<-"),
    when = function(arguments, value) length(value) > length(arguments[[1L]]),
    documented = "?xla_supported: [<-, updates at positions that are values and lie outside are left out"
  ),
  list(
    name = "division by zeros of a matrix", functions = c("%/%", "/"),
    when = function(arguments, value) is.matrix(arguments[[2L]]) && any(arguments[[2L]] == 0, na.rm = TRUE),
    documented = "?xlaffi_value: signs of zeros that are computed"
  ),
  list(
    name = "quantiles of F near 0", functions = "qf",
    when = function(arguments, value) any(abs(value) < 1e-6 & arguments[[1L]] != 0, na.rm = TRUE),
    documented = "?xla_supported: qf"
  ),
  list(
    name = "binomial coefficients of numbers near whole ones", functions = c("choose", "lchoose"),
    when = function(arguments, value) {
      n <- arguments[[1L]]
      is.double(n) && any(n != round(n) & abs(n - round(n)) <= 1e-7 * pmax(1, abs(n)), na.rm = TRUE)
    },
    documented = "?xla_supported: choose, lchoose"
  ),
  list(
    name = "sorted NaN", functions = "sort", when = function(arguments, value) anyNA(arguments[[1L]]),
    documented = "?xla_supported: sort, NaN stays at the end"
  ),
  list(
    name = "positions that rounding makes equal", functions = "approx",
    when = function(arguments, value) any(diff(sort(arguments[[1L]])) < 1e-6 * max(abs(arguments[[1L]])), na.rm = TRUE),
    documented = "?xla_supported: approx"
  ),
  list(
    name = "overflow on the way", functions = c("exp", "*", "sum", "prod", "cumprod", "cumsum", "sinh", "cosh"),
    when = function(arguments, value) overflows(arguments, TRUE, value),
    documented = "?xlaffi_value: XLA takes log(exp(x)) for x"
  ),
  list(
    name = "parts of products", functions = "prod",
    when = function(arguments, value) {
      sizes <- log(Mod(unlist(Filter(function(a) is.numeric(a) || is.complex(a), arguments))))
      # Beyond f32
      isTRUE(sum(sizes[sizes > 0 & is.finite(sizes)]) > 88 && sum(sizes[sizes < 0 & is.finite(sizes)]) < -87)
    },
    documented = "?xla_supported: prod, NaN where a part is too large and another too small"
  ),
  list(
    name = "overflow of quotients", functions = "/",
    when = function(arguments, value) overflows(arguments, arguments[[2L]] != 0, value),
    documented = "?xlaffi_value: XLA takes log(exp(x)) for x"
  ),
  list(
    name = "overflow of powers", functions = "^",
    when = function(arguments, value) overflows(arguments, arguments[[1L]] != 0, value),
    documented = "?xlaffi_value: XLA takes log(exp(x)) for x"
  ),
  list(
    name = "complex numbers divided by zeros", functions = c("/", "^"),
    when = function(arguments, value) is.complex(value) && any(is.infinite(value)),
    documented = "?xlaffi_value: complex numbers divided by 0 may be NaN"
  ),
  list(
    name = "infinities of zeros", functions = c("/", "^"),
    when = function(arguments, value) overflows(arguments, TRUE, value),
    unless = function(code) !has_unsure_divisors(code),
    documented = "?xlaffi_value: signs of zeros that are computed"
  ),
  list(
    name = "sparse matrices divided by 0", functions = "/",
    when = function(arguments, value) anyNA(value) && !has_na(arguments),
    unless = function(code) !any(names(sparse_words) %in% all.names(code)),
    documented = "?hlo_sparse: what has no entry stays 0"
  ),
  list(
    name = "numbers that are too small", functions = c(rounding_always, rounding_sums),
    when = function(arguments, value) {
      (is.double(value) || is.complex(value)) && any(Mod(value) < 1e-307 & Mod(value) > 0, na.rm = TRUE)
    },
    documented = "?xla_supported: numbers below 2.3e-308 count as 0"
  )
)

# The same of derivatives
slope_differences <- list(
  list(
    name = "infinite on the way", functions = c(rounding_always, rounding_sums),
    when = function(arguments, value) any(is.infinite(unlist(value))),
    documented = "?xla_grad: 0 times infinity"
  )
)

# Functions whose zeros may have the other sign, in R from one BLAS to the next: ?xlaffi_value says so. (R's quantiles
# of counts have zeros of both signs. Where a sparse matrix has no entry there is 0, whatever it is multiplied by.)
zero_signs <- c(
  "+", "-", "max", "min", "pmax", "pmin", "range", "cummax", "cummin", "fivenum", "quantile", "median", "rowsum", "^",
  "sum", "mean", "cumsum", "diff", "colSums", "rowSums", "colMeans", "rowMeans", "%*%", "%o%", "outer", "crossprod",
  "tcrossprod", "kronecker", "fft", "mvfft", "convolve", "solve", "scale", "sweep", "ave", "var", "sd", "cov", "cor",
  "Reduce", "sort", "toeplitz", "norm", "mahalanobis", "weighted.mean", "tapply", "sapply", "apply", "approx", "%%",
  "%/%", "Mod", "qr.solve", "backsolve", "forwardsolve", "chol", "chol2inv", "cov2cor", "det", "determinant", "svd",
  "eigen", "IQR", "mad", "do.call", "complex", "qbinom", "qpois", "qnbinom", "qgeom",
  names(sparse_words)
)
