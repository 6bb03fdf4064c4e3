# Kepler's equation with a rule for reverse mode, in both forms, beside the rule for forward mode.
kepler_call <- function(M, e) {
  hlo_custom_call("kepler", list(M, e), list(sin = M, cos = M), vmap_method = "broadcast_all")
}

kepler_gradients <- function(e, results, cotangents) {
  by_m <- (results$cos * cotangents$sin - results$sin * cotangents$cos) / (1 - e * results$cos)
  list(M = by_m, e = by_m * results$sin)
}

by_jvp <- function() ffi_op(kepler_call, jvp = xlaffi:::kepler_jvp, name = "by_jvp")

by_vjp <- function() {
  ffi_op(kepler_call, name = "by_vjp", vjp = function(primals, results, cotangents) {
    kepler_gradients(primals$e, results, cotangents)
  })
}

# What the residuals are computed by has a rule; one of them is no value.
with_residuals <- function() {
  inner <- by_vjp()
  ffi_op(kepler_call, name = "with_residuals", vjp = list(
    forward = function(primals) {
      results <- inner(primals$M, primals$e)
      list(results = results, residuals = list(results, list(e = primals$e, sign = 1)))
    },
    reverse = function(residuals, cotangents) {
      kepler_gradients(residuals[[2]]$e * residuals[[2]]$sign, residuals[[1]], cotangents)
    }
  ))
}

at <- list(M = c(0.3, 1.2), e = c(0.1, 0.5))
one <- c(1, 2)

# What `use` gives of both kinds of ops must be what it gives of one with a rule for forward mode.
expect_same_derivatives <- function(use) {
  wanted <- numbers(use(by_jvp()))
  expect_equal(numbers(use(by_vjp())), wanted, tolerance = 1e-12)
  expect_equal(numbers(use(with_residuals())), wanted, tolerance = 1e-12)
}

test_that("a rule for reverse mode serves for reverse mode and, transposed, for forward mode", {
  skip_without_plugin()
  expect_same_derivatives(function(op) xla_vjp(op)(at, list(one, rev(one))))
  expect_same_derivatives(function(op) xla_vjp(op)(at, list(NULL, one)))
  expect_same_derivatives(function(op) xla_vjp(op)(at, list(cos = NULL, sin = one)))
  expect_same_derivatives(function(op) xla_grad(function(M, e) sum(op(M, e)$sin * M), c(1, 2))(at$M, at$e))
  expect_same_derivatives(function(op) xla_jvp(op)(at, list(one, one)))
  expect_same_derivatives(function(op) xla_jvp(op)(at, list(NULL, one)))
  expect_same_derivatives(function(op) xla_jvp(function(M, e) op(M, e)$cos)(at, list(one, NULL)))
})

test_that("rules for reverse mode are differentiated again", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(op) function(M, e) sum(op(M, e)$sin * M)
  second <- function(op) function(M, e) sum(xla_grad(f(op))(M, e))
  expect_same_derivatives(function(op) xla_grad(second(op), c(1, 2))(at$M, at$e))
  expect_same_derivatives(function(op) xla_jvp(second(op))(at, list(one, one)))
  expect_same_derivatives(function(op) xla_hessian(f(op))(at$M, at$e))
  third <- function(op) function(M, e) sum(xla_grad(second(op))(M, e))
  expect_same_derivatives(function(op) xla_grad(third(op), c(1, 2))(at$M, at$e))
})

test_that("rules for reverse mode work on batches, and what is not mapped gets the sum", {
  skip_without_plugin()
  m <- rbind(at$M, at$M + 1)
  e <- m / 4
  expect_same_derivatives(function(op) {
    xla_grad(function(M, e) sum(xla_vmap(op, list(1, NULL))(M, e)$sin), c(1, 2))(m, at$e)
  })
  expect_same_derivatives(function(op) {
    xla_vmap(xla_vjp(op), list(list(1, NULL), NULL))(list(M = m, e = at$e), list(one, one))
  })
  expect_same_derivatives(function(op) xla_jvp(xla_vmap(op, list(NULL, 1)))(list(at$M, e), list(one, m)))
  expect_same_derivatives(function(op) {
    twice <- xla_vmap(xla_vmap(op, list(1, NULL)), list(NULL, 1))
    xla_grad(function(M, e) sum(twice(M, e)$cos), c(1, 2))(m, e)
  })
  expect_same_derivatives(function(op) {
    inner <- function(M, e) sum(xla_grad(function(M) sum(op(M, e)$sin))(M))
    xla_grad(function(M, e) sum(xla_vmap(inner)(M, e)), c(1, 2))(m, e)
  })
})

test_that("forward mode takes rules for reverse mode through loops", {
  skip_without_plugin()
  expect_same_derivatives(function(op) {
    turns <- function(M, e) {
      start <- list(hlo_constant(0L, shape = integer()), M)
      hlo_while(function(i, x) i < 3L, function(i, x) list(i + 1L, op(x, e)$sin), start)[[2]]
    }
    list(xla_jvp(turns)(at, list(one, one)), xla_vmap(function(t) xla_jvp(turns)(at, list(t, t)))(rbind(one, 2 * one)))
  })
})

test_that("the forward rule takes the place of the call where derivatives are taken, and only there", {
  op <- ffi_op(function(x) exp(x), name = "exp", vjp = list(
    forward = function(primals) {
      half <- exp(primals$x / 2)
      list(half * half, list(square = half * half, half))
    },
    reverse = function(residuals, cotangents) residuals[[2]]^2 * cotangents
  ))
  type <- ffi_type("f64", 3)
  text <- xla_program(op, type)
  expect_false(grepl("divide", text))
  text <- xla_program(xla_grad(function(x) sum(op(x)), value = TRUE), type)
  expect_true(grepl("divide", text))
  expect_identical(lengths(regmatches(text, gregexpr("exponential", text))), 1L)
  skip_without_plugin()
  expect_equal(as.vector(xla_grad(function(x) sum(op(x)))(c(1, 2))), exp(c(1, 2)))
  # The second derivative goes through what gave the residuals.
  expect_equal(as.vector(xla_grad(function(x) sum(xla_grad(function(x) sum(op(x)))(x)))(c(1, 2))), exp(c(1, 2)))
})

test_that("each mode takes its own rule where there are both", {
  skip_without_plugin()
  op <- ffi_op(function(x) x,
    jvp = function(primals, results, tangents) 2 * tangents$x,
    vjp = function(primals, results, cotangents) 3 * cotangents
  )
  expect_identical(as.vector(xla_jvp(op)(1, 1)$tangent), 2)
  expect_identical(as.vector(xla_vjp(op)(1, 1)$gradients), 3)
  expect_snapshot(op)
})

test_that("integers and what does not count have NULL, lists are nested, and complex numbers are not conjugated", {
  skip_without_plugin()
  seen <- NULL
  op <- ffi_op(function(data, k) list(sum = list(data$x * data$y), k = k + 1L),
    name = "nested",
    vjp = function(primals, results, cotangents) {
      seen <<- cotangents
      list(data = list(x = cotangents$sum[[1]] * primals$data$y, y = NULL), k = NULL)
    }
  )
  out <- xla_vjp(op)(list(data = list(x = 2, y = 3), k = 1L), list(sum = list(5), k = NULL))
  expect_identical(names(seen), c("sum", "k"))
  expect_null(seen$k)
  expect_equal(numbers(out$gradients), c(15, 0))
  expect_null(out$gradients$k)
  forward <- xla_jvp(op)(list(data = list(x = 2, y = 3), k = 1L), list(data = list(x = 1, y = 1), k = NULL))
  expect_identical(numbers(forward$tangent), 3)

  part <- ffi_op(function(z) list(hlo_real(z * z), abs(z)),
    vjp = function(primals, results, cotangents) {
      of_size <- hlo_conj(primals$z) * hlo_complex(cotangents[[2]] / results[[2]], 0)
      2 * primals$z * hlo_complex(cotangents[[1]], 0) + of_size
    }
  )
  plain <- function(z) list(hlo_real(z * z), abs(z))
  z <- c(1 + 2i, 3 - 1i)
  expect_equal(xla_vjp(part)(z, list(one, one)), xla_vjp(plain)(z, list(one, one)))
  expect_equal(xla_jvp(part)(z, c(1i, 2 + 1i)), xla_jvp(plain)(z, c(1i, 2 + 1i)))
})

test_that("ffi_call() takes the rule, and operands go by name", {
  skip_without_plugin()
  op <- ffi_call("kepler", function(M, e) list(sin = M, cos = M),
    vmap_method = "broadcast_all", vjp = function(primals, results, cotangents) {
      kepler_gradients(primals$e, results, cotangents)
    }
  )
  expect_equal(
    numbers(xla_vjp(op)(list(e = at$e, M = at$M), list(one, one))$gradients),
    numbers(xla_vjp(by_jvp())(list(e = at$e, M = at$M), list(one, one))$gradients)
  )
})

test_that("an op that is applied to tangents is transposed by its rule for reverse mode, if that can be right", {
  skip_without_plugin()
  double <- function(vjp) ffi_op(function(w, t) w * t, vjp = vjp, name = "double")
  outer <- function(inner) {
    rule <- function(primals, results, tangents) inner(2 * primals$x, tangents$x)
    ffi_op(function(x) x * x, jvp = rule, name = "outer")
  }
  right <- outer(double(function(primals, results, cotangents) list(NULL, cotangents * primals$w)))
  expect_identical(as.vector(xla_vjp(right)(3, 1)$gradients), 6)
  kept <- outer(double(list(
    forward = function(primals) list(primals$w * primals$t, primals$w),
    reverse = function(residuals, cotangents) list(NULL, cotangents * residuals)
  )))
  expect_identical(as.vector(xla_vjp(kept)(3, 1)$gradients), 6)
  wrong <- outer(double(function(primals, results, cotangents) list(NULL, cotangents * primals$t)))
  expect_snapshot(error = TRUE, xla_vjp(wrong)(3, 1))
})

test_that("rules that do not fit are told by op and rule", {
  type <- ffi_type("f64", 2)
  op <- function(vjp) ffi_op(kepler_call, vjp = vjp, name = "anomaly")
  reverse <- function(vjp) xla_program(xla_vjp(op(vjp)), list(type, type), list(type, type))
  forward <- function(vjp) xla_program(xla_jvp(op(vjp)), list(type, type), list(type, type))
  residuals <- function(forward) list(forward = forward, reverse = function(residuals, cotangents) NULL)
  expect_snapshot(error = TRUE, {
    ffi_op(identity, vjp = 1)
    ffi_op(identity, vjp = list(identity, identity))
    ffi_call("kepler", identity, vjp = list(forward = identity, reverse = NULL))
    reverse(function(primals, results, cotangents) cotangents$sin)
    reverse(function(primals, results, cotangents) list(M = cotangents$sin, E = cotangents$sin))
    reverse(function(primals, results, cotangents) list(M = sum(cotangents$sin)))
    reverse(function(primals, results, cotangents) list(M = hlo_convert(cotangents$sin, "f32")))
    reverse(residuals(function(primals) primals$M))
    reverse(residuals(function(primals) list(primals$M, NULL)))
    reverse(residuals(function(primals) list(list(primals$M, sum(primals$M)), NULL)))
    reverse(residuals(function(primals) list(list(sin = primals$M), NULL)))
    reverse(function(primals, results, cotangents) list(M = 3 * primals$M))
    reverse(function(primals, results, cotangents) list(M = c(cotangents$sin[1], 5)))
    forward(function(primals, results, cotangents) list(M = sin(cotangents$sin)))
    forward(function(primals, results, cotangents) list(M = kepler_call(cotangents$sin, primals$e)$sin))
  })
})
