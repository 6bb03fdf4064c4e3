# Medians, quantiles and their kin, beside R's own.

in_words <- function(expressions, x) {
  f <- as.function(c(formals(function(x) NULL), as.call(c(list(quote(list)), as.list(expressions)))), globalenv())
  expect_equal(lapply(xla_jit(f)(x), as.vector), lapply(f(x), as.vector), tolerance = 1e-14)
}

test_that("quantiles of all types, where the positions are known and where they are not", {
  skip_without_plugin()
  probs <- c(0, 0.1, 0.25, 1 / 3, 0.5, 0.77, 1)
  for (x in one_in(4L, list(c(3.5, -1, 2, 8, 0.25, 4, 4, 1), c(2, 1), 5, c(1, Inf, -Inf, 2)))) {
    found <- xla_jit(function(x, p) {
      list(
        lapply(1:9, function(type) quantile(x, probs, type = type)),
        lapply(1:9, function(type) quantile(x, p, na.rm = TRUE, type = type))
      )
    })(x, probs)
    expected <- lapply(1:9, function(type) unname(quantile(x, probs, type = type)))
    expect_equal(lapply(found[[1L]], as.vector), expected, tolerance = 1e-14)
    expect_equal(lapply(found[[2L]], as.vector), expected, tolerance = 1e-14)
  }
})

test_that("medians and what is made of quantiles", {
  skip_without_plugin()
  expressions <- expression(
    median(x), median(x[-1]), IQR(x), IQR(x, type = 6), mad(x), mad(x, center = 1, constant = 1), fivenum(x),
    quantile(x), median(x, na.rm = TRUE)
  )
  for (x in list(c(3.5, -1, 2, 8, 0.25), c(1, 5, 2, 4), c(4L, -2L, 7L, 1L), matrix(c(5, 2, 8, 1), 2)[, 1])) {
    in_words(expressions, x = x)
  }
  with_nan <- c(3, NaN, 1, 8, NaN, 2)
  in_words(expression(
    median(x, na.rm = TRUE), quantile(x, c(0.1, 0.9), na.rm = TRUE), IQR(x, na.rm = TRUE), mad(x, na.rm = TRUE),
    fivenum(x), quantile(x, 0.3, na.rm = TRUE, type = 4)
  ), x = with_nan)
  expect_identical(xla_jit(median)(with_nan), NaN)
  expect_identical(xla_jit(median)(c(7L, 1L, 3L)), 3L)
  expect_identical(xla_jit(median)(c(7L, 1L)), 4)
  expect_identical(as.vector(xla_jit(function(x) quantile(x, 0.5))(with_nan)), NaN)
  expect_identical(xla_jit(function(x) median(x, na.rm = TRUE))(c(NaN, NaN)), NaN)
})

test_that("quantiles of nothing are NA, or NaN as doubles of programs have it", {
  skip_without_plugin()
  for (na_rm in c(FALSE, TRUE)) {
    for (x in list(numeric(), integer())) {
      found <- xla_jit(function(x) list(IQR(x, na.rm = na_rm), quantile(x, na.rm = na_rm), mad(x, na.rm = na_rm)))(x)
      expect_identical(lapply(found, as.vector), list(NaN, rep(NaN, 5), NaN))
    }
    expect_identical(xla_jit(function(x) median(x, na.rm = na_rm))(numeric()), NaN)
    expect_identical(xla_jit(function(x) median(x, na.rm = na_rm))(integer()), NA_integer_)
  }
})

test_that("derivatives and batches of quantiles", {
  skip_without_plugin()
  x <- c(3.5, -1, 2, 8, 0.25, 4.1)
  expect_equal(as.vector(xla_grad(function(x) quantile(x, 0.3)[1]^2)(x)), {
    q <- unname(quantile(x, 0.3))
    2 * q * c(0, 0, 0.5, 0, 0.5, 0)
  })
  # In the share, by probability: the distance of the neighbours times n - 1
  expect_equal(as.vector(xla_grad(function(p, x) quantile(x, p)[1])(0.3, x)), 5 * 1.75)
  m <- rbind(x, rev(x) * 2, x^2)
  expect_equal(as.vector(xla_vmap(median)(m)), unname(apply(m, 1, median)))
  expect_equal(xla_vmap(function(x) quantile(x, c(0.1, 0.5)))(m), unname(t(apply(m, 1, quantile, c(0.1, 0.5)))))
})

test_that("wrong calls of quantile() and its kin are named", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  z <- xlaffi:::new_parameter(ffi_type("c128", 3))
  expect_snapshot(error = TRUE, {
    median(z)
    median(x, na.rm = NA)
    quantile(x, 2)
    quantile(x, "a")
    quantile(x, type = 10)
    quantile(z)
    xlaffi:::overloads[["mad"]]$f(x, low = TRUE)
  })
})

test_that("quantiles have a slope in probabilities at elements, too: that to the right, of the last to the left", {
  skip_without_plugin()
  x <- c(7, 1, 20, 3, 12)
  p <- c(0, 0.1, 0.25, 0.5, 1)
  expect_equal(xla_grad(function(p) sum(quantile(x, p, names = FALSE)))(p), 4 * c(2, 2, 4, 5, 8))
  each <- function(p) list(quantile(x, p, names = FALSE), quantile(c(Inf, -Inf, 2), p, names = FALSE), quantile(4, p))
  found <- xla_jit(each)(c(0, 0.5, 1))
  expect_equal(lapply(found, as.vector), list(c(1, 7, 20), c(-Inf, 2, Inf), c(4, 4, 4)))
})

test_that("the median of no logicals is refused, as it is NA", {
  skip_without_plugin()
  expect_error(xla_program(function(x) median(x), logical(0)), "of no logicals it is NA", class = "xlaffi_error")
  expect_as_r(median(x), data = list(x = integer(0)))
})
