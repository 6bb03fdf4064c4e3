# The package from R on a GPU, as a user has it: `Rscript r.R cuda`. Each case is compared with R's own results, or with
# numbers that are known; what is wrong is printed as `WRONG: case: what`. On `cpu` the same cases check this file.

library(xlaffi)
args <- commandArgs(trailingOnly = TRUE)
platform <- args[[1L]]
cuda <- platform == "cuda"
Sys.setenv(PJRT_PLATFORM = platform)
wrong <- 0L
done <- 0L

case <- function(name, code) {
  began <- proc.time()[["elapsed"]]
  problem <- tryCatch(
    {
      force(code)
      NULL
    },
    error = function(e) conditionMessage(e)
  )
  done <<- done + 1L
  took <- proc.time()[["elapsed"]] - began
  if (is.null(problem)) {
    cat(sprintf("%s: right, %.1f s\n", name, took))
  } else {
    wrong <<- wrong + 1L
    cat(sprintf("WRONG: %s: %s\n", name, paste(problem, collapse = "\n  ")))
  }
}

equal <- function(got, want, tolerance = 1e-10, what = "") {
  same <- all.equal(got, want, tolerance = tolerance, check.attributes = FALSE)
  if (!isTRUE(same)) {
    stop(what, " ", toString(same), "; got ", toString(utils::head(format(unlist(got), digits = 15), 4)), ", not ",
      toString(utils::head(format(unlist(want), digits = 15), 4)))
  }
}
says <- function(code, words) {
  message <- tryCatch(
    {
      force(code)
      "no error"
    },
    error = conditionMessage
  )
  cat("    says:", gsub("\n", "\n      ", message), "\n")
  if (!grepl(words, message)) stop("other words than ", words)
}

case("client", {
  client <- pjrt_client(platform)
  print(client)
  print(devices(client))
  stopifnot(platform(client) == platform)
  if (cuda) str(pjrt_memory_stats()[1:6])
})

log_density <- function(p, x, y) {
  sum(dt((y - x %*% p$beta) / exp(p$log_scale), df = 4, log = TRUE) - p$log_scale)
}
start <- list(beta = c(0, 0), log_scale = 3)
speed <- cbind(1, cars$speed)

run_cases <- function() {
  case("buffers of every dtype", {
    for (dtype in c("f64", "f32", "i32", "i64", "i16", "i8", "ui8", "ui16", "ui32")) {
      x <- if (substr(dtype, 1, 1) == "f") c(1.5, -2, 0) else c(1, 7, 0)
      got <- as_array(pjrt_buffer(x, dtype))
      equal(as.numeric(got), x, 0, dtype)
    }
    equal(as.numeric(as_array(pjrt_buffer(c(NaN, Inf, -Inf), "f64"))), c(NaN, Inf, -Inf), 0)
    equal(as.logical(as_array(pjrt_buffer(c(TRUE, FALSE)))), c(TRUE, FALSE))
    equal(as.complex(as_array(pjrt_buffer(c(1 + 2i, -1i)))), c(1 + 2i, -1i), 0)
    x <- array(rnorm(2e6), c(200, 100, 100))
    equal(as_array(pjrt_buffer(x, "f64")), x, 0, "2e6 numbers")
    equal(dim(as_array(pjrt_buffer(matrix(0, 0, 3)))), c(0L, 3L), 0)
  })

  case("printed buffer", print(pjrt_buffer(matrix(1:6 / 2, 2), "f32")))

  case("mathematical functions", {
    x <- c(0.1, 0.5, 1, 1.7, 3.2, 9.9)
    names <- c(
      "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
      "asinh", "gamma", "lgamma", "digamma", "trigamma", "floor", "ceiling", "round", "abs", "sign", "cospi", "sinpi"
    )
    functions <- mget(names, envir = baseenv())
    got <- xla_jit(function(x) lapply(functions, function(f) f(x)))(x)
    for (name in names) equal(got[[name]], functions[[name]](x), 1e-12, name)
  })

  case("distributions", {
    x <- c(0.1, 0.5, 0.9, 1.7, 3.2)
    p <- c(0.01, 0.3, 0.5, 0.9, 0.999)
    f <- function(x, p) {
      list(
        dnorm(x, 1, 2, log = TRUE), pnorm(x, 1, 2), qnorm(p, 1, 2), dgamma(x, 2, 3), pgamma(x, 2, 3), qgamma(p, 2, 3),
        pbeta(p, 2, 3), qbeta(p, 2, 3), pt(x, 4), qt(p, 4), pchisq(x, 3), dpois(c(0, 1, 2, 3, 9), x), dbinom(2, 5, p),
        dnbinom(3, size = x, mu = 2), pexp(x), qexp(p), pweibull(x, 2, 1), plogis(x), dcauchy(x), pf(x, 2, 5)
      )
    }
    got <- xla_jit(f)(x, p)
    want <- f(x, p)
    for (i in seq_along(want)) equal(got[[i]], want[[i]], 1e-10, paste("number", i))
  })

  case("NA, NaN, infinite numbers, zeros with signs", {
    x <- c(NaN, Inf, -Inf, 0, -0, 5)
    f <- function(x, k) {
      list(
        1 / x, max(x), min(x), sum(x), sort(x[2:6]), is.nan(x), pmax(x, 1), cumsum(x[2:6]), order(-x), k + 1L,
        k %/% 2L, k %% 3L, max(x[2:6]), which.max(x[2:6]), mean(x[4:6]), median(x[4:6]), abs(-x), round(x[4:6]),
        sign(x)
      )
    }
    k <- c(1L, -7L, 0L, 2147483646L)
    got <- xla_jit(f)(x, k)
    want <- f(x, k)
    for (i in seq_along(want)) {
      one <- as.numeric(got[[i]])
      other <- as.numeric(want[[i]])
      equal(one, other, 1e-14, paste("number", i))
      if (is.double(want[[i]])) equal(1 / one, 1 / other, 1e-14, paste("sign of number", i))
    }
  })

  case("reductions, sorts and indices of a large array", {
    x <- matrix(rnorm(3e5), 300)
    x[17, 5] <- NaN
    f <- function(x) {
      list(
        colSums(x), rowMeans(x), apply(x, 2, max), apply(x, 1, min), x[3:20, c(1, 9)], t(x) %*% x[, 1:3],
        sort(x[, 1]), order(x[, 2]), cumsum(x[, 3]), rev(x[, 4]), tabulate(floor(abs(x[, 6]) * 3) + 1, 20),
        range(x[, 7]), var(x[, 8])
      )
    }
    got <- xla_jit(f)(x)
    want <- f(x)
    for (i in seq_along(want)) equal(as.numeric(got[[i]]), as.numeric(want[[i]]), 1e-10, paste("number", i))
  })

  case("README: density, gradient, Hessian, fit", {
    equal(as.numeric(xla_jit(log_density)(start, speed, cars$dist)), -294.0787, 1e-6)
    f <- function(b1, b2, s) log_density(list(beta = c(b1, b2), log_scale = s), speed, cars$dist)
    gradient <- unlist(xla_grad(log_density)(start, speed, cars$dist))
    h <- 1e-4
    slopes <- c(f(h, 0, 3) - f(-h, 0, 3), f(0, h, 3) - f(0, -h, 3), f(0, 0, 3 + h) - f(0, 0, 3 - h)) / (2 * h)
    equal(gradient, slopes, 1e-5, "gradient")
    model <- xla_objective(log_density, start, x = speed, y = cars$dist, negate = TRUE)
    fit <- nlminb(model$par, model$fn, model$gr, model$he)
    equal(fit$par, c(-15.754278, 3.676388, 2.435871), 1e-5, "estimate")
    equal(sqrt(diag(solve(model$he(fit$par)))), c(5.6389621, 0.3689032, 0.1331399), 1e-5, "errors")
  })

  case("sampler", {
    # Short, as each of its steps is a handful of small kernels.
    draws <- xla_sample(log_density, start, speed, cars$dist, seed = 1, draws = 200, warmup = 200)
    print(draws)
  })

  case("linear algebra with derivatives", {
    set.seed(1)
    a <- crossprod(matrix(rnorm(36), 6)) + diag(6)
    b <- rnorm(6)
    f <- function(a, b) {
      list(solve(a, b), chol(a), svd(a)$d, eigen(a, symmetric = TRUE)$values, det(a), solve(a), crossprod(a))
    }
    got <- xla_jit(f)(a, b)
    want <- f(a, b)
    for (i in seq_along(want)) equal(abs(got[[i]]), abs(want[[i]]), 1e-10, paste("number", i))
    parts <- list(
      function(a) sum(solve(a, b)), function(a) sum(log(diag(chol(a)))), function(a) sum(svd(a)$d^3),
      function(a) sum(eigen(a, symmetric = TRUE)$values^2), function(a) log(det(a)), function(a) sum(abs(xla_qr(a)$r))
    )
    for (i in seq_along(parts)) {
      g <- function(a) parts[[i]]((a + t(a)) / 2)
      way <- a * 0
      way[2, 3] <- 1
      slope <- (g(a + 1e-5 * way) - g(a - 1e-5 * way)) / 2e-5
      equal(xla_grad(g)(a)[2, 3], slope, 1e-6, paste("gradient", i))
    }
    many <- array(rnorm(100 * 16), c(100, 4, 4))
    equal(xla_vmap(function(a) svd(a)$d)(many)[7, ], svd(many[7, , ])$d, 1e-10, "batch")
  })

  case("operations of linear algebra by name", {
    set.seed(2)
    a <- matrix(rnorm(12), 4)
    equal(xla_svd(a)$d, svd(a)$d, 1e-10, "svd")
    equal(abs(xla_qr(a)$r), abs(qr.R(qr(a))), 1e-10, "qr")
    s <- crossprod(a)
    equal(sort(xla_eigh(s)$values), sort(eigen(s)$values), 1e-10, "eigh")
    equal(abs(xla_chol(s)), abs(chol(s)), 1e-10, "chol")
    equal(xla_solve(s, 1:3), solve(s, 1:3), 1e-10, "solve")
    print(kepler(c(0.1, 2), c(0.2, 0.9)))
  })

  case("loops, branches, solvers", {
    f <- function(x) {
      hlo_scan(function(state, now) list(state * 0.5 + now, state), init = 0, xs = x)
    }
    got <- xla_jit(f)(c(1, 2, 3))
    equal(as.numeric(got[[1L]]), 4.25, 1e-14, "scan")
    equal(as.numeric(xla_jit(function(x) hlo_root(function(y) y^3 - x, interval = c(0, 10))$root)(8)), 2, 1e-5, "root")
    bell <- xla_jit(function(a) hlo_integrate(function(t) exp(-a * t^2), -Inf, Inf)$value)
    equal(as.numeric(bell(2)), sqrt(pi / 2), 1e-8, "integral")
    decay <- function(k) hlo_ode(1, c(0, 1, 2), function(t, y, k) -k * y, k)
    equal(as.numeric(unlist(xla_jit(decay)(0.7))[4:6]), exp(-0.7 * 0:2), 1e-5, "ode")
    equal(as.numeric(xla_jit(function(x) hlo_while(function(x) x < 100, function(x) x * 2, x))(3)), 192, 0, "while")
  })

  case("random numbers", {
    got <- xla_jit(function() list(hlo_runif(hlo_key(42), 5), hlo_rnorm(hlo_key(7), 4), hlo_rpois(hlo_key(3), 6, 4)))()
    print(format(got[[1]], digits = 17), quote = FALSE)
    print(format(got[[2]], digits = 17), quote = FALSE)
    print(as.numeric(got[[3]]))
    # Those of the CPU
    equal(as.numeric(got[[1]]), known$uniform, 0, "uniform")
    equal(as.numeric(got[[2]]), known$normal, 1e-14, "normal")
    equal(as.numeric(got[[3]]), known$poisson, 0, "Poisson")
  })

  case("programs on disk and in bytes", {
    executable <- pjrt_compile(pjrt_program(xla_program(function(x) svd(x)$d, matrix(1:6 / 2, 3))))
    again <- pjrt_deserialize(pjrt_serialize(executable))
    x <- pjrt_buffer(matrix(c(1, 5, 2, 7, 3, 1), 3), "f64")
    equal(as_array(pjrt_execute(again, x)), as_array(pjrt_execute(executable, x)), 0)
  })

  case("a program that JAX exported for both platforms", {
    python <- Sys.getenv("XLAFFI_PYTHON")
    code <- "
import jax, jax.numpy as jnp
jax.config.update('jax_enable_x64', True)
def f(a):
    s = a @ a.T + jnp.eye(4)
    return (jnp.linalg.eigh(s)[0], jnp.linalg.svd(a, compute_uv=False), jnp.linalg.cholesky(s),
            jnp.linalg.solve(s, a[:, 0]), jnp.abs(jnp.linalg.qr(a)[1]), jnp.linalg.slogdet(a)[1])
print(jax.export.export(jax.jit(f), platforms=('cpu', 'cuda'))(jax.ShapeDtypeStruct((4, 4), 'float64')).mlir_module())"
    file <- tempfile(fileext = ".py")
    writeLines(code, file)
    text <- system2(python, file, stdout = TRUE, env = "JAX_PLATFORMS=cpu")
    set.seed(3)
    a <- matrix(rnorm(16), 4)
    s <- a %*% t(a) + diag(4)
    index <- pjrt_scalar(as.integer(cuda), "i64")
    got <- pjrt_execute(pjrt_compile(pjrt_program(paste(text, collapse = "\n"))), index, pjrt_buffer(a, "f64"))
    want <- list(rev(eigen(s)$values), svd(a)$d, t(chol(s)), solve(s, a[, 1]), abs(qr.R(qr(a))), log(abs(det(a))))
    for (i in seq_along(want)) equal(as.numeric(as_array(got[[i]])), as.numeric(want[[i]]), 1e-10, paste("number", i))
  })

  case("print_tensor", {
    src <- r"(func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      stablehlo.custom_call @print_tensor(%x) {backend_config = {print_header = "my matrix", print_footer = "----"},
        has_side_effect = true, api_version = 4 : i32} : (tensor<2x3xf32>) -> ()
      return %x : tensor<2x3xf32> })"
    program <- pjrt_compile(pjrt_program(src))
    text <- capture.output(y <- as_array(pjrt_execute(program, pjrt_buffer(matrix(1:6, 2), "f32"))))
    equal(text, c("my matrix", " 1 3 5", " 2 4 6", "----"))
  })

  case("an op of an expression, a kernel of one's own, its error", {
    soft <- ffi_elementwise("x: T, y: T -> z: T", "z = x > y ? x - y : exp(x) * y", name = "soft")
    x <- c(0.5, 2, 3)
    equal(as.numeric(soft(x, 1)), ifelse(x > 1, x - 1, exp(x)), 1e-14, "elementwise")
    if (cuda) {
      times <- ffi_source("x: T[n], y: T[] -> z: T[n]", "z[i] = x[i] * *y;", lang = "cuda", name = "times")
      equal(as.numeric(times(c(1, 2, 3), 2)), c(2, 4, 6), 0, "kernel")
      equal(as.numeric(xla_jit(function(x) times(x, 3) + 1)(c(1, 2))), c(4, 7), 0, "kernel in a program")
      roots <- ffi_source("x: f64[n] -> y: f64[n]",
        "if (x[i] < 0) FAIL_WITH(XLAFFI_OUT_OF_RANGE, \"x[%lld] is %g\", i, x[i]); y[i] = sqrt(x[i]);",
        lang = "cuda", name = "roots"
      )
      says(roots(c(1, -4)), "is -4")
      equal(as.numeric(roots(c(1, 4))), c(1, 2), 0, "after an error")
    }
  })

  case("what has no handler on CUDA says so", {
    if (cuda) {
      twice <- ffi_callback(function(x) 2 * x, "x: f64[n] -> y: f64[n]")
      says(xla_jit(function(x) twice(x))(c(1, 2)), "CUDA|cuda")
      says(xla_jit(function(v) solve(hlo_sparse(v, 1:2, 1:2, symmetric = TRUE), c(1, 1)))(c(4, 9)), "CUDA|cuda")
      says(xla_objective(function(p) sum((p$u - p$a)^2), list(a = 1, u = c(1, 2)), random = "u"), "CPU")
      says(xla_jit(function(x) x * 0.1, exact = TRUE)(1), "CPU")
      says(pjrt_device("cuda:7"), "cuda")
    }
  })

  case("a program that wants more memory than there is", {
    if (cuda) {
      big <- function(n) {
        x <- outer(n, n)
        sum(x %*% x)
      }
      says(xla_jit(big)(rnorm(8e4)), "emory|RESOURCE|OOM")
      equal(as.numeric(xla_jit(function(x) sum(x))(c(1, 2))), 3, 0, "afterwards")
    }
  })
}

# What the CPU gives, jaxlib 0.10.2
known <- list(
  uniform = c(
    0.426727566649909074, 0.015010069515314584, 0.574144417899535187, 0.729818896904630865, 0.687800341230565992
  ),
  normal = c(1.01148133555908659, -1.69106090879063742, -0.75546628999264276, -1.51896538075111520),
  poisson = c(6, 4, 3, 2, 3, 4)
)

run_cases()
cat(sprintf("%d cases, %d wrong\n", done, wrong))
quit(status = if (wrong) 1L else 0L)
