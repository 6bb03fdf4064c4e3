data <- list(x = c(2, 1, 2, -0.0, 0, 5, 1), k = c(4L, 2L, 2L, 9L, 1L, 2L, 4L), l = c(TRUE, FALSE, TRUE),
  m = matrix(sin(1:12), 3))

test_that("sort, order and rank are R's", {
  skip_without_plugin()
  expect_as_r(
    sort(x), sort(x, TRUE), sort(k), sort(k, decreasing = TRUE), order(x), order(x, decreasing = TRUE), order(-x),
    order(k, x),
    order(k, x, decreasing = c(TRUE, FALSE), method = "radix"), rank(x), rank(x, ties.method = "min"), sort(l), sort(m),
    rank(x, ties.method = "max"), rank(x, ties.method = "first"), rank(x, ties.method = "last"), rank(k), rank(l),
    sort(as.complex(x)), order(as.complex(x) * 1i), sort(x, index.return = TRUE), sort.int(x), x[order(x)],
    m[order(m[, 1]), ], rev(sort(x)), sort(x)[1:3], sort(x[0]), order(x[0]), rank(x[0]), sort(x[1]), order(l),
    data = data
  )
  with_nan <- list(y = c(2, NaN, 1, 2, -0.0, 0, -NaN, 5, 1))
  expect_as_r(
    sort(y, na.last = TRUE), sort(y, TRUE, na.last = TRUE), sort(y, na.last = FALSE), order(y),
    order(y, na.last = FALSE),
    order(y, decreasing = TRUE), order(y, decreasing = TRUE, na.last = FALSE), order(y, -y),
    rank(y, TRUE), rank(y, FALSE), rank(y, TRUE, "first"), rank(y, FALSE, "first"), rank(y, FALSE, "min"),
    rank(y, TRUE, "last"),
    rank(y, FALSE, "last"), rank(y, "keep", "min"), rank(y, "keep"), rank(y),
    data = with_nan
  )
  expect_equal(xla_jit(function(y) sort(y))(with_nan$y), c(sort(with_nan$y), NaN, NaN))
})

test_that("intervals are found and counted as in R", {
  skip_without_plugin()
  expect_as_r(
    findInterval(x, c(0, 1, 2)), findInterval(x, c(0, 1, 2), TRUE), findInterval(x, c(0, 1, 2), all.inside = TRUE),
    findInterval(x, c(0, 1, 2), left.open = TRUE), findInterval(x, c(-4, 1, 5), TRUE, TRUE, TRUE),
    findInterval(x, sort(x)),
    findInterval(x, 1), findInterval(c(x, NaN), sort(x)), findInterval(k, 2:3), findInterval(x, c(0, 0, 1, 1, 5)),
    findInterval(x, c(0, 5), left.open = TRUE, rightmost.closed = TRUE), findInterval(x, numeric()),
    findInterval(m, -1:1),
    is.unsorted(x), is.unsorted(sort(x)), is.unsorted(sort(x), strictly = TRUE), is.unsorted(k), is.unsorted(x[1]),
    tabulate(k, 5), tabulate(k, 10), tabulate(x, 3),
    data = data
  )
  many <- list(v = sort(sin(1:1000)), x = c(sin(1:50), -2, 2))
  expect_as_r(findInterval(x, v), findInterval(x, v, left.open = TRUE), data = many)
  search <- xla_jit(function(v, x) list(hlo_searchsorted(v, x), hlo_searchsorted(v, x, right = TRUE)))
  expect_identical(search(c(1, 2, 2, 3), matrix(c(0, 2, 3, 9), 2)),
    list(matrix(c(0L, 1L, 3L, 4L), 2), matrix(c(0L, 3L, 4L, 4L), 2)))
  expect_identical(search(c(1, 2, NaN), c(2, NaN)), list(c(1L, 2L), c(2L, 3L)))
  top <- xla_jit(function(m) hlo_top_k(m, 2))(data$m)
  expect_equal(top$values, t(apply(data$m, 1, function(r) sort(r, TRUE)[1:2])))
  expect_identical(top$indices, t(apply(data$m, 1, function(r) order(r, decreasing = TRUE)[1:2])))
})

test_that("sorting has derivatives and batches", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(x, m) {
    sum(sort(x) * c(1, 4, 9, 16)) + sum(sort(m[2, ], TRUE)^2 * x) + sum(x[order(m[1, ])] * 1:4) +
      sum(hlo_top_k(m, 2)$values[, 2]^3)
  }
  x <- c(0.3, -1, 2, 0.5)
  expect_gradient(f, x, data$m)
  expect_gradient(f, x, data$m, wrt = 2)
  slope <- xla_grad(f)
  expect_gradient(function(x, m) sum(slope(x, m)^3), x, data$m)
  one <- xla_jit(f)
  expect_equal(xla_vmap(f, list(1, NULL))(rbind(x, -x), data$m), c(one(x, data$m), one(-x, data$m)))
  expect_equal(xla_vmap(f, list(NULL, 1))(x, aperm(array(c(data$m, -data$m), c(3, 4, 2)), c(3, 1, 2))),
    c(one(x, data$m), one(x, -data$m)))
  ranks <- xla_vmap(function(x) rank(x))(rbind(x, -x, c(1, 1, 2, 0)))
  expect_identical(ranks, rbind(rank(x), rank(-x), rank(c(1, 1, 2, 0))))
})

test_that("errors say what sorting takes", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, data$x, data$m))
  expect_snapshot(error = TRUE, {
    trace(function(x, m) sort(x, partial = 2))
    trace(function(x, m) order(x, na.last = NA))
    trace(function(x, m) order(x, 1:3))
    trace(function(x, m) rank(x, ties.method = "random"))
    trace(function(x, m) rank(x * 1i))
    trace(function(x, m) findInterval(x, c(2, 1)))
    trace(function(x, m) findInterval(x, c(1, NA)))
    trace(function(x, m) tabulate(x))
    trace(function(x, m) hlo_top_k(x, 9))
    trace(function(x, m) hlo_searchsorted(m, x))
  })
})
