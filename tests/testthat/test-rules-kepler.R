# The rule of kepler beyond what test-hlo-rules.R compares with JAX: where digits cancel, and second
# derivatives.
kepler_op <- ffi_op(
  function(M, e) hlo_custom_call("kepler", list(M, e), list(sin = M, cos = M)),
  jvp = xlaffi:::kepler_jvp, name = "kepler"
)

test_that("the slope loses no digits near e = 1, E = 0", {
  skip_without_plugin()
  # From E, the exact M and 1 - e cos E with more digits than the rule has.
  E <- c(1e-6, 1e-4, 1e-2, 0.5, 1.5, 1.6, 3.1)
  e <- 1 - c(1e-10, 1e-8, 1e-5, 0.5, 0.1, 0.1, 1e-3)
  slope <- xla_jit(xlaffi:::kepler_slope)(e, sin(E), cos(E))
  expect_equal(as.vector(slope), (1 - e) + e * 2 * sin(E / 2)^2, tolerance = 1e-15)
})

test_that("e out of range and NaN stay with their element", {
  skip_without_plugin()
  out <- xla_jvp(kepler_op)(list(M = c(1, 1, NaN), e = c(0.5, 1.5, 0.5)), list(M = c(1, 1, 1), e = c(0, 0, 0)))
  expect_identical(is.nan(as.vector(out$tangent$sin)), c(FALSE, TRUE, TRUE))
})

test_that("gradients are finite at the half turn", {
  skip_without_plugin()
  # cos E = -1 in one branch of the slope is 0 / 0 in the other, which must not come through.
  out <- xla_grad(function(M, e) sum(kepler_op(M, e)$sin^2 + kepler_op(M, e)$cos), 1:2)(pi, 0.5)
  expect_true(all(is.finite(unlist(out))))
  out <- xla_hessian(function(x) sum(kepler_op(x[1:2], x[3:4])$sin))(c(pi, 0, 0.5, 0))
  expect_true(all(is.finite(out)))
})

test_that("a Hessian through kepler is the difference of gradients", {
  skip_without_plugin()
  f <- function(x) {
    k <- kepler_op(hlo_reshape(x[1], 1), hlo_reshape(x[2], 1))
    sum(k$sin * k$cos + k$cos * x[1])
  }
  at <- c(0.7, 0.6)
  gradient <- xla_grad(f)
  by_hand <- sapply(1:2, function(i) {
    h <- 1e-5 * (1:2 == i)
    as.vector(gradient(at + h) - gradient(at - h)) / 2e-5
  })
  expect_equal(xla_hessian(f)(at), by_hand, tolerance = 1e-8)
})
