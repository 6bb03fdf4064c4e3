# Bessel functions, and integrals that have no elementary form.

check_flag_argument <- function(x, name, shown, call) {
  if (length(x) != 1L || !(is.logical(x) || is.numeric(x)) || is.na(x)) {
    abort(sprintf("%s: `%s` must be TRUE or FALSE, not %s", shown, name, describe(x)),
      op = shown, operand = name, call = call
    )
  }
  x != 0
}

scaled_name <- function(name, expon.scaled, shown, call) {
  paste0(name, if (check_flag_argument(expon.scaled, "expon.scaled", shown, call)) "_scaled")
}

# R looks at `x` first for dimensions, the functions take `nu` first.
bessel <- function(name, x, nu, shown, call) {
  values <- elementwise_values(list(x = x, nu = nu), shown, call, if (!is.null(first_for_r("nu", shown))) 1L)
  special(name, list(nu = values[[2L]], x = values[[1L]]), shown, call)
}

overload_besselJ <- function(x, nu) bessel("bessel_j", x, nu, "besselJ()", sys.call())

overload_besselY <- function(x, nu) bessel("bessel_y", x, nu, "besselY()", sys.call())

overload_besselI <- function(x, nu, expon.scaled = FALSE) {
  call <- sys.call()
  name <- scaled_name("bessel_i", expon.scaled, "besselI()", call)
  bessel(name, x, nu, "besselI()", call)
}

overload_besselK <- function(x, nu, expon.scaled = FALSE) {
  call <- sys.call()
  name <- scaled_name("bessel_k", expon.scaled, "besselK()", call)
  bessel(name, x, nu, "besselK()", call)
}

# DLMF 10.6.1, 10.29.1; what is scaled changes with its factor, too.
bessel_slope <- function(name, sign_below, sign_above, own = 0) {
  force(own)
  list("none", function(y, nu, x) {
    slope <- 0.5 * (sign_below * sf(name, nu - 1, x) + sign_above * sf(name, nu + 1, x))
    if (own == 0) slope else slope + own * y
  })
}
special_slopes$bessel_j <- bessel_slope("bessel_j", 1, -1)
special_slopes$bessel_y <- bessel_slope("bessel_y", 1, -1)
special_slopes$bessel_i <- bessel_slope("bessel_i", 1, 1)
special_slopes$bessel_k <- bessel_slope("bessel_k", -1, -1)
special_slopes$bessel_i_scaled <- bessel_slope("bessel_i_scaled", 1, 1, -1)
special_slopes$bessel_k_scaled <- bessel_slope("bessel_k_scaled", -1, -1, 1)

#' @rdname hlo_special
#' @export
hlo_expint <- function(x, n = 1) {
  check_given(x)
  special("expint_n", list(n = n, x = x), "hlo_expint", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_expint_ei <- function(x) {
  check_given(x)
  special("expint_ei", list(x = x), "hlo_expint_ei", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_owens_t <- function(h, a) {
  check_given(h, a)
  special("owens_t", list(h = h, a = a), "hlo_owens_t", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_lambert_w <- function(x) {
  check_given(x)
  special("lambert_w", list(x = x), "hlo_lambert_w", sys.call())
}

special_slopes$expint_n <- list("none", function(y, n, x) {
  lower <- -sf("expint_n", hlo_max(n - 1, 0), x)
  # Of n = 0, elsewhere of a number that has finite derivatives
  first <- hlo_select(n < 1, x, 1)
  hlo_select(n < 1, -exp(-first) * (first + 1) / (first * first), lower)
})
special_slopes$expint_ei <- list(function(y, x) exp(x) / x)
special_slopes$owens_t <- list(
  function(y, h, a) -sqrt(0.125 / pi) * exp(-0.5 * h * h) * sf("erf", a * h * sqrt(0.5)),
  function(y, h, a) exp(-0.5 * h * h * (1 + a * a)) / (2 * pi * (1 + a * a))
)
special_slopes$lambert_w <- list(function(y, x) 1 / (exp(y) * (1 + y)))

local({
  dtypes <- "f32, f64; integers become f64"
  bessel <- list(
    besselJ = overload_besselJ, besselY = overload_besselY, besselI = overload_besselI, besselK = overload_besselK
  )
  for (name in names(bessel)) {
    overload(name, "base", bessel[[name]],
      topic = "Special functions", dtypes = dtypes, derivative = "yes, not in nu"
    )
  }
  own <- list(
    hlo_expint = hlo_expint, hlo_expint_ei = hlo_expint_ei, hlo_owens_t = hlo_owens_t, hlo_lambert_w = hlo_lambert_w
  )
  for (name in names(own)) {
    overload(name, "xlaffi", own[[name]],
      by = "own", topic = "Special functions", dtypes = dtypes,
      derivative = if (name == "hlo_expint") "yes, not in n" else "yes"
    )
  }
})
