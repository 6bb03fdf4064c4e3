set.seed(7)
data <- list(x = c(3, -1, 2, 0.5), m = matrix(rnorm(12), 3), a = array(rnorm(24), 2:4), k = c(4L, 2L, 9L))

test_that("functions are applied to elements as in R", {
  skip_without_plugin()
  expect_as_r(
    as.list(x), as.list(m), sapply(x, function(v) v^2), lapply(x, function(v) v + 1), sapply(1:3, function(i) x[i] * 2),
    sapply(x, function(v) c(v, v^2)), sapply(1:3, function(i) m[i, ]), vapply(x, function(v) v * 2, 0),
    sapply(k, identity),
    vapply(1:3, function(i) sum(m[i, ]), numeric(1)), vapply(k, function(i) i, 0),
    sapply(x, identity, simplify = FALSE),
    vapply(1:3, function(i) m[i, 1:2], numeric(2)), vapply(1:3, function(i) m[1:2, 1:2] * i, matrix(0, 2, 2)),
    mapply(function(a, b) a * b, x, 1:4), mapply(function(a, b) a * b, 1:4, x), mapply(function(a, b) c(a, b), x, x),
    mapply(function(x, y) x + y, list(m, m), 1:2), mapply(function(a, b) a + b, x, MoreArgs = list(b = 2)),
    Map(function(a, b) a - b, x, x[1]), Map(`+`, 1:2, x[1:2]), Map(function(n, v) v, c("a", "b"), x[1:2]),
    Reduce(`+`, x), Reduce(`+`, x, accumulate = TRUE), Reduce(function(a, b) a * 0.5 + b, x, right = TRUE),
    Reduce(`+`, x, 10), Reduce(`+`, list(m, m, 1)), Reduce(function(a, b) a * b, x, accumulate = TRUE, right = TRUE),
    Reduce(`+`, x, 0, accumulate = TRUE), Reduce(`+`, 1:4), Reduce(`+`, 1:3, accumulate = TRUE),
    apply(m, 1, function(r) sum(r)), apply(m, 2, max), apply(m, 1, function(r) r / sum(r)),
    apply(m, c(1, 2), function(v) v^2),
    apply(a, 3, function(s) sum(s)), apply(a, c(1, 3), function(s) sum(s)), apply(a, c(3, 1), function(v) v * 2),
    apply(m, 1, function(r) list(r)), apply(diag(2), 1, function(r) sum(r) * x[1]), apply(diag(2), 1, sum),
    apply(m, 2, rev, simplify = FALSE), apply(a, 1, function(z) z %*% t(z)),
    sapply(list(x, m), function(v) sum(v)), sapply(1:3, function(i) i), sapply(x, function(v) 1),
    lapply(1:2, function(i) i),
    sapply(list(a = 1, b = 2), function(z) z * x[1]), sapply(1:2, function(i) m * i, simplify = "array"),
    Vectorize(function(a, b) a + b)(x, 1), Vectorize(function(a, b = 2) a + b)(x), Vectorize(dnorm)(x, 0, 2),
    replicate(3, x[1]),
    Filter(function(z) length(z) > 3, list(x, k)), split(x, c(1, 2, 1, 2)),
    tapply(x, c("b", "a", "b", "a"), function(g) sum(g)),
    sapply(1:2, function(i, x) x[i]^2, x = x), sapply(x, function(i, f) f(i) + 1, f = function(z, ...) z * 2),
    vapply(x, function(a, x, f) a * x + f, 0, x = 2, f = x[1]),
    outer(x, x, function(a, b, x, y, f) a * x + b * y + f, x = 1, y = 2, f = 3),
    kronecker(m, x, function(p, q, x, f) p + q * x - f, x = 2, f = 1),
    vapply(x, function(v) v > 0, NA), vapply(x, function(v) 1L, NA_integer_), vapply(x, function(v) v, NA_real_),
    rapply(list(x, list(m)), function(v) sum(v), how = "unlist"), rapply(list(x, 1), function(v) v * 2, how = "list"),
    simplify2array(list(x, x)), unlist(lapply(1:3, function(i) x[i])), outer(x, x, Vectorize(function(a, b) a * b)),
    data = data
  )
})

test_that("of many elements a function gets a batch, or each if it keeps count", {
  skip_without_plugin()
  f <- function(x, m) {
    total <- 0
    list(
      sapply(x, function(v) v^2 + 1), lapply(x, function(v) list(v, 1))[[7]], apply(m, 1, function(r) r / sum(r)),
      apply(m, 1, function(r) sum(r)), sapply(x, function(v) c(v, 2)),
      sapply(x, function(v) {
        total <<- total + v
        total
      })
    )
  }
  g <- f
  x <- sin(1:100)
  m <- matrix(cos(1:400), 100)
  expect_equal(xla_jit(g)(x, m), f(x, m))
})

test_that("applied functions have derivatives and batches", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(x, m) {
    sum(sapply(x, function(v) sin(v) * v)) + sum(apply(m, 1, function(r) exp(r) / sum(exp(r)))^2) +
      Reduce(function(a, b) a * b + 1, x) + sum(mapply(function(a, b) a * b^2, x, m[1, ]))
  }
  expect_gradient(f, data$x, data$m)
  expect_gradient(f, data$x, data$m, wrt = 2)
  expect_gradient(f, sin(1:70), matrix(cos(1:210), 3), wrt = 2)
  batch <- xla_vmap(f, list(1, NULL))(rbind(data$x, 2 * data$x), data$m)
  expect_equal(batch, c(xla_jit(f)(data$x, data$m), xla_jit(f)(2 * data$x, data$m)), tolerance = 1e-12)
})

test_that("vapply() takes single precision for doubles", {
  skip_without_plugin()
  m <- matrix(c(1, 2, 3, 4), 2)
  result <- xla_jit(function(m, k) vapply(1:2, function(j) m[, j] * k, m[, 1]))(pjrt_buffer(m, "f32"), 2)
  expect_equal(as_array(result), m * 2)
  # R's numbers beside it are in single precision, too.
  f <- function(x) {
    list(
      outer(x, c(0.5, 2)), kronecker(c(1, 2), x), convolve(x, c(1, 0.5), type = "open"), splinefun(1:4, x)(2.5),
      spline(1:4, x, xout = c(1.5, 2))$y, spline(1:4, x, n = 5)$y, outer(x, 0:2, "^"), outer(1:2, x), x %o% 1:2,
      x %x% 1:2, convolve(x, 1:3, type = "open")
    )
  }
  found <- xla_jit(f)(pjrt_buffer(as.vector(m), "f32"))
  expect_identical(unique(vapply(found, function(x) as.character(elt_type(x)), "")), "f32")
  expect_equal(lapply(found, as_array), f(as.vector(m)), tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("errors say what functions must give", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, data$x, data$m))
  expect_snapshot(error = TRUE, {
    trace(function(x, m) sapply(x, 1))
    trace(function(x, m) vapply(x, function(v) c(v, v), 0))
    trace(function(x, m) vapply(x, function(v) v, TRUE))
    trace(function(x, m) mapply(`+`, x, 1:3))
    trace(function(x, m) apply(x, 1, sum))
    trace(function(x, m) apply(m, 3, sum))
    trace(function(x, m) Filter(function(v) v > 0, x))
    trace(function(x, m) split(x, x))
    trace(function(x, m) tapply(x, list(1:4, 1:4), sum))
  })
})

test_that("functions that change things are called for each of many elements", {
  skip_without_plugin()
  w <- sin(1:70)
  counted <- function(how) {
    xla_jit(function(w) {
      count <- 0
      state <- new.env()
      state$n <- 0
      add <- function() count <<- count + 1
      bump <- function(e) e$n <- e$n + 1
      tally <- list(up = list(add))
      switch(how,
        helper = sapply(w, function(v) {
          add()
          v * count
        }),
        environment = sapply(w, function(v) {
          state$n <- state$n + 1
          v * state$n
        }),
        argument = vapply(w, function(v, e) {
          bump(e)
          v * e$n
        }, 0, state),
        listed = unlist(lapply(w, function(v) {
          tally$up[[1]]()
          v * count
        })),
        rows = apply(cbind(w, w), 1, function(r) {
          add()
          r[1] * count
        })
      )
    })(w)
  }
  for (how in c("helper", "environment", "argument", "listed", "rows")) {
    expect_equal(counted(how), w * 1:70, label = how)
  }
})

test_that("functions of many elements are called once, and what they give stays whole", {
  skip_without_plugin()
  x <- sin(1:80)
  functions <- list(
    function(x) sapply(x, function(v) v^2), function(x) sapply(x, function(v) c(v, 2 * v)),
    function(x) vapply(x, function(v) v + 1, 0), function(x) vapply(x, function(v) c(v, -v), c(0, 0)),
    function(x) mapply(function(a, b) a * b, x, rev(x)),
    function(x) mapply(function(b, a) a - 2 * b, a = x, b = rev(x)),
    function(x) Reduce(`+`, Map(function(a, b) a * b, x, x)), function(x) apply(matrix(x, 80, 2), 1, range),
    function(x) apply(array(x, c(10, 8, 2)), c(1, 2), sum), function(x) apply(array(x, c(8, 10, 2)), 2:1, rev),
    function(x) apply(array(x, c(80, 2, 1)), 1, function(m) m + 1), function(x) apply(matrix(x, 80, 2), 1, max),
    function(x) sapply(x, function(v) matrix(c(v, 2 * v, 3, 4), 2)),
    function(x) sapply(x, function(v) matrix(c(v, 2 * v, 3, 4), 2), simplify = "array"),
    function(x) vapply(x, function(v) matrix(c(v, 2 * v, 3, 4), 2), matrix(0, 2, 2))
  )
  all <- function(x) lapply(seq_along(functions), function(i) functions[[i]](x))
  given <- xla_jit(all)(x)
  for (i in seq_along(functions)) {
    expect_equal(given[[i]], functions[[i]](x), label = deparse(body(functions[[i]])))
  }
  many <- ffi_type("f64", c(2000L, 41L))
  expect_lt(length(strsplit(xla_program(xla_grad(function(m) sum(apply(m, 1, max))), many), "\n")[[1]]), 60)
})
