#' Constraints of parameters
#'
#' What values a parameter may have: `xla_sample(constraints = list(tau = xla_positive()))` draws it among these alone.
#' The sampler itself moves numbers without constraints, from which the parameter is made, and the density has the
#' transform's Jacobian in it: `f` is the density of the parameter as it stands there.
#'
#' @details
#' | | the parameter | made of |
#' |-|-|-|
#' | `xla_positive()`, `xla_lower()` | elements above a bound | `lower + exp(y)` |
#' | `xla_upper()` | elements below a bound | `upper - exp(y)` |
#' | `xla_interval()` | elements between two | `lower + (upper - lower) plogis(y)` |
#' | `xla_ordered()` | increasing numbers | `cumsum(c(y1, exp(y2), ...))` |
#' | `xla_positive_ordered()` | increasing positive numbers | `cumsum(exp(y))` |
#' | `xla_simplex()` | positive numbers with sum 1 | softmax of n numbers with sum 0, made of n - 1 |
#' | `xla_sum_to_zero()` | numbers with sum 0 | an orthogonal basis times n - 1 numbers |
#' | `xla_unit_vector()` | numbers whose squares have sum 1 | `y / sqrt(sum(y^2))` |
#' | `xla_corr_cholesky()` | Cholesky factors of correlation matrices | `tanh(y)` as partial correlations |
#' | `xla_cov_cholesky()` | Cholesky factors of covariance matrices | the logarithm of the diagonal |
#'
#' They are the transforms of Stan's Reference Manual, version 2.37 (chapter "Constraint Transforms"); that of
#' simplexes is the isometric log-ratio transform, which has taken the place of stick-breaking there. Factors are upper
#' triangular, as [chol()] and [hlo_dmvnorm()] have them: the correlation matrix is `crossprod(r)`. Of correlations
#' they are made by the columns' partial correlations (D. Lewandowski, D. Kurowicka, H. Joe, "Generating random
#' correlation matrices based on vines and extended onion method", Journal of Multivariate Analysis 100, 2009);
#' [hlo_dlkj_cholesky()] is a density of them.
#'
#' Bounds are numbers, or arrays of the parameter's shape, whose elements may be infinite where there is no bound. A
#' bound is never reached, but for what is rounded: elements are at least the next number inside.
#'
#' Ordered numbers, simplexes and the others for vectors may have dimensions: then each row of a matrix (each vector
#' along the last axis of an array) is one. Constraints of parts of parts are nested lists, as the parameters are.
#'
#' Where a density is wanted with respect to something else, `f` has the Jacobian to add. Those of the transforms refer
#' to the parameter's elements, but to the first n - 1 of a simplex, to the surface of the sphere for unit vectors (any
#' of their lengths before they were scaled is as good, so that these are normal), and to the elements above the
#' diagonal of a correlation's factor, which the diagonal follows.
#'
#' @param lower,upper Bounds: one number, or one for each element of the parameter.
#' @return An object of class `xlaffi_constraint`.
#' @section Errors:
#' Bounds that are no numbers or not in order are an error, and so are parameters whose shape a constraint is not for,
#' and starting values that do not keep to it (`xlaffi_error_invalid_argument`).
#' @seealso [xla_sample()], [xla_objective()], [hlo_ddirichlet()].
#' @examples
#' # By names of the parameters that they are for
#' list(
#'   sd = xla_positive(), delay = xla_lower(0.5), log_rate = xla_upper(0), power = xla_interval(1, 2),
#'   cuts = xla_ordered(), times = xla_positive_ordered(), shares = xla_simplex(),
#'   effects = xla_sum_to_zero(), direction = xla_unit_vector(), correlation = xla_corr_cholesky(),
#'   covariance = xla_cov_cholesky()
#' )
#' @examplesIf plugins_downloaded()
#' # Three groups' shares, in proportion to counts
#' shares <- xla_sample(
#'   function(par, counts) hlo_ddirichlet(par$p, c(1, 1, 1), log = TRUE) + sum(counts * log(par$p)),
#'   list(p = rep(1, 3) / 3), counts = c(12, 5, 3), constraints = list(p = xla_simplex()),
#'   draws = 500, seed = 1
#' )
#' coef(shares)$p
#' (c(12, 5, 3) + 1) / 23
#' @name xla_constraints
NULL

# `free(shape)` is how many numbers without constraints a parameter of a shape is made of, `check(shape)` NULL or what
# is expected instead of the shape. `constrain(y, shape)` takes a value of rank 1 to list(value, log_jacobian); the
# numbers are in R's order. `unconstrain(x, refuse)` goes the other way for R's numbers; refuse(expected) is the error
# for those that do not keep to the constraint. `by_element`: whether each element is made of one number. `shown(shape)`
# are the places of the elements that tables of estimates have. `idle(shape)`: groups of the numbers without constraints
# whose common length nothing depends on.
new_constraint <- function(text, constrain, unconstrain, free = prod, check = function(shape) NULL,
                           by_element = FALSE, shown = function(shape) seq_len(prod(shape)),
                           idle = function(shape) list()) {
  structure(
    list(
      text = text, constrain = constrain, unconstrain = unconstrain, free = free, check = check,
      by_element = by_element, shown = shown, idle = idle
    ),
    class = "xlaffi_constraint"
  )
}

#' @export
print.xlaffi_constraint <- function(x, ...) {
  check_print_dots(...)
  cat("<constraint: ", x$text, ">\n", sep = "")
  invisible(x)
}

#' @rdname xla_constraints
#' @export
xla_positive <- function() bounded_elements(0, Inf, "positive")

#' @rdname xla_constraints
#' @export
xla_lower <- function(lower) {
  lower <- check_bounds(lower, "lower")
  bounded_elements(lower, Inf, sprintf("larger than %s", bound_text(lower)))
}

#' @rdname xla_constraints
#' @export
xla_upper <- function(upper) {
  upper <- check_bounds(upper, "upper")
  bounded_elements(-Inf, upper, sprintf("less than %s", bound_text(upper)))
}

#' @rdname xla_constraints
#' @export
xla_interval <- function(lower, upper) {
  lower <- check_bounds(lower, "lower")
  upper <- check_bounds(upper, "upper")
  sizes <- unique(setdiff(c(length(lower), length(upper)), 1L))
  if (length(sizes) > 1L) {
    abort(sprintf("`lower` and `upper` must have as many elements, not %d and %d", length(lower), length(upper)),
      operand = "upper"
    )
  }
  if (any(lower >= upper)) {
    at <- which(lower >= upper)[[1L]]
    first <- function(x) format(rep_len(x, max(at, length(x)))[[at]], digits = 7)
    abort(sprintf("`lower` must be less than `upper`, not %s beside %s", first(lower), first(upper)), operand = "lower")
  }
  bounded_elements(lower, upper, sprintf("between %s and %s", bound_text(lower), bound_text(upper)))
}

check_bounds <- function(x, name, call = rlang::caller_env()) {
  check_not_missing(x, name, call)
  if (!is.numeric(x) || is.object(x) || !length(x) || anyNA(x)) {
    abort(sprintf("`%s` must be a number or an array of numbers, not %s", name, describe(x)),
      operand = name, call = call
    )
  }
  if (length(x) > 1L && !is.null(names(x))) {
    abort(sprintf("`%s` must have no names: bounds are those of the elements in their order", name), operand = name,
      hint = "`unname()` takes names away.", call = call
    )
  }
  storage.mode(x) <- "double"
  x
}

bound_text <- function(x) if (length(x) == 1L) format(x, digits = 7) else sprintf("bounds of its own (%d)", length(x))

#' @rdname xla_constraints
#' @export
xla_ordered <- function() {
  new_constraint("increasing", ordered_from(FALSE), function(x, refuse) {
    along_rows_of(x, function(row) {
      if (any(diff(row) <= 0)) refuse("increase")
      c(row[1L], log(diff(row)))[seq_along(row)]
    })
  })
}

#' @rdname xla_constraints
#' @export
xla_positive_ordered <- function() {
  new_constraint("positive and increasing", ordered_from(TRUE), function(x, refuse) {
    along_rows_of(x, function(row) {
      if (any(diff(c(0, row)) <= 0)) refuse("be positive and increase")
      log(diff(c(0, row)))
    })
  })
}

#' @rdname xla_constraints
#' @export
xla_simplex <- function() {
  new_constraint("a simplex: positive with sum 1", simplex_from, function(x, refuse) {
    along_rows_of(x, function(row) {
      if (any(row <= 0) || abs(sum(row) - 1) > 1e-6) refuse("be positive and have the sum 1")
      contrasts_of(log(row) - mean(log(row)))
    })
  }, free_less_one, at_least_one)
}

#' @rdname xla_constraints
#' @export
xla_sum_to_zero <- function() {
  new_constraint("sum 0", function(y, shape) {
    list(value = sum_to_zero_from(y, shape), log_jacobian = constant(0, y@dtype, integer(), "log_jacobian"))
  }, function(x, refuse) {
    along_rows_of(x, function(row) {
      if (abs(sum(row)) > 1e-6 * max(1, abs(row))) refuse("have the sum 0")
      contrasts_of(row)
    })
  }, free_less_one, at_least_one)
}

#' @rdname xla_constraints
#' @export
xla_unit_vector <- function() {
  new_constraint("length 1", unit_vector_from, function(x, refuse) {
    along_rows_of(x, function(row) {
      if (abs(sum(row^2) - 1) > 1e-6) refuse("have squares with the sum 1")
      row
    })
  }, check = function(shape) if (shape[[length(shape)]] < 2L) "two elements or more (one could only be 1 or -1)",
  idle = function(shape) {
    rows <- prod(shape[-length(shape)])
    split(seq_len(prod(shape)), rep(seq_len(rows), shape[[length(shape)]]))
  })
}

#' @rdname xla_constraints
#' @export
xla_corr_cholesky <- function() {
  new_constraint("Cholesky factor of a correlation matrix", corr_cholesky_from, function(x, refuse) {
    if (!is_factor(x) || any(abs(colSums(x^2) - 1) > 1e-6)) {
      refuse("be upper triangular with a positive diagonal and columns of length 1")
    }
    # tanh(y) is what an element is beside the root of the squares from there to the diagonal.
    below <- apply(x^2, 2L, function(column) rev(cumsum(rev(column)))) - x^2
    asinh((x / sqrt(below))[upper.tri(x)])
  }, function(shape) choose(shape[[1L]], 2), square_shape, shown = function(shape) which(upper.tri(diag(shape[[1L]]))))
}

#' @rdname xla_constraints
#' @export
xla_cov_cholesky <- function() {
  new_constraint("Cholesky factor of a covariance matrix", cov_cholesky_from, function(x, refuse) {
    if (!is_factor(x)) refuse("be upper triangular with a positive diagonal")
    diag(x) <- log(diag(x))
    x[upper.tri(x, diag = TRUE)]
  }, function(shape) choose(shape[[1L]] + 1, 2), square_shape, shown = function(shape) {
    which(upper.tri(diag(shape[[1L]]), diag = TRUE))
  })
}

square_shape <- function(shape) {
  if (length(shape) != 2L || shape[[1L]] != shape[[2L]] || !shape[[1L]]) "a square matrix"
}

is_factor <- function(x) all(x[lower.tri(x)] == 0) && all(diag(x) > 0)

at_least_one <- function(shape) if (!shape[[length(shape)]]) "one element or more"

free_less_one <- function(shape) prod(less_one(shape))

less_one <- function(shape) replace(shape, length(shape), shape[[length(shape)]] - 1L)

# What `f` makes of each vector along the last axis, as numbers in R's order
along_rows_of <- function(x, f) {
  last <- r_shape(x)[[length(r_shape(x))]]
  rows <- matrix(x, ncol = last)
  c(do.call(rbind, lapply(seq_len(nrow(rows)), function(i) f(rows[i, ]))))
}
