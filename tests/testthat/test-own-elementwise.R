test_that("one string makes an op of arrays that broadcast", {
  skip_without_plugin()
  skip_without_compiler("c")
  square <- ffi_elementwise("x: T, y: T -> z: T", "z = (x - y) * (x - y)", name = "test_square")
  expect_snapshot(square)
  expect_identical(square(c(1, 2, 3), 1), c(0, 1, 4))
  expect_identical(square(2, 1), 1)
  expect_identical(square(c(1, 2, 3), c(1, 1, 2)), c(0, 1, 1))
  expect_identical(square(numeric(), 1), numeric())
  set.seed(1)
  wide <- matrix(rnorm(400), 4)
  tall <- t(wide)
  row <- matrix(rnorm(100), 1)
  column <- matrix(rnorm(4), 4)
  cube <- array(rnorm(2 * 4 * 100), c(2, 4, 100))
  expect_identical(square(wide, row), (wide - rep(row, each = 4))^2)
  expect_identical(square(row, wide), (wide - rep(row, each = 4))^2)
  expect_identical(square(wide, column), (wide - as.vector(column))^2)
  expect_identical(square(tall, t(column)), (tall - rep(column, each = 100))^2)
  expect_identical(square(column, row), outer(as.vector(column), as.vector(row), "-")^2)
  expect_identical(square(cube, wide), (cube - rep(wide, each = 2))^2)
  expect_identical(square(cube, as.vector(row)), (cube - rep(row, each = 8))^2)
  expect_identical(square(cube, 2), (cube - 2)^2)
  expect_identical(dim(square(array(0, c(3, 0, 2)), matrix(0, 1, 2))), c(3L, 0L, 2L))
  # Long enough for threads, with a length that can be cut and one that cannot
  for (n in c(2^20, 1048573)) {
    x <- seq_len(n) / n
    expect_identical(square(x, 0.5), (x - 0.5)^2)
  }
  f32 <- square(pjrt_buffer(c(1, 2), "f32"), 3)
  expect_identical(as.character(dtype(f32)), "f32")
  expect_identical(as.vector(as_array(f32)), c(4, 1))
})

test_that("expressions mean what R means by them", {
  skip_without_plugin()
  skip_unless_all()
  skip_without_compiler("c")
  x <- c(-2.5, -1, 0, 0.5, 1.5, 2.5, 3)
  y <- c(2, -3, 0.5, 4, 1, -2, 1.5)
  texts <- c(
    "x^2 + y**3", "-x^2", "1/2 * x", "2^y", "abs(x)^y", "ifelse(x > y, x, y / 3)", "if (x > 0) x else -x",
    "pmin(x, y) - pmax(x, 1)", "round(x)", "ceiling(x) + floor(y) + trunc(x)", "sign(x) * abs(y)",
    "exp(x) * log1p(abs(y))", "atan2(x, y) + tanh(x) * pi", "(x < 0 & y > 0) | !(x == 0)", "sqrt(x^2 + y^2) - 1e-3",
    "pmax(pmin(x, 1), pmin(y, 2))"
  )
  # Each is a result of one op.
  results <- paste0("z", seq_along(texts))
  signature <- sprintf("x: T, y: T -> %s", toString(paste0(results, ": T")))
  statements <- paste(results, "=", texts)
  found <- ffi_elementwise(signature, statements)(x, y)
  # The derivatives' expressions in XLA's operations are the same ones.
  calls <- xlaffi:::elementwise_code(statements, xlaffi:::read_signature(signature), list(), "op")$calls
  values <- xla_jit(function(x, y) {
    lapply(mget(results, xlaffi:::value_statements(calls, list(x = x, y = y))), hlo_convert, "f64")
  })(x, y)
  for (i in seq_along(texts)) {
    want <- eval(str2lang(gsub("if \\((.*)\\) (.*) else (.*)", "ifelse(\\1, \\2, \\3)", texts[[i]])))
    expect_equal(found[[i]], as.numeric(want), tolerance = 1e-14, info = texts[[i]])
    expect_equal(values[[i]], as.numeric(want), tolerance = 1e-14, info = texts[[i]])
  }
  # In C these are a logarithm and an exponent.
  named <- ffi_elementwise("x: T -> g: T, l: T", c("g = gamma(x)", "l = logb(x)"))
  expect_equal(named(c(0.5, 4)), list(g = gamma(c(0.5, 4)), l = log(c(0.5, 4))), tolerance = 1e-14)
  small <- ffi_elementwise("x: T, y: T -> lo: T, hi: T, s: T", c("lo = pmin(x, y)", "hi = pmax(x, y)", "s = sign(x)"))
  expect_identical(small(c(NaN, 1), c(1, NaN)), list(lo = c(NaN, NaN), hi = c(NaN, NaN), s = c(NaN, 1)))
})

test_that("several results, variables, attributes and dtypes side by side", {
  skip_without_plugin()
  skip_without_compiler("c")
  both <- ffi_elementwise("x: T, k: i32; by: f64 = 2 -> z: T, n: i32, big: pred", "
    d = x * k
    d = d * by; z = d / 4
    n = k * 3L; big = z > 2", name = "test_both")
  expect_identical(both(c(1, 2.5), 3:4), list(z = c(1.5, 5), n = c(9L, 12L), big = c(FALSE, TRUE)))
  expect_identical(both(c(1, 2.5), 3:4, by = 4)$z, c(3, 10))
  wide <- ffi_elementwise("x: T, y: U -> z: wider(T, U)", "z = x + y")
  out <- wide(pjrt_buffer(1, "f32"), pjrt_buffer(0.1, "f64"))
  expect_identical(as.character(dtype(out)), "f64")
  expect_identical(as.vector(as_array(out)), 1.1)
  whole <- ffi_elementwise("x: i32 -> z: i32, half: f64, power: f64", c("z = x * x", "half = x / 2L", "power = x^2"))
  expect_identical(whole(c(3L, 100000L)), list(z = c(9L, 1410065408L), half = c(1.5, 5e4), power = c(9, 1e10)))
  complex <- ffi_elementwise("x: T -> z: T, size: real(T), part: real(T)", c(
    "z = Conj(x) * x^2", "size = abs(x)", "part = Re(z) + Im(x) * Mod(x)"
  ), dtypes = list(T = c("f64", "c128")))
  expect_equal(complex(3 + 4i), list(z = 75 + 100i, size = 5, part = 95))
  expect_equal(complex(-2), list(z = -8, size = 2, part = -8))
  slope <- xla_grad(function(x) sum(complex(hlo_complex(x, 2 * x))$part))
  # 5 x^3 and 2 x times sqrt(5) x
  expect_equal(as.vector(slope(3)), 15 * 9 + 4 * sqrt(5) * 3)
  expect_snapshot(error = TRUE, ffi_elementwise("x: c128 -> z: f64", "y = x * x; z = y + 1", name = "real"))
  # An operand may have the name of a constant or of what the loop uses.
  names <- ffi_elementwise("pi: T, n: T, i: T -> z: T", "z = pi + n * i")
  expect_identical(names(1, 2, 3), 7)
})

test_that("derivatives are those of the expression, also of batches", {
  skip_without_plugin()
  skip_without_compiler("c")
  huber <- ffi_elementwise("x: T, s: T; delta: f64 = 1 -> z: T, d: T", c(
    "u = x * s", "z = ifelse(abs(u) < delta, u^2 / 2, delta * (abs(u) - delta / 2))", "d = exp(-u) / (1 + s^2)"
  ))
  x <- c(-3, 0.5, 2)
  expect_true(all(ffi_check(huber, x, 1.5, second_order = all_run())$table$ok))
  slope <- xla_grad(function(x) sum(huber(x, 1)$z))(x)
  expect_equal(as.vector(slope), c(-1, 0.5, 1))
  skip_unless_all()
  mixed <- ffi_elementwise("x: f32, y: f64, k: i32 -> z: f64", "z = x * y / k + sqrt(y) * k")
  expect_true(ffi_check(mixed, pjrt_buffer(c(1, 2), "f32"), c(1.5, 2), 1:2)$ok)
  # Attributes that a rule of the user's is told
  rule <- function(primals, results, tangents, attributes) list(attributes$a * tangents$x)
  own <- ffi_elementwise("x: T; a: f64 = 2 -> z: T", "z = a * x", jvp = rule)
  expect_true(all(ffi_check(own, x, a = 3)$table$ok))
  expect_true(all(ffi_check(own, x)$table$ok))
  expect_true(all(ffi_check(huber, matrix(c(x, 1, 4, -1), 2), c(1, 2, 0.3), delta = 2.2)$table$ok))
  reverse <- function(primals, results, cotangents) list(2 * primals$x * cotangents)
  expect_true(all(ffi_check(ffi_elementwise("x: T -> z: T", "z = x^2", vjp = reverse), x)$table$ok))
})

test_that("C that R cannot read, and functions that only C has, have no derivatives of their own", {
  skip_without_plugin()
  skip_without_compiler("c")
  plain <- ffi_elementwise("x: T -> z: T", "z = x > 0 ? x : 0; // abs(x)", name = "test_relu")
  expect_identical(plain(c(-1, 2)), c(0, 2))
  otherwise <- ffi_elementwise("x: T -> z: T", "z = x > 0 ? tgamma(x) + lgamma(x) + rint(x) * 1/2 : fabs(x * 1.5 / 2)")
  x <- c(2.5, 3.5)
  expect_equal(otherwise(c(x, -2)), c(gamma(x) + lgamma(x) + round(x) / 2, 1.5), tolerance = 1e-14)
  known <- ffi_elementwise("x: T -> z: T", "z = lgamma(x) + erf(x) * tgamma(x) - pmin(erfc(x), Inf)")
  expect_true(all(ffi_check(known, c(0.5, 2.5))$table$ok))
  erf <- ffi_elementwise("x: T -> z: T", "z = erf(x) + twice(x)",
    support = "static double twice(double x) { return 2 * x; }", name = "test_erf"
  )
  expect_equal(erf(0.5), 2 * stats::pnorm(0.5 * sqrt(2)), tolerance = 1e-14)
  expect_snapshot(error = TRUE, {
    xla_jvp(plain)(1, 1)
    xla_jvp(erf)(1, 1)
  })
})

test_that("scalars within programs and batches are elements", {
  skip_without_plugin()
  skip_without_compiler("c")
  square <- ffi_elementwise("x: f64 -> z: f64", "z = x^2")
  times <- ffi_elementwise("x: f64, y: f64 -> z: f64", "z = x * y")
  expect_identical(xla_jit(function(x) square(sum(x)))(c(1, 2)), 9)
  expect_identical(as_array(square(pjrt_scalar(2, "f64"))), 4)
  expect_identical(xla_vmap(square)(c(1, 2)), c(1, 4))
  expect_identical(xla_vmap(xla_grad(function(x) square(x)))(c(1, 2)), c(2, 4))
  expect_identical(as.vector(xla_vmap(times, in_axes = list(1, NULL))(c(1, 2), 3)), c(3, 6))
  expect_identical(xla_vmap(xla_vmap(times))(diag(2), diag(2)), diag(2))
})

test_that("signed and unsigned integers are compared and added as numbers", {
  skip_without_plugin()
  skip_without_compiler("c")
  signs <- ffi_elementwise("x: i32, y: ui32 -> less: pred, low: f64, either: f64, sum: f64, product: i32", c(
    "less = x < y", "low = pmin(x, y)", "either = ifelse(x < y, x, y)", "sum = x + y", "product = x * y"
  ))
  found <- lapply(signs(pjrt_buffer(c(-1L, -5L), "i32"), pjrt_buffer(c(1L, 1L), "ui32")), as_array)
  expect_identical(lapply(found, as.vector), list(
    less = c(TRUE, TRUE), low = c(-1, -5), either = c(-1, -5), sum = c(0, -4), product = c(-1L, -5L)
  ))
  above <- ffi_elementwise("x: ui32 -> z: pred", "z = x > -1L")
  expect_identical(as.vector(as_array(above(pjrt_buffer(1L, "ui32")))), TRUE)
})

test_that("what ifelse() does not choose has no derivatives, and names are the expression's own", {
  skip_without_plugin()
  skip_without_compiler("c")
  logs <- ffi_elementwise("x: f64 -> z: f64", "z = ifelse(x > 0, x * log(x), 2 * x)")
  expect_identical(xla_grad(logs)(0), 2)
  expect_equal(xla_grad(function(x) sum(logs(x)))(c(0, 1, -1)), c(2, 1, 2))
  expect_identical(ffi_elementwise("x: f64 -> z: f64", "pi = x * 2; z = pi + 1")(3), 7)
  # A number beside a buffer has the signature's dtype.
  wide <- ffi_elementwise("x: f32, k: f64 -> z: f64", "z = x * k")
  expect_identical(as.vector(as_array(wide(pjrt_buffer(1, "f32"), 1 / 3))), 1 / 3)
  whole <- ffi_elementwise("x: f32, k: i32 -> z: f64", "z = k / 1L")
  for (i in 1:2) expect_identical(as.vector(as_array(whole(pjrt_buffer(1, "f32"), 16777217))), 16777217)
})

test_that("values and slopes are of the same types", {
  skip_without_plugin()
  skip_unless_all()
  skip_without_compiler("c")
  # Each is linear in x: at 1 its value is its slope.
  signature <- "x: f64, k: i32, a: i8, b: ui8, c: ui8, u: ui32; s: ui32, t: ui32, w: i64 -> "
  statements <- list(
    c("d = 0L; d = d + k / 2L; z1 = x * d", 1.5), c("e = x; e = e * k; e = e + e; z2 = e / k", 2),
    c("n3 = 2.7; z3 = x * n3", 2), c("y4 = k; z4 = x * y4", 1), c("z5 = x * (b - c)", -20), c("z6 = x * (b + c)", 220),
    c("z7 = x * (s - t)", 4294967295), c("z8 = x * (w + w)", 6e9), c("z9 = M_PI * x / M_E", pi / exp(1)),
    c("z10 = x * abs(a) * abs(a)", 16384), c("z11 = x * (-a)", 128), c("z12 = x * (u - 3L)", -2),
    c("z13 = x * (a + b)", -28),
    c("z16 = x * pmax(b > c, c > b)", 1), c("z14 = ifelse(b < c, x, 2 * x)", 1), c("z15 = x * (b * b)", 1e4)
  )
  names <- sub(".*(z[0-9]+) = .*", "\\1", vapply(statements, `[[`, "", 1))
  results <- c(paste0(names, ": f64"), "n3: i32", "y4: pred")
  op <- ffi_elementwise(paste0(signature, toString(results)), vapply(statements, `[[`, "", 1))
  whole <- Map(pjrt_buffer, c(3L, -128L, 100L, 120L, 1L), c("i32", "i8", "ui8", "ui8", "ui32"))
  wide <- bit64::as.integer64("3000000000")
  run <- function(x, k, a, b, c, u) op(x, k, a, b, c, u, s = 1L, t = 2L, w = wide)[names]
  change <- function(x, ...) xla_jvp(function(x) run(x, ...))(x, 1)
  found <- do.call(xla_jit(change), c(list(pjrt_buffer(1, "f64")), whole))
  expected <- lapply(stats::setNames(statements, names), function(one) as.numeric(one[[2]]))
  expect_equal(lapply(found$value, function(z) as.vector(as_array(z))), expected)
  expect_equal(lapply(found$tangent, function(z) as.vector(as_array(z))), expected)
  choice <- "z = if (flag & k > 2L) x else ifelse(flag, 2, 3) * x"
  chosen <- ffi_elementwise("x: f64; flag: pred, k: i32 -> z: f64", choice)
  expect_identical(xla_grad(function(x) sum(chosen(x, flag = TRUE, k = 2L)))(c(1, 5)), c(2, 2))
  other <- ffi_elementwise("x: f64 -> z: f64", "z = TWO * x", support = "#define TWO 2", name = "other")
  expect_identical(other(3), 6)
  expect_snapshot(error = TRUE, xla_grad(other)(3))
})

test_that("what is no elementwise op is told", {
  skip_without_plugin()
  skip_without_compiler("c")
  make <- function(signature, expression, ...) ffi_elementwise(signature, expression, name = "op", ...)
  expect_snapshot(error = TRUE, {
    make("x: T[n] -> z: T[n]", "z = x")
    make("x: T -> x: T", "x = 2 * x")
    make("x: T -> z: T; work: T[3]", "z = x")
    make("x: T -> z: T", "y = x")
    make("x: T -> z: T", "z = x; x = 2")
    make("x: T -> z: T", "")
    make("x: T -> z: T", "z = x > 0 ? x^2 : 0")
    make("x: T -> z: T", "z = x > 0 ? gamma(x) : 0")
    make("x: T -> z: T", "z = x > 0 ? fabs(x) + abs (x) : 0")
    make("x: T -> z: T", "z = x > 0 ? logb(x) : 0")
    make("x: T -> z: T", "z = x > 0 ? round(x) : 0")
    make("x: T -> z: T", "z = x > 0 ? x : (1/2) * x")
    make("x: T -> z: T", "z = x <- 3")
    make("x: T -> z: T", "z = x %% 2")
    make("x: T -> z: T", "z = 1 + log(x, 2)")
    make("x: T -> z: T", "z = pmax(x, 0, 1)")
    make("x: T -> z: T", "z = is.na(x)")
    make("x: T -> z: T", "z = ifelse(x > 0, x, NA)")
    make("x: T, y: T -> z: T", "z = atan2(x = x, y = y)")
    make("Inf: f64 -> z: f64", "z = Inf * 2")
    make("M_PI: f64 -> z: f64", "z = M_PI * 2")
    make("complex: f64 -> z: f64", "z = complex * 2")
    make("x: f64 -> z: f64", "z = x * 1i")
    make("x: T -> z: T", "z = x * '1'")
    make("x: i32, y: ui64 -> z: f64", "z = x + y")
    make("x: i32, y: T -> z: f64", "z = x + y", dtypes = list(T = c("ui32", "f64")))
    make("x: T -> z: T", "z = x", dtypes = list(T = "bf16"))
    make("x: T -> z: T", "z = x", jvp = 1)
    make("x: T, y: T -> z: T", "z = x + y")(c(1, 2, 3), c(1, 2))
    make("x: T, y: T -> z: T", "z = x + y")(1, w = 2)
    xla_program(make("x: T, y: T -> z: T", "z = x + y"), ffi_type("f32", c(65536, 1)), ffi_type("f32", c(1, 65536)))
  })
  expect_error(make("x: T -> z: T", "z = x + nowhere"), class = "xlaffi_error")
  expect_error(make("x: T -> z: T", "z = z + x"), class = "xlaffi_error")
})

test_that("what does not compile is told of the line of the expression", {
  skip_without_compiler("c")
  local_code_cache()
  message_of <- function(expression, ...) {
    error <- error_of(ffi_elementwise("x: T, y: T -> z: T", expression, name = "told", ...))
    # Compilers' own words differ.
    found <- regmatches(conditionMessage(error), regexpr("^told: line [0-9]+ of [^:]+", conditionMessage(error)))
    c(found, grep("^ +[0-9]+ [|] ", strsplit(conditionMessage(error), "\n")[[1L]], value = TRUE)[[1L]])
  }
  expect_identical(message_of("z = x + w"), c("told: line 1 of the expression", "    1 | z = x + w"))
  expect_identical(message_of("d = x - y\n\nz = d +\n  w"), c("told: line 3 of the expression", "    3 | z = d +"))
  in_c <- c("double d = x - y;", "z = d > w ? 1 : 0;")
  expect_identical(message_of(in_c), c("told: line 2 of the expression", "    2 | z = d > w ? 1 : 0;"))
  expect_identical(message_of("if (x > y) z = x;"), c("told: line 1 of the expression", "    1 | if (x > y) z = x;"))
  support <- c("static double f(double x) {", "  return u;", "}")
  expect_identical(message_of("z = f(x) + y", support = support), c("told: line 2 of `support`", "    2 |   return u;"))
})

test_that("whole numbers that overflow are refused", {
  skip_without_compiler("c")
  local_code_cache()
  error <- error_of(ffi_elementwise("x: i64 -> z: i64", "z = 100000L * 100000L + x", name = "over"))
  expect_match(conditionMessage(error), "line 1 of the expression: .*overflow")
  huge <- ffi_elementwise("x: T -> z: T", "z = x * 1e300", name = "huge")
  expect_identical(as.vector(huge(2)), 2e300)
  expect_identical(as.vector(as_array(huge(pjrt_buffer(2, "f32")))), Inf)
})
