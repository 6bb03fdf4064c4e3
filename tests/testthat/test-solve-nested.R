# Solvers as parts of functions: in one another, in loops and branches, in batches of batches

test_that("solvers go into solvers, loops, branches and batches, with derivatives", {
  skip_unless_all()
  skip_without_plugin()
  square_root <- function(a) hlo_root(function(x) x^2 - a, 1)$root
  inner <- function(a) hlo_minimize(function(x) sum((x - a^2)^2), 0)$par
  branch <- function(a) hlo_cond(a > 2, function() square_root(a)[1], function() a * 0)
  profile <- function(b, y) hlo_minimize(function(m) sum((y - m * exp(b))^2) + m^2, 1, method = "Newton")$value
  cube <- function(a) hlo_fori(1L, 3L, function(i, x) hlo_root(function(y) y^3 - x * a, 1)$root, 2)
  y <- c(1, 2, 4)
  out <- xla_jit(function(a, b, y, v, m) {
    # The bilevel problem has a = sqrt(b).
    bilevel <- function(b) hlo_minimize(function(a) sum((inner(a) - b)^2), 1, method = "Newton")$par
    list(
      bilevel = list(bilevel(b), xla_grad(bilevel)(b)), third = xla_grad(xla_grad(xla_grad(square_root)))(b),
      loop = xla_grad(cube)(a), branch = xla_vmap(branch)(v), slopes = xla_vmap(xla_grad(branch))(v),
      twice = xla_vmap(xla_vmap(function(a) hlo_minimize(function(x) cosh(x - a), 0, method = "Newton")$par[1]))(m),
      profile = list(xla_hessian(function(b) profile(b, y))(a / 10), xla_grad(function(y) profile(a / 10, y))(y)),
      again = xla_grad(function(b) sum(xla_checkpoint(square_root)(b)))(b),
      sparse = as.matrix(xla_hessian(function(v) {
        sum(hlo_minimize(function(x) sum(cosh(x - v)), c(0, 0, 0))$par^2)
      }, sparse = TRUE)(v)),
      named = hlo_minimize(function(p) (p["u"] - a)^2 + p["v"]^2, c(u = 1, v = 2))$par["u"]
    )
  })(3, 4, y, c(1, 4, 9), matrix(1:4 + 0, 2))
  value <- function(part) as.vector(unlist(part))
  expect_equal(value(out$bilevel), c(2, 0.25), tolerance = 1e-8)
  expect_equal(value(out$third), 3 / 8 * 4^-2.5, tolerance = 1e-9)
  in_r <- function(a) {
    x <- 2
    for (i in 1:3) x <- (x * a)^(1 / 3)
    x
  }
  expect_equal(value(out$loop), (in_r(3 + 1e-5) - in_r(3 - 1e-5)) / 2e-5, tolerance = 1e-7)
  expect_equal(value(out$branch), c(0, 2, 3), tolerance = 1e-8)
  expect_equal(value(out$slopes), c(0, 1 / 4, 1 / 6), tolerance = 1e-8)
  expect_equal(out$twice, matrix(1:4 + 0, 2), tolerance = 1e-8)
  closed <- function(b, y) {
    e <- exp(b)
    m <- sum(y * e) / (3 * e^2 + 1)
    sum((y - m * e)^2) + m^2
  }
  second <- (closed(0.3 + 1e-3, y) - 2 * closed(0.3, y) + closed(0.3 - 1e-3, y)) / 1e-6
  expect_equal(value(out$profile[[1]]), second, tolerance = 1e-5)
  expect_equal(value(out$profile[[2]]), vapply(1:3, function(i) {
    (closed(0.3, replace(y, i, y[i] + 1e-5)) - closed(0.3, replace(y, i, y[i] - 1e-5))) / 2e-5
  }, 0), tolerance = 1e-7)
  expect_equal(value(out$again), 0.25, tolerance = 1e-8)
  expect_equal(out$sparse, diag(3) * 2, tolerance = 1e-6)
  expect_equal(value(out$named), 3, tolerance = 1e-7)
})
