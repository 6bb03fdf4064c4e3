test_that("loops carry values, use those from outside, and may be nested", {
  skip_without_plugin()
  root <- xla_jit(function(y) {
    hlo_while(function(x) max(abs(x * x - y)) > 1e-12, function(x) (x + y / x) / 2, y)
  })
  expect_equal(as.vector(root(c(2, 9))), sqrt(c(2, 9)))
  # The sum of i * j over i < n, j < m.
  table <- xla_jit(function(n, m) {
    outer <- hlo_while(
      cond = function(i, total) i < n,
      body = function(i, total) {
        inner <- hlo_while(
          cond = function(j, row) j < m,
          body = function(j, row) list(j + 1L, row + i * j),
          init = list(j = m * 0L, row = total)
        )
        list(i + 1L, inner$row)
      },
      init = list(i = n * 0L, total = n * 0L)
    )
    outer$total
  })
  expect_identical(as.vector(table(4L, 5L)), sum(rep(0:3, 5) * rep(0:4, each = 4)))
})

test_that("a loop that does not fit is refused", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  expect_snapshot(error = TRUE, {
    hlo_while(TRUE, identity, x)
    hlo_while(function(x) x > 0, function(x) x, x)
    hlo_while(function(x) sum(x) > 0, function(x) sum(x), x)
    hlo_while(function(x) sum(x) > 0, function(x) list(x, x), x)
  })
})

test_that("a value that leaves its function is refused where it is used", {
  skip_without_plugin()
  kept <- NULL
  f <- xla_jit(function(x) {
    hlo_while(function(i) i < 3L, function(i) {
      kept <<- i * 2L
      i + 1L
    }, x)
    kept + x
  })
  expect_snapshot(error = TRUE, f(1L))
  expect_error(xla_jit(function(x) x + kept)(1L), "another program")
  # Also where none is written
  expect_error(kept + 1L, "another program", class = "xlaffi_error")
  expect_error(sum(kept), "another program", class = "xlaffi_error")
})

test_that("one number of R in `init` is a scalar, as in scan and fori", {
  skip_without_plugin()
  out <- xla_jit(function(x) {
    shapes <- list()
    result <- hlo_while(function(s, y) s < 5, function(s, y) {
      shapes <<- list(shape(s), shape(y))
      list(s + x, y * 2)
    }, list(0, x))
    list(result, length(shapes[[1]]) + hlo_constant(0, "f64", integer()))
  })(1)
  expect_identical(out, list(list(5, 32), 0))
})
