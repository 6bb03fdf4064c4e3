# Values and derivatives of functions of one vector

# The vector g(theta) of `count` numbers and its Jacobian, row by row
reverse_slopes <- function(g, theta, count) {
  pulled <- xla_vjp(g)
  weights <- unit_rows(count, theta@dtype)
  if (count == 1L) {
    at <- pulled(theta, reshaped(weights, 1L))
    return(list(value = at$value, slope = reshaped(at$gradients, c(1L, length(theta)))))
  }
  at <- xla_vmap(function(weights) pulled(theta, weights), out_axes = list(value = NULL, gradients = 1))(weights)
  list(value = at$value, slope = at$gradients)
}

# ... and column by column
forward_slopes <- function(g, theta, ...) {
  pushed <- xla_jvp(g)
  directions <- unit_rows(length(theta), theta@dtype)
  at <- xla_vmap(function(direction) pushed(theta, direction), out_axes = list(value = NULL, tangent = 2))(directions)
  list(value = at$value, slope = at$tangent)
}

# The rows of an identity matrix
unit_rows <- function(count, dtype) {
  square <- c(count, count)
  converted(hlo_iota("i32", square, 1) == hlo_iota("i32", square, 2), dtype)
}
