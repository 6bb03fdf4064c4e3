# Ops whose body is an R function.

test_that("an R function gets R data and gives results of every dtype and rank", {
  skip_without_plugin()
  values <- list(
    pred = c(TRUE, FALSE, TRUE), i8 = c(-128L, 0L, 127L), i16 = c(-32768L, 1L, 32767L),
    i32 = c(-5L, 0L, .Machine$integer.max), i64 = bit64::as.integer64(c("-9007199254740993", "0", "7")),
    ui8 = c(0L, 1L, 255L), ui16 = c(0L, 1L, 65535L), ui32 = bit64::as.integer64(c("0", "1", "4294967295")),
    ui64 = bit64::as.integer64(c("0", "1", "9223372036854775807")),
    f16 = c(-1.5, 0, 2), bf16 = c(-1.5, 0, 2), f32 = c(-1.5, 0, 0.1), f64 = c(pi, -0, 1e300),
    c64 = c(1 + 2i, 0i, -1.5i), c128 = c(pi + 1i, 0i, -1i)
  )
  for (dtype in names(values)) {
    seen <- NULL
    echo <- ffi_callback(function(x) {
      seen <<- x
      rev(x)
    }, sprintf("x: %s[n] -> y: %s[n]", dtype, dtype))
    buffer <- pjrt_buffer(values[[dtype]], dtype)
    result <- echo(buffer)
    plain <- as_array(buffer)
    dim(plain) <- NULL
    expect_identical(seen, plain, info = dtype)
    expect_identical(as.vector(as_array(result)), as.vector(rev(plain)), info = dtype)
  }
  dims <- NULL
  for (shape in list(integer(), 3L, c(2L, 3L), c(2L, 3L, 4L), c(2L, 2L, 2L, 3L))) {
    names <- paste0("n", seq_along(shape), recycle0 = TRUE)
    flip <- ffi_callback(function(x) {
      dims <<- dim(x)
      if (length(dim(x)) > 1) aperm(x) * 2 else x * 2
    }, sprintf("x: f64[%s] -> y: f64[%s]", toString(names), toString(rev(names))))
    x <- if (length(shape)) array(as.double(seq_len(prod(shape))), shape) else 5
    y <- as_array(flip(pjrt_buffer(x, "f64", shape = shape)))
    expect_identical(dims, if (length(shape) > 1) shape)
    expect_identical(y, if (length(shape)) aperm(x) * 2 else 10)
  }
})

test_that("columns, attributes, several results, and operands that come several times", {
  skip_without_plugin()
  both <- ffi_callback(
    function(a, s, power = 1, tag = "") list(sum = a + s, product = (a * s)^power, count = nchar(tag)),
    "a: f64[m, n] column, s: f64[]; power: f64 = 1, tag: str = \"\" ->
      sum: f64[m, n], product: f64[m, n] column, count: i32[]"
  )
  a <- matrix(as.double(1:6), 2)
  expect_identical(both(a, 2, power = 2, tag = "abc"), list(sum = a + 2, product = (a * 2)^2, count = 3L))
  expect_identical(both(a, 2)$count, 0L)
  largest <- ffi_callback(function(xs) do.call(pmax, xs), "xs: f64[n]*k -> y: f64[n]")
  expect_identical(largest(c(1, 5), c(3, 2), c(0, 9)), c(3, 9))
  count <- ffi_callback(function(x, xs) x + length(xs), "x: f64[], xs: f64[]*k -> y: f64[]")
  expect_identical(count(1), 1)
  expect_identical(count(1, 2, 3), 3)
  nothing <- ffi_callback(function() NULL, "->")
  expect_null(nothing())
})

test_that("batches: an element at a time, or all at once", {
  skip_without_plugin()
  calls <- 0
  f <- function(x, s) {
    calls <<- calls + 1
    cumsum(x) * s
  }
  signature <- "x: f64[..., n], s: f64[...] -> y: f64[..., n]"
  x <- array(as.double(1:24), c(2, 4, 3))
  s <- c(1, 10, 100, 1000)
  expected <- x
  for (i in 1:2) for (j in 1:4) expected[i, j, ] <- cumsum(x[i, j, ]) * s[[j]]
  each <- ffi_callback(f, signature)
  expect_equal(each(x, s), expected, tolerance = 0)
  expect_identical(calls, 8)
  shapes <- NULL
  whole <- ffi_callback(function(x, s) {
    shapes <<- list(dim(x), length(s))
    x * rep(s, each = 2)
  }, signature, vectorized = TRUE)
  expect_identical(whole(x, s), x * rep(s, each = 2))
  expect_identical(shapes, list(c(2L, 4L, 3L), 4L))
  one <- ffi_callback(function(x, s) cumsum(x) * s, "x: f64[n], s: f64[] -> y: f64[n]")
  rows <- xla_vmap(one)(x[, 1, ], c(1, 2))
  expect_identical(rows, rbind(cumsum(x[1, 1, ]), cumsum(x[2, 1, ]) * 2))
})

test_that("a function in place, and in a loop", {
  skip_without_plugin()
  seen <- numeric()
  step <- ffi_callback(function(x) {
    seen <<- c(seen, x)
    x * 2
  }, "x: f64[n] -> x: f64[n]")
  doubled <- xla_jit(function(x) {
    start <- list(i = hlo_constant(0L), x = x)
    hlo_while(function(i, x) i < 5L, function(i, x) list(i = i + 1L, x = step(x)), start)$x
  })
  expect_identical(doubled(3), 96)
  expect_identical(seen, 3 * 2^(0:4))
})

test_that("what does not fit is refused, with the result's name", {
  skip_without_plugin()
  refused <- function(value, type = "i32[n]") {
    wrong <- ffi_callback(function(x) value, sprintf("x: f64[n] -> z: %s", type), name = "wrong")
    error_of(wrong(c(1, 2)))
  }
  expect_snapshot({
    conditionMessage(refused(c(1.5, 2)))
    conditionMessage(refused(c(3e9, 2)))
    conditionMessage(refused(c(NaN, 2)))
    conditionMessage(refused(1:3))
    conditionMessage(refused(matrix(1:4, 2)))
    conditionMessage(refused("a"))
    conditionMessage(refused(NULL))
    conditionMessage(refused(list(1, 2)))
    conditionMessage(refused(1i, "f64[]"))
    conditionMessage(refused(c(NA, TRUE), "pred[n]"))
    conditionMessage(refused(c(1, 0), "pred[n]"))
    conditionMessage(refused(c(NA, 1L), "i64[n]"))
  })
  expect_identical(refused("a")$op, "wrong")
  expect_s3_class(refused("a"), "xlaffi_error_invalid_argument")
  two <- ffi_callback(function(x) list(b = x), "x: f64[n] -> a: f64[n], b: f64[n]", name = "two")
  other <- ffi_callback(function(x) list(a = x, c = x), "x: f64[n] -> a: f64[n], b: f64[n]", name = "two")
  expect_snapshot({
    conditionMessage(error_of(two(1)))
    conditionMessage(error_of(other(1)))
  })
  # Nothing is lost: 1 is a number of every type.
  numbers <- list(1, TRUE, 2L, bit64::as.integer64(3))
  mixed <- ffi_callback(function(x) numbers, "x: f64[] -> a: i8[], b: f32[], c: f64[], d: ui64[]")
  expect_identical(unname(mixed(1)), list(1L, 1, 2, bit64::as.integer64(3)))
  expect_identical(ffi_callback(function(x) c(NA, 1L), "x: f64[] -> y: f64[2]")(1), c(NA, 1))
})

test_that("an R error is the parent of the program's", {
  skip_without_plugin()
  bad <- function(x) stop("no such luck: ", x)
  cnd <- error_of(ffi_callback(bad, "x: f64[] -> y: f64[]")(3))
  expect_s3_class(cnd, "xlaffi_error_unknown")
  expect_identical(cnd$op, "r.bad")
  expect_identical(conditionMessage(cnd$parent), "no such luck: 3")
  expect_identical(conditionCall(cnd$parent), quote(bad(x)))
  expect_s3_class(cnd$parent$trace, "rlang_trace")
  expect_snapshot(ffi_callback(bad, "x: f64[] -> y: f64[]")(3), error = TRUE)
  own <- ffi_callback(function(x) rlang::abort("mine", class = "my_class", data = 7), "x: f64[] -> y: f64[]")
  cnd <- error_of(own(1))
  expect_s3_class(cnd$parent, "my_class")
  expect_identical(cnd$parent$data, 7)
  expect_no_match(conditionMessage(error_of(ffi_callback(function(x) stop(), "x: f64[] -> y: f64[]")(1))), "[[]R cond")
  # And R goes on.
  expect_identical(ffi_callback(function(x) x + 1, "x: f64[] -> y: f64[]")(1), 2)
})

test_that("an error, a warning, a message, a jump, and what is printed", {
  skip_without_plugin()
  noisy <- ffi_callback(function(x) {
    message("a message")
    warning("a warning")
    print(x)
    x
  }, "x: f64[] -> y: f64[]")
  expect_message(expect_warning(expect_output(noisy(2), "[1] 2", fixed = TRUE), "a warning"), "a message")
  # What leaves the function for a place outside of the program
  expect_identical(tryCatch(noisy(2), message = function(cnd) "caught"), "caught")
  away <- ffi_callback(function(x) rlang::return_from(frame, "away"), "x: f64[] -> y: f64[]")
  frame <- NULL
  outer <- function() {
    frame <<- environment()
    away(1)
    "not reached"
  }
  expect_identical(suppressWarnings(outer()), "away")
  quiet <- ffi_callback(function(x) {
    suppressWarnings(warning("w"))
    x
  }, "x: f64[] -> y: f64[]")
  expect_silent(quiet(1))
})

test_that("programs in functions in programs", {
  skip_without_plugin()
  inner <- xla_jit(function(x) sum(x %*% x))
  nested <- ffi_callback(function(x) inner(x) + 1, "x: f64[n, n] -> y: f64[]")
  x <- matrix(runif(40000), 200)
  expect_equal(nested(x), sum(x %*% x) + 1)
  deeper <- ffi_callback(function(x) nested(x) + 1, "x: f64[n, n] -> y: f64[]")
  expect_equal(deeper(x), sum(x %*% x) + 2)
  # A new program is compiled inside.
  fresh <- ffi_callback(function(x) xla_jit(function(y) y * 3)(x), "x: f64[] -> y: f64[]")
  expect_identical(fresh(2), 6)
  # The argument of the program that is running
  buffer <- pjrt_buffer(c(1, 2), "f64")
  reads <- ffi_callback(function(x) as_array(buffer) + x, "x: f64[n] -> y: f64[n]")
  expect_identical(as.vector(as_array(reads(buffer))), c(2, 4))
  # Collections, and finalisers of buffers
  collects <- ffi_callback(function(x) {
    for (i in 1:5) pjrt_buffer(x)
    gc()
    x
  }, "x: f64[n] -> y: f64[n]")
  expect_identical(collects(c(1, 2)), c(1, 2))
})

test_that("functions and programs that call one another without end", {
  skip_without_plugin()
  skip_unless_all()
  depth <- 0
  endless <- ffi_callback(function(x) {
    depth <<- depth + 1
    endless(x)
  }, "x: f64[] -> y: f64[]")
  cnd <- error_of(endless(1))
  expect_identical(depth, 16)
  while (!is.null(cnd$parent)) cnd <- cnd$parent
  expect_match(conditionMessage(cnd), "nested 16 deep")
  expect_s3_class(cnd, "xlaffi_error_failed_precondition")
})

test_that("several functions in one program, each of which runs programs, on XLA's threads", {
  skip_without_plugin()
  skip_unless_all()
  inner <- xla_jit(function(x) x %*% x)
  f <- ffi_callback(function(x) inner(x), "x: f64[n, n] -> y: f64[n, n]")
  # Enough arithmetic that XLA takes its own threads for it.
  many <- xla_jit(function(x) {
    sum <- f(x %*% x)
    for (i in 2:6) sum <- sum + f((x * i) %*% x)
    sum
  })
  x <- matrix(runif(250000), 500) / 250
  expected <- 0
  for (i in 1:6) expected <- expected + ((x * i) %*% x) %*% ((x * i) %*% x)
  expect_equal(many(x), expected)
})

test_that("many programs, of which each waits for R", {
  skip_without_plugin()
  skip_unless_all()
  calls <- 0
  f <- ffi_callback(function(x) {
    calls <<- calls + 1
    x + 1
  }, "x: f64[n, n] -> y: f64[n, n]")
  program <- xla_jit(function(x) f(x %*% x) %*% x)
  x <- pjrt_buffer(diag(500), "f64")
  results <- lapply(1:50, function(i) program(x))
  other <- xla_jit(function(x) sum(x))
  expect_identical(as_array(other(pjrt_buffer(c(1, 2), "f64"))), 3)
  for (result in results) expect_identical(as_array(result)[1, 1], 2)
  expect_identical(calls, 50)
})

test_that("side effects", {
  skip_unless_included("order of calls")
  seen <- NULL
  note <- ffi_callback(function(x) seen <<- c(seen, x), "x: f64[] ->", side_effect = "ordered")
  run <- xla_jit(function(x) {
    for (i in 1:6) note(x + i)
    x
  })
  run(0)
  expect_identical(seen, as.double(1:6))
  lost <- ffi_callback(function(x) seen <<- x, "x: f64[] -> y: f64[]")
  seen <- NULL
  xla_jit(function(x) {
    lost(x)
    x
  })(1)
  expect_null(seen)
})

test_that("equal functions are compiled once, and functions that are gone are let go", {
  skip_without_plugin()
  f <- ffi_callback(function(x) x + 1, "x: f64[] -> y: f64[]")
  jitted <- xla_jit(function(x) f(x) * 2)
  forget_session()
  jitted(1)
  for (i in c(1, 2, 3)) expect_identical(jitted(i), (i + 1) * 2)
  expect_identical(nrow(xla_cache()), 1L)
})

test_that("derivatives by a rule and by differences", {
  skip_without_plugin()
  f <- function(x, k) list(y = x^k * c(1, 2), s = sum(sin(x)))
  signature <- "x: f64[2], k: i32[] -> y: f64[2], s: f64[]"
  numeric <- ffi_callback(f, signature, jvp = "numeric", name = "f")
  x <- c(1.5, -0.5)
  change <- xla_jvp(numeric)(list(x, 3L), list(c(1, 2), NULL))
  expect_identical(change$value$y, f(x, 3L)$y)
  expect_equal(change$tangent$y, 3 * x^2 * c(1, 2) * c(1, 2), tolerance = 1e-9)
  expect_equal(change$tangent$s, sum(cos(x) * c(1, 2)), tolerance = 1e-9)
  pulled <- xla_grad(function(x) {
    at <- numeric(x, 3L)
    sum(at$y * c(1, 10)) + 2 * at$s
  })(x)
  expect_equal(pulled, c(1, 10) * 3 * x^2 * c(1, 2) + 2 * cos(x), tolerance = 1e-9)
  # Nothing changes, on the way
  still <- xla_jvp(numeric)(list(x, 3L), list(c(0, 0), NULL))
  expect_identical(still$tangent$y, c(0, 0))

  # Within a program, with attributes, in f32, and in a batch with an operand that is the same for all
  g <- ffi_callback(function(x, w, scale) sum(x * w)^2 * scale, "x: T[..., n], w: T[n]; scale: f64 = 1 -> y: T[...]",
    jvp = "numeric", dtypes = list(T = c("f32", "f64"))
  )
  batch <- matrix(c(1, 2, 3, 4, 5, 6), 3)
  w <- c(0.5, -1)
  gradient <- xla_grad(function(x, w) sum(g(x, w, scale = 3) * c(1, 10, 100)), c("x", "w"))(batch, w)
  inner <- 2 * 3 * c(batch %*% w) * c(1, 10, 100)
  expect_equal(gradient$x, outer(inner, w), tolerance = 1e-8)
  expect_equal(gradient$w, c(t(batch) %*% inner), tolerance = 1e-8)
  single <- xla_grad(function(x) sum(g(x, hlo_constant(w, "f32"))))(pjrt_buffer(batch, "f32"))
  expect_equal(as_array(single), outer(2 * c(batch %*% w), w), tolerance = 1e-5)

  ruled <- ffi_callback(function(x) x^2, "x: f64[n] -> y: f64[n]", jvp = function(primals, results, tangents) {
    2 * primals$x * tangents$x
  })
  expect_identical(xla_grad(function(x) sum(ruled(x)))(c(1, 2)), c(2, 4))
  none <- ffi_callback(function(x) x^2, "x: f64[n] -> y: f64[n]", name = "none")
  expect_s3_class(error_of(xla_grad(function(x) sum(none(x)))(c(1, 2))), "xlaffi_error_unimplemented")
  expect_snapshot(error = TRUE, {
    ffi_callback(function(x) x, "x: c128[] -> y: f64[]", jvp = "numeric", name = "f")
    ffi_callback(function(x) x, "x: f64[]*k -> y: f64[]", jvp = "numeric", name = "f")
    xla_hessian(function(x) numeric(x, 3L)$s)(x)
    xla_jvp(function(x) xla_jvp(numeric)(list(x, 3L), list(c(1, 2), NULL))$tangent$s)(list(x), list(c(1, 1)))
    ffi_callback(function(x) x, "x: f64[] -> y: f64[]", jvp = "exact")
    ffi_callback(3, "x: f64[] -> y: f64[]")
    ffi_callback(function(x) x, "x: f64[] -> y: f64[n]")
  })
})

# Runs a program on the plugin by another host: `foreign_double` is called on a thread of XLA's, behind a product.
foreign_run <- function(library, factor, waits = TRUE) {
  plugin <- getLoadedDLLs()[["xlaffi"]][["path"]]
  program <- sprintf("func.func @main() -> tensor<f32> {
    %%x = stablehlo.custom_call @foreign_seed() {api_version = 4 : i32} : () -> tensor<f32>
    %%k = stablehlo.constant dense<%s> : tensor<f32>
    %%kx = stablehlo.multiply %%k, %%x : tensor<f32>
    %%m = stablehlo.broadcast_in_dim %%kx, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %%p = stablehlo.dot_general %%m, %%m, contracting_dims = [1] x [0]
      : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %%s = stablehlo.slice %%p [0:1, 0:1] : (tensor<256x256xf32>) -> tensor<1x1xf32>
    %%v = stablehlo.reshape %%s : (tensor<1x1xf32>) -> tensor<f32>
    %%y = stablehlo.custom_call @foreign_double(%%v) {api_version = 4 : i32} : (tensor<f32>) -> tensor<f32>
    return %%y : tensor<f32>
  }", factor)
  .Call(getNativeSymbolInfo("foreign_run", library), plugin, program, waits)
}

test_that("a program is served that another package waits for in the plugin, or runs while R is idle", {
  skip_unless_included("waits for other hosts")
  skip_on_os("windows")
  withr::local_options(xlaffi.callback_wait = 10)
  calls <- 0
  seed <- ffi_callback(function() {
    calls <<- calls + 1
    0.5
  }, "-> y: f32[]", name = "foreign_seed")
  double <- ffi_callback(function(x) {
    calls <<- calls + 1
    if (x > 1000) stop("too much")
    xla_jit(function(x) x * 2)(x)
  }, "x: f32[] -> y: f32[]", name = "foreign_double")
  library <- dyn.load(shared_library(readLines(test_path("foreign-host.c")), "foreign"))
  withr::defer(dyn.unload(library[["path"]]))
  expect_identical(foreign_run(library, "2.0"), 512)
  expect_identical(calls, 2)
  expect_match(foreign_run(library, "8.0"), "foreign_double: the R function failed .*: too much")
  expect_identical(foreign_run(library, "2.0"), 512)
  calls <- 0
  expect_null(foreign_run(library, "2.0", waits = FALSE))
  # An idle prompt, as far as R's event loop is concerned
  for (i in 1:100) if (calls < 2) Sys.sleep(0.1)
  expect_identical(calls, 2)
})

test_that("where memory is short, what has a side effect is not done twice", {
  skip_without_plugin()
  skip_unless_all()
  local_code_cache()
  calls <- 0
  count <- function(side_effect) {
    note <- ffi_callback(function(x) {
      calls <<- calls + 1
      x
    }, "x: f64[n] -> y: f64[n]", side_effect = side_effect, name = "note")
    code <- "FAIL_WITH(XLAFFI_RESOURCE_EXHAUSTED, \"no more\");"
    greedy <- ffi_source("x: f64[n] -> y: f64[n]", code, name = "greedy")
    calls <<- 0
    error <- error_of(xla_jit(function(x) greedy(note(x)))(c(1, 2)))
    expect_s3_class(error, "xlaffi_error_resource_exhausted")
    calls
  }
  expect_identical(count(TRUE), 1)
  expect_identical(count("ordered"), 1)
  expect_identical(count(FALSE), 2)
})

test_that("Ctrl-C interrupts the function, and the program fails", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  run <- run_r("
    interrupted <- function(code) {
      start <- Sys.time()
      tryCatch({code; cat('finished\\n')}, interrupt = function(e) cat('interrupted\\n'))
      cat('quick:', as.numeric(Sys.time() - start, units = 'secs') < 25, '\\n')
    }
    send <- function() system(paste('(sleep 1; kill -INT', Sys.getpid(), ') &'))
    # From within the function: on a busy machine a program may take long to get there.
    slow <- ffi_callback(function(x) {
      if (x < 2) send()
      if (x == 0) Sys.sleep(30)
      if (x == 1) repeat NULL
      x
    }, 'x: f64[] -> y: f64[]')
    interrupted(slow(0))
    interrupted(slow(1))
    slow(2)
    # Between two calls: a loop whose function is called no more
    calls <- 0
    count <- ffi_callback(function(x) {
      calls <<- calls + 1
      if (calls == 5) send()
      x + 1
    }, 'x: f64[n, n] -> y: f64[n, n]')
    many <- function(step) {
      xla_jit(function(x, n) hlo_while(function(s, n) s[1, 1] < n, function(s, n) list(step(s), n), list(x, n)))
    }
    endless <- function(program, x) {
      calls <<- 4
      interrupted(program(x, 1e12))
      before <- calls
      Sys.sleep(0.5)
      as_array(pjrt_buffer(1))
      c(before > 4, calls == before)
    }
    one <- many(count)
    one(matrix(0), 3)[[1]]
    endless(one, matrix(0))
    # XLA goes on in its own threads behind work for several of them, and calls the functions there.
    endless(many(function(s) count(s %*% s) * 0 + count(s)), pjrt_buffer(diag(300), 'f64'))
  ")
  expect_identical(run$output, c(
    rep(c("interrupted", "quick: TRUE "), 2), "[1] 2", "     [,1]", "[1,]    3",
    rep(c("interrupted", "quick: TRUE ", "[1] TRUE TRUE"), 2)
  ))
})

# The first function that is called leaves the program, while others wait to be called.
left <- "
  calls <- 0
  f <- ffi_callback(function(x) {
    calls <<- calls + 1
    if (calls == 1) {
      start <- proc.time()[[3]]
      while (proc.time()[[3]] < start + 0.5) NULL
      invokeRestart('away')
    }
    cat('called\\n')
    x
  }, 'x: f64[n, n] -> y: f64[n, n]')
  program <- xla_jit(function(x) {
    sum <- f(x %*% x)
    for (i in 2:6) sum <- sum + f((x * i) %*% x)
    sum
  })
  withRestarts(program(pjrt_buffer(diag(500), 'f64')), away = function() cat('away\\n'))
"

test_that("once R has left a program, its functions are called no more", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r(c(left, "Sys.sleep(1)", "calls", "program <- xla_jit(function(x) f(x))", "program(diag(1))"))
  expect_identical(run$output, c("away", "[1] 1", "called", "     [,1]", "[1,]    1"))
})

test_that("R ends, and the package is unloaded, while a program waits to call it", {
  skip_unless_included("waits for other hosts")
  skip_unless_all()
  skip_on_os("windows")
  path <- shared_library(readLines(test_path("foreign-host.c")), "foreign")
  waiting <- c("
    client <- pjrt_client('cpu')
    seed <- ffi_callback(function() 0.5, '-> y: f32[]', name = 'foreign_seed')
    double <- ffi_callback(function(x) cat('called\\n'), 'x: f32[] -> y: f32[]', name = 'foreign_double')
    ", sprintf("library <- dyn.load('%s')", path), "foreign_run <-", deparse(foreign_run), "
    foreign_run(library, '2.0', waits = FALSE)
    start <- proc.time()[[3]]
    while (proc.time()[[3]] < start + 1) NULL
    cat('waiting\\n')
  ")
  end <- run_r(c(waiting, "quit(status = 3)"), timeout = 60)
  expect_identical(end, list(output = c("NULL", "waiting"), status = 3L))
  unload <- run_r(c(waiting, "
    rm(seed, double)
    unloadNamespace('xlaffi')
    cat('unloaded\\n')
  "), timeout = 60)
  expect_identical(unload, list(output = c("NULL", "waiting", "unloaded"), status = 0L))
})

test_that("a forked child refuses", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  run <- run_r("
    f <- ffi_callback(function(x) x, 'x: f64[] -> y: f64[]')
    f(1)
    unlist(parallel::mclapply(1:2, function(i) {
      Sys.sleep(0.1)
      tryCatch(f(i), error = function(e) class(e)[[1]])
    }, mc.cores = 2))
    f(2)
  ")
  expect_identical(run$output, c(
    "[1] 1", "[1] \"xlaffi_error_failed_precondition\" \"xlaffi_error_failed_precondition\"", "[1] 2"
  ))
})
