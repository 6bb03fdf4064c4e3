test_that("vectors have the length that they should have", {
  skip_if_not(xlaffi::plugins_downloaded(), "no plugin for XLA")
  x <- matrix(c(3, 4, 12, 1, 0, 2), 2, byrow = TRUE)
  expect_equal(rms_norm(x), x / sqrt(rowMeans(x^2) + 1e-5))
  expect_equal(rms_norm(x, eps = 1), x / sqrt(rowMeans(x^2) + 1))
})

test_that("a wrong `eps` is told", {
  skip_if_not(xlaffi::plugins_downloaded(), "no plugin for XLA")
  expect_error(rms_norm(c(1, 2), eps = -1), "`eps` is -1", class = "xlaffi_error_invalid_argument")
})
