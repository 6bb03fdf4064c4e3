# A rule of a primitive that nothing reaches is code that nobody has seen run. These programs are traced and written,
# in every mode, and not compiled: what the rules give is tested elsewhere.

x <- c(0.3, 0.7)
m <- matrix(c(2, 0.5, 0.3, 1.5), 2)
i <- c(3L, 5L)

# Of one primitive, with as many operands as it has
of_op <- function(op) {
  two <- op %in% c(
    "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "atan2", "remainder", "and", "or", "xor",
    "shift_left", "shift_right_logical", "shift_right_arithmetic"
  )
  function(x) xlaffi:::bind(op, if (two) list(x, x + x) else list(x), x@dtype, x@shape)
}

nonlinear <- setdiff(
  c(xlaffi:::elementwise, grep("^chlo_", names(xlaffi:::primitives), value = TRUE)), xlaffi:::elementwise_integers
)
steps <- lapply(nonlinear, function(op) {
  f <- of_op(op)
  # The inverse functions are those of complex numbers.
  if (startsWith(op, "chlo_") && op != "chlo_erf_inv") function(x) hlo_real(f(hlo_complex(x, x))) else f
})

# A call, and one whose rule for reverse mode is transposed for forward mode
half <- function(vjp) {
  ffi_op(function(x) hlo_custom_call("say", list(x, x), list(x, x), vmap_method = "broadcast_all")[[1]],
    vjp = vjp, name = "half"
  )
}
halved <- half(function(primals, results, cotangents) list(cotangents / 2))
in_turns <- half(function(primals, results, cotangents) {
  given <- hlo_scan(function(s, v) list(s * v, NULL), cotangents, c(0.5, 2))$carry
  list(hlo_cond(primals[[1]][1] > 0, function() given, function() cotangents * 0.5))
})

integers <- list(
  function(i) hlo_max(i, 1L) + max(i) - prod(i),
  # The last of several assignments
  function(i) {
    v <- i
    v[i - 2L] <- i * 2L
    v
  },
  function(i) xlaffi:::kept_apart(i),
  function(i) hlo_reshape(i, c(2, 1)),
  function(i) hlo_convert(hlo_bitcast_convert(i, "f32"), "f64")
)

# With a derivative in their first argument
real <- list(
  abs,
  function(x) ifelse(!(x > 0.5 & x < 0.9) | any(x > 3) | all(x > 2), x, x^2),
  function(x) hlo_real(hlo_complex(x, x * 2)) + hlo_imag(hlo_complex(x, x)) * x,
  # Directions of derivatives are carried through loops together with what they belong to.
  function(x) {
    turn <- function(s, v) {
      for (f in steps) s <- s + f(s)
      z <- hlo_complex(s, s) * v
      list(s + abs(z) + sort(s) + cumprod(s) + cummax(s) + cummin(s) + prod(s) + max(s) + min(s), NULL)
    }
    hlo_scan(turn, x, x)$carry
  },
  function(x) hlo_convert(hlo_convert(x, "f32"), "f64") * x,
  function(x) c(hlo_concatenate(x, sin(x), axis = 1)[2:3], hlo_pad(x, x[1], 1, 1, 0)),
  function(x) hlo_broadcast(rev(x), c(3, 2), 2) * x[[1]],
  function(x) cumsum(x^2) + cumprod(x) + cummax(x) + cummin(x),
  function(x) c(prod(x), sum(x^2), max(x), min(x)),
  function(x) sort(x) * which.max(x),
  function(x) xla_grad(function(x) max(x^2))(x) * x,
  function(x) Re(fft(x * x)),
  function(x) {
    j <- which.max(x)
    x[j] <- sin(x[1])
    hlo_dynamic_slice(x * x, list(j), 1) * x[j]
  },
  function(x) {
    j <- c(which.max(x), which.min(x))
    y <- x[j] * x
    y[j] <- sin(x)
    y[2:1] <- sin(y * x)
    y[c(1, 2, 1)][1:2] + rowsum(x^2, c(1, 1))[1]
  },
  function(x) hlo_iota("f64", 2) * x + hlo_constant(3),
  function(x) t(crossprod(hlo_reshape(c(x, x * x), c(2, 2)))) %*% x,
  function(x) backsolve(hlo_reshape(c(x, x * x), c(2, 2)), x),
  function(x) solve(hlo_reshape(c(x, 1, x[1]), c(2, 2))[, 1:2] + x, x),
  function(x) gamma(x),
  function(x) {
    loop <- hlo_scan(function(s, v) {
      list(s * v + hlo_cond(v > 0.5, function() v * s, function() halved(s)), s * x)
    }, x, x)
    loop$carry + colSums(loop$y)
  },
  function(x) {
    inner <- function(s, v) list(hlo_scan(function(r, w) list(sin(r * w + v), NULL), s, x)$carry, NULL)
    hlo_scan(inner, x, x)$carry
  },
  function(x) hlo_cond(x[1] > 0.1, function() hlo_while(function(s) sum(s) < 5, function(s) s * x[2], x), function() x),
  function(x) xla_checkpoint(function(x) hlo_concatenate(sin(x) * x, x, axis = 1))(x)[1:2],
  function(x) halved(x) * x
)
complex <- list(sqrt, function(z) Conj(z) * hlo_complex(hlo_real(z), hlo_imag(z)))
# Reverse mode of tangents
twice <- list(
  function(x) hlo_cond(x[1] > 0, function() x * x, function() sin(x)),
  function(x) hlo_scan(function(s, v) list(s * v, NULL), x, x)$carry, function(x) t(x %o% x) %*% x, in_turns
)

# What there is no derivative or batch of is refused, as tests elsewhere see.
in_modes <- function(f, x, differentiable = TRUE) {
  try <- function(mode) tryCatch(xla_program(mode, x), xlaffi_error_unimplemented = identity)
  try(f)
  xla_graph(f, x)
  try(function(x) xla_vmap(f)(hlo_broadcast(x, c(3, shape(x)), 1 + seq_along(shape(x)))))
  if (differentiable) {
    try(xla_hessian(function(x) sum(f(x))))
    try(xla_jacobian(f, sparse = TRUE))
  }
}

test_that("every rule of every primitive is reached", {
  skip_without_plugin()
  # from_anvl() makes nodes `stablehlo_text`: test-anvl.R
  apart <- c(rules_of_devices, "stablehlo_text")
  reached <- rules_reached(function() {
    for (op in xlaffi:::elementwise_integers) in_modes(of_op(op), i, FALSE)
    for (f in c(steps, real)) in_modes(f, x)
    for (f in integers) in_modes(f, i, FALSE)
    for (f in complex) in_modes(f, x + 1i, FALSE)
    for (f in twice) xla_program(xla_grad(function(x) sum(xla_jvp(f)(x, sin(x))$tangent)), x)
    # A solver that turns of a loop call
    xla_program(function(x) {
      for (i in 1:12) x <- x + hlo_root(function(v) v + v^3 - x * i, x)$root
      x
    }, x)
    after <- function(x) hlo_custom_call("say", list(x, hlo_token()), list(x, ffi_type("token")))[[1]]
    in_modes(after, x, FALSE)
  })
  # Those about devices: devices/test-rules.R
  wanted <- grep("replication", all_rules(apart), invert = TRUE, value = TRUE)
  expect_identical(sort(setdiff(wanted, reached)), character())
})
