least_squares_parts <- function(x, y) list(cross = crossprod(x), score = drop(crossprod(x, y)), rest = sum(y^2))

test_that("sums over blocks are those over all rows", {
  skip_without_plugin()
  set.seed(1)
  x <- matrix(rnorm(210), 70)
  y <- rnorm(70)
  whole <- least_squares_parts(x, y)
  for (size in list(NULL, 1, 7, 10, 35, 69, 70, 1000)) {
    blocks <- xla_jit(function(x, y) hlo_block_sum(least_squares_parts, x, y, size = size))(x, y)
    expect_equal(blocks, whole, tolerance = 1e-13, info = format(size))
  }
  # Names, lists, several dtypes; and what comes from outside
  data <- list(x = x, w = 1:70, keep = y > 0)
  f <- function(data, y, scale) {
    hlo_block_sum(function(d, y) list(sum(d$w), list(sum(d$keep)), scale * sum(y)), y = y, d = data, size = 10)
  }
  got <- xla_jit(f)(data, y, 2)
  expect_identical(got[[1]], 2485L)
  expect_identical(got[[2]][[1]], sum(y > 0))
  expect_equal(got[[3]], 2 * sum(y), tolerance = 1e-13)
  expect_identical(xla_jit(function(x) hlo_block_sum(sum, x))(matrix(0, 0, 3)), 0)
})

test_that("by itself it takes blocks of a quarter of a megabyte that divide the rows", {
  skip_without_plugin()
  sizes <- function(x, ...) {
    seen <- integer()
    out <- xla_jit(function(x) {
      hlo_block_sum(function(x) {
        seen <<- c(seen, nrow(x))
        colSums(x)
      }, x, ...)
    })(x)
    expect_equal(out, colSums(x), tolerance = 1e-10)
    # One row more only shows whether shapes depend on it.
    setdiff(seen, seen[[1L]] + 1L)
  }
  expect_identical(sizes(matrix(1, 100000, 4)), 6250L)
  expect_identical(sizes(matrix(1, 1000, 4)), 1000L)
  # 100003 is a prime number.
  expect_identical(sizes(matrix(1, 100003, 4)), c(8192L, 100003L %% 8192L))
})

test_that("derivatives go through blocks, and batches", {
  skip_without_plugin()
  set.seed(2)
  x <- matrix(rnorm(60), 20)
  y <- as.numeric(runif(20) < 0.5)
  beta <- c(0.3, -0.2, 0.1)
  loss <- function(beta, x, y) {
    odds <- drop(x %*% beta)
    sum(log1p(exp(odds)) - y * odds)
  }
  for (size in c(6, if (all_run()) 4)) {
    blocks <- function(beta, x, y) hlo_block_sum(function(x, y) loss(beta, x, y), x, y, size = size)
    for (wrt in c("beta", "x")) {
      expect_equal(
        xla_grad(blocks, wrt = wrt)(beta, x, y), xla_grad(loss, wrt = wrt)(beta, x, y),
        tolerance = 1e-13
      )
    }
    expect_equal(xla_hessian(blocks)(beta, x, y), xla_hessian(loss)(beta, x, y), tolerance = 1e-13)
    several <- rbind(beta, -beta)
    expect_equal(
      xla_jit(function(b, x, y) xla_vmap(function(b) blocks(b, x, y))(b))(several, x, y),
      unname(apply(several, 1, loss, x, y)),
      tolerance = 1e-13
    )
  }
})

test_that("what cannot be cut or added is refused", {
  skip_without_plugin()
  on_rows <- function(f, ...) xla_jit(function(x) hlo_block_sum(f, x, ...))(matrix(1, 4, 2))
  expect_snapshot(error = TRUE, {
    on_rows(1)
    on_rows(function(x) x > 0, size = 2)
    on_rows(function(x) drop(x %*% c(1, 2)))
    on_rows(function(x) list(sum(x), rowSums(x)), size = 2)
    on_rows(sum, size = 0)
    on_rows(sum, size = "a")
    on_rows(function() 1, size = 2)
    xla_jit(function(x, y) hlo_block_sum(crossprod, x, y))(matrix(1, 4, 2), c(1, 2))
    xla_jit(function(x) hlo_block_sum(function() 1))(1)
  })
})
