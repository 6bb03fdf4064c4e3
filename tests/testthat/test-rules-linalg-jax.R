# The derivative rules of linear algebra beside JAX's, recorded by jax-linalg.py in jax-linalg.csv.

squares <- function(z) Re(z * Conj(z))

along <- function(f) function(x, t) xla_jvp(f)(x, t)$tangent

linalg_functions <- local({
  qr <- function(x) lapply(xla_qr(x), squares)
  lu <- function(x) xla_lu(x)[c("l", "u")]
  svd <- function(x) {
    f <- xla_svd(x)
    list(f$d, squares(f$u), squares(f$v), hlo_matmul(f$u, Conj(hlo_t(f$v))))
  }
  eigh <- function(x) {
    f <- xla_eigh(x)
    list(f$values, squares(f$vectors))
  }
  solve_self <- function(x) xla_solve(x, hlo_matmul(hlo_t(x), x))
  list(
    "qr" = qr, "qr complex" = qr, "qr twice" = along(qr), "lu" = lu, "lu wide" = lu, "lu complex" = lu,
    "lu twice" = along(lu), "svd" = svd, "svd wide" = svd, "svd complex" = svd, "svd twice" = along(svd),
    "eigh" = eigh, "eigh complex" = eigh, "eigh twice" = along(eigh),
    "chol" = xla_chol, "chol complex" = xla_chol, "chol twice" = along(xla_chol),
    "solve" = xla_solve, "solve complex" = xla_solve, "solve twice" = along(solve_self), "inverse" = xla_solve
  )
})

expect_as_jax <- function(name, case) {
  f <- linalg_functions[[name]]
  forward <- xla_jvp(function(...) f(...))(case$primal, case$tangent)
  expect_equal(numbers(forward$value), numbers(case$value), tolerance = 1e-9, info = name)
  expect_equal(numbers(forward$tangent), numbers(case$jvp), tolerance = 1e-8, info = name)
  cotangents <- as_result(forward$value, case$cotangent)
  reverse <- xla_vjp(function(...) f(...))(case$primal, cotangents)
  expect_equal(numbers(reverse$gradients), numbers(case$vjp), tolerance = 1e-8, info = name)
}

as_result <- function(tree, leaves) if (is.list(tree)) stats::setNames(leaves, names(tree)) else leaves[[1]]

test_that("derivatives are JAX's, in both modes and of second order", {
  skip_without_plugin()
  skip_unless_all()
  cases <- read_cases(test_path("jax-linalg.csv"))
  expect_setequal(names(cases), names(linalg_functions))
  for (name in names(cases)) expect_as_jax(name, cases[[name]])
})
