test_that("what is stopped is a number in all modes and orders, batches, loops and branches", {
  skip_without_plugin()
  stop <- xla_stop_gradient
  functions <- list(
    function(x, s) sum(s(x) * x^2), function(x, s) sum(sin(s(x)) * x) + sum(s(x)),
    function(x, s) sum(s(list(a = x, b = list(x^2)))$b[[1]] * x),
    function(x, s) sum(hlo_scan(function(c, e) list(s(c) * e + c, s(e) * c), x[1], x)$y * x),
    function(x, s) hlo_cond(sum(x) > 0, function() sum(s(x) * x^3), function() sum(x)),
    function(x, s) sum(xla_vmap(function(y) s(y) * y)(x)),
    function(x, s) sum(xla_checkpoint(function(y) s(y) * y^2)(x))
  )
  x <- c(0.3, 1.5, -0.7)
  found <- xla_jit(function(x) {
    lapply(functions, function(f) {
      f <- local({
        inner <- f
        function(x) inner(x, stop)
      })
      gradient <- xla_grad(f)
      list(
        f(x), gradient(x), xla_jacobian(f, mode = "forward")(x), xla_grad(function(x) sum(gradient(x)^2))(x),
        xla_jacobian(gradient, mode = "forward")(x)
      )
    })
  })(x)
  # What is stopped comes from a point that does not move.
  plain <- list(
    function(x, p) sum(p * x^2), function(x, p) sum(sin(p) * x) + sum(p), function(x, p) sum(p^2 * x),
    function(x, p) {
      carry <- x[1]
      kept <- p[1]
      total <- 0
      for (i in 1:3) {
        total <- total + p[i] * carry * x[i]
        now <- kept * x[i] + carry
        kept <- kept * p[i] + kept
        carry <- now
      }
      total
    },
    function(x, p) sum(p * x^3), function(x, p) sum(p * x), function(x, p) sum(p * x^2)
  )
  wanted <- xla_jit(function(x, p) {
    lapply(plain, function(f) {
      gradient <- xla_grad(f)
      list(f(x, p), gradient(x, p), xla_grad(f)(x, p), NULL, xla_jacobian(gradient)(x, p))
    })
  })(x, x)
  for (i in seq_along(functions)) {
    expect_equal(found[[i]][-4], wanted[[i]][-4], label = deparse1(body(functions[[i]])))
    expect_equal(found[[i]][[4]], as.vector(2 * found[[i]][[5]] %*% found[[i]][[2]]))
  }
})

test_that("outside of a program, and where there is no derivative, x comes back as it is", {
  x <- list(a = 1:3, b = c(k = 1), c = list(TRUE, NULL))
  expect_identical(xla_stop_gradient(x), x)
  expect_error(xla_stop_gradient(list("a")), class = "xlaffi_error_invalid_argument")
  expect_snapshot(error = TRUE, {
    xla_stop_gradient(sin)
    xla_stop_gradient(Sys.Date())
  })
  skip_without_plugin()
  buffer <- pjrt_buffer(c(1, 2), "f32")
  expect_identical(xla_stop_gradient(buffer), buffer)
  # Names, NA of integers, and no operation in the program
  expect_identical(xla_jit(function(p) xla_stop_gradient(p)["b"])(c(a = 1, b = 2)), 2)
  expect_identical(xla_jit(function(i) as.double(xla_stop_gradient(i %/% c(0L, 1L))))(c(1L, 2L)), c(NaN, 2))
  text <- function(f) xla_program(f, ffi_type("f64", 2))
  expect_identical(text(function(x) sin(xla_stop_gradient(x))), text(function(x) sin(x)))
})
