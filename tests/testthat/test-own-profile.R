test_that("calls, bytes, errors and threads are counted by target", {
  skip_without_plugin()
  a <- matrix(c(4, 1, 1, 3), 2)
  profile <- ffi_profile({
    for (i in 1:5) xla_chol(a)
    inner <- ffi_profile(xla_svd(a))
  })
  expect_s3_class(profile, c("xlaffi_profile", "data.frame"), exact = TRUE)
  expect_setequal(profile$target, c("cholesky", "svd"))
  expect_identical(inner$target, "svd")
  chol <- profile[profile$target == "cholesky", ]
  expect_identical(c(chol$calls, chol$errors, chol$bytes_in, chol$bytes_out), c(5, 0, 160, 160))
  expect_gte(chol$threads, 1)
  expect_equal(chol$mean, chol$total / 5)
  expect_true(chol$min <= chol$mean && chol$mean <= chol$max)
  expect_false(is.unsorted(-profile$total))
})

test_that("nothing is counted before, after and without calls", {
  skip_without_plugin()
  a <- diag(2)
  xla_chol(a)
  empty <- ffi_profile(1 + 1)
  expect_identical(nrow(empty), 0L)
  expect_output(print(empty), "No custom calls.")
  expect_error(ffi_profile(stop("mine")), "mine")
})

test_that("a profile is printed with units", {
  profile <- structure(
    list(
      target = c("svd", "lu"), platform = "host", calls = c(3, 1200), errors = c(0, 1), total = c(1.5, 0.0012),
      mean = c(0.5, 1e-6), min = c(0.4, 5e-7), max = c(0.6, 2e-5), bytes_in = c(2.4e9, 512), bytes_out = c(1e6, 1000),
      threads = c(1, 2)
    ),
    class = c("xlaffi_profile", "data.frame"), row.names = 1:2
  )
  expect_snapshot(print(profile))
})
