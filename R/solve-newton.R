# Newton's method in a trust region, with the exact Hessian. J. J. Moré and D. C. Sorensen, "Computing a trust region
# step", SIAM Journal on Scientific and Statistical Computing 4 (1983); the region's size by Nocedal and Wright,
# "Numerical Optimization", 2nd edition (2006), algorithm 4.1. The Hessian's eigenvectors make the step's equation one
# of diagonal matrices, in which no case is hard.

# Each turn evaluates `at(x)`, list(value, gradient, hessian), at a trial, keeps it if it is a better point, and
# proposes another one.
trust_region <- function(at, start, tol, max_iter) {
  n <- length(start)
  zero <- number_as(0, start)
  state <- list(
    par = start, trial = start, value = number_as(Inf, start), gradient = filled(0, start), curves = filled(0, start),
    axes = constant(0, start@dtype, c(n, n), "axes"), radius = 10 * hlo_max(norm_of(start), 1), length = zero,
    predicted = zero, begun = flag_of(FALSE), iterations = integer_of(0L), evaluations = integer_of(0L),
    reason = integer_of(solving)
  )
  solver_loop(
    function(s) s$reason == solving, function(s) trust_turn(s, at(s$trial), tol, max_iter), state
  )
}

trust_turn <- function(s, now, tol, max_iter) {
  rounding <- rounding_of(s$par@dtype)
  finite <- (abs(now$value) < Inf) & all_finite(now$gradient) & all_finite(now$hessian)
  ratio <- (s$value - now$value) / s$predicted
  # What is left to gain is less than what the value is rounded by: then the gradient tells.
  blurred <- s$predicted <= 64 * rounding * abs(s$value)
  as_low <- now$value <= s$value + 64 * rounding * abs(s$value)
  near <- blurred & as_low & (norm_of(now$gradient) < norm_of(s$gradient))
  accepted <- finite & (!s$begun | (ratio > 1e-4) | near)
  poor <- s$begun & !near & !(finite & (ratio >= 0.25))
  good <- s$begun & finite & (ratio > 0.75) & (s$length >= 0.8 * s$radius)
  s$radius <- hlo_select(poor, 0.25 * s$length, hlo_select(good, 2 * s$radius, s$radius))
  s$par <- hlo_select(accepted, s$trial, s$par)
  # What `f` gave at the start counts, whatever it is.
  reported <- accepted | !s$begun
  s$value <- hlo_select(reported, now$value, s$value)
  s$gradient <- hlo_select(reported, now$gradient, s$gradient)
  s$iterations <- s$iterations + as_count(accepted & s$begun)
  s$evaluations <- s$evaluations + 1L
  eigen <- eigh_op("L", TRUE)(now$hessian)
  s$curves <- hlo_select(accepted, eigen[[1L]], s$curves)
  s$axes <- hlo_select(accepted, eigen[[2L]], s$axes)
  step <- trust_step(s$curves, hlo_dot(s$axes, s$gradient, list(1, 1)), s$radius)
  s$length <- norm_of(step)
  s$predicted <- -inner_product(step, hlo_dot(s$axes, s$gradient, list(1, 1)) + 0.5 * s$curves * step)
  s$trial <- s$par + hlo_dot(s$axes, step, list(2, 1))
  least <- reduced("reduce_min", s$curves, NULL, "hlo_minimize")
  convex <- least >= -sqrt(rounding) * largest_of(abs(s$curves))
  small <- (relative_gradient(s$par, s$value, s$gradient) <= tol) & convex
  lost <- s$begun & !accepted & (blurred | (s$radius <= rounding * norm_of(s$par)) | !(s$radius > 0))
  reason <- hlo_select(lost, reason_of("no step leads to a better point"), integer_of(solving))
  reason <- hlo_select(accepted & (s$iterations >= max_iter), reason_of("max_iter reached"), reason)
  # A region may shrink for long, too.
  reason <- hlo_select(s$evaluations > 50 * (max_iter + 1), reason_of("max_iter reached"), reason)
  reason <- hlo_select(accepted & small, reason_of("converged"), reason)
  reason <- hlo_select(!finite & !s$begun, reason_of("not finite"), reason)
  s$reason <- hlo_select(now$value == -Inf, reason_of("unbounded, or no longer finite"), reason)
  s$begun <- flag_of(TRUE)
  s
}

# The step c that minimises sum(slopes * c + curves * c^2 / 2) among those no longer than `radius`, along the axes of
# the Hessian, whose eigenvalues ascend. It is -slopes / (curves + shift) with the least shift that makes the matrix
# positive definite and the step short enough; Newton's method for the shift, on the reciprocals of lengths, begins
# below and stays there. What is left of the length is cut off.
trust_step <- function(curves, slopes, radius) {
  rounding <- rounding_of(curves@dtype)
  least <- reshaped(sliced(curves, 1L, 1L), integer())
  size <- largest_of(abs(curves))
  size <- hlo_select(size > 0, size, 1)
  definite <- least > rounding * size
  floor <- hlo_select(definite, 0, hlo_max(-least, 0) + rounding * size)
  shift <- hlo_max(largest_of(abs(slopes) / radius - curves), floor)
  shift <- hlo_select(definite & (norm_of(slopes / curves) <= radius), 0, shift)
  for (i in 1:5) {
    squares <- (slopes / (curves + shift))^2
    length <- sqrt(hlo_sum(squares))
    change <- hlo_sum(squares) / hlo_sum(squares / (curves + shift)) * (length - radius) / radius
    shift <- hlo_select(abs(change) < Inf, hlo_max(shift + change, floor), shift)
  }
  step <- -slopes / (curves + shift)
  length <- norm_of(step)
  step <- hlo_select(length > radius, step * (radius / length), step)
  # Along the axis of negative curvature to the edge, where the slopes do not lead there
  first <- converted(hlo_iota("i32", length(curves)) == 0L, curves@dtype)
  rest <- sqrt(hlo_max(radius^2 - hlo_sum(step^2), 0))
  down <- hlo_select(hlo_sum(first * slopes) > 0, -rest, rest)
  hlo_select((least < -rounding * size) & (length < radius), step + down * first, step)
}
