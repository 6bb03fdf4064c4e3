# Handlers of the user's for errors, in traced functions

test_that("what a program cannot know is an error, whatever handlers make of R's errors", {
  skip_without_plugin()
  swallowing <- list(
    function(x) tryCatch(qr.R(qr(matrix(x, 2))), error = function(e) diag(2)),
    function(x) tryCatch(x[x > 1], error = function(e) -1),
    function(x) {
      r <- NULL
      try(r <- which(x > 1), silent = TRUE)
      if (is.null(r)) 7 else r
    },
    function(x) tryCatch(if (x[1] > 0) 1 else 2, error = function(e) 3),
    function(x) tryCatch(rep(1, x[1]), error = function(e) 3)
  )
  for (f in swallowing) expect_error(xla_jit(f)(c(3, 1, 2, 4)), class = "xlaffi_error", label = deparse1(f))
  expect_snapshot(error = TRUE, xla_jit(swallowing[[2L]])(c(3, 1, 2, 4)))
  # Somebody who waits for errors of this package outside does not change that.
  expect_identical(tryCatch(xla_jit(swallowing[[1L]])(1:4 / 2), xlaffi_error = function(e) "outside"), "outside")
  # R's own errors, and errors that are expected by their class, belong to the handler.
  expect_identical(xla_jit(function(x) tryCatch(stop("mine"), error = function(e) x))(c(1, 2)), c(1, 2))
  expect_identical(xla_jit(function(x) tryCatch(x %*% diag(3), error = function(e) x))(c(1, 2)), c(1, 2))
  expect_identical(xla_jit(function(x) tryCatch(qr(x), xlaffi_error = function(e) x))(c(1, 2)), c(1, 2))
  # And the next trace begins anew.
  expect_identical(xla_jit(function(x) x + 1)(1), 2)
})
