# E, by Newton's method for each point.
eccentric <- function(M, e) {
  M <- M %% (2 * pi)
  E <- rep_len(pi, max(length(M), length(e)))
  for (i in 1:60) {
    E <- E - (E - e * sin(E) - M) / (1 - e * cos(E))
  }
  E
}

velocity <- function(time, period, tc, e, omega, K) {
  nu <- pi / 2 - omega
  at_tc <- 2 * atan(sqrt((1 - e) / (1 + e)) * tan(nu / 2))
  tp <- tc - period / (2 * pi) * (at_tc - e * sin(at_tc))
  E <- eccentric(2 * pi * (time - tp) / period, e)
  nu <- 2 * atan(sqrt((1 + e) / (1 - e)) * tan(E / 2))
  K * (cos(nu + omega) + e * cos(omega))
}

test_that("kepler() solves Kepler's equation", {
  skip_without_plugin()
  M <- c(-7, -1, 0, 1e-3, 0.5, 2, pi, 4, 6.2, 50)
  e <- c(0, 0.2, 0.99, 0.9, 0.01, 0.5, 0.3, 0.7, 0.999, 0.1)
  got <- kepler(M, e)
  expect_named(got, c("sin", "cos"))
  expect_equal(as.vector(got$sin), sin(eccentric(M, e)), tolerance = 1e-13)
  expect_equal(as.vector(got$cos), cos(eccentric(M, e)), tolerance = 1e-13)
})

test_that("numbers are recycled, integers are numbers, and shapes are kept", {
  skip_without_plugin()
  M <- matrix(c(0.3, 1, 2, 3, 4, 5), 2, 3)
  expect_equal(kepler(M, 0.4)$sin, matrix(sin(eccentric(M, 0.4)), 2, 3), tolerance = 1e-13)
  expect_equal(as.vector(kepler(1L, c(0, 0.4))$cos), cos(eccentric(1, c(0, 0.4))), tolerance = 1e-13)
  expect_length(kepler(numeric(), 0.4)$sin, 0)
  expect_equal(as.vector(kepler_rv(0:3, 10L, 2, 0.3, 1, 4)), velocity(0:3, 10, 2, 0.3, 1, 4), tolerance = 1e-13)
})

test_that("NaN comes out where there is no orbit, and nowhere else", {
  skip_without_plugin()
  got <- kepler(c(1, 1, 1, NaN, Inf, 1), c(0.5, 1, -0.1, 0.5, 0.5, NaN))
  expect_identical(is.nan(as.vector(got$sin)), c(FALSE, rep(TRUE, 5)))
  expect_identical(is.nan(as.vector(got$cos)), c(FALSE, rep(TRUE, 5)))
})

test_that("the true anomaly is the angle from periastron", {
  skip_without_plugin()
  M <- seq(-3, 3, length.out = 13)
  E <- eccentric(M, 0.6)
  want <- 2 * atan(sqrt(1.6 / 0.4) * tan(E / 2))
  expect_equal(as.vector(kepler_true(M, 0.6)), want, tolerance = 1e-13)
  expect_equal(as.vector(kepler_true(2, 0)), 2, tolerance = 1e-14)
})

test_that("velocities are those of the textbook", {
  skip_without_plugin()
  time <- seq(0, 40, length.out = 101)
  for (omega in c(-3, -pi / 2, -0.5, 0, 0.7, pi / 2, 3)) {
    got <- kepler_rv(time, 9.3, 4.2, 0.45, omega, 5)
    expect_equal(as.vector(got), velocity(time, 9.3, 4.2, 0.45, omega, 5), tolerance = 1e-12)
    # At conjunction the planet moves across the line of sight.
    expect_equal(as.vector(kepler_rv(4.2, 9.3, 4.2, 0.45, omega, 5)), 5 * 0.45 * cos(omega), tolerance = 1e-12)
  }
  expect_equal(as.vector(kepler_rv(time, 9.3, 4.2, 0, 1, 5)), -5 * sin(2 * pi * (time - 4.2) / 9.3), tolerance = 1e-12)
})

test_that("buffers give buffers, and programs contain the op", {
  skip_without_plugin()
  M <- pjrt_buffer(c(0.5, 3), "f32")
  got <- kepler(M, pjrt_buffer(c(0.1, 0.2), "f32"))
  expect_s3_class(got$sin, "xlaffi_buffer")
  expect_equal(as.vector(as_array(got$sin)), sin(eccentric(c(0.5, 3), c(0.1, 0.2))), tolerance = 1e-6)

  # An R number has the dtype of the value beside it.
  ratio <- xla_jit(function(M) {
    E <- kepler(M, 0.3)
    E$sin / E$cos
  })
  expect_equal(as.vector(as_array(ratio(M))), tan(eccentric(c(0.5, 3), 0.3)), tolerance = 1e-5)
  expect_match(as.character(xla_program(kepler_true, 1, 0.5)), "@xlaffi.kepler", fixed = TRUE)
})

test_that("bad input is named", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    kepler(c(1, 2), c(0.1, 0.2, 0.3))
    kepler(1i, 0.5)
    kepler(1, TRUE)
    kepler("a", 0.5)
    kepler(pjrt_buffer(1, "f32"), matrix(0.5))
    kepler(pjrt_buffer(1L), 0.5)
    kepler_true(matrix(1, 2, 2), c(0.1, 0.2, 0.3))
    kepler_rv(c(1, 2), 1, c(1, 2, 3), 0.1, 0, 1)
    kepler_rv(1, 1, 1, 0.1, "north", 1)
    kepler(1)
  })
  expect_identical(conditionCall(error_of(kepler("a", 0.5))), quote(kepler("a", 0.5)))
  expect_identical(conditionCall(error_of(kepler_rv("a", 1, 1, 1, 1, 1))), quote(kepler_rv("a", 1, 1, 1, 1, 1)))
  for (none in list(kepler(NA, 0.1), kepler(1, NA))) expect_identical(none, list(sin = NaN, cos = NaN))
})

# Central differences of the function `f` of a vector.
differences <- function(f, at, step = 1e-5) {
  vapply(seq_along(at), function(i) {
    move <- replace(numeric(length(at)), i, step)
    (f(at + move) - f(at - move)) / (2 * step)
  }, 0)
}

test_that("first and second derivatives are those of differences", {
  skip_without_plugin()
  functions <- list(
    function(p) {
      E <- kepler(p[1], p[2])
      E$sin * 2 - E$cos
    },
    function(p) kepler_true(p[1], p[2]),
    function(p) kepler_rv(7.3, p[1] * 10, p[3], p[2], p[4], p[5]),
    # One eccentricity for many M, and the other way round.
    function(p) sum(kepler(hlo_constant(c(0.3, 2, -1)), p[2])$sin) + sum(kepler(p[1], hlo_constant(c(0.1, 0.5)))$cos)
  )
  at <- c(1.2, 0.4, 0.7, -0.8, 3)
  for (f in functions) {
    f1 <- function(p) sum(f(p))
    value <- xla_jit(f1)
    gradient <- xla_grad(f1)
    want <- differences(function(p) as.vector(value(p)), at)
    expect_equal(as.vector(gradient(at)), want, tolerance = 1e-8)
    second <- vapply(seq_along(at), function(i) {
      differences(function(p) as.vector(gradient(p))[i], at)
    }, numeric(length(at)))
    expect_equal(xla_hessian(f1)(at), second, tolerance = 1e-8)
  }
})

test_that("derivatives hold near e = 1, M = 0", {
  skip_without_plugin()
  M <- 1e-6
  e <- 1 - 1e-6
  # E from the handler's sine: there 1 - e cos E = w + e E^2 / 2 - ...
  E <- asin(as.vector(kepler(M, e)$sin))
  slope <- (1 - e) + e * 2 * sin(E / 2)^2
  got <- xla_jvp(kepler)(list(M, e), list(1, NULL))$tangent
  expect_equal(as.vector(got$sin), cos(E) / slope, tolerance = 1e-10)
  got <- xla_jvp(kepler)(list(M, e), list(NULL, 1))$tangent
  expect_equal(as.vector(got$cos), -sin(E)^2 / slope, tolerance = 1e-10)
})

test_that("batches are larger arrays", {
  skip_without_plugin()
  M <- c(0.3, 2, -1)
  e <- c(0.1, 0.5)
  got <- xla_vmap(kepler, in_axes = list(NULL, 1))(M, e)
  expect_equal(got$sin, rbind(sin(eccentric(M, 0.1)), sin(eccentric(M, 0.5))), tolerance = 1e-13)
  # Scalars along one axis each; and the derivative of a batch.
  grid <- xla_vmap(xla_vmap(function(M, e) kepler(M, e)$cos, list(1, NULL)), list(NULL, 1))
  expect_equal(grid(M, e), rbind(cos(eccentric(M, 0.1)), cos(eccentric(M, 0.5))), tolerance = 1e-13)
  slope <- function(e) xla_grad(function(e) sum(kepler(hlo_constant(M), e)$sin))(e)
  expect_equal(as.vector(xla_vmap(slope)(e)), vapply(e, function(e) as.vector(slope(e)), 0), tolerance = 1e-12)
  expect_length(gregexpr("@xlaffi.kepler", as.character(xla_program(grid, M, e)))[[1L]], 1)
})

test_that("the example finds the published planets", {
  skip_without_plugin()
  example <- new.env()
  source(system.file("examples/k2-24.R", package = "xlaffi", mustWork = TRUE), local = example)
  fit <- example$find_mode()
  expect_identical(fit$convergence, 0L)
  expect_lt(max(abs(example$gradient(fit$par))), 1e-2)
  expect_equal(as.vector(example$gradient(example$start)),
    differences(function(p) as.vector(example$objective(p)), example$start),
    tolerance = 1e-6
  )
  mode <- matrix(fit$par, 1, dimnames = list(NULL, example$parameters))
  found <- unlist(example$masses(mode, star = 1.12))
  expect_true(all(abs(found - example$published$mass) < example$published$error))
})
