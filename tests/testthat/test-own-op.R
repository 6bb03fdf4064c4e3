test_that("a function in C is an op", {
  skip_without_plugin()
  times <- own_times()
  expect_identical(times(c(1, 2, 3), 2), c(2, 4, 6))
  expect_identical(times(y = 2L, x = 1:3), c(2L, 4L, 6L))
  expect_identical(times(1:3, 0.5), c(0.5, 1, 1.5))
  expect_identical(times(numeric(), 2), numeric())
  x <- pjrt_buffer(c(1, 2), "f32")
  expect_identical(format(dtype(times(x, 2))), "<f32>")
  expect_identical(as_array(times(x, 0.5)), array(c(0.5, 1), 2L))
  expect_snapshot(times)
})

test_that("calls that are found again are those of their names, types and attributes", {
  skip_without_plugin()
  times <- own_times()
  source <- xla_jit(function(x, y) times(x, y = y) + 1)
  for (turn in 1:4) {
    expect_identical(times(c(1, 2), 3), c(3, 6))
    expect_identical(times(y = 3, x = c(1, 2)), c(3, 6))
    expect_identical(times(y = c(1, 2, 3)[[turn %% 3 + 1]], c(5, 7)), c(5, 7) * (turn %% 3 + 1))
    expect_identical(times(c(1L, 2L), 3L), c(3L, 6L))
    expect_identical(times(c(1, 2), 3L), c(3, 6))
    expect_identical(source(c(1, 2), 3), c(4, 7))
  }
  scaled <- own_op("scaled", "x: f64[n]; alpha: f64 = 2 -> y: f64[n]")
  for (turn in 1:3) {
    expect_identical(scaled(c(1, 2)), c(2, 4))
    expect_identical(scaled(c(1, 2), alpha = turn), c(1, 2) * turn)
    expect_identical(scaled(x = c(1, 2)), c(2, 4))
  }
})

test_that("R data are converted where nothing is lost", {
  skip_without_plugin()
  only_integers <- new_own_op(own_op_new(
    "times_integers", "x: i32[n], y: i32[] -> z: i32[n]", list(),
    list(list(dtypes = character(), pointer = own_function("times_i32"))), list(digest = "1")
  ))
  expect_identical(only_integers(c(1, 2), 3), c(3L, 6L))
  expect_identical(only_integers(c(1, 2), 3), c(3L, 6L))
  expect_snapshot(error = TRUE, {
    only_integers(c(1, 2.5), 3)
    only_integers(c(1, NA), 3)
    only_integers(3e9, 3)
    only_integers(1:2, 1i)
  })
  single <- new_own_op(own_op_new(
    "times_single", "x: T[n], y: T[] -> z: T[n]", list(T = "f32"),
    list(list(dtypes = "f32", pointer = own_function("times_f32"))), list(digest = "1")
  ))
  expect_equal(single(c(0.1, 0.2), 3), c(0.3, 0.6), tolerance = 1e-6)
  expect_identical(single(1:2, 3L), c(3, 6))
  expect_snapshot(error = TRUE, single(2^24 + 1L, 16777217L))
  # Integers and logicals have no NA.
  expect_identical(single(c(NA, 2), 3), c(NaN, 6))
  expect_snapshot(error = TRUE, {
    only_integers(c(NA, 2L), 3L)
    single(c(1L, NA), 2)
    single(NA, 2)
    single(bit64::NA_integer64_, 2)
    only_integers(NA, 3)
  })
  # Within a program
  f <- xla_jit(function(x) single(x, 2) + 1)
  expect_identical(as_array(f(pjrt_buffer(c(1, 2), "f32"))), array(c(3, 5), 2L))
})

test_that("what does not fit is told by name", {
  skip_without_plugin()
  times <- own_times()
  expect_snapshot(error = TRUE, {
    times(c(1, 2))
    times(c(1, 2), 1, 3)
    times(c(1, 2), z = 3)
    times(matrix(1:4, 2), 3L)
    times(c(1, 2), c(1, 2))
    times(pjrt_buffer(c(1, 2), "f32"), pjrt_buffer(2, "f64"))
    times(pjrt_buffer(c(1, 2), "f16"), pjrt_buffer(c(1, 2), "f16"))
    times("a", 2)
    times(c(1, 2), "a")
    times(x = 1, y = 2, x = 3)
    times(x = 1, x = 2)
    times(1i, 2)
    times(pjrt_buffer(1, "f32"), 2i)
  })
  expect_identical(error_of(times(1, "a"))$operand, "y")
  scaled <- own_op("scaled", "x: f64[n]; alpha: f64 = 2 -> y: f64[n]")
  expect_snapshot(error = TRUE, scaled(1, alpha = 10, alpha = 20))
  lost <- unserialize(serialize(times, NULL))
  expect_snapshot(lost)
  expect_snapshot(error = TRUE, lost(c(1, 2), 2))
})

test_that("a body's error is a condition of its code, that names the op", {
  skip_without_plugin()
  root <- own_op("root", "x: f64[n] -> y: f64[n]")
  expect_identical(root(c(4, 9)), c(4, 9))
  error <- expect_error(root(c(4, -9)), class = "xlaffi_error_out_of_range")
  expect_identical(error$op, "root")
  expect_match(conditionMessage(error), "root: x[1] is -9", fixed = TRUE)
})

test_that("ops work within programs, on batches and in place", {
  skip_without_plugin()
  times <- own_times()
  f <- xla_jit(function(x, y) sum(times(x + 1, y)))
  expect_identical(f(c(1, 2, 3), 2), 18)
  x <- matrix(c(1, 2, 3, 4, 5, 6), 3)
  expect_identical(xla_vmap(times, in_axes = list(2, NULL), out_axes = 2)(x, 2), x * 2)
  expect_identical(xla_vmap(times, in_axes = list(NULL, 1), out_axes = 2)(c(1, 2, 3), c(1, 10)), outer(1:3, c(1, 10)))
  expect_identical(xla_vmap(times, in_axes = list(2, 1), out_axes = 2)(x, c(1, 10)), x * rep(c(1, 10), each = 3))
  both <- xla_vmap(xla_vmap(times, in_axes = list(NULL, 1)), in_axes = list(1, NULL))
  got <- both(array(as.double(1:12), c(4, 3)), c(1, 10))
  expect_identical(got[2, 2, ], 10 * c(2, 6, 10))
  expect_identical(dim(got), c(4L, 2L, 3L))

  centre <- own_op("centre", "a: f64[..., m, n] column -> sums: f64[..., n], a: f64[..., m, n] column")
  got <- centre(x)
  expect_identical(got$sums, colSums(x))
  expect_identical(got$a, scale(x, scale = FALSE)[, ])
  batch <- array(as.double(1:24), c(4, 3, 2))
  got <- centre(batch)
  expect_identical(got$sums, t(apply(batch, 1, colSums)))
  expect_identical(got$a[2, , ], scale(batch[2, , ], scale = FALSE)[, ])
  # The operand is used again, so it must not be changed.
  twice <- xla_jit(function(a) list(centre(a)$a, a))
  expect_identical(twice(x)[[2]], x)
  expect_identical(xla_vmap(centre)(batch), got)
})

test_that("attributes have types, defaults and arrays", {
  skip_without_plugin()
  padded <- own_op("padded", paste(
    "x: f64[n]; alpha: f64 = 2, lags: i64[p] = [1], mode: str = \"plain\", k: i32 = 1",
    "-> y: f64[n + k], told: f64[3]"
  ))
  expect_identical(padded(c(1, 2)), list(y = c(2, 4, 0), told = c(1, 1, 5)))
  expect_identical(
    padded(c(1, 2), lags = c(3, 4, 5), alpha = 10L, k = 2, mode = ""), list(y = c(10, 20, 0, 0), told = c(3, 12, 0))
  )
  expect_identical(padded(c(1, 2), k = 0)$y, c(2, 4))
  f <- xla_jit(function(x) sum(padded(x, alpha = 3)$y))
  expect_identical(f(c(1, 2)), 9)
  expect_snapshot(error = TRUE, {
    padded(1, k = 1.5)
    padded(1, k = -5)
    padded(1, alpha = "a")
    padded(1, mode = 2)
    padded(1, beta = 2)
  })
})

test_that("operands come several times, or not at all", {
  skip_without_plugin()
  total <- own_op("total", "xs: f64[n]*k, w: f64[n] -> total: f64[n]")
  expect_identical(total(list(c(1, 2), c(3, 4)), c(1, 10)), c(4, 60))
  expect_identical(total(c(1, 2), c(3, 4), c(1, 10)), c(4, 60))
  expect_identical(total(w = c(1, 10), xs = list(c(1, 2))), c(1, 20))
  expect_identical(total(c(1, 2), c(1, 10)), c(1, 20))
  expect_identical(total(list(), c(1, 10)), c(0, 0))
  weighted <- own_op("weighted", "x: f64[n], w: f64[n]? -> y: f64[]")
  expect_identical(weighted(c(1, 2)), 3)
  expect_identical(weighted(c(1, 2), NULL), 3)
  expect_identical(weighted(c(1, 2), c(10, 1)), 12)
})

test_that("rules make derivatives, and may know the attributes", {
  skip_without_plugin()
  times <- own_times("times_with_rules", rules = list(jvp = function(primals, results, tangents) {
    own <- own_times("times_with_rules")
    hlo_add(
      if (!is.null(tangents$x)) own(tangents$x, primals$y), if (!is.null(tangents$y)) own(primals$x, tangents$y)
    )
  }))
  f <- function(x, y) times(x, y)
  expect_identical(xla_jvp(f)(list(c(1, 2), 3), list(c(1, 0), 1))$tangent, c(4, 2))
  seen <- NULL
  padded <- own_op("padded_rule", paste(
    "x: f64[n]; alpha: f64 = 2, lags: i64[p] = [1], mode: str = \"plain\", k: i32 = 1",
    "-> y: f64[n + k], told: f64[3]"
  ), "padded", rules = list(jvp = function(primals, results, tangents, attributes) {
    seen <<- attributes
    list(y = NULL, told = NULL)
  }))
  xla_jvp(function(x) padded(x, alpha = 3)$y)(list(1), list(1))
  expect_identical(seen[c("alpha", "mode")], list(alpha = 3, mode = "plain"))
})

test_that("compiled programs keep the definition that they mean", {
  skip_without_plugin()
  define <- function(body, digest) {
    own_op("kept", "x: i32[n], y: i32[] -> z: i32[n]", body, options = list(digest = digest))
  }
  before <- define("times_i32", "one")
  program <- xla_jit(function(x) before(x, 2L))
  expect_identical(program(1:2), c(2L, 4L))
  after <- own_op("kept", "x: f64[n] -> y: f64[n]", "root")
  expect_identical(program(1:2), c(2L, 4L))
  expect_identical(before(1:2, 2L), c(2L, 4L))
  expect_identical(after(c(1, 2)), c(1, 2))
  text <- xla_program(before, 1:2, 2L)
  expect_match(text, "\"xlaffi.op\" = -?[0-9]+ : i64")
  row <- ffi_targets()
  row <- row[row$target == "kept", ]
  expect_identical(c(row$platforms, row$operands, row$results, row$dtypes), c("host", "x", "y", "f64"))
  ffi_unregister("kept", "host")
  expect_error(after(c(1, 2)), "unregistered", class = "xlaffi_error_failed_precondition")
  expect_false("kept" %in% ffi_targets()$target)
})

test_that("redefinitions leave no memory behind", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("windows", "mac"))
  resident <- function() as.numeric(strsplit(readLines("/proc/self/statm"), " ")[[1]][[2]]) * 4096
  define <- function(i) own_op("again", "x: f64[n] -> y: f64[n]", "root", options = list(digest = as.character(i)))
  # R's own heap grows at first.
  after <- vapply(1:3, function(round) {
    for (i in 1:1000) define(i)
    gc()
    resident()
  }, 0)
  expect_lt(after[[3]] - after[[2]], 5e6)
})

test_that("a routine of words is an op", {
  skip_without_plugin()
  running <- own_op("running", "x: f64[n]; scale: f64 = 1 -> x: f64[n], sum: f64[]", "running",
    words = c("array x", "i32 n", "f64 scale", "array sum")
  )
  expect_identical(running(c(1, 2, 3), scale = 2), list(x = c(2, 6, 12), sum = 12))
  by_value <- own_op("by_value", "x: f64[n] -> y: f64[n]", "by_value",
    words = c("array x", "value n", "array y"), options = list(digest = "1", status = TRUE)
  )
  expect_identical(by_value(c(1, 2, 3)), c(2, 3, 4))
  expect_error(by_value(c(1, 2, 3, 4)), "by_value: the function returned 7", class = "xlaffi_error_internal")
  expect_snapshot(error = TRUE, {
    own_op("bad", "x: f64[n] -> y: f64[n]", "by_value", words = c("array z"))
    own_op("bad", "x: f64[n] -> y: f64[n]", "by_value", words = "x")
  })
})

test_that("names and functions are looked at", {
  expect_snapshot(error = TRUE, {
    own_op_new("xlaffi.mine", "-> y: f64[]", list(), list())
    own_op_new("mine", "-> y: f64[]", list(), list())
    own_op_new("mine", "-> y: f64[]", list(), list(list(dtypes = character(), pointer = 1)))
    own_op_new("mine", "-> y: f64[", list(), list())
    own_op_new("mine", "x: T[] -> y: T[]", list(T = "f46"), list())
  })
})

test_that("a compiled program has a state, which goes with it", {
  skip_unless_all()
  skip_unless_included("order of calls")
  alive <- own_op("alive", "-> alive: i32[]")
  expect_identical(alive(), 0L)
  for (has_side_effect in list(FALSE, "ordered")) {
    stateful <- own_op("stateful", "x: f64[n]; k: f64 -> y: f64[n], alive: i32[]", "stateful",
      init = own_function("state_init"), cleanup = own_function("state_cleanup"), has_side_effect = has_side_effect
    )
    expect_identical(stateful(c(1, 2), k = 1), list(y = c(11, 12), alive = 1L))
    expect_identical(stateful(c(1, 2), k = 1)$alive, 1L)
    expect_identical(stateful(c(1, 2), k = 2), list(y = c(21, 22), alive = 2L))
    twice <- xla_jit(function(x) stateful(stateful(x, k = 1)$y, k = 1))
    expect_identical(twice(c(1, 2)), list(y = c(21, 22), alive = 4L))
    rm(twice)
    forget_session()
    gc()
    gc()
    expect_identical(alive(), 0L)
    forget_session()
  }
})
