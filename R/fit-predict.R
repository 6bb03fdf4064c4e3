# Predictions with standard errors by the delta method. With V the variance of the parameters' estimates, u0(theta) the
# optimum of the random effects and H the Hessian by them there, the variance of a quantity g(theta, u) is
#
#   g_u' inv(H) g_u + j' V j,    j = g_theta + u0_theta' g_u,    u0_theta = -inv(H) f_u_theta.

#' @rdname xla_fit
#' @importFrom stats predict
#' @export
predict.xlaffi_fit <- function(object, g = NULL, ..., se.fit = FALSE) { # nolint: object_name_linter.
  check_flag(se.fit, "se.fit")
  if (is.null(g)) {
    if (...length()) abort("data in `...` are arguments of `g`, which there is none of", operand = "...")
    fit <- object$objective$relist(par_of(object$par, object$objective))
    return(if (se.fit) list(fit = fit, se.fit = template_errors(object)) else fit)
  }
  check_function(g, "g")
  data <- tree_map(list(...), program_data)
  check_takes(g, c(first_argument(g, NULL), data), "predict", "g", environment())
  found <- derived_numbers(object, g, data, se.fit)
  if (se.fit) found else found$fit
}

# What the random effects are predicted with: theta, u0 and the data on the device
point_of_fit <- function(fit) {
  self <- environment(fit$objective$fn)$self
  x <- unname(fit$par)
  upload_data(self)
  list(self = self, x = x, u = if (length(self$layout$effects)) effects_here(self, par_of(x, fit$objective), NULL))
}

# The variance that parameters without one are taken to have: those at a bound are fixed.
known_variance <- function(fit) {
  v <- unname(free_vcov(fit))
  bound <- !free_parameters(fit)
  v[bound, ] <- v[, bound] <- 0
  v
}

# The Hessian by the random effects with its factor, and the derivative of their optimum, q x p
effects_at <- function(self, theta, u, data) {
  joint <- joint_of(self)(data)
  hessian <- planned_hessian(self$plan, slope_by_effects(joint, theta), u)
  factor <- factor_of(hessian)
  solve <- function(b) sparse_solve(self$plan$pattern, hessian@values, factor, b)
  cross <- forward_slopes(function(theta) slope_by_effects(joint, theta)(u), theta)$slope
  list(hessian = hessian, factor = factor, solve = solve, slope = solve(-cross))
}

# The diagonal of J V J', J of m rows
variances <- function(j, v) hlo_sum((j %*% v) * j, 2)

# Standard errors of all parameters, in their form
template_errors <- function(fit) {
  at <- point_of_fit(fit)
  self <- at$self
  v <- known_variance(fit)
  own <- sqrt(diag(free_vcov(fit)))
  effects <- if (length(at$u)) {
    compiled <- kept_program(fit, "effects", new_jit(function(theta, u, v, data) {
      e <- effects_at(self, theta, u, data)
      pattern <- self$plan$pattern
      inverse <- sparse_inverse(pattern, e$hessian@values, e$factor)
      taken(inverse, diagonal_entries(pattern), 1L) + variances(e$slope, v)
    }, "standard errors", uses = list(self$f)))
    sqrt(as.vector(as_array(compiled(at$x, at$u, v, self$buffers))))
  }
  fixed <- numeric(length(self$layout$fixed))
  whole <- c(own, effects, fixed)
  errors <- from_vector(self$template, if (is.null(self$layout$at)) whole else whole[self$layout$at])
  if (is.null(self$form)) errors else natural_errors(fit, errors)
}

# A program of the fit: `made`, or the one that was made before `of` the same, such as a function of the user's. Whether
# what that reads has changed is the program's to look at.
kept_program <- function(fit, of, made) {
  programs <- fit$kept$programs
  for (program in programs) {
    if (identical(program$of, of)) {
      return(program$compiled)
    }
  }
  fit$kept$programs <- c(utils::tail(programs, most_programs - 1L), list(list(of = of, compiled = made)))
  made
}

most_programs <- 8L

# What `g` gives, and its standard errors
derived_numbers <- function(fit, g, data, errors) {
  at <- point_of_fit(fit)
  self <- at$self
  compiled <- kept_program(fit, list(g, errors), new_jit(function(theta, u, v, data, extra) {
    derived <- derived_values(self, g, theta, u, extra)
    if (!errors) {
      return(list(fit = derived$result))
    }
    variance <- if (is.null(u)) {
      variances(slopes_of(derived$vector, theta, derived$count), v)
    } else {
      derived_variance(derived, effects_at(self, theta, u, data), theta, u, v)
    }
    list(fit = derived$result, se.fit = split_column(derived$result, sqrt(variance)))
  }, "prediction", uses = list(self$f, g)))
  v <- if (errors) known_variance(fit)
  if (errors) {
    data <- tree_map(data, function(leaf) {
      if (inherits(leaf, "xlaffi_buffer")) copy_buffer(leaf, self$device) else leaf
    })
  }
  found <- tree_map(compiled(at$x, at$u, v, if (errors) self$buffers, data), function(leaf) {
    x <- if (inherits(leaf, "xlaffi_buffer")) as_array(leaf) else leaf
    if (length(dim(x)) < 2L) as.vector(x) else x
  })
  if (errors) {
    # What is no number has no error.
    without <- function(error, fit) replace(error, is.nan(fit), NaN)
    found$se.fit <- tree_fill(found$se.fit, Map(without, tree_leaves(found$se.fit), tree_leaves(found$fit)))
  }
  found
}

# The result of `g`, and its numbers as a vector that is a function of theta and u
derived_values <- function(self, g, theta, u, extra) {
  of <- function(theta, u) {
    all <- whole_parameters(self$layout, theta, u)
    call_given(g, c(first_argument(g, formed_parameters(self$template, self$form, all)), extra), "predict", "g")
  }
  column <- function(tree) joined(lapply(tree_leaves(tree), as_column))
  values <- function(theta, u) tree_map(of(theta, u), as_value, "g", call = NULL)
  result <- values(theta, u)
  for (leaf in tree_leaves(result)) {
    if (!is_float(leaf@dtype)) {
      abort(sprintf("predict: `g` must return real numbers, not %s", type_text(leaf)), operand = "g", call = NULL)
    }
  }
  if (!length(tree_leaves(result))) abort("predict: `g` must return numbers, not NULL", operand = "g", call = NULL)
  list(result = result, vector = function(theta, u = NULL) column(values(theta, u)), count = length(column(result)))
}

# The parts of a vector in the shapes of the leaves of a tree
split_column <- function(tree, x) {
  end <- 0L
  tree_map(tree, function(leaf) {
    start <- end
    end <<- end + length(leaf)
    from_column(sliced(x, start + 1L, end), leaf@shape)
  })
}

slopes_of <- function(f, theta, count) {
  if (count < length(theta)) reverse_slopes(f, theta, count)$slope else forward_slopes(f, theta)$slope
}

# For given effects at the optimum
derived_variance <- function(derived, effects, theta, u, v) {
  pushed <- xla_jvp(derived$vector)
  along <- xla_vmap(function(direction, change) pushed(list(theta, u), list(direction, change))$tangent,
    in_axes = list(1, 2), out_axes = 2
  )
  slope <- along(unit_rows(length(theta), theta@dtype), effects$slope)
  variances(slope, v) + conditional_variance(derived, effects$solve, theta, u)
}

# g_u' inv(H) g_u of each number, by blocks of numbers that have few enough derivatives by the effects
conditional_variance <- function(derived, solve, theta, u) {
  pulled <- xla_vjp(function(u) derived$vector(theta, u))
  count <- derived$count
  size <- as.integer(max(1, min(count, 4e6 %/% length(u))))
  block <- function(start) {
    shape <- c(size, count)
    rows <- hlo_iota("i32", shape, 1) + hlo_broadcast(start, shape, integer())
    weights <- converted(rows == hlo_iota("i32", shape, 2), u@dtype)
    slopes <- xla_vmap(function(weights) pulled(u, weights)$gradients)(weights)
    hlo_sum(slopes * t(solve(t(slopes))), 2)
  }
  blocks <- (count + size - 1L) %/% size
  if (blocks == 1L) {
    return(block(constant(0L, "i32", integer(), "start")))
  }
  all <- hlo_scan(function(start, x) list(start + size, block(start)), 0L, length = blocks)[[2L]]
  sliced(reshaped(all, blocks * size), 1L, count)
}
