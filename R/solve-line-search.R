# Searches along a line, one evaluation of the function for each turn of the loop: so the elements of a batch share one
# loop, though each is somewhere else in its search.
#
# J. J. Moré and D. J. Thuente, "Line search algorithms with guaranteed sufficient decrease", ACM Transactions on
# Mathematical Software 20 (1994). `best` is the best step so far, `other` the other end of the interval that has the
# minimum, once it is `bracketed`. Where sums are rounded, so that a decrease cannot be seen, the approximate conditions
# count as well: W. W. Hager and H. Zhang, "A new conjugate gradient method with guaranteed descent and an efficient
# line search", SIAM Journal on Optimization 16 (2005), (4.1).

line_decrease <- 1e-4
line_curvature <- 0.9
most_trials <- 25L

# The search that begins with the trial `step`
line_start <- function(step, value, slope) {
  zero <- number_as(0, value)
  list(
    step = step, best = list(at = zero, value = value, slope = slope),
    other = list(at = zero, value = value, slope = slope), bracketed = flag_of(FALSE), first_stage = flag_of(TRUE),
    width = number_as(Inf, value), width_before = number_as(Inf, value), bound = number_as(Inf, value),
    trials = integer_of(0L), last = flag_of(FALSE)
  )
}

# What becomes of a search with the value and slope at its step. `value0` and `slope0` are those at 0. A step where
# these are not finite bounds those that follow.
line_turn <- function(line, value0, slope0, value, slope, finite) {
  decrease <- line_decrease * slope0
  target <- value0 + line$step * decrease
  slack <- 64 * rounding_of(value@dtype) * abs(value0)
  wolfe <- (value <= target) & (abs(slope) <= -line_curvature * slope0)
  approximate <- (value <= value0 + slack) & (slope <= (2 * line_decrease - 1) * slope0) &
    (slope >= line_curvature * slope0)
  accepted <- finite & (wolfe | approximate | (line$last & (value <= target)))
  trials <- line$trials + 1L
  shorter <- line_shorter(line)
  longer <- line_next(line, target, decrease, value, slope)
  after <- kept_if(finite, longer, shorter)
  # No more trials, or an interval of no width: the best step is taken, if there is one.
  narrow <- after$bracketed & (abs(after$other$at - after$best$at) <= 1e-10 * abs(after$best$at + after$other$at))
  stuck <- (trials >= most_trials) | narrow | !(after$step > 0)
  last <- stuck & !line$last & (after$best$at > 0)
  after$step <- hlo_select(last, after$best$at, after$step)
  after$last <- last
  after$trials <- trials
  list(
    accepted = accepted, failed = !accepted & ((stuck & !last) | line$last), line = after,
    endless = line$last & !line$bracketed & !(line$bound < Inf)
  )
}

line_shorter <- function(line) {
  line$bound <- line$step
  line$step <- line$best$at + 0.1 * (line$step - line$best$at)
  line
}

# The interval with the trial in it, and the next one
line_next <- function(line, target, decrease, value, slope) {
  step <- line$step
  first_stage <- line$first_stage & !((value <= target) & (slope >= 0))
  # In the first stage it is the function less the line of sufficient decrease that is minimised.
  modified <- first_stage & (value <= line$best$value) & (value > target)
  less <- hlo_select(modified, decrease, 0)
  moved <- function(point) {
    list(at = point$at, value = point$value - less * point$at, slope = point$slope - less)
  }
  trial <- list(at = step, value = value, slope = slope)
  now <- trial_step(moved(line$best), moved(line$other), moved(trial), line$bracketed)
  # Best and other ends
  other <- kept_if(now$is_other, trial, kept_if(now$turned, line$best, line$other))
  best <- kept_if(now$is_other, line$best, trial)
  width <- abs(other$at - best$at)
  slow <- now$bracketed & (width >= 0.66 * line$width_before)
  next_step <- hlo_select(slow, best$at + 0.5 * (other$at - best$at), now$step)
  lower <- hlo_select(now$bracketed, hlo_min(best$at, other$at), step)
  upper <- hlo_select(now$bracketed, hlo_max(best$at, other$at), step + 4 * (step - line$best$at))
  next_step <- hlo_min(hlo_max(next_step, lower), upper)
  next_step <- hlo_select(next_step >= line$bound, best$at + 0.5 * (line$bound - best$at), next_step)
  list(
    step = next_step, best = best, other = other, bracketed = now$bracketed, first_stage = first_stage,
    width = hlo_select(now$bracketed, width, line$width),
    width_before = hlo_select(now$bracketed, line$width, line$width_before), bound = line$bound,
    trials = line$trials, last = line$last
  )
}

# The safeguarded step of cubic and quadratic interpolation (section 4 of the paper) in its four cases, and whether the
# trial becomes the other end, or the best point that was, as the slope has `turned`.
trial_step <- function(x, y, p, bracketed) {
  is_higher <- p$value > x$value
  turned <- !is_higher & (sign(p$slope) * sign(x$slope) < 0)
  flatter <- !is_higher & !turned & (abs(p$slope) < abs(x$slope))
  gap <- p$at - x$at
  cubic <- cubic_between(x, p)
  secant <- p$at + p$slope / (p$slope - x$slope) * (x$at - p$at)
  # 1: a higher value
  from_x <- cubic_step(x, p, cubic$gamma, cubic$theta)
  quadratic <- x$at + x$slope / ((x$value - p$value) / gap + x$slope) / 2 * gap
  nearer <- abs(from_x - x$at) < abs(quadratic - x$at)
  step1 <- hlo_select(nearer, from_x, from_x + (quadratic - from_x) / 2)
  # 2: a lower value, and the slope has turned
  from_p <- cubic_step(p, x, -cubic$gamma, cubic$theta)
  farther <- abs(from_p - p$at) > abs(secant - p$at)
  step2 <- hlo_select(farther, from_p, secant)
  # 3: a lower value, and a flatter slope. The cubic may have no minimum ahead.
  far <- p$at + 1e10 * gap
  ahead <- (from_p - p$at) * gap > 0
  cubic3 <- hlo_select(ahead & (abs(from_p) < Inf), from_p, far)
  closer <- abs(cubic3 - p$at) < abs(secant - p$at)
  inside <- hlo_select(closer, cubic3, secant)
  limit <- p$at + 0.66 * (y$at - p$at)
  inside <- hlo_select(gap > 0, hlo_min(limit, inside), hlo_max(limit, inside))
  step3 <- hlo_select(bracketed, inside, hlo_select(closer, secant, cubic3))
  # 4: a lower value, and a slope that is not flatter
  beyond <- cubic_between(y, p)
  step4 <- hlo_select(bracketed, cubic_step(p, y, -beyond$gamma, beyond$theta), far)
  step <- hlo_select(is_higher, step1, hlo_select(turned, step2, hlo_select(flatter, step3, step4)))
  # Where numbers are rounded so that a formula has no result: the middle, or farther on
  middle <- hlo_select(bracketed | is_higher | turned, (x$at + hlo_select(bracketed, y$at, p$at)) / 2, far)
  step <- hlo_select(abs(step) < Inf, step, middle)
  list(step = step, bracketed = bracketed | is_higher | turned, is_other = is_higher, turned = turned)
}

# Of the cubic through two points with their slopes
cubic_between <- function(x, p) {
  theta <- 3 * (x$value - p$value) / (p$at - x$at) + x$slope + p$slope
  size <- hlo_max(hlo_max(abs(theta), abs(x$slope)), abs(p$slope))
  size <- hlo_select(size > 0, size, 1)
  root <- size * sqrt(hlo_max((theta / size)^2 - (x$slope / size) * (p$slope / size), 0))
  list(theta = theta, gamma = hlo_select(p$at < x$at, -root, root))
}

# Its minimum, as a step from `x` towards `p`
cubic_step <- function(x, p, gamma, theta) {
  above <- (gamma - x$slope) + theta
  below <- ((gamma - x$slope) + gamma) + p$slope
  x$at + above / below * (p$at - x$at)
}
