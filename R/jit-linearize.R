#' A function's linear part at a point
#'
#' `xla_linearize(f)` makes a function that gives the value of `f` at a point, and its derivative there as a function of
#' directions, which does not compute `f` again.
#'
#' @details
#' [xla_jvp()] computes the value and one direction together. Where many directions are wanted at one point, one after
#' another, as conjugate gradients want them, that computes the same value each time. Here what the derivative needs of
#' it, such as `cos(x)` for `sin(x)`, is kept: on the device, for as long as `jvp` is there. `jvp` is compiled once for
#' all points of the same types.
#'
#' Loops ([hlo_scan()], [hlo_fori()]), branches and functions on several devices keep what they need for all of their
#' turns. [hlo_while()] without a bound, and what has no rule for reverse mode, computes its turns again.
#'
#' Inside a program both are a part of it: `jvp` takes values and gives values, as often as it is called, has
#' derivatives, and what is not used is not there. Outside, `jvp` takes R data and buffers. It can go into other
#' programs, as in `xla_vmap(jvp)` for several directions at once: there what was kept is a constant.
#'
#' @inheritParams xla_jvp
#' @return A function of `primals`, as that of [xla_jvp()]: the list of f's arguments (without the list where there is
#'   one argument). It returns `list(value = , jvp = )`: f's result, and a function of `tangents`, a list like `primals`
#'   with NULL for what does not change. `jvp` returns what changes in f's result, in its form: NULL for logicals and
#'   integers. Results are R data if primals and tangents are, else buffers.
#' @section Errors:
#' Tangents that are not as `primals` are, in structure, dtypes or shapes, are an error of class
#' `xlaffi_error_invalid_argument` that shows both. What has no rule for derivatives is one of class
#' `xlaffi_error_unimplemented`.
#' @seealso [xla_jvp()], [xla_jacobian()]
#' @examplesIf plugins_downloaded()
#' f <- function(x, y) sin(x) * y
#' at <- xla_linearize(f)(list(c(1, 2), 3))
#' at$value
#' at$jvp(list(c(1, 0), NULL))
#' at$jvp(list(c(0, 1), 1))
#'
#' # Several directions at once, here of one argument
#' g <- xla_linearize(function(x) x^2)(c(1, 2, 3))
#' xla_vmap(g$jvp)(diag(3))
#' @export
xla_linearize <- function(f) {
  check_function(f)
  new_jit(
    function(primals) {
      linear <- linear_at(f, primals, 0)
      residuals <- linear$residuals
      # What is kept of the trace for its linear part; the programs of this are made at their first use.
      linear$at <- lapply(linear$at[c("roots", "outputs")], lapply, type_of)
      linear$form <- tree_map(primals, function(leaf) TRUE)
      linear$programs <- new.env(parent = emptyenv())
      value <- linear$value
      linear$value <- tree_map(value, function(leaf) TRUE)
      trace_state$present <- function(results, leaves, call) linear_result(linear, results, leaves, call)
      list(value = value, residuals = residuals)
    }, "linearize", list(f),
    part = function(primals) {
      linear <- linear_at(f, primals, trace_state$node_count + 1)
      list(value = linear$value, jvp = new_linear(linear, function(tangents) {
        linear_inside(linear, tangents, primals, linear$residuals, environment())
      }))
    }
  )
}

# The value of `f`, and its `changes` as functions of `directions` and of `residuals`. What comes before the node with
# the number `first` stays as it is.
linear_at <- function(f, primals, first) {
  # Before there are more nodes
  force(first)
  at <- evaluated(f, primals)
  moving <- inexact_types(at$roots)
  directions <- vector("list", length(at$roots))
  directions[moving] <- lapply(at$roots[moving], new_parameter)
  changes <- jvp_graph(at$outputs, at$roots, directions, kept = TRUE)
  again <- setdiff(cheap, "parameter")
  residuals <- residual_values(
    list(shares = changes, cotangents = directions, first = first),
    function(value) !value@node$op %in% again
  )
  list(
    f = f, at = at, value = at$value, changes = changes, directions = directions, moving = moving,
    residuals = residuals, first = first
  )
}

# The tangents of the outputs for those of the roots, NULL for zero, with `residuals` for those of the trace
linear_changes <- function(linear, given, residuals) {
  there <- !vapply(linear$changes, is.null, NA)
  to <- c(Map(or_zero, given[linear$moving], linear$at$roots[linear$moving]), residuals)
  changes <- vector("list", length(there))
  changes[there] <- replay(
    linear$changes[there], c(linear$directions[linear$moving], linear$residuals), to, linear$first
  )
  or_zeros(changes, linear$at$outputs)
}

linear_inside <- function(linear, tangents, primals, residuals, call) {
  primals <- with_names_of(linear$f, primals, tangents)
  given <- check_tangents(tree_map(tangents, as_value, "tangents", call = call), primals, "tangents", "primals", call)
  tree_fill(linear$value, linear_changes(linear, given, residuals))
}

new_linear <- function(linear, f) structure(f, class = c("xlaffi_linear", "function"), of = linear$at$roots)

# What a call outside of a program gives. `results` lie on the device; the first `leaves` were its arguments.
linear_result <- function(linear, results, leaves, call) {
  types <- tree_fill(linear$form, linear$at$roots)
  kept <- results$residuals
  as_constants <- NULL
  jvp <- function(tangents) {
    env <- environment()
    tangents <- tree_map(tangents, program_data)
    given <- as.list(tree_leaves(tangents))
    buffers <- are_buffers(given)
    if (is_part(given, buffers)) {
      if (is.null(as_constants)) as_constants <<- lapply(kept, as_array)
      values <- Map(function(data, like) {
        constant(data, like@dtype, like@shape, "jvp", call = env, na = TRUE)
      }, as_constants, linear$residuals)
      return(linear_inside(linear, tangents, types, values, env))
    }
    directions <- linear_directions(tangents, with_names_of(linear$f, types, tangents), call, env)
    there <- !vapply(directions, is.null, NA)
    outputs <- linear$at$outputs
    inexact <- inexact_types(outputs)
    found <- if (any(there)) {
      do.call(linear_program(linear, there), c(kept, directions[there]), quote = TRUE)
    } else {
      lapply(outputs[inexact], function(type) on_device_of(call, numeric(prod(type@shape)), type))
    }
    changes <- vector("list", length(outputs))
    changes[inexact] <- as_they_came(found, given, call$any || any(buffers))
    with_matrices(tree_fill(linear$value, changes))
  }
  value <- with_matrices(tree_fill(linear$value, as_they_came(tree_leaves(results$value), leaves, call$any)))
  list(value = value, jvp = new_linear(linear, jvp))
}

# Buffers, as R data unless one `stays` for a buffer among the arguments
as_they_came <- function(buffers, arguments, stays) if (stays) buffers else read_results(buffers, arguments)

# The tangents on the device of a call, NULL for zero
linear_directions <- function(tangents, types, call, env) {
  leaves <- matched_tangents(tangents, types, "tangents", "primals", env)
  likes <- tree_leaves(types)
  Map(function(x, like, number) {
    if (is.null(x)) {
      return(NULL)
    }
    type <- argument_type(x, "`tangents`", env)
    is_number <- is_data(x) && is.numeric(x) && length(x) == 1L && is.null(dim(x))
    if (is_number && is_inexact(like@dtype)) type <- new_type(like@dtype, type@shape)
    check_tangent(type, like, number, "tangents", env)
    if (is_data(x)) on_device_of(call, x, type) else x
  }, leaves, likes, seq_along(leaves))
}

# R data as an argument beside those that lie where a call runs
on_device_of <- function(call, x, type) {
  if (length(type@shape)) x <- array_of(x, type@shape)
  if (is.null(call$layout)) {
    pjrt_buffer(x, type@dtype, call$device, type@shape)
  } else {
    xla_shard(x, call$layout$mesh, xla_spec(), type@dtype)
  }
}

# The program of the linear part for those tangents that are `there`
linear_program <- function(linear, there) {
  key <- paste(c("with", which(there)), collapse = " ")
  if (is.null(linear$programs[[key]])) {
    linear$programs[[key]] <- new_jit(function(...) {
      leaves <- list(...)
      count <- length(linear$residuals)
      given <- vector("list", length(there))
      given[there] <- beyond(leaves, count)
      Filter(Negate(is.null), linear_changes(linear, given, leaves[seq_len(count)]))
    }, "linearized", list())
  }
  linear$programs[[key]]
}

#' @export
print.xlaffi_linear <- function(x, ...) {
  check_print_dots(...)
  cat("<linear function of ", types_text(attr(x, "of")), ">\n", sep = "")
  invisible(x)
}
