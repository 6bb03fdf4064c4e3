languages <- c("c", "c++", "fortran", "rust")
ops <- list()
op_in <- function(language) {
  skip_without_compiler(language)
  if (is.null(ops[[language]])) {
    ops[[language]] <<- rms_norm(language)
  }
  ops[[language]]
}

test_that("rms_norm is the same in every language, alone and in batches", {
  set.seed(1)
  x <- matrix(rnorm(40), 5)
  expected <- rms_norm_expected(x)
  for (language in languages) {
    op <- op_in(language)
    f64 <- as_array(op(pjrt_buffer(x, "f64")))
    expect_equal(f64, expected, tolerance = 4 * .Machine$double.eps)
    expect_equal(as_array(op(pjrt_buffer(x, "f32"))), expected, tolerance = 1e-6)
    # Each batch element is what it is alone.
    alone <- t(vapply(1:5, function(i) as.vector(as_array(op(pjrt_buffer(x[i, ], "f64")))), numeric(8)))
    expect_identical(alone, f64)
    expect_equal(as_array(xla_vmap(op)(pjrt_buffer(x, "f64"))), f64)
    expect_equal(as_array(op(pjrt_buffer(x, "f64"), eps = 0.5)), rms_norm_expected(x, 0.5))
  }
})

test_that("a rule in R gives rms_norm its gradient in every language, for batches too", {
  rule <- function(primals, results, tangents, attributes) {
    x <- primals$x
    scale <- 1 / sqrt(mean(x^2) + attributes$eps)
    scale * tangents$x - x * (scale^3 * mean(x * tangents$x))
  }
  x <- c(1, -2, 3, 0.5)
  weights <- c(1, 2, -1, 3)
  eps <- 1e-2
  norm <- sqrt(mean(x^2) + eps)
  expected <- weights / norm - x * sum(weights * x) / (4 * norm^3)
  for (language in languages) {
    skip_without_compiler(language)
    op <- rms_norm(language, jvp = rule)
    f <- function(x) sum(op(x, eps = eps) * weights)
    found <- xla_grad(f)(pjrt_buffer(x, "f64"))
    expect_equal(as.vector(as_array(found)), expected, tolerance = 1e-12)
    both <- as_array(xla_vmap(xla_grad(f))(pjrt_buffer(rbind(x, 2 * x), "f64")))
    expect_equal(both[1, ], expected, tolerance = 1e-12)
  }
})

test_that("mixed dtypes give the wider one", {
  skip_unless_all()
  code <- list(
    c = "for (int64_t i = 0; i < n; i++) z[i] = (double) x[i] * y[i];",
    "c++" = "for (int64_t i = 0; i < n; i++) z[i] = static_cast<double>(x[i]) * y[i];",
    fortran = "z = real(x, c_double) * y",
    rust = "for i in 0..n { z[i] = (x[i] as f64 * y[i] as f64) as _; }"
  )
  for (language in languages) {
    skip_without_compiler(language)
    op <- ffi_source("x: T[n], y: U[n] -> z: wider(T, U)[n]", code[[language]], language)
    for (t in c("f32", "f64")) {
      for (u in c("f32", "f64")) {
        z <- op(pjrt_buffer(c(1.5, 2), t), pjrt_buffer(c(2, 0.25), u))
        expect_identical(as.character(dtype(z)), if (t == u) t else "f64")
        expect_identical(as_array(z), array(c(3, 0.5)))
      }
    }
  }
})

test_that("exceptions and panics become errors", {
  skip_without_compiler("rust")
  code <- c("if (n > 2) throw std::runtime_error(\"too many\");", "if (n > 1) throw 1;", "z[0] = 1;")
  boom <- ffi_source("x: f64[n] -> z: f64[n]", code, "c++", name = "boom", support = "#include <stdexcept>"
  )
  error <- error_of(boom(c(1, 2, 3)))
  expect_match(conditionMessage(error), "boom: too many")
  expect_s3_class(error, "xlaffi_error_internal")
  expect_match(conditionMessage(error_of(boom(c(1, 2)))), "no std::exception")
  expect_equal(boom(1), 1)
  bang <- ffi_source("x: f64[n] -> z: f64[n]", c(
    "if n == 2 { return Err(\"two\".into()); }",
    "if n == 3 { fail!(\"n is {n}\"); }",
    "let number: f64 = if n == 4 { \"four\".parse()? } else { 1.0 };",
    "z[n / 5] = number;"
  ), "rust", name = "bang")
  expect_equal(bang(1), 1)
  expect_match(conditionMessage(error_of(bang(1:2 + 0))), "bang: two")
  expect_match(conditionMessage(error_of(bang(1:3 + 0))), "bang: n is 3")
  expect_match(conditionMessage(error_of(bang(1:4 + 0))), "invalid float")
  panic <- ffi_source("x: f64[n] -> z: f64[n]", "\nz[n] = x[0];", "rust", name = "panic")
  error <- error_of(panic(1))
  expect_match(conditionMessage(error), "panic at panic.rs:2: index out of bounds", fixed = TRUE)
  expect_s3_class(error, "xlaffi_error_internal")
})

test_that("Rust bodies see attributes, optional, repeated and scratch arrays", {
  skip_unless_all()
  skip_without_compiler("rust")
  op <- ffi_source(
    paste(
      "a: f64[m, n] column, w: f64[m]?; alpha: f64 = 2, lags: i64[p], mode: str = \"plain\", wide: i64 = 1",
      "-> s: f64[m]; row: f64[max(m, n) + wide]"
    ),
    c(
      "if mode != \"plain\" { fail!(\"mode is {mode}\"); }",
      "if row.len() != m.max(n) + wide as usize { fail!(\"scratch\") }",
      "for i in 0..m {",
      "  row[i] = (0..n).map(|j| a[i + m * j]).sum();",
      "  s[i] = alpha * row[i] * w.map_or(1.0, |w| w[i]) + lags[p - 1] as f64;",
      "}"
    ),
    "rust"
  )
  a <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  expect_equal(op(a, lags = c(1, 7)), 2 * rowSums(a) + 7)
  expect_equal(op(a, c(1, 10), lags = 0, alpha = 1), rowSums(a) * c(1, 10))
  expect_match(conditionMessage(error_of(op(a, lags = 1, mode = "other"))), "mode is other")
  all <- ffi_source("xs: f64[n]*k -> ys: f64[n]*k", c(
    "for (j, (x, y)) in xs.iter().zip(ys.iter_mut()).enumerate() {",
    "  for i in 0..n { y[i] = x[i] + j as f64; }",
    "}"
  ), "rust")
  expect_equal(unlist(all(c(1, 2), c(3, 4))), c(1, 2, 4, 5), ignore_attr = TRUE)
})

test_that("Rust bodies use crates", {
  skip_unless_all()
  skip_without_compiler("rust")
  skip_if(is.null(xlaffi:::program_file("cargo")), "no cargo")
  crate <- withr::local_tempdir()
  dir.create(file.path(crate, "src"))
  manifest <- c("[package]", "name = \"thrice\"", "version = \"0.1.0\"", "edition = \"2021\"")
  writeLines(manifest, file.path(crate, "Cargo.toml"))
  make <- function(factor) {
    writeLines(sprintf("pub fn thrice(x: f64) -> f64 { %s * x }", factor), file.path(crate, "src", "lib.rs"))
    ffi_source("x: f64[] -> z: f64[]", "*z = thrice::thrice(*x);", "rust",
      name = "thrice", dependencies = c(thrice = sprintf("{ path = \"%s\" }", crate))
    )
  }
  withr::local_envvar(CARGO_NET_OFFLINE = "true")
  expect_equal(make("3.0")(2), 6)
  expect_equal(make("4.0")(2), 8)
})

test_that("Fortran bodies see attributes, optional and scratch arrays, modules, and whole subroutines are called", {
  skip_unless_all()
  skip_without_compiler("fortran")
  op <- ffi_source(
    paste(
      "a: f64[m, n] column, b: f64[m, n], w: f64[m]?; alpha: f64 = 2, lags: i64[p], mode: str = \"plain\"",
      "-> s: f64[m]; row: f64[2*m]"
    ),
    c(
      "integer(c_int64_t) :: i",
      "if (mode /= 'plain') then",
      "  call fail('mode is ' // mode)",
      "  return",
      "end if",
      "do i = 1, m",
      "  row(m + i) = sum(a(i, :)) + factor * sum(b(:, i))",
      "  s(i) = alpha * row(m + i) + lags(p)",
      "  if (present(w)) s(i) = s(i) * w(i)",
      "end do"
    ),
    "fortran",
    support = c("module constants", "  real(8), parameter :: factor = 100", "end module")
  )
  a <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  expect_equal(op(a, a, lags = c(1, 7)), 2 * 101 * rowSums(a) + 7)
  expect_equal(op(a, a, c(1, 10), lags = 0, alpha = 1), 101 * rowSums(a) * c(1, 10))
  expect_match(conditionMessage(error_of(op(a, a, lags = 1, mode = "other"))), "mode is other")
  whole <- ffi_source("x: f64[n], y: f64[] -> z: f64[n]", c(
    "subroutine times(n, x, y, z)",
    "  use iso_c_binding",
    "  integer(c_int64_t) :: n",
    "  real(c_double) :: x(n), y, z(n)",
    "  z = x * y",
    "end subroutine"
  ), "fortran")
  expect_equal(whole(c(1, 2), 3), c(3, 6))
})
