# Samples: each element once or with its probability, in all orders.

# The p-value of counts of positions beside their probabilities
evenness <- function(counts, probability = rep(1 / length(counts), length(counts))) {
  suppressWarnings(stats::chisq.test(counts, p = probability)$p.value)
}

test_that("samples have their distributions", {
  skip_without_plugin()
  n <- if (all_run()) 1e5 else 1e4
  prob <- c(0, 4, 1, 0, 3, 2)
  out <- xla_jit(function(seed, prob) {
    keys <- hlo_split(hlo_key(seed), n + 4)
    own <- keys[4 + seq_len(n), ]
    list(
      with = hlo_sample(keys[1, ], 7, n, replace = TRUE),
      weighted = hlo_sample(keys[2, ], 6, n, replace = TRUE, prob = prob),
      all = hlo_sample(keys[4, ], n),
      orders = xla_vmap(function(key) hlo_sample(key, 4))(own),
      long = if (all_run()) hlo_sample(keys[3, ], 1000, n, replace = TRUE, prob = seq_len(1000)),
      pairs = if (all_run()) xla_vmap(function(key) hlo_sample(key, 6, 2, prob = prob))(own)
    )
  })(1L, prob)
  expect_type(as.vector(out$with), "integer")
  expect_gt(evenness(tabulate(out$with, 7)), 1e-4)
  expect_identical(sort(unique(as.vector(out$weighted))), c(2L, 3L, 5L, 6L))
  expect_gt(evenness(tabulate(out$weighted, 6)[prob > 0], prob[prob > 0] / 10), 1e-4)
  expect_identical(sort(as.vector(out$all)), seq_len(n))
  expect_lt(abs(cor(as.vector(out$all), seq_len(n))), 6 / sqrt(n))
  orders <- table(apply(as.matrix(out$orders), 1, paste, collapse = ""))
  expect_length(orders, 24)
  expect_gt(evenness(orders), 1e-4)
  skip_unless_all()
  expect_gt(evenness(tabulate(out$long, 1000), seq_len(1000) / 500500), 1e-4)
  # One after the other, as R draws: the second among those that are left
  p <- prob / sum(prob)
  expected <- outer(p, p) / (1 - p)
  diag(expected) <- 0
  pairs <- as.matrix(out$pairs)
  found <- table(factor(pairs[, 1], 1:6), factor(pairs[, 2], 1:6))
  expect_true(all(found[expected == 0] == 0))
  expect_gt(evenness(found[expected > 0], expected[expected > 0]), 1e-4)
})

test_that("elements are those of vectors, of matrices in R's order, and of all dtypes", {
  skip_without_plugin()
  m <- matrix(c(2.5, 3, -1, 8, 9, 11), 2)
  out <- xla_jit(function(seed, m, i, z) {
    key <- hlo_key(seed)
    list(
      positions = hlo_sample(key, 6), m = hlo_sample(key, m), r = hlo_sample(key, c(1, 5, 9, 2, 4, 4)),
      four = hlo_sample(key, m, 4), few = hlo_sample(key, i, 2), z = hlo_sample(key, z, 9, TRUE),
      logical = hlo_sample(key, i > 6L, 2), none = hlo_sample(key, i, 0), one = hlo_sample(key, 1),
      two = hlo_sample(key, i, 5, TRUE, prob = c(0, 0, 1)),
      order = hlo_sample(key, 3, prob = c(1, 1e-300, 1e-150)), huge = hlo_sample(key, 2, 9, TRUE, c(1e308, 1e308))
    )
  })(5L, m, 5:7, 1i^(1:3))
  at <- as.vector(out$positions)
  expect_identical(sort(at), 1:6)
  expect_identical(as.vector(out$m), m[at])
  expect_identical(as.vector(out$r), c(1, 5, 9, 2, 4, 4)[at])
  expect_identical(as.vector(out$four), m[at[1:4]])
  expect_length(unique(as.vector(out$few)), 2)
  expect_true(all(as.vector(out$few) %in% 5:7))
  expect_true(all(as.vector(out$z) %in% 1i^(1:3)))
  expect_identical(as.vector(out$logical), as.vector(xla_jit(function() hlo_sample(hlo_key(5L), 3, 2))()) == 3L)
  expect_identical(as.vector(out$none), integer())
  expect_identical(as.vector(out$one), 1L)
  expect_identical(as.vector(out$two), rep(7L, 5))
  expect_identical(as.vector(out$order), c(1L, 3L, 2L))
  expect_setequal(as.vector(out$huge), 1:2)
})

test_that("a batch of keys gives what a loop over keys gives", {
  skip_without_plugin()
  skip_unless_all()
  samples <- function(key) {
    x <- c(3, 1, 4, 1.5, 9)
    list(
      hlo_sample(key, x), hlo_sample(key, x, 7, TRUE), hlo_sample(key, x, 7, TRUE, 1:5),
      hlo_sample(key, x, 3, prob = 1:5), hlo_rmvnorm(key, 2, c(1, 2), diag(2)), hlo_rdirichlet(key, 2, c(1, 2))
    )
  }
  out <- xla_jit(function(seed) {
    keys <- hlo_split(hlo_key(seed), 3)
    list(batch = xla_vmap(samples)(keys), loop = lapply(1:3, function(i) samples(keys[i, ])))
  })(3L)
  for (i in seq_along(out$batch)) {
    rows <- lapply(1:3, function(k) as.vector(out$loop[[k]][[i]]))
    expect_identical(matrix(as.vector(out$batch[[i]]), 3), do.call(rbind, rows), label = i)
  }
})

test_that("derivatives are those of the elements that were drawn", {
  skip_without_plugin()
  x <- c(2, 3, 5, 7)
  out <- xla_jit(function(seed, x, prob) {
    drawn <- function(x) sum(hlo_sample(hlo_key(seed), x, 9, TRUE, prob)^2)
    list(xla_grad(drawn)(x), hlo_sample(hlo_key(seed), 4, 9, TRUE, prob))
  })(2L, x, c(1, 2, 0, 1))
  expect_equal(as.vector(out[[1]]), 2 * x * tabulate(out[[2]], 4))
})

test_that("probabilities that are none give NaN and NA where they are values", {
  skip_without_plugin()
  f <- xla_jit(function(prob) {
    key <- hlo_key(1)
    list(
      hlo_sample(key, 3, 2, TRUE, prob), hlo_sample(key, c(1, 2, 3), 2, TRUE, prob),
      hlo_sample(key, c(1, 2, 3), 2, FALSE, prob)
    )
  })
  for (prob in list(c(-1, 2, 3), c(-1, -2, -3), c(0, 0, 0), c(1, NaN, 1), c(1, Inf, 1))) {
    out <- f(prob)
    expect_identical(as.vector(out[[1]]), c(NA_integer_, NA_integer_))
    expect_identical(as.vector(out[[2]]), c(NaN, NaN))
    expect_identical(as.vector(out[[3]]), c(NaN, NaN))
  }
  out <- f(c(0, 2, 0))
  expect_identical(as.vector(out[[1]]), c(2L, 2L))
  expect_identical(as.vector(out[[3]]), c(NaN, NaN))
})

test_that("what cannot be drawn is refused", {
  skip_without_plugin()
  run <- function(f, ...) xla_jit(f)(...)
  key <- function() hlo_key(1)
  expect_snapshot(error = TRUE, {
    run(function(x) hlo_sample(x, 3), c(1, 2))
    run(function(x) hlo_sample(key(), x), 5)
    run(function() hlo_sample(key(), 2.5))
    run(function() hlo_sample(key(), 0))
    run(function() hlo_sample(key(), "a"))
    run(function(n) hlo_sample(key(), 3, n), 2L)
    run(function() hlo_sample(key(), 3, 4))
    run(function() hlo_sample(key(), 3, -1))
    run(function() hlo_sample(key(), numeric(), 2, TRUE))
    run(function() hlo_sample(key(), 3, 2, NA))
    run(function() hlo_sample(key(), 3, 2, TRUE, c(1, 2)))
    run(function() hlo_sample(key(), 3, 2, TRUE, c(1, -2, 3)))
    run(function() hlo_sample(key(), 3, 2, FALSE, c(1, 0, 0)))
    run(function(p) hlo_sample(key(), c(TRUE, FALSE), 2, TRUE, p), c(1, 2))
    run(function(p) hlo_sample(key(), 2, 2, TRUE, p), c(1i, 2))
  })
})
