array_of <- function(buffer, ...) structure(list(data = buffer, ..., backend = "pjrt"), class = "AnvlArray")

cpu <- function() pjrt_device("cpu:0")

# Adds the leaves that are arrays or numbers, of one dtype and shape; how often it was compiled.
adder <- function(capacity = 10, ..., scale = FALSE) {
  compiled <- 0
  d <- dispatcher(capacity, function(info) {
    compiled <<- compiled + 1
    avals <- Filter(length, info$avals)
    type <- sprintf("tensor<%s%s>", paste0(avals[[1]]$shape, "x", collapse = ""), avals[[1]]$dtype)
    if (!length(avals[[1]]$shape)) type <- sub("tensor<x", "tensor<", type)
    inputs <- paste0("%x", seq_along(avals))
    body <- sprintf("%%s%d = stablehlo.add %s, %s : %s", seq_along(inputs)[-1],
      c(inputs[1], sprintf("%%s%d", seq_along(inputs)[-c(1, length(inputs))]))[seq_len(length(inputs) - 1)],
      inputs[-1], type)
    text <- sprintf("func.func @main(%s) -> %s {\n%s\nreturn %%s%d : %s }",
      paste(inputs, type, sep = ": ", collapse = ", "), type, paste(body, collapse = "\n"), length(inputs), type)
    list(
      exec = pjrt_compile(pjrt_program(text), device = info$default_device), client = pjrt_client("cpu"),
      device = cpu(), out_tree = build_tree(list(sum = 0)), out_avals = list(avals[[1]])
    )
  }, default_device = cpu, ...)
  list(run = function(...) dispatch(d, list(...)), size = function() dispatcher_size(d), compiled = function() compiled)
}

test_that("programs are found by dtypes and shapes, and results are wrapped", {
  skip_without_plugin()
  add <- adder()
  x <- array_of(pjrt_buffer(c(1, 2, 3)))
  out <- add$run(x, x)
  expect_named(out, "sum")
  expect_s3_class(out$sum, "AnvlArray")
  expect_identical(as.vector(as_array(out$sum$data)), c(2, 4, 6))
  expect_named(unclass(out$sum), c("data", "dtype", "shape", "device", "ambiguous", "backend"))
  expect_identical(out$sum[c("shape", "ambiguous", "backend")], list(shape = 3L, ambiguous = FALSE, backend = "pjrt"))
  expect_true(out$sum$device == cpu())
  # The result is an argument again; plain arrays of the same type take the same program once they
  # count as ambiguous, as plain data do.
  expect_identical(as.vector(as_array(add$run(out$sum, x)$sum$data)), c(3, 6, 9))
  expect_identical(add$compiled(), 1)
  vague <- array_of(pjrt_buffer(c(1, 2, 3)), ambiguous = TRUE)
  expect_true(add$run(vague, array(1:3 + 0.5))$sum$ambiguous)
  add$run(array(1:3 + 0.5), vague)
  expect_identical(add$compiled(), 2)
  add$run(array_of(pjrt_buffer(c(1, 2, 3), "f64")), array_of(pjrt_buffer(c(1, 2, 3), "f64")))
  expect_identical(as.vector(as_array(add$run(1L, 2L)$sum$data)), 3L)
  expect_identical(add$compiled(), 4)
  expect_identical(add$size(), 4L)
})

test_that("static arguments are constants of the program, compared bit by bit", {
  skip_without_plugin()
  add <- adder(static = "flag")
  x <- array_of(pjrt_buffer(c(1, 2)))
  statics <- list(
    TRUE, "a", 0, -0, NA_real_, NaN, bit64::as.integer64(c(-1)), bit64::as.integer64(-2), bit64::NA_integer64_,
    function(x) x, list(1, b = NULL), as.name("x"), globalenv(), new.env()
  )
  for (flag in statics) {
    add$run(x, x, flag = flag)
    add$run(x, x, flag = flag)
  }
  expect_identical(add$compiled(), length(statics) + 0)
})

test_that("the program unused longest makes place", {
  skip_without_plugin()
  add <- adder(capacity = 2)
  of <- function(n) array_of(pjrt_buffer(seq_len(n) + 0))
  for (n in c(1, 2, 1, 3, 1)) add$run(of(n), of(n))
  expect_identical(c(add$compiled(), add$size()), c(3, 2))
  add$run(of(2), of(2))
  expect_identical(c(add$compiled(), add$size()), c(4, 2))
})

test_that("constants go before and fresh buffers behind the arguments", {
  skip_without_plugin()
  exec <- compile("func.func @main(%a: tensor<2xf32>, %x: tensor<2xf32>,
      %p: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
    %r = stablehlo.subtract %a, %x : tensor<2xf32>
    return %r : tensor<2xf32> }")
  d <- dispatcher(1, function(info) {
    list(
      exec = exec, client = pjrt_client(), device = cpu(), out_tree = info$in_tree, out_avals = info$avals,
      const_arrays = list(pjrt_buffer(c(10, 20))), phantom_specs = list(list(dtype = "f32", shape = 2L))
    )
  }, default_device = cpu)
  for (i in 1:2) {
    out <- dispatch(d, list(array_of(pjrt_buffer(c(1, 2)))))
    expect_identical(as.vector(as_array(out[[1]]$data)), c(9, 18))
  }
})

test_that("another backend brings its own arrays and runs itself", {
  device <- function(name) structure(list(name = name), class = "a_device")
  mine <- function(x, on = "one") structure(list(data = x, on = on), class = "AnvlArray")
  compiled <- 0
  compile <- function(info) {
    compiled <<- compiled + 1
    list(r_fun = function(flat) list(flat, info$args$k, info$default_device))
  }
  extractor <- function(leaf) {
    list(aval = list(dtype = "f64", shape = length(leaf$data)), device = device(leaf$on), backend = "mine")
  }
  make <- function(...) dispatcher(5, compile, static = "k", backend = "mine", extractor = extractor, ...)
  d <- make(default_device = function() device("two"))
  expect_identical(dispatch(d, list(mine(1:2), 3, k = "k")), list(list(1:2, 3), "k", NULL))
  dispatch(d, list(mine(5:6), 4, k = "k"))
  expect_identical(compiled, 1)
  dispatch(d, list(mine(5:6, "two"), 4, k = "k"))
  expect_identical(compiled, 2)
  expect_identical(dispatch(d, list(1))[[3]], device("two"))
  expect_error(dispatch(d, list(x = mine(1), y = mine(1, "two"))), "invalid input `y`: it lives on a different device")
  # With `move_inputs` the device counts for nothing.
  moving <- make(move_inputs = TRUE)
  compiled <- 0
  dispatch(moving, list(mine(1), mine(1, "two")))
  dispatch(moving, list(mine(1, "three"), mine(1, "two")))
  expect_identical(compiled, 1)
})

test_that("arguments are moved to the program's device", {
  skip_without_plugin()
  run <- run_r("
    exec <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %r = stablehlo.negate %x : tensor<2xf32> return %r : tensor<2xf32> }'), device = 'cpu:1')
    d <- dispatcher(5, function(info) list(exec = exec, client = pjrt_client(), device = pjrt_device('cpu:1'),
      out_tree = info$in_tree, out_avals = info$avals), move_inputs = TRUE)
    for (at in c('cpu:0', 'cpu:1')) {
      x <- structure(list(data = pjrt_buffer(c(1, 2), device = at), backend = 'pjrt'), class = 'AnvlArray')
      y <- dispatch(d, list(x))[[1]]
      cat(format(device(y$data)), as_array(y$data), '\\n')
    }
    dispatcher_size(d)
  ", c(PJRT_CPU_DEVICE_COUNT = "2"))
  expect_identical(run$output, c("CpuDevice(id=1) -1 -2 ", "CpuDevice(id=1) -1 -2 ", "[1] 1"))
})

test_that("bad arguments", {
  skip_without_plugin()
  d <- dispatcher(1, function(info) stop("not reached"), static = "s", default_device = cpu)
  x <- array_of(pjrt_buffer(1))
  expect_snapshot(error = TRUE, {
    dispatcher(0, identity, default_device = cpu)
    dispatcher(1.5, identity, default_device = cpu)
    dispatcher(1, "f", default_device = cpu)
    dispatcher(1, identity)
    dispatcher(1, identity, static = 1, default_device = cpu)
    dispatcher(1, identity, move_inputs = NA)
    dispatcher(1, identity, backend = "mine", default_device = cpu)
    dispatcher_size(pjrt_buffer(1))
    dispatch(d, 1)
    dispatch(d, list(x = list(a = "text")))
    dispatch(d, list(pjrt_buffer(1)))
    dispatch(d, list(c(1, 2)))
    dispatch(d, list(NA))
    dispatch(d, list(x, s = x))
    dispatch(d, list(structure(list(data = 1, backend = "other"), class = "AnvlArray")))
    dispatch(d, list(structure(list(data = 1, backend = "plain"), class = "AnvlArray")))
    dispatch(d, list(structure(list(data = 1, backend = "pjrt"), class = "AnvlArray")))
    dispatch(d, list(structure(1, class = "AnvlArray")))
    dispatch(dispatcher(1, identity, default_device = function() 1), list(1))
    d
  })
})

test_that("what the compile callback returns is checked", {
  skip_without_plugin()
  exec <- compile("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
  whole <- list(exec = exec, client = pjrt_client(), device = cpu(), out_tree = build_tree(0),
    out_avals = list(list(dtype = "f32", shape = integer())))
  returning <- function(...) {
    entry <- replace(whole, ...names(), list(...))
    dispatch(dispatcher(1, function(info) entry, default_device = cpu), list(1))
  }
  expect_identical(as_array(returning(const_arrays = list())$data), 1)
  expect_snapshot(error = TRUE, {
    dispatch(dispatcher(1, function(info) 1, default_device = cpu), list(1))
    returning(client = NULL)
    returning(out_tree = build_tree(list(0, 0)))
    returning(out_tree = build_tree(list(0, 0)), out_avals = rep(whole$out_avals, 2))
    returning(out_avals = list(list(shape = 1)))
    returning(out_avals = list(list(dtype = "f31", shape = 1)))
    returning(phantom_specs = list(list(dtype = "nonsense", shape = 1)))
    returning(out_avals = NULL)
    returning(const_arrays = list(exec))
    returning(const_arrays = 1)
  })
})
