# The derivatives of every builder function and of compositions of them, against JAX's (recorded by
# jax-derivatives.py in jax-derivatives.csv, and fresh ones where JAX is there), against finite
# differences, and reverse mode against forward mode.

kepler_op <- ffi_op(
  function(M, e) hlo_custom_call("kepler", list(M, e), list(sin = M, cos = M)),
  jvp = xlaffi:::kepler_jvp, name = "kepler"
)
rosenbrock <- function(x) {
  n <- length(x)
  sum((1 - x[seq_len(n - 1)])^2) + 100 * sum((x[2:n] - x[seq_len(n - 1)]^2)^2)
}
network <- function(w, v, x) sum(hlo_matmul(tanh(hlo_matmul(x, w)), v))
loop <- function(x, y) {
  hlo_while(
    function(i, z) i < 5L,
    function(i, z) list(i + 1L, sin(z) * y + hlo_convert(i, "f64")),
    list(hlo_constant(0L, shape = integer()), x)
  )[[2]]
}

functions <- list(
  "sqrt" = sqrt, "rsqrt" = hlo_rsqrt, "exp" = exp, "expm1" = expm1, "log" = log, "log1p" = log1p, "sin" = sin,
  "cos" = cos, "tan" = tan, "tanh" = tanh, "sinh" = sinh, "cosh" = cosh, "asin" = asin, "acos" = acos,
  "atan" = atan, "logistic" = hlo_logistic, "abs" = abs, "sign" = sign, "floor" = floor,
  "exp complex" = exp, "log complex" = log, "sin complex" = sin, "cos complex" = cos, "tanh complex" = tanh,
  "sqrt complex" = sqrt, "abs complex" = abs, "neg complex" = function(x) -x, "rsqrt complex" = hlo_rsqrt,
  "logistic complex" = hlo_logistic, "expm1 complex" = expm1, "log1p complex" = log1p,
  "add" = `+`, "sub" = `-`, "mul" = `*`, "mul complex" = `*`, "div" = `/`, "div complex" = `/`,
  "pow" = `^`, "pow at zero" = `^`, "pow whole" = function(x) x^3 + x^2,
  "max" = hlo_max, "min" = hlo_min, "atan2" = hlo_atan2,
  "rem" = function(x, y) x - y * trunc(x / y),
  "select" = function(x, y) hlo_select(x > y, x * 2, y * y),
  "real imag" = function(z) hlo_real(z) * hlo_imag(z),
  "complex conj" = function(x, y) hlo_conj(hlo_complex(x, y)) * 2i,
  "convert" = function(x) hlo_convert(x, "c128") * (1 + 2i),
  "scalar" = function(x, s) x * s + s,
  "broadcast" = function(x) hlo_broadcast(x, c(4, 3, 2), c(2, 3)),
  "broadcast vector" = function(x) hlo_broadcast(x, c(2, 3), 2),
  "reshape" = function(x) sin(hlo_reshape(x, c(3, 2))),
  "transpose" = function(x) hlo_transpose(x, c(3, 1, 2)) * 2,
  "rev" = function(x) hlo_reverse(x, 2),
  "slice" = function(x) hlo_slice(x, c(2, 1), c(4, 5), c(1, 2)),
  "pad" = function(x, v) hlo_pad(x, v, c(1, -1), c(2, 0), c(1, 2)),
  "concatenate" = function(x, y) hlo_concatenate(x, y * 2, x, axis = 2),
  "dynamic slice" = function(x) hlo_dynamic_slice(x, list(2, 3), c(2, 2)),
  "dynamic update" = function(x, u) hlo_dynamic_update_slice(x, u, list(2, 3)),
  "sum" = function(x) hlo_sum(x, c(1, 3)), "sum all" = function(x) sum(x * x),
  "max over" = function(x) xlaffi:::reduced("reduce_max", x, 2L, "max()"), "min over" = min,
  "matmul" = hlo_matmul, "matmul complex" = hlo_matmul, "matmul batch" = hlo_matmul,
  "dot" = function(x, y) hlo_dot(x, y, list(c(4, 1), c(3, 4)), list(2, 1)),
  "kepler" = kepler_op, "kepler hard" = kepler_op,
  "kepler second" = xla_grad(function(M, e) sum(kepler_op(M, e)$sin^2), wrt = 1:2),
  "rosenbrock gradient" = xla_grad(rosenbrock), "hessian" = xla_hessian(rosenbrock),
  "network" = network, "network gradient" = xla_grad(network, 2),
  "jvp of jvp" = function(x, t) xla_jvp(function(x) sin(x) * x)(x, t)$tangent,
  "grad complex" = xla_grad(function(z) sum(abs(z * z + 1))),
  "vjp of vjp" = function(z, w) xla_vjp(function(z) exp(z) * z)(z, w)$gradients,
  "loop" = loop
)
for (left in 0:1) {
  for (lower in 0:1) {
    for (transpose in c("none", "transpose", "adjoint")) {
      local({
        arguments <- list(left = left == 1, lower = lower == 1, unit_diagonal = left == lower, transpose = transpose)
        name <- sprintf("triangular %d%d%d %s", left, lower, as.integer(left == lower), transpose)
        functions[[name]] <<- function(a, b) do.call(hlo_triangular_solve, c(list(a, b), arguments))
      })
    }
  }
}

# Reverse mode does not go through loops.
loops <- c("loop", "hessian")

# Their derivatives jump, so that finite differences mean nothing.
kinks <- c("max", "min", "max over", "min over", "pow at zero")

# All cases in one program: compiling is most of the work.
derivatives <- function(cases) {
  run <- xla_jit(function(cases) {
    Map(function(name, case) {
      f <- functions[[name]]
      forward <- xla_jvp(f)(case$primal, case$tangent)
      cotangents <- xlaffi:::tree_fill(forward$value, case$cotangent)
      list(
        value = forward$value, jvp = forward$tangent,
        vjp = if (!name %in% loops) xla_vjp(f)(case$primal, cotangents)$gradients
      )
    }, names(cases), cases)
  })
  run(lapply(cases, function(case) case[c("primal", "tangent", "cotangent")]))
}

test_that("derivatives are JAX's, in forward and in reverse mode", {
  skip_without_plugin()
  cases <- read_cases(test_path("jax-derivatives.csv"))
  expect_setequal(names(cases), names(functions))
  cases <- one_in(5L, cases)
  ours <- derivatives(cases)
  for (name in names(cases)) {
    case <- cases[[name]]
    got <- ours[[name]]
    expect_equal(numbers(got$value), numbers(case$value), tolerance = 1e-10, info = name)
    expect_equal(numbers(got$jvp), numbers(case$jvp), tolerance = 1e-10, info = name)
    expect_equal(numbers(got$vjp), numbers(case$vjp), tolerance = 1e-10, info = name)
    expect_identical(lapply(plain(got$jvp), dim), lapply(plain(got$value), dim), info = name)
    if (!name %in% loops) {
      # The pairing that both keep: over complex numbers, its real part.
      expect_equal(
        Re(sum(numbers(got$vjp) * numbers(case$tangent))), Re(sum(numbers(case$cotangent) * numbers(got$jvp))),
        tolerance = 1e-9, info = name
      )
    }
  }
})

test_that("derivatives are the limits of finite differences", {
  skip_unless_all()
  skip_without_plugin()
  cases <- read_cases(test_path("jax-derivatives.csv"))
  cases <- cases[setdiff(names(cases), c(kinks, "kepler hard"))]
  step <- 1e-5
  differences <- xla_jit(function(cases) {
    Map(function(name, case) {
      at <- function(by) {
        xlaffi:::tree_leaves(do.call(functions[[name]], Map(function(x, t) x + t * by, case$primal, case$tangent)))
      }
      Map(function(after, before) (after - before) / (2 * step), at(step), at(-step))
    }, names(cases), cases)
  })
  got <- differences(lapply(cases, function(case) case[c("primal", "tangent")]))
  for (name in names(cases)) {
    expect_equal(numbers(got[[name]]), numbers(cases[[name]]$jvp), tolerance = 1e-6, info = name)
  }
})

test_that("the recorded derivatives are what JAX gives", {
  skip_unless_all()
  skip_without_plugin()
  python <- plugin_python()
  found <- suppressWarnings(system2(python, c("-c", shQuote("import jax")), stdout = FALSE, stderr = FALSE))
  skip_if_not(found == 0, "no JAX in the plugin's Python")
  fresh <- withr::local_tempfile()
  withr::with_envvar(
    c(XLA_FLAGS = "--xla_backend_optimization_level=0"),
    system2(python, test_path("jax-derivatives.py"), stdout = fresh, stderr = FALSE)
  )
  recorded <- read_cases(test_path("jax-derivatives.csv"))
  fresh <- read_cases(fresh)
  expect_identical(names(fresh), names(recorded))
  for (name in names(fresh)) {
    expect_equal(numbers(fresh[[name]]), numbers(recorded[[name]]), tolerance = 1e-10, info = name)
  }
})
