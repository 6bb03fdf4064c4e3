# Special functions: custom calls of the handler `special`, with derivatives. Families are in other files special-*.R.

# A special function of `arguments`, a named list of values and numbers; `shown` is the function as messages name it.
special <- function(name, arguments, shown, call) {
  do.call(special_op(name), special_values(arguments, shown, call))
}

special_values <- function(arguments, shown, call) {
  values <- elementwise_values(arguments, shown, call, first_for_r(names(arguments), shown))
  if (!values[[1L]]@dtype %in% c("f32", "f64")) {
    at <- Position(is_value, arguments, nomatch = 1L)
    name <- names(arguments)[[at]]
    abort(sprintf("%s: `%s` must be f32 or f64, not %s", shown, name, type_text(values[[at]])),
      op = shown, operand = name, hint = "`hlo_convert()` changes the dtype.", call = call
    )
  }
  values
}

# Which argument is R's first one: functions with an order have it behind. R's besselI() and besselK() have three.
first_for_r <- function(names, shown) {
  if (shown %in% c("besselI()", "besselK()")) {
    NULL
  } else if (names[[1L]] %in% c("deriv", "nu", "s") || identical(names, c("n", "x"))) {
    2L
  } else {
    1L
  }
}

# The op of that name in the crate `special`: of values of one dtype and shape.
special_op <- function(name) {
  made_once(paste("op special", name), function() {
    ffi_op(
      function(...) {
        hlo_custom_call(private_target("special"), list(...), ..1, list(`function` = name),
          vmap_method = "broadcast_all"
        )
      },
      jvp = special_jvp(name),
      vmap = special_vmap(name),
      name = name
    )
  })
}

# Each element for itself: a batch is a larger array.
special_vmap <- function(name) {
  force(name)
  function(arguments, axes, size) {
    whole <- Map(function(x, axis) {
      if (is.null(axis)) hlo_broadcast(x, c(size, shape(x)), 1 + seq_along(shape(x))) else x
    }, arguments, axes)
    do.call(special_op(name), unname(whole))
  }
}

# function(result, arguments...) by the function's name, one for each argument: the derivative in it. "flat": it is 0;
# "none": there is none.
special_slopes <- new.env(parent = emptyenv())

special_jvp <- function(name) {
  force(name)
  function(primals, results, tangents) {
    slopes <- special_slopes[[name]]
    changes <- Map(function(slope, tangent, at) {
      if (is.null(tangent) || identical(slope, "flat")) {
        return(NULL)
      }
      if (identical(slope, "none")) {
        argument <- slope_argument(slopes, at)
        abort(sprintf("%s has no derivative in `%s`", name, argument), "UNIMPLEMENTED",
          op = name, operand = argument, call = NULL,
          hint = sprintf("`xla_stop_gradient(%s)` takes it for a constant.", argument)
        )
      }
      tangent * do.call(slope, c(list(results), unname(primals)))
    }, slopes, tangents, seq_along(slopes))
    Reduce(add_tangents, changes)
  }
}

# The name of the argument at a place: of its slope, or what the derivatives in other arguments call it
slope_argument <- function(slopes, at) {
  if (is.null(names(slopes))) names(formals(Find(is.function, slopes)))[[at + 1L]] else names(slopes)[[at]]
}

# How slopes name functions: of values that are of one dtype and shape.
sf <- function(name, ...) special_op(name)(...)

#' Special functions
#'
#' Functions that StableHLO and R's groups do not have, as ops of our own with derivatives.
#'
#' @details
#' All work element by element. Arguments are recycled as by R's operators on [values][xlaffi_value] and have one
#' dtype, f32 or f64; integers and logicals become f64, R's numbers what the value beside them is. f32 is computed
#' in f64 and rounded once. They run on CPUs, on large arrays with several threads, and the result does not depend on
#' how many; on other platforms XLA says that it has no handler. Outside a function's domain the result is NaN.
#'
#' R's own `gamma()`, `lgamma()`, `digamma()`, `trigamma()`, `psigamma()`, `beta()`, `lbeta()`, `choose()`, `lchoose()`,
#' `factorial()`, `lfactorial()`, `besselI()`, `besselJ()`, `besselK()` and `besselY()` take values too, see
#' [xla_supported].
#'
#' * `hlo_polygamma(n, x)` is the derivative of order `n` of [digamma()], `psigamma(x, n)`; `hlo_zeta(s, q)` Hurwitz's
#'   zeta function, the sum of `(q + k)^-s` over k = 0, 1, ..., for s > 1 and q > 0.
#' * `hlo_erf()` is the error function, `hlo_erfc()` its complement `1 - erf(x)`, `hlo_erfcx()` the latter times
#'   `exp(x^2)`, `hlo_erfinv()` and `hlo_erfcinv()` the inverses.
#' * `hlo_ndtr()` is the distribution function of the standard normal distribution, [pnorm()], `hlo_log_ndtr()` its
#'   logarithm, `hlo_ndtri()` and `hlo_ndtri_exp()` the inverses of both.
#' * `hlo_expint(x, n)` is the exponential integral of order n, the integral of `exp(-x t) / t^n` over t from 1 on, for
#'   n = 0, 1, ...; `hlo_expint_ei()` is Ei, the integral of `exp(t) / t` up to x.
#' * `hlo_owens_t(h, a)` is Owen's T function, the integral of `exp(-h^2 (1 + t^2) / 2) / (1 + t^2) / (2 pi)` over t
#'   from 0 to a. `hlo_lambert_w()` solves `w exp(w) = x` for w >= -1.
#'
#' @section Accuracy:
#' Relative errors of f64 that the tests allow against references with 50 digits, at a few points of each function; near
#' a zero only the absolute error is small. Errors are a few roundings where functions are well-conditioned:
#' * gamma 3e-15, lgamma 2e-15, digamma 2e-15 (x > 0), polygamma and zeta 4e-15, beta 5e-15, lbeta 3e-15, choose 1e-14.
#' * erf, erfc 1e-15; erfcx, erfinv, ndtr, log_ndtr 2e-15.
#' * Bessel functions 1e-14 for orders up to 20; of order 500, 1e-12. Beyond orders and arguments of 1e6 the result is
#'   0 or infinite where it underflows or overflows by far, and NaN where it does not, but for arguments that are larger
#'   than the squared order.
#' * expint, Ei 5e-15, owens_t 1e-14, lambert_w 1e-15.
#'
#' @section Derivatives:
#' In all arguments and of any order, but for these. There is none in `n`, `s` and `nu`: an error. `k` of `choose()` is
#' rounded and counts as constant; the derivative in `n` of `choose()` is NaN where n is one of 0, 1, ..., k - 1.
#'
#' @param x,q,h,a [Values][xlaffi_value], or R numbers beside a value.
#' @param n,s The order; the exponent.
#' @return A value.
#' @references
#' NIST Digital Library of Mathematical Functions, dlmf.nist.gov: chapters 5, 7, 25.
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) hlo_erfc(x))(c(-1, 0, 5))
#' # The slope of a log-likelihood in a shape parameter
#' xla_grad(function(a) sum(lgamma(a)))(c(0.5, 3))
#' # The normal distribution, its logarithm and its quantiles, far out
#' xla_jit(function(x) list(hlo_ndtr(x), hlo_log_ndtr(x), hlo_erf(x), hlo_erfcx(x)))(c(-40, 0.5))
#' xla_jit(function(p) list(hlo_ndtri(p), hlo_erfinv(p), hlo_erfcinv(p)))(c(1e-300, 0.5))
#' xla_jit(hlo_ndtri_exp)(c(-1000, -1))
#' xla_jit(function(x) list(hlo_expint(x), hlo_expint_ei(x), hlo_lambert_w(x)))(c(0.5, 2))
#' xla_jit(function(x) list(hlo_polygamma(1, x), hlo_zeta(2, x), hlo_owens_t(x, 0.5)))(c(1, 2))
#' @name hlo_special
NULL

# An op whose arguments and result have one shape: a batch is a larger array.
elementwise_op <- function(name, f, jvp) {
  op <- ffi_op(f, jvp = jvp, name = name, vmap = function(arguments, axes, size) {
    whole <- Map(function(x, axis) {
      if (is.null(axis)) hlo_broadcast(x, c(size, x@shape), 1L + seq_along(x@shape)) else x
    }, arguments, axes)
    do.call(op, unname(whole))
  })
  op
}

flat_elementwise_op <- function(name, f) elementwise_op(name, f, function(primals, results, tangents) NULL)
