# How far rounding may carry a program's result: R computes the program again with each inexact function's result
# changed by a relative 1e-6, up and down. What then differs by d may differ by some 1e-6 * d between doubles that are
# rounded at other places. Programs whose integers, logicals, infinities or NaN change by this are not compared: there a
# number lies on a jump.

rounding_size <- 1e-6

# Elementwise functions and others that are never exact
rounding_always <- c(
  "/", "^", "exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
  "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sinpi", "cospi", "tanpi", "atan2", "signif", "round", "zapsmall",
  "gamma", "lgamma", "digamma", "trigamma", "psigamma", "beta", "lbeta", "choose", "lchoose", "factorial", "lfactorial",
  "besselJ", "besselI", "besselK", "besselY", "Mod", "Arg", "%%", "fft", "mvfft", "convolve", "solve", "qr.solve",
  "chol",
  "chol2inv", "sparse_inverse", "det", "determinant", "backsolve", "forwardsolve", "svd", "eigen", "mahalanobis",
  "cov2cor", "var", "sd",
  "cor", "cov", "quantile", "mad", "IQR", "scale", "weighted.mean", "prop.table", "norm", "approx", "complex", "seq",
  outer(c("d", "p", "q"), c(
    "norm", "gamma", "beta", "t", "chisq", "f", "exp", "weibull", "lnorm", "logis", "cauchy", "unif"
  ), paste0), "dpois", "ppois", "dbinom", "pbinom", "dnbinom", "pnbinom", "dgeom", "pgeom", "dmultinom"
)
# Exact where the numbers have few digits
rounding_sums <- c(
  "+", "-", "*", "sum", "prod", "mean", "cumsum", "cumprod", "diff", "%*%", "%o%", "crossprod", "tcrossprod", "outer",
  "kronecker", "rowSums", "colSums", "rowMeans", "colMeans", "median", "fivenum", "rowsum", "sweep", "ave"
)
# The error of these is relative to the largest number that goes in or comes out, as they add up.
rounding_by_norm <- c(
  setdiff(rounding_sums, c("*", "prod", "cumprod", "%o%", "median")), "fft", "mvfft", "convolve", "solve", "qr.solve",
  "chol", "chol2inv", "sparse_inverse", "det", "determinant", "backsolve", "forwardsolve", "svd", "eigen",
  "mahalanobis", "var", "sd", "cor", "cov", "quantile", "mad", "IQR", "scale", "weighted.mean", "complex", "%%", "sin",
  "cos", "tan", "sinpi", "cospi", "tanpi",
  "lgamma", "digamma", "gamma", "besselJ", "besselY", "approx", "log", "^", "exp"
)

# What adds up many numbers: its error is relative to the sum of their sizes, which is what "of the dtype's precision"
# in ?xla_supported can mean for sums.
rounding_of_many <- c("sum", "colSums", "rowSums", "cumsum", "rowsum", "crossprod", "tcrossprod", "%*%", "norm")
is_many <- function(arguments) any(lengths(arguments) > 1000L)

size_of_sums <- function(x, name, arguments) {
  sizes <- lapply(Filter(function(a) is.numeric(a) || is.complex(a), arguments), function(a) {
    ifelse(is.finite(a), Mod(a), 0)
  })
  if (name == "cumsum") {
    return(cumsum(sizes[[1L]]))
  }
  largest <- max(vapply(sizes, max, 0))
  # A product of two adds up as many products as one side has numbers for each of the result's.
  factor <- if (name %in% c("crossprod", "tcrossprod", "%*%")) max(1, largest) else 1
  max(largest, factor * max(vapply(sizes, sum, 0)) / if (name == "norm") 1 else length(x))
}

# Numbers of at most 12 places before and after the point: sums and products of a few are exact, in f32 as well.
is_short <- function(x) abs(x) < 1024 & x * 4096 == round(x * 4096)

# An environment in which R's functions round elsewhere: `sign` is 1 or -1, or 0 to look on only. Whatever was computed
# is noted in it: `least` and `most`, the sizes of numbers, and `kinds`, the documented differences that were met.
rounding_scope <- function(sign, kinds) {
  scope <- list2env(sparse_words, parent = globalenv())
  state <- new.env(parent = emptyenv())
  state$count <- 0L
  state$least <- Inf
  state$most <- 0
  state$kinds <- character()
  at <- (0:1008 * 271L) %% 1009L
  pattern <- ifelse(at %% 2L == 0L, 1, -1) * (0.5 + at / 2018)

  changed <- function(x, name, arguments) {
    if (!is.numeric(x) && !is.complex(x)) {
      return(x)
    }
    sizes <- abs(as.vector(x))
    finite <- sizes[is.finite(sizes) & sizes > 0]
    if (length(finite)) {
      state$least <- min(state$least, finite)
      state$most <- max(state$most, finite)
    }
    if (sign == 0 || is.integer(x) || !length(x)) {
      return(x)
    }
    unit <- pattern[(state$count + seq_along(x)) %% 1009L + 1L]
    state$count <- state$count + length(x)
    scale <- if (name %in% rounding_of_many && length(x) && is_many(arguments)) {
      size_of_sums(x, name, arguments)
    } else if (name %in% rounding_by_norm) {
      numbers <- abs(c(sizes, unlist(lapply(arguments, function(a) if (is.numeric(a) || is.complex(a)) Mod(a)))))
      max(0, numbers[is.finite(numbers)])
    } else {
      ifelse(is.finite(sizes), sizes, 0)
    }
    if (name %in% rounding_sums) scale <- ifelse(is_short(sizes) & !is.na(sizes), 0, scale)
    # Infinities, and zeros that are exact, stay what they are.
    moved <- sign * rounding_size * unit * scale * (if (is.complex(x)) 1 + 1i else 1)
    x[] <- ifelse(is.finite(x) & moved != 0, x + moved, x)
    x
  }
  wrapped <- function(name, f) {
    force(name)
    force(f)
    force(kinds)
    watched <- kinds[vapply(kinds, function(kind) name %in% kind$functions, NA)]
    function(...) {
      value <- f(...)
      arguments <- if (name %in% rounding_by_norm || length(watched)) list(...)
      for (kind in watched) {
        if (kind$when(arguments, value)) state$kinds <- union(state$kinds, kind$name)
      }
      if (is.list(value)) {
        value[] <- lapply(value, changed, name, arguments)
        value
      } else if (name %in% c(rounding_always, rounding_sums)) {
        changed(value, name, arguments)
      } else {
        value
      }
    }
  }
  watched <- unlist(lapply(kinds, function(kind) kind$functions))
  for (name in unique(c(rounding_always, rounding_sums, watched))) {
    scope[[name]] <- wrapped(name, get(name, scope))
  }
  scope$.state <- state
  scope$.kinds <- kinds
  scope
}

# The documented differences that count of those that `code` met
met_kinds <- function(scope, code) {
  met <- Filter(function(kind) kind$name %in% scope$.state$kinds, scope$.kinds)
  met <- Filter(function(kind) !is.function(kind$unless) || !kind$unless(code), met)
  vapply(met, function(kind) kind$name, "")
}

# What R makes of `code` with `data`: `value`; `spread`, how much it moves per element; `state`. NULL where R gives an
# error, or where jumps are near.
rounded_value <- function(code, data, scopes) {
  evaluate <- function(scope) {
    state <- scope$.state
    state$count <- 0L
    state$least <- Inf
    state$most <- 0
    state$kinds <- character()
    frame <- list2env(data, parent = scope)
    # What R repeats a part of a time it warns of, and programs refuse it.
    tryCatch(
      withCallingHandlers(eval(code, frame), warning = function(w) {
        if (grepl("multiple|length", conditionMessage(w))) stop("repeated in part")
        invokeRestart("muffleWarning")
      }),
      error = function(e) NULL
    )
  }
  values <- lapply(scopes, evaluate)
  value <- values[[1L]]
  if (is.null(value) || !is.atomic(value) || is.character(value) || length(value) > max(60L, 2L * lengths(data))) {
    return(NULL)
  }
  attributes(value) <- attributes(value)["dim"]
  spread <- numeric(length(value))
  for (other in values[-1L]) {
    if (!identical(dim(other), dim(value)) || typeof(other) != typeof(value) || length(other) != length(value)) {
      return(NULL)
    }
    if (is.double(value) || is.complex(value)) {
      same <- is.na(value) == is.na(other) & (is.finite(value) == is.finite(other))
      finite <- is.finite(value)
      if (!all(same) || is.double(value) && !identical(value[!finite] > 0, other[!finite] > 0)) {
        return(NULL)
      }
      spread[finite] <- pmax(spread[finite], Mod(other[finite] - value[finite]))
    } else if (!identical(as.vector(value), as.vector(other))) {
      return(NULL)
    }
  }
  sizes <- Mod(as.vector(value))
  # Half of the digits lost: nothing could be said in f32. Of many numbers some are near 0.
  lost <- which(spread > 1e-3 * pmax(sizes, 1e-3))
  if (length(lost) > length(value) / 60) {
    return(NULL)
  }
  spread[lost] <- Inf
  found <- scopes[[1L]]$.state
  list(value = value, spread = spread, least = found$least, most = found$most, kinds = met_kinds(scopes[[1L]], code))
}
