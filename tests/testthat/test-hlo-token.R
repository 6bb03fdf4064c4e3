say <- function(x, header, ..., target = "print_tensor") {
  hlo_custom_call(target, list(x, ...), ffi_type("token"), list(print_header = header, print_footer = ""),
    has_side_effect = TRUE
  )
}

headers <- function(output) grep("^[a-z]", output, value = TRUE)

test_that("tokens are written as StableHLO has them", {
  expect_snapshot(cat(xla_program(function(x) {
    one <- say(x, "one", hlo_token())
    two <- say(x, "two", hlo_token())
    say(x, "three", hlo_token(one, two))
    x + 1
  }, ffi_type("f64", 2))))
  expect_output(print(ffi_type("token")), "<token>", fixed = TRUE)
})

test_that("calls come in the order of their tokens", {
  skip_without_plugin()
  # Under this name nobody else puts them in order.
  pjrt_register_custom_call("say_with_token", list(host = ffi_handler("print_tensor", "host")))
  f <- xla_jit(function(x) {
    token <- hlo_token()
    for (i in 0:7) {
      # Every other one needs a product first.
      shown <- if (i %% 2 == 0) sum(x %*% (x + i)) else sum(x[1, ])
      token <- say(shown, paste0("p", i), token, target = "say_with_token")
    }
    x
  })
  for (i in 1:5) {
    expect_equal(headers(capture.output(f(matrix(1, 128, 128)))), paste0("p", 0:7))
  }
})

test_that("loops carry tokens, and ops take and give them", {
  skip_without_plugin()
  op <- ffi_call("print_tensor", ffi_type("token"), list(print_header = "turn", print_footer = ""),
    has_side_effect = TRUE
  )
  f <- xla_jit(function(n) {
    out <- hlo_while(
      function(i, token) i < n,
      function(i, token) list(i = i + 1L, token = op(i, token)),
      list(i = hlo_constant(0L, shape = integer()), token = say(n, "start", hlo_token()))
    )
    say(out$i, "end", out$token)
    out$i
  })
  output <- capture.output(expect_equal(f(3L), 3L))
  expect_equal(headers(output), c("start", rep("turn", 3), "end"))
})

test_that("a derivative leaves the calls as they are", {
  skip_without_plugin()
  f <- function(x) {
    say(x, "here", hlo_token())
    x^2
  }
  output <- capture.output(slope <- xla_grad(f)(3))
  expect_equal(slope, 6)
  expect_equal(headers(output), "here")
})

test_that("tokens are no numbers, and stay in their program", {
  with_token <- function(f) xla_program(function(x) f(x, hlo_token()), ffi_type("f64"))
  expect_snapshot(error = TRUE, {
    with_token(function(x, token) token + 1)
    with_token(function(x, token) x * token)
    with_token(function(x, token) token == token)
    with_token(function(x, token) -token)
    with_token(function(x, token) exp(token))
    with_token(function(x, token) hlo_convert(token, "f64"))
    with_token(function(x, token) hlo_select(x > 0, token, token))
    with_token(function(x, token) sum(token))
    with_token(function(x, token) c(token, token))
    with_token(function(x, token) hlo_broadcast(token, 3))
    with_token(function(x, token) hlo_token(x))
    with_token(function(x, token) hlo_token(token, 1))
    with_token(function(x, token) list(x, token))
    with_token(function(x, token) hlo_constant(1, "token"))
    xla_program(function(x) 1, ffi_type("token"))
    ffi_type("token", 3)
    xla_program(xla_vmap(function(x) {
      say(x, "batch", hlo_token())
      x
    }), ffi_type("f64", 3))
    xla_program(xla_jvp(function(x) {
      hlo_while(
        function(x, token) x < 3,
        function(x, token) list(x + 1, say(x, "turn", token)),
        list(x, hlo_token())
      )[[1L]]
    }), ffi_type("f64"), ffi_type("f64"))
  })
})

test_that("a function whose results are tokens does not run alone", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, ffi_call("print_tensor", ffi_type("token"), has_side_effect = TRUE)(1))
  expect_error(pjrt_buffer(1, "token"), class = "xlaffi_error_invalid_argument")
})
