# Random effects: Laplace's approximation of the integral over them. With the function f(theta, u), minus the logarithm
# of the joint density, its minimum over u at u0(theta), and H its matrix of second derivatives by u there, q x q,
#
#   -log integral exp(-f(theta, u)) du  =~  f(theta, u0) + log(det H) / 2 - q log(2 pi) / 2.
#
# H is sparse (see sparse-derivatives.R). Derivatives by theta are exact: of u0 by the implicit function theorem, and of
# all else as ever. H. J. Skaug and D. A. Fournier, "Automatic approximation of the marginal likelihood in non-Gaussian
# hierarchical models", Computational Statistics & Data Analysis 51 (2006).

# `joint` is the function of theta and u, `plan` the plan of H.

value_and_slope <- function(joint, theta, u) {
  xla_vjp(function(u) joint(theta, u))(u, constant(1, u@dtype, integer(), "weight"))
}

slope_by_effects <- function(joint, theta) function(u) value_and_slope(joint, theta, u)$gradients

# The value, the gradient by the effects, and the entries of H, of one trace of the function
second_order <- function(joint, plan, theta, u) {
  linear <- xla_linearize(function(u) value_and_slope(joint, theta, u))(u)
  entries <- planned_entries(plan, function(direction) linear$jvp(direction)$gradients, u)
  list(value = linear$value$value, slope = linear$value$gradients, hessian = entries)
}

# The same as a function of the effects alone, for the turns of the search: what does not depend on them is computed
# before.
second_order_of <- function(joint, plan, theta, start) {
  root <- alias_of(start)
  first <- root@node$id
  values <- second_order(joint, plan, theta, root)
  moves <- dependents(values, list(root), first)
  nodes <- nodes_between(unname(values), first)
  nodes <- Filter(function(node) !moves(new_value(node, 1L)) && !node$op %in% cheap, nodes)
  fixed <- do.call(c, c(list(list()), lapply(nodes, node_values)))
  function(u) tree_fill(values, replay(unname(values), c(list(root), fixed), c(list(u), fixed), first))
}

# The optimum as an op: u0, the value and the entries of H there, and whether it was found, which `find` gives. Its
# derivatives do not go through the search. The gradient by u is zero at u0, so the value changes by theta alone.
optimum_op <- function(joint, plan, find) {
  list(
    name = "inner optimum",
    call = function(theta, start) find(joint, plan, theta, start),
    jvp = function(primals, results, tangents) {
      if (is.null(tangents$theta)) {
        return(list(u = NULL, value = NULL, hessian = NULL, ok = NULL))
      }
      u <- results$u
      at <- evaluated(function(theta, u) second_order(joint, plan, theta, u), list(primals$theta, u))
      direct <- jvp_graph(at$outputs[1:2], at$roots, list(tangents$theta, NULL))
      h <- new_sparse(results$hessian, plan$pattern)
      column <- reshaped(-or_zero(direct[[2L]], u), c(length(u), 1L))
      moved <- reshaped(sparse_solve(plan$pattern, h@values, factor_of(h), column), u@shape)
      list(
        u = moved, value = or_zero(direct[[1L]], results$value),
        hessian = or_zero(jvp_graph(at$outputs[3L], at$roots, list(tangents$theta, moved))[[1L]], h@values), ok = NULL
      )
    }
  )
}

# The approximation, and what it was found with. Where H is not positive definite, its logarithm is NaN; where the
# density is zero or infinite the value is no number. Neither has been found. `find` is inner_optimum(), or
# known_optimum() where the effects to start with are the optimum.
marginal <- function(joint, plan, theta, start, find) {
  found <- bind_op(optimum_op(joint, plan, find), list(theta = theta, start = start))
  h <- new_sparse(found$hessian, plan$pattern)
  half <- sparse_logdet(plan$pattern, h@values, factor_of(h)) / 2
  value <- found$value + half - length(start) * log(2 * pi) / 2
  list(value = value, u = found$u, ok = found$ok & compared(value - value, half - half, "EQ", "search"))
}

# u, if another step of Newton's would not lead on from there
known_optimum <- function(joint, plan, theta, u) {
  at <- second_order(joint, plan, theta, u)
  factor <- sparse_factor(plan$pattern, at$hessian)
  step <- reshaped(sparse_solve(plan$pattern, at$hessian, factor, reshaped(at$slope, c(length(u), 1L))), u@shape)
  ok <- abs(hlo_sum(at$slope * step)) <= 1e-6 * (1 + abs(at$value))
  list(u = u, value = at$value, hessian = at$hessian, ok = ok)
}

# Newton's method, with a multiple of the identity added to H where that does not lead down (Levenberg and Marquardt).
# Each turn computes f, its gradient and H at a point that the turn before proposed, keeps it if it is a better one, and
# proposes another. Near the optimum a step squares the distance, so the point after a small decrease is the last, which
# is `close` to the optimum. There H is that of the point before: where its diagonal still changes by a thousandth, as
# that of exp(-u), which falls for ever, or of u^4, whose optimum has none, the search goes on, and ends without an
# optimum; or with one, where the optimum is flat and so a small decrease is a long step.
inner_optimum <- function(joint, plan, theta, start) {
  dtype <- start@dtype
  scalar <- function(x) constant(x, dtype, integer(), "number")
  no <- constant(FALSE, "pred", integer(), "flag")
  entries <- length(plan$pattern$i)
  on_diagonal <- diagonal_entries(plan$pattern)
  identity <- constant(replace(numeric(entries), on_diagonal, 1), dtype, entries, "identity")
  all_good <- function(x) hlo_sum(converted(compared(x - x, filled(0, x), "NE", "search"), "i32")) == 0L
  at_point <- second_order_of(joint, plan, theta, start)
  turn <- function(turns, best, trial, value, gradient, hessian, shift, moved, close, done, failed) {
    at <- at_point(trial)
    # A point that is close differs from the best one by what its sums are rounded by.
    slack <- hlo_select(close, scalar(1e-8), scalar(1e-11))
    better <- all_good(at$slope) & (at$value <= value + slack * (1 + abs(at$value)))
    keep <- function(new, old) hlo_select(hlo_broadcast(better, new@shape, integer()), new, old)
    on_diagonal_of <- function(h) abs(taken(h, on_diagonal, 1L))
    before <- on_diagonal_of(hessian)
    best <- keep(trial, best)
    gradient <- keep(at$slope, gradient)
    hessian <- keep(at$hessian, hessian)
    diagonal <- on_diagonal_of(hessian)
    # Nothing is known before the first point.
    settled <- (value == Inf) | !any(abs(diagonal - before) > 1e-3 * before)
    value <- hlo_select(better, at$value, value)
    size <- reduced("reduce_max", diagonal, NULL, "max()")
    lower <- hlo_select(shift > 1e-3 * size, shift / 10, scalar(0))
    higher <- hlo_select(shift > 0, shift * 10, 1e-4 * size + 1e-300)
    # Where there was no step, for H and the multiple have no factor, the point is the one before.
    shift <- hlo_select(better & moved, lower, higher)
    # At the optimum up to rounding
    near <- hlo_sum(gradient * gradient / (diagonal + 1e-300)) <= 1e-20 * (1 + abs(value))
    done <- better & settled & (near | close)
    step <- hlo_cond(done, function() filled(0, best), function() {
      h <- hessian + identity * hlo_broadcast(shift, entries, integer())
      factor <- sparse_factor(plan$pattern, h)
      reshaped(-sparse_solve(plan$pattern, h, factor, reshaped(gradient, c(length(best), 1L))), best@shape)
    })
    decrease <- -hlo_sum(gradient * step)
    usable <- all_good(step)
    close <- usable & (decrease >= 0) & (decrease <= 1e-11) & (shift == 0)
    trial <- hlo_select(hlo_broadcast(usable, best@shape, integer()), best + step, best)
    # The point to begin with has no finite value or gradient, or no multiple of the identity was large enough.
    hopeless <- (compared(value, scalar(Inf), "EQ", "search")) | (shift > 1e15 * (size + 1e-300))
    list(turns + 1L, best, trial, value, gradient, hessian, shift, usable, close, done, hopeless)
  }
  end <- hlo_while(
    cond = function(turns, best, trial, value, gradient, hessian, shift, moved, close, done, failed) {
      (turns < 200L) & !(done | failed)
    },
    body = turn,
    init = list(
      turns = 0L, best = start, trial = start, value = scalar(Inf), gradient = filled(0, start),
      # With a determinant, so that the value is Inf where the search has not begun
      hessian = identity, shift = scalar(0),
      moved = constant(TRUE, "pred", integer(), "flag"), close = no, done = no, failed = no
    )
  )
  list(u = end$best, value = end$value, hessian = end$hessian, ok = end$done)
}
