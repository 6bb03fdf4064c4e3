# The nodes behind indices: positions count from 0 and run along one axis.
gathered <- xlaffi:::gathered
scattered <- xlaffi:::scattered

takes <- function(x, u, at) {
  fixed <- hlo_constant(c(3L, 0L))
  list(
    gathered(x, at, 1L), scattered("add", x, at, u, 1L), scattered("set", x, fixed, u, 1L),
    scattered("set", x, at[1:1, drop = FALSE] * 5L, u[1:1, , drop = FALSE], 1L, within = FALSE)
  )
}

# Central differences of a function with one number as result
differences <- function(f, x) {
  vapply(seq_along(x), function(i) {
    (f(replace(x, i, x[[i]] + 1e-5)) - f(replace(x, i, x[[i]] - 1e-5))) / 2e-5
  }, 0)
}

set.seed(1)
batches <- list(x = array(rnorm(36), c(3, 4, 3)), u = array(rnorm(18), c(3, 2, 3)), at = cbind(c(0:1, 0L), c(2:3, 0L)))
element <- function(x, i) if (length(dim(x)) == 3L) array(x[i, , ], dim(x)[-1]) else x[i, ]

test_that("gather takes, scatter adds, puts and maximises", {
  skip_without_plugin()
  x <- element(batches$x, 1)
  u <- element(batches$u, 1)
  got <- xla_jit(takes)(x, u, c(2L, 2L))
  added <- x
  added[3, ] <- x[3, ] + u[1, ] + u[2, ]
  set <- x
  set[c(4, 1), ] <- u
  expect_equal(got, list(x[c(3, 3), ], added, set, x))
  larger <- function(x) scattered("max", x, hlo_constant(c(0L, 2L, 2L)), hlo_constant(c(7L, 9L, 4L)), 1L)
  expect_identical(xla_jit(larger)(1:4), c(7L, 2L, 9L, 4L))
})

test_that("gather and scatter have derivatives and batches", {
  skip_without_plugin()
  total <- function(x, u, at, axes) {
    parts <- (if (is.null(axes)) takes else xla_vmap(takes, axes))(x, u, at)
    Reduce(`+`, lapply(parts, function(part) sum(sin(part))))
  }
  check_gradient <- function(arguments, axes) {
    f <- xla_jit(function(x, u, at) total(x, u, at, axes))
    gradients <- xla_grad(function(x, u, at) total(x, u, at, axes), 1:2)(arguments$x, arguments$u, arguments$at)
    by_x <- differences(function(x) f(x, arguments$u, arguments$at), arguments$x)
    by_u <- differences(function(u) f(arguments$x, u, arguments$at), arguments$u)
    expect_equal(as.vector(gradients[[1]]), by_x, tolerance = 1e-8)
    expect_equal(as.vector(gradients[[2]]), by_u, tolerance = 1e-8)
  }
  one <- xla_jit(takes)
  check_gradient(lapply(batches, element, 1), NULL)
  ways <- list(list(1, 1, 1), list(1, 1, NULL), list(1, NULL, NULL), list(NULL, 1, NULL), list(NULL, NULL, 1))
  for (axes in one_in(5L, ways)) {
    mapped <- !vapply(axes, is.null, NA)
    arguments <- Map(function(x, mapped) if (mapped) x else element(x, 1), batches, mapped)
    got <- xla_vmap(takes, axes)(arguments$x, arguments$u, arguments$at)
    for (i in 1:3) {
      at <- Map(function(x, mapped) if (mapped) element(x, i) else x, arguments, mapped)
      expect_equal(lapply(got, element, i), one(at$x, at$u, at$at), tolerance = 1e-14)
    }
    check_gradient(arguments, axes)
  }
  twice <- xla_vmap(xla_vmap(function(x, at) gathered(x, at, 1L)), list(NULL, 1))
  x <- batches$x[, , 1]
  at <- array(c(0L, 3L, 2L, 1L), c(2, 3, 2))
  expected <- at * 0
  for (b in 1:2) for (i in 1:3) expected[b, i, ] <- x[i, at[b, i, ] + 1]
  expect_equal(twice(x, at), expected)
})
