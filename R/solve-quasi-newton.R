# Quasi-Newton methods. J. Nocedal and S. J. Wright, "Numerical Optimization", 2nd edition (2006), chapters 3, 6 and 7.
#
# A `memory` is what a method knows of second derivatives: `none`, a nested list of values; `learn(known, step, change,
# first)` with a step and the change of the gradient along it; `direction(known, gradient)`, a way down.

# BFGS: the approximation of the inverse Hessian, (6.17). The first one has the size (6.20).
bfgs_memory <- function(like) {
  n <- length(like)
  identity <- converted(hlo_iota("i32", c(n, n), 1) == hlo_iota("i32", c(n, n), 2), like@dtype)
  list(
    none = list(h = identity),
    learn = function(known, step, change, first) {
      product <- inner_product(step, change)
      rho <- 1 / product
      h <- hlo_select(first, identity * (product / inner_product(change, change)), known$h)
      hy <- hlo_dot(h, change, list(2, 1))
      scale <- rho * (1 + rho * inner_product(change, hy))
      cross <- outer_product(hy, step)
      list(h = h - rho * (cross + hlo_t(cross)) + scale * outer_product(step, step))
    },
    direction = function(known, gradient) -hlo_dot(known$h, gradient, list(2, 1))
  )
}

outer_product <- function(x, y) hlo_dot(reshaped(x, c(length(x), 1L)), reshaped(y, c(1L, length(y))), list(2, 1))

# L-BFGS: the last steps and changes, the newest in the last row, by the recursion of two loops (algorithm 7.4). Rows
# that are not known yet have rho = 0, and change nothing.
lbfgs_memory <- function(like, history) {
  n <- length(like)
  rows <- constant(0, like@dtype, c(history, n), "history")
  one <- number_as(1, like)
  row_at <- function(rows, i) {
    rest <- rows@shape[-1L]
    reshaped(sliced(rows, c(i, rep(1L, length(rest))), c(i, rest)), rest)
  }
  list(
    none = list(steps = rows, changes = rows, rho = constant(0, like@dtype, history, "history"), size = one),
    learn = function(known, step, change, first) {
      product <- inner_product(step, change)
      list(
        steps = newest_last(known$steps, step), changes = newest_last(known$changes, change),
        rho = newest_last(known$rho, 1 / product),
        size = product / inner_product(change, change)
      )
    },
    direction = function(known, gradient) {
      q <- gradient
      alpha <- vector("list", history)
      for (i in rev(seq_len(history))) {
        alpha[[i]] <- row_at(known$rho, i) * inner_product(row_at(known$steps, i), q)
        q <- q - alpha[[i]] * row_at(known$changes, i)
      }
      r <- known$size * q
      for (i in seq_len(history)) {
        beta <- row_at(known$rho, i) * inner_product(row_at(known$changes, i), r)
        r <- r + (alpha[[i]] - beta) * row_at(known$steps, i)
      }
      -r
    }
  )
}

# Rows without the first one, and with a new one at the end
newest_last <- function(rows, row) {
  rest <- rows@shape[-1L]
  row <- reshaped(row, c(1L, rest))
  if (rows@shape[[1L]] == 1L) row else joined(list(sliced(rows, c(2L, rep(1L, length(rest))), rows@shape), row))
}

# So many searches along lines in a row that went on downwards until they had no more trials, each step 4 to 5 times
# the one before, are one without an end.
most_endless <- 3L

# The search by a line along each direction. Each turn evaluates `at(x)`, list(value, gradient), at one point: the first
# one at the start, the others at the trial of a line search.
descent <- function(at, start, memory, tol, max_iter) {
  zero <- number_as(0, start)
  state <- list(
    par = start, value = number_as(Inf, start), gradient = filled(0, start), direction = filled(0, start),
    slope = zero, known = memory$none, unknown = flag_of(TRUE), line = line_start(zero, zero, zero),
    begun = flag_of(FALSE), endless = integer_of(0L), iterations = integer_of(0L), evaluations = integer_of(0L),
    reason = integer_of(solving)
  )
  solver_loop(function(s) s$reason == solving, function(s) {
    descent_turn(s, at(s$par + s$line$step * s$direction), memory, tol, max_iter)
  }, state)
}

descent_turn <- function(s, now, memory, tol, max_iter) {
  finite <- (abs(now$value) < Inf) & all_finite(now$gradient)
  step <- s$line$step * s$direction
  looked <- line_turn(s$line, s$value, s$slope, now$value, inner_product(now$gradient, s$direction), finite)
  accepted <- finite & (looked$accepted | !s$begun)
  failed <- s$begun & looked$failed
  before <- s
  s$par <- hlo_select(accepted, s$par + step, s$par)
  # What `f` gave at the start counts, whatever it is.
  reported <- accepted | !s$begun
  s$value <- hlo_select(reported, now$value, s$value)
  s$gradient <- hlo_select(reported, now$gradient, s$gradient)
  s$iterations <- s$iterations + as_count(accepted & s$begun)
  s$endless <- hlo_select(accepted | failed, hlo_select(looked$endless, s$endless + 1L, integer_of(0L)), s$endless)
  s$evaluations <- s$evaluations + 1L
  s <- next_direction(s, before, accepted, failed, step, memory)
  line <- line_start(first_step(s), s$value, s$slope)
  s$line <- kept_if(accepted | failed, line, looked$line)
  small <- relative_gradient(s$par, s$value, s$gradient) <= tol
  # Also down the gradient no step was found.
  lost <- failed & before$unknown
  reason <- hlo_select(lost, reason_of("no step leads to a better point"), integer_of(solving))
  reason <- hlo_select(accepted & (s$iterations >= max_iter), reason_of("max_iter reached"), reason)
  reason <- hlo_select(accepted & small, reason_of("converged"), reason)
  reason <- hlo_select(!finite & !s$begun, reason_of("not finite"), reason)
  unbounded <- (now$value == -Inf) | ((s$endless >= most_endless) & (reason == solving))
  s$reason <- hlo_select(unbounded, reason_of("unbounded, or no longer finite"), reason)
  s$begun <- flag_of(TRUE)
  s
}

# What was learnt by a step, and the direction from there. Where a search failed, or the direction does not lead down,
# all is forgotten, and it goes down the gradient.
next_direction <- function(s, before, accepted, failed, step, memory) {
  change <- s$gradient - before$gradient
  product <- inner_product(step, change)
  curved <- product > rounding_of(step@dtype) * sqrt(inner_product(step, step) * inner_product(change, change))
  learns <- accepted & before$begun & curved & (product < Inf)
  known <- kept_if(learns, memory$learn(s$known, step, change, s$unknown), s$known)
  s$known <- kept_if(failed, memory$none, known)
  s$unknown <- failed | (s$unknown & !learns)
  direction <- memory$direction(s$known, s$gradient)
  slope <- inner_product(direction, s$gradient)
  leads_down <- (slope < 0) & (slope > -Inf) & all_finite(direction)
  s$known <- kept_if(leads_down, s$known, memory$none)
  s$unknown <- s$unknown | !leads_down
  moved <- accepted | failed
  direction <- hlo_select(leads_down, direction, -s$gradient)
  s$direction <- hlo_select(moved, direction, s$direction)
  s$slope <- hlo_select(moved, hlo_select(leads_down, slope, -inner_product(s$gradient, s$gradient)), s$slope)
  s
}

# The step that a line search tries first: without any knowledge of the size no longer than 1
first_step <- function(s) {
  size <- norm_of(s$gradient)
  hlo_select(s$unknown, hlo_select(size > 1, 1 / size, 1), number_as(1, size))
}

# J. E. Dennis and R. B. Schnabel, "Numerical Methods for Unconstrained Optimization and Nonlinear Equations" (1983),
# (7.2.5), as nlm() has it: how much a relative change of a parameter changes the value relatively
relative_gradient <- function(par, value, gradient) {
  largest_of(abs(gradient) * hlo_max(abs(par), 1)) / hlo_max(abs(value), 1)
}
