# Constants stand in a program once; large ones are hidden arguments of what is compiled.

wide <- matrix(sin((1:900)^2) / 30, 30)
long <- cos(1:900)

test_that("a constant is in a text once, wherever it is used", {
  text <- xla_program(function(x) {
    y <- wide %*% x
    for (i in 1:3) y <- wide %*% y
    y <- hlo_fori(1, 4, function(i, y) wide %*% y + (wide / 2) %*% y, y)
    y <- hlo_cond(sum(y) > 0, function() wide %*% y, function() y * long[1:30])
    small <- c(1.5, 2.5, 3.5)
    list(y, x[1:3] * small + small, xla_grad(function(x) sum((wide %*% x)^2))(x))
  }, ffi_type("f64", 30))
  count <- function(pattern) lengths(regmatches(text, gregexpr(pattern, text)))
  # `wide` and its half
  expect_identical(count("dense<\"0x[0-9A-F]+\"> : tensor<30x30xf64>"), 2L)
  expect_identical(count("dense<\\[1.5, 2.5, 3.5\\]>"), 1L)
  skip_without_plugin()
  compiled <- pjrt_compile(pjrt_program(text))
  x <- cos(1:30)
  y <- wide %*% x
  for (i in 1:3) y <- wide %*% y
  expect_equal(as_array(pjrt_execute(compiled, pjrt_buffer(x, "f64"))[[3L]]), array(2 * crossprod(wide, wide %*% x)))
})

test_that("equal nodes of a block are written once, but for calls with side effects and barriers", {
  call <- function(x, name, ...) hlo_custom_call("print_tensor", x, list(), list(print_header = name), ...)
  text <- xla_program(function(x) {
    # One factor of each, though both matrices are made twice; rules of derivatives make a further one.
    a <- function(k) crossprod(matrix(x, 2)) + diag(2) * k
    logs <- sum(log(diag(chol(a(1))))) + sum(log(diag(chol(a(1))))) + sum(log(diag(chol(a(2)))))
    # The text of a triangular system is several lines, with names of their own.
    solved <- function() hlo_triangular_solve(a(1), cbind(a(1), a(2), a(1), a(2), a(1)))
    # Scatter's text has names of its own.
    put <- function() replace(x * 0, c(3L, 1L), x[1:2])
    twice <- hlo_custom_call("kepler", list(x, x), x)
    for (i in 1:2) call(x, "same", has_side_effect = TRUE)
    kept <- xlaffi:::kept_apart(x) + xlaffi:::kept_apart(x)
    # A loop has a block of its own.
    sums <- hlo_fori(1, 3, function(i, s) s + sum(sin(x)) * sum(sin(x)), sum(sin(x)))
    list(logs, solved(), solved(), put(), put(), twice, hlo_custom_call("kepler", list(x, x), x), kept, sums)
  }, ffi_type("f64", 4))
  count <- function(pattern) lengths(regmatches(text, gregexpr(pattern, text)))
  found <- vapply(c(
    factor = "@xlaffi.cholesky", solved = "_dtrsm_ffi", scatter = "\"stablehlo.scatter\"", kepler = "@kepler",
    print = "@print_tensor", barrier = "optimization_barrier", sine = "stablehlo.sine"
  ), count, 0L)
  expect_identical(found, c(factor = 2L, solved = 1L, scatter = 1L, kepler = 1L, print = 2L, barrier = 2L, sine = 2L))
})

test_that("equal loops and branches are written once, but for those with side effects", {
  f <- function(say) {
    function(x) {
      loop <- function(k) hlo_while(function(v) sum(v) < 90, function(v) v * k + wide[1, 1:3], x)
      # Loops within a loop, and a constant that only their turns name
      turns <- function(k) {
        hlo_fori(1, 3, function(i, s) s / 2 + sum(hlo_fori(1, 2, function(j, t) t * c(7, 8, 9) + k, s)), x)
      }
      either <- function(k) hlo_cond(x[1] > 0, function() sin(x) * k, function() x)
      said <- function() {
        hlo_while(function(v) sum(v) < 9, function(v) {
          if (say) hlo_custom_call("print_tensor", v, list(), list(print_header = "v"), has_side_effect = TRUE)
          v * 2
        }, x)
      }
      list(
        loop(2) * loop(2), loop(3), turns(1), turns(1) + 1, turns(2), either(1) / either(1), either(2), said() - said()
      )
    }
  }
  counts <- function(say) {
    text <- xla_program(f(say), ffi_type("f64", 3))
    c(loops = times_in(text, "stablehlo.while"), branches = times_in(text, "stablehlo.case"))
  }
  expect_identical(counts(TRUE), c(loops = 2L + 4L + 2L, branches = 2L))
  expect_identical(counts(FALSE), c(loops = 2L + 4L + 1L, branches = 2L))
  skip_without_plugin()
  x <- c(1, 2, 3)
  loop <- function(k) {
    v <- x
    while (sum(v) < 90) v <- v * k + wide[1, 1:3]
    v
  }
  turns <- function(k) {
    s <- x
    for (i in 1:3) {
      v <- s
      for (j in 1:2) v <- v * c(7, 8, 9) + k
      s <- s / 2 + sum(v)
    }
    s
  }
  expected <- list(loop(2)^2, loop(3), turns(1), turns(1) + 1, turns(2), c(1, 1, 1), 2 * sin(x), numeric(3))
  expect_equal(xla_jit(f(FALSE))(x), expected)
})

test_that("large constants are arguments of compiled programs, and the results are those of R", {
  skip_without_plugin()
  ints <- 900:1
  flags <- long > 0
  waves <- complex(real = long, imaginary = rev(long))
  special <- c(NA, NaN, Inf, -Inf, -0, long)
  f <- function(x) {
    z <- wide %*% x
    list(
      z, long * sum(x), ints * 2L, ifelse(flags, sum(x), 0), Mod(waves * sum(x)), 1 / special, special + 0,
      x[rev(seq_along(x))], (t(wide) / 2) %*% x, matrix(long, 30)[, 2] * x, wide[order(long)[1:30] %% 30 + 1, 1] * x
    )
  }
  x <- sin(1:30)
  compiled <- xla_jit(f)
  expect_equal(lapply(compiled(x), as.vector), lapply(f(x), as.vector))
  expect_lt(max(nchar(strsplit(xla_cache()$program[[1L]], "0x", fixed = TRUE)[[1L]])), 10000L)
  # With buffers, results stay buffers.
  expect_equal(as.vector(as_array(compiled(pjrt_buffer(x, "f64"))[[1L]])), as.vector(wide %*% x))
  skip_unless_all()
  # Through what is written again: loops, branches, batches, derivatives
  g <- function(x) {
    y <- hlo_fori(1, 3, function(i, y) drop(wide %*% y) + i, x)
    y <- hlo_cond(sum(y) > 0, function() drop(wide %*% y), function() y)
    sum(y^2) + sum(hlo_scan(function(carry, row) list(carry + sum(row * x), carry), 0, wide)[[2]])
  }
  plain <- function(x) {
    y <- x
    for (i in 1:3) y <- drop(wide %*% y) + i
    if (sum(y) > 0) y <- drop(wide %*% y)
    sum(y^2) + sum(cumsum(c(0, (wide %*% x)[-30])))
  }
  slope <- function(x) {
    vapply(seq_along(x), function(i) {
      step <- replace(numeric(30), i, 1e-6)
      (plain(x + step) - plain(x - step)) / 2e-6
    }, 0)
  }
  at <- xla_jit(function(x) {
    list(g(x), xla_grad(g)(x), xla_vmap(g)(hlo_reshape(c(x, 2 * x), c(2, 30))))
  })(x)
  expect_equal(at[[1]], plain(x))
  expect_equal(at[[2]], slope(x), tolerance = 1e-6)
  expect_equal(at[[3]], c(plain(x), plain(2 * x)))
  # Dtypes that R does not have are rounded as in the text.
  for (dtype in c("f32", "f16", "bf16", "c64", "i8", "ui16", "i64")) {
    data <- if (dtype %in% c("i8", "ui16", "i64")) rep(0:99, 9) else long
    one <- function() hlo_constant(data, dtype)
    as_text <- as_array(pjrt_execute(pjrt_compile(pjrt_program(xla_program(one)))))
    expect_identical(xla_jit(one)(), `dim<-`(as_text, NULL), info = dtype)
  }
})

test_that("NA of large integers is NaN among doubles, as that of small ones", {
  skip_without_plugin()
  large <- rep(c(1L, NA, 3L), 1e4)
  expect_identical(xla_jit(function(y) y + large)(numeric(3e4)), large_doubles <- ifelse(is.na(large), NaN, large))
  expect_identical(xla_jit(function(y) y + c(1L, NA, 3L))(numeric(3)), large_doubles[1:3])
})

test_that("large constants are those that the function has now", {
  skip_without_plugin()
  skip_unless_all()
  made <- function(data) xla_jit(function(x) sum(data * x))
  functions <- lapply(1:3, function(i) made(long * i))
  expect_equal(vapply(functions, function(f) f(2), 0), sum(long) * 2 * 1:3)
  expect_equal(vapply(functions, function(f) f(3), 0), sum(long) * 3 * 1:3)
  # They share a program.
  expect_identical(length(unique(vapply(1:3, function(i) xla_program(functions[[1]], 2), ""))), 1L)
  programs <- xla_cache()$program
  functions[[4]] <- made(rev(long) * 5)
  expect_equal(functions[[4]](2), sum(long) * 10)
  expect_identical(xla_cache()$program, programs)
  data <- rep(0, 600)
  f <- xla_jit(function(x) x / data)
  expect_identical(f(1), rep(Inf, 600))
  data <- rep(-0, 600)
  expect_identical(f(1), rep(-Inf, 600))
  data <- list2env(list(values = long))
  f <- xla_jit(function(x) sum(data$values) * x)
  g <- xla_jit(function(x) sum(data$values * x))
  expect_equal(c(f(1), g(1)), rep(sum(long), 2))
  data$values[3] <- 100
  expect_equal(c(f(1), g(1)), rep(sum(data$values), 2))
  # Uploaded once for all programs that have them
  own <- long * 7
  value <- xla_jit(function(x) sum(own * x))
  gradient <- xla_grad(function(x) sum(own * x^2))
  value(2)
  gradient(2)
  jit_state <- xlaffi:::jit_state
  hidden <- unlist(lapply(as.list(jit_state$calls), function(call) {
    lapply(call$constants, function(constant) if (identical(constant$data, own)) constant$argument)
  }))
  expect_identical(length(hidden), 2L)
  expect_true(identical(hidden[[1L]], hidden[[2L]]))
  # A function that comes back from a file has them.
  file <- withr::local_tempfile()
  saveRDS(value, file)
  expect_equal(readRDS(file)(3), sum(own) * 3)
})

test_that("a mesh of one device is given large constants, and so are xla_shard_map() and objectives", {
  skip_without_plugin()
  mesh <- xla_mesh(c(data = 1))
  x <- matrix(sin(1:60), 2)
  expect_equal(as_array(xla_jit(function(x) x %*% wide)(xla_shard(x, mesh, "data"))), x %*% wide)
  mapped <- xla_shard_map(function(x) hlo_psum(x %*% wide %*% wide, "data"), mesh, "data", xla_spec())
  expect_equal(mapped(x), x %*% wide %*% wide)
  expect_equal(xla_jit(function(x) mapped(x) %*% wide)(x), x %*% wide %*% wide %*% wide)
  objective <- xla_objective(function(p) sum((wide %*% p - long[1:30])^2), numeric(30))
  expect_equal(objective$gr(rep(1, 30)), drop(2 * crossprod(wide, rowSums(wide) - long[1:30])))
  expect_equal(objective$he(rep(1, 30)), 2 * crossprod(wide))
})

test_that("lines for other programs have constants once, with their prefix", {
  graph <- xla_graph(function(x) wide %*% x + (wide %*% (wide %*% x)), ffi_type("f64", 30))
  lines <- xla_graph_text(graph, "%in", prefix = "mine")$lines
  expect_identical(sum(grepl("tensor<30x30xf64>$", lines)), 1L)
  expect_match(lines[[1L]], "^  %mine_const0 = stablehlo.constant dense<\"0x")
})
