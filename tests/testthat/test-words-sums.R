# Summaries, margins, statistics and matrices, beside R's own.

# A function of the user's that gives the values of expressions in `names`.
function_of_words <- function(expressions, names) {
  formals <- stats::setNames(rep(as.list(formals(function(x) NULL)), length(names)), names)
  as.function(c(formals, as.call(c(list(quote(list)), expressions))), globalenv())
}

# Results of all expressions, from one program, beside R's.
expect_words <- function(expressions, ..., tolerance = 1e-12) {
  given <- list(...)
  f <- function_of_words(expressions, names(given))
  found <- do.call(xla_jit(f), given)
  expected <- suppressWarnings(do.call(f, given))
  for (i in seq_along(expressions)) {
    label <- deparse(expressions[[i]])
    expect_equal(as.vector(found[[i]]), as.vector(expected[[i]]), tolerance = tolerance, label = label)
    expect_identical(typeof(found[[i]]), typeof(expected[[i]]), label = label)
    if (is.matrix(expected[[i]])) expect_identical(dim(found[[i]]), dim(expected[[i]]), label = label)
  }
}

test_that("summaries of doubles, integers and logicals, with NaN and without", {
  skip_without_plugin()
  expressions <- as.list(expression(
    sum(x), prod(x), max(x), min(x), range(x), mean(x), sum(x, x, 1), max(x, 3), min(x, 1L, TRUE), range(x, 100),
    prod(x, 2), anyNA(x), is.nan(x), which.max(x), which.min(x), pmax(x, 2), pmin(x, x, 1), var(x), sd(x),
    weighted.mean(x, abs(x)), mean(x, na.rm = TRUE), sum(x, na.rm = TRUE), max(x, na.rm = TRUE),
    range(x, na.rm = TRUE), pmax(x, 2, na.rm = TRUE), var(x, na.rm = TRUE), sd(x, na.rm = TRUE),
    range(x, finite = TRUE), prod(x, na.rm = TRUE), proportions(x), weighted.mean(x, abs(x) + 1, na.rm = TRUE),
    cor(x, x^2), cov(x, sin(x)), var(x, cos(x)), crossprod(x), tcrossprod(x), scale(x)
  ))
  inputs <- list(
    c(3.5, -1, 2, 8, 0.25), c(1, NaN, 3), c(4L, -2L, 7L), c(TRUE, FALSE, TRUE), 2.5, c(1, NaN, NaN, 4, 5, 7),
    matrix(c(3, 1, 4, 1, 5, 9), 2)[, 1:3]
  )
  for (x in inputs[if (all_run()) 1:6 else c(2L, 4L)]) {
    expect_words(expressions, x = x)
  }
  expect_words(expressions[1:15], x = inputs[[7]])
  expect_words(as.list(expression(sum(x), prod(x), mean(x), sum(x, 1, 2L))), x = c(1 + 2i, 3 - 1i))
})

test_that("summaries of arrays of 4096 elements and more, of which XLA takes care in other ways", {
  skip_without_plugin()
  skip_unless_all()
  set.seed(4)
  x <- replace(rnorm(4200), c(9, 800, 4100), c(NaN, Inf, -Inf))
  expect_words(
    as.list(expression(
      sum(x), max(x), min(x), range(x), mean(x), sum(x, na.rm = TRUE), max(x, na.rm = TRUE), min(x, na.rm = TRUE),
      range(x, finite = TRUE), which.max(x), which.min(x), anyNA(x), cummax(x), cummin(x), cumsum(x), pmax(x, 0.5),
      pmin(x, y), pmax(x, y, na.rm = TRUE), sum(pmax(x, 0)), sum(pmin(x, y), na.rm = TRUE), sort(x, na.last = TRUE),
      order(x, y), sum(y), prod(abs(y)^1e-3), var(y), sd(y), median(y), quantile(y, c(0.1, 0.6)), fivenum(y), max(y),
      cummax(y), rank(y), sum(exp(y)), sum(y * y), max(y) + log(sum(exp(y - max(y)))), rowSums(m), colSums(m),
      apply(m, 1, max), apply(m, 2, min), apply(m, 2, range, na.rm = TRUE), colSums(pmax(m, 0)), rowSums(exp(m)),
      colMeans(m, na.rm = TRUE), norm(m, "M"), apply(matrix(y, 6), 2, max), rowSums(matrix(y, 700)^2),
      colSums(matrix(y, 3)), colSums(matrix(y, 42)), sum(k), max(k), range(k), cummax(k), all(k < 99L), crossprod(y, k)
    )),
    x = x, y = rnorm(4200), m = matrix(x, 60), k = sample(-9:9, 4200, TRUE)
  )
})

test_that("summaries of nothing are R's", {
  skip_without_plugin()
  expressions <- as.list(expression(sum(x), prod(x), max(x), min(x), range(x), which.max(x)))
  expect_words(c(expressions, as.list(expression(mean(x)))), x = numeric())
  expect_words(expressions, x = integer())
  # One row has no correlation.
  expect_words(as.list(expression(cor(m), cor(x, x), cor(row), cor(n, use = "complete.obs"), weighted.mean(x, x))),
    x = numeric(), m = matrix(0, 0, 2), row = matrix(1:3 + 0, 1), n = cbind(c(1, NaN, NaN), 1:3))
  expect_words(as.list(expression(any(x), all(x))), x = logical())
})

test_that("extremes of integers that are all NA are NA", {
  skip_without_plugin()
  none <- function(i) i[i + 8L]
  found <- xla_jit(function(i) {
    list(max(none(i), na.rm = TRUE), min(none(i), na.rm = TRUE), range(none(i), na.rm = TRUE) + 1L)
  })(1:2)
  expect_identical(found, list(NA_integer_, NA_integer_, c(NA_integer_, NA_integer_)))
  some <- xla_jit(function(i) range(i[c(9L, 1L, 2L) + i[1] - 1L], na.rm = TRUE))(c(1L, -.Machine$integer.max))
  expect_identical(some, c(-.Machine$integer.max, 1L))
})

test_that("any() and all() of logicals and integers", {
  skip_without_plugin()
  expressions <- as.list(expression(any(x), all(x), any(x, TRUE), all(x, FALSE), any(x > 0L, na.rm = TRUE)))
  for (x in list(c(TRUE, FALSE), c(0L, 2L), c(FALSE, FALSE), c(TRUE, TRUE))) {
    expect_words(expressions, x = x)
  }
})

test_that("sums of integers that are too large are NA, and products with a zero 0", {
  skip_without_plugin()
  large <- .Machine$integer.max
  sums <- xla_jit(function(x) list(sum(x), sum(x, 3L), sum(-x, -3L), sum(x, -2L)))(c(large, 2L))
  expect_identical(lapply(sums, as.vector), list(NA_integer_, NA_integer_, NA_integer_, large))
  expect_identical(as.vector(xla_vmap(sum)(rbind(c(1L, 2L), c(large, 1L)))), c(3L, NA))
  zeros <- c(0, rep(1e300, 63))
  products <- xla_jit(function(x, y) list(prod(x), prod(rev(x)), prod(x[-1], 0), prod(x, y), prod(x[-1])))(zeros, Inf)
  expect_identical(as.vector(unlist(products)), c(0, 0, 0, NaN, Inf))
  expect_identical(as.vector(xla_grad(prod)(c(0, 2, 3))), c(6, 0, 0))
  # A zero keeps its sign, also where XLA does not see that adding 0 changes nothing.
  expect_no_match(xla_program(prod, c(-0, 1)), "stablehlo.add", fixed = TRUE)
})

test_that("norms of large and small matrices", {
  skip_without_plugin()
  m <- cbind(c(3, 0), c(0, 4))
  for (size in c(1e300, 1e-300, 1, 1e200)) {
    expect_equal(xla_jit(function(m) norm(m, "F"))(m * size) / size, 5, tolerance = 1e-15)
    expect_equal(xla_grad(function(m) norm(m, "F"))(m * size), m / 5, tolerance = 1e-15)
    expect_equal(xla_jit(function(m) norm(m * 1i, "F"))(m * size) / size, 5, tolerance = 1e-15)
  }
  expect_identical(xla_jit(function(m) norm(m, "F"))(m * Inf), NaN)
  expect_equal(xla_jit(function(m) norm(hlo_convert(m * 1e30, "f32"), "F"))(m), 5e30, tolerance = 1e-6)
})

test_that("the first extreme, whatever surrounds it", {
  skip_without_plugin()
  expressions <- as.list(expression(which.max(x), which.min(x)))
  for (x in list(c(NaN, -Inf, 5, 2, 5), c(NaN, -Inf, -Inf), c(-Inf, NaN), c(3L, 7L, 7L, 3L), c(TRUE, TRUE))) {
    expect_words(expressions, x = x)
  }
  expect_identical(xla_jit(which.max)(c(NaN, NaN)), NA_integer_)
  expect_identical(as.vector(xla_vmap(which.max)(matrix(c(1, 5, 2, 9, 3, 3), 2))), c(3L, 2L))
})

test_that("rows and columns, and what is swept out of them", {
  skip_without_plugin()
  expressions <- as.list(expression(
    rowSums(m), colSums(m), rowMeans(m), colMeans(m), rowSums(m, na.rm = TRUE), colMeans(m, na.rm = TRUE),
    max.col(m, "first"), max.col(m, "last"), scale(m), scale(m, FALSE), scale(m, TRUE, FALSE),
    scale(m, c(1, 2, 3), c(4, 5, 6)), sweep(m, 2, c(1, 2, 3)), sweep(m, 1, 1:4, "*"), sweep(m, 1:2, m, "+"),
    prop.table(m, 1), proportions(m, 2), proportions(m), which.max(m)
  ))
  m <- matrix(c(3, 1, 4, 1, 5, 9, 2, 6, 5.5, 3, 5, 8), 4)
  expect_words(expressions, m = m)
  expect_words(expressions, m = replace(m, 2, NaN))
  a <- array(as.numeric(1:24), 2:4)
  expect_words(as.list(expression(
    rowSums(a, dims = 2), colMeans(a, dims = 2), colSums(a), sweep(a, c(1, 3), s), sweep(a, c(3, 1), t(s)),
    proportions(a, c(1, 3)), proportions(a, c(3, 1)), marginSums(a, c(3, 1)), margin.table(a, 2), marginSums(a, 1:3),
    marginSums(a)
  )), a = a, s = a[, 1, ])
  expect_words(as.list(expression(rowSums(i), colMeans(i), colSums(i > 2L), marginSums(i, 1))), i = matrix(1:6, 2))
})

test_that("covariances and correlations", {
  skip_without_plugin()
  skip_unless_all()
  m <- matrix(c(3, 1, 4, 1, 5, 9, 2, 6, 5.5, 3, 5, 8), 4)
  expressions <- as.list(expression(
    var(m), cov(m, m^2), cor(m), cor(m, m^2), cor(m, v), cov(m, use = "complete.obs"), cor(m, use = "complete"),
    cor(m, v, use = "na.or.complete"), cor(m, method = "s"), cor(v, m, method = "spearman"),
    mean(v, trim = 0.25), mean(v, trim = 0.3), mean(v, 0.6)
  ))
  expect_words(expressions, m = m, v = c(1, 0, 2, 5))
  expect_words(expressions, m = replace(m, 2, NaN), v = c(1, 0, 2, 5))
  # All elements of an array are one variable.
  a <- array(c(2, 1, 4, 3, 7, 5, 9, 8), c(2, 2, 2))
  expressions <- as.list(expression(var(a), cov(a, z), cov(w, a), cor(a, z)))
  expect_words(expressions, a = a, z = cos(1:8), w = matrix(sin(1:16), 8))
  expect_words(as.list(expression(
    cov2cor(s), mahalanobis(m, c(1, 2, 3), s), mahalanobis(m, 0, s, inverted = TRUE), mahalanobis(c(1, 2, 4), 1, s)
  )), m = m, s = diag(3) + 0.5)
  # Far from zero two passes are needed.
  set.seed(3)
  x <- 1e8 + rnorm(1000)
  expect_words(as.list(expression(var(x), sd(x), cor(x, sin(x)), mean(x))), x = x)
})

test_that("products, norms and systems", {
  skip_without_plugin()
  m <- matrix(c(3, 1, 4, 1, 5, 9, 2, 6, 5.5, 3, 5, 8), 4)
  expect_words(as.list(expression(
    crossprod(m), tcrossprod(m), crossprod(m, m + 1), tcrossprod(m, m + 1), crossprod(m, r), crossprod(r, m),
    tcrossprod(u, m), tcrossprod(r, u), norm(m), norm(m, "I"), norm(m, "F"), norm(m, "M"), norm(m, "2"), m %*% u,
    r %*% m, crossprod(m > 2)
  )), m = m, r = c(1, 2, 3, 4), u = 1:3)
  set.seed(4)
  q <- crossprod(matrix(rnorm(16), 4))
  expect_words(as.list(expression(
    svd(q)$d, svd(b, nu = 0, nv = 0)$d, chol(q), det(q),
    eigen(q, symmetric = TRUE)$values, eigen(q, TRUE, only.values = TRUE)$values, qr.solve(q, v), qr.solve(b, v),
    qr.solve(q), solve(q, v), solve(q, b), solve(q)
  )), q = q, v = c(1, -1, 2, 0.5), b = matrix(rnorm(8), 4), tolerance = 1e-8)
  found <- xla_jit(function(q) c(svd(q), eigen(q, symmetric = TRUE)))(q)
  expect_equal(found$u %*% diag(as.vector(found$d)) %*% t(found$v), q)
  expect_equal(found$vectors %*% diag(as.vector(found$values)) %*% t(found$vectors), q)
  expect_equal(as.vector(xla_jit(function(v) solve(q, v))(c(1, 2, 3, 4))), solve(q, 1:4), tolerance = 1e-8)
})

test_that("what is left out has no derivative, in either mode", {
  skip_without_plugin()
  functions <- list(
    function(x) sum(sqrt(x), na.rm = TRUE), function(x) mean(sqrt(x), na.rm = TRUE),
    function(x) max(sqrt(x), na.rm = TRUE), function(x) prod(sqrt(x), na.rm = TRUE),
    function(x) var(sqrt(x), na.rm = TRUE), function(x) sum(quantile(sqrt(x), c(0.2, 0.7), na.rm = TRUE)),
    function(x) sum(pmax(sqrt(x), 1.5, na.rm = TRUE)), function(x) sum(colMeans(matrix(sqrt(x), 2), na.rm = TRUE)),
    function(x) weighted.mean(sqrt(x), 1:4, na.rm = TRUE), function(x) cor(sqrt(x), 1:4, use = "complete.obs"),
    function(x) sum(c(1, sqrt(x)), na.rm = TRUE), function(x) sum(rev(cbind(x, sqrt(x))), na.rm = TRUE)
  )
  out <- xla_jit(function(x) {
    lapply(functions, function(f) {
      list(xla_grad(f)(x), xla_jacobian(f, mode = "forward")(x))
    })
  })(c(3, -1, 2, 8))
  for (found in out) {
    expect_true(all(is.finite(found[[1L]])))
    expect_true(found[[1L]][[2L]] %in% 0:1)
    expect_equal(found[[1L]], found[[2L]], ignore_attr = TRUE)
  }
  expect_equal(as.vector(out[[1L]][[1L]]), c(0.5 / sqrt(3), 0, 0.5 / sqrt(2), 0.5 / sqrt(8)))
  # An element of no weight has a slope by its weight, and does not count if it is infinite.
  slope <- xla_grad(function(w) weighted.mean(c(1, 2, 4), w))(c(0, 1, 2))
  expect_equal(as.vector(slope), (c(1, 2, 4) - 10 / 3) / 3)
  expect_identical(as.vector(xla_jit(weighted.mean)(c(Inf, 2, NaN), c(0, 1, 0))), 2)
})

test_that("derivatives of the first and second order, and batches", {
  skip_without_plugin()
  skip_unless_all()
  x <- c(3.5, -1, 2, 8, 0.25)
  m <- matrix(sin((1:12)^2), 4)
  of_vectors <- list(
    prod, function(x) sd(x), function(x) var(x), function(x) cor(x, x^2),
    function(x) weighted.mean(x, x^2), function(x) sum(scale(x)^3), function(x) pmax(x, x^2, 0.5)[2],
    function(x) range(x)[1], function(x) max(x, 1), function(x) sum(sin(proportions(x)))
  )
  of_matrices <- list(
    function(m) sum(cos(scale(m))), function(m) sum(sin(cor(m))),
    function(m) sum(mahalanobis(m, colMeans(m), var(m))^2), function(m) norm(m, "2"),
    function(m) sum(sweep(m, 1, rowSums(m^2), "*")), function(m) sum(tcrossprod(m)^2),
    function(m) sum(qr.solve(m, c(1, 2, 3, 5))^2), function(m) sum(prop.table(m, 1)^2)
  )
  # All functions of one kind of argument in one program for each of these
  check <- function(functions, x) {
    values <- xla_jit(function(x) {
      lapply(functions, function(f) list(value = xla_jit(f)(x), gradient = xla_grad(f)(x)))
    })
    tangents <- xla_jit(function(x, direction) {
      lapply(functions, function(f) xla_jvp(xla_grad(f))(x, direction)$tangent)
    })
    batches <- xla_jit(function(batch) lapply(functions, function(f) xla_vmap(f)(batch)))
    direction <- cos(x) / 2
    h <- 1e-5
    at <- values(x)
    before <- values(x - h * direction)
    after <- values(x + h * direction)
    moved <- values(x + 0.25)
    second <- tangents(x, direction)
    batch <- aperm(array(c(x, x + 0.25), c(dim(as.matrix(x)), 2)), c(3, 1, 2))
    both <- batches(if (is.matrix(x)) batch else batch[, , 1])
    for (i in seq_along(functions)) {
      label <- deparse1(body(functions[[i]]))
      along <- function(what) as.vector((after[[i]][[what]] - before[[i]][[what]]) / (2 * h))
      expect_equal(sum(at[[i]]$gradient * direction), along("value"), tolerance = 1e-5, label = label)
      expect_equal(as.vector(second[[i]]), along("gradient"), tolerance = 1e-5, label = label)
      expect_equal(as.vector(both[[i]]), c(at[[i]]$value, moved[[i]]$value), tolerance = 1e-10, label = label)
    }
  }
  check(of_vectors, x)
  check(of_matrices, m)
  # Products have derivatives through zeros.
  zeros <- c(2, 0, 3, 0.5)
  expect_identical(as.vector(xla_grad(prod)(zeros)), c(0, 3, 0, 0))
  expect_equal(xla_hessian(prod)(zeros)[2, ], c(1.5, 0, 1, 6))
})

test_that("what is not available is named", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  z <- xlaffi:::new_parameter(ffi_type("c128", 3))
  m <- xlaffi:::new_parameter(ffi_type("f64", c(3, 2)))
  w <- function(name) xlaffi:::overloads[[name]]$f
  expect_snapshot(error = TRUE, {
    sum(x, na.rm = x)
    max(z)
    any(x)
    sum(x, "a")
    mean(x, trim = x)
    mean(x, trim = 0.1, na.rm = TRUE)
    mean(x, na.rm = 1)
    w("pmax")(x, z)
    w("which.max")(z)
    w("rowSums")(x)
    w("colSums")(m, dims = 2)
    w("max.col")(m)
    w("sweep")(m, 3, x)
    w("sweep")(m, 2, x)
    scale(m, center = x)
    w("prop.table")(m, 3)
    w("var")(x, use = "pairwise.complete.obs")
    w("cov")(x)
    w("cor")(x, x, method = "kendall")
    w("cov")(x, x, method = "spearman")
    w("cor")(x, x, use = "complete.obs", method = "spearman")
    w("cov2cor")(m)
    w("mahalanobis")(m, x, m)
    weighted.mean(x, c(1, 2))
    w("crossprod")(m, c(1, 2))
    w("norm")(x)
    w("norm")(m, "x")
    w("svd")(m, nu = 3)
    w("eigen")(m)
    w("eigen")(w("crossprod")(m))
    w("qr.solve")(t(m))
    w("solve")(m, x, tol = 1)
  })
})

test_that("integers of all widths have extremes", {
  skip_without_plugin()
  skip_unless_all()
  expected <- list(100, 3, c(3, 100), 100, c(3, 100, 100), c(3, 3, 3), 2, 1, c(3, 100, 7), 100)
  for (dtype in c("i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64")) {
    x <- pjrt_buffer(c(3, 100, 7), dtype)
    f <- function(x) {
      parts <- list(
        max(x), min(x), range(x), max(x, 2L), cummax(x), cummin(x), which.max(x), which.min(x), abs(x), Reduce(max, x)
      )
      lapply(parts, hlo_convert, "f64")
    }
    got <- lapply(xla_jit(f)(x), function(part) as.vector(as_array(part)))
    expect_identical(got, expected, label = dtype)
  }
  high <- pjrt_buffer(c(1, 200, 3), "ui8")
  expect_identical(as_array(xla_jit(which.max)(high)), 2L)
  expect_identical(as_array(xla_jit(which.min)(high)), 1L)
})

test_that("pmin() takes arrays as vectors and NULL for nothing, and `use` is no NULL", {
  skip_without_plugin()
  expect_as_r(
    pmin(1:3, x), pmin(x, 1:3), pmax(m, matrix(1:4, 1)), pmax(m, 1), pmax(1:4, m), pmax(m, NULL, 2), pmax(x, NULL),
    data = list(x = matrix(2), m = matrix(c(2, 1, 1, 3), 2))
  )
  refused <- function(f) expect_error(xla_program(f, c(1, 2)), "`use` must be one of", class = "xlaffi_error")
  for (f in list(function(x) cor(x, x, use = NULL), function(x) cov(x, x, NULL), function(x) var(x, use = NULL))) {
    refused(f)
  }
})
