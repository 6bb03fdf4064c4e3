# Distributions by rejection, and counts, beside R's distribution functions. Distributions are the same however programs
# are compiled, so large ones take the way that needs less time.

test_that("gamma numbers and what is made of them have their distributions", {
  skip_without_plugin()
  n <- if (all_run()) 1e5 else 1e4
  out <- xla_jit(function(seed) {
    keys <- hlo_split(hlo_key(seed), 6)
    each <- function(parameters) Reduce(hlo_concatenate, lapply(parameters, hlo_broadcast, n))
    # Several distributions in one array: each function is compiled once.
    gamma <- hlo_rgamma(keys[1, ], 5 * n, each(c(0.3, 1, 7.5, 1e6, 1e-3)), scale = each(c(1 / 2, 1, 3, 1, 1)))
    beta <- hlo_rbeta(keys[2, ], 3 * n, each(c(2, 1e5, 0.01)), each(c(3, 1e3, 0.02)))
    part <- function(x, i) x[(i - 1) * n + seq_len(n)]
    # What is made of gamma numbers by a formula, in `make test-all`
    made <- if (all_run()) {
      list(
        hlo_rchisq(keys[3, ], n, 3), hlo_rf(keys[5, ], n, 3, 8), hlo_rgamma(keys[6, ], n, 2, dtype = "f32"),
        hlo_rt(keys[4, ], n, 0.7)
      )
    }
    list(
      part(gamma, 1), part(gamma, 2), part(gamma, 3), part(gamma, 4), part(beta, 1), part(beta, 2), made = made,
      tiny = part(gamma, 5), split = part(beta, 3)
    )
  }, exact = TRUE)(1L)
  functions <- list(
    function(x) pgamma(x, 0.3, 2), pexp, function(x) pgamma(x, 7.5, scale = 3), function(x) pgamma(x, 1e6),
    function(x) pbeta(x, 2, 3), function(x) pbeta(x, 1e5, 1e3)
  )
  of_made <- list(function(x) pchisq(x, 3), function(x) pf(x, 3, 8), function(x) pgamma(x, 2), function(x) pt(x, 0.7))
  for (i in seq_along(functions)) {
    p <- suppressWarnings(stats::ks.test(as.vector(out[[i]]), functions[[i]]))$p.value
    expect_gt(p, 1e-4, label = sprintf("p of distribution %d", i))
  }
  for (i in seq_along(out$made)) {
    p <- suppressWarnings(stats::ks.test(as.vector(out$made[[i]]), of_made[[i]]))$p.value
    expect_gt(p, 1e-4, label = sprintf("p of what is made of gamma numbers, %d", i))
  }
  # Where many are next to 0 or 1
  share <- function(x, at) vapply(at, function(q) mean(x <= q), 0)
  at <- c(1e-300, 1e-100, 1e-20, 0.1)
  expect_lt(max(abs(share(out$tiny, at) - pgamma(at, 1e-3))), 2.5 / sqrt(n))
  expect_lt(max(abs(share(out$split, at) - pbeta(at, 0.01, 0.02))), 2.5 / sqrt(n))
  expect_true(all(is.finite(unlist(out))))
})

# The p-value of the chi-square statistic of about 50 classes
fits <- function(x, probability) {
  ends <- unique(stats::quantile(x, seq(0, 1, 0.02), type = 1, names = FALSE))
  ends[[length(ends)]] <- Inf
  expected <- diff(c(0, probability(ends))) * length(x)
  observed <- as.vector(table(cut(x, c(-Inf, ends))))
  usual <- expected > 5
  statistic <- sum((observed - expected)[usual]^2 / expected[usual])
  stats::pchisq(statistic, max(1, sum(usual) - 1), lower.tail = FALSE)
}

test_that("counts have their distributions, small and large", {
  skip_without_plugin()
  skip_unless_all()
  n <- 1e5
  out <- xla_jit(function(seed) {
    keys <- hlo_split(hlo_key(seed), 13)
    lambda <- hlo_concatenate(hlo_broadcast(1e-3, n), hlo_broadcast(9.99, n), hlo_broadcast(10, n))
    lambda <- hlo_concatenate(lambda, hlo_broadcast(1e4, n), hlo_broadcast(1e9, n))
    size <- hlo_concatenate(hlo_broadcast(20, n), hlo_broadcast(100, n), hlo_broadcast(1e9, n), hlo_broadcast(1e9, n))
    prob <- hlo_concatenate(hlo_broadcast(0.9, n), hlo_broadcast(0.4, n), hlo_broadcast(0.5, n), hlo_broadcast(1e-9, n))
    list(
      hlo_rpois(keys[1, ], 5 * n, lambda), hlo_rbinom(keys[2, ], 4 * n, size, prob), hlo_rgeom(keys[3, ], n, 0.2),
      hlo_rnbinom(keys[4, ], n, 3, 0.2), hlo_rnbinom(keys[5, ], n, 0.5, mu = 30)
    )
  }, exact = TRUE)(5L)
  part <- function(x, i) x[(i - 1) * n + seq_len(n)]
  checks <- list(
    list(part(out[[1]], 1), function(q) ppois(q, 1e-3)), list(part(out[[1]], 2), function(q) ppois(q, 9.99)),
    list(part(out[[1]], 3), function(q) ppois(q, 10)), list(part(out[[1]], 4), function(q) ppois(q, 1e4)),
    list(part(out[[1]], 5), function(q) ppois(q, 1e9)), list(part(out[[2]], 1), function(q) pbinom(q, 20, 0.9)),
    list(part(out[[2]], 2), function(q) pbinom(q, 100, 0.4)), list(part(out[[2]], 3), function(q) pbinom(q, 1e9, 0.5)),
    list(part(out[[2]], 4), function(q) pbinom(q, 1e9, 1e-9)), list(out[[3]], function(q) pgeom(q, 0.2)),
    list(out[[4]], function(q) pnbinom(q, 3, 0.2)), list(out[[5]], function(q) pnbinom(q, 0.5, mu = 30))
  )
  for (i in seq_along(checks)) {
    x <- as.vector(checks[[i]][[1]])
    expect_identical(x, floor(x))
    expect_gt(fits(x, checks[[i]][[2]]), 1e-4, label = sprintf("p of counts %d", i))
  }
})

test_that("a batch of keys gives what a loop over keys gives, by rejection too", {
  skip_without_plugin()
  skip_unless_all()
  numbers <- function(key) {
    list(
      hlo_rgamma(key, 4, c(0.5, 1, 3, 40)), hlo_rbeta(key, 2, 2, 3), hlo_rpois(key, 3, c(2, 20, 1e6)),
      hlo_rbinom(key, 2, c(5, 1000), 0.3)
    )
  }
  keys <- function(seed) hlo_split(hlo_key(seed), 3)
  batch <- xla_jit(function(seed) xla_vmap(numbers)(keys(seed)))(3L)
  one <- xla_jit(function(seed, i) numbers(drop(hlo_dynamic_slice(keys(seed), list(i, 1L), c(1, 2)))))
  loop <- lapply(1:3, function(i) one(3L, i))
  for (i in seq_along(batch)) {
    rows <- lapply(1:3, function(k) as.vector(loop[[k]][[i]]))
    expect_identical(matrix(as.vector(batch[[i]]), 3), do.call(rbind, rows), label = i)
  }
})

test_that("parameters at the edge, and none", {
  skip_without_plugin()
  skip_unless_all()
  key <- function() hlo_key(8)
  out <- xla_jit(function() {
    list(
      hlo_rgamma(key(), 4, c(0, Inf, -1, NaN)), hlo_rgamma(key(), 2, 2, c(Inf, -1)), hlo_rchisq(key(), 2, c(0, -1)),
      hlo_rbeta(key(), 5, c(0, Inf, Inf, 1, -1), c(1, 1, Inf, Inf, 1)), hlo_rt(key(), 2, c(0, NaN)),
      hlo_rpois(key(), 4, c(0, -1, Inf, NaN)), hlo_rbinom(key(), 6, c(5, 5, 0, 2.5, -1, 5), c(0, 1, 0.5, 0.5, 0.5, 2)),
      hlo_rgeom(key(), 3, c(1, 0, 1.1)), hlo_rnbinom(key(), 2, 3, mu = c(0, -1)), hlo_rt(key(), 1, Inf),
      hlo_rnorm(key(), 1)
    )
  })()
  expect_identical(as.vector(out[[1]]), c(0, Inf, NaN, NaN))
  expect_identical(as.vector(out[[2]]), c(0, NaN))
  expect_identical(as.vector(out[[3]]), c(0, NaN))
  expect_identical(as.vector(out[[4]]), c(0, 1, 0.5, 0, NaN))
  expect_identical(as.vector(out[[5]]), c(NaN, NaN))
  expect_identical(as.vector(out[[6]]), c(0, NaN, NaN, NaN))
  expect_identical(as.vector(out[[7]]), c(0, 5, 0, NaN, NaN, NaN))
  expect_identical(as.vector(out[[8]]), c(0, NaN, NaN))
  expect_identical(as.vector(out[[9]]), c(0, NaN))
  expect_identical(as.vector(out[[10]]), as.vector(out[[11]]))
})
