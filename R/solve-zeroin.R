# One equation within an interval. R. Brent, "Algorithms for Minimization without Derivatives" (1973), chapter 4, in the
# order of steps that R's uniroot() takes. `b` is the best point, `a` the one before, and the root lies between `b` and
# `c`. Each turn evaluates the function at one point: first at both ends.

bracketed_root <- function(f, interval, others, tol, max_iter, op, call) {
  ends <- interval_ends(interval, op, call)
  tol <- check_tolerance(tol, ends[[1L]], op, call)
  max_iter <- check_turns(max_iter, op, call)
  problem <- traced_function(f, ends[[1L]], others, op, call)
  check_equations(problem, ends[[1L]], op, "f", call)
  op_of <- function(problem) {
    residual <- function(x, given) reshaped(problem$run(reshaped(x, 1L), given)[[1L]], 1L)
    implicit_op(op, residual, function(lower, upper, tol, given) {
      at <- in_turns(function(x) list(value = reshaped(problem$run(x, given)[[1L]], integer())), lower)
      s <- zeroin(function(x) at(x)$value, lower, upper, tol, max_iter)
      s$root <- reshaped(s$root, 1L)
      s
    })
  }
  found <- bind_solver(op_of, list(lower = ends[[1L]], upper = ends[[2L]], tol = tol), problem, list(op, max_iter))
  found$root <- reshaped(found$root, integer())
  found
}

# Two scalars of one dtype
interval_ends <- function(interval, op, call, name = "interval") {
  refuse <- function() {
    abort(sprintf("%s: `%s` must be two real numbers of one dtype, f32 or f64, not %s", op, name,
      if (is_branch(interval)) types_text(lapply(tree_leaves(interval), argument_type, name, call)) else
        describe_leaf(interval)
    ), op = op, operand = name, call = call)
  }
  if (!is_branch(interval)) {
    if (is_data(interval) && length(interval) == 2L) {
      interval <- as.list(as.double(interval))
    } else if (is_value(interval) && identical(interval@shape, 2L)) {
      interval <- list(sliced(interval, 1L, 1L), sliced(interval, 2L, 2L))
    } else {
      refuse()
    }
  }
  # Integers of R's are numbers here, as they are for R.
  ends <- lapply(tree_leaves(interval), function(end) if (is.integer(end) && !is.object(end)) as.double(end) else end)
  if (length(ends) != 2L || !all(lengths(ends) == 1L)) refuse()
  like <- Find(is_value, ends)
  ends <- lapply(ends, as_value, name, like, call, op)
  if (ends[[1L]]@dtype != ends[[2L]]@dtype || !ends[[1L]]@dtype %in% c("f32", "f64")) refuse()
  lapply(ends, reshaped, integer())
}

zeroin <- function(at, lower, upper, tol, max_iter) {
  zero <- number_as(0, lower)
  state <- list(
    a = lower, fa = zero, b = lower, fb = zero, c = lower, fc = zero, trial = lower, iterations = integer_of(0L),
    evaluations = integer_of(0L), reason = integer_of(solving)
  )
  s <- solver_loop(
    function(s) s$reason == solving, function(s) zeroin_turn(s, at(s$trial), upper, tol, max_iter), state
  )
  # Infinite values were the largest numbers. Where it ended at one of the ends, it did so without an interval.
  at_end <- s$iterations == 0L & s$reason == solver_reasons[["converged"]] & (s$evaluations == 2L)
  list(
    root = s$b, value = hlo_select(abs(s$fb) < largest_number(lower@dtype), s$fb, 2 * s$fb),
    iterations = s$iterations, evaluations = s$evaluations,
    converged = s$reason == solver_reasons[["converged"]], reason = s$reason,
    precision = hlo_select(at_end, 0, abs(s$c - s$b))
  )
}

zeroin_turn <- function(s, value, upper, tol, max_iter) {
  first <- s$evaluations == 0L
  second <- s$evaluations == 1L
  # As uniroot() does: infinite values are the largest numbers.
  limit <- largest_number(value@dtype)
  is_finite <- abs(s$trial) <= limit
  value <- hlo_select(where_nan_of(value), value, hlo_max(hlo_min(value, limit), -limit))
  start <- first | second
  s$a <- hlo_select(start, s$a, s$b)
  s$fa <- hlo_select(first, value, hlo_select(second, s$fa, s$fb))
  s$b <- s$trial
  s$fb <- value
  same <- second | ((s$fb > 0) & (s$fc > 0)) | ((s$fb < 0) & (s$fc < 0))
  s$c <- hlo_select(same | first, s$a, s$c)
  s$fc <- hlo_select(same | first, s$fa, s$fc)
  s$evaluations <- s$evaluations + 1L
  # An end that is a root is the result, the lower one first.
  lower_is_root <- second & (s$fa == 0)
  upper_is_root <- second & !lower_is_root & (s$fb == 0)
  no_change <- second & (((s$fa > 0) & (s$fb > 0)) | ((s$fa < 0) & (s$fb < 0)))
  bad <- where_nan_of(value) | !is_finite
  previous <- s$b - s$a
  lower <- s$a
  s <- zeroin_swapped(s, !first)
  s$b <- hlo_select(lower_is_root, lower, s$b)
  s$fb <- hlo_select(lower_is_root, 0, s$fb)
  least <- 2 * rounding_of(value@dtype) * abs(s$b) + tol / 2
  half <- (s$c - s$b) / 2
  done <- !first & ((abs(half) <= least) | (s$fb == 0) | lower_is_root | upper_is_root)
  step <- zeroin_step(s, previous, least, half)
  s$trial <- hlo_select(first, upper, s$b + step)
  goes_on <- !first & !done
  spent <- goes_on & (s$iterations >= max_iter)
  s$iterations <- s$iterations + as_count(goes_on & !spent)
  reason <- hlo_select(spent, reason_of("max_iter reached"), integer_of(solving))
  reason <- hlo_select(done, reason_of("converged"), reason)
  reason <- hlo_select(no_change, reason_of("no change of sign in the interval"), reason)
  s$reason <- hlo_select(bad, reason_of("not finite"), reason)
  s
}

largest_number <- function(dtype) if (dtype == "f32") 2^128 - 2^104 else .Machine$double.xmax

where_nan_of <- function(x) compared(x, x, "NE", "hlo_root")

# The best point is made `b`.
zeroin_swapped <- function(s, may) {
  swaps <- may & (abs(s$fc) < abs(s$fb))
  before <- s
  s$a <- hlo_select(swaps, before$b, s$a)
  s$fa <- hlo_select(swaps, before$fb, s$fa)
  s$b <- hlo_select(swaps, before$c, s$b)
  s$fb <- hlo_select(swaps, before$fc, s$fb)
  s$c <- hlo_select(swaps, before$b, s$c)
  s$fc <- hlo_select(swaps, before$fb, s$fc)
  s
}

# By a line or a hyperbola where that is short enough, else half of the interval, and no less than the tolerance
zeroin_step <- function(s, previous, least, half) {
  across <- s$c - s$b
  ratio <- s$fb / s$fa
  q <- s$fa / s$fc
  r <- s$fb / s$fc
  line <- s$a == s$c
  p <- hlo_select(line, across * ratio, ratio * (across * q * (q - r) - (s$b - s$a) * (r - 1)))
  q <- hlo_select(line, 1 - ratio, (q - 1) * (r - 1) * (ratio - 1))
  q <- hlo_select(p > 0, -q, q)
  p <- abs(p)
  fits <- (p < 0.75 * across * q - abs(least * q) / 2) & (p < abs(previous * q / 2))
  usable <- (abs(previous) >= least) & (abs(s$fa) > abs(s$fb)) & fits
  step <- hlo_select(usable, p / q, half)
  hlo_select(abs(step) < least, hlo_select(step > 0, least, -least), step)
}
