# XLA orders side effects by data flow alone; the CPU plugin keeps prints in the order of the program.

print_call <- function(value, header, type = "tensor<i32>") {
  sprintf(
    'stablehlo.custom_call @print_tensor(%s) {api_version = 4 : i32, has_side_effect = true,
       backend_config = {print_header = "%s", print_footer = ""}} : (%s) -> ()',
    value, header, type
  )
}

headers <- function(output) grep("^[a-z]", output, value = TRUE)

test_that("prints without data flow between them keep their order", {
  skip_unless_included("order of calls")
  products <- vapply(0:7, function(i) {
    heavy <- sprintf(
      "%%y%d = stablehlo.dot_general %%x, %%x, contracting_dims = [1] x [0] :
         (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
       %%z%d = stablehlo.slice %%y%d [0:1, 0:1] : (tensor<64x64xf32>) -> tensor<1x1xf32>", i, i, i
    )
    if (i %% 2 == 0) {
      paste(heavy, print_call(sprintf("%%z%d", i), paste0("p", i), "tensor<1x1xf32>"), sep = "\n")
    } else {
      print_call("%one", paste0("p", i))
    }
  }, character(1))
  exec <- pjrt_compile(pjrt_program(paste0(
    "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
       %one = stablehlo.constant dense<1> : tensor<i32>\n",
    paste(products, collapse = "\n"),
    "\nreturn %x : tensor<64x64xf32>\n}"
  )))
  x <- pjrt_buffer(matrix(1, 64, 64))
  for (i in 1:5) {
    expect_equal(headers(capture.output(await(pjrt_execute(exec, x)))), paste0("p", 0:7))
  }
})

test_that("the order goes through loops, branches and functions", {
  skip_unless_included("order of calls")
  exec <- pjrt_compile(pjrt_program(paste0(
    "func.func @main(%n: tensor<i32>) -> tensor<i32> {
       %zero = stablehlo.constant dense<0> : tensor<i32>
       %one = stablehlo.constant dense<1> : tensor<i32>\n",
    print_call("%n", "start"),
    "%r = stablehlo.while(%i = %zero) : tensor<i32>
     cond {
       %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
       stablehlo.return %c : tensor<i1>
     } do {
       %j = stablehlo.add %i, %one : tensor<i32>\n",
    print_call("%one", "loop"),
    "  %k = func.call @twice(%j) : (tensor<i32>) -> tensor<i32>
       stablehlo.return %j : tensor<i32>
     }
     %p = stablehlo.compare GT, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
     %q = \"stablehlo.if\"(%p) ({\n",
    print_call("%one", "positive"),
    "  stablehlo.return %one : tensor<i32>
     }, {\n",
    print_call("%one", "otherwise"),
    "  stablehlo.return %zero : tensor<i32>
     }) : (tensor<i1>) -> tensor<i32>
     %w = func.call @twice(%one) : (tensor<i32>) -> tensor<i32>\n",
    print_call("%one", "end"),
    "return %r : tensor<i32>
     }
     func.func private @twice(%y: tensor<i32>) -> tensor<i32> {
       %z = stablehlo.add %y, %y : tensor<i32>\n",
    print_call("%z", "twice"),
    "return %z : tensor<i32>
     }"
  )))
  run <- function(n) headers(capture.output(await(pjrt_execute(exec, pjrt_scalar(n)))))
  expect_equal(run(2L), c("start", "loop", "twice", "loop", "twice", "positive", "twice", "end"))
  expect_equal(run(0L), c("start", "otherwise", "twice", "end"))
})

test_that("a program can order prints by tokens of its own", {
  skip_without_plugin()
  exec <- pjrt_compile(pjrt_program('
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %t0 = stablehlo.create_token : !stablehlo.token
      %t1 = stablehlo.custom_call @print_tensor(%x, %t0) {api_version = 4 : i32, has_side_effect = true,
        backend_config = {print_header = "first", print_footer = ""}}
        : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
      %t2 = stablehlo.custom_call @print_tensor(%x, %t1) {api_version = 4 : i32, has_side_effect = true,
        backend_config = {print_header = "second", print_footer = ""}}
        : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
      return %x : tensor<2xf32>
    }'))
  expect_equal(headers(capture.output(await(pjrt_execute(exec, pjrt_buffer(c(1, 2)))))), c("first", "second"))
})

test_that("calls of any handler keep their order where they are marked", {
  skip_unless_included("order of calls")
  pjrt_register_custom_call("my_print", list(host = ffi_handler("print_tensor", "host")))
  say <- function(i) {
    ffi_call("my_print", list(), list(print_header = paste0("p", i), print_footer = ""), has_side_effect = "ordered")
  }
  f <- xla_jit(function(x) {
    for (i in 0:7) {
      # Every other one needs a product first.
      say(i)(if (i %% 2 == 0) sum(x %*% (x + i)) else sum(x[1, ]))
    }
    x
  })
  x <- matrix(1, 128, 128)
  for (i in 1:5) {
    expect_equal(headers(capture.output(f(x))), paste0("p", 0:7))
  }
})
