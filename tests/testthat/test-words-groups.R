x <- c(3, -1, 2, 0.5, 8, NaN)
data <- list(
  x = x, m = matrix(sin(1:12), 6), k = c(4L, 2L, 9L, -1L, 5L, 5L), b = c(TRUE, FALSE, TRUE, TRUE, FALSE, TRUE), s = 2.5
)

test_that("sums, means and other functions of groups are R's", {
  skip_without_plugin()
  expect_as_r(
    rowsum(m, c(2, 1, 2, 3, 1, 1)), rowsum(x, c("b", "a", "b", "a", "c", "c")),
    rowsum(m, c(2, 1, 2, 3, 1, 1), reorder = FALSE),
    rowsum(x, rep(1:2, 3), na.rm = TRUE), rowsum(k, factor(c(1, 1, 3, 3, 1, 1), levels = 3:1)),
    rowsum(m[, 1], c(10, 9, 10, 9, 10, 9)), rowsum(s, 4),
    tapply(k, c(1, 1, 2, 2, 3, 3), sum), tapply(k, c(1, 1, 2, 2, 3, 3), mean), tapply(b, rep(2:1, 3), sum),
    tapply(x, c(1, 1, 2, 2, 3, NA), sum), tapply(x, rep(1:2, 3), mean), tapply(x, rep(1:2, 3), mean, na.rm = TRUE),
    tapply(m[, 2], rep(1:2, 3), function(g) diff(range(g))), tapply(m, rep(1:3, 4), sum),
    ave(x), ave(x, rep(1:2, 3)), ave(k, c(1, 1, 2, 2, 3, 3)), ave(m, rep(1:3, 4)),
    ave(m[, 1], c(1, 1, 2, 2, 2, 1), FUN = sum), ave(m[, 1], rep(1:2, 3), rep(1:2, each = 3), FUN = max),
    ave(m[, 1], c(1, 1, 2, 2, 2, 1), FUN = function(g) (g - mean(g)) / s),
    ave(m[, 1], c(2, 1, 2, 1, 1, 1), FUN = cumsum),
    ave(k, rep(1:2, 3), FUN = "sum"),
    data = data
  )
})

test_that("sums of integers that R has no place for are NA", {
  skip_without_plugin()
  large <- c(.Machine$integer.max, 1L, 5L)
  expect_identical(drop(xla_jit(function(k) rowsum(k, c(1, 1, 2)))(large)), c(NA, 5L))
})

test_that("groups have derivatives and batches", {
  skip_without_plugin()
  groups <- c(1, 2, 2, 1, 3, 3, 3)
  f <- function(x) sum(rowsum(x^2, groups)[, 1]^2) + sum(ave(x, groups)^3) + sum(tapply(x, groups, mean) * 1:3)
  x <- sin(1:7)
  expect_equal(xla_jit(f)(x), f(x))
  slope <- vapply(1:7, function(i) {
    step <- replace(numeric(7), i, 1e-6)
    (f(x + step) - f(x - step)) / 2e-6
  }, 0)
  expect_equal(xla_grad(f)(x), slope, tolerance = 1e-7)
  rows <- rbind(x, rev(x))
  expect_equal(xla_vmap(function(x) ave(x, groups))(rows), unname(t(apply(rows, 1, ave, groups))))
})

test_that("many groups are one node", {
  groups <- rep(1:500, 3)
  count <- function(f) length(xla_graph(f, ffi_type("f64", 1500))$nodes)
  expect_lt(count(function(x) ave(x, groups)), 20)
  expect_lt(count(function(x) tapply(x, groups, sum)), 20)
})

test_that("what is no group is refused", {
  trace <- function(f) xla_program(f, ffi_type("f64", 4), ffi_type("i32", 4))
  expect_snapshot(error = TRUE, {
    trace(function(x, k) rowsum(x, k))
    trace(function(x, k) rowsum(x, 1:3))
    trace(function(x, k) rowsum(x, c(1, NA, 1, 1)))
    trace(function(x, k) rowsum(complex(real = x), 1:4))
    trace(function(x, k) rowsum(x > 0, 1:4))
    trace(function(x, k) rowsum(x, list(1:4)))
    trace(function(x, k) rowsum(x, 1:4, na.rm = NA))
    trace(function(x, k) ave(x, k))
    trace(function(x, k) ave(x, 1:3))
    trace(function(x, k) ave(x, c(1, 1, 1, 2), FUN = function(g) g[c(1, 1)]))
  })
})
