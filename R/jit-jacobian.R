#' Matrices of derivatives
#'
#' `xla_jacobian(f)` makes a function that gives the derivative of each result of `f` by each element of an argument.
#'
#' @details
#' The derivatives come from a batch ([xla_vmap()]), not a loop: in forward mode of [xla_jvp()] along all elements of
#' the arguments, in reverse mode of [xla_vjp()] for all elements of the results. `"auto"` takes what needs fewer of
#' them, and the other mode where that one does not go, as reverse mode through an [hlo_while()] without a bound. The
#' whole batch is in memory at once. The function can be a part of other programs, batched, and differentiated again:
#' `xla_jacobian(xla_grad(f))` is the matrix of second derivatives, as [xla_hessian()], for an argument of any form.
#'
#' Logicals and integers have no derivatives: results and parts of arguments of these types have NULL. What does not
#' depend on an argument has zeros. Where a result is `f32` and an argument `f64`, or the other way round, the
#' derivative has the precision of the result.
#'
#' Complex numbers, as in [xla_jvp()]: a complex result by a real argument has its derivative; a real result f by a
#' complex argument z = x + iy has the gradient df/dx - i df/dy; a complex result by a complex argument has df/dz, which
#' is the derivative of a holomorphic function, and of others (df/dx - i df/dy) / 2, their part in z. Both modes give
#' the same, for which a complex element takes two places in the batch.
#'
#' @inheritParams xla_jvp
#' @param wrt The arguments by which derivatives are taken, by number or name.
#' @param mode `"forward"`, `"reverse"`, or `"auto"`.
#' @param sparse Whether the derivative of one array by one array is a [sparse matrix][hlo_sparse], with rows and
#'   columns in R's order of elements; see [xla_hessian()] for how its entries are found.
#' @return A function of f's arguments, as [xla_jit()] returns it. Of a result of shape s and an argument of shape a it
#'   gives an array of shape `c(s, a)`: for two vectors the matrix with a row per result, and a scalar adds no axis
#'   (one number of R's is a vector of length 1). Where the argument is a list, lists of arrays like it, in a list for
#'   several `wrt`; where f returns a list, a list of all that like it.
#' @section Errors:
#' Errors of class `xlaffi_error_invalid_argument` are: an argument that there is not, one without real or complex
#' numbers (as in [xla_grad()]), an `f` that returns none, and another `mode`. A custom call without a rule is one of
#' class `xlaffi_error_unimplemented`.
#' @seealso [xla_jvp()], [xla_grad()], [xla_hessian()]
#' @examplesIf plugins_downloaded()
#' polar <- function(x) c(x[1] * cos(x[2]), x[1] * sin(x[2]))
#' xla_jacobian(polar)(c(2, pi / 6))
#'
#' f <- function(p, t) list(fit = p$a * exp(-p$b * t), size = p$a^2)
#' xla_jacobian(f)(list(a = 3, b = 1), c(0, 1, 2))
#' @export
xla_jacobian <- function(f, wrt = 1, mode = c("auto", "forward", "reverse"), sparse = FALSE) {
  check_function(f)
  check_wrt(wrt)
  check_flag(sparse, "sparse")
  mode <- check_choice(mode, "mode", c("auto", "forward", "reverse"))
  new_jit(function(...) {
    call <- environment()
    arguments <- arranged(f, list(...))
    chosen <- chosen_arguments(arguments, wrt, "xla_jacobian", "derivatives", call)
    if (sparse) {
      return(hooks$sparse_jacobian(f, arguments, chosen, mode, call))
    }
    at <- evaluated_by(f, arguments, chosen)
    if (!any(inexact_types(at$outputs))) {
      abort(sprintf("xla_jacobian: `f` must return real or complex numbers, not %s", types_text(at$outputs)),
        operand = "f", hint = "`as.double()` makes doubles of integers.", call = call
      )
    }
    by_result <- lapply(jacobians(at, mode), function(parts) {
      # NULL for results without derivatives
      filled <- if (!is.null(parts)) tree_fill(unwrapped(arguments[chosen]), parts)
      if (length(wrt) == 1L && !is.null(filled)) filled[[1L]] else filled
    })
    tree_fill(unwrapped(at$value), by_result)
  }, "jacobian")
}

# For each output, NULL or a list of the derivatives by each root.
jacobians <- function(at, mode) {
  modes <- list(forward = forward_jacobians, reverse = reverse_jacobians)
  if (mode != "auto") {
    return(modes[[mode]](at))
  }
  if (basis_size(at$roots) > basis_size(at$outputs)) modes <- rev(modes)
  tryCatch(modes[[1L]](at), xlaffi_error_unimplemented = function(error) {
    tryCatch(modes[[2L]](at), xlaffi_error_unimplemented = function(other) stop(error))
  })
}

# One direction per real element, two per complex one: along it and along i times it.
directions_of <- function(value) {
  if (is_inexact(value@dtype)) as.integer(prod(value@shape)) * (1L + is_complex(value@dtype)) else 0L
}

basis_size <- function(values) sum(vapply(values, directions_of, 0L))

# For each of `values` a batch of directions, all of them together the basis; NULL where there is no derivative.
basis_of <- function(values) {
  size <- basis_size(values)
  ends <- cumsum(vapply(values, directions_of, 0L))
  Map(function(value, end) {
    count <- as.integer(prod(value@shape))
    if (!is_inexact(value@dtype)) {
      return(NULL)
    }
    rows <- function(start) {
      place <- hlo_iota("i32", c(size, count), 1)
      here <- bind("subtract", list(place, filled(start, place)), "i32", place@shape)
      converted(compared(here, hlo_iota("i32", c(size, count), 2), "EQ", "xla_jacobian"), real_dtype(value@dtype))
    }
    start <- end - directions_of(value)
    unit <- if (is_complex(value@dtype)) hlo_complex(rows(start), rows(start + count)) else rows(start)
    reshaped(unit, c(size, value@shape))
  }, values, ends)
}

# The rows of a batch that belong to one of `values`, by the parts 1 and i of complex ones
rows_of <- function(batch, values, number) {
  ends <- cumsum(vapply(values, directions_of, 0L))
  value <- values[[number]]
  count <- as.integer(prod(value@shape))
  lapply(seq_len(1L + is_complex(value@dtype)), function(part) {
    start <- ends[[number]] - directions_of(value) + (part - 1L) * count
    rest <- batch@shape[-1L]
    rows <- sliced(batch, c(start + 1L, rep(1L, length(rest))), c(start + count, rest))
    reshaped(rows, c(value@shape, rest))
  })
}

# `changes` of a batch of directions, for each of `likes`; zeros where there are none.
batch_of_changes <- function(change, basis, likes) {
  moving <- !vapply(basis, is.null, NA)
  size <- basis[moving][[1L]]@shape[[1L]]
  batch <- batch_leaves(function(leaves) {
    given <- vector("list", length(basis))
    given[moving] <- leaves
    change(given)
  }, basis[moving], rep(TRUE, sum(moving)), size)
  Map(function(value, mapped, like) {
    if (is.null(value)) {
      if (is_inexact(like@dtype)) zero_of(batch_type(like, size))
    } else {
      in_front(value, mapped, size)
    }
  }, batch$values, batch$mapped, likes)
}

forward_jacobians <- function(at) {
  basis <- basis_of(at$roots)
  changes <- batch_of_changes(function(given) jvp_graph(at$outputs, at$roots, given), basis, at$outputs)
  Map(function(change, output) {
    if (is.null(change)) {
      return(NULL)
    }
    lapply(seq_along(at$roots), function(i) {
      root <- at$roots[[i]]
      if (!is_inexact(root@dtype)) {
        return(NULL)
      }
      ranks <- lengths(list(root@shape, output@shape))
      parts <- lapply(rows_of(change, at$roots, i), function(part) {
        transposed(part, c(ranks[[1L]] + seq_len(ranks[[2L]]), seq_len(ranks[[1L]])))
      })
      joined_parts(parts, root, output)
    })
  }, changes, at$outputs)
}

reverse_jacobians <- function(at) {
  moving <- inexact_types(at$roots)
  directions <- vector("list", length(at$roots))
  directions[moving] <- lapply(at$roots[moving], new_parameter)
  changes <- jvp_graph(at$outputs, at$roots, directions, reverse = TRUE)
  pull <- function(given) {
    shares <- vector("list", length(at$roots))
    shares[moving] <- backward_pass(changes, given, directions[moving])
    shares
  }
  shares <- batch_of_changes(pull, basis_of(at$outputs), at$roots)
  lapply(seq_along(at$outputs), function(i) {
    output <- at$outputs[[i]]
    if (is_inexact(output@dtype)) {
      Map(function(share, root) {
        if (!is.null(share)) joined_parts(rows_of(share, at$outputs, i), root, output)
      }, shares, at$roots)
    }
  })
}

# The derivative from the changes along 1 and i, or the gradients for cotangents 1 and i, of what is complex
joined_parts <- function(parts, root, output) {
  dtype <- if (is_complex(root@dtype)) complex_dtype(real_dtype(output@dtype)) else output@dtype
  # The small types have no complex numbers.
  if (is.null(dtype)) dtype <- root@dtype
  parts <- lapply(parts, converted, dtype)
  if (length(parts) == 1L) {
    return(parts[[1L]])
  }
  joined <- parts[[1L]] - times_i(parts[[2L]])
  if (is_complex(root@dtype) && is_complex(output@dtype)) joined / 2 else joined
}
