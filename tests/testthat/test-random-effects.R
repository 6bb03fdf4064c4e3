# Laplace's approximation is exact for normal models: their marginal density is known.
groups <- rep(1:6, c(3L, 1L, 4L, 2L, 5L, 3L))
y <- sin(seq_along(groups)) * 2 + cos(groups)
normal_model <- function(p, y, group) {
  -sum(dnorm(y, p$mu + p$u[group], exp(p$log_sd[1]), log = TRUE)) -
    sum(dnorm(p$u, 0, exp(p$log_sd[2]), log = TRUE))
}
start <- list(mu = 0, u = numeric(6), log_sd = c(0, 0.3))
marginal_density <- function(x, y, groups) {
  z <- outer(groups, 1:6, "==") * 1
  v <- diag(exp(2 * x[[2]]), length(y)) + exp(2 * x[[3]]) * tcrossprod(z)
  r <- y - x[[1]]
  (determinant(v)$modulus[[1]] + sum(r * solve(v, r)) + length(y) * log(2 * pi)) / 2
}

test_that("normal random effects are integrated exactly, with gradient and Hessian", {
  skip_without_plugin()
  objective <- xla_objective(normal_model, start, y, groups, random = "u")
  expect_named(objective$par, c("mu", "log_sd1", "log_sd2"))
  x <- c(0.2, -0.1, 0.4)
  expect_equal(objective$fn(x), marginal_density(x, y, groups), tolerance = 1e-12)
  step <- 1e-5
  differences <- function(f, x) {
    vapply(seq_along(x), function(i) {
      by <- replace(0 * x, i, step)
      (f(x + by) - f(x - by)) / (2 * step)
    }, f(x))
  }
  expect_equal(unname(objective$gr(x)), differences(function(x) marginal_density(x, y, groups), x), tolerance = 1e-7)
  he <- unname(objective$he(x))
  expect_equal(he, differences(function(x) unname(objective$gr(x)), x), tolerance = 1e-6)
  expect_equal(he, t(he), tolerance = 1e-9)
  # The optimum is what is expected of the effects.
  shrink <- exp(2 * x[[3]]) * tabulate(groups) / (exp(2 * x[[3]]) * tabulate(groups) + exp(2 * x[[2]]))
  means <- as.vector(tapply(y - x[[1]], groups, mean))
  expect_equal(unname(objective$random(x)), shrink * means, tolerance = 1e-9)
  expect_equal(objective$relist(x)$u, shrink * means, tolerance = 1e-9)
  expect_identical(objective$unlist(objective$relist(x)), stats::setNames(x, names(objective$par)))
  # Other data in other groups, of which the entries are others
  other <- rev(groups)
  changed <- stats::update(objective, group = other)
  expect_equal(changed$fn(x), marginal_density(x, y, other), tolerance = 1e-12)
  expect_output(print(objective), "6 random effects")
})

test_that("random effects that meet in pairs, in loops and in counts have their own optimum", {
  skip_without_plugin()
  skip_unless_all()
  counts <- c(2L, 0L, 3L, 5L, 1L, 4L, 2L, 2L)
  model <- function(p) {
    u <- p$u
    steps <- hlo_scan(function(last, now) list(now, (now - p$phi * last)^2), 0, u)$y
    sum(steps) / 2 + 4 * log(2 * pi) - sum(dpois(counts, exp(u), log = TRUE))
  }
  objective <- xla_objective(model, list(phi = 0.3, u = numeric(8)), random = "u")
  x <- 0.5
  plain <- function(u) {
    sum((u - x * c(0, u[-8]))^2) / 2 + 4 * log(2 * pi) - sum(dpois(counts, exp(u), log = TRUE))
  }
  at <- stats::optim(numeric(8), plain, method = "BFGS", control = list(reltol = 1e-15))
  u <- unname(objective$random(x))
  expect_equal(u, at$par, tolerance = 1e-4)
  h <- diag(exp(u) + 1 + c(rep(x^2, 7), 0))
  h[cbind(1:7, 2:8)] <- h[cbind(2:8, 1:7)] <- -x
  expect_equal(objective$fn(x), plain(u) + determinant(h)$modulus[[1]] / 2 - 4 * log(2 * pi), tolerance = 1e-12)
})

test_that("parameters are fixed and shared by `map`", {
  skip_without_plugin()
  f <- function(p, y) sum((y - p$a)^2) + sum(exp(p$b)) + p$c^2
  data <- c(1, 2, 3)
  objective <- xla_objective(f, list(a = c(0, 1, 5), b = c(1, 2), c = 3), data,
    map = list(a = factor(c("x", NA, "x")), c = NA)
  )
  expect_identical(objective$par, c(a1 = 0, b1 = 1, b2 = 2))
  x <- c(2, 0.5, 0.25)
  expect_equal(objective$fn(x), f(list(a = c(2, 1, 2), b = x[2:3], c = 3), data))
  expect_equal(unname(objective$gr(x)), c(-2 * (1 - 2) - 2 * (3 - 2), exp(x[2:3])))
  expect_identical(objective$relist(x), list(a = c(2, 1, 2), b = x[2:3], c = 3))
})

test_that("models that random effects do not fit are refused or NaN", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_objective(normal_model, start, y, groups, random = "v")
    xla_objective(sum, c(1, 2), random = "u")
    xla_objective(function(p) p$mu^2 + sum(p$u[1:2]^2), list(mu = 1, u = numeric(4)), random = "u")
    xla_objective(function(p) p$u^2, list(u = c(0, 0)), random = "u")
    xla_objective(normal_model, start, y, groups, random = "u", dtype = "f32")
    xla_objective(normal_model, start, y, groups, map = list(u = 1:2))
    xla_objective(normal_model, start, y, groups, map = "u")
    withr::with_envvar(c(PJRT_PLATFORM = "cuda"), xla_objective(normal_model, start, y, groups, random = "u"))
  })
  saddle <- xla_objective(function(p) p$mu^2 - sum(p$u^2), list(mu = 1, u = c(1, 1)), random = "u")
  expect_warning(value <- saddle$fn(1), "no optimum of the random effects was found.* mu = 1;")
  expect_identical(value, NaN)
  outside <- xla_objective(function(p, g) sum((p$u[g] - p$mu)^2), list(mu = 1, u = c(1, 1)), g = 1:3, random = "u")
  expect_warning(outside$fn(1), "begins `f` or its gradient is not finite; an index out of range does this")
  # No derivative goes back through a loop whose length is not known.
  looping <- xla_objective(function(p) {
    scale <- hlo_while(function(i, a) i < 3L, function(i, a) list(i + 1L, a * p$mu), list(0L, p$mu))[[2L]]
    scale * sum((p$u - 1)^2) / 2
  }, list(mu = 2, u = c(0, 0)), random = "u")
  expect_equal(looping$fn(2), log(16) - log(2 * pi))
  expect_error(looping$gr(2), "`while` has no derivative in reverse mode")
  # Densities that are infinite or zero at the maximum, whatever was computed before
  f <- function(p, y, range) {
    -sum(dnorm(p$u, 0, p$sd, log = TRUE), dunif(p$u, -range, range, log = TRUE), dnorm(y, p$u, 1, log = TRUE))
  }
  model <- xla_objective(f, list(sd = 1, u = c(0, 0)), y = c(3, 4), range = 10, random = "u")
  for (at in list(model, update(model, range = 1))) {
    for (before in 1:2) {
      expect_warning(value <- at$fn(0), "no optimum of the random effects was found.* sd = 0;")
      expect_identical(value, NaN)
      expect_identical(at$gr(0), c(sd = NaN))
      expect_identical(c(at$he(0)), NaN)
      suppressWarnings(at$fn(1))
    }
  }
  expect_true(is.finite(model$fn(1)))
  expect_warning(value <- update(model, range = 1)$fn(1), "no optimum")
  expect_identical(value, NaN)
})

test_that("other data need other programs only where the random effects meet elsewhere", {
  skip_without_plugin()
  objective <- xla_objective(normal_model, start, y, groups, random = "u")
  x <- c(0.2, -0.1, 0.4)
  objective$gr(x)
  before <- nrow(xla_cache())
  other <- rev(y)
  changed <- stats::update(objective, y = other)
  expect_equal(changed$fn(x), marginal_density(x, other, groups), tolerance = 1e-12)
  changed$gr(x)
  expect_identical(nrow(xla_cache()), before)
  # All positions are others, and each effect still meets itself alone: the programs are those of before.
  renamed <- stats::update(changed, group = 7L - groups)
  expect_equal(renamed$fn(x), marginal_density(x, other, 7L - groups), tolerance = 1e-12)
  renamed$gr(x)
  expect_identical(nrow(xla_cache()), before)
  expect_equal(objective$fn(x), marginal_density(x, y, groups), tolerance = 1e-12)
  skip_unless_all()
  # Neighbours in a ring, which effects meet is told by the data
  ring <- function(p, from, to) sum((p$u[from] - p$u[to])^2) + sum(p$u^2) * exp(p$a) + sum(p$u)
  first <- xla_objective(ring, list(a = 0.5, u = numeric(6)), from = 1:3, to = 4:6, random = "u")
  expected <- function(a, from, to) {
    h <- diag(2 * exp(a), 6)
    for (k in seq_along(from)) {
      at <- c(from[[k]], to[[k]])
      h[at, at] <- h[at, at] + 2 * c(1, -1, -1, 1)
    }
    -sum(solve(h, rep(1, 6))) / 2 + determinant(h)$modulus[[1]] / 2 - 3 * log(2 * pi)
  }
  expect_equal(first$fn(0.5), expected(0.5, 1:3, 4:6), tolerance = 1e-12)
  second <- stats::update(first, to = c(2L, 3L, 4L))
  expect_equal(second$fn(0.5), expected(0.5, 1:3, 2:4), tolerance = 1e-12)
  expect_equal(first$fn(0.2), expected(0.2, 1:3, 4:6), tolerance = 1e-12)
})

test_that("what `f` reads of the session may tell which random effects meet", {
  skip_without_plugin()
  skip_unless_all()
  pairs <- cbind(1:3, 4:6)
  ring <- function(p) sum((p$u[pairs[, 1]] - p$u[pairs[, 2]])^2) + sum(p$u^2) * exp(p$a) + sum(p$u)
  objective <- xla_objective(ring, list(a = 0.5, u = numeric(6)), random = "u")
  plain <- function() {
    h <- diag(2 * exp(0.5), 6)
    for (k in seq_len(nrow(pairs))) {
      at <- pairs[k, ]
      h[at, at] <- h[at, at] + 2 * c(1, -1, -1, 1)
    }
    -sum(solve(h, rep(1, 6))) / 2 + determinant(h)$modulus[[1]] / 2 - 3 * log(2 * pi)
  }
  pairs <- cbind(1:4, 2:5)
  expect_equal(objective$fn(0.5), plain(), tolerance = 1e-12)
  pairs <- cbind(c(1L, 1L), c(6L, 3L))
  expect_equal(objective$fn(0.5), plain(), tolerance = 1e-12)
})

test_that("the search goes on from where the second derivatives are not positive definite", {
  skip_without_plugin()
  skip_unless_all()
  y <- c(1, 2, 3)
  far <- function(u) {
    xla_objective(function(p, y) {
      -sum(dt(y - p$u, 3, log = TRUE)) - dt(p$u / exp(p$a), 2, log = TRUE) + p$a
    }, list(a = 0, u = u), y, random = "u")
  }
  expect_equal(far(10)$fn(0), far(2)$fn(0), tolerance = 1e-10)
  double_well <- xla_objective(function(p) p$u^4 - p$u^2 + p$a^2, list(a = 5, u = 0.1), random = "u")
  expect_equal(double_well$fn(5), 25 - 0.25 + log(4) / 2 - log(2 * pi) / 2)
  log_part <- xla_objective(function(p) (p$u - p$a)^2 / 2 + log(p$u), list(a = 5, u = 0.9), random = "u")
  u <- (5 + sqrt(21)) / 2
  expect_equal(log_part$fn(5), (u - 5)^2 / 2 + log(u) + log(1 - 1 / u^2) / 2 - log(2 * pi) / 2)
})

test_that("a point with a zero gradient is no optimum where the second derivatives are not positive definite", {
  skip_without_plugin()
  saddle <- xla_objective(function(p) p$mu^2 + sum(p$u^2 * c(1, -1)), list(mu = 1, u = c(0, 0)), random = "u")
  expect_warning(value <- saddle$fn(1), "no optimum of the random effects was found")
  expect_identical(value, NaN)
})

test_that("the search ends at the optimum where an effect hardly moves the likelihood", {
  skip_without_plugin()
  y <- c(2, 0, 30)
  nll <- function(p, y) -sum(dnorm(p$u, 0, exp(p$s), log = TRUE)) - sum(dpois(y, exp(p$u + 3), log = TRUE))
  marginal <- xla_objective(nll, list(s = 0, u = numeric(3)), random = "u", y = y)
  # Of the second one the precision is some 1e-9 there.
  for (s in c(6, 12)) {
    slope <- function(u, y) u / exp(2 * s) + exp(3 + u) - y
    u <- vapply(y, function(y) uniroot(slope, c(-60, 60), y, tol = 1e-15)$root, 0)
    want <- nll(list(s = s, u = u), y) + sum(log(exp(-2 * s) + exp(3 + u))) / 2 - 1.5 * log(2 * pi)
    expect_equal(vapply(c(0, s, s - 0.5, s), marginal$fn, 0)[c(2, 4)], c(want, want), tolerance = 1e-8)
  }
})

test_that("where rounding has left few digits of second derivatives, a warning says so", {
  skip_without_plugin()
  skip_unless_all()
  data <- c(1, -2)
  covariance <- function(p) exp(p$s) * (diag(2) + (1 - exp(-p$gap)) * (1 - diag(2)))
  densities <- list(
    function(p, y) -sum(dnorm(y, p$u, log = TRUE)) - hlo_dmvnorm(p$u, 0, covariance(p), log = TRUE),
    function(p, y) -sum(dnorm(y, p$u, log = TRUE)) - hlo_dmvnorm(p$u, precision = solve(covariance(p)), log = TRUE),
    function(p, y) -sum(dnorm(y, t(chol(covariance(p))) %*% p$u, log = TRUE)) - sum(dnorm(p$u, log = TRUE))
  )
  par <- list(s = 0, gap = 17, u = c(0, 0))
  made <- lapply(densities, xla_objective, par, data, random = "u")
  far <- lapply(made, function(objective) expect_no_warning(objective$he(c(0, 2))))
  expect_equal(far[[2]], far[[1]], tolerance = 1e-8)
  expect_equal(far[[3]], far[[1]], tolerance = 1e-8)
  # Both are normal: the value is known.
  gradient <- function(x) {
    v <- diag(2) + covariance(list(s = x[[1]], gap = x[[2]]))
    (determinant(v)$modulus[[1]] + sum(data * solve(v, data))) / 2
  }
  step <- 1e-3
  slope <- (8 * (gradient(c(step, 17)) - gradient(c(-step, 17))) -
    (gradient(c(2 * step, 17)) - gradient(c(-2 * step, 17)))) / (12 * step)
  for (objective in made[c(1, 3)]) {
    expect_no_warning(objective$he(objective$par))
    expect_equal(objective$gr(objective$par)[["s"]], slope, tolerance = 1e-7)
  }
  told <- "not symmetric \\(relative difference [0-9.]+\\) at s = 0, gap = 17: "
  expect_warning(made[[2]]$he(c(0, 17)), told)
})

test_that("effects that share leaves with parameters and fixed numbers have the same density", {
  skip_without_plugin()
  # Of `u` the first two are one effect and the last is fixed.
  f <- function(p, y) sum((y - p$a - p$u)^2) + sum(p$u^2) * exp(p$a) + sum(p$none)
  y <- c(1, 3, 2, 5)
  start <- list(a = 0.2, none = numeric(), u = c(0, 0, 0, 7))
  objective <- xla_objective(f, start, y, random = "u", map = list(u = factor(c(1, 1, 2, NA))))
  e <- exp(0.2)
  h <- diag(c(4, 2) * (1 + e))
  b <- 2 * c(sum(y[1:2] - 0.2), y[3] - 0.2)
  v <- solve(h, b)
  u <- c(v[[1]], v, 7)
  value <- sum((y - 0.2 - u)^2) + sum(u^2) * e + determinant(h)$modulus[[1]] / 2 - log(2 * pi)
  expect_equal(objective$fn(0.2), value, tolerance = 1e-12)
  expect_equal(objective$random(0.2), v, tolerance = 1e-10, ignore_attr = TRUE)
})

test_that("the density of a sparse precision that parameters make has a gradient and a Hessian", {
  skip_without_plugin()
  skip_unless_all()
  n <- 12L
  y <- c(2L, 0L, 1L, 4L, 3L, 1L, 0L, 0L, 2L, 5L, 2L, 1L)
  model <- function(p, y) {
    on_diagonal <- rep(exp(p$a) + 2, n)
    q <- hlo_sparse(c(on_diagonal, rep(-1, n - 1L)), c(1:n, 2:n), c(1:n, 1:(n - 1L)), c(n, n), symmetric = TRUE)
    sum(p$u * (q %*% p$u)) / 2 - determinant(q)$modulus / 2 - sum(dpois(y, exp(p$b + p$u), log = TRUE))
  }
  objective <- xla_objective(model, list(a = 0.1, b = 0.2, u = numeric(n)), y, random = "u")
  x <- c(0.1, 0.2)
  step <- 1e-4
  differences <- function(f) {
    vapply(1:2, function(i) (f(x + step * (1:2 == i)) - f(x - step * (1:2 == i))) / (2 * step), f(x))
  }
  expect_equal(unname(objective$gr(x)), differences(objective$fn), tolerance = 1e-6)
  he <- unname(objective$he(x))
  expect_equal(he, differences(function(x) unname(objective$gr(x))), tolerance = 1e-6)
})

test_that("what has no optimum, and data that are no numbers, give NaN and a warning that names them", {
  skip_without_plugin()
  f <- function(p, w) p$a^2 + w[1] * sum(exp(-p$u)) + w[2] * sum(p$u^4) + w[3] * sum((p$u - p$a)^2) / 2
  start <- list(a = 1, u = c(1, 2))
  with_weights <- function(...) update(objective, w = c(...))
  objective <- xla_objective(f, start, c(0, 0, 1), random = "u")
  expect_equal(objective$fn(1), 1 - log(2 * pi))
  found <- "no optimum of the random effects was found.* a = 1; the value is NaN$"
  # It falls for ever, has an optimum without second derivatives, or is a saddle.
  for (weights in list(c(1, 0, 0), c(0, 1, 0), c(0, 0, -1))) {
    expect_warning(value <- with_weights(weights)$fn(1), found)
    expect_identical(value, NaN)
  }
  expect_warning(slope <- with_weights(0, 0, NaN)$gr(1), "NaN or infinite numbers are among the data: `w`")
  expect_identical(slope, c(a = NaN))
  u <- stats::uniroot(function(u) u - 1 - exp(-u), c(1, 2), tol = 1e-14)$root
  value <- 1 + 2 * (exp(-u) + (u - 1)^2 / 2) + log(1 + exp(-u)) - log(2 * pi)
  expect_equal(with_weights(1, 0, 1)$fn(1), value, tolerance = 1e-12)
  expect_snapshot(error = TRUE, cran = TRUE, {
    xla_fit(with_weights(0, Inf, 1))
    xla_objective(normal_model, list(mu = 0, u = numeric(2), log_sd = c(0, 0)), 1:3 / 2, c(1L, NA, 2L), random = "u")
    xla_objective(
      normal_model, list(mu = 0, u = numeric(2), log_sd = c(0, 0)), 1:3 / 2,
      group = factor(1:3), random = "u"
    )
    xla_objective(normal_model, list(mu = 0, u = numeric(2), log_sd = c(0, 0)), 1:3 / 2, c("a", "b", "b"), random = "u")
  })
})

test_that("precision matrices among the data that are no precisions give NaN, those that do not fit an error", {
  skip_without_plugin()
  skip_unless_all()
  skip_if_not_installed("Matrix")
  precision <- Matrix::sparseMatrix(c(1:4, 2:4), c(1:4, 1:3), x = rep(c(2.5, -1), c(4, 3)), symmetric = TRUE)
  f <- function(p, y, q) -hlo_dmvnorm(p$u, precision = q * exp(p$a), log = TRUE) + sum((y - p$u)^2)
  objective <- xla_objective(f, list(a = 0, u = numeric(4)), c(1, 0, 2, 1), precision, random = "u")
  expect_true(is.finite(objective$fn(0)))
  broken <- precision
  broken@x[[2L]] <- NaN
  expect_warning(value <- update(objective, q = broken)$fn(0), "NaN or infinite numbers are among the data: `q`")
  expect_identical(value, NaN)
  # Semidefinite: a random walk without a level
  walk <- precision
  walk@x <- c(1, -1, 2, -1, 2, -1, 1)
  for (q in list(walk, Matrix::Diagonal(4, c(1, 1, 1, -1)))) {
    expect_warning(value <- update(objective, q = q)$fn(0), "no optimum of the random effects was found")
    expect_identical(value, NaN)
  }
  expect_snapshot(update(objective, q = Matrix::Diagonal(3))$fn(0), error = TRUE, cran = TRUE)
})

test_that("effects may lie at positions that are computed of constants, without data", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(p) {
    between <- splinefun(0:3, p$u)(c(0.3, 1.2, 2.9))
    -sum(dnorm(p$u, log = TRUE)) - sum(dnorm(between, exp(p$t), 1, log = TRUE))
  }
  start <- list(t = 0, u = c(0.5, 0.3, -0.2, 0.4))
  alone <- xla_objective(f, start, random = "u")
  with_data <- xla_objective(function(p, d) f(p) + 0 * d, start, d = 1, random = "u")
  expect_equal(alone$fn(0.2), with_data$fn(0.2), tolerance = 1e-12)
  expect_equal(alone$gr(0.2), with_data$gr(0.2), tolerance = 1e-12)
})
