expect_as_in_r <- function(f, ...) expect_equal(xla_jit(f)(...), f(...))

test_that("complex numbers from parts and into parts", {
  skip_without_plugin()
  expect_as_in_r(function(x, y) {
    list(
      complex(real = x, imaginary = y), complex(modulus = x, argument = y), complex(real = x), complex(imaginary = y),
      complex(real = x, imaginary = 1), complex(modulus = x), complex(6, x, y), complex(3, imaginary = y[1]),
      as.complex(x), is.complex(x), is.complex(as.complex(x)), Re(x), Im(x), Mod(x), Arg(x), Conj(x), as.complex(x > 0)
    )
  }, c(1, -2, 3), c(0.5, 0, -4))
  expect_as_in_r(function(k) list(Re(k), Im(k), Mod(k), Arg(k), Conj(k), complex(real = k)), c(1L, -2L))
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) complex(real = x, modulus = x))(1)
    xla_jit(function(x) complex(real = x, imaginary = c(1, 2)))(c(1, 2, 3))
    xla_jit(function(z) complex(real = z))(1i)
    xla_jit(function(n) complex(n, real = 1))(2L)
  })
})

test_that("arithmetic and functions of complex numbers, also on the branch cuts", {
  skip_without_plugin()
  z <- c(1 + 2i, -0.5i, -3 + 0i, 2 - 1i, -1 + 0.1i, 0.3 + 0i, complex(real = -2, imaginary = -0), 2 + 0i)
  expect_as_in_r(function(z) {
    list(
      Re(z), Im(z), Mod(z), Arg(z), Conj(z), abs(z), z * 2, z + 1L, TRUE * z, z / (1 + 1i), 2 / z, z^2, z^0.5,
      z^(1 + 1i), 2^z, z == Conj(z), z != 2, -z, exp(z), log(z), log(z, 2), sqrt(z), sin(z), cos(z), tan(z), sinh(z),
      cosh(z), tanh(z), asin(z), acos(z), atan(z), asinh(z), acosh(z), atanh(z), sum(z), mean(z)
    )
  }, z)
})

test_that("fft() is R's, of any number of axes, and linear", {
  skip_without_plugin()
  z <- complex(real = c(1, 2, 4, 3, 1), imaginary = c(0, 1, -1, 2, 5))
  expect_as_in_r(function(z, x, k) {
    list(
      fft(z), fft(z, TRUE), fft(fft(z), inverse = TRUE) / 5, fft(x), fft(k), fft(z[1]),
      Re(fft(fft(x) * Conj(fft(k)), inverse = TRUE))
    )
  }, z, c(1, 2, 4), 3:1)
  a <- array(sin(1:48), c(2, 3, 2, 2, 2))
  m <- a[, , 1, 1, 1]
  expect_as_in_r(function(a, m) list(fft(a), fft(a, TRUE), fft(m), mvfft(m), mvfft(m, inverse = TRUE)), a, m)
  single <- pjrt_buffer(c(1, 2, 3), "f32")
  expect_equal(as.vector(as_array(xla_jit(fft)(single))), fft(c(1, 2, 3)), tolerance = 1e-6)
  # The power at each frequency, by x
  x <- c(1, -2, 3, 0.5)
  weights <- c(1, 2, 3, 4)
  power <- function(x) sum(weights * Mod(fft(x))^2)
  expect_equal(xla_grad(power)(x), slope_of(power, x), tolerance = 1e-7)
  expect_equal(xla_jvp(power)(x, weights)$tangent, sum(xla_grad(power)(x) * weights))
  gradient <- xla_grad(power)
  expect_equal(xla_hessian(power)(x)[, 2], slope_of(function(x) gradient(x)[[2]], x), tolerance = 1e-7)
  rows <- rbind(x, weights, deparse.level = 0)
  expect_equal(xla_vmap(fft)(rows), t(apply(rows, 1, fft)))
  expect_equal(xla_vmap(gradient)(rows), rbind(gradient(x), gradient(weights)))
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) mvfft(x))(c(1, 2))
    xla_jit(function(x, i) fft(x, i))(c(1, 2), TRUE)
    xla_jit(function(x) fft(hlo_convert(x, "i64")))(c(1, 2))
  })
})

test_that("transforms of real numbers and back", {
  skip_without_plugin()
  for (n in c(1L, 4L, 5L)) {
    x <- sin(seq_len(n))
    half <- seq_len(n %/% 2 + 1)
    out <- xla_jit(function(x) {
      z <- hlo_rfft(x)
      list(z, hlo_irfft(z, n))
    })(x)
    expect_equal(out, list(fft(x)[half], x))
    weights <- cos(half)
    forward <- function(x) sum(weights * Mod(hlo_rfft(x))^2)
    plain <- function(x) sum(weights * Mod(fft(x)[half])^2)
    expect_equal(xla_grad(forward)(x), slope_of(plain, x), tolerance = 1e-7)
    back <- function(x) sum(hlo_irfft(complex(real = x[half], imaginary = x[half] * 0.3 + 1), n)^3)
    value <- xla_jit(back)
    expect_equal(xla_grad(back)(x), slope_of(value, x), tolerance = 1e-7)
  }
  x <- matrix(sin(1:8), 2)
  expect_equal(xla_vmap(hlo_rfft)(x), t(apply(x, 1, function(x) fft(x)[1:3])))
  expect_snapshot(error = TRUE, {
    xla_jit(hlo_rfft)(1:4)
    xla_jit(function(z) hlo_irfft(z, 5))(c(1i, 2, 3, 4))
  })
})

test_that("powers of zero and of infinite numbers, and hyperbolic functions that overflow, are R's", {
  skip_without_plugin()
  skip_unless_all()
  z <- c(
    0i, complex(real = -Inf, imaginary = 0), complex(real = Inf, imaginary = 1), complex(real = -0.0, imaginary = 0),
    -1e308 + 1i, 800 + 2i, -800 - 1i, complex(real = Inf, imaginary = 0), 2 + 1i, -3i, 0.001 + 0.5i
  )
  powers <- function(z, one) {
    list(z^-0.5, z^-1, z^-2, z^-3, z^0, z^(-1.5 * one), z[9:11]^2, z[9:11]^7, z[9:11]^-7, z[9:11]^(2 + 1i))
  }
  hyperbolic <- function(z, one) list(cosh(z), sinh(z), cosh(Re(z[9:11])), sinh(Im(z[9:11])))
  for (f in list(powers, hyperbolic)) {
    here <- xla_jit(f)(z, 1)
    in_r <- f(z, 1)
    for (i in seq_along(in_r)) {
      parts <- function(z) c(Re(z), Im(z))
      expect_equal(parts(here[[i]]), parts(in_r[[i]]), label = paste(names(formals(f))[[1L]], i, deparse1(f)))
    }
  }
  expect_identical(xla_jit(function(x) Arg(x))(c(-0.0, 0, -1, NaN, 2)), Arg(c(-0.0, 0, -1, NaN, 2)))
  f <- function(p) Re(cosh(complex(real = p[1], imaginary = p[2]))) + abs(complex(real = p[1], imaginary = p[2])^-3)
  expect_equal(xla_grad(f)(c(1, 2)), slope_of(f, c(1, 2)), tolerance = 1e-7)
})

test_that("derivatives of complex words go along both axes, on branch cuts and at zero, too", {
  skip_without_plugin()
  skip_unless_all()
  words <- list(
    exp, log, sqrt, sin, cos, tan, sinh, cosh, tanh, asin = asin, acos, atan, asinh, acosh, atanh, function(z) z^2,
    function(z) 1 / z, function(z) z^-3, function(z) z^(1.5 + 0.5i), function(z) (1 + 2i)^z, function(z) z^z, log2,
    hlo_logistic, hlo_rsqrt
  )
  z <- c(0.5 + 0i, -0.5 + 0i, 2 + 0i, complex(real = -2, imaginary = -0), 0.5i, -0.5i, 2i, -2i, -1 + 2i, 3 - 0.1i)
  slopes <- xla_jit(function(z, one, i) {
    lapply(words, function(f) lapply(list(one, i), function(t) xla_jvp(f)(z, t)$tangent))
  })(z, rep(1 + 0i, length(z)), rep(1i, length(z)))
  # By differences, away from the cuts
  inside <- c(1, 5:6, 9:10)
  moved <- xla_jit(function(z) lapply(words, function(f) f(z)))
  step <- 1e-5 + 1e-5i
  differences <- Map(function(a, b) (a - b) / (2 * step), moved(z + step), moved(z - step))
  parts <- function(z) c(Re(z), Im(z))
  for (k in seq_along(words)) {
    word <- deparse1(words[[k]])
    slope <- slopes[[k]][[1L]]
    expect_equal(parts(slopes[[k]][[2L]]), parts(1i * slope), label = word)
    expect_equal(parts(slope[inside]), parts(differences[[k]][inside]), tolerance = 1e-7, label = word)
  }
  # The side that R takes the value from
  expect_equal(parts(slopes$asin[[1L]][[3L]]), parts((asin(2.001 + 0i) - asin(1.999 + 0i)) / 0.002), tolerance = 1e-6)
  number <- function(x, y = 0 * x) complex(real = x, imaginary = y)
  expect_equal(xla_grad(function(x) Re(sum(number(x)^c(1, 2, 0, -1))))(c(0, 0, 0, 2)), c(1, 0, 0, -0.25))
  expect_equal(xla_hessian(function(x) Re(sum(number(x)^c(3, 2))))(c(0, 0)), diag(c(0, 2)))
  g <- function(p) Re(number(p[1], p[2])^number(p[3], p[4]))
  p <- c(0.7, 0.3, 1.4, 0.2)
  expect_equal(xla_grad(g)(p), slope_of(g, p), tolerance = 1e-7)
  h <- xla_grad(g)
  expect_equal(xla_hessian(g)(p)[, 3], slope_of(function(p) h(p)[[3]], p), tolerance = 1e-7)
})

test_that("small parts of complex sines keep their digits", {
  skip_without_plugin()
  z <- c(1 + 1e-20i, 1e-8i, complex(real = 0, imaginary = 1e8), complex(real = -0.5, imaginary = -0), NaN + 0i)
  found <- xla_jit(function(z) list(sin(z), cos(z)))(z)
  for (part in list(Re, Im)) {
    expect_equal(part(found[[1L]]) / part(sin(z)), part(sin(z)) / part(sin(z)), tolerance = 1e-14)
    expect_equal(part(found[[2L]]) / part(cos(z)), part(cos(z)) / part(cos(z)), tolerance = 1e-14)
  }
})

test_that("zero imaginary parts keep R's signs, and so the side of branch cuts", {
  skip_without_plugin()
  z <- complex(real = rep(c(1, -0.5, 0.3, 2, -2), 2), imaginary = rep(c(-0, 0), each = 5))
  words <- list(exp, sqrt, sin, cos, tan, sinh, cosh, tanh, asin, acos, atan, log)
  for (exact in c(FALSE, if (all_run()) TRUE)) {
    found <- xla_jit(function(z) lapply(words, function(f) 1 / Im(f(z))), exact = exact)(z)
    for (k in seq_along(words)) expect_equal(found[[k]], 1 / Im(words[[k]](z)), label = deparse1(words[[k]]))
  }
})

test_that("what is divided by a zero that is known is infinite or NaN as in R", {
  skip_without_plugin()
  expect_as_r(x / 0, x / (0 + 0i), x / -0, x / c(0, 2), matrix(x, 2) / 0, (1 + 2i) / 0 + x, x / 0L,
    data = list(x = c(1 + 2i, 0 + 1i, NaN, 0))
  )
})
