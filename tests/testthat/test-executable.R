add <- function() {
  program("%r = stablehlo.add %x, %y : tensor<2x2xf32>", c(x = "2x2xf32", y = "2x2xf32"), "2x2xf32")
}

test_that("a program runs on buffers in the order of its parameters", {
  skip_without_plugin()
  subtract <- program(
    "%r = stablehlo.subtract %x, %y : tensor<2x3xf64>", c(x = "2x3xf64", y = "2x3xf64"), "2x3xf64"
  )
  x <- matrix(runif(6), 2)
  y <- matrix(runif(6), 2)
  out <- pjrt_execute(subtract, pjrt_buffer(x, "f64"), pjrt_buffer(y, "f64"))
  expect_identical(as_array(out), x - y)
  expect_snapshot(subtract)
  expect_identical(device(subtract), pjrt_device("cpu:0"))
  expect_identical(platform(subtract), "cpu")
  expect_identical(devices(subtract), list(pjrt_device("cpu:0")))
})

test_that("results can be simplified or not, and there may be several or none", {
  skip_without_plugin()
  one <- add()
  x <- pjrt_buffer(diag(2))
  expect_s3_class(pjrt_execute(one, x, x), "xlaffi_buffer")
  expect_length(pjrt_execute(one, x, x, simplify = FALSE), 1)
  two <- compile("func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>) {
    %0 = stablehlo.negate %x : tensor<2xf32>
    %1 = stablehlo.compare LT, %0, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0, %1 : tensor<2xf32>, tensor<2xi1>
  }")
  out <- pjrt_execute(two, pjrt_buffer(c(1, -2)))
  expect_identical(lapply(out, as_array), list(array(c(-1, 2)), array(c(TRUE, FALSE))))
  none <- compile("func.func @main(%x: tensor<2xf32>) { return }")
  expect_identical(pjrt_execute(none, pjrt_buffer(c(1, 2))), list())
})

test_that("an input that is donated is gone, unless it is kept", {
  skip_without_plugin()
  exec <- compile("func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }")
  x <- pjrt_buffer(c(1, 2, 3, 4))
  keep <- pjrt_execution_options(non_donatable_input_indices = 0L)
  expect_identical(as.vector(as_array(pjrt_execute(exec, x, execution_options = keep))), c(2, 4, 6, 8))
  expect_identical(as.vector(as_array(x)), c(1, 2, 3, 4))
  expect_identical(as.vector(as_array(pjrt_execute(exec, x))), c(2, 4, 6, 8))
  expect_snapshot(error = TRUE, {
    as_array(x)
    pjrt_execute(exec, x)
    pjrt_execute(exec, x, check = FALSE)
    print(x)
    await(x)
    as_raw(x, TRUE)
  })
})

test_that("R's own memory is never donated", {
  skip_without_plugin()
  exec <- compile("func.func @main(%x: tensor<300x300xf64> {tf.aliasing_output = 0 : i32}) -> tensor<300x300xf64> {
    %0 = stablehlo.add %x, %x : tensor<300x300xf64>
    return %0 : tensor<300x300xf64>
  }")
  x <- matrix(runif(300 * 300), 300)
  copy <- x + 0
  y <- as_array(pjrt_execute(exec, pjrt_buffer(x, "f64")))
  expect_identical(x, copy)
  expect_identical(y, 2 * copy)
})

test_that("execution options", {
  expect_snapshot(pjrt_execution_options(c(0L, 2L), 3L))
  expect_snapshot(error = TRUE, {
    pjrt_execution_options(-1L)
    pjrt_execution_options("a")
    pjrt_execution_options(launch_id = 1:2)
  })
})

test_that("wrong arguments are named", {
  skip_without_plugin()
  exec <- add()
  x <- pjrt_buffer(diag(2))
  expect_snapshot(error = TRUE, {
    pjrt_execute(exec)
    pjrt_execute(exec, x)
    pjrt_execute(exec, x, x, x)
    pjrt_execute(exec, x, pjrt_buffer(diag(3)))
    pjrt_execute(exec, x, pjrt_buffer(1:4, "f32"))
    pjrt_execute(exec, x, pjrt_buffer(diag(2), "f64"))
    pjrt_execute(exec, x, pjrt_buffer(matrix(1:4, 2)))
    pjrt_execute(exec, x, diag(2))
    pjrt_execute(exec, x, y = x)
    pjrt_execute(x, x)
    pjrt_execute(exec, x, x, execution_options = list())
    pjrt_execute(exec, x, x, execution_options = pjrt_execution_options(5L))
  })
})

test_that("a large program runs asynchronously and is waited for", {
  skip_without_plugin()
  n <- 400
  type <- sprintf("%dx%dxf32", n, n)
  exec <- program(
    sprintf(
      paste(
        "%%r = stablehlo.dot_general %%x, %%x, contracting_dims = [1] x [0] :",
        "(tensor<%1$s>, tensor<%1$s>) -> tensor<%1$s>"
      ),
      type
    ),
    c(x = type), type
  )
  x <- matrix(runif(n * n), n)
  out <- pjrt_execute(exec, pjrt_buffer(x))
  expect_equal(as_array(await(out)), x %*% x, tolerance = 1e-5)
  # A result is an argument before it is there.
  chained <- pjrt_execute(exec, pjrt_execute(exec, pjrt_buffer(x / n)))
  y <- x / n
  expect_equal(as_array(chained), (y %*% y) %*% (y %*% y), tolerance = 1e-4)
})

test_that("maximum and minimum of NaN are NaN, as in JAX", {
  skip_without_plugin()
  x <- c(1, NaN, 3, 4)
  expect_identical(xla_jit(max)(x), NaN)
  expect_identical(xla_jit(min)(x), NaN)
})

test_that("small programs that are compiled in haste give the same bits", {
  skip_without_plugin()
  withr::local_seed(1)
  a <- crossprod(matrix(rnorm(36), 6))
  for (f in list(xla_svd, xla_lu, xla_qr, xla_eigh, xla_chol, function(x) xla_solve(x, x[, 1:2]))) {
    text <- as.character(xla_program(function(x) f(x), a))
    run <- function(text) {
      results <- pjrt_execute(compile(text), pjrt_buffer(a, "f64"), simplify = FALSE)
      lapply(results, as_raw, row_major = FALSE)
    }
    # The comment makes the plugin take it for one that calls functions.
    expect_identical(run(text), run(paste(text, "// func.call")))
  }
})

test_that("an interactive session is told once while a program compiles for long", {
  skip_without_plugin()
  after <- get("progress_after", asNamespace("xlaffi"))
  withr::defer(assignInNamespace("progress_after", after, "xlaffi"))
  assignInNamespace("progress_after", 0, "xlaffi")
  host_state <- xlaffi:::host_state
  host_state$said_compiling <- NULL
  withr::local_options(rlang_interactive = TRUE, xlaffi.progress = FALSE)
  program <- pjrt_program(xla_program(function(x) x + 1, 1))
  expect_silent(pjrt_compile(program))
  withr::local_options(rlang_interactive = FALSE, xlaffi.progress = NULL)
  expect_silent(pjrt_compile(program))
  withr::local_options(rlang_interactive = TRUE)
  expect_snapshot(invisible(pjrt_compile(program)))
  expect_silent(pjrt_compile(program))
})

test_that("programs, executables and devices are equal only to such", {
  skip_without_plugin()
  text <- function(op) {
    sprintf("
    func.func @main(%%x: tensor<2xf32>) -> tensor<2xf32> {
      %%0 = stablehlo.%s %%x, %%x : tensor<2xf32>
      return %%0 : tensor<2xf32>
    }
  ", op)
  }
  programs <- lapply(c("add", "add", "multiply"), function(op) pjrt_program(text(op)))
  executables <- lapply(programs, pjrt_compile)
  for (of in list(programs, executables)) {
    expect_true(all.equal(of[[1]], of[[1]]))
    expect_true(all.equal(of[[1]], of[[2]]))
    expect_match(all.equal(of[[1]], of[[3]]), "^line 3: .*stablehlo.add .* and .*stablehlo.multiply")
  }
  expect_match(all.equal(programs[[1]], executables[[1]]), "current is an object of class <xlaffi_executable>")
  expect_match(all.equal(programs[[1]], pjrt_program(as.raw(1:10), format = "hlo")), "formats are")
  expect_match(all.equal(programs[[1]], pjrt_program(paste0(text("add"), "\n//"))), "^line 7: .*no more and")
  expect_true(all.equal(pjrt_device("cpu"), pjrt_device("cpu:0")))
  expect_match(all.equal(pjrt_device("cpu"), 1), "target is a device")
})
