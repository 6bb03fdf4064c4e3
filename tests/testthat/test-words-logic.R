# Each expression in R and in a program
expect_as_in_r <- function(f, ...) {
  expect_equal(xla_jit(f)(...), f(...))
}

test_that("ifelse() has the shape of its test, and R's NA", {
  skip_without_plugin()
  f <- function(x, m) {
    list(
      ifelse(x > 0, x, -x), ifelse(x > 0, 1L, 2.5), ifelse(x > 0, x, NA), ifelse(x, 1, 0), ifelse(x > 0, 1L, 2L),
      ifelse(m > 0, m, 0), ifelse(m > 0, c(1, 2), m), ifelse(x[1] > 0, 1, 2), ifelse(x > 0, m[1:2, 1], 0),
      ifelse(!(x > 0), 1, 2), ifelse(x > 0 & x > 1, 1, 2), ifelse(x > 0 | x < 5, 1, 2),
      ifelse(x > 0 & c(FALSE, FALSE, FALSE, FALSE), 1, 2), ifelse(is.na(x), 0, x), ifelse(is.finite(x), 1, 0),
      ifelse(x > 0, 1i, 2)
    )
  }
  m <- matrix(c(1, -2, 3, -4, 5, -6), 2)
  expect_as_in_r(f, c(-1, 0, 2, NaN), m)
  expect_identical(xla_jit(function(x) ifelse(x > 0, 1, 2))(numeric()), logical())
  expect_as_in_r(function(x) ifelse(c(TRUE, FALSE), x, -x), c(1, 2))
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) ifelse(x[1] > 0, x, 0))(c(1, 2))
    xla_jit(function(x) ifelse(x > 0, c(1, 2), 0))(c(1, 2, 3))
  })
})

test_that("what ifelse() does not take has no derivative, be it infinite", {
  skip_without_plugin()
  x <- c(0, -1, 4)
  expect_equal(xla_grad(function(x) sum(ifelse(x > 0, sqrt(x) * log(x), 0)))(x), c(0, 0, (log(4) + 2) / 4))
  # Computed beforehand, by special functions, of what is the same for all elements
  before <- function(x) {
    y <- log(x)
    sum(ifelse(x > 0, y, x^2))
  }
  expect_equal(xla_grad(before)(x), c(0, -2, 1 / 4))
  expect_equal(xla_grad(function(x) sum(ifelse(x > 0, lgamma(x), 0)))(x), c(0, 0, digamma(4)))
  expect_equal(
    xla_grad(function(x, w) sum(ifelse(x > 0, log(x * w), 0)), 1:2)(x, 2), list(x = c(0, 0, 1 / 4), w = 1 / 2)
  )
  one <- function(x) ifelse(x > 0, log(x), 0)
  expect_equal(xla_jvp(one)(x, c(1, 1, 1))$tangent, c(0, 0, 1 / 4))
  expect_equal(xla_hessian(function(x) sum(one(x)))(x), diag(c(0, 0, -1 / 16)))
  expect_equal(xla_vmap(xla_grad(one))(x), c(0, 0, 1 / 4))
  expect_equal(xla_grad(function(x) sum(xla_vmap(one)(x)))(x), c(0, 0, 1 / 4))
})

test_that("choices have right derivatives wherever what they choose from counts as well", {
  skip_without_plugin()
  functions <- list(
    nested = function(x) sum(ifelse(x > 0, ifelse(x > 1, log(x - 1), sqrt(x)), exp(x))),
    both = function(x) {
      l <- log(abs(x))
      sum(ifelse(x > 0, l * x, l + x))
    },
    several = function(x) {
      l <- sqrt(pmax(x, 0))
      sum(ifelse(x > 0.1, l, 0) + ifelse(x > 1, l * 2, 1))
    },
    opposite = function(x) {
      l <- log(abs(x))
      sum(ifelse(x > 0, sqrt(x), l) + ifelse(x > 0, 0, log(-x)))
    },
    places = function(x) sum(rev(ifelse(x > 0, rev(rev(log(x))), 0)) + ifelse(c(x[-1], 1) > 0, log(c(x[-1], 1)), 0)),
    matrix = function(x) sum(ifelse(t(matrix(x, 2)) > 0, t(log(matrix(x, 2))), 0)),
    row = function(x) {
      s <- x
      for (i in 1:9) s <- ifelse(s > 0, sin(s) + log(abs(s) + 1), s^2 / 2 + 0.1)
      sum(s) + sum(ifelse(x > 0, log(x), s))
    },
    scan = function(x) {
      hlo_scan(function(s, e) {
        for (i in 1:12) s <- ifelse(e > 0, s + log(e) * i / 10, s * 0.9)
        list(s, s)
      }, 0.3, x)$carry
    },
    again = xla_checkpoint(function(x) sum(ifelse(x > 0, log(x), 0)))
  )
  functions <- one_in(3, functions)
  x <- c(-1.3, 0.4, 2.2, -0.2)
  step <- 1e-5 * diag(4)
  results <- xla_jit(function(x) {
    lapply(functions, function(f) {
      list(
        gradient = xla_grad(f)(x), hessian = xla_hessian(f)(x), forward = xla_jvp(f)(x, x)$tangent,
        near = lapply(1:8, function(i) {
          xla_grad(f, value = TRUE)(x + (if (i > 4) -1 else 1) * step[, (i - 1) %% 4 + 1])
        })
      )
    })
  })(x)
  for (name in names(functions)) {
    found <- results[[name]]
    slopes <- function(of) sapply(1:4, function(i) (of(found$near[[i]]) - of(found$near[[i + 4]])) / 2e-5)
    expect_equal(found$gradient, slopes(function(at) as.vector(at$value)), tolerance = 1e-8, label = name)
    expect_equal(found$hessian, slopes(function(at) at$gradient), tolerance = 1e-7, label = name)
    expect_equal(found$forward, sum(found$gradient * x), tolerance = 1e-12, label = name)
  }
  skip_unless_all()
  third <- Reduce(function(f, i) xla_grad(function(x) sum(f(x))), 1:3, function(x) sum(ifelse(x > 0, log(x), x^4)))
  expect_equal(third(x), ifelse(x > 0, 2 / abs(x)^3, 24 * x))
  # What is a result itself counts everywhere, though the choice takes it as well.
  with_part <- function(x) {
    l <- log(x)
    list(chosen = sum(ifelse(x > 0, l, 0)), part = l)
  }
  pulled <- xla_jit(function(x) xla_vjp(with_part)(x, list(chosen = sum(x * 0) + 1, part = NULL))$gradients)
  expect_equal(unlist(pulled(x)), ifelse(x > 0, 1 / x, 0))
})

test_that("tests of elements, of all dtypes", {
  skip_without_plugin()
  tests <- function(x) list(is.na(x), is.nan(x), is.finite(x), is.infinite(x), anyNA(x))
  # R's NA and NaN are one.
  expect_as_in_r(tests, c(-1, NaN, Inf, -Inf))
  expect_as_in_r(tests, c(1L, -2L, 3L))
  expect_as_in_r(tests, c(TRUE, FALSE))
  expect_as_in_r(tests, complex(real = c(1, NaN, 0, Inf), imaginary = c(0, 1, NaN, 2)))
  expect_identical(xla_jit(function(x) is.na(x))(c(1, NA)), c(FALSE, TRUE))
  expect_as_in_r(function(x, y) list(xor(x, y), xor(x, TRUE)), c(TRUE, FALSE, TRUE, FALSE), c(TRUE, TRUE, FALSE, FALSE))
  expect_as_in_r(function(x, y) xor(x, y), 0:3, c(0L, 1L))
  expect_as_in_r(function(x) list(isTRUE(x > 0), isFALSE(x > 0), isTRUE(x)), 2)
  expect_as_in_r(function(x) list(isTRUE(x > 0), isFALSE(x > 0)), c(1, 2))
})

test_that("seq() of values has a length that is known", {
  skip_without_plugin()
  expect_as_in_r(function(a, b, x) {
    list(
      seq(a, b, length.out = 5), seq(a, b, length.out = 1), seq(a, by = b, length.out = 4),
      seq(to = a, by = b, length.out = 4), seq(a, length.out = 4), seq(to = a, length.out = 4),
      seq(by = a, length.out = 4), seq(to = a, along.with = x), seq_along(x) * x, seq(x) * x,
      seq(a, b, length.out = 2.5)
    )
  }, 1.5, 4, c(3, 4, 5))
  expect_equal(xla_grad(function(a, b) sum(seq(a, b, length.out = 5)^2), 1:2)(1, 3), list(
    a = sum(2 * seq(1, 3, 0.5) * 4:0 / 4), b = sum(2 * seq(1, 3, 0.5) * 0:4 / 4)
  ))
  expect_snapshot(error = TRUE, {
    xla_jit(function(a, b) seq(a, b))(1, 2)
    xla_jit(function(a, b) seq(a, b, by = 0.5))(1, 2)
    xla_jit(function(n) seq(1, 2, length.out = n))(3L)
    xla_jit(function(a) seq(a, 3, length.out = 3))(c(1, 2))
    xla_jit(function(a, b) xor(a, b))(1, 2)
  })
})

test_that("NaN is on no side of 0, whatever it is computed by", {
  skip_without_plugin()
  ways <- list(
    exp, abs, sqrt, function(x) x^2, function(x) x * x, function(x) 1 / exp(x), function(x) exp(x) * exp(x),
    function(x) pmax(abs(x), 0)
  )
  sides <- function(x, zeros) {
    unlist(lapply(ways, function(way) {
      y <- way(x)
      list(y >= 0, 0 <= y, y >= c(0, 0), zeros <= y, y > 0, y <= 0, y < 0, 0 >= y, 0 > y)
    }), recursive = FALSE)
  }
  f <- xla_jit(function(x) {
    c(sides(x, hlo_broadcast(hlo_constant(0), 2L)), lapply(ways, function(way) way(hlo_convert(x, "f32")) >= 0))
  })
  expect_false(any(unlist(f(c(NaN, NaN)))))
  x <- c(0, 0.5)
  expect_identical(f(x), c(sides(x, c(0, 0)), rep(list(c(TRUE, TRUE)), length(ways))))
})

test_that("NA of a comparison is known in its parts, too", {
  skip_without_plugin()
  left_out <- function(x) c(all(x > 0, na.rm = TRUE), any(x != x, na.rm = TRUE), all(x > 1, na.rm = TRUE))
  expect_identical(xla_jit(left_out)(c(3, NA, 1)), left_out(c(3, NA, 1)))
  parts <- function(x) {
    t <- x > 1
    list(
      ifelse(t[2:3], 1, 0), ifelse(rev(t), 1, 0), ifelse(c(t, x < 2), 1, 0), ifelse(xor(t, x > 2), 1, 0),
      ifelse(t[c(3, 2, 2)], 1, 0), ifelse(t[-1], 1, 0)
    )
  }
  x <- c(1, NA, 2)
  expect_equal(xla_jit(parts)(x), lapply(parts(x), function(part) replace(part, is.na(part), NaN)))
})

test_that("nothing is appended to, and makes matrices without elements", {
  skip_without_plugin()
  f <- function(x) {
    r <- c()
    for (i in 1:2) r <- append(r, x)
    list(r, append(x, NULL), vapply(1:3, function(i) x[0], numeric(0)), matrix(x[0], nrow = 0), matrix(x[0], ncol = 3))
  }
  expect_identical(xla_jit(f)(c(1, 2)), f(c(1, 2)))
})

test_that("the operand of the wrong kind is the one that is named", {
  skip_without_plugin()
  names_operand <- function(f, x, y, name) {
    error <- expect_error(xla_program(f, x, y), sprintf("`%s` must", name), class = "xlaffi_error", fixed = TRUE)
    expect_identical(error$operand, name)
  }
  for (f in list(bitwAnd, bitwOr, bitwXor)) {
    names_operand(f, 3L, 2, "b")
    names_operand(f, 3, 2L, "a")
  }
  for (f in list(`&`, `|`)) {
    names_operand(f, TRUE, 2.5, "e2")
    names_operand(f, 2.5, TRUE, "e1")
  }
  names_operand(xor, TRUE, 2.5, "y")
  names_operand(function(x, y) x %% y, 1, 2i, "e2")
  names_operand(function(x, y) x < y, 1L, 2i, "e2")
  names_operand(function(x, y) pmin(x, y), 1, 2i, "..2")
  names_operand(function(x, y) x | 2.5, TRUE, 1, "e2")
})

test_that("a branch of ifelse() that is left out must not be needed", {
  skip_without_plugin()
  expect_as_r(ifelse(c(TRUE, TRUE), x), ifelse(c(FALSE, FALSE), no = x), data = list(x = c(1, 2)))
  refused <- function(f, message) expect_error(xla_program(f, c(1, 2)), message, class = "xlaffi_error")
  refused(function(x) ifelse(x > 0, x), "`no` is missing")
  refused(function(x) ifelse(x > 0, no = x), "`yes` is missing")
})
