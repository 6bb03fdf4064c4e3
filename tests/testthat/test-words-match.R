data <- list(
  x = c(0.7, -1.3, 2.5, -0, 3.1, NaN, 2.5), y = c(1.5, 2.5, 0, 2.5, NaN, 0.7), i = c(3L, -2L, 7L, 0L),
  l = c(TRUE, FALSE), z = c(1 + 2i, 3i, 1 + 2i), m = matrix(c(1, 2, 3, 4), 2)
)

test_that("match() and its kin are R's", {
  skip_without_plugin()
  expect_as_r(
    match(x, y), match(x, y, 0), match(x, 2.5, nomatch = -1L), match(2.5, x), match(i, x), match(x, i), match(l, i),
    match(z, rev(z)), match(z, 1), match(m, x), match(x, numeric()), match(x[0], y), x %in% y, x %in% NULL, i %in% 7L,
    l %in% TRUE, is.element(2.5, x), is.element(m, 2:3), match(TRUE, x > 1), match(i, 0:200), !(i %in% 1:3), NaN %in% x,
    data = data
  )
  many <- list(t = c(round(100 * sin(1:300)), NaN, NaN), x = c(-3:50, NaN), k = rep(c(5L, 3L, 9L), 20))
  expect_as_r(match(x, t), x %in% t, match(x, t[1:300]), match(t, x), match(k, rev(k)), match(x, k), data = many)
  expect_identical(xla_vmap(function(x) match(x, c(2, 1)))(rbind(c(1, 2), c(3, 1))), rbind(c(2L, 1L), c(NA, 2L)))
  expect_equal(xla_grad(function(x) sum(x * (x %in% c(1, 3))))(c(1, 2, 3)), c(1, 0, 1))
})

test_that("values inherit what R's data do", {
  skip_without_plugin()
  kinds <- NULL
  invisible(do.call(xla_program, c(list(function(x, y, i, l, z, m) {
    classes <- c("numeric", "integer", "double", "matrix", "array", "logical", "complex")
    kinds <<- lapply(list(x, i, l, z, m), function(v) vapply(classes, function(class) inherits(v, class), NA))
    kinds <<- c(kinds, list(inherits(x, "xlaffi_value"), inherits(m, c("a", "matrix", "array"), which = TRUE)))
    x
  }), unname(data))))
  classes <- c("numeric", "integer", "double", "matrix", "array", "logical", "complex")
  expected <- lapply(data[c("x", "i", "l", "z", "m")], function(v) {
    vapply(classes, function(class) inherits(v, class), NA)
  })
  expect_identical(kinds, c(unname(expected), list(TRUE, c(0L, 1L, 2L))))
})

test_that("Position() and Find() work on what R knows", {
  skip_without_plugin()
  expect_as_r(
    Position(is.numeric, list("a", x)), Find(is.numeric, list("a", x)), Position(is.null, list(x), nomatch = 0),
    Position(function(v) length(v) == 4L, list(x, m, i), right = TRUE),
    data = data
  )
  trace <- function(f) invisible(xla_program(f, c(1, -1)))
  expect_snapshot(error = TRUE, {
    trace(function(x) Position(function(v) v > 0, x))
    trace(function(x) Find(function(v) v > 0, x))
    trace(function(x) which(x > 0))
    trace(function(x) cut(x, 3))
    trace(function(x) match(x, "a"))
    trace(function(x) match(x, 1:2, nomatch = 1:2))
    trace(function(x) match(x, 1:2, incomparables = 1))
  })
})

test_that("the set of is.element() has the name that it has in R", {
  skip_without_plugin()
  f <- function(x) NULL
  names <- c("", names(formals(base::is.element)))
  body(f) <- as.call(stats::setNames(list(quote(is.element), quote(x), 1:2), names))
  expect_identical(xla_jit(f)(c(1, 3)), c(TRUE, FALSE))
})
