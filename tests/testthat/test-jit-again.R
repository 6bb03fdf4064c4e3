# Calls that are run at once, as what they ran before is known: nothing is different from a first call.

test_that("a call that is run at once gives what the first one gave", {
  skip_without_plugin()
  forget_session()
  pair <- xla_jit(function(x, y) list(sum = x + y, x * y))
  alone <- xla_jit(function(x) x / 2L)
  doubling <- "func.func @main(%x: tensor<2xf64> {tf.aliasing_output = 0 : i32}) -> tensor<2xf64> {
    %y = stablehlo.add %x, %x : tensor<2xf64>
    return %y : tensor<2xf64>
  }"
  gone <- pjrt_buffer(c(1, 2), "f64")
  pjrt_execute(pjrt_compile(pjrt_program(doubling)), gone)
  for (turn in 1:3) {
    expect_identical(pair(1:3, 3:1), list(sum = rep(4L, 3L), c(3L, 4L, 3L)))
    expect_identical(pair(array(2, 1L), 5), list(sum = array(7, 1L), array(10, 1L)))
    buffers <- pair(pjrt_buffer(1:3), pjrt_buffer(3:1))
    expect_identical(names(buffers), c("sum", ""))
    expect_identical(lapply(buffers, as_array), list(sum = array(4L, 3L), array(c(3L, 4L, 3L), 3L)))
    # A number beside a buffer takes its dtype, and must fit.
    expect_identical(as.character(dtype(pair(pjrt_buffer(c(1, 2), "f32"), 2)[[1]])), "f32")
    expect_error(pair(pjrt_buffer(c(1, 2), "f32"), 1e300), "a number that dtype f32 cannot hold", fixed = TRUE)
    expect_error(pair(c(1L, NA), 1L), "argument `x` has NA, which i32 cannot hold", fixed = TRUE)
    expect_identical(withVisible(alone(c(a = 6, b = 8))), list(value = c(3, 4), visible = TRUE))
    expect_identical(as_array(alone(pjrt_buffer(diag(2), "f64"))), diag(2) / 2)
    expect_error(alone(gone), "argument 1: .*deleted or donated buffer")
  }
  expect_gt(length(Filter(Negate(is.null), as.list(xlaffi:::jit_state$known))), 4L)
})

test_that("what has changed is noticed by a call that would be run at once", {
  skip_without_plugin()
  factor <- 2
  scaled <- xla_jit(function(x) x * factor)
  for (turn in 1:3) expect_identical(scaled(3), 6)
  factor <- 5
  for (turn in 1:3) expect_identical(scaled(3), 15)
  env <- new.env()
  evalq(f <- function(x) x + offset, env)
  env$offset <- 1
  moved <- with(env, xla_jit(f))
  for (turn in 1:3) expect_identical(moved(3), 4)
  env$offset <- 10
  expect_identical(moved(3), 13)
  # Code of the user's that runs while it is asked may have all programs forgotten.
  clears <- FALSE
  cleared <- 0L
  makeActiveBinding("shift", function() {
    if (clears) {
      cleared <<- cleared + 1L
      forget_session()
      gc()
    }
    7
  }, env)
  evalq(g <- function(x) x + shift, env)
  active <- with(env, xla_jit(g))
  for (turn in 1:6) {
    clears <- turn %in% c(3, 5, 6)
    expect_identical(active(3), 10)
  }
  expect_gt(cleared, 2L)
  forget_session()
  expect_length(ls(xlaffi:::jit_state$calls), 0)
})

test_that("a call ends well where the function that it runs has its program forgotten", {
  skip_without_plugin()
  forgetting <- ffi_callback(function(x) {
    forget_session()
    calls <<- calls + 1L
    if (calls > 3L) stop("enough of it")
    x
  }, "x: f64 -> y: f64")
  calls <- 0L
  f <- xla_jit(function(x) forgetting(x) + 1)
  for (turn in 1:3) expect_identical(f(2), 3)
  expect_error(f(2), "enough of it")
})
