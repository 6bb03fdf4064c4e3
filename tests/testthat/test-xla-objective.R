rosenbrock <- function(x) (1 - x[1])^2 + 100 * (x[2] - x[1]^2)^2

test_that("optimisers of R find the minimum of Rosenbrock's function", {
  skip_without_plugin()
  objective <- xla_objective(rosenbrock, c(-1.2, 1))
  expect_equal(objective$fn(c(-1.2, 1)), 24.2)
  expect_equal(objective$gr(c(-1.2, 1)), c(-215.6, -88))
  expect_equal(objective$he(c(-1.2, 1)), matrix(c(1330, 480, 480, 200), 2))
  for (method in c("BFGS", "CG", "L-BFGS-B")) {
    fit <- optim(objective$par, objective$fn, objective$gr, method = method, control = list(maxit = 5000, type = 2))
    expect_identical(fit$convergence, 0L)
    expect_equal(fit$par, c(1, 1), tolerance = 1e-3)
  }
  fit <- nlminb(objective$par, objective$fn, objective$gr, objective$he)
  expect_identical(fit$convergence, 0L)
  expect_equal(fit$par, c(1, 1), tolerance = 1e-8)
  # nlm() compares the attributes with differences and warns.
  for (f in objective[c("fn_gr", "fn_gr_he")]) {
    expect_no_warning(fit <- nlm(f, objective$par))
    expect_equal(fit$estimate, c(1, 1), tolerance = 1e-4)
  }
})

test_that("a logistic regression is that of glm(), with its standard errors", {
  skip_without_plugin()
  x <- model.matrix(~ wt + hp, mtcars)
  objective <- xla_objective(function(beta, x, y) {
    eta <- x %*% beta
    sum(y * eta - log(1 + exp(eta)))
  }, c(one = 0, wt = 0, hp = 0), x = unname(x), y = mtcars$am, negate = TRUE)
  fit <- nlminb(objective$par, objective$fn, objective$gr, objective$he, control = list(rel.tol = 1e-15))
  like <- glm(am ~ wt + hp, binomial, mtcars, epsilon = 1e-14)
  # The weights are those of the last step but one.
  like <- update(like, start = coef(like))
  expect_equal(fit$par, coef(like), tolerance = 1e-8, ignore_attr = TRUE)
  covariance <- solve(objective$he(fit$par))
  expect_equal(sqrt(diag(covariance)), sqrt(diag(vcov(like))), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(fit$objective, -as.numeric(logLik(like)), tolerance = 1e-12)
  expect_identical(names(objective$gr(fit$par)), c("one", "wt", "hp"))
  expect_identical(dimnames(covariance), rep(list(c("one", "wt", "hp")), 2))
})

test_that("the likelihood of a Gaussian process is that of plain R", {
  skip_without_plugin()
  x <- seq(0, 1, length.out = 12)
  y <- sin(6 * x) + cos((1:12)^2) / 3
  plain <- function(p, d, y) {
    k <- exp(2 * p$size - d / exp(2 * p$scale)) + diag(exp(2 * p$noise), 12)
    (sum(y * solve(k, y)) + as.numeric(determinant(k)$modulus)) / 2
  }
  d <- outer(x, x, "-")^2
  by_lu <- function(p, d, y) {
    k <- exp(2 * p$size - d / exp(2 * p$scale)) + exp(2 * p$noise) * diag(12)
    (sum(y * solve(k, y)) + determinant(k)$modulus) / 2
  }
  by_chol <- function(p, d, y) {
    k <- exp(2 * p$size - d / exp(2 * p$scale)) + exp(2 * p$noise) * diag(12)
    l <- xla_chol(k, lower = TRUE)
    z <- hlo_triangular_solve(l, hlo_reshape(y, c(12, 1)))
    sum(z^2) / 2 + sum(log(l[diag(12) == 1]))
  }
  at <- list(size = 0.1, scale = -1, noise = -2)
  objective <- xla_objective(by_lu, at, d = d, y = y)
  expect_equal(objective$fn(unlist(at)), plain(at, d, y), tolerance = 1e-12)
  differences <- vapply(1:3, function(i) {
    step <- replace(numeric(3), i, 1e-5)
    value <- function(p) plain(objective$relist(p), d, y)
    (value(unlist(at) + step) - value(unlist(at) - step)) / 2e-5
  }, 0)
  expect_equal(objective$gr(unlist(at)), differences, tolerance = 1e-7, ignore_attr = TRUE)
  fit <- nlminb(objective$par, objective$fn, objective$gr, objective$he)
  slow <- nlminb(unlist(at), function(p) plain(as.list(p), d, y))
  expect_equal(fit$par, slow$par, tolerance = 1e-4)
})

test_that("several numbers have a Jacobian, by either mode, whichever is shorter", {
  skip_without_plugin()
  f <- function(x, a) c(x[1]^2 + x[2]^2 - a, x[1] * x[2] - 1)
  system <- xla_objective(f, c(u = 2, v = 0.3), a = 4)
  expect_equal(system$fn(c(2, 0.3)), c(0.09, -0.4))
  expect_identical(unname(system$evaluations()), c(1L, 0L, 0L))
  expect_equal(system$jac(c(2, 0.3)), matrix(c(4, 0.3, 0.6, 2), 2, dimnames = list(NULL, c("u", "v"))))
  x <- system$par
  for (i in 1:20) x <- x - solve(system$jac(x), system$fn(x))
  expect_equal(unname(x[1]^2 + x[2]^2), 4)
  expect_equal(unname(x[1] * x[2]), 1)
  # More parameters than numbers, and a result with rows and columns.
  m <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  wide <- xla_objective(function(x) x[1, ] * x[2, ], m)
  expect_equal(wide$jac(m), rbind(c(2, 1, 0, 0, 0, 0), c(0, 0, 4, 3, 0, 0), c(0, 0, 0, 0, 6, 5)))
  tall <- xla_objective(function(x) hlo_reshape(x, c(2, 1)) %*% hlo_reshape(x, c(1, 2)), c(2, 3))
  expect_equal(tall$fn(c(2, 3)), c(4, 6, 6, 9))
  expect_equal(tall$jac(c(2, 3)), cbind(c(4, 3, 3, 0), c(0, 2, 2, 6)))
})

test_that("value and gradient are computed once per point", {
  skip_without_plugin()
  objective <- xla_objective(rosenbrock, c(-1.2, 1))
  computed <- function() unname(objective$evaluations())
  expect_identical(computed(), c(0L, 0L, 0L))
  objective$fn(c(1, 2))
  objective$gr(c(1, 2))
  objective$fn(c(a = 1, b = 2))
  objective$jac(c(1, 2))
  expect_identical(computed(), c(1L, 1L, 0L))
  objective$he(c(1, 2))
  objective$he(c(1, 2))
  objective$fn(c(1, 2))
  expect_identical(computed(), c(1L, 1L, 1L))
  # 0 and -0 are two points, one NaN is one.
  objective$fn(c(0, NaN))
  objective$fn(c(0, NaN))
  expect_identical(computed(), c(2L, 2L, 1L))
  objective$fn(c(-0, NaN))
  expect_identical(computed(), c(3L, 3L, 1L))
})

test_that("a point that C code overwrites in place is another point", {
  skip_without_plugin()
  code <- c("#include <Rinternals.h>", "SEXP put(SEXP x, SEXP y) { REAL(x)[0] = REAL(y)[0]; return x; }")
  library <- dyn.load(shared_library(code, "put"))
  on.exit(dyn.unload(library[["path"]]))
  put <- getNativeSymbolInfo("put", library)$address
  objective <- xla_objective(function(x) sum(x^2), c(1, 2))
  point <- c(1, 2)
  expect_identical(objective$fn(point), 5)
  .Call(put, point, 3)
  expect_identical(objective$fn(point), 13)
  .Call(put, point, 4)
  expect_identical(objective$gr(point), c(8, 4))
})

test_that("parameters have the form of the template, and R's vectors its names", {
  skip_without_plugin()
  template <- list(beta = matrix(1:4, 2, dimnames = list(c("a", "b"), NULL)), rest = list(c(u = 1, v = 2), s = 3L))
  objective <- xla_objective(
    function(p, w) sum(p$beta * w) + sum(p$rest[[1]])^2 + p$rest$s^3, template,
    w = matrix(c(1, 10, 100, 1000), 2)
  )
  expect_identical(objective$par, unlist(template) * 1)
  x <- objective$par
  expect_equal(objective$fn(x), 4321 + 9 + 27)
  expect_equal(objective$gr(x), stats::setNames(c(1, 10, 100, 1000, 6, 6, 27), names(x)))
  gradient <- objective$relist(objective$gr(x))
  expect_equal(gradient$beta, matrix(c(1, 10, 100, 1000), 2, dimnames = list(c("a", "b"), NULL)))
  expect_equal(gradient$rest, list(c(u = 6, v = 6), s = 27))
  expect_identical(objective$unlist(objective$relist(x)), x)
  expect_equal(unname(diag(objective$he(x))), c(0, 0, 0, 0, 2, 2, 18))
  expect_null(names(xla_objective(function(m) sum(m), matrix(c(1, 2), 1))$par))
  expect_identical(xla_objective(rosenbrock, 1:2)$par, c(1, 2))
})

test_that("data may be buffers, in single precision too", {
  skip_without_plugin()
  f <- function(p, d) sum((d$x * p - d$y)^2)
  x <- pjrt_buffer(c(1, 2, 3), "f64")
  objective <- xla_objective(f, 2, list(x = x, y = c(2, 4, 7)))
  expect_identical(objective$fn(2), 1)
  expect_identical(objective$gr(2), -6)
  single <- xla_objective(f, 0.1, list(x = pjrt_buffer(c(1, 2, 3), "f32"), y = c(2, 4, 7)), dtype = "f32")
  expect_equal(single$fn(0.1), sum((c(1, 2, 3) * 0.1 - c(2, 4, 7))^2), tolerance = 1e-6)
  expect_false(single$fn(0.1) == sum((c(1, 2, 3) * 0.1 - c(2, 4, 7))^2))
})

test_that("what `f` reads besides its arguments may change", {
  skip_without_plugin()
  target <- 1
  objective <- xla_objective(function(x) (x - target)^2, 0)
  expect_identical(objective$fn(3), 4)
  expect_identical(objective$gr(3), 4)
  target <- 3
  expect_identical(objective$fn(3), 0)
  expect_identical(objective$gr(3), 0)
  expect_identical(objective$he(3), matrix(2))
  # Once more at other points, when everything is known.
  target <- 4
  expect_identical(c(objective$fn(1), objective$gr(2)), c(9, -4))
  forget_session()
  expect_identical(c(objective$fn(5), objective$gr(6)), c(1, 4))
})

test_that("... and so may what it reads of the session", {
  skip_without_plugin()
  withr::local_options(xlaffi.test_target = 1)
  objective <- xla_objective(function(x) (x - getOption("xlaffi.test_target"))^2, 0)
  expect_identical(c(objective$fn(3), objective$fn(2)), c(4, 1))
  options(xlaffi.test_target = 5)
  expect_identical(c(objective$fn(3), objective$gr(2)), c(4, -6))
})

test_that("data that are gone are named at every point", {
  skip_without_plugin()
  y <- pjrt_buffer(c(1, 2), "f64")
  objective <- xla_objective(function(x, y) sum((x - y)^2), 1, y = y)
  expect_identical(c(objective$fn(1), objective$fn(2)), c(1, 1))
  double <- "func.func @main(%x: tensor<2xf64> {tf.aliasing_output = 0 : i32}) -> tensor<2xf64> {
    %r = stablehlo.add %x, %x : tensor<2xf64>
    return %r : tensor<2xf64>
  }"
  pjrt_execute(pjrt_compile(pjrt_program(double)), y)
  expect_snapshot(objective$fn(3), error = TRUE)
})

test_that("forward mode takes over where there is a loop, and fn() is left where there are no derivatives", {
  skip_without_plugin()
  # Newton's square root of x[1], times x[2]
  root <- function(x) {
    hlo_while(function(r) abs(r * r - x[1]) > 1e-14, function(r) (r + x[1] / r) / 2, x[1]) * x[2]
  }
  objective <- xla_objective(root, c(2, 3))
  expect_equal(objective$fn(c(2, 3)), 3 * sqrt(2))
  expect_equal(objective$gr(c(2, 3)), c(1.5 / sqrt(2), sqrt(2)))
  expect_equal(objective$he(c(2, 3)), matrix(c(-0.75 / 2^1.5, 0.5 / sqrt(2), 0.5 / sqrt(2), 0), 2), tolerance = 1e-6)
  expect_identical(unname(objective$evaluations()), c(1L, 1L, 1L))
  no_rules <- function(x) sum(hlo_custom_call("kepler", list(x, x * 0), list(x, x))[[1]])
  objective <- xla_objective(no_rules, c(0.5, 1))
  expect_equal(objective$fn(c(0.5, 1)), sum(sin(c(0.5, 1))))
  expect_match(conditionMessage(error_of(objective$gr(c(0.5, 1)))), "has no rule for derivatives")
  fit <- optim(objective$par, objective$fn, method = "Nelder-Mead")
  expect_equal(fit$value, -2, tolerance = 1e-6)
})

test_that("values that are not finite go to the optimiser, derivatives do not", {
  skip_without_plugin()
  objective <- xla_objective(function(x) sum(sqrt(x)), c(a = 1, b = 1))
  expect_identical(objective$fn(c(-1, 1)), NaN)
  # A slope of 0 would be the end of the search.
  expect_identical(objective$gr(c(-1, 1)), c(a = NaN, b = NaN))
  expect_identical(objective$he(c(-1, 1))[, "b"], c(a = NaN, b = NaN))
  expect_identical(objective$evaluations()[["hessian"]], 0L)
  both <- xla_objective(function(x) c(x[1] * x[2], x[2]), c(1, 1))
  expect_identical(both$jac(c(NaN, 2)), rbind(c(NaN, NaN), c(0, 1)))
  expect_identical(objective$fn(c(1, 0)), 1)
  error <- error_of(objective$gr(c(1, 0)))
  expect_s3_class(error, "xlaffi_error_out_of_range")
  expect_match(conditionMessage(error), "parameter `b`", fixed = TRUE)
  # A step too far is taken back.
  deep <- xla_objective(function(x) x - log(x), 3)
  expect_equal(optim(3, deep$fn, deep$gr, method = "BFGS")$par, 1, tolerance = 1e-4)
})

test_that("a saved objective works again, unless its data were buffers", {
  skip_without_plugin()
  objective <- xla_objective(function(x, y) sum((x - y)^2), 1, y = c(1, 2))
  objective$gr(3)
  again <- unserialize(serialize(objective, NULL))
  expect_identical(again$fn(4), 13)
  expect_identical(again$gr(4), 10)
  held <- xla_objective(function(x, y) sum((x - y)^2), 1, y = pjrt_buffer(c(1, 2), "f64"))
  again <- unserialize(serialize(held, NULL))
  expect_snapshot(again$fn(4), error = TRUE)
})

test_that("what is no objective is refused", {
  skip_without_plugin()
  f <- function(x, y) sum((x - y)^2)
  expect_snapshot(error = TRUE, {
    xla_objective("f", 1)
    xla_objective(rosenbrock, "a")
    xla_objective(rosenbrock, list())
    xla_objective(rosenbrock, list(a = factor(1)))
    xla_objective(rosenbrock, pjrt_buffer(1))
    xla_objective(rosenbrock, c(1, 2), negate = NA)
    xla_objective(rosenbrock, c(1, 2), dtype = "f16")
    xla_objective(f, 1, y = mtcars)
    xla_objective(f, 1, y = "a")
    xla_objective(function(x) list(x, x), c(1, 2))
    xla_objective(function(x) NULL, c(1, 2))
    xla_objective(function(x) "a", c(1, 2))
    xla_objective(function(x) complex(real = 1, imaginary = 1), c(1, 2))
    xla_objective(f, 1, y = c(1L, NA))$fn(1)
  })
})

test_that("points and calls that do not fit are refused", {
  skip_without_plugin()
  objective <- xla_objective(function(p) p$a * sum(p$b), list(a = 1, b = c(2, 3)))
  pair <- xla_objective(function(x) x, c(1, 2))
  expect_snapshot(error = TRUE, {
    objective$fn(c(1, 2))
    objective$gr("a")
    objective$fn(list(a = 1, b = c(2, 3)))
    objective$fn(c(b1 = 1, b2 = 2, a = 3))
    objective$he(t(1:3))
    objective$relist(1:2)
    objective$unlist(list(a = 1:2, b = 1))
    pair$gr(c(1, 2))
    pair$he(c(1, 2))
  })
  expect_snapshot({
    objective
    pair
  })
})

test_that("how many numbers the function gives may change with what it reads", {
  skip_without_plugin()
  m <- 1
  objective <- xla_objective(function(x) x[1:m]^2, c(2, 3))
  expect_equal(objective$fn(c(2, 3)), 4)
  m <- 2
  expect_equal(objective$fn(c(2, 3)), c(4, 9))
  expect_equal(objective$jac(c(2, 3)), rbind(c(4, 0), c(0, 6)))
  expect_error(objective$gr(c(2, 3)), "gives 2")
  m <- 1
  expect_equal(objective$gr(c(2, 3)), c(4, 0))
  m <- 2
  expect_error(objective$he(c(2, 3)), "gives 2")
  m <- 1
  expect_equal(objective$he(c(2, 3)), diag(c(2, 0)))
})

test_that("update() replaces data without tracing, as long as they are of the same kind", {
  skip_without_plugin()
  traced <- 0
  scale <- 1
  f <- function(p, x, y, options) {
    traced <<- traced + 1
    sum((y - x %*% p * scale)^2) + options$penalty * sum(p^2)
  }
  plain <- function(p, x, y, penalty) sum((y - x %*% p * scale)^2) + penalty * sum(p^2)
  x <- cbind(1, cos(1:8))
  y <- sin(1:8)
  p <- c(a = 0.3, b = -1.2)
  model <- xla_objective(f, p, x, y, options = list(penalty = 0.5))
  expect_equal(model$fn(p), plain(p, x, y, 0.5))
  model$he(p)
  before <- traced
  other <- update(model, y = rev(y), options = list(penalty = 2))
  expect_s3_class(other, "xlaffi_objective")
  expect_equal(other$fn(p), plain(p, x, rev(y), 2))
  expect_equal(other$gr(p), 2 * drop(crossprod(x, x %*% p - rev(y))) + 4 * p, ignore_attr = "names")
  expect_equal(unname(other$he(p)), 2 * crossprod(x) + diag(4, 2))
  expect_identical(traced, before)
  expect_identical(unname(other$evaluations()), c(1L, 1L, 1L))
  # The old one has its own data and points.
  expect_equal(model$fn(p), plain(p, x, y, 0.5))
  expect_equal(model$fn(2 * p), plain(2 * p, x, y, 0.5))
  # What `f` reads besides is noticed by each.
  scale <- 3
  expect_equal(other$fn(p), plain(p, x, rev(y), 2))
  expect_equal(update(other, y = y)$fn(p), plain(p, x, y, 2))
  expect_equal(model$fn(p), plain(p, x, y, 0.5))
  # Other shapes and dtypes
  before <- traced
  longer <- update(model, x = x[1:5, ], y = y[1:5])
  expect_equal(longer$fn(p), plain(p, x[1:5, ], y[1:5], 0.5))
  expect_equal(update(model, y = 1:8)$fn(p), plain(p, x, 1:8, 0.5))
  expect_gt(traced, before)
  # A buffer, and an objective that has never been asked
  expect_equal(update(model, y = pjrt_buffer(rev(y), "f64"))$fn(p), plain(p, x, rev(y), 0.5))
  expect_equal(update(xla_objective(f, p, x, y, list(penalty = 1)), y = y + 1)$fn(p), plain(p, x, y + 1, 1))
  expect_snapshot(error = TRUE, {
    update(model, z = y)
    update(model, y)
    update(model, y = "a")
  })
})
