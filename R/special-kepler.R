#' Kepler's equation, true anomaly, radial velocity
#'
#' A body on an elliptic orbit: where it is, and how fast its star moves along the line of sight.
#'
#' @details
#' `kepler()` solves Kepler's equation, `E - e sin(E) = M`, with the handler `kepler`: without
#' iterations, and good to a few units in the last place of `f64` or `f32`. See the vignette
#' `vignette("kepler")` for the method and its accuracy.
#'
#' `kepler_true()` is the angle from periastron,
#' `atan2(sqrt(1 - e^2) sin(E), cos(E) - e)` (Murray and Dermott 1999, chapter 2).
#'
#' `kepler_rv()` is the velocity of a star with one planet,
#' `K (cos(nu + omega) + e cos(omega))` with the true anomaly `nu` (Murray and Correia 2010). The
#' orbit is given as in Fulton et al. (2018): by the time when the planet is between its star and
#' us, which for a planet that transits is known best. There `nu = pi / 2 - omega`. Velocities of
#' several planets add up.
#'
#' Arguments are recycled as by R's operators on [values][xlaffi_value]: each has the same shape or one
#' element. All have one dtype, f32 or f64; R's numbers are f64, beside a value what that is.
#' Where `e` is outside \[0, 1) the results are NaN, and nothing else is.
#'
#' All three are functions as [xla_jit()] gives them: of R data, buffers or values. They can be
#' differentiated any number of times, see [xla_jvp()]. The rule for `kepler()` is that of
#' implicit functions: `dE = (dM + sin(E) de) / (1 - e cos(E))`.
#'
#' @param M Mean anomaly in radians: any number; multiples of 2 pi do not matter.
#' @param e Eccentricity, in \[0, 1).
#' @param time,tc Times in days, and the time of inferior conjunction (transit) of the planet.
#' @param period Orbital period in days (or in the unit of `time`).
#' @param omega Argument of periastron of the star's orbit, in radians.
#' @param K Semi-amplitude: half of the largest difference in velocity; the result has its unit.
#' @return `kepler()`: a list with `sin`, the sine of the eccentric anomaly E, and `cos`, its cosine.
#'   `kepler_true()`: the true anomaly in radians, between -pi and pi. `kepler_rv()`: the
#'   velocity, positive away from us.
#' @references
#' C. D. Murray and S. F. Dermott (1999), Solar System Dynamics, Cambridge University Press.
#'
#' C. D. Murray and A. C. M. Correia (2010), Keplerian Orbits and Dynamics of Exoplanets, in
#' S. Seager (ed.), Exoplanets, University of Arizona Press. arXiv:1009.1738.
#'
#' B. J. Fulton, E. A. Petigura, S. Blunt and E. Sinukoff (2018), RadVel: The Radial Velocity Modeling
#' Toolkit, PASP 130, 044504.
#' @section Errors:
#' Shapes that do not fit, and dtypes other than f32 and f64, are an error.
#'
#' @examplesIf plugins_downloaded()
#' kepler(c(0.1, 1, 3), 0.5)
#' kepler_true(pi / 2, c(0, 0.3, 0.6))
#' # A planet on an orbit of 10 days
#' kepler_rv(0:9, period = 10, tc = 2, e = 0.3, omega = 1, K = 4)
#' @export
kepler <- function(M, e) {
  check_given(M, e)
  run_values("kepler", kepler_values, list(M = M, e = e))
}

#' @rdname kepler
#' @export
kepler_true <- function(M, e) {
  check_given(M, e)
  run_values("kepler_true", kepler_true_values, list(M = M, e = e))
}

#' @rdname kepler
#' @export
kepler_rv <- function(time, period, tc, e, omega, K) {
  check_given(time, period, tc, e, omega, K)
  arguments <- list(time = time, period = period, tc = tc, e = e, omega = omega, K = K)
  run_values("kepler_rv", kepler_rv_values, arguments)
}

# Inside a program, where R numbers take the dtype of the values beside them; or compiled. R's
# integers are numbers like any other, and so is NA.
run_values <- function(name, f, arguments, call = rlang::caller_env()) {
  arguments <- Map(function(x, operand) {
    argument_type(x, sprintf("`%s`", operand), call)
    if (!is.object(x) && (is.integer(x) || is.logical(x) && length(x) && all(is.na(x)))) {
      storage.mode(x) <- "double"
    }
    x
  }, arguments, names(arguments))
  traced <- any_of_class(arguments, "xlaffi_value")
  do.call(if (traced) f else made_once(paste("run", name), function() new_jit(f, name, list())), arguments)
}

# The op itself: both operands have one shape.
kepler_op <- function(M, e) {
  op <- made_once("op kepler", function() {
    ffi_op(
      function(M, e) {
        hlo_custom_call(private_target("kepler"), list(M, e), list(sin = M, cos = M), vmap_method = "broadcast_all")
      },
      jvp = kepler_jvp,
      vmap = kepler_vmap,
      name = "kepler"
    )
  })
  op(M, e)
}

# Each point for itself: a batch is a larger array.
kepler_vmap <- function(arguments, axes, size) {
  whole <- Map(function(x, axis) {
    if (is.null(axis)) hlo_broadcast(x, c(size, shape(x)), 1 + seq_along(shape(x))) else x
  }, arguments, axes)
  do.call(kepler_op, whole)
}

kepler_values <- function(M, e) {
  both <- recycled(list(M = M, e = e), "kepler")
  both <- operands(both$M, both$e, "kepler")
  kepler_op(both[[1L]], both[[2L]])
}

kepler_true_values <- function(M, e) {
  both <- recycled(list(M = M, e = e), "kepler_true")
  anomaly <- kepler(both$M, both$e)
  hlo_atan2(minor_axis(both$e) * anomaly$sin, anomaly$cos - both$e)
}

kepler_rv_values <- function(time, period, tc, e, omega, K) {
  given <- recycled(list(time = time, period = period, tc = tc, e = e, omega = omega, K = K), "kepler_rv")
  e <- given$e
  cos_omega <- cos(given$omega)
  sin_omega <- sin(given$omega)
  minor <- minor_axis(e)
  # At conjunction the true anomaly is pi / 2 - omega; this is 1 + e cos(nu) times the sine
  # and cosine of E.
  at_tc <- hlo_atan2(minor * cos_omega, e + sin_omega)
  offset <- at_tc - e * sin(at_tc)
  anomaly <- kepler((given$time - given$tc) / given$period * (2 * pi) + offset, e)
  radius <- 1 - e * anomaly$cos
  along <- cos_omega * (anomaly$cos - e) - sin_omega * (minor * anomaly$sin)
  given$K * (along / radius + e * cos_omega)
}

# The smaller half axis of an ellipse whose larger one is 1.
minor_axis <- function(e) sqrt((1 - e) * (1 + e))

# The arguments as values of one dtype, f32 or f64, whose shapes fit: each is that of the first which
# is not one number, or one number.
recycled <- function(arguments, op) {
  call <- call(op)
  first <- Find(is_value, arguments)
  values <- Map(function(x, name) as_value(x, name, first, call), arguments, names(arguments))
  for (name in names(values)) {
    if (!values[[name]]@dtype %in% c("f32", "f64")) {
      abort(sprintf("%s: `%s` must be f32 or f64, not %s", op, name, values[[name]]@dtype),
        op = op, operand = name, hint = "`hlo_convert()` changes the dtype.", call = call
      )
    }
  }
  ranks <- vapply(values, function(x) if (length(x) == 1L) length(x@shape) - 2L else length(x@shape) + 1000L, 0L)
  widest <- names(values)[[which.max(ranks)]]
  for (name in setdiff(names(values), widest)) {
    operands(values[[widest]], values[[name]], op, c(widest, name), call)
  }
  values
}

# E - e sin E = M: by implicit differentiation, dE = (dM + sin E de) / (1 - e cos E), from which
# those of sin E and cos E follow. The order of arguments and results is the handler's.
kepler_jvp <- function(primals, results, tangents) {
  e <- primals[[2L]]
  sine <- results[[1L]]
  cosine <- results[[2L]]
  change <- add_tangents(tangents[[1L]], along(tangents[[2L]], function(de) sine * de)) / kepler_slope(e, sine, cosine)
  list(cosine * change, -sine * change)
}

# dM/dE = 1 - e cos E without cancellation near e = 1, E = 0: there 1 - cos E is taken as
# sin^2 E / (1 + cos E).
kepler_slope <- function(e, sine, cosine) {
  near <- cosine > 0
  cosine_near <- hlo_select(near, cosine, 0)
  hlo_select(near, (1 - e) + e * (sine * sine / (1 + cosine_near)), 1 - e * cosine)
}
