# Every elementwise function beside R's own.

expect_as_in_r <- function(f, ..., tolerance = 1e-14) {
  expected <- f(...)
  result <- xla_jit(f)(...)
  dim(result) <- dim(expected)
  expect_equal(result, expected, tolerance = tolerance)
}

test_that("R's functions and operators give what they give in R", {
  skip_without_plugin()
  x <- c(-0.7, 0.3, 0.5)
  functions <- list(
    abs, exp, expm1, cos, sin, tan, tanh, sinh, cosh, floor, ceiling, sign, atan, asin, acos, trunc, round, log1p,
    function(x) log(abs(x)), function(x) log2(abs(x)), function(x) log10(abs(x)), function(x) log(abs(x), 3),
    function(x) sqrt(abs(x)), function(x) x %% 0.4, function(x) x %% -0.4, function(x) x %/% 0.4,
    function(x) x^3, function(x) x^2, function(x) abs(x)^0.3, function(x) 2^x, function(x) -x, function(x) +x,
    function(x) 2 / x, function(x) x > 0.2, function(x) !(x > 0.2 | x < -0.2) & x != 0.3, function(x) x <= 0.3,
    function(x) x * c(1, 2, 3), max, min, sum, mean
  )
  for (f in one_in(3L, functions)) {
    expect_as_in_r(f, x)
  }
  for (f in list(abs, sign, function(x) x %% 3L, function(x) x * 2L, function(x) -x, max, min, sum)) {
    expect_as_in_r(f, c(-5L, 0L, 7L))
  }
  z <- complex(real = c(0.3, -1.2), imaginary = c(0.7, 0.1))
  complex_functions <- list(
    exp, sin, cos, tanh, sqrt, log, abs, Mod, Re, Im, Conj, Arg, sum, function(z) z * 1i, function(z) z / z
  )
  for (f in one_in(3L, complex_functions)) {
    expect_as_in_r(f, z)
  }
})

test_that("functions that R has under other names", {
  skip_without_plugin()
  x <- c(-1, 0.5, 2)
  run <- function(f, ...) as.vector(xla_jit(f)(...))
  expect_equal(run(function(x) hlo_add(NULL, x, 1, NULL, x), x), 2 * x + 1)
  expect_identical(run(function(x) if (is.null(hlo_add(NULL, NULL))) x else 2 * x, x), x)
  expect_equal(run(function(x) hlo_max(x, 1), x), pmax(x, 1))
  expect_equal(run(function(x) hlo_min(0, x), x), pmin(0, x))
  expect_equal(run(hlo_atan2, x, rev(x)), atan2(x, rev(x)))
  expect_equal(run(hlo_logistic, x), stats::plogis(x), tolerance = 1e-15)
  expect_equal(run(hlo_rsqrt, abs(x)), 1 / sqrt(abs(x)))
  expect_equal(run(function(x) hlo_select(x > 0, x, -1), x), ifelse(x > 0, x, -1))
  expect_equal(run(function(x, y) hlo_select(y > 0, x, 0), x, 1), x)
  expect_identical(run(function(x) hlo_convert(x, "i32"), c(-1.7, 2.7)), c(-1L, 2L))
  expect_identical(run(function(x) hlo_convert(x, "c128"), x), as.complex(x))
  expect_equal(run(hlo_complex, x, rev(x)), complex(real = x, imaginary = rev(x)))
})

test_that("one element is repeated, whatever its rank and side", {
  skip_without_plugin()
  m <- matrix(1:6 / 2, 2)
  f <- xla_jit(function(m, s) s * m + s)
  expect_equal(f(m, 2), m * 2 + 2)
  expect_equal(f(2, m), 2 * m + m)
  expect_identical(shape(f(pjrt_scalar(2, "f64"), pjrt_buffer(3, "f64"))), 1L)
})

test_that("wrong operands are named", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  i <- xlaffi:::new_parameter(ffi_type("i32", 3))
  z <- xlaffi:::new_parameter(ffi_type("c128", 3))
  h <- xlaffi:::new_parameter(ffi_type("f32", 3))
  l <- xlaffi:::new_parameter(ffi_type("i64", 3))
  m <- xlaffi:::new_parameter(ffi_type("f64", c(4, 2)))
  expect_snapshot(error = TRUE, {
    x + h
    i + l
    x + m
    x + xlaffi:::new_parameter(ffi_type("f64", c(1, 1)))
    m + xlaffi:::new_parameter(ffi_type("f64", c(2, 4)))
    x * c(1, 2)
    l + 1.5
    h * 1i
    x + "a"
    sqrt(l)
    z < z
    !x
    hlo_max(x, h)
    hlo_select(x, x, x)
    hlo_select(x > 0, x, h)
    hlo_select(m > 0, x, x)
    hlo_convert(z, "f64")
    hlo_convert(x, "f65")
    hlo_real(x)
    hlo_complex(i, i)
    gamma(x)
    hlo_constant("a")
    hlo_constant(1:3, shape = 2)
    hlo_constant(NA)
    hlo_iota("pred", 3)
    hlo_iota("i32", 3, axis = 2)
    hlo_broadcast(x, x)
    hlo_sum(x, x)
    hlo_dynamic_slice(x, list(1L), x)
  })
  expect_identical(error_of(x + h)$op, "`+`")
})

test_that("values tell what they are", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", c(3, 2)))
  expect_null(dim(xlaffi:::new_parameter(ffi_type("f64", 3))))
  expect_identical(shape(xlaffi:::new_parameter(ffi_type("f64", 3))), 3L)
  expect_identical(dim(x), c(3L, 2L))
  expect_identical(length(x), 6L)
  expect_identical(nrow(x), 3L)
  expect_identical(shape(x), c(3L, 2L))
  expect_identical(as.character(dtype(x)), "f64")
  expect_snapshot({
    x
    ffi_type("pred")
  })
})

test_that("whole quotients and remainders are R's", {
  skip_without_plugin()
  grid <- expand.grid(
    x = c(-Inf, -1e300, -7, -1, -0.3, -1e-310, 0, 1e-310, 0.1, 0.3, 1, 1.5, 5, 1e15, 1e300, Inf, NaN),
    y = c(-Inf, -3, -1, -0.1, -1e-300, 0, 1e-300, 0.1, 0.7, 1, 2.5, 3, 1e16, Inf, NaN)
  )
  # Subnormal numbers are none in XLA's own operations.
  grid <- grid[abs(grid$x) > 1e-300 | grid$x %in% 0 | is.na(grid$x), ]
  expect_identical(xla_jit(function(x, y) x %/% y)(grid$x, grid$y) + 0, grid$x %/% grid$y + 0)
  for (y in c(0.1, 3, -0.7, 7)) {
    x <- seq(-50, 50) * y
    expect_identical(xla_jit(function(x) x %/% y)(x) + 0, x %/% y + 0)
    expect_equal(xla_jit(function(x) x %/% y * y + x %% y)(x), x, tolerance = 1e-14)
  }
  expect_identical(xla_jit(function(x, y) x %/% y)(1, 0.1), 9)
  expect_identical(as.vector(xla_grad(function(x) sum(x %/% 0.3))(c(1, 2))), c(0, 0))
})

test_that("hyperbolic functions reach as far as R's", {
  skip_without_plugin()
  x <- c(-710.4, -710, -30, -1.1, -0.9, -1e-20, 0, 1e-20, 1e-5, 0.5, 1, 3, 709, 710, 710.4, 711, -711)
  expect_equal(xla_jit(cosh)(x), cosh(x), tolerance = 1e-14)
  expect_equal(xla_jit(sinh)(x), sinh(x), tolerance = 1e-14)
  near <- c(-1e-9, 1e-20, 0.3, 0.99, 1.01, 5)
  expect_lt(max(abs(xla_jit(sinh)(near) / sinh(near) - 1)), 1e-15 * 4)
  for (f in list(cosh, sinh)) {
    second <- xla_grad(function(x) sum(xla_grad(function(x) sum(f(x)))(x)))
    expect_equal(second(near), f(near), tolerance = 1e-14)
  }
  expect_equal(xla_jit(cosh)(1 + 2i), cosh(1 + 2i), tolerance = 1e-15)
  expect_equal(xla_jit(sinh)(c(0.1 + 2i, 3 - 1i)), sinh(c(0.1 + 2i, 3 - 1i)), tolerance = 1e-15)
})

test_that("logical operators take integers as R does", {
  skip_without_plugin()
  x <- c(0L, 1L, 2L, -5L)
  y <- c(4L, 0L, 1L, 2L)
  expect_identical(xla_jit(function(x) !x)(x), !x)
  expect_identical(xla_jit(function(x, y) x & y)(x, y), x & y)
  expect_identical(xla_jit(function(x, y) x | y)(x, y), x | y)
  expect_identical(xla_jit(function(x) (x > 0L) & !(x == 2L))(x), c(FALSE, TRUE, FALSE, FALSE))
})
