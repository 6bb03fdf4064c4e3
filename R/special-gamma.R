# The gamma function and its kin.

for (name in c("gamma", "lgamma", "digamma", "trigamma")) {
  math_members[[name]] <- local({
    own <- name
    function(x, shown, call) {
      check_dots_empty(call = call)
      if (own == "trigamma") {
        return(special("polygamma", list(n = 1, x = x), shown, call))
      }
      special(own, list(x = x), shown, call)
    }
  })
}

overload_factorial <- function(x) special("gamma", list(x = x + 1), "factorial()", sys.call())

overload_lfactorial <- function(x) special("lgamma", list(x = x + 1), "lfactorial()", sys.call())

overload_psigamma <- function(x, deriv = 0L) {
  special("polygamma", list(deriv = rounded_order(deriv), x = x), "psigamma()", sys.call())
}

# R rounds the order, also of values.
rounded_order <- function(n) if (is_value(n) && !is_float(n@dtype)) n else round(n)

overload_beta <- function(a, b) special("beta", list(a = a, b = b), "beta()", sys.call())

overload_lbeta <- function(a, b) special("lbeta", list(a = a, b = b), "lbeta()", sys.call())

overload_choose <- function(n, k) special("choose", list(n = n, k = k), "choose()", sys.call())

overload_lchoose <- function(n, k) special("lchoose", list(n = n, k = k), "lchoose()", sys.call())

#' @rdname hlo_special
#' @export
hlo_polygamma <- function(n, x) {
  check_given(n, x)
  special("polygamma", list(n = n, x = x), "hlo_polygamma", sys.call())
}

#' @rdname hlo_special
#' @export
hlo_zeta <- function(s, q) {
  check_given(s, q)
  special("zeta", list(s = s, q = q), "hlo_zeta", sys.call())
}

special_slopes$lgamma <- list(function(y, x) sf("digamma", x))
special_slopes$gamma <- list(function(y, x) y * sf("digamma", x))
special_slopes$digamma <- list(function(y, x) sf("polygamma", filled(1, x), x))
special_slopes$polygamma <- list("none", function(y, n, x) sf("polygamma", n + 1, x))
special_slopes$zeta <- list("none", function(y, s, q) -s * sf("zeta", s + 1, q))
special_slopes$lbeta <- list(
  function(y, a, b) sf("digamma", a) - sf("digamma", a + b),
  function(y, a, b) sf("digamma", b) - sf("digamma", a + b)
)
special_slopes$beta <- list(
  function(y, a, b) y * (sf("digamma", a) - sf("digamma", a + b)),
  function(y, a, b) y * (sf("digamma", b) - sf("digamma", a + b))
)

# Of ln choose(n, k); below 0 it is choose(k - n - 1, k) but for the sign.
lchoose_slope <- function(y, n, k) {
  k <- round(k)
  below <- n < 0
  upper <- hlo_select(below, k - n, n + 1)
  lower <- hlo_select(below, -n, n - k + 1)
  slope <- sf("digamma", upper) - sf("digamma", lower)
  hlo_select(below, -slope, slope)
}
special_slopes$lchoose <- list(lchoose_slope, "flat")
special_slopes$choose <- list(function(y, n, k) y * lchoose_slope(y, n, k), "flat")

local({
  topic <- "Special functions"
  dtypes <- "f32, f64; integers become f64"
  for (name in c("gamma", "lgamma", "digamma", "trigamma")) {
    overload(name, "base", by = "group", topic = topic, dtypes = dtypes)
  }
  overload("factorial", "base", overload_factorial, topic = topic, dtypes = dtypes)
  overload("lfactorial", "base", overload_lfactorial, topic = topic, dtypes = dtypes)
  overload("psigamma", "base", overload_psigamma, topic = topic, dtypes = dtypes, derivative = "yes, not in deriv")
  overload("beta", "base", overload_beta, topic = topic, dtypes = dtypes)
  overload("lbeta", "base", overload_lbeta, topic = topic, dtypes = dtypes)
  whole <- "A number within 1e-7 of a whole one is not rounded to it."
  overload("choose", "base", overload_choose,
    topic = topic, dtypes = dtypes, derivative = "yes, flat in k", differs = whole
  )
  overload("lchoose", "base", overload_lchoose,
    topic = topic, dtypes = dtypes, derivative = "yes, flat in k", differs = whole
  )
  own <- function(name, f, derivative = "yes") {
    overload(name, "xlaffi", f, by = "own", topic = topic, dtypes = dtypes, derivative = derivative)
  }
  own("hlo_polygamma", hlo_polygamma, "yes, not in n")
  own("hlo_zeta", hlo_zeta, "yes, not in s")
})
