lu_call <- function(...) {
  ffi_call("lu", function(a) list(lu = a, pivots = ffi_type("i32", c(utils::head(shape(a), -2), min(shape(a))))),
    operand_layouts = "column", result_layouts = "column", ...
  )
}

test_that("a handler is called with R data, buffers and values", {
  skip_without_plugin()
  a <- matrix(c(4, 2, 1, 3), 2)
  lu <- lu_call()
  expect_s3_class(lu, "xlaffi_op")
  out <- lu(a)
  expect_identical(names(out), c("lu", "pivots"))
  expect_identical(out$lu, matrix(c(4, 0.5, 1, 2.5), 2))
  expect_identical(out$pivots, 1:2)
  buffers <- lu(pjrt_buffer(a, "f32"))
  expect_s3_class(buffers$lu, "xlaffi_buffer")
  expect_identical(as_array(buffers$lu), out$lu)
  # Within a program of one's own
  det <- xla_jit(function(a) {
    factors <- lu(a)
    factors$lu[1, 1] * factors$lu[2, 2]
  })
  expect_equal(as.vector(det(a)), base::det(a))
})

test_that("results may be fixed types, a single one, or none", {
  skip_without_plugin()
  fixed <- ffi_call("kepler", list(ffi_type("f64", 2), ffi_type("f64", 2)))
  expect_equal(as.vector(fixed(c(0, 0), c(0, 0))[[2]]), c(1, 1))
  expect_identical(dim(ffi_type("f64", c(2, 3))), c(2L, 3L))
  expect_null(dim(ffi_type("f64")))
  expect_output(
    expect_null(ffi_call("print_tensor", list(), list(print_header = "here"), has_side_effect = TRUE)(1)),
    "here"
  )
})

test_that("layouts go by name or as permutations", {
  a <- ffi_type("f64", c(5, 2, 3))
  text <- function(...) {
    program <- xla_program(ffi_call("t", ffi_type("f64", c(5, 2, 3)), check_target = FALSE, ...), a)
    regmatches(program, gregexpr("operand_layouts = [^:]*", program))[[1]]
  }
  expect_identical(text(), text(operand_layouts = "row"))
  expect_match(text(), "[2, 1, 0]", fixed = TRUE)
  expect_match(text(operand_layouts = "column"), "[1, 2, 0]", fixed = TRUE)
  expect_match(text(operand_layouts = list(c(1, 2, 3))), "[0, 1, 2]", fixed = TRUE)
})

test_that("a result may take an operand's memory", {
  skip_without_plugin()
  lu <- lu_call(aliases = c(1, 1))
  expect_match(xla_program(lu, ffi_type("f64", c(2, 2))), "output_operand_aliases", fixed = TRUE)
  a <- pjrt_buffer(matrix(c(1, 2, 3, 4), 2), "f64")
  expect_identical(as_array(lu(a)$lu), matrix(c(2, 0.5, 4, 1), 2))
  expect_identical(as_array(a), matrix(c(1, 2, 3, 4), 2))
})

test_that("each signature is compiled once, and what is compiled can be seen and forgotten", {
  skip_without_plugin()
  # R data and buffers have clients of their own where the plugin in this package runs programs.
  clients <- if (identical(synchronous_device(), as_pjrt_device(NULL))) 1L else 2L
  forget_session()
  lu <- lu_call()
  a <- matrix(c(4, 2, 1, 3), 2)
  for (x in list(a, a + 1, pjrt_buffer(a, "f64"), pjrt_buffer(a, "f32"), diag(3))) lu(x)
  seen <- xla_cache()
  expect_identical(seen$name, rep("lu", 2L + clients))
  expect_identical(seen$arguments, c("f64(3, 3)", "f32(2, 2)", rep("f64(2, 2)", clients)))
  expect_match(seen$program, "custom_call @lu", fixed = TRUE)
  expect_identical(forget_session(), 2L + clients)
  expect_identical(nrow(xla_cache()), 0L)
  expect_length(ls(xlaffi:::jit_state$calls), 0)
  expect_identical(lu(a)$pivots, 1:2)
})

test_that("the cache is bounded: what was not used for longest goes", {
  skip_without_plugin()
  forget_session()
  withr::local_options(xlaffi.cache_size = 2)
  f <- xla_jit(function(x) x + 1)
  f(1)
  f(c(1, 2))
  f(1)
  f(c(1, 2, 3))
  expect_identical(xla_cache()$arguments, c("f64(3)", "f64(1)"))
  expect_identical(f(c(1, 2)), c(2, 3))
  expect_identical(xla_cache()$arguments, c("f64(2)", "f64(3)"))
  withr::local_options(xlaffi.cache_size = "many")
  expect_snapshot(error = TRUE, f(matrix(1)))
})

test_that("programs are forgotten where the process has much code in memory, the oldest first", {
  skip_without_plugin()
  forget_session()
  add <- function(n) eval(bquote(xla_jit(function(x) x + .(n))))
  functions <- lapply(1:4, add)
  for (f in functions) f(1)
  programs <- function() xla_cache()$name
  expect_length(programs(), 4L)
  expect_false(xlaffi:::make_room_for_code(NULL))
  expect_false(xlaffi:::make_room_for_code(list(count = 30000L, limit = 65530L)))
  expect_length(programs(), 4L)
  expect_true(xlaffi:::make_room_for_code(list(count = 40000L, limit = 65530L)))
  expect_length(programs(), 2L)
  # They are compiled again where they are called.
  expect_identical(vapply(functions, function(f) f(1), 0), c(2, 3, 4, 5))
  expect_length(programs(), 4L)
  if (file.exists("/proc/self/maps")) {
    maps <- .Call(xlaffi:::wrap__memory_maps)
    expect_gt(maps$count, 100L)
    expect_gt(maps$limit, maps$count)
  }
})

test_that("what is wrong is told before compiling, by name", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    ffi_call("keplr", ffi_type("f64"))(1)
    ffi_call("nothing like it", ffi_type("f64"))(1)
    ffi_call("", ffi_type("f64"))
    ffi_type("f64", 2^31)
    ffi_call("lu", "f64")
    ffi_call("lu", list(1))
    ffi_call("lu", function(a) stop("no"))(1)
    ffi_call("lu", function(a) 1)(1)
    ffi_call("lu", ffi_type("f64"), vmap_method = "loop")
    ffi_call("lu", ffi_type("f64"), has_side_effect = NA)
    ffi_call("lu", ffi_type("f64"), operand_layouts = "fast")(diag(2))
    ffi_call("lu", ffi_type("f64"), aliases = c(1, 1))(diag(2))
    ffi_call("lu", ffi_type("f64"))("a")
  })
})

test_that("what the handler refuses names the op and the operand", {
  skip_without_plugin()
  kepler <- ffi_call("kepler", function(M, e) list(sin = M, cos = M))
  expect_snapshot(error = TRUE, {
    kepler(c(1, 2), c(0.1, 0.2, 0.3))
    kepler(1L, 0L)
    kepler(1i, 0i)
    kepler(pjrt_buffer(1, "f32"), pjrt_buffer(1, "f64"))
    kepler(1)
    ffi_call("kepler", function(M, e) list(M))(1, 0.5)
    ffi_call("lu", function(a) list(a, ffi_type("f64", 2)))(diag(2))
    ffi_call("lu", function(a) list(a, ffi_type("i32", 3)))(diag(2))
  })
})

test_that("operands go by name where they have names", {
  skip_without_plugin()
  minus <- xla_jit(function(x, y) x - y)
  expect_identical(minus(y = 1, x = 3), 2)
  k <- ffi_call("kepler", function(M, e) list(sin = M, cos = M),
    jvp = function(primals, results, tangents) list(primals$e * tangents$M, tangents$M)
  )
  expect_identical(k(e = 0.3, M = 1), kepler(1, 0.3))
  expect_identical(k(0.3, M = 1), kepler(1, 0.3))
  expect_identical(xla_jvp(k)(list(e = 0.3, M = 1), list(e = NULL, M = 8))$tangent, list(sin = 0.3 * 8, cos = 8))
  expect_identical(xla_jit(function(x, y) k(e = x, M = y)$sin)(0.3, 1), kepler(1, 0.3)$sin)
  scalar <- ffi_type("f64", 1)
  own <- ffi_call("kepler", list(scalar, scalar))
  expect_identical(own(eccentricity = 0.3, 1), own(1, 0.3))
  pjrt_register_custom_call("test_unnamed", list(host = ffi_handler("kepler", "host")))
  unnamed <- ffi_call("test_unnamed", list(scalar, scalar))
  expect_identical(unnamed(1, 0.3), own(1, 0.3))
  op <- ffi_op(function(a, b) a - b, name = "minus")
  expect_snapshot(error = TRUE, {
    k(foo = 1, bar = 0.3)
    k(1, foo = 1)
    k(e = 1)
    k(1, NULL)
    k(1, e = list(NULL))
    k(1, 2, 3)
    own(foo = 1, 2)
    own(1, NULL)
    unnamed(a = 1, 2)
    op(1, c = 2)
  })
})
