#' Random numbers of distributions
#'
#' Independent random numbers of a key, see [hlo_random]. Parameters have R's names and defaults.
#'
#' @details
#' Numbers are floating-point ones, also those that are whole; [hlo_convert()] makes integers of them. Parameters that
#' are no parameters of the distribution (a negative `sd`) give NaN, as in R, but without a warning.
#'
#' Results follow their parameters: [xla_grad()] and its kin differentiate through continuous distributions. Those of
#' gamma numbers (`hlo_rgamma()`, `hlo_rchisq()`, `hlo_rbeta()`, `hlo_rt()`, `hlo_rf()`) move so that the distribution
#' function stays what it is (implicit derivatives). Counts are flat.
#'
#' What is drawn by rejection depends on its own place and key only, so that batches and other shapes of the rest do not
#' change it. Numbers of a uniform one by inversion have its 52 (f32: 23) digits: the largest `hlo_rexp()` is 36 (16).
#'
#' @param key A key, see [hlo_key()].
#' @param n How many: one number for a vector, several for an array of that shape, which is filled by rows,
#'   `integer()` for a scalar.
#' @param min,max,mean,sd,rate,location,scale,meanlog,sdlog,shape,shape1,shape2,df,df1,df2,lambda,size,prob,mu
#'   Parameters: numbers or values, one or as many as there are results.
#' @param dtype `"f64"` or `"f32"`. `NULL`: that of the parameters that are values, else f64.
#' @return A value of shape `n`.
#' @references
#' M. Giles (2010), Approximating the erfinv function, GPU Computing Gems 2.
#'
#' G. Marsaglia and W. W. Tsang (2000), A simple method for generating gamma variables, ACM TOMS 26, 363-372.
#'
#' W. Hörmann (1993), The transformed rejection method for generating Poisson random variables, Insurance: Mathematics
#' and Economics 12, 39-45; The generation of binomial random variates, Journal of Statistical Computation and
#' Simulation 46, 101-110.
#'
#' M. Figurnov, S. Mohamed and A. Mnih (2018), Implicit reparameterization gradients, NeurIPS 31.
#' @section Errors:
#' A parameter is one number or has the shape `n`; other shapes, dtypes but f32 and f64, and what is no key are an
#' error.
#'
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(seed, mean) hlo_rnorm(hlo_key(seed), 3, mean, sd = 2))
#' f(1L, 10)
#' # Derivatives go through the numbers to the parameters
#' xla_grad(function(shape) sum(hlo_rgamma(hlo_key(1L), 100, shape)))(2)
#'
#' draws <- xla_jit(function(seed) {
#'   key <- hlo_key(seed)
#'   list(
#'     exp = hlo_rexp(key, 2), cauchy = hlo_rcauchy(key, 2), logis = hlo_rlogis(key, 2),
#'     weibull = hlo_rweibull(key, 2, 1.5), lnorm = hlo_rlnorm(key, 2), t = hlo_rt(key, 2, df = 4),
#'     pois = hlo_rpois(key, 2, 7), binom = hlo_rbinom(key, 2, 10, 0.3), geom = hlo_rgeom(key, 2, 0.2)
#'   )
#' })
#' str(draws(1L))
#' @name hlo_random_numbers
NULL

#' @rdname hlo_random_numbers
#' @export
hlo_runif <- function(key, n, min = 0, max = 1, dtype = NULL) {
  draw <- random_draw("hlo_runif", key, n, list(min = min, max = max), dtype)
  low <- draw$min
  high <- draw$max
  y <- hlo_max(low, uniform(draw) * (high - low) + low)
  only_where(high >= low & high < Inf & low > -Inf, y)
}

#' @rdname hlo_random_numbers
#' @export
hlo_rnorm <- function(key, n, mean = 0, sd = 1, dtype = NULL) {
  draw <- random_draw("hlo_rnorm", key, n, list(mean = mean, sd = sd), dtype)
  only_where(draw$sd >= 0 & draw$sd < Inf, draw$mean + draw$sd * normal(draw))
}

#' @rdname hlo_random_numbers
#' @export
hlo_rexp <- function(key, n, rate = 1, dtype = NULL) {
  draw <- random_draw("hlo_rexp", key, n, list(rate = rate), dtype)
  only_where(draw$rate > 0, exponential(draw) / draw$rate)
}

#' @rdname hlo_random_numbers
#' @export
hlo_rcauchy <- function(key, n, location = 0, scale = 1, dtype = NULL) {
  draw <- random_draw("hlo_rcauchy", key, n, list(location = location, scale = scale), dtype)
  y <- draw$location + draw$scale * tan(pi * (between(draw) - 0.5))
  only_where(draw$scale >= 0 & draw$scale < Inf & abs(draw$location) < Inf, y)
}

#' @rdname hlo_random_numbers
#' @export
hlo_rlogis <- function(key, n, location = 0, scale = 1, dtype = NULL) {
  draw <- random_draw("hlo_rlogis", key, n, list(location = location, scale = scale), dtype)
  u <- between(draw)
  only_where(draw$scale >= 0 & draw$scale < Inf, draw$location + draw$scale * (log(u) - log1p(-u)))
}

#' @rdname hlo_random_numbers
#' @export
hlo_rweibull <- function(key, n, shape, scale = 1, dtype = NULL) {
  draw <- random_draw("hlo_rweibull", key, n, list(shape = shape, scale = scale), dtype)
  y <- draw$scale * exponential(draw)^(1 / draw$shape)
  only_where(draw$shape > 0 & draw$shape < Inf & draw$scale >= 0 & draw$scale < Inf, y)
}

#' @rdname hlo_random_numbers
#' @export
hlo_rlnorm <- function(key, n, meanlog = 0, sdlog = 1, dtype = NULL) {
  draw <- random_draw("hlo_rlnorm", key, n, list(meanlog = meanlog, sdlog = sdlog), dtype)
  only_where(draw$sdlog >= 0 & draw$sdlog < Inf, exp(draw$meanlog + draw$sdlog * normal(draw)))
}

# What a call asks for: the places of its results, and the parameters as values of their shape and of one dtype.
random_draw <- function(op, key, n, parameters, dtype = NULL, call = rlang::caller_env()) {
  key <- as_key(key, call)
  shape <- check_shape(n, "n", call)
  given <- Filter(is_value, parameters)
  dtype <- if (!is.null(dtype)) {
    check_dtype(dtype, "dtype", call)
  } else if (any(vapply(given, function(x) x@dtype == "f32", NA))) {
    "f32"
  } else {
    "f64"
  }
  if (!dtype %in% c("f32", "f64")) {
    abort(sprintf("%s: `dtype` must be f32 or f64, not %s", op, dtype), op = op, operand = "dtype", call = call)
  }
  like <- new_type(dtype, shape)
  parameters <- Map(function(x, name) random_parameter(x, name, like, op, call), parameters, names(parameters))
  c(random_places(key, shape, call), list(dtype = dtype), parameters)
}

random_parameter <- function(x, name, like, op, call) {
  x <- as_value(x, name, like, call, op)
  if (x@dtype %in% c("i32", "pred")) {
    x <- converted(x, like@dtype)
  }
  if (x@dtype != like@dtype) {
    abort(sprintf("%s: `%s` must be %s, as the result, not %s", op, name, like@dtype, type_text(x)),
      op = op, operand = name, hint = "`dtype` is that of the result; `hlo_convert()` changes that of a value.",
      call = call
    )
  }
  if (length(x) == 1L && length(x@shape) < 2L) {
    return(repeated(x, like@shape))
  }
  if (!identical(x@shape, like@shape)) {
    abort(
      sprintf("%s: `%s` must be one number or of shape %s, as the result, not %s",
        op, name, shape_text(like@shape), type_text(x)
      ),
      op = op, operand = name, call = call
    )
  }
  x
}

# Numbers of [0, 1), all that have 52 (f32: 23) digits behind the point: mantissas of numbers of [1, 2).
uniform <- function(draw, turn = 0) {
  if (draw$dtype == "f64") {
    bits <- bits_right(random_bits(draw, "ui64", turn), 12)
    one <- bits_left(filled(1023, bits), 52)
  } else {
    bits <- bits_right(random_bits(draw, "ui32", turn), 9)
    one <- bits_left(filled(127, bits), 23)
  }
  bind("bitcast_convert", list(either(bits, one)), draw$dtype, bits@shape) - 1
}

# Numbers of (0, 1): those in the middle between two of [0, 1).
between <- function(draw, turn = 0) uniform(draw, turn) + (if (draw$dtype == "f64") 2^-53 else 2^-24)

exponential <- function(draw, turn = 0) -log1p(-between(draw, turn))

# By inversion; the number next to -1 is the smallest of (-1, 1).
normal <- function(draw, turn = 0) {
  low <- if (draw$dtype == "f64") -1 + 2^-53 else -1 + 2^-24
  u <- uniform(draw, turn)
  chlo("erf_inv", hlo_max(filled(low, u), u * (1 - low) + low)) * sqrt(2)
}

random_overload <- function(name, f, derivative) {
  overload(name, "xlaffi", f, by = "own", topic = "Random numbers", dtypes = "f32, f64", derivative = derivative)
}

for (name in c("runif", "rnorm", "rexp", "rcauchy", "rlogis", "rweibull", "rlnorm")) {
  random_overload(paste0("hlo_", name), get(paste0("hlo_", name)), "in the parameters")
}
rm(name)
