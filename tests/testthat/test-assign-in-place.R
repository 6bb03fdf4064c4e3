# XLA reads what it has already replaced where an update in place reads the same array through a reshape: see
# R/prim-dynamic-update-slice.R.

vectors <- list(
  function(x) {
    r <- x
    r[1:2] <- x[2:1]
    cumsum(r)
  },
  function(x) {
    r <- x
    r[1:3] <- r[3:1] * 2
    r[2:3] <- r[3:2]
    m <- matrix(r, 1)
    c(m %*% t(m), r)
  },
  function(x) {
    r <- x
    for (i in 2:4) r[i] <- r[i - 1] * 0.5 + x[i]
    dim(r) <- c(length(r), 1)
    r * 2
  },
  function(x) {
    r <- x > 0
    r[1:2] <- r[3:2]
    cumsum(r)
  },
  function(x) {
    r <- x
    i <- which.max(x[1:3])
    r[i] <- r[1] + r[4]
    dim(r) <- c(1, length(r))
    r * 2
  }
)

matrices <- list(
  function(m) {
    r <- m
    r[1:2, ] <- m[2:1, ] * 2
    cumsum(c(r))
  },
  function(m) {
    r <- m
    r[, 2] <- m[, 1] + r[, 2]
    r[2, 3] <- r[1, 1]
    t(r) %*% r
  },
  function(m) {
    r <- m
    r[2:3, 2:3] <- t(m[1:2, 4:5])
    c(r) * 2
  },
  function(m) {
    r <- m
    dim(r) <- NULL
    r[1:4] <- m[4:1, 2]
    matrix(r, nrow(m))
  },
  function(m) {
    r <- matrix(m, 2)
    r[1, 1:3] <- m[3:1]
    c(r) * 2
  },
  function(m) {
    r <- array(m, c(nrow(m), 2, 3))
    r[1:2, 1, ] <- r[2:1, 2, 3:1]
    i <- which.max(m[1:3, 1])
    r[i, , ] <- r[1, , ]
    cumsum(c(r))
  }
)

# A moving window of several elements, which R has no word for: from the position `at` on, moved inside.
window <- function(x, at) {
  r <- hlo_dynamic_update_slice(x, x[3:1] * 2, at)
  hlo_reshape(r, c(length(x), 1L)) * 1
}

test_that("an assignment reads what was there before it, whatever comes after", {
  # 2,000 elements are too many to be written anew each time.
  for (size in c(4L, 2000L)) {
    x <- sin(seq_len(size))
    m <- matrix(cos(seq_len(6L * size)), size)
    # One program each: what else reads an array may keep XLA from replacing it.
    for (f in vectors) expect_equal(xla_jit(f)(x), f(x))
    for (f in matrices) expect_equal(xla_jit(f)(m), f(m))
    for (at in c(1L, 2L, size - 2L, size + 5L, -3L)) {
      first <- min(max(at, 1L), size - 2L)
      expect_equal(c(xla_jit(window)(x, at)), replace(x, first + 0:2, x[3:1] * 2))
    }
  }
})

test_that("batches and gradients of assignments are those of exact programs", {
  f <- function(x) {
    r <- x
    for (i in 2:4) r[i] <- sin(r[i - 1]) * x[i]
    r[1:2] <- r[2:1] * x[3]
    cumsum(r)
  }
  x <- matrix(cos(1:12), 3)
  batch <- function(x) xla_vmap(f)(x)
  expect_equal(xla_jit(batch)(x), t(apply(x, 1L, f)))
  slopes <- xla_grad(function(x) sum(f(x)^2))
  expect_equal(xla_jit(slopes)(x[1L, ]), xla_jit(slopes, exact = TRUE)(x[1L, ]))
})

test_that("large arrays are updated in place where nothing can come between", {
  x <- numeric(5000)
  one <- function(x) {
    x[2] <- x[1] + 1
    x
  }
  expect_match(xla_program(function(x) one(x) * 2, x), "dynamic_update_slice")
  expect_match(xla_program(function(x) one(one(x))[3:5], x), "dynamic_update_slice")
  expect_no_match(xla_program(function(x) cumsum(one(one(x))), x), "dynamic_update_slice")
  expect_no_match(xla_program(function(x) one(c(matrix(x, 2))), x), "dynamic_update_slice")
})

test_that("tabulate() takes a negated value for numbers, not for positions to leave out", {
  i <- c(-1L, -2L, -2L, 3L)
  expect_equal(xla_jit(function(i) tabulate(-i, 4))(i), tabulate(-i, 4))
})
