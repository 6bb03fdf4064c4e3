# Equal computations are one before derivatives of them are taken, and nothing that differs is.

test_that("no two nodes of a second derivative compute the same", {
  skip_without_plugin()
  f <- function(x) {
    part <- function() exp(x * x) / (1 + exp(x * x))
    sum(part() * part() + part())
  }
  x <- c(0.1, 0.2, 0.3)
  ops_of <- function(part) unlist(lapply(part$nodes, function(node) c(node$op, unlist(lapply(node$regions, ops_of)))))
  expect_identical(sum(ops_of(xla_graph(xla_hessian(f), x)) == "exponential"), 1L)
  part <- function(x) exp(x * x) / (1 + exp(x * x))
  plain <- function(x) part(x)^2 + part(x)
  h <- 1e-4
  second <- (plain(x + h) - 2 * plain(x) + plain(x - h)) / h^2
  expect_equal(xla_hessian(f)(x), diag(second), tolerance = 1e-6)
})

test_that("what has the same value and other derivatives stays apart", {
  skip_without_plugin()
  # Ops with one call and two rules; a number that does not change; an argument of a function within
  twice <- ffi_op(function(x) x * 2, jvp = function(primals, results, tangents) tangents[[1]] * 3, name = "twice")
  thrice <- ffi_op(function(x) x * 2, jvp = function(primals, results, tangents) tangents[[1]] * 5, name = "thrice")
  # Small graphs, and those with turns of R's loops, are not looked through.
  pad <- function(x) {
    wave <- function(x) sin(x) + cos(x) * tanh(x) - exp(x) / (1 + x * x)
    (wave(x) + wave(x / 2) + wave(x / 3)) * 0
  }
  f <- function(x) {
    held <- xla_stop_gradient(x * 2)
    inner <- xla_grad(function(z) z * x + pad(z))(x) + xla_grad(function(z) x * x + pad(z) + x * x * 0)(x)
    twice(x) + thrice(x) * 10 + x * 2 * 100 + held * 1000 + inner * 1e4 + pad(x)
  }
  expect_equal(xla_jit(f)(3), 6 + 60 + 600 + 6000 + 3e4)
  expect_equal(xla_grad(f)(3), 3 + 50 + 200 + 1e4)
  expect_equal(xla_jvp(f)(3, 1)$tangent, 3 + 50 + 200 + 1e4)
  # A zero and its opposite
  zeros <- function(x) pad(x) + sum(x * hlo_max(hlo_min(1 / c(hlo_constant(0, "f64"), hlo_constant(-0, "f64")), 2), -3))
  expect_equal(xla_grad(zeros)(1), 2 - 3)
  # An op whose call does something else each time
  calls <- 0
  counting <- function() {
    op <- ffi_op(function(x) x * (calls <<- calls + 1), jvp = function(primals, results, tangents) tangents[[1]])
    function(x) op(x) + op(x) * 10 + pad(x)
  }
  expect_identical(xla_grad(counting(), value = TRUE)(1)$value, 21)
  # A linear part that outlives the function in which it was made
  g <- function(x) {
    linear <- NULL
    slope <- xla_grad(function(y) {
      linear <<- xla_linearize(function(z) sin(z) * sin(z) + pad(z))(y)
      linear$value * linear$value + pad(y)
    })(x)
    slope + linear$jvp(x)
  }
  expect_equal(xla_jit(g)(0.4), 2 * sin(0.4)^2 * sin(0.8) + 0.4 * sin(0.8))
  expect_equal(
    xla_grad(g)(0.4), 2 * sin(0.8)^2 + 4 * sin(0.4)^2 * cos(0.8) + sin(0.8) + 0.8 * cos(0.8)
  )
})
