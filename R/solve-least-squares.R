# Least squares: Gauss and Newton's step, damped by Levenberg and Marquardt. J. J. Moré, "The Levenberg-Marquardt
# algorithm: implementation and theory", Lecture Notes in Mathematics 630 (1978), for the scales, the step by QR and the
# tests; H. B. Nielsen, "Damping parameter in Marquardt's method", report IMM-REP-1999-05, Technical University of
# Denmark (1999), for the damping, which is relative to the scales here.

# Each turn evaluates `at(x)`, list(residuals, jacobian), at a trial, keeps it if it is a better point, and proposes
# another one.
levenberg_marquardt <- function(at, start, size, tol, max_iter) {
  zero <- number_as(0, start)
  state <- list(
    par = start, trial = start, value = number_as(Inf, start), residuals = constant(0, start@dtype, size, "residuals"),
    jacobian = constant(0, start@dtype, c(size, length(start)), "jacobian"), scale = filled(0, start),
    damping = number_as(1e-3, start), growth = number_as(2, start), predicted = zero, relative = number_as(Inf, start),
    begun = flag_of(FALSE), iterations = integer_of(0L), evaluations = integer_of(0L), reason = integer_of(solving)
  )
  s <- solver_loop(
    function(s) s$reason == solving, function(s) damped_turn(s, at(s$trial), tol, max_iter), state
  )
  s$gradient <- 2 * hlo_dot(s$jacobian, s$residuals, list(1, 1))
  s
}

damped_turn <- function(s, now, tol, max_iter) {
  rounding <- rounding_of(s$par@dtype)
  value <- hlo_sum(now$residuals^2)
  finite <- (value < Inf) & all_finite(now$jacobian)
  ratio <- (s$value - value) / s$predicted
  accepted <- finite & (!s$begun | (ratio > 1e-4))
  # As close as the tolerance asks for, or as rounding lets it: a step of nearly full length is short.
  arrived <- s$begun & finite & (s$relative <= tol) & (s$damping <= 0.1) &
    (value <= s$value * (1 + 64 * rounding) | (s$predicted <= 64 * rounding * s$value))
  better <- s$begun & accepted
  s$damping <- hlo_select(better, s$damping * hlo_max(1 - (2 * hlo_min(ratio, 1) - 1)^3, 1 / 3), s$damping)
  s$damping <- hlo_select(s$begun & !accepted, s$damping * s$growth, hlo_max(s$damping, rounding))
  s$growth <- hlo_select(s$begun & !accepted, 2 * s$growth, 2)
  s$par <- hlo_select(accepted, s$trial, s$par)
  # What `f` gave at the start counts, whatever it is.
  reported <- accepted | !s$begun
  s$value <- hlo_select(reported, value, s$value)
  s$residuals <- hlo_select(reported, now$residuals, s$residuals)
  s$jacobian <- hlo_select(reported, now$jacobian, s$jacobian)
  s$iterations <- s$iterations + as_count(better)
  s$evaluations <- s$evaluations + 1L
  lengths <- sqrt(hlo_sum(s$jacobian^2, 1))
  s$scale <- hlo_max(s$scale, hlo_select(lengths < Inf, lengths, 0))
  scale <- hlo_select(s$scale > 0, s$scale, 1)
  step <- damped_step(s$jacobian, s$residuals, scale * sqrt(s$damping))
  along <- hlo_dot(s$jacobian, step, list(2, 1))
  s$predicted <- hlo_sum(along^2) + 2 * s$damping * hlo_sum((scale * step)^2)
  s$relative <- norm_of(scale * step) / norm_of(scale * s$par)
  s$trial <- s$par + step
  # The cosines of the angles between residuals and the columns of the Jacobian
  products <- abs(hlo_dot(s$jacobian, s$residuals, list(1, 1)))
  small <- largest_of(products / hlo_select(lengths > 0, lengths, 1)) <= tol * sqrt(s$value)
  lost <- s$begun & !accepted & (s$damping > 1 / rounding)
  reason <- hlo_select(lost, reason_of("no step leads to a better point"), integer_of(solving))
  reason <- hlo_select(accepted & (s$iterations >= max_iter), reason_of("max_iter reached"), reason)
  reason <- hlo_select((accepted & small) | arrived, reason_of("converged"), reason)
  s$reason <- hlo_select(!finite & !s$begun, reason_of("not finite"), reason)
  s$begun <- flag_of(TRUE)
  s
}

# The step p that minimises |J p + r|^2 + |D p|^2, by the QR decomposition of J above D
damped_step <- function(jacobian, residuals, weights) {
  n <- length(weights)
  below <- hlo_broadcast(weights, c(n, n), 2) * identity_like(new_type(weights@dtype, c(n, n)))
  qr <- qr_op()(joined(list(jacobian, below)))
  rows <- sliced(qr[[1L]], c(1L, 1L), jacobian@shape)
  right <- hlo_dot(rows, residuals, list(1, 1))
  -reshaped(solve_upper(qr[[2L]], reshaped(right, c(n, 1L))), n)
}
