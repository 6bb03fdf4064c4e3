# The linear equations of implicit derivatives. With `at` evaluated at a solution, they have the matrix of derivatives
# of one of its outputs by one of its roots, both vectors.

# Up to so many unknowns there is always a matrix.
most_dense <- 200L

# The value and the gradient of a function of a vector
first_order_at <- function(objective) {
  function(x) {
    at <- evaluated(objective, list(x))
    value <- at$outputs[[1L]]
    list(value = value, gradient = gradients_of(at, list(filled(1, value)))[[1L]])
  }
}

# The same with the Hessian
second_order_at <- function(objective) {
  slope <- first_order_at(objective)
  function(x) {
    at <- evaluated(slope, list(x))
    hessian <- matrix_of_slopes(at, 1L, 2L)
    list(value = at$outputs[[1L]], gradient = at$outputs[[2L]], hessian = (hessian + hlo_t(hessian)) / 2)
  }
}

# A vector of functions with the matrix of derivatives
residuals_at <- function(residuals) {
  function(x) {
    at <- evaluated(residuals, list(x))
    list(residuals = at$outputs[[1L]], jacobian = matrix_of_slopes(at, 1L, 1L))
  }
}

matrix_of_slopes <- function(at, root, output) {
  forward_jacobians(list(roots = at$roots[root], outputs = at$outputs[output]))[[1L]][[1L]]
}

# The solution of equations with a matrix, by an op for the factors and by triangles, which are transposed and
# differentiated where `right` is a tangent.
dense_solution <- function(a, right) {
  factors <- lu_op()(a)
  column <- permute_rows(reshaped(right, c(length(right), 1L)), factors$order)
  reshaped(lu_solve(factors$lu, column), length(right))
}

# The solution of equations with the Hessian whose gradient is slope(x, given), without the matrix
conjugate_solution <- function(slope, x, given, right) {
  bind_op(conjugate_op(slope), list(right = right, x = x, given = given))
}

# Equations with a symmetric matrix, the derivative of slope(x, given) by x, of which only products are computed. Linear
# in `right`, and its own transpose. From A y = b follows A dy = db - dA y.
conjugate_op <- function(slope) {
  product <- function(x, given, y) {
    at <- evaluated(function(x, given) slope(x, given), list(x, given), named = FALSE)
    list(at = at, value = or_zero(jvp_graph(at$outputs, at$roots, c(list(y), unmoved(given)))[[1L]], x))
  }
  again <- function(right, primals) conjugate_solution(slope, primals$x, primals$given, right)
  list(
    name = "conjugate gradients",
    call = function(right, x, given) {
      conjugate_gradients(in_turns(function(y) list(product(x, given, y)$value), right), right)
    },
    jvp = function(primals, results, tangents) {
      y <- results
      change <- tangents$right
      if (!is.null(tangents$x) || any(!vapply(tangents$given, is.null, NA))) {
        at <- evaluated(
          function(x, given) product(x, given, y)$value, list(primals$x, primals$given), named = FALSE
        )
        moved <- jvp_graph(at$outputs, at$roots, c(list(tangents$x), unname(tangents$given)))[[1L]]
        if (!is.null(moved)) change <- if (is.null(change)) -moved else change - moved
      }
      if (!is.null(change)) again(change, primals)
    },
    transpose = function(primals, cotangents) {
      list(right = again(cotangents, primals), x = NULL, given = unmoved(primals$given))
    }
  )
}

unmoved <- function(given) rep(list(NULL), length(given))

# M. R. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems", Journal of Research of the
# National Bureau of Standards 49 (1952). NaN where the matrix is not positive definite, or where the residual is not
# small after four turns for each unknown.
conjugate_gradients <- function(product, right) {
  enough <- (if (right@dtype == "f32") 1e-5 else 1e-11) * norm_of(right)
  state <- list(
    y = filled(0, right), residual = right, direction = right, square = inner_product(right, right),
    turns = integer_of(0L), definite = flag_of(TRUE)
  )
  left <- function(s) !(sqrt(s$square) <= enough)
  s <- solver_loop(function(s) left(s) & s$definite & (s$turns < 4L * length(right)), function(s) {
    along <- product(s$direction)[[1L]]
    curve <- inner_product(s$direction, along)
    size <- s$square / curve
    s$y <- s$y + size * s$direction
    s$residual <- s$residual - size * along
    square <- inner_product(s$residual, s$residual)
    s$direction <- s$residual + square / s$square * s$direction
    s$square <- square
    s$definite <- curve > 0
    s$turns <- s$turns + 1L
    s
  }, state)
  s$y * where_converged(s$definite & !left(s), right@dtype)
}
