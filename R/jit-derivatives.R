#' Derivatives
#'
#' `xla_jvp()` and `xla_vjp()` make functions that give a function's value and its derivative, in
#' forward and in reverse mode; `xla_grad()` the gradient of a function with one real number as
#' result, `xla_hessian()` its second derivatives. They work on R functions of
#' [values][xlaffi_value], on ops ([ffi_op()], [ffi_call()]) and on one another's results.
#'
#' @details
#' Forward mode, `xla_jvp()`: how the result changes when the arguments change by `tangents`. Costs
#' about as much as the function, once per direction. Reverse mode, `xla_vjp()`: the sum of all results,
#' weighted by `cotangents`, has the `gradients` that come back. Costs a few times the
#' function, however many arguments there are. It goes through [hlo_while()] only where `max_iter` bounds that; through
#' [hlo_scan()], [hlo_fori()] and [hlo_cond()] as they are.
#'
#' Both are exact: each builder function has a rule, and each op its own (a rule for one mode serves for both, see
#' [ffi_op()]); a custom call without one is an
#' error of code UNIMPLEMENTED that names it. What only the value needs is computed once, and what
#' nobody needs is not in the program ([xla_program()] shows it).
#'
#' Conventions are JAX's. Logicals and integers have no derivatives: their tangents and gradients are
#' NULL. Complex numbers: `jvp` is the derivative along `tangents`, `vjp` transposes it without
#' conjugation, so the gradient of a real function of z = x + iy is df/dx - i df/dy. Where a
#' function has a kink: `abs(0)` has slope 0, equal arguments of `hlo_max()` count half each, and the
#' slope of `max()` and `min()` is shared by the elements that equal the result: by all of them where
#' they are arguments or parts of these, by the first and the last one where they are computed. Where
#' a number on the way is infinite, a derivative may be NaN, as 0 times infinity is: that of
#' `exp(-(x / 0)^2)` is.
#'
#' @param f The function. All its arguments are data; it returns a value or a (named) list of values.
#' @param wrt The arguments that the gradient is about, by number or name.
#' @param value Whether the function's value comes along.
#' @param sparse Whether the Hessian is a sparse matrix. Positions that are not known while the program is written, and
#'   custom calls, are taken to mix all elements: the matrix then has more entries than are not zero.
#' @return All are functions as [xla_jit()] returns them:
#' * `xla_jvp(f)`: a function of `primals`, the list of f's arguments (named or in order; without
#'   the list where there is one argument), and `tangents`, a list like it, with NULL for what does
#'   not change. It returns `list(value = , tangent = )`, both as f's result.
#' * `xla_vjp(f)`: a function of `primals` and of `cotangents`, which are as f's result (NULL for
#'   what does not count). It returns `list(value = , gradients = )`, `gradients` as `primals`.
#' * `xla_grad(f)`: a function of f's arguments that returns the gradient as the argument is
#'   shaped, a list for several `wrt`, and with `value = TRUE` `list(value = , gradient = )`.
#' * `xla_hessian(f)`: a function of f's arguments that returns the n x n matrix of second
#'   derivatives by the first of them, which has n elements (by rows, where it has axes). With `sparse = TRUE` a
#'   symmetric [sparse matrix][hlo_sparse], in R's order of elements: where it has entries is found out from the
#'   function's operations, which tell which elements of the gradient depend on which elements of the argument, and few
#'   products with the Hessian tell all entries. [xla_program()] names operations that do not tell.
#' @examplesIf plugins_downloaded()
#' f <- function(x, y) sin(x) * y
#' xla_jvp(f)(primals = list(1, 2), tangents = list(1, NULL))
#' xla_vjp(f)(primals = list(1, 2), cotangents = 1)
#'
#' rosenbrock <- function(x) (1 - x[1])^2 + 100 * (x[2] - x[1]^2)^2
#' gradient <- xla_grad(rosenbrock)
#' gradient(c(-1.2, 1))
#' stats::optim(c(-1.2, 1), xla_jit(rosenbrock), gradient, method = "BFGS")$par
#' xla_hessian(rosenbrock)(c(1, 1))
#'
#' # A Hessian times a vector
#' xla_jvp(gradient)(c(1, 1), c(0, 1))$tangent
#' @name xla_jvp
NULL

#' @rdname xla_jvp
#' @export
xla_jvp <- function(f) {
  check_function(f)
  new_jit(function(primals, tangents) {
    call <- environment()
    given <- check_tangents(tangents, with_names_of(f, primals, tangents), "tangents", "primals", call)
    at <- evaluated(f, primals)
    changes <- jvp_graph(at$outputs, at$roots, given)
    list(value = at$value, tangent = tree_fill(at$value, or_zeros(changes, at$outputs)))
  }, "jvp")
}

# `primals` with the names that `f` gives its arguments, where tangents go by these
with_names_of <- function(f, primals, tangents) {
  if (is_branch(primals) && is_branch(tangents) && is_named(tangents) && !is_named(primals)) {
    names(primals) <- parameter_names(written_function(f), primals)
  }
  primals
}

#' @rdname xla_jvp
#' @export
xla_vjp <- function(f) {
  check_function(f)
  new_jit(function(primals, cotangents) {
    call <- environment()
    at <- evaluated(f, primals)
    given <- check_tangents(cotangents, at$value, "cotangents", "the result", call)
    list(value = at$value, gradients = tree_fill(primals, gradients_of(at, given)))
  }, "vjp")
}

#' @rdname xla_jvp
#' @export
xla_grad <- function(f, wrt = 1, value = FALSE) {
  check_function(f)
  check_flag(value, "value")
  check_wrt(wrt)
  new_jit(function(...) {
    call <- environment()
    arguments <- arranged(f, list(...))
    chosen <- chosen_arguments(arguments, wrt, "xla_grad", "gradient", call)
    at <- evaluated_by(f, arguments, chosen)
    result <- at$outputs
    if (length(result) != 1L || length(result[[1L]]) != 1L || !is_float(result[[1L]]@dtype)) {
      abort(sprintf("xla_grad: `f` must return one real number, not %s", types_text(result)),
        operand = "f", hint = "`xla_vjp()` is for any result.", call = call
      )
    }
    gradient <- tree_fill(arguments[chosen], gradients_of(at, list(filled(1, result[[1L]]))))
    if (length(wrt) == 1L) {
      gradient <- gradient[[1L]]
    }
    if (value) list(value = at$value, gradient = gradient) else gradient
  }, "gradient")
}

check_wrt <- function(wrt, call = rlang::caller_env()) {
  if (anyDuplicated(wrt) && (is.numeric(wrt) || is.character(wrt)) && !anyNA(wrt)) {
    abort(sprintf("`wrt` has %s twice", format(wrt[anyDuplicated(wrt)])), operand = "wrt", call = call)
  }
  if (!(is.numeric(wrt) || is.character(wrt)) || !length(wrt) || anyNA(wrt)) {
    abort(sprintf("`wrt` must be numbers or names of arguments, not %s", describe(wrt)), operand = "wrt", call = call)
  }
}

# The numbers of the arguments that `wrt` names. They have real or complex numbers: of others there is no derivative,
# which `op` calls `what`.
chosen_arguments <- function(arguments, wrt, op, what, call) {
  chosen <- if (is.numeric(wrt)) wrt else match(wrt, names2(arguments))
  if (anyNA(chosen) || !all(chosen %in% seq_along(arguments))) {
    abort(sprintf("%s: there is no argument %s among the %d", op, toString(wrt), length(arguments)),
      operand = "wrt", call = call
    )
  }
  for (i in chosen) {
    leaves <- tree_leaves(arguments[[i]])
    name <- argument_names(arguments)[[i]]
    if (length(leaves) && !any(vapply(leaves, function(leaf) is_inexact(as_value(leaf, name)@dtype), NA))) {
      abort(sprintf("%s: argument %s has no %s: it is %s", op, name, what, types_text(leaves)),
        operand = gsub("`", "", name), hint = "`as.double()` makes doubles of integers.", call = call
      )
    }
  }
  chosen
}

# `f` at `arguments`, of which derivatives by the `chosen` ones are taken
evaluated_by <- function(f, arguments, chosen) {
  evaluated(function(...) {
    arguments[chosen] <- list(...)
    call_written(f, arguments)
  }, arguments[chosen], named = FALSE)
}

#' @rdname xla_jvp
#' @export
xla_hessian <- function(f, sparse = FALSE) {
  check_flag(sparse, "sparse")
  gradient <- xla_grad(f)
  new_jit(function(...) {
    arguments <- arranged(f, list(...))
    x <- if (length(arguments)) arguments[[1L]]
    if (!is_value(x) || !is_float(x@dtype)) {
      abort("xla_hessian: the first argument of `f` must be an array of real numbers", operand = "x")
    }
    at <- function(x) {
      arguments[[1L]] <- x
      call_written(gradient, arguments)
    }
    if (sparse) {
      return(hooks$sparse_hessian(at, x))
    }
    size <- length(x)
    slope <- xla_jvp(at)
    # One turn per row: the derivative of the gradient along one axis.
    axes <- hlo_iota("i32", size)
    row <- function(carry, axis) {
      here <- converted(axes == axis[[1L]], x@dtype)
      list(carry = carry, ys = list(reshaped(slope(x, reshaped(here, x@shape))$tangent, size)))
    }
    scan_node(row, list(), list(axes), size)[[1L]]
  }, "hessian")
}

# `f` at `primals`, under new names, with respect to which derivatives are taken.
evaluated <- function(f, primals, named = TRUE) {
  roots <- lapply(tree_leaves(primals), alias_of)
  first <- trace_state$node_count + 1
  arguments <- as_arguments(tree_fill(primals, roots))
  tree <- differentiated(function() call_written(f, if (named) arguments else unname(arguments)))
  values <- lapply(tree_leaves(tree), as_value, "f", call = NULL)
  outputs <- merged(hooks$with_gates(hooks$with_loops(values, first), roots, first), first)
  list(roots = roots, outputs = outputs, value = tree_fill(tree, outputs))
}

# Tangents stand for what they will be while the derivative is written, and are then taken away.
gradients_of <- function(at, cotangents) {
  moving <- vapply(at$roots, function(root) is_inexact(root@dtype), NA)
  directions <- vector("list", length(at$roots))
  directions[moving] <- lapply(at$roots[moving], new_parameter)
  gradients <- vector("list", length(at$roots))
  if (any(moving)) {
    changes <- jvp_graph(at$outputs, at$roots, directions, reverse = TRUE)
    gradients[moving] <- backward_pass(changes, cotangents, directions[moving])
  }
  or_zeros(gradients, at$roots)
}

# Zeros where there may be a tangent, NULL for logicals and integers.
or_zeros <- function(tangents, like) {
  Map(function(tangent, like) if (is_inexact(like@dtype)) or_zero(tangent, like), tangents, like)
}

# One tangent or NULL for each leaf of `like`, each of its dtype and shape.
check_tangents <- function(x, like, name, of, call) {
  leaves <- matched_tangents(x, like, name, of, call)
  Map(function(leaf, like, number) {
    if (is.null(leaf)) {
      return(NULL)
    }
    if (leaf@node$op == "constant") {
      # Numbers have taken a dtype before they met the value that they belong to.
      leaf <- as_value(leaf@node$params$data, name, like, call)
    }
    check_tangent(leaf, like, number, name, call)
    leaf
  }, leaves, tree_leaves(like), seq_along(leaves))
}

matched_tangents <- function(x, like, name, of, call) {
  tree_match(like, x, function(text) {
    abort(sprintf("`%s` must be like %s: %s", name, of, text), operand = name, call = call)
  })
}

check_tangent <- function(x, like, number, name, call) {
  if (!is_inexact(like@dtype)) {
    abort(sprintf("number %d of `%s` must be NULL: %s has no derivative", number, name, type_text(like)),
      operand = name, call = call
    )
  }
  if (!same_type(x, like)) {
    abort(sprintf("number %d of `%s` must be %s, not %s", number, name, type_text(like), type_text(x)),
      operand = name, call = call
    )
  }
}
