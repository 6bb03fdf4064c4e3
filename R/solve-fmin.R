# The minimum of a function of one number within an interval: R. Brent, "Algorithms for Minimization without
# Derivatives" (1973), chapter 5, golden section and parabolas, in the order of steps that R's optimize() takes. `x` is
# the best point, `w` the one before, `v` that before `w`.

# As an op: list(root, value, converged). Within the interval the slope is zero at the minimum, which moves by the
# implicit function theorem; at an end it stays.
bounded_minimum <- function(problem, ends, tol, max_iter, op) {
  op_of <- function(problem) bounded_minimum_op(problem, max_iter, op)
  bind_solver(op_of, list(lower = ends[[1L]], upper = ends[[2L]], tol = tol), problem, list(op, max_iter))
}

bounded_minimum_op <- function(problem, max_iter, op) {
  objective <- function(given) function(x) reshaped(problem$run(reshaped(x, 1L), given)[[1L]], integer())
  search <- function(lower, upper, tol, given) {
    at <- in_turns(function(x) list(value = objective(given)(x)), lower)
    fmin(function(x) at(x)$value, lower, upper, tol, max_iter)
  }
  slope <- function(x, given) first_order_at(objective(given))(x)$gradient
  # At an end the equation is 1 * dx = 0.
  solve <- function(at, right, results) {
    curve <- reshaped(matrix_of_slopes(at, 1L, 1L), 1L)
    hlo_select(results$at_end, 0, 1) * right / hlo_select(results$at_end, 1, curve)
  }
  implicit_op(op, slope, search, solve)
}

fmin <- function(at, lower, upper, tol, max_iter) {
  zero <- number_as(0, lower)
  first <- lower + golden * (upper - lower)
  state <- list(
    a = lower, b = upper, v = first, w = first, x = first, fv = zero, fw = zero, fx = zero, d = zero, e = zero,
    trial = first, evaluations = integer_of(0L), reason = integer_of(solving)
  )
  s <- solver_loop(
    function(s) s$reason == solving, function(s) fmin_turn(s, at(s$trial), tol, max_iter), state
  )
  margin <- 4 * (sqrt(rounding_of(lower@dtype)) * abs(s$x) + tol / 3)
  list(
    root = reshaped(s$x, 1L), evaluations = s$evaluations, converged = s$reason == solver_reasons[["converged"]],
    at_end = (abs(s$x - lower) <= margin) | (abs(s$x - upper) <= margin)
  )
}

golden <- (3 - sqrt(5)) / 2

fmin_turn <- function(s, value, tol, max_iter) {
  first <- s$evaluations == 0L
  value <- hlo_select(abs(value) < Inf, value, largest_number(value@dtype))
  after <- fmin_placed(s, value)
  start <- s
  start[c("fv", "fw", "fx")] <- list(value, value, value)
  s <- kept_if(first, start, after)
  s$evaluations <- s$evaluations + 1L
  middle <- (s$a + s$b) * 0.5
  least <- sqrt(rounding_of(value@dtype)) * abs(s$x) + tol / 3
  done <- abs(s$x - middle) <= 2 * least - (s$b - s$a) * 0.5
  # The minimum of a parabola through the three points
  r <- (s$x - s$w) * (s$fx - s$fv)
  q <- (s$x - s$v) * (s$fx - s$fw)
  p <- (s$x - s$v) * q - (s$x - s$w) * r
  q <- (q - r) * 2
  p <- hlo_select(q > 0, -p, p)
  q <- abs(q)
  long <- abs(s$e) > least
  usable <- long & (abs(p) < abs(q * 0.5 * s$e)) & (p > q * (s$a - s$x)) & (p < q * (s$b - s$x))
  e <- hlo_select(usable, s$d, hlo_select(s$x < middle, s$b, s$a) - s$x)
  d <- hlo_select(usable, p / q, golden * e)
  u <- s$x + d
  near_end <- usable & ((u - s$a < 2 * least) | (s$b - u < 2 * least))
  s$d <- hlo_select(near_end, hlo_select(s$x >= middle, -least, least), d)
  s$e <- e
  s$trial <- s$x + hlo_select(abs(s$d) >= least, s$d, hlo_select(s$d > 0, least, -least))
  reason <- hlo_select(s$evaluations >= max_iter, reason_of("max_iter reached"), integer_of(solving))
  s$reason <- hlo_select(done, reason_of("converged"), reason)
  s
}

# The interval and the points with the trial's value among them
fmin_placed <- function(s, value) {
  u <- s$trial
  better <- value <= s$fx
  left <- u < s$x
  second <- !better & ((value <= s$fw) | (s$w == s$x))
  third <- !better & !second & ((value <= s$fv) | (s$v == s$x) | (s$v == s$w))
  after <- s
  after$a <- hlo_select(better, hlo_select(left, s$a, s$x), hlo_select(left, u, s$a))
  after$b <- hlo_select(better, hlo_select(left, s$x, s$b), hlo_select(left, s$b, u))
  older <- better | second
  after$v <- hlo_select(older, s$w, hlo_select(third, u, s$v))
  after$fv <- hlo_select(older, s$fw, hlo_select(third, value, s$fv))
  after$w <- hlo_select(better, s$x, hlo_select(second, u, s$w))
  after$fw <- hlo_select(better, s$fx, hlo_select(second, value, s$fw))
  after$x <- hlo_select(better, u, s$x)
  after$fx <- hlo_select(better, value, s$fx)
  after
}
