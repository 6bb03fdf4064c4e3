# The checks that an op fails, those of one type only
failing <- function(op, ...) {
  table <- ffi_check(op, ..., dtypes = "f64")$table
  table$check[table$ok %in% FALSE]
}

kepler_call <- function(M, e) {
  hlo_custom_call("kepler", list(M, e), list(sin = M, cos = M), vmap_method = "broadcast_all")
}

at <- list(M = c(0.3, 1.2), e = c(0.1, 0.5))

test_that("what is right passes, in both precisions and to the second order", {
  skip_without_plugin()
  reverse <- function(primals, results, cotangents) {
    by_m <- (results$cos * cotangents$sin - results$sin * cotangents$cos) / (1 - primals$e * results$cos)
    list(M = by_m, e = by_m * results$sin)
  }
  anomaly <- ffi_op(kepler_call, jvp = xlaffi:::kepler_jvp, vjp = reverse, name = "anomaly")
  out <- ffi_check(anomaly, M = at$M, e = at$e, second_order = TRUE)
  expect_true(out$ok)
  expect_true(all(out$table$ok))
  expect_identical(unique(out$table$dtype), c("f64", "f32"))
  expect_snapshot(out$table$check[out$table$dtype == "f64"])
  skip_unless_all()
  expect_true(ffi_check(function(a, b) solve(a, b), matrix(c(4, 1, 1, 3), 2), c(1, 2), dtypes = "f64")$ok)
  nested <- function(data, k) list(Re(data$z * Conj(data$z)), list(k + 1L))
  expect_true(all(ffi_check(nested, list(z = c(1 + 2i, 3 - 1i)), 1:2, second_order = TRUE)$table$ok))
  expect_true(ffi_check(hlo_atan2, y = ffi_type("f32", c(2, 3)), x = ffi_type("f32", c(2, 3)))$ok)
  # No data that have derivatives
  expect_identical(ffi_check(function(k) k + 1L, 1:3)$table$check, c("value", "vmap by all"))
})

test_that("wrong rules are found: signs, factors, arguments, conjugates", {
  skip_without_plugin()
  square <- function(...) ffi_op(function(x, y) x * x * y, ..., name = "square")
  by_jvp <- function(f) {
    failing(square(jvp = function(primals, results, tangents) f(primals$x, primals$y, tangents)), 2, 3)
  }
  right <- function(x, y, t) hlo_add(if (!is.null(t$x)) 2 * x * y * t$x, if (!is.null(t$y)) x * x * t$y)
  expect_identical(by_jvp(right), character())
  expect_identical(by_jvp(function(x, y, t) -right(x, y, t)), c("jvp by x", "jvp by y", "jvp by all"))
  expect_identical(
    by_jvp(function(x, y, t) hlo_add(if (!is.null(t$x)) x * y * t$x, if (!is.null(t$y)) x * x * t$y)),
    c("jvp by x", "jvp by all")
  )
  # A rule that takes NULL for a value
  expect_identical(by_jvp(function(x, y, t) 2 * x * y * t$x + x * x * t$y)[1:2], c("jvp by x", "jvp by y"))
  skip_unless_all()
  by_vjp <- function(rule) {
    failing(square(jvp = function(primals, results, tangents) with(primals, right(x, y, tangents)), vjp = rule), 2, 3)
  }
  expect_identical(
    by_vjp(function(primals, results, cotangents) with(primals, list(2 * x * y * cotangents, -x * x * cotangents))),
    c("vjp by y", "vjp by all")
  )
  wrong_shape <- function(primals, results, cotangents) list(x = hlo_broadcast(cotangents, c(2, 1), 2))
  expect_identical(by_vjp(wrong_shape), c("vjp by x", "vjp by y", "vjp by all", "vmap of vjp"))
  # An op that has only a wrong rule for reverse mode
  expect_identical(
    failing(square(vjp = function(primals, results, cotangents) list(primals$x * cotangents, NULL)), 2, 3),
    c("jvp by x", "jvp by y", "jvp by all")
  )
  conjugate <- ffi_op(hlo_conj, jvp = function(primals, results, tangents) tangents$x, name = "conjugate")
  expect_identical(failing(conjugate, c(1 + 2i, 2 - 1i)), "jvp by x")
})

test_that("results that nobody counts on are checked alone", {
  skip_without_plugin()
  op <- ffi_op(function(x) list(a = x * x, b = 3 * x),
    jvp = function(primals, results, tangents) list(2 * primals$x * tangents$x, 3 * tangents$x),
    vjp = function(primals, results, cotangents) list(2 * primals$x * cotangents$a), name = "two"
  )
  expect_identical(failing(op, c(1, 2)), c("vjp by x", "vjp of result 2"))
})

test_that("wrong batches are found, and wrong transposes", {
  skip_without_plugin()
  skip_unless_all()
  turned <- ffi_op(function(x) x * 2, name = "turned", vmap = function(arguments, axes, size) hlo_t(arguments$x) * 2)
  expect_identical(failing(turned, c(1, 2, 3)), "vmap by all")
  product <- function(transpose) {
    jvp <- function(primals, results, tangents) {
      hlo_add(
        if (!is.null(tangents$a)) hlo_matmul(tangents$a, primals$x),
        if (!is.null(tangents$x)) hlo_matmul(primals$a, tangents$x)
      )
    }
    ffi_op(function(a, x) hlo_matmul(a, x), name = "product", transpose = transpose, jvp = jvp)
  }
  a <- matrix(c(4, 1, 2, 3), 2)
  right <- function(primals, cotangents) {
    if (!is.null(primals$x)) {
      return(list(outer_of(cotangents, primals$x), NULL))
    }
    list(NULL, hlo_matmul(hlo_t(primals$a), cotangents))
  }
  outer_of <- function(x, y) hlo_matmul(hlo_reshape(x, c(2, 1)), hlo_reshape(y, c(1, 2)))
  expect_identical(failing(product(right), a, c(1, 2)), character())
  table <- ffi_check(product(right), a, c(1, 2), dtypes = "f64")$table
  expect_identical(grep("transpose", table$check, value = TRUE), c("transpose by a", "transpose by x"))
  wrong <- function(primals, cotangents) {
    if (is.null(primals$x)) list(NULL, hlo_matmul(primals$a, cotangents)) else right(primals, cotangents)
  }
  expect_true("transpose by x" %in% failing(product(wrong), a, c(1, 2)))
})

test_that("NaN, kinks and missing rules are told, and do not count as wrong", {
  skip_without_plugin()
  expect_snapshot({
    table <- ffi_check(sqrt, c(-1, 4), dtypes = "f64")$table
    table[, c("check", "ok", "note")]
    kink <- ffi_op(abs, jvp = function(primals, results, tangents) tangents[[1]], name = "kink")
    table <- ffi_check(kink, c(0, 1), dtypes = "f64")$table
    table[, c("check", "ok", "note")]
    table <- ffi_check(ffi_op(kepler_call, name = "anomaly"), 1, 0.5, dtypes = "f64")$table
    table[, c("check", "ok", "note")]
  })
})

test_that("a type that the op does not take is told where it takes another", {
  skip_without_plugin()
  only_f64 <- function(x) {
    if (as.character(dtype(x)) != "f64") stop("only f64")
    x * 2
  }
  out <- ffi_check(only_f64, 1)
  expect_true(out$ok)
  expect_identical(out$table[out$table$dtype == "f32", "note"], "only f64")
  expect_false(ffi_check(only_f64, 1, dtypes = "f32")$ok)
})

test_that("the session's random numbers stay where they are", {
  skip_without_plugin()
  withr::defer(RNGkind("default"))
  set.seed(1, "Wichmann-Hill")
  before <- .Random.seed
  first <- ffi_check(sin, ffi_type("f64", 2))
  expect_identical(.Random.seed, before)
  expect_identical(ffi_check(sin, ffi_type("f64", 2)), first)
  rm(".Random.seed", envir = globalenv())
  ffi_check(sin, ffi_type("f64", 2))
  expect_false(exists(".Random.seed", globalenv()))
})

test_that("what is found is printed, or an error", {
  skip_without_plugin()
  rule <- function(primals, results, tangents) -primals$x * tangents$x
  wrong <- ffi_op(function(x) x * x, jvp = rule, name = "wrong")
  exact <- function(lines) gsub("[0-9.]+e-[0-9]+", "<small>", lines)
  expect_snapshot(ffi_check(wrong, 2, dtypes = "f64"), transform = exact)
  expect_snapshot(error = TRUE, {
    ffi_check(wrong, 2, dtypes = "f64", stop_on_failure = TRUE)
    ffi_check(1)
    ffi_check(wrong)
    ffi_check(wrong, "a")
    ffi_check(wrong, y = 2)
    ffi_check(wrong, 2, dtypes = "i32")
    ffi_check(wrong, 2, batch = 0)
    ffi_check(wrong, 2, tolerance = "a")
  })
})
