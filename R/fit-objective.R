#' Functions for optimisers
#'
#' `xla_objective(f, par)` compiles `f` and its derivatives and gives them as plain R functions of one numeric vector,
#' as [stats::optim()], [stats::nlminb()], [stats::nlm()] and solvers of systems of equations want them.
#'
#' @details
#' The optimiser sees one vector, `f` the parameters in the form of `par`, the template: a numeric vector, a matrix or
#' an array, or a list of them. The vector is what `unlist(par)` gives, with its names: so are those of gradients,
#' Hessians and Jacobians. A vector whose names are not those of the template is refused. All parameters are
#' doubles. As in [xla_jit()], values have no names inside `f`: use a list to name parts.
#'
#' The value and the gradient come from one program, and the last point is kept: `gr(x)` after `fn(x)` computes
#' nothing. What `f` reads besides its arguments counts as in [xla_jit()]: after such a variable was given another
#' value, the program is another one, and what was kept is forgotten.
#'
#' Gradients are those of reverse mode. Where that does not go, as through [hlo_while()], forward mode is used, which
#' costs about one evaluation per parameter. An `f` that has no derivatives at all has `fn`, for methods that
#' need no more; `gr` then says what is missing.
#'
#' If `f` gives one number, that is what `fn` gives. If it is NaN or infinite, `fn` gives that, as a function in R
#' would; optimisers have rules of their own for it. Where the value is NaN, so are its derivatives. A derivative that
#' is not finite at a point where the value is finite is an error that names the parameter: `optim()` would take it for
#' the end of the search.
#'
#' If `f` gives several numbers, `fn` gives a vector (in R's order), and `jac` its Jacobian, a row for each number, a
#' column for each parameter; `gr` and `he` are errors. `fn` alone does not compute the Jacobian.
#'
#' `update(objective, y = new)` gives an objective with other data under the names that `f` gives them, and leaves the
#' old one as it is. Where dtypes, shapes and names of elements are those of before, nothing is traced or compiled;
#' others make another program.
#'
#' What `f` computes of the data alone, such as the logarithms of counts in their density, is computed once for these
#' data, by a program of its own, where that saves some 0.1 ms a call; up to 2^24 such numbers are kept on the device.
#'
#' Random effects: `random` names parts of `par`, a list, over which `exp(-f)` is integrated (`exp(f)` with `negate`):
#' the functions are those of minus the logarithm of the integral, in Laplace's approximation, of the other parameters.
#' For given ones the integrand's maximum is found by Newton's method within the program, which begins where it ended
#' for the point before; the matrix of second derivatives by the random effects there is sparse, and where it has
#' entries is found out from `f`'s operations and from the data that are positions. Gradient and Hessian are exact
#' derivatives of the approximation (H. J. Skaug, D. A. Fournier, "Automatic approximation of the marginal likelihood in
#' non-Gaussian hierarchical models", Computational Statistics & Data Analysis 51, 2006). `$random(x)` gives the random
#' effects at the maximum for the point x, `$relist(x)` all parameters in their form. `f` must contain the density of
#' the random effects; each of them must matter, or an error names those that do not. Where no maximum is found, or the
#' density there is 0 or infinite, the value is NaN, with a warning. `random` is for one device of the CPU and for
#' `dtype = "f64"`.
#'
#' Where matrices are nearly singular derivatives lose digits to rounding, many where an inverse is computed, as with
#' `hlo_dmvnorm(u, precision = solve(sigma))`. `he` warns where second derivatives are not symmetric because of that.
#' `hlo_dmvnorm(u, sigma = sigma)` keeps more of them, and effects written as `t(chol(sigma)) %*% z`, with `z` standard
#' normal, keep most.
#'
#' Constraints: `constraints = list(sd = xla_positive())` keeps a part of `par` to what it may be. The optimiser's
#' vector then has the numbers without constraints that the part is made of, one less for a simplex, for example; `f`
#' and `$relist()` have the part itself. The Jacobian is left out, as for maxima of likelihoods it has to be; `map` and
#' bounds of optimisers refer to the numbers without constraints. Random effects have none.
#'
#' If `f` is minus the logarithm of a likelihood, [xla_fit()] looks for its maximum and gives standard errors,
#' intervals, predictions and residuals.
#'
#' An objective can be saved and sent to other processes. There it compiles anew and uploads its data again, unless they
#' are buffers, which stay behind: an error says so.
#'
#' @param f A function of [values][xlaffi_value]: of the parameters and then of the data. It gives one real number, or
#'   for systems of equations a vector or an array.
#' @param par A template of the parameters: numbers, or a (named, nested) list of them. It is also where `$par` starts.
#' @param ... Data: more arguments of `f`, which are uploaded once. R data, buffers, and lists of them.
#'   For `update()` those that change, by name.
#' @param object What `xla_objective()` returns.
#' @param random The names of the parts of `par` that are random effects.
#' @param map What is fixed or shared: a list with a factor for a part of `par` by its name, as long as the part (or
#'   with a vector of the levels of its elements, where the part has several). Elements of one level are one parameter,
#'   which starts where the first of them does; elements with NA, or all of them where NA stands for the factor, stay
#'   what `par` has. For a part of parts it may be a list of such, by name; for a vector with names a factor with those
#'   of some elements. What is not named is left as it is.
#' @param constraints What parameters may be, a list of [constraints][xla_constraints] by names of parts of `par`.
#' @param negate Whether the functions are those of `-f`: optimisers minimise.
#' @param dtype The element type of the parameters, `"f64"` or `"f32"`. R's doubles among the data are uploaded in it;
#'   buffers keep theirs, and R's integers are `i32`: with `"f32"` give counts as doubles.
#' @return A list of class `xlaffi_objective`:
#' * `par`: the template as one vector of doubles, with names.
#' * `fn`, `gr`, `he`: functions of such a vector that give the value, the gradient and the matrix of second
#'   derivatives; `jac` the Jacobian.
#' * `fn_gr`, `fn_gr_he`: the value with the attribute `gradient` and, the second, `hessian`, for [stats::nlm()].
#' * `relist`: the vector in the form of the template; `unlist` the other way round.
#' * `evaluations`: a function without arguments that tells how often the value, first and second derivatives were
#'   computed.
#' * `random`, with random effects: the vector of these at their optimum for the given parameters.
#' @seealso [xla_fit()], [xla_grad()], [xla_hessian()].
#' @examplesIf plugins_downloaded()
#' rosenbrock <- xla_objective(function(x) (1 - x[1])^2 + 100 * (x[2] - x[1]^2)^2, c(-1.2, 1))
#' optim(rosenbrock$par, rosenbrock$fn, rosenbrock$gr, method = "BFGS")$par
#' nlminb(rosenbrock$par, rosenbrock$fn, rosenbrock$gr, rosenbrock$he)$par
#' nlm(rosenbrock$fn_gr, rosenbrock$par)$estimate
#'
#' # Logistic regression with data, and standard errors
#' x <- cbind(1, mtcars$wt)
#' logistic <- xla_objective(
#'   function(beta, x, y) {
#'     eta <- x %*% beta
#'     sum(y * eta - log(1 + exp(eta)))
#'   },
#'   par = c(intercept = 0, weight = 0), x = x, y = mtcars$am, negate = TRUE
#' )
#' fit <- nlminb(logistic$par, logistic$fn, logistic$gr, logistic$he)
#' cbind(estimate = fit$par, error = sqrt(diag(solve(logistic$he(fit$par)))))
#'
#' # The same model of other data
#' other <- update(logistic, y = mtcars$vs)
#' nlminb(other$par, other$fn, other$gr, other$he)$par
#' @export
xla_objective <- function(f, par, ..., random = NULL, map = NULL, constraints = NULL, negate = FALSE,
                          dtype = "f64") {
  check_whole_names("xla_objective")
  check_function(f)
  check_template(par)
  check_flag(negate, "negate")
  dtype <- check_choice(dtype, "dtype", c("f64", "f32"))
  data <- tree_map(list(...), program_data)
  check_takes(f, c(first_argument(f, NULL), data), "xla_objective", "f", environment())
  template <- tree_map(par, function(leaf) {
    storage.mode(leaf) <- "double"
    leaf
  })
  form <- constrained_form(constraints, template, random, environment())
  if (!is.null(form)) template <- form$free
  layout <- new_layout(template, random, map, environment())
  if (length(layout$effects)) check_laplace(data, dtype, environment())
  objective_of(new_points(f, template, layout, data, negate, dtype, form, environment()))
}

# The functions of an objective. Its points are a variable of theirs.
objective_of <- function(self) {
  gradient <- function(par) {
    slope <- .Call(wrap__point_again, self, par, TRUE, search_state$places)
    if (is.null(slope)) point_gradient(self, par) else slope
  }
  fn <- function(par) {
    value <- .Call(wrap__point_again, self, par, FALSE, search_state$places)
    if (is.null(value)) point_value(self, par) else value
  }
  he <- function(par) point_hessian(self, par)
  objective <- list(
    par = self$layout$start,
    fn = fn,
    gr = gradient,
    he = he,
    jac = function(par) point_slope(self, par),
    fn_gr = function(par) structure(fn(par), gradient = gradient(par)),
    fn_gr_he = function(par) structure(fn(par), gradient = gradient(par), hessian = he(par)),
    relist = function(x) point_parameters(self, x),
    unlist = function(x) own_vector(self, x, "x", environment()),
    evaluations = function() evaluations(self)
  )
  if (length(self$layout$effects)) objective$random <- function(par) point_effects(self, par)
  structure(objective, class = "xlaffi_objective")
}

# The optimiser's vector of parameters in their form, an argument `name`
own_vector <- function(self, x, name, call) {
  check_template(x, name, call)
  x <- in_form_of(x, if (is.null(self$form)) self$template else self$form$template, function(text) {
    abort(sprintf("`%s` must have the form of the template%s", name, text), operand = name, call = call)
  })
  own_parameters(self$layout, if (is.null(self$form)) template_vector(x) else self$form$unconstrain(x, call, name))
}

#' @rdname xla_objective
#' @importFrom stats update
#' @export
update.xlaffi_objective <- function(object, ...) {
  self <- environment(object$fn)$self
  call <- environment()
  objective_of(updated_points(self, replaced_data(self, tree_map(list(...), program_data), call), call))
}

# The names of the data, which `f` gives to those without
data_names <- function(self) parameter_names(self$f, c(list(self$template), self$data))[-1L]

# The data with those in `new` in place of what goes by their names
replaced_data <- function(self, new, call) {
  names <- data_names(self)
  unknown <- setdiff(names2(new), names[nzchar(names)])
  if (length(unknown)) {
    what <- if (nzchar(unknown[[1L]])) sprintf("there are no data `%s`", unknown[[1L]]) else "data need a name"
    hint <- if (any(nzchar(names))) sprintf("The data are: %s.", toString(names[nzchar(names)]))
    abort(paste("update:", what), op = "update", operand = "...", hint = hint, call = call)
  }
  # Errors name what is given here.
  argument_types(new, call)
  data <- self$data
  data[match(names2(new), names)] <- new
  data
}

#' @export
print.xlaffi_objective <- function(x, ...) {
  check_print_dots(...)
  names <- names(x$par)
  count <- length(x$par)
  shown <- if (!is.null(names)) toString(names, width = 60)
  effects <- length(environment(x$fn)$self$layout$effects)
  cat(sprintf("<objective of %d parameter%s%s>\n", count, if (count == 1L) "" else "s",
    if (is.null(shown)) "" else paste0(": ", shown)
  ))
  if (effects) {
    plural <- if (effects > 1L) "s" else ""
    cat(sprintf("%d random effect%s integrated by Laplace's approximation\n", effects, plural))
  }
  counts <- x$evaluations()
  cat("computed so far:", toString(sprintf("%s %d", names(counts), counts)), "\n")
  invisible(x)
}

check_template <- function(par, name = "par", call = rlang::caller_env()) {
  check_tree_names(par, call)
  leaves <- tree_leaves(par)
  for (leaf in leaves) {
    if (!is.numeric(leaf) || is.object(leaf)) {
      hint <- if (inherits(leaf, "xlaffi_buffer")) "`as_array()` brings a buffer back to R."
      abort(sprintf("`%s` must be numbers, or a list of them, not %s", name, describe(leaf)),
        operand = name, hint = hint, call = call
      )
    }
  }
  if (!sum(lengths(leaves))) {
    abort(sprintf("`%s` has no parameters", name), operand = name, call = call)
  }
}

# `x` with its parts in the template's order. `refuse` is told what does not fit.
in_form_of <- function(x, template, refuse) {
  x <- in_order_of(x, template, function(text) refuse(paste0(": ", text)))
  alike <- identical(lapply(tree_leaves(x), r_shape), lapply(tree_leaves(template), r_shape))
  if (!alike || !same_branches(x, template)) refuse("")
  if (is_branch(template) && !identical(names(x), names(template))) refuse(": parts need their names")
  check_element_names(x, template, refuse)
  x
}

same_branches <- function(x, template) {
  if (!is_branch(x) || !is_branch(template)) {
    return(is_branch(x) == is_branch(template))
  }
  length(x) == length(template) && all(as.logical(Map(same_branches, x, template)))
}

# Elements with names are where the template has them.
check_element_names <- function(x, template, refuse) {
  Map(function(x, like) {
    if (!is.null(names(x)) && !is.null(names(like)) && !identical(names(x), names(like))) {
      refuse(sprintf(": elements named %s, not %s", toString(names(like)), toString(names(x))))
    }
  }, tree_leaves(x), tree_leaves(template))
}

# The template's numbers in a row, as optimisers see them.
template_vector <- function(template) {
  x <- unlist(template)
  stats::setNames(as.double(x), if (is.null(dim(x))) names(x))
}

from_vector <- function(template, x) {
  end <- 0L
  tree_map(template, function(leaf) {
    start <- end
    end <<- end + length(leaf)
    leaf[] <- x[start + seq_along(leaf)]
    leaf
  })
}
