# The derivative rules of linear algebra beside central differences, of the factors where they are unique
# and of what does not depend on signs and phases where they are not.

differences <- function(f, x, v, h = 1e-5) {
  Map(function(above, below) (above - below) / (2 * h), f(x + h * v), f(x - h * v))
}

# First derivatives in both modes and, where `second`, the derivative of the derivative.
expect_derivatives <- function(f, x, second = FALSE) {
  v <- random_array(dim(x), is.complex(x), seed = 3)
  forward <- xla_jvp(f)(x, v)
  Map(expect_close, forward$tangent, differences(xla_jit(f), x, v), 1e-7)
  weights <- lapply(forward$value, function(y) random_array(dims_of(y), is.complex(y), seed = 7))
  gradients <- xla_vjp(f)(x, weights)$gradients
  ahead <- sum(mapply(function(weight, change) sum(weight * change), weights, forward$tangent))
  expect_lt(abs(Re(ahead - sum(gradients * v))), 1e-11 * max(1, Mod(ahead)))
  if (second) {
    slope <- function(x) xla_jvp(f)(x, v)$tangent
    Map(expect_close, xla_jvp(slope)(x, v)$tangent, differences(xla_jit(slope), x, v), 1e-6)
  }
}

size <- function(z) Re(z * Conj(z))

factors <- list(
  qr = xla_qr,
  lu = function(x) xla_lu(x)[c("l", "u")],
  svd = function(x) {
    f <- xla_svd(x)
    list(d = f$d, u = size(f$u), v = size(f$v), turn = hlo_matmul(f$u, Conj(hlo_t(f$v))))
  }
)

for (name in names(factors)) {
  test_that(paste("derivatives of", name), {
    skip_without_plugin()
    expect_derivatives(factors[[name]], random_array(c(2, 4, 3)), second = TRUE)
    skip_unless_all()
    expect_derivatives(factors[[name]], random_array(c(3, 3), complex = TRUE), second = TRUE)
    expect_derivatives(factors[[name]], random_array(c(3, 5)))
    expect_derivatives(factors[[name]], random_array(c(4, 3), complex = TRUE))
  })
}

test_that("derivatives of chol, eigh and solve", {
  skip_without_plugin()
  eigen <- function(uplo) {
    function(x) {
      f <- xla_eigh(x, uplo)
      list(w = f$values, v = size(f$vectors))
    }
  }
  for (complex in c(FALSE, if (all_run()) TRUE)) {
    dims <- if (complex) c(3, 3) else c(2, 4, 4)
    x <- random_definite(dims, complex)
    b <- random_array(dims, complex)
    expect_derivatives(function(x) list(xla_chol(x)), x, second = TRUE)
    expect_derivatives(eigen("L"), x, second = TRUE)
    expect_derivatives(function(x) list(xla_solve(x, x * x + b)), x, second = TRUE)
    if (all_run()) {
      expect_derivatives(eigen("U"), x)
      expect_derivatives(function(x) list(xla_solve(x)), x)
    }
  }
})

test_that("values alone have derivatives where vectors have none", {
  skip_without_plugin()
  skip_unless_all()
  x <- diag(c(2, 2, 3))
  v <- random_definite(c(3, 3))
  change <- xla_jvp(function(x) xla_eigh(x, vectors = FALSE))(x, v)$tangent$values
  expect_equal(sum(change), sum(diag(v)))
  vectors <- xla_jvp(function(x) xla_eigh(x)$vectors)(x, v)$tangent
  expect_true(anyNA(vectors) || any(is.infinite(vectors)))
  expect_derivatives(function(x) xla_svd(x, vectors = FALSE), random_array(c(3, 2), complex = TRUE))
  expect_derivatives(function(x) xla_eigh(x, vectors = FALSE), random_definite(c(3, 3), complex = TRUE))
})

test_that("gradients lie in the triangle that is read", {
  skip_without_plugin()
  x <- random_definite(c(3, 3))
  log_det <- function(x) 2 * sum(log(hlo_sum(xla_chol(x) * diag(3), 2)))
  expect_equal(
    xla_grad(log_det)(x),
    local({
      inverse <- solve(x)
      inverse * upper.tri(x) * 2 + diag(diag(inverse))
    })
  )
})

test_that("a singular matrix has no derivative", {
  skip_without_plugin()
  x <- matrix(0, 2, 2)
  expect_false(all(is.finite(xla_jvp(function(x) xla_lu(x)$l)(x, diag(2))$tangent)))
  expect_false(all(is.finite(xla_jvp(function(x) xla_qr(x)$q)(x, diag(2))$tangent)))
})
