# First and second derivatives of many functions in few programs, compared with differences.
#
# A case is a list of `name`, `f`, `at` and more. Either `f` works element by element on vectors: `at` has one vector
# for each argument that derivatives are taken in, `held` those of further arguments, and an element is a point. Or
# `whole` is TRUE: `f` gives a number for a vector, and each row of the matrix `at[[1]]` is a point.

difference_steps <- c(-2, -1, 1, 2)

# The derivative by differences of fourth order, from values at `difference_steps`
fourth_order <- function(moved) (8 * (moved[[3L]] - moved[[2L]]) - (moved[[4L]] - moved[[1L]])) / 12

case_points <- function(case) if (isTRUE(case$whole)) case$at[[1L]] else do.call(cbind, case$at)

# What is 1 for a number near 0, and its size elsewhere; near the other end of the support what is left of the way.
case_units <- function(case, x) {
  units <- ifelse(x == 0, 1, abs(x))
  for (name in case$unit_interval) {
    units[, name] <- pmin(units[, name], 1 - x[, name])
  }
  units
}

step_size <- 3e-5

# How far from an end, in units of its argument
end_distances <- c(0, 1e-6, 1e-9)

# The rows of a program: each of `k` points with each of `n` directions, then as many for each step from there; then
# each end of the support, and points next to it, with each direction.
derivative_plan <- function(case) {
  points <- case_points(case)
  k <- nrow(points)
  n <- ncol(points)
  rows <- rep(seq_len(k), n)
  x <- points[rows, , drop = FALSE]
  units <- case_units(case, points)
  t <- outer(rep(seq_len(n), each = k), seq_len(n), `==`) * 1
  moved <- lapply(difference_steps, function(by) x + by * step_size * t * units[rows, , drop = FALSE])
  ends <- end_rows(case, n)
  list(
    k = k, n = n, units = units, ends = ends$count,
    x = rbind(do.call(rbind, c(list(x), moved)), ends$x), t = rbind(t, matrix(0, 4 * k * n, n), ends$t),
    held = lapply(stats::setNames(nm = names(case$held)), function(name) {
      c(rep(case$held[[name]], length.out = 5 * k * n), ends$held[[name]])
    })
  )
}

end_rows <- function(case, n) {
  ends <- do.call(rbind, lapply(case$ends, function(end) {
    rows <- as.data.frame(end[names(end) != "inward"])
    rows$.of <- names(end$inward)
    rows$.way <- end$inward
    rows
  }))
  if (is.null(ends)) {
    return(list(count = 0L))
  }
  count <- nrow(ends)
  near <- do.call(rbind, lapply(end_distances, function(distance) {
    x <- as.matrix(ends[names(case$at)])
    at <- cbind(seq_len(count), match(ends$.of, colnames(x)))
    x[at] <- x[at] + distance * ends$.way
    x
  }))
  held <- lapply(ends[names(case$held)], rep, length.out = n * nrow(near))
  list(
    count = count, held = held, x = near[rep(seq_len(nrow(near)), n), , drop = FALSE],
    t = outer(rep(seq_len(n), each = nrow(near)), seq_len(n), `==`) * 1
  )
}

# The rows of a plan as arguments of a program: all, or only the points
plan_data <- function(case, plan, all = TRUE) {
  rows <- seq_len(if (all) nrow(plan$x) else plan$k * plan$n)
  parts <- function(m) {
    m <- unname(m[rows, , drop = FALSE])
    if (isTRUE(case$whole)) list(m) else lapply(seq_len(ncol(m)), function(j) m[, j])
  }
  list(x = parts(plan$x), t = parts(plan$t), held = lapply(plan$held, `[`, rows))
}

# `f` of lists: of what derivatives are taken in, and of what is held
of_lists <- function(case) {
  names <- if (!isTRUE(case$whole)) names(case$at)
  function(x, held) do.call(case$f, c(stats::setNames(x, names), held))
}

# function(x, held): value and gradient, of each element or of the vector
value_and_gradient <- function(case) {
  f <- of_lists(case)
  function(x, held) {
    one <- hlo_constant(1, "f64", if (isTRUE(case$whole)) integer() else shape(x[[1L]]))
    result <- xla_vjp(function(...) f(list(...), held))(x, one)
    list(value = result$value, gradient = unname(result$gradients))
  }
}

# `along`: how the gradient changes along `t`.
forward_over_reverse <- function(case) {
  gradient <- value_and_gradient(case)
  function(x, t, held) {
    both <- xla_jvp(function(...) gradient(list(...), held))(x, t)
    c(both$value, list(along = both$tangent$gradient))
  }
}

as_list <- function(x) if (is.list(x)) x else list(x)

# A function of a vector is batched over the points.
each_point <- function(case, f) if (isTRUE(case$whole)) xla_vmap(f) else f

along_gradient <- function(gradients, t) Reduce(`+`, Map(function(g, t) sum(g * t), gradients, t))

# For each point and direction, how the gradient changes, in all modes
second_modes <- list(
  forward = function(case, x, t, held) {
    each_point(case, function(x, t, held) unname(forward_over_reverse(case)(x, t, held)$along))(x, t, held)
  },
  reverse = function(case, x, t, held) {
    each_point(case, function(x, t, held) {
      along <- function(...) along_gradient(value_and_gradient(case)(list(...), held)$gradient, t)
      as_list(do.call(xla_grad(along, seq_along(x)), x))
    })(x, t, held)
  },
  batch = function(case, x, t, held) {
    xla_vmap(function(x, t, held) unname(forward_over_reverse(case)(x, t, held)$along))(x, t, held)
  },
  loop = function(case, x, t, held) {
    f <- of_lists(case)
    total <- function(...) {
      hlo_scan(function(sum, at) list(sum + f(at$x, at$held), NULL), 0, list(x = list(...), held = held))$carry
    }
    gradient <- xla_grad(total, seq_along(x))
    along <- function(...) along_gradient(as_list(gradient(...)), t)
    as_list(do.call(xla_grad(along, seq_along(x)), x))
  }
)

# What one program gives for all cases. Those with `first` have no second derivatives.
derivatives_together <- function(cases) {
  plans <- lapply(cases, derivative_plan)
  found <- xla_jit(function(data) {
    Map(function(case, d) {
      if (isTRUE(case$first)) {
        each_point(case, value_and_gradient(case))(d$x, d$held)
      } else {
        each_point(case, forward_over_reverse(case))(d$x, d$t, d$held)
      }
    }, cases, data)
  })(Map(plan_data, cases, plans))
  Map(arranged_derivatives, plans, found)
}

# By point, direction and, of what has steps, step
arranged_derivatives <- function(plan, found) {
  k <- plan$k
  n <- plan$n
  inside <- seq_len(5L * k * n)
  columns <- function(x) matrix(unlist(lapply(x, as.vector)), nrow(plan$x))
  value <- array(as.vector(found$value)[inside], c(k, n, 5L))
  gradient <- array(columns(found$gradient)[inside, ], c(k, n, 5L, n))
  steps <- as.vector(plan$units) * step_size
  along <- if (!is.null(found$along)) columns(found$along)
  list(
    value = value[, 1L, 1L], gradient = matrix(gradient[, 1L, 1L, ], k, n), units = plan$units,
    hessian = if (!is.null(along)) array(along[seq_len(k * n), ], c(k, n, n)),
    slopes = fourth_order(lapply(2:5, function(s) matrix(value[, , s], k, n))) / steps,
    bends = fourth_order(lapply(2:5, function(s) array(gradient[, , s, ], c(k, n, n)))) / steps,
    end_values = as.vector(found$value)[-inside][seq_len(plan$ends)],
    # By end, distance, direction and derivative: the gradient and how it changes
    ends = array(
      cbind(columns(found$gradient), along)[-inside, ],
      c(plan$ends, length(end_distances), n, n * (1L + !is.null(along)))
    )
  )
}
