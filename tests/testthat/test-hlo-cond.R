branches <- list(sin, function(x) x * exp(x), function(x) x^3)

test_that("one branch runs, and its derivatives are those of the result", {
  skip_without_plugin()
  f <- function(x) hlo_cond(sum(x) > 0, function() log(sum(x)), function() 0)
  run <- xla_jit(f)
  expect_equal(run(c(1, 2)), log(3))
  expect_identical(run(c(1, -2)), 0)
  # What the other branch gives is NaN.
  expect_equal(xla_grad(f)(c(1, 2)), rep(1 / 3, 2))
  expect_identical(xla_grad(f)(c(1, -2)), c(0, 0))
  g <- function(i, x) sum(hlo_case(i, branches, x))
  x <- c(0.5, 2)
  slopes <- list(cos(x), (1 + x) * exp(x), 3 * x^2)
  curves <- list(-sin(x), (2 + x) * exp(x), 6 * x)
  value <- xla_jit(g)
  gradient <- xla_grad(g, 2)
  forward <- xla_jvp(function(x, i) g(i, x))
  hessian <- xla_hessian(function(x, i) g(i, x))
  for (i in 1:3) {
    expect_equal(value(i, x), sum(branches[[i]](x)))
    expect_equal(gradient(i, x), slopes[[i]])
    expect_equal(forward(list(x, i), list(c(1, 1), NULL))$tangent, sum(slopes[[i]]))
    expect_equal(hessian(x, i), diag(curves[[i]]))
  }
  # Beyond the branches it is the last one.
  expect_equal(value(0L, x), value(3L, x))
  expect_equal(value(9L, x), value(3L, x))
})

test_that("batches take the branch of their element, with finite derivatives", {
  skip_without_plugin()
  x <- c(0, 2, 3)
  batch <- xla_vmap(function(i, x) hlo_case(i, list(sin, log, function(x) x^3), x))
  expect_equal(batch(1:3, x), c(sin(0), log(2), 27))
  # log has no derivative at 0, where it is not taken.
  expect_equal(xla_grad(function(x, i) sum(batch(i, x)))(x, 1:3), c(1, 1 / 2, 27))
  both <- xla_vmap(function(i, w) hlo_case(i, list(sin, log, function(x) x^3), w), in_axes = list(1, NULL))
  expect_equal(xla_grad(function(w, i) sum(both(i, w)))(2, 1:3), cos(2) + 1 / 2 + 12)
  # One condition for all, and a loop, which would not end in the other branch
  one <- xla_vmap(function(p, x) hlo_cond(p, function() x^2, function() -x), in_axes = list(NULL, 1))
  expect_identical(one(FALSE, x), -x)
  root <- xla_vmap(function(x) {
    hlo_cond(x > 0,
      function() hlo_while(function(r) abs(r * r - x) > 1e-12, function(r) (r + x / r) / 2, x),
      function() x * 0
    )
  })
  expect_equal(root(c(-4, 2, 9)), c(0, sqrt(2), 3))
})

test_that("what branches give agrees, numbers and R's own dtypes as in c()", {
  skip_without_plugin()
  f <- xla_jit(function(p, x, n) {
    list(
      hlo_cond(p, function() list(a = x, b = n), function() list(a = 0, b = x[1])),
      hlo_cond(p, function() 1L, function() 0.5),
      # Values of the branch itself, a nested one, and nothing
      hlo_cond(p, function() hlo_cond(x[1] > 1, function() 1, function() 2), function() 3),
      hlo_cond(p, function() NULL, function() NULL),
      hlo_cond(p, function(y) list(y + 1), function(y) list(y), x)
    )
  })
  expect_identical(f(TRUE, c(1, 2), 3L), list(list(a = c(1, 2), b = 3), 1, 2, NULL, list(c(2, 3))))
  expect_identical(f(FALSE, c(1, 2), 3L), list(list(a = c(0, 0), b = 1), 0.5, 3, NULL, list(c(1, 2))))
})

test_that("the side effects of the branch that runs, once in a gradient too", {
  skip_unless_included("order of calls")
  seen <- character()
  note <- function(text) {
    show <- ffi_callback(function(x) seen <<- c(seen, text), "x: f64[] ->", side_effect = "ordered")
    function(x) {
      show(hlo_reshape(x, integer()))
      x * 2
    }
  }
  yes <- note("yes")
  no <- note("no")
  f <- function(x) hlo_cond(x > 0, yes, no, x)
  run <- xla_jit(f)
  run(1)
  run(-1)
  expect_identical(seen, c("yes", "no"))
  seen <- character()
  expect_identical(xla_grad(f)(1), 2)
  expect_identical(seen, "yes")
  # A batch goes through the branches one by one.
  seen <- character()
  expect_identical(xla_vmap(f)(c(1, -1, 2)), c(2, -2, 4))
  expect_identical(seen, c("yes", "no", "yes"))
  seen <- character()
  loop <- function(x) hlo_scan(function(s, e) list(yes(s) * e, NULL), 1, x)$carry
  expect_identical(xla_grad(loop)(c(2, 3)), c(12, 8))
  expect_identical(seen, c("yes", "yes"))
})

test_that("branches that do not agree are refused", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  i <- xlaffi:::new_parameter(ffi_type("i32"))
  expect_snapshot(error = TRUE, {
    hlo_cond(x, function() x, function() x)
    hlo_cond(1, function() x, function() x)
    hlo_cond(TRUE, x, 0)
    hlo_cond(TRUE, function() x, function() sum(x))
    hlo_cond(TRUE, function() list(a = x), function() list(b = x))
    hlo_cond(TRUE, function() list(a = x, b = i), function() list(a = x, b = hlo_convert(i, "f32")))
    hlo_case(x, list(sin, cos), x)
    hlo_case(i, sin, x)
    hlo_case(i, list())
  })
})

test_that("what a branch computes is no value outside of it", {
  skip_without_plugin()
  leaked <- function(x, use) {
    z <- NULL
    y <- hlo_cond(x[1] > 0, function() {
      z <<- x * 2
      z
    }, function() x)
    use(y, z)
  }
  refused <- function(use) xla_jit(function(x) leaked(x, use))(c(1, 2))
  expect_snapshot(error = TRUE, refused(function(y, z) z))
  expect_error(refused(function(y, z) y + z), "value of another branch")
  expect_error(refused(function(y, z) hlo_cond(y[1] > 0, function() z, function() y)), "value of another branch")
  between <- function(x) {
    z <- 0
    add <- function() z <<- z + x
    hlo_cond(x > 0, add, add)
  }
  expect_error(xla_jit(between)(1), "value of another branch")
  inner <- function(x) {
    hlo_cond(x > 0, function() {
      z <- x * 3
      hlo_cond(x > 1, function() z, function() z + 1)
    }, function() x)
  }
  expect_identical(vapply(c(-1, 0.5, 2), xla_jit(inner), 0), c(-1, 2.5, 6))
  expect_identical(vapply(c(-1, 0.5, 2), xla_grad(inner), 0), c(1, 3, 3))
})

test_that("functions that cannot be called so are refused", {
  skip_without_plugin()
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64"))
  expect_snapshot(error = TRUE, {
    hlo_cond(x > 0, function() x, function(a) a)
    hlo_cond(x > 0, function(a) a, function() x, x)
    hlo_case(NA_integer_, list(function() x, function() -x))
    hlo_while(function(s) s < 3, function() x, x)
    hlo_while(function(a) a < 3, function(a, b) list(a = a, b = b), list(a = x, b = x))
    hlo_scan(function(carry) list(carry, NULL), x, 1:3)
    hlo_fori(1, 3, function(carry) carry, x)
  })
  optional <- function(a, b) if (missing(b)) a else b
  expect_identical(xla_jit(function(x) hlo_fori(1, 3, function(i, s, more = 1) s + more, x))(0), 3)
  expect_identical(xla_jit(function(x) hlo_cond(x > 0, optional, optional, x))(2), 2)
})
