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
  skip_without_plugin()
  # 2,000 elements are too many to be written anew each time.
  for (size in c(if (all_run()) 4L, 2000L)) {
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
  skip_without_plugin()
  skip_unless_all()
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
  expect_match(xla_program(function(x) one(one(x))[1:3], x), "dynamic_update_slice")
  expect_no_match(xla_program(function(x) cumsum(one(one(x))), x), "dynamic_update_slice")
  expect_no_match(xla_program(function(x) one(c(matrix(x, 2))), x), "dynamic_update_slice")
})

test_that("tabulate() takes a negated value for numbers, not for positions to leave out", {
  skip_without_plugin()
  i <- c(-1L, -2L, -2L, 3L)
  expect_equal(xla_jit(function(i) tabulate(-i, 4))(i), tabulate(-i, 4))
})

test_that("rows of assignments at known places are one concatenation, and what they read is found before", {
  skip_without_plugin()
  chains <- list(
    function(x, m, i) {
      for (k in 2:5) x[k] <- x[k - 1] * 0.5 + x[6] + m[k, 1]
      x
    },
    function(x, m, i) {
      for (k in 1:3) x[k] <- m[k, k]
      # Over what was there, a part of it, and all of the rest
      x[2:4] <- x[1:3] + 1
      x[3] <- x[4]
      x[5:6] <- x[c(2, 2)]
      x
    },
    function(x, m, i) {
      x[1] <- 2
      y <- x
      x[2] <- x[1] + y[2]
      y[6] <- sum(x)
      c(x, y, x[2:1], y[seq(1, 6, 2)])
    },
    function(x, m, i) {
      for (j in 1:3) for (k in 2:4) m[k, j] <- m[k - 1, j] * x[j] - m[5, j]
      m[2, ] <- m[1, ] + m[3, ]
      m[, 2] <- m[, 3]
      m[1, ] <- m[5, 3:1]
      m
    },
    function(x, m, i) {
      i[2] <- i[5]
      i[4] <- i[3] + i[2]
      is.na(i * 2L)
    },
    function(x, m, i) {
      x[c(a = 1)] <- c(b = 4)
      x[3] <- x[1]
      unname(x[1:2])
    }
  )
  all <- function(x, m, i) lapply(chains, function(f) f(x, m, i))
  x <- c(0.3, -1.2, 0.8, 2.1, -0.4, 0.9)
  m <- matrix(sin(1:15), 5)
  i <- c(4L, 1L, 7L, -2L, 3L)
  expect_equal(xla_jit(all)(x, m, i), all(x, m, i))
  found <- xla_jit(function(x, m) lapply(chains[1:4], function(f) f(x, m, NULL)))(
    pjrt_buffer(x, "f32"), pjrt_buffer(m, "f32")
  )
  expect_equal(lapply(found, function(y) c(as_array(y))), lapply(all(x, m, i)[1:4], c), tolerance = 1e-6)

  text <- xla_program(chains[[1]], x, m, i)
  expect_match(text, "concatenate")
  expect_no_match(text, "select|dynamic_update_slice")
  expect_lt(nchar(xla_program(function(x) {
    for (k in 1:100) x[k] <- x[k] * 2
    x
  }, numeric(1000))), 60000)
})

test_that("rows of assignments in loops, branches, batches and under derivatives", {
  skip_without_plugin()
  skip_unless_all()
  step <- function(s) {
    for (k in 2:4) s[k] <- sin(s[k - 1]) * s[k]
    s[1] <- s[4]
    s
  }
  f <- function(x) {
    y <- hlo_scan(function(s, v) list(step(s * v), s[1]), x, c(0.5, 1.5))
    z <- hlo_cond(x[1] > 0, function() step(x), function() step(step(x)) * 2)
    # With respect to what was assigned, not to what it was made of
    w <- step(x)
    w[2] <- x[1]
    slope <- xla_grad(function(w) w[2]^2 * w[4] + w[1])(w)
    c(y$carry, y$y, z, slope)
  }
  plain <- function(x) {
    s <- x
    y <- numeric()
    for (v in c(0.5, 1.5)) {
      y <- c(y, (s * v * 0 + s)[1])
      s <- step(s * v)
    }
    w <- step(x)
    w[2] <- x[1]
    c(s, y, if (x[1] > 0) step(x) else step(step(x)) * 2, 1, 2 * w[2] * w[4], 0, w[2]^2)
  }
  x <- rbind(c(0.4, -0.7, 1.2, 0.5), c(-0.3, 0.6, 0.9, -1.1))
  loss <- function(x) sum(f(x)^2)
  slope <- function(f, x) {
    step <- function(i) replace(numeric(4), i, 1e-5)
    vapply(1:4, function(i) (f(x + step(i)) - f(x - step(i))) / 2e-5, f(x))
  }
  all <- xla_jit(function(x) list(f(x[1, ]), xla_vmap(f)(x), xla_grad(loss)(x[2, ]), xla_hessian(loss)(x[1, ])))(x)
  expect_equal(all[[1]], plain(x[1, ]))
  expect_equal(all[[2]], t(apply(x, 1, plain)))
  expect_equal(all[[3]], slope(function(x) sum(plain(x)^2), x[2, ]), tolerance = 1e-7)
  expect_equal(all[[4]], slope(function(x) slope(function(x) sum(plain(x)^2), x), x[1, ]), tolerance = 1e-3)
  expect_equal(all[[4]], t(all[[4]]))
})
