mesh <- xla_mesh(c(data = 4, model = 2))

# How often a function is traced
counted <- function(f) {
  count <- 0L
  list(f = function(...) {
    count <<- count + 1L
    f(...)
  }, count = function() count)
}

spec_of <- function(x) format_of(x@spec)
format_of <- function(entries) xlaffi:::format_spec(entries)

test_that("functions compute with sharded arrays as R does with the whole", {
  withr::local_seed(1)
  x <- matrix(rnorm(64), 8)
  b <- matrix(rnorm(48), 8)
  v <- rnorm(8)
  functions <- list(
    function(x, b, v) x %*% b, function(x, b, v) crossprod(x, b), function(x, b, v) x * v + 1,
    function(x, b, v) sum(x) * mean(b), function(x, b, v) colSums(x) + v, function(x, b, v) t(x),
    function(x, b, v) x[2:7, ], function(x, b, v) x[1:6, 3], function(x, b, v) rbind(x, t(b)),
    function(x, b, v) apply(x, 1, max), function(x, b, v) sort(v), function(x, b, v) list(a = x - 1, b = list(v[3], b)),
    function(x, b, v) ifelse(x > 0, x, 0), function(x, b, v) as.vector(x)[10:20], function(x, b, v) cumsum(v),
    function(x, b, v) matrix(x, 4)
  )
  all_specs <- list(
    list("data", "data", "data"), list(c("data", "model"), "model", NA), list(c(NA, "data"), c("data", NA), "model"),
    list(xla_spec(c("model", "data")), NULL, list(c("data", "model")))
  )
  arrays <- function(result) if (is.list(result)) lapply(result, arrays) else as_array(result)
  plain <- function(result) if (is.list(result)) lapply(result, plain) else as.vector(result)
  for (f in functions) {
    wanted <- f(x, b, v)
    jitted <- xla_jit(f)
    for (specs in if (all_run()) all_specs else all_specs[2L]) {
      sharded <- Map(xla_shard, list(x, b, v), list(mesh), lapply(specs, as_spec))
      result <- do.call(jitted, sharded)
      expect_equal(plain(arrays(result)), plain(wanted), tolerance = 1e-13, label = deparse1(body(f)))
    }
  }
})

test_that("results are sharded arrays, where XLA left them or where they are wanted", {
  x <- matrix(as.double(1:64), 8)
  a <- xla_shard(x, mesh, c("data", "model"))
  y <- xla_jit(function(x) x * 2)(a)
  expect_s4_class(y, "xlaffi_sharded")
  expect_identical(spec_of(y), "xla_spec(\"data\", \"model\")")
  expect_identical(as_array(y), x * 2)
  expect_identical(spec_of(xla_jit(function(x) t(x))(a)), "xla_spec(\"model\", \"data\")")
  expect_identical(spec_of(xla_jit(function(x) sum(x))(a)), "xla_spec()")
  # Six rows lie on two devices each: half of an axis
  z <- xla_jit(function(x) x[1:6, ])(xla_shard(x, mesh, "data"))
  expect_identical(as_array(z), x[1:6, ])
  expect_identical(spec_of(z), "xla_spec(NULL, NULL)")
  for (spec in list(xla_spec(), "model", c("model", "data"), list(NULL, c("data", "model")))) {
    w <- xla_jit(function(x) x + 1, out_shardings = spec)(a)
    expect_identical(as_array(w), x + 1)
    expect_identical(w@spec, xlaffi:::checked_spec(spec, mesh, c(8L, 8L), "x"))
    for (part in xla_shards(w)) {
      rows <- part$start[[1]]:part$end[[1]]
      columns <- part$start[[2]]:part$end[[2]]
      expect_identical(as_array(part$buffer), x[rows, columns, drop = FALSE] + 1)
    }
  }
  wanted <- list(u = "model", v = list(NULL, "data"))
  both <- xla_jit(function(x) list(u = x, v = list(sum(x), x)), out_shardings = wanted)
  result <- both(a)
  expect_identical(spec_of(result$u), "xla_spec(\"model\", NULL)")
  expect_identical(spec_of(result$v[[2]]), "xla_spec(\"data\", NULL)")
  expect_null(xla_jit(function(x) NULL)(a))
})

test_that("R data and buffers are whole on each device, or cut by in_shardings", {
  x <- matrix(as.double(1:32), 8)
  a <- xla_shard(x, mesh, "data")
  f <- xla_jit(function(x, y, z) x %*% y + z)
  y <- matrix(as.double(1:16), 4)
  expect_identical(as_array(f(a, y, 2)), x %*% y + 2)
  expect_identical(as_array(f(a, pjrt_buffer(y, "f64", "cpu:5"), pjrt_scalar(2, "f64"))), x %*% y + 2)
  # One R number takes the dtype
  expect_identical(as.character(dtype(xla_jit(function(x, k) x * k)(xla_shard(x, mesh, "data", "f32"), 2))), "f32")

  g <- xla_jit(function(x, y) x %*% y, mesh = mesh, in_shardings = list(x = "data", y = c(NA, "model")))
  for (arguments in list(list(x, y), list(y = y, x = x), list(x, pjrt_buffer(y, "f64")), list(a, y = y))) {
    result <- do.call(g, arguments)
    expect_identical(as_array(result), x %*% y)
    expect_identical(spec_of(result), "xla_spec(\"data\", \"model\")")
  }
  expect_match(xla_program(g, x, y), "%arg1: tensor<4x4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"model\"}]>}",
    fixed = TRUE
  )
  specs <- list(p = list(x = "data", y = NULL))
  nested <- xla_jit(function(p, k = 1) p$x %*% p$y * k, mesh = mesh, in_shardings = specs)
  expect_identical(as_array(nested(list(x = x, y = y))), x %*% y)
  expect_identical(as_array(nested(list(x = x, y = y), k = 2)), x %*% y * 2)
  expect_identical(as_array(xla_jit(function(x) x + 1, mesh = mesh, in_shardings = "data")(x)), x + 1)
  # Nothing said of where they lie: R data as ever
  expect_identical(xla_jit(function(x) x + 1, mesh = mesh)(x), x + 1)
  expect_identical(xla_jit(function(x) hlo_shard(x, "data", mesh) + 1)(x), x + 1)
})

test_that("a second call does not trace again, another layout does", {
  x <- as.double(1:8)
  traced <- counted(function(x, y) x + y)
  f <- xla_jit(traced$f)
  a <- xla_shard(x, mesh, "data")
  for (i in 1:3) expect_identical(as.vector(as_array(f(a, x))), x + x)
  expect_identical(traced$count(), 1L)
  expect_identical(as.vector(as_array(f(xla_shard(x + 1, mesh, "data"), x))), x + 1 + x)
  expect_identical(traced$count(), 1L)
  f(xla_shard(x, mesh, "model"), x)
  expect_identical(traced$count(), 2L)
  f(a, a)
  expect_identical(traced$count(), 3L)
  f(x, x)
  expect_identical(traced$count(), 4L)
  turned <- xla_mesh(c(data = 4, model = 2), rev(devices()))
  back <- f(xla_shard(x, turned, "data"), x)
  expect_identical(traced$count(), 5L)
  expect_identical(as.vector(as_array(back)), x + x)
  expect_true(device(xla_shards(back)[[1]]$buffer) == devices()[[8]])
  # A mesh that is equal is the same one.
  f(xla_shard(x, xla_mesh(c(data = 4, model = 2)), "data"), x)
  expect_identical(traced$count(), 5L)
  g <- xla_jit(traced$f, mesh = mesh, in_shardings = "data")
  for (i in 1:2) g(x, x)
  expect_identical(traced$count(), 6L)
})

test_that("wrong arguments and shardings are refused", {
  x <- xla_shard(matrix(as.double(1:64), 8), mesh, "data")
  turned <- xla_shard(1:8, xla_mesh(c(data = 4, model = 2), rev(devices())), "data")
  f <- xla_jit(function(x, y) list(x, y))
  g <- function(...) xla_jit(function(x) x, ...)
  expect_snapshot(error = TRUE, {
    f(x, turned)
    f(x, xla_shard(1:8, xla_mesh(c(a = 2)), "a"))
    g(in_shardings = "data")(1:8)
    g(out_shardings = "data")(1:8)
    g(mesh = mesh, in_shardings = "model")(x)
    g(mesh = mesh, in_shardings = "data")(1:6)
    g(mesh = mesh, in_shardings = "rows")(1:8)
    g(mesh = mesh, in_shardings = c(NA, "data"))(1:8)
    g(mesh = mesh, in_shardings = list(y = "data"))(1:8)
    g(mesh = mesh, in_shardings = list("data", "data"))(1:8)
    g(out_shardings = c("data", "data"))
    g(mesh = mesh, out_shardings = list("data", NULL))(1:8)
    g(mesh = mesh, out_shardings = "data")(1:6)
    g(mesh = 1)
    g(in_shardings = 1)
    xla_jit(function(x) hlo_shard(x, "data"))(1)
    xla_jit(function(x) hlo_shard(x, "rows", mesh))(1:8)
    xla_jit(function(x) hlo_shard(x, c("data", "data"), mesh))(1:8)
    xla_jit(function(x) hlo_shard(x, "a", xla_mesh(c(a = 2))))(x)
    hlo_shard(x, "data")
  })
})

test_that("derivatives and batches of sharded arrays are right, and sharded", {
  withr::local_seed(2)
  x <- matrix(rnorm(64), 16)
  y <- rnorm(16)
  beta <- rnorm(4)
  loss <- function(beta, x, y) sum((x %*% beta - y)^2)
  a <- xla_shard(x, mesh, c("data", "model"))
  b <- xla_shard(y, mesh, "data")
  gradient <- 2 * drop(crossprod(x, x %*% beta - y))
  found <- xla_grad(loss, wrt = 1:2)(beta, a, b)
  expect_equal(as.vector(as_array(found[[1]])), gradient, tolerance = 1e-12)
  expect_equal(as_array(found[[2]]), 2 * drop(x %*% beta - y) %o% beta, tolerance = 1e-12)
  expect_s4_class(found[[2]], "xlaffi_sharded")
  expect_equal(as_array(xla_hessian(loss)(beta, a, b)), 2 * crossprod(x), tolerance = 1e-12)
  pushed <- xla_jvp(function(x) x %*% t(x))(a, a)
  expect_equal(as_array(pushed$tangent), 2 * x %*% t(x), tolerance = 1e-12)
  pulled <- xla_vjp(function(x) exp(x))(a, a)
  expect_equal(as_array(pulled$gradients), exp(x) * x, tolerance = 1e-12)
  expect_equal(as_array(xla_vmap(function(row) row / sum(row))(a)), x / rowSums(x), tolerance = 1e-12)
  expect_equal(as_array(xla_vmap(function(v) sum(v^2), in_axes = 2)(a)), array(colSums(x^2)), tolerance = 1e-12)

  # A function with shardings of its own, and constraints inside
  f <- xla_jit(function(x) sum(sin(x)), mesh = mesh, in_shardings = "data")
  slope <- xla_grad(f)(a)
  expect_equal(as_array(slope), cos(x), tolerance = 1e-12)
  expect_match(xla_program(xla_grad(f), a), "sdy.sharding_constraint")
  g <- function(x) sum(hlo_shard(x^2, c("model", "data")) * x)
  expect_equal(as_array(xla_grad(g)(a)), 3 * x^2, tolerance = 1e-12)
  batch <- array(x, c(2, 8, 4))
  expect_equal(as_array(xla_vmap(g)(xla_shard(batch, mesh))), array(apply(batch^3, 1, sum)), tolerance = 1e-12)
  rows <- xla_vmap(function(v) hlo_shard(v * 2, "model"))
  expect_match(xla_program(rows, a), "[{?}, {\"model\"}]", fixed = TRUE)
  expect_identical(as_array(rows(a)), x * 2)

  objective <- xla_objective(loss, par = beta, x = a, y = b)
  expect_equal(objective$gr(beta), gradient, tolerance = 1e-12)
  fit <- nlminb(objective$par, objective$fn, objective$gr, objective$he)
  expect_equal(fit$par, unname(coef(lm(y ~ x - 1))), tolerance = 1e-6)
})

test_that("loops, branches and random numbers are those of one device", {
  x <- matrix(as.double(1:32) / 10, 8)
  functions <- list(
    function(x) hlo_fori(1, 3, function(i, x) x * 1.5, x),
    function(x) hlo_cond(sum(x) > 0, function(x) x * 2, function(x) -x, x),
    function(x) {
      hlo_scan(function(carry, row) list(carry + sum(row), row * 2), hlo_constant(0, shape = integer()), x)[[2]]
    },
    function(x) x + hlo_rnorm(hlo_key(7), c(8, 4))
  )
  for (f in functions) {
    jitted <- xla_jit(f)
    expect_equal(as.vector(as_array(jitted(xla_shard(x, mesh, "data")))), as.vector(jitted(x)), tolerance = 1e-12)
  }
})

test_that("custom calls and linear algebra are right, on whole arrays", {
  withr::local_seed(3)
  x <- crossprod(matrix(rnorm(64), 8)) + diag(8)
  for (spec in list("data", c("model", "data"))) {
    a <- xla_shard(x, mesh, spec)
    expect_equal(as_array(xla_jit(function(x) chol(x))(a)), chol(x), tolerance = 1e-12)
    expect_equal(as_array(xla_jit(function(x) solve(x))(a)), solve(x), tolerance = 1e-10)
    expect_equal(as_array(xla_chol(a)), chol(x), tolerance = 1e-12)
    expect_equal(as.vector(as_array(xla_jit(function(x) gamma(x[1, ] ^ 2))(a))), gamma(x[1, ]^2), tolerance = 1e-12)
  }
})

test_that("custom calls of the user compute on whole arrays, on each device", {
  x <- matrix(as.double(1:64), 8)
  a <- xla_shard(x, mesh, c("data", "model"))
  calls <- 0L
  double <- ffi_callback(function(x) {
    calls <<- calls + 1L
    x * 2
  }, "x: f64[n, m] -> y: f64[n, m]")
  expect_identical(as_array(xla_jit(function(x) double(x) + 1)(a)), x * 2 + 1)
  expect_identical(calls, 8L)
  expect_identical(as_array(double(a)), x * 2)
  # An error of one is an error, and the next call is well.
  fails <- ffi_callback(function(x) stop("not today"), "x: f64[n, m] -> y: f64[n, m]")
  expect_error(as_array(xla_jit(function(x) fails(x))(a)), "not today")
  expect_identical(as_array(xla_jit(function(x) double(x) %*% x)(a)), (x * 2) %*% x)
  op <- ffi_op(function(x) x^3, jvp = function(primals, results, tangents) 3 * primals[[1]]^2 * tangents[[1]])
  expect_identical(as_array(xla_grad(function(x) sum(op(x)))(a)), 3 * x^2)
  expect_true(all(ffi_check(op, xla_shard(matrix(0.5, 4, 2), mesh, "data"))$ok))
})

test_that("exact programs and nested arguments go over a mesh", {
  x <- matrix(as.double(1:64), 8)
  a <- xla_shard(x, mesh, c("data", "model"))
  expect_identical(as_array(xla_jit(function(x) x / 3, exact = TRUE)(a)), x / 3)
  f <- xla_jit(function(l) l$a * l$b[[1]])
  expect_identical(as_array(f(list(a = a, b = list(a)))), x * x)
  expect_identical(as_array(f(list(a = a, b = list(2)))), x * 2)
})

test_that("Fourier transforms have derivatives along axes that are cut", {
  whole <- function(x) sum(sin(Re(fft(x))) * Im(fft(x)))
  by_column <- function(x) sum(Re(mvfft(x))^2 * row(x))
  by_row <- function(x) sum(xla_vmap(function(r) Re(hlo_rfft(r))^2 * 1:5)(x))
  cases <- list(
    list(matrix(sin(1:64), 8), list("data", list(NULL, "data"), list("data", "model"), list("model", "data"))),
    list(array(sin(1:128), c(4, 8, 4)), list("data", list(NULL, "data"), list(NULL, NULL, "data")))
  )
  for (case in cases) {
    x <- case[[1L]]
    for (f in if (length(dim(x)) == 2L) list(whole, by_column, by_row) else list(whole)) {
      slope <- xla_grad(f)
      expected <- slope(x)
      for (spec in case[[2L]]) {
        sharded <- xla_shard(x, mesh, do.call(xla_spec, as.list(spec)))
        expect_equal(as_array(slope(sharded)), expected, label = deparse1(list(f, spec)))
      }
    }
  }
})

test_that("programs over a mesh are kept on disk, each for its devices", {
  root <- withr::local_tempdir("programs")
  Sys.chmod(root, "0700")
  withr::local_options(xlaffi.program_cache = root)
  forget <- function() withr::with_options(list(xlaffi.program_cache = FALSE), xla_cache_clear("programs"))
  forget()
  x <- as.double(1:8)
  f <- xla_jit(function(x) sum(x) * x)
  for (i in 1:2) {
    expect_identical(as.vector(as_array(f(xla_shard(x, mesh, "data")))), 36 * x)
    expect_identical(nrow(xla_cache("saved")), 1L)
    forget()
  }
  f(xla_shard(x, xla_mesh(c(data = 4, model = 2), rev(devices())), "data"))
  expect_identical(nrow(xla_cache("saved")), 2L)
  f(xla_shard(x, mesh, "model"))
  expect_identical(nrow(xla_cache("saved")), 3L)
  expect_match(xla_cache("programs")$device[[1]], "id=0.*id=7")
})
