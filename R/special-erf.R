# The error function, the normal distribution's function, and inverses.

#' @rdname hlo_special
#' @export
hlo_erf <- function(x) {
  check_given(x)
  special("erf", list(x = x), "hlo_erf", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_erfc <- function(x) {
  check_given(x)
  special("erfc", list(x = x), "hlo_erfc", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_erfcx <- function(x) {
  check_given(x)
  special("erfcx", list(x = x), "hlo_erfcx", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_erfinv <- function(x) {
  check_given(x)
  special("erfinv", list(x = x), "hlo_erfinv", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_erfcinv <- function(x) {
  check_given(x)
  special("erfcinv", list(x = x), "hlo_erfcinv", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_ndtr <- function(x) {
  check_given(x)
  special("ndtr", list(x = x), "hlo_ndtr", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_log_ndtr <- function(x) {
  check_given(x)
  special("log_ndtr", list(x = x), "hlo_log_ndtr", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_ndtri <- function(x) {
  check_given(x)
  special("ndtri", list(x = x), "hlo_ndtri", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_ndtri_exp <- function(x) {
  check_given(x)
  special("ndtri_exp", list(x = x), "hlo_ndtri_exp", sys.call())
}

# phi(x) / Phi(x), y = log(Phi(x)): neither may underflow, nor the square of 1 / Phi(x) in derivatives.
normal_hazard <- function(x, y) {
  above <- x > 0
  at <- hlo_select(above, x, 0)
  far <- exp(-0.5 * at * at - hlo_select(above, y, 0)) / sqrt(2 * pi)
  hlo_select(above, far, sqrt(2 / pi) / sf("erfcx", hlo_select(above, 0, x) * -sqrt(0.5)))
}

special_slopes$erf <- list(function(y, x) 2 / sqrt(pi) * exp(-x * x))
special_slopes$erfc <- list(function(y, x) -2 / sqrt(pi) * exp(-x * x))
# Far out 2 x y is nearly 2 / sqrt(pi), and the difference is its asymptotic series (Abramowitz and Stegun 7.1.23).
special_slopes$erfcx <- list(function(y, x) {
  far <- x > 50
  u <- 1 / hlo_select(far, x * x, 2500)
  rest <- u * (1 - u * (3 / 2 - u * (15 / 4 - u * (105 / 8 - u * (945 / 16))))) / sqrt(pi)
  hlo_select(far, -rest, 2 * hlo_select(far, 0, x) * hlo_select(far, 0, y) - 2 / sqrt(pi))
})
special_slopes$erfinv <- list(function(y, x) sqrt(pi) / 2 * exp(y * y))
special_slopes$erfcinv <- list(function(y, x) -sqrt(pi) / 2 * exp(y * y))
special_slopes$ndtr <- list(function(y, x) sqrt(0.5 / pi) * exp(-0.5 * x * x))
special_slopes$log_ndtr <- list(function(y, x) normal_hazard(x, y))
special_slopes$ndtri <- list(function(y, x) sqrt(2 * pi) * exp(0.5 * y * y))
special_slopes$ndtri_exp <- list(function(y, x) 1 / normal_hazard(y, x))

local({
  functions <- list(
    hlo_erf = hlo_erf, hlo_erfc = hlo_erfc, hlo_erfcx = hlo_erfcx, hlo_erfinv = hlo_erfinv, hlo_erfcinv = hlo_erfcinv,
    hlo_ndtr = hlo_ndtr, hlo_log_ndtr = hlo_log_ndtr, hlo_ndtri = hlo_ndtri, hlo_ndtri_exp = hlo_ndtri_exp
  )
  for (name in names(functions)) {
    overload(name, "xlaffi", functions[[name]],
      by = "own", topic = "Special functions", dtypes = "f32, f64; integers become f64"
    )
  }
})
