# Estimates of parameters with constraints, of which the optimiser's vector has numbers without. Standard errors are
# those of the delta method.

# The numbers of the parts with constraints, in a row, for the optimiser's vector `x`, and their Jacobian by it
natural_numbers <- function(self, x) {
  if (is.null(self$natural)) self$natural <- natural_program(self$layout, self$template, self$form)
  self$natural(as.double(x))
}

natural_program <- function(layout, template, form) {
  new_jit(function(theta) {
    numbers <- function(theta) {
      effects <- if (length(layout$effects)) number_like(0, theta, length(layout$effects))
      free <- tree_leaves(parameters(template, whole_parameters(layout, theta, effects)))
      made <- Map(function(constraint, leaf, y) {
        if (!is.null(constraint)) as_column(constraint$constrain(as_column(y), r_shape(leaf))$value)
      }, form$constraints, tree_leaves(form$template), free)
      joined(Filter(Negate(is.null), made))
    }
    forward_slopes(numbers, theta)[c("value", "slope")]
  }, "parameters")
}

# `free` with the numbers in place of the free ones
natural_parameters <- function(self, x, free) natural_leaves(self$form, natural_numbers(self, x)$value, free)

natural_leaves <- function(form, numbers, free) {
  end <- 0L
  leaves <- Map(function(constraint, leaf, free) {
    if (is.null(constraint)) {
      return(free)
    }
    end <<- end + length(leaf)
    replace(leaf, seq_along(leaf), numbers[end - length(leaf) + seq_along(leaf)])
  }, form$constraints, tree_leaves(form$template), tree_leaves(free))
  tree_fill(form$template, unname(leaves))
}

# The coefficients of a fit, a row for each: `name`, `number` (which of natural_numbers(), NA where the coefficient has
# no constraint) and `at`, the element of the optimiser's vector that it depends on, NA where there are several.
coefficient_table <- function(self) {
  form <- self$form
  leaves <- tree_leaves(form$template)
  names <- names(template_vector(form$template))
  if (is.null(names)) names <- sprintf("[%d]", seq_len(sum(lengths(leaves))))
  names <- split_names(names, lengths(leaves))
  count <- 0L
  rows <- lapply(seq_along(leaves), function(k) {
    size <- length(leaves[[k]])
    at <- places_of(self, k)
    number <- rep(NA_integer_, size)
    if (!is.null(form$constraints[[k]])) {
      number <- count + seq_len(size)
      count <<- count + size
    }
    own <- at <= self$size
    if (length(at) == size && is_by_element(form$constraints[[k]])) {
      return(data.frame(name = names[[k]], number = number, at = at)[own, ])
    }
    shown <- if (any(own)) form$constraints[[k]]$shown(r_shape(leaves[[k]])) else integer()
    data.frame(name = names[[k]][shown], number = number[shown], at = rep(NA_integer_, length(shown)))
  })
  table <- do.call(rbind, rows)
  table[is.na(table$at) | !duplicated(table$at), ]
}

# The elements of the optimiser's vector that the parameter `k` is made of
places_of <- function(self, k) {
  sizes <- self$form$sizes
  at <- sum(sizes[seq_len(k - 1L)]) + seq_len(sizes[[k]])
  if (is.null(self$layout$at)) at else self$layout$at[at]
}

is_by_element <- function(constraint) is.null(constraint) || constraint$by_element

# The elements of the optimiser's vector, in groups, whose common length the likelihood does not depend on
idle_groups <- function(fit) {
  self <- self_of(fit)
  form <- self$form
  if (is.null(form)) {
    return(list())
  }
  leaves <- tree_leaves(form$template)
  groups <- lapply(seq_along(leaves), function(k) {
    constraint <- form$constraints[[k]]
    at <- places_of(self, k)
    idle <- if (!is.null(constraint)) lapply(constraint$idle(r_shape(leaves[[k]])), function(group) at[group])
    Filter(function(group) !anyNA(group) && all(group <= self$size), unname(idle))
  })
  unlist(groups, recursive = FALSE)
}

self_of <- function(fit) environment(fit$objective$fn)$self

# Estimates, or the coefficients at another point of the optimiser
estimates_of <- function(fit, x = fit$par) {
  self <- self_of(fit)
  if (is.null(self$form)) {
    return(x)
  }
  table <- coefficient_table(self)
  numbers <- natural_numbers(self, x)$value
  stats::setNames(ifelse(is.na(table$number), unname(x)[table$at], numbers[table$number]), table$name)
}

# The covariance matrix of the coefficients. One that depends on nothing but parameters at a bound has none.
covariance_of <- function(fit) {
  self <- self_of(fit)
  if (is.null(self$form)) {
    return(free_vcov(fit))
  }
  table <- coefficient_table(self)
  found <- natural_numbers(self, fit$par)$slope
  slope <- matrix(0, nrow(table), self$size, dimnames = list(table$name, NULL))
  plain <- is.na(table$number)
  slope[cbind(which(plain), table$at[plain])] <- 1
  slope[!plain, ] <- found[table$number[!plain], ]
  delta_covariance(fit, slope)
}

delta_covariance <- function(fit, slope) {
  covariance <- slope %*% known_variance(fit) %*% t(slope)
  free <- free_parameters(fit)
  lost <- rowSums(slope[, free, drop = FALSE] != 0) == 0 & rowSums(slope != 0) > 0
  covariance[lost, ] <- covariance[, lost] <- NA
  covariance
}

# Standard errors in the form of the parameters, `errors` being those of the free numbers
natural_errors <- function(fit, errors) {
  self <- self_of(fit)
  covariance <- delta_covariance(fit, natural_numbers(self, fit$par)$slope)
  natural_leaves(self$form, sqrt(diag(covariance)), errors)
}

# For each coefficient the element of the optimiser's vector that it is made of alone, or NA
coefficient_places <- function(fit) {
  self <- self_of(fit)
  if (is.null(self$form)) seq_along(fit$par) else coefficient_table(self)$at
}

# The coefficient `chosen` where the element that it is made of is `value`
coefficient_at <- function(fit, chosen, value) {
  at <- coefficient_places(fit)[[chosen]]
  vapply(value, function(value) unname(estimates_of(fit, replace(fit$par, at, value))[[chosen]]), 0)
}
