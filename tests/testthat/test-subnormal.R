# XLA runs handlers with subnormal numbers flushed to zero; ours compute with them.

tiny <- cbind(c(1, 2, 3) * 1e-310, c(1, 2, 4))

# The matrix at place `at` of a batch of others.
among <- function(x, at, count) {
  batch <- random_array(c(count, dim(x)))
  batch[at, , ] <- x
  batch
}

test_that("a subnormal column does not make NaN, and a matrix is the same alone and in a batch", {
  skip_without_plugin()
  for (factor in list(xla_qr, xla_lu)) {
    alone <- factor(tiny)
    expect_true(all(vapply(alone, function(part) all(is.finite(part)), NA)))
    batch <- factor(among(tiny, 3L, 8L))
    for (part in names(alone)) {
      inner <- batch[[part]]
      inner <- if (length(dim(inner)) == 3L) inner[3L, , ] else inner[3L, ]
      expect_identical(as.vector(inner), as.vector(alone[[part]]))
    }
  }
})

test_that("values of subnormal matrices are there", {
  skip_without_plugin()
  x <- random_array(c(4, 4))
  s <- xla_svd(x * 1e-310)
  expect_equal(as.vector(s$d) / 1e-310, as.vector(xla_svd(x)$d), tolerance = 1e-9)
  h <- x + t(x)
  expect_equal(as.vector(xla_eigh(h * 1e-310)$values) / 1e-310, as.vector(xla_eigh(h)$values), tolerance = 1e-9)
})

test_that("kepler() near zero", {
  skip_without_plugin()
  expect_equal(as.vector(kepler(1e-310, 0.5)$sin) / 1e-310, 2, tolerance = 1e-9)
})
