# Long rows of small computations, which are compiled without fusion.

# Programs of a few nodes are long, until the test ends
local_long <- function(least = 6L, env = parent.frame()) {
  put <- function(long, row) {
    assignInNamespace("least_long", long, "xlaffi")
    assignInNamespace("least_row", row, "xlaffi")
  }
  old <- mget(c("least_long", "least_row"), asNamespace("xlaffi"))
  withr::defer(put(old[[1L]], old[[2L]]), env)
  put(least, 1L)
}

# Only programs for the CPU have kinds, whatever the platform of the tests is.
cpu_program <- function(f, ...) withr::with_envvar(c(PJRT_PLATFORM = "cpu"), xla_program(f, ...))

test_that("long programs compute what they compute as others", {
  skip_without_plugin()
  local_long()
  expressions <- unlist(equal_expressions, use.names = FALSE)
  expressions <- expressions[seq(1L, length(expressions), if (all_run()) 8L else 24L)]
  functions <- expression_functions(expressions)
  results <- expression_results(functions)
  for (text in expressions) {
    expected <- suppressWarnings(do.call(functions[[text]], expression_data))
    expect_equal(results[[text]], expected, tolerance = 1e-10, ignore_attr = c("names", "dimnames"), label = text)
  }
})

test_that("loops, branches, batches and derivatives of long programs agree with others", {
  skip_without_plugin()
  skip_unless_all()
  turn <- function(s, y) {
    gain <- exp(s) / (exp(s) + y * y + 1)
    s + gain * (y - s) + ifelse(s > y, 0.1, -0.2) + sin(s * y) / 3
  }
  loss <- function(p, y) {
    s <- p[1]
    for (i in seq_along(y)) s <- turn(s, y[i] * p[2])
    scanned <- hlo_scan(function(s, y) list(turn(s, y), s), p[3], y)
    branch <- hlo_cond(s > 0, function() turn(s, p[1]), function() turn(p[1], s) * s)
    s^2 + scanned$carry + sum(scanned$ys) + branch
  }
  rows <- matrix(c(0.2, -0.4, 1.1, 0.7, 1.3, 0.9, 0.3, 0.5, -0.8), 3)
  y <- c(0.4, -0.2, 1.2, 0.6)
  run <- function() {
    gradient <- xla_grad(loss, value = TRUE)
    list(
      gradient(rows[1, ], y), xla_hessian(loss)(rows[1, ], y), xla_vmap(gradient, list(1, NULL))(rows, y),
      xla_jit(function(x) turn(x, rev(x)))(as.double(1:2000) / 2000),
      xla_jit(loss, exact = TRUE)(rows[2, ], y), xla_objective(function(p) loss(p, y), rows[3, ])$gr(rows[3, ])
    )
  }
  others <- run()
  local_long()
  long <- run()
  expect_equal(long, others, tolerance = 1e-13)
  slope <- vapply(1:3, function(i) {
    step <- replace(numeric(3), i, 1e-5)
    p <- rows[1, ]
    value <- xla_jit(loss)
    (value(p + step, y) - value(p - step, y)) / 2e-5
  }, 0)
  expect_equal(long[[1]]$gradient, slope, tolerance = 1e-7)
})

test_that("the name of the module says how a program is compiled", {
  local_long()
  kind <- function(f, ...) sub(" [{].*", "", strsplit(cpu_program(f, ...), "\n")[[1]][[1]])
  chain <- function(x) {
    for (i in 1:8) x <- sin(x) * 0.5
    x
  }
  expect_identical(kind(chain, 1), "module @xlaffi_scalars")
  expect_identical(kind(function(x, n) chain(x) + n[2], 1, as.double(1:5000)), "module @xlaffi_scalars")
  # What the compiler may gain something at
  expect_identical(kind(chain, as.double(1:5000)), "module @main")
  # Beside large arrays and in loops of many turns, where the row is longer
  short <- function(x) sin(sin(sin(sin(x)))) * 0.5
  expect_identical(kind(function(x, n) short(x) + sum(n), 1, as.double(1:5000)), "module @main")
  expect_identical(kind(function(x, n) chain(x) + sum(n), 1, as.double(1:5000)), "module @xlaffi_rows")
  going <- function(x) x > 0
  expect_identical(kind(function(x) hlo_while(going, short, x), 1), "module @main")
  expect_identical(kind(function(x) chain(hlo_while(going, short, x)), 1), "module @xlaffi_rows")
  # Not where a loop's body is long
  expect_identical(kind(function(x) hlo_while(going, chain, x), 1), "module @main")
  local({
    withr::defer(assignInNamespace("most_inner", 256L, "xlaffi"))
    assignInNamespace("most_inner", 8L, "xlaffi")
    text <- cpu_program(function(x) chain(hlo_while(going, chain, x)), 1)
    expect_match(text, "^module @main ")
    expect_no_match(text, "func.call", fixed = TRUE)
  })
  # Not where the large arrays count more, and not for transposed matrices of dtypes that XLA has not without fusion
  beside <- function(n) function(x) sum(hlo_iota("f64", n)) * chain(x)
  expect_identical(kind(beside(5000L), 1), "module @xlaffi_rows")
  expect_identical(kind(beside(1e9), 1), "module @main")
  complex <- function(n, change) function(x) Re(sum(change(hlo_convert(hlo_iota("f64", n), "c128")))) + chain(x)
  expect_identical(kind(complex(5000L, identity), 1), "module @xlaffi_rows")
  expect_identical(kind(complex(c(50L, 100L), identity), 1), "module @xlaffi_rows")
  expect_identical(kind(complex(c(50L, 100L), t), 1), "module @main")
  random <- function(x) chain(x) + sum(hlo_rnorm(hlo_key(1L), c(5L, 6L)))
  expect_identical(kind(random, 1), "module @xlaffi_rows")
  expect_identical(kind(function(x) sin(x) * 0.5, 1), "module @main")
  turns <- function(n) function(x) hlo_scan(function(x) list(chain(x), NULL), x, length = n)$carry
  expect_identical(kind(turns(64L), 1), "module @xlaffi_scalars")
  expect_identical(kind(turns(65L), 1), "module @main")
  expect_identical(kind(function(x) chain(turns(65L)(x)), 1), "module @xlaffi_rows")
  expect_identical(kind(xla_hessian(function(x) sum(chain(x))), c(1, 2)), "module @xlaffi_scalars")
  a <- matrix(0.01, 300, 300)
  product <- function(x) a %*% (a %*% x)
  expect_identical(kind(product, numeric(300)), "module @xlaffi_scalars")
  expect_identical(kind(function(a, x) a %*% (a %*% x), matrix(0, 400, 400), numeric(400)), "module @main")
  expect_identical(kind(function(x) a %*% (a %*% x), matrix(0, 300, 300)), "module @main")
})

test_that("long regions are functions, but those with effects", {
  skip_without_plugin()
  local_long()
  y <- c(0.3, -0.2, 0.9, 0.1, -0.7)
  # Several results of one operation, large constants and a loop's body are taken and given.
  f <- function(show) {
    function(x) {
      sorted <- sort(x, index.return = TRUE)
      large <- sin(1:600)
      z <- sum(large) + sorted$ix[1]
      for (i in 1:4) z <- sin(z) * sorted$x[i] + mean(cos(large * z))
      if (show) hlo_custom_call("elsewhere", list(z), ffi_type("f64", 1L), has_side_effect = TRUE)
      turn <- function(s, v) {
        for (i in 1:5) s <- sin(s * v) + z / (1 + s * s)
        list(s, s)
      }
      scanned <- hlo_scan(turn, z, x)
      list(scanned$carry, scanned$ys, sorted$ix)
    }
  }
  parts <- function(show) {
    calls <- regmatches(text <- cpu_program(f(show), y), gregexpr("func.call @part[0-9]+", text))[[1L]]
    expect_identical(length(calls), lengths(regmatches(text, gregexpr("func.func private", text))))
    length(calls)
  }
  expect_gt(parts(FALSE), 4)
  expect_identical(parts(TRUE), 0L)
  long <- xla_jit(f(FALSE))(y)
  assignInNamespace("least_long", 1e6, "xlaffi")
  expect_equal(long, xla_jit(f(FALSE))(y), tolerance = 1e-13)
})

test_that("what is wide, not deep, is fused", {
  skip_unless_all()
  kind <- function(f) sub(" [{].*", "", strsplit(cpu_program(f, as.double(1:300)), "\n")[[1]][[1]])
  expect_identical(turn_by_turn(kind(function(x) {
    for (i in 1:200) x[i] <- 1 / (1 + exp(x[i] * i))
    x
  })), "module @xlaffi_many")
  expect_identical(turn_by_turn(kind(function(x) {
    for (i in 2:201) x[i] <- 1 / (1 + exp(x[i - 1] * i))
    x
  })), "module @xlaffi_scalars")
  # The value and the gradient of a density
  density <- function(p, y) sum(dnbinom(y, exp(p[1]), mu = exp(p[2]), log = TRUE))
  text <- cpu_program(function(p, y) list(density(p, y), xla_grad(density)(p, y)), c(1, 2), as.double(1:9))
  expect_match(text, "^module @xlaffi_many ")
  expect_gt(lengths(regmatches(text, gregexpr("\n", text))), 512)
})

test_that("many operations on arrays that are not large are a kind of their own", {
  kind <- function(f, ...) sub(" [{].*", "", strsplit(cpu_program(f, ...), "\n")[[1]][[1]])
  withr::defer(assignInNamespace("least_many", 512L, "xlaffi"))
  assignInNamespace("least_many", 4L, "xlaffi")
  f <- function(x) sum(sin(x) * cos(x))
  expect_identical(kind(f, numeric(2^15)), "module @xlaffi_many")
  expect_identical(kind(f, ffi_type("i32", 2^15)), "module @xlaffi_many")
  expect_identical(kind(f, numeric(2^15 + 1)), "module @main")
  expect_identical(kind(function(x) f(Re(x) + Im(x)), complex(4)), "module @main")
  expect_identical(kind(f, ffi_type("f16", 9)), "module @main")
  expect_identical(kind(function(x) f(x) + sum(hlo_rnorm(hlo_key(1L), 5L)), 1), "module @main")
  expect_identical(kind(function(x) f(Re(fft(x))), numeric(4)), "module @main")
  expect_identical(kind(function(x) 2 * x, 1), "module @main")
  # Of what reads elements elsewhere there are few one after the other.
  rows <- function(n) {
    function(x) {
      for (i in seq_len(n)) x <- sin(x) + rev(x)
      x
    }
  }
  expect_identical(kind(rows(4L), numeric(2000)), "module @xlaffi_many")
  expect_identical(kind(rows(5L), numeric(2000)), "module @main")
  # What is sorted is in memory before it is read.
  sorted <- function(x) rows(4L)(sort(rows(4L)(x)))
  expect_identical(kind(sorted, numeric(2000)), "module @xlaffi_many")
  skip_without_plugin()
  x <- sin(1:2000)
  expect_equal(xla_jit(sorted)(x), sorted(x), tolerance = 1e-14)
  expect_equal(xla_jit(rows(4L))(x), rows(4L)(x), tolerance = 1e-14)
  expect_equal(xla_grad(f)(x), cos(2 * x), tolerance = 1e-12)
})

test_that("what fusion would write again and again is not fused where arrays are small", {
  kind <- function(f, ...) turn_by_turn(sub(" [{].*", "", strsplit(cpu_program(f, ...), "\n")[[1]][[1]]))
  withr::defer(for (name in c("least_many", "least_written")) assignInNamespace(name, before[[name]], "xlaffi"))
  before <- mget(c("least_many", "least_written"), asNamespace("xlaffi"))
  for (name in names(before)) assignInNamespace(name, 16L, "xlaffi")
  # All of `uses` take the whole of a row of quick operations.
  f <- function(uses) {
    function(x) {
      y <- x
      for (i in 1:60) y <- y * x + 1 / i
      slow <- lapply(seq_len(uses), function(i) exp(y / (99 + i)))
      list(Reduce(`+`, lapply(slow, function(e) e * e + e)), sum(y))
    }
  }
  expect_identical(kind(f(30L), ffi_type("f64", 4096)), "module @xlaffi_rows")
  expect_identical(kind(f(30L), ffi_type("f64", 4097)), "module @xlaffi_many")
  expect_identical(kind(f(2L), ffi_type("f64", 9)), "module @xlaffi_many")
  skip_without_plugin()
  x <- cos(1:9)
  expect_equal(turn_by_turn(xla_jit(f(30L))(x)), f(30L)(x), tolerance = 1e-14)
})

test_that("products and Hessians of long programs agree with R and with other programs", {
  skip_without_plugin()
  skip_unless_all()
  a <- matrix(sin(1:90000), 300) / 20
  product <- function(x) {
    for (i in 1:3) x <- tanh(a %*% x) + crossprod(a, x)
    sum(x^2)
  }
  small <- function(x) {
    y <- x[1]
    for (i in 1:5) y <- sin(y * x[2]) + x[3] / (1 + y^2)
    y
  }
  x <- cos(1:300)
  p <- c(0.4, 1.3, -0.7)
  run <- function() {
    list(
      xla_jit(product)(x), xla_grad(product)(x), xla_hessian(small)(p),
      xla_grad(function(p) sum(xla_hessian(small)(p)))(p)
    )
  }
  others <- run()
  local_long()
  long <- run()
  expect_equal(long, others, tolerance = 1e-11)
  expect_equal(long[[1]], product(x), tolerance = 1e-12)
  # Reverse mode of Hessians
  third <- vapply(1:3, function(i) {
    h <- replace(numeric(3), i, 1e-5)
    sum(xla_hessian(small)(p + h) - xla_hessian(small)(p - h)) / 2e-5
  }, 0)
  expect_equal(long[[4]], third, tolerance = 1e-7)
})

test_that("elements of each dtype keep their places in long programs", {
  skip_without_plugin()
  skip_unless_all()
  local_long(1L)
  places <- function(x) {
    y <- if (is.logical(x)) !x else x + x
    list(as.vector(y), aperm(y, c(2, 3, 1)), y[2, , ], matrix(y, 4)[-1, ], as.vector(x))
  }
  x <- array(1:12 * rep_len(c(1L, 0L, 0L, 1L, 1L), 12), c(2, 3, 2))
  for (name in type_state$dtypes$name) {
    data <- if (name == "pred") x > 0 else if (name %in% c("c64", "c128")) x + 0i else x
    expected <- lapply(places(data), function(y) as.integer(Re(y)))
    found <- lapply(xla_jit(places)(pjrt_buffer(data, name)), function(y) {
      y <- as_array(y)
      if (bit64::is.integer64(y)) as.integer(y) else as.integer(Re(y))
    })
    expect_identical(found, expected, label = name)
  }
})

test_that("a long loop over scalars gives what R gives", {
  skip_without_plugin()
  skip_unless_all()
  # By the digits of pi: turns that take what came as many turns before would be a loop of the program.
  digits <- utf8ToInt("3141592653589793238462643383279502884197") - utf8ToInt("0")
  loss <- function(p, y) {
    a <- 0
    v <- 10
    ll <- 0
    before <- list()
    for (i in seq_along(y)) {
      v <- v + exp(p[1])
      before[[i]] <- v
      f <- before[[max(1, i - digits[i])]] + exp(p[2])
      ll <- ll + log(f) + (y[i] - a)^2 / f
      a <- a + v / f * (y[i] - a)
      v <- v * (1 - v / f)
    }
    ll
  }
  y <- cumsum(sin(1:40))
  result <- xla_grad(loss, value = TRUE)(c(-0.3, 0.2), y)
  expect_match(xla_cache()$program[[1]], "@xlaffi_scalars", fixed = TRUE)
  expect_equal(result$value, loss(c(-0.3, 0.2), y), tolerance = 1e-13)
  slope <- c(loss(c(-0.3 + 1e-5, 0.2), y) - loss(c(-0.3 - 1e-5, 0.2), y), loss(c(-0.3, 0.2 + 1e-5), y) -
    loss(c(-0.3, 0.2 - 1e-5), y)) / 2e-5
  expect_equal(result$gradient, slope, tolerance = 1e-8)
})

test_that("constants of long programs, small and large", {
  skip_without_plugin()
  local_long()
  small <- c(0.5, 1.5, 2.5)
  large <- sin(1:600)
  f <- function(x) {
    y <- x * small
    for (i in 1:6) y <- sin(y * small) + rev(small)
    z <- sum(y) * large
    for (i in 1:6) z <- cos(z * large) + large / 2
    list(y, small + 0, sum(z), z)
  }
  x <- c(1, 2, 3)
  expect_equal(xla_jit(f)(x), f(x), tolerance = 1e-12)
  exported <- pjrt_execute(pjrt_compile(pjrt_program(xla_program(f, x))), pjrt_buffer(x, "f64"))
  expect_equal(lapply(exported, function(y) as.vector(as_array(y))), f(x), tolerance = 1e-12)
})
