# Dtypes and lengths of operands, as in R.

# Every function on the same arguments, in one program.
expect_all_as_in_r <- function(functions, ...) {
  given <- xla_jit(function(...) lapply(functions, function(f) f(...)))(...)
  for (i in seq_along(functions)) {
    label <- paste(deparse(body(functions[[i]])), collapse = " ")
    expected <- functions[[i]](...)
    expect_identical(typeof(given[[i]]), typeof(expected), label = label)
    expect_equal(given[[i]], expected, label = label)
  }
}

test_that("logicals, integers, doubles and complex numbers are promoted", {
  skip_without_plugin()
  expect_all_as_in_r(
    list(
      function(i, j) i + 1, function(i, j) i + 1L, function(i, j) i * 0.5, function(i, j) i + 1i, function(i, j) i / j,
      function(i, j) i^j, function(i, j) i^2, function(i, j) i^3L, function(i, j) (i > 0) + (j > 0),
      function(i, j) -(i > 0), function(i, j) +(i > 0), function(i, j) (i > 0) / (j > 0), function(i, j) (i > 0) * 2.5,
      function(i, j) (i > 0) - j, function(i, j) (i > 0) > (j > 0), function(i, j) i > 0.5, function(i, j) i == 3,
      function(i, j) TRUE == (i > 0),
      function(i, j) sqrt(abs(i)), function(i, j) exp(i > 0), function(i, j) abs(i > 0), function(i, j) sum(i > 0),
      function(i, j) max(i > 0), function(i, j) mean(i), function(i, j) mean(i > 0), function(i, j) i %*% j
    ),
    c(-7L, 3L, 0L, 5L), c(2L, -2L, 0L, 3L)
  )
  types <- xla_jit(function(f, x) {
    expect_identical(as.character(dtype(f + (x > 0))), "f32")
    expect_identical(as.character(dtype((x > 0) * f)), "f32")
    expect_identical(as.character(dtype(f * 2)), "f32")
    f
  })
  types(pjrt_buffer(c(1, 2), "f32"), c(1, 2))
})

test_that("integers are divided as in R, by zero too", {
  skip_without_plugin()
  every <- expand.grid(i = c(-7L, -6L, -1L, 0L, 1L, 6L, 7L, .Machine$integer.max), j = c(-7L, -3L, -1L, 0L, 1L, 3L, 8L))
  expect_all_as_in_r(
    list(
      function(i, j) i %/% j, function(i, j) i %% j, function(i, j) i %/% 3L, function(i, j) i %% -3L,
      function(i, j) i %/% 3, function(i, j) i %% 2.5, function(i, j) i %/% 0L, function(i, j) i / 0L,
      function(i, j) (i > 0) %/% (j > 0), function(i, j) (i > 0) %% 2L
    ),
    every$i, every$j
  )
  bytes <- pjrt_buffer(c(7, 250), "ui8")
  expect_identical(as.vector(as_array(xla_jit(function(x) x %/% 4L)(bytes))), c(1L, 62L))
})

test_that("vectors are repeated along vectors and arrays", {
  skip_without_plugin()
  expect_all_as_in_r(
    list(
      function(x) x * c(1, 2), function(x) 1:3 - x, function(x) x + x[1:2], function(x) 1:12 / x,
      function(x) x > c(2, 4, 6), function(x) x + numeric(), function(x) x * 2
    ),
    c(1.5, -2, 3, 4, 5, 6)
  )
  expect_all_as_in_r(
    list(
      function(m) m * c(1, 2, 3), function(m) c(1, 2) * m, function(m) m - 1:6, function(m) m > 1:12,
      function(m) m * m[, 2], function(m) m + 1L
    ),
    matrix(1:12 / 2, 3)
  )
  expect_all_as_in_r(
    list(function(a) a * c(1, 2), function(a) a + 1:6, function(a) 1:12 / a, function(a) a^(1:24 / 24)),
    array(1:24 / 2, c(2, 3, 4))
  )
  m <- matrix(1:12 / 2, 3)
  expect_equal(xla_grad(function(v, m) sum(m * v))(c(1, 2, 3, 4, 5, 6), m), rowSums(matrix(m, 6)))
  expect_equal(xla_vmap(function(x) x * c(1, 2, 3))(t(m)), t(m * c(1, 2, 3)))
})

test_that("common() is for any number of parts", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  p <- xlaffi:::new_parameter(ffi_type("pred", 2))
  h <- xlaffi:::new_parameter(ffi_type("f32", integer()))
  types <- function(...) {
    sprintf("<%s>", vapply(xlaffi:::common(list(...), "op"), function(x) format(xlaffi:::type_of(x)), ""))
  }
  expect_identical(types(p, 1:2), c("<i32(2)>", "<i32(2)>"))
  expect_identical(types(p, x, 1L), c("<f64(2)>", "<f64(3)>", "<f64(1)>"))
  expect_identical(types(p, h, 1L), c("<f32(2)>", "<f32()>", "<f32(1)>"))
  expect_identical(types(TRUE, 2L, 1i), rep("<c128(1)>", 3L))
  expect_error(xlaffi:::common(list(p, x, h), "op"), class = "xlaffi_error_invalid_argument")
})

test_that("a loop that makes doubles of integers is told how to write it", {
  values_anywhere()
  i <- xlaffi:::new_parameter(ffi_type("i32"))
  expect_snapshot(error = TRUE, hlo_while(function(i) i < 3L, function(i) i + 1, i))
})

test_that("a finite number that would become infinite is refused", {
  skip_without_plugin()
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f32", 2))
  half <- xlaffi:::new_parameter(ffi_type("f16"))
  expect_snapshot(error = TRUE, {
    x + 1e300
    hlo_max(x, c(1, -1e39))
    half * 65520
    c(x, -1e39)
    hlo_erf(x + 1) * 1e39
  })
  expect_identical(xla_jit(function(x) x + 1e300)(1e300), 2e300)
  given <- xla_jit(function(x) list(x + 3.4028235e38, x * hlo_constant(1e39, "f32")))(pjrt_buffer(1, "f32"))
  expect_identical(lapply(given, function(x) as.vector(as_array(x))), list(2^128 - 2^104, Inf))
})

test_that("comparisons with numbers beyond a dtype's range are right", {
  skip_without_plugin()
  data <- c(-Inf, -(2^128 - 2^104), -1, 0, 1, 2^128 - 2^104, Inf, NaN)
  bounds <- c(-Inf, -1e300, -2^128, -1, 1, 2^128, 1e300, Inf)
  compare <- function(x, bound) list(x < bound, x <= bound, x > bound, x >= bound, x == bound, x != bound)
  expected <- list()
  for (bound in bounds) expected <- c(expected, compare(data, bound), compare(bound, data))
  # NaN is no NA for values.
  expected <- lapply(seq_along(expected), function(i) {
    replace(expected[[i]], is.na(expected[[i]]), i %% 6L == 0L)
  })
  compared <- xla_jit(function(x) {
    given <- list()
    for (bound in bounds) given <- c(given, compare(x, bound), compare(bound, x))
    given
  })
  plain <- function(x) as.vector(as_array(x))
  for (dtype in c("f32", "f64", "bf16")) {
    at <- if (dtype == "bf16") replace(data, c(2, 6), c(-1, 1) * (2^128 - 2^120)) else data
    expect_identical(lapply(compared(pjrt_buffer(at, dtype)), plain), expected, label = dtype)
  }
  mixed <- c(1e300, -1e300, 0, 1, -1e300, 1e300, 1e300, 0)
  given <- xla_jit(function(x) x >= mixed)(pjrt_buffer(data, "f32"))
  expect_identical(plain(given), replace(data >= mixed, 8L, FALSE))
})

test_that("logicals are 0 and 1 beside infinities, NaN and zeros", {
  skip_without_plugin()
  # XLA takes a converted logical times y for a choice between y and 0.
  f <- function(l, x) {
    list(
      l * x, x * l, l / x, l / 0, x / l, -l * x, l * -x, (x > 1) * log(abs(x)), l^x, sum(l * x), (l + 0) * x,
      as.numeric(l) * x, mean(l) * x, (l & x > 0) * x, l %*% x, l %o% x, c(l, 0.5) * c(x, Inf), 2i * l * x
    )
  }
  l <- rep(c(TRUE, FALSE), each = 6)
  x <- rep(c(1, -2.5, 0, -0, Inf, -Inf), 2)
  found <- xla_jit(f)(l, x)
  expected <- f(l, x)
  for (i in seq_along(expected)) {
    expect_equal(!!found[[i]], !!expected[[i]], tolerance = 1e-15)
    # Signs of zeros too, but for sums
    if (i < 10L) expect_identical(1 / !!found[[i]], 1 / !!expected[[i]])
  }
})

test_that("real powers are R's for all signs, infinities and NaN", {
  skip_without_plugin()
  points <- c(-Inf, -3, -2, -1, -0.5, -0, 0, 0.5, 1, 2, 3, Inf, NaN)
  x <- rep(points, length(points))
  y <- rep(points, each = length(points))
  constant <- setdiff(points, NaN)
  f <- function(x, y) {
    c(list(x^y, (-2)^y, 1^y, (-Inf)^y, log(x^y)), lapply(constant, function(k) x^k), lapply(constant,
    function(k) log(x^k)))
  }
  found <- xla_jit(f)(x, y)
  expected <- suppressWarnings(f(x, y))
  for (i in seq_along(expected)) expect_equal(!!found[[i]], !!expected[[i]], tolerance = 1e-14)
  slope <- xla_grad(function(x, y) sum(x^y), wrt = 1:2)
  x <- c(2, 0.5, 3, 1.5)
  y <- c(3, -1, 0.5, 2.5)
  expect_equal(unname(slope(x, y)), list(y * x^(y - 1), x^y * log(x)), tolerance = 1e-14)
})

test_that("functions of several arguments have the dimensions of the first one of full length", {
  skip_without_plugin()
  v <- c(0.5, 0.25, 0.75, 0.5, 0.125, 0.875)
  m <- matrix(c(1, 1, 0.5, 1, 2, 1), 3)
  k <- 0.5
  f <- function(v, m, k) {
    list(
      pgamma(v, m), pgamma(m, v), dnorm(v, m), dnorm(v, 0, m), dnorm(k, m), dnorm(m, k), qbeta(v, m, 1), qbeta(v, 1, m),
      qbeta(k, v, m), atan2(v, m), atan2(m, v), atan2(k, m), beta(v, m), besselJ(v, m), besselI(m, v), besselK(k, m),
      dpois(1:6, m), choose(v, m), lbeta(k, m), log(v, m), log(m, v), log(k, m), pmin(v, m), pmin(m, v), pmin(k, m),
      pmax(m, k), pmax(k, v, m), v + m, m^v, v %% m, v > m
    )
  }
  found <- xla_jit(f)(v, m, k)
  expect_equal(found, suppressWarnings(f(v, m, k)), tolerance = 1e-10)
})
