# Events where a function of time and state crosses zero. A step over which it changes its sign ends at the root, which
# is found by bisection on the dense output of the step.

# The part of a step that is kept, where it has no root
no_root <- 2

root_results <- function(ode) if (is.null(ode$root)) character() else c("root_time", "root_y")

# `side`: the function's value at the time of the state; 0 where it has just been at a root.
starting_root <- function(ode, root, t, y) {
  if (is.null(ode$root)) {
    return(NULL)
  }
  list(
    side = if (!is.null(root)) root(t, y), root_time = filled(NaN, t), root_y = filled(NaN, y), roots = as_i32(0L)
  )
}

# A turn of all elements, in which steps end at the first root that they go across
stopped_at_roots <- function(ode, out, given, marks) {
  ends <- on_elements(ode, function(state, inputs) root_between(ode, state, inputs), c(out$state, list(
    accepted = out$accepted
  )), given, marks)
  located <- function(leaves) {
    now <- stats::setNames(leaves[-1L], c("low", "high"))
    halved <- on_elements(ode, function(state, inputs) halved_bracket(ode, state, inputs), c(out$state, now, list(
      sign = ends$sign
    )), given, marks)
    c(list(leaves[[1L]] + 1L), unname(halved))
  }
  # So many halves make neighbouring numbers of the ends.
  halves <- if (ode$dtype == "f32") 26L else 55L
  crossing <- any_of(ends$crossing)
  searching <- function(leaves) list(bind("and", list(crossing, leaves[[1L]] < halves), "pred", integer()))
  bracket <- while_loop(searching, located, c(list(as_i32(0L)), unname(ends[c("low", "high")])))
  found <- list(crossing = ends$crossing, value = ends$value, left = bracket[[3L]], accepted = out$accepted)
  end <- on_elements(ode, function(state, inputs) at_root(ode, state, inputs), c(out$state, found), given, marks)
  out$state <- end[names(out$state)]
  out$recorded$left <- end$left
  out
}

root_at <- function(ode, functions, state, at) {
  functions$root(state$from + at * state$width, item_state(ode, state, state$from + at * state$width))
}

# The ends of the bracket, as parts of the step. From a root on, where the function's sign is a matter of rounding, the
# step is looked at from a hundredth of it on.
root_between <- function(ode, state, given) {
  functions <- functions_of(ode, given$theta, state$start, given$items$stop)
  fresh <- state$side == 0
  low <- hlo_select(fresh, filled(0.01, state$t), filled(0, state$t))
  side <- hlo_select(fresh, root_at(ode, functions, state, low), state$side)
  value <- functions$root(state$t, state$y)
  across <- ((side < 0) & (value >= 0)) | ((side > 0) & (value <= 0))
  list(low = low, high = filled(1, low), sign = side, value = value, crossing = state$accepted & across)
}

halved_bracket <- function(ode, state, given) {
  middle <- (state$low + state$high) / 2
  value <- root_at(ode, functions_of(ode, given$theta, state$start, given$items$stop), state, middle)
  before <- (value < 0) == (state$sign < 0) & (value != 0)
  list(low = hlo_select(before, middle, state$low), high = hlo_select(before, state$high, middle))
}

at_root <- function(ode, state, given) {
  functions <- functions_of(ode, given$theta, state$start, given$items$stop)
  there <- state$crossing
  t <- state$from + state$left * state$width
  y <- item_state(ode, state, t)
  later <- state
  later[c("t", "start", "root_time", "root_y", "y")] <- list(t, t, t, y, y)
  later$side <- filled(0, t)
  later$roots <- state$roots + 1L
  if (is.null(functions$root_jump)) {
    later$status <- as_i32(ode_status[["root"]])
  } else {
    later$y <- functions$root_jump(t, y)
    if (!is.null(state$slope)) later$slope <- functions$f(t, later$y)
  }
  state$side <- hlo_select(state$accepted, state$value, state$side)
  changed <- intersect(c("t", "start", "root_time", "root_y", "y", "side", "roots", "status", "slope"), names(state))
  state[changed] <- Map(function(new, old) hlo_select(there, new, old), later[changed], state[changed])
  state$left <- hlo_select(there, state$left, filled(no_root, t))
  state
}

# The same again, with derivatives: those of the root are those of two steps of Newton's method from it, which are
# exact to the third order (the implicit function theorem).
root_again <- function(ode, functions, state, left) {
  there <- left <= 1
  at <- hlo_select(there, left, filled(1, left))
  value_at <- function(at) root_at(ode, functions, state, at)
  for (step in 1:2) {
    value <- xla_jvp(value_at)(list(at), list(filled(1, at)))
    at <- at - hlo_select(there, value$value, filled(0, at)) / hlo_select(there, value$tangent, filled(1, at))
  }
  t <- state$from + at * state$width
  y <- item_state(ode, state, t)
  later <- state
  later[c("t", "start", "root_time", "root_y", "y")] <- list(t, t, t, y, y)
  if (!is.null(functions$root_jump)) {
    later$y <- functions$root_jump(t, y)
    if (!is.null(state$slope)) later$slope <- functions$f(t, later$y)
  }
  Map(function(new, old) hlo_select(there, new, old), later, state)
}
