# The members of the group Math, beside R's own.

# The largest relative difference; where R has NaN so must we.
off_by <- function(result, expected) {
  result <- as.vector(result)
  expected <- as.vector(expected)
  expect_identical(is.nan(result), is.nan(expected))
  same <- is.nan(expected) | result == expected
  max(0, (Mod(result - expected) / Mod(expected))[!same])
}

real_points <- c(
  -10^seq(-300, 300, by = 17.3), 10^seq(-300, 300, by = 17.3), seq(-3, 3, by = 0.137), 1 + 10^-(1:15), 0, -0.5, NaN,
  Inf, -Inf, -1, -0.41
)

test_that("functions of real numbers agree with R from the smallest to the largest", {
  skip_without_plugin()
  names <- c(
    "asinh", "acosh", "atanh", "log1p", "expm1", "log2", "log10", "sqrt", "tanh", "asin", "acos", "atan", "trunc",
    "floor", "ceiling", "sign"
  )
  found <- xla_jit(function(x) lapply(names, function(name) get(name)(x)))(real_points)
  for (i in seq_along(names)) {
    expect_lt(off_by(found[[i]], suppressWarnings(get(names[[i]])(real_points))), 1e-15)
  }
  single <- pjrt_buffer(real_points[abs(real_points) < 1e30 & abs(real_points) > 1e-30], "f32")
  rounded <- as_array(single)
  names <- c("asinh", "acosh", "atanh", "log1p", "log10")
  found <- xla_jit(function(x) lapply(names, function(name) get(name)(x)))(single)
  for (i in seq_along(names)) {
    expect_lt(off_by(as_array(found[[i]]), suppressWarnings(get(names[[i]])(rounded))), 4e-7)
  }
})

test_that("signs of zeros are R's", {
  skip_without_plugin()
  zeros <- c(0, -0)
  names <- c("sign", "trunc", "floor", "ceiling", "round", "sqrt", "sin", "tan", "asinh", "expm1", "log1p", "abs")
  f <- function(x) lapply(names, function(name) 1 / get(name)(x))
  # Those of IEEE 754, which R has up to 4.5; later ones lose the sign in sin() and others.
  expected <- c(list(c(Inf, Inf)), rep(list(c(Inf, -Inf)), length(names) - 2L), list(c(Inf, Inf)))
  expect_identical(xla_jit(f)(zeros), expected)
  expect_identical(as.integer(as_array(xla_jit(sign)(pjrt_buffer(0:2, "ui8")))), c(0L, 1L, 1L))
})

test_that("powers of NA and of NaN, and to them, are R's", {
  skip_without_plugin()
  x <- c(NA, NaN, 1, 0, 2)
  expect_as_r(x[1]^y, x[2]^y, x^0, 1^x, y^x[1], x^y, x[3]^x, data = list(x = x, y = c(0, 1, -1, 2, -0)))
  # Beside them derivatives are what they were.
  slopes <- xla_grad(function(x, y) sum(x^y), 1:2)(c(1, 1, 2), c(2.5, 0, 0))
  expect_equal(slopes, list(c(2.5, 0, 0), c(0, 0, log(2))), ignore_attr = TRUE)
  # At zero they are those of powers by known numbers, of any order, and -0 counts as 0.
  power <- function(x, y) sum(x^y)
  for (zero in c(0, -0)) {
    at <- rep(zero, 5)
    y <- c(1, 2, 3, 0.5, 0)
    expect_identical(as.vector(xla_grad(power)(at, y)), c(1, 0, 0, Inf, 0))
    expect_identical(as.vector(xla_jvp(power)(list(zero, 1), list(1, 0))$tangent), 1)
    expect_identical(xla_hessian(power)(at[1:3], y[1:3]), diag(c(0, 2, 0)))
    expect_identical(as.vector(xla_jacobian(xla_hessian(power))(zero, 3)), 6)
    expect_identical(1 / xla_jit(function(x, y) x^y)(at[1:4], y[1:4]), rep(Inf, 4))
  }
})

test_that("integers and logicals become doubles where they do in R", {
  skip_without_plugin()
  f <- function(x) {
    list(exp(x), sqrt(x), sign(x), abs(x), trunc(x), round(x), log1p(x), cumsum(x), cumprod(x), cummax(x))
  }
  for (x in list(c(0L, 3L, 7L), c(TRUE, FALSE, TRUE))) {
    found <- xla_jit(f)(x)
    expected <- f(x)
    expect_equal(found, expected, tolerance = 1e-15)
    expect_identical(vapply(found, typeof, ""), vapply(expected, typeof, ""))
  }
})

test_that("whole logarithms are exact", {
  skip_without_plugin()
  expect_identical(xla_jit(log10)(10^(-22:22)), log10(10^(-22:22)))
  expect_identical(xla_jit(log2)(2^(-1022:1022)), as.double(-1022:1022))
  expect_identical(xla_jit(function(x) log(x, 10))(c(1000, 1e-3)), c(3, -3))
  expect_equal(xla_jit(function(x, b) log(x, b))(c(8, 9), c(2, 3)), c(3, 2))
  expect_equal(xla_jit(function(x) log(x, base = 3))(5), log(5, base = 3))
})

test_that("multiples of pi are exact at halves", {
  skip_without_plugin()
  halves <- seq(-5, 5, by = 0.5)
  points <- c(0.1, 0.3, -0.7, 1.25, 2.75, 1e-10, 1e15 + 0.5)
  for (f in list(sinpi, cospi, tanpi)) {
    expect_identical(xla_jit(f)(halves) + 0, suppressWarnings(f(halves)) + 0)
    expect_lt(off_by(xla_jit(f)(points), suppressWarnings(f(points))), 4e-15)
  }
  # Beyond what sin(pi * x) has
  expect_equal(xla_jit(sinpi)(1 + 1e-5), -sin(pi * ((1 + 1e-5) - 1)), tolerance = 1e-15)
  expect_identical(as.vector(xla_grad(sinpi)(0.5)), 0)
  expect_identical(as.vector(xla_grad(cospi)(1)), 0)
})

test_that("complex functions have R's branches, on the cuts too", {
  skip_without_plugin()
  grid <- expand.grid(re = c(-20, -2, -0.5, -1e-8, 0, 1e-8, 0.5, 2, 20), im = c(-20, -2, -0.5, 0, 1e-8, 0.5, 2, 20))
  z <- complex(real = grid$re, imaginary = grid$im)
  z <- z[z != 0]
  names <- c(
    "asin", "acos", "atan", "asinh", "acosh", "atanh", "tan", "tanh", "sinh", "cosh", "sqrt", "exp", "log2", "log10"
  )
  found <- xla_jit(function(z) lapply(names, function(name) get(name)(z)))(z)
  for (i in seq_along(names)) {
    expected <- get(names[[i]])(z)
    distance <- ifelse(as.vector(found[[i]]) == expected, 0, Mod(found[[i]] - expected) / Mod(expected))
    expect_lt(max(distance), 1e-14)
  }
})

test_that("round() and signif() round as R does, to the last bit", {
  skip_without_plugin()
  set.seed(1)
  x <- c(
    rnorm(300) * 10^sample(-8:8, 300, TRUE), (1:100) / 100 + 0.005, (-100:100) / 8, 0.15, 0.25, 0.35, 2.675, 1e300,
    Inf, NaN, -Inf, 0, 5e15, 1e22
  )
  digits <- c(0, 1, 2, 3, 5, 10, 15, 16, 20, -1, -2, -5, -300, -400, 300, 1.5)
  found <- xla_jit(function(x) lapply(digits, function(digits) round(x, digits)))(x)
  for (i in seq_along(digits)) {
    expect_identical(as.vector(found[[i]]) + 0, round(x, digits[[i]]) + 0)
  }
  x <- x[abs(x) < 1e22 | !is.finite(x)]
  x <- c(x, 10^(-20:20), 999.9999999, 9.9999995, 123456.5)
  digits <- c(1, 2, 3, 6, 10, 15, 17, 25, 0)
  found <- xla_jit(function(x) lapply(digits, function(digits) signif(x, digits)))(x)
  for (i in seq_along(digits)) {
    expect_identical(as.vector(found[[i]]), signif(x, digits[[i]]))
  }
  expect_equal(xla_jit(function(z) round(z, 1))(1.255 + 2.55i), round(1.255 + 2.55i, 1))
  expect_identical(as.vector(xla_grad(function(x) sum(round(x, 2) + signif(x, 3)))(c(1.234, 5))), c(0, 0))
})

test_that("derivatives of the first and second order", {
  skip_without_plugin()
  skip_unless_all()
  points <- c(0.3, 0.7, 0.45)
  functions <- list(
    sinpi, cospi, tanpi, asinh, atanh, log1p, log2, log10, asin, acos, atan, tan, sinh, cosh,
    function(x) acosh(x + 1), function(x) log(x, x + 2)
  )
  gradients <- lapply(functions, function(f) xla_grad(function(x) sum(f(x))))
  first <- xla_jit(function(x) lapply(gradients, function(gradient) gradient(x)))
  second <- xla_jit(function(x) {
    lapply(gradients, function(gradient) xla_grad(function(x) sum(gradient(x)))(x))
  })(points)
  h <- 1e-5
  at <- first(points)
  after <- first(points + h)
  before <- first(points - h)
  for (i in seq_along(functions)) {
    f <- functions[[i]]
    expect_equal(as.vector(at[[i]]), (f(points + h) - f(points - h)) / (2 * h), tolerance = 1e-7, label = i)
    slopes <- (as.vector(after[[i]]) - as.vector(before[[i]])) / (2 * h)
    expect_equal(as.vector(second[[i]]), slopes, tolerance = 1e-7, label = i)
  }
  # Holomorphic functions: the derivative is the same along the real and the imaginary axis.
  z <- 0.4 + 0.3i
  functions <- list(asin, acos, atan, asinh, acosh, atanh, tan)
  tangents <- xla_jit(function(z) lapply(functions, function(f) xla_jvp(f)(z, 1 + 0i)$tangent))(z)
  h <- 1e-6
  for (i in seq_along(functions)) {
    f <- functions[[i]]
    expect_equal(as.vector(tangents[[i]]), (f(z + h) - f(z - h)) / (2 * h), tolerance = 1e-8, label = i)
  }
})

test_that("batches", {
  skip_without_plugin()
  m <- matrix(1:6 / 8, 2)
  functions <- list(sinpi, asinh, log10, log1p, function(x) round(x, 1), function(x) signif(x, 1))
  found <- xla_jit(function(m) lapply(functions, function(f) xla_vmap(f)(m)))(m)
  for (i in seq_along(functions)) {
    expect_equal(found[[i]], functions[[i]](m), tolerance = 1e-15)
  }
})

test_that("wrong calls are named", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  z <- xlaffi:::new_parameter(ffi_type("c128", 3))
  n <- xlaffi:::new_parameter(ffi_type("i64", 3))
  expect_snapshot(error = TRUE, {
    round(x, x)
    round(x, NA)
    round(x, 1:2)
    round(x, 400)
    signif(z, 2)
    signif(x, "a")
    sinpi(z)
    asinh(n)
    floor(z)
    log(x, n)
    trunc(x, digits = 2)
  })
})

test_that("a base that is NULL, and arguments that nobody takes, are refused by name", {
  skip_without_plugin()
  refused <- function(f, message) expect_error(xla_program(f, diag(2)), message, class = "xlaffi_error")
  refused(function(x) log(list(x)), "log\\(\\): `x` must be")
  refused(function(x) log(x, base = NULL), "log\\(\\): `base` must be")
  refused(function(x) trunc(x, 1), "trunc\\(\\): unused arguments in `...`: 1$")
  refused(function(x) solve(x, tol = 1e-20), "solve\\(\\): unused arguments in `...`: tol")
  refused(function(x) chol(x, tol = 1e-20), "chol\\(\\): unused arguments in `...`: tol")
  refused(function(x) qr.solve(x, tol = 1.5), "qr.solve\\(\\): `tol` is not supported")
  refused(function(x) `*`(x), "`e2` is missing")
  refused(function(x) `<`(x), "`e2` is missing")
})
