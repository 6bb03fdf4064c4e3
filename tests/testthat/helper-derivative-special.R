# Where derivatives of the functions of the crate `special` are checked, by the names that their rules have.

special_points <- local({
  x <- c(0.4, 1.8, 3.7, 30)
  below <- c(x, -1.5)
  nu <- c(0, 0.5, 3, 2.2)
  bessel <- list(nu = nu, x = x)
  list(
    lgamma = list(x = below), gamma = list(x = below), digamma = list(x = below),
    polygamma = list(n = c(0, 1, 3, 2), x = x), zeta = list(s = c(2, 3.5, 1.1, 8), q = x),
    beta = list(a = x, b = c(2, 0.3, 7, 4)), lbeta = list(a = x, b = c(2, 0.3, 7, 4)),
    choose = list(n = c(5.5, 3.2, -2.5, 30), k = c(2, 3, 2, 5)),
    lchoose = list(n = c(5.5, 3.2, 7.5, 30), k = c(2, 3, 2, 5)),
    erf = list(x = c(-2, 0, 0.3, 4)), erfc = list(x = c(-2, 0, 0.3, 9)), erfcx = list(x = c(-2, 0, 0.3, 50)),
    erfinv = list(x = c(-0.9, 0, 0.3)), erfcinv = list(x = c(1e-20, 0.3, 1.5)),
    ndtr = list(x = c(-20, -2, 0, 3)), log_ndtr = list(x = c(-50, -2, 0, 3, 12)),
    ndtri = list(x = c(1e-20, 0.3, 0.5, 0.9)), ndtri_exp = list(x = c(-500, -2, -0.7, -0.1, -1e-10)),
    bessel_j = bessel, bessel_y = bessel, bessel_i = bessel, bessel_k = bessel, bessel_i_scaled = bessel,
    bessel_k_scaled = bessel, expint_n = list(n = c(0, 1, 2, 3), x = x), expint_ei = list(x = c(-2, x)),
    owens_t = list(h = c(0, 0.5, -3, 1), a = c(0.3, 1.5, 0.2, -4)), lambert_w = list(x = c(-0.3, 0, 2, 1e5)),
    gamma_family = list(a = c(0.7, 2.5, 20, 3, 3), x = c(0.3, 2, 31, 60, 1e-4)),
    beta_family = list(a = c(0.7, 2.5, 20, 3), b = c(2, 0.6, 13, 40), x = c(0.3, 0.9, 0.55, 1e-3)),
    gamma_inverse = list(a = c(0.7, 2.5, 20), p = c(1e-10, 0.5, 0.9)),
    beta_inverse = list(a = c(0.7, 2.5, 20), b = c(2, 3, 13), p = c(1e-6, 0.5, 0.9))
  )
})

# Which of these points a function has: incomplete functions have those of their family.
special_points_of <- function(name) {
  bare <- sub("^log_", "", name)
  shared <- c(
    gammainc_._inv = "gamma_inverse", "betainc(_c)?_inv" = "beta_inverse", "gammainc_.(_a+)?" = "gamma_family",
    "betainc(_c)?(_[ab]+)?" = "beta_family", gamma_density = "gamma_family", beta_density = "beta_family"
  )
  found <- shared[vapply(sprintf("^%s$", names(shared)), grepl, NA, bare)]
  points <- special_points[[if (length(found)) found[[1L]] else name]]
  if (bare != name && "p" %in% names(points)) {
    points$p <- log(points$p)
  }
  points
}

# Derivatives in shapes end at the second: functions that are the first have a second derivative in x only, those that
# are the second a first one.
special_cases <- function(name) {
  points <- special_points_of(name)
  differentiable <- vapply(xlaffi:::special_slopes[[name]], is.function, NA)
  op <- xlaffi:::special_op(name)
  case <- function(of, first = FALSE) {
    held <- setdiff(names(points), of)
    list(
      name = name, at = points[of], held = points[held], first = first,
      f = function(...) do.call(op, unname(list(...)[names(points)]))
    )
  }
  of <- names(points)[differentiable]
  if (grepl("inc(_.)?_[ab]$", name)) {
    list(case(of, first = TRUE), case("x"))
  } else {
    list(case(of, first = grepl("inc(_.)?_(aa|ab|bb)$", name)))
  }
}
