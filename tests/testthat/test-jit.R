test_that("R data give R data, buffers buffers, values are inlined", {
  skip_without_plugin()
  square <- xla_jit(function(x) x * x)
  expect_identical(as.vector(square(3)), 9)
  expect_identical(as.vector(square(3L)), 9L)
  expect_identical(as.vector(square(1 + 1i)), 2i)
  buffer <- square(pjrt_buffer(c(1, 2), "f32"))
  expect_s3_class(buffer, "xlaffi_buffer")
  expect_identical(as.character(dtype(buffer)), "f32")
  expect_identical(as.vector(as_array(square(buffer))), c(1, 16))
  both <- xla_jit(function(x, y) square(x) + square(y))
  expect_identical(as.vector(both(3, 4)), 25)
  expect_false(grepl("call", xla_program(both, 3, 4)))
})

test_that("arguments and results may be lists", {
  skip_without_plugin()
  f <- xla_jit(function(data, scale) list(sum = (data$x + data$y) * scale, none = NULL, parts = list(data$x)))
  out <- f(list(x = c(1, 2), y = c(3, 4)), scale = 2)
  expect_identical(names(out), c("sum", "none", "parts"))
  expect_identical(as.vector(out$sum), c(8, 12))
  expect_null(out$none)
  expect_identical(as.vector(out$parts[[1]]), c(1, 2))
  # Names count: another order of named arguments is another program.
  minus <- xla_jit(function(a, b) a - b)
  expect_identical(as.vector(minus(3, 1)), 2)
  expect_identical(as.vector(minus(b = 3, a = 1)), -2)
  expect_identical(as.vector(xla_jit(function(x) list(x, 5))(1)[[2]]), 5)
})

test_that("each signature is traced once", {
  skip_without_plugin()
  traced <- 0
  f <- xla_jit(function(x) {
    traced <<- traced + 1
    x + 1
  })
  for (x in list(1, 2, c(1, 2), c(3, 4), matrix(1))) f(x)
  expect_identical(traced, 3)
})

test_that("a program that was quick before gives the same results, prints and errors again", {
  skip_without_plugin()
  x <- matrix(c(4, 2, 1, 3), 2)
  factors <- xla_jit(function(x) {
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    results <- list(x, ffi_type("i32", 2))
    hlo_custom_call("lu", x, results, operand_layouts = "column", result_layouts = list("column", 1))
  })
  wrong <- xla_jit(function(x) hlo_custom_call("lu", x, list(x, ffi_type("i32", 3))))
  # The first run is on another thread, those after it on R's.
  for (turn in 1:3) {
    expect_output(found <- factors(x), "4 1\n 2 3\n\\[ f64\\{2,2\\} \\]")
    expect_equal(found, list(matrix(c(4, 0.5, 1, 2.5), 2), 1:2))
    expect_output(found <- factors(pjrt_buffer(x, "f64")), "4 1\n 2 3")
    expect_equal(as_array(found[[1]]), matrix(c(4, 0.5, 1, 2.5), 2))
    expect_error(wrong(x), "result `pivots` must have shape (2), got (3)", fixed = TRUE, class = "xlaffi_error")
  }
})

test_that("results that R has to wait for arrive as well", {
  skip_without_plugin()
  # More than a moment's work, on XLA's threads and (with a loop) on ours
  f <- xla_jit(function(x) hlo_matmul(x, hlo_matmul(x, x)))
  turn <- function(i, x) list(i + 1L, hlo_matmul(x, x))
  slow <- xla_jit(function(x) hlo_while(function(i, x) i < 4L, turn, list(0L, x))[[2]])
  x <- diag(700) * 2
  expect_identical(f(x), x^3)
  expect_identical(slow(x), x^16)
})

test_that("a signature may be long", {
  skip_without_plugin()
  skip_unless_all()
  total <- xla_jit(function(...) Reduce(`+`, xlaffi:::tree_leaves(list(...))))
  many <- as.list(as.double(1:900))
  for (turn in 1:2) {
    expect_identical(as.vector(do.call(total, many)), sum(1:900) + 0)
    expect_identical(as.vector(total(many)), sum(1:900) + 0)
  }
})

test_that("what is not needed is not in the program, what has side effects is", {
  text <- xla_program(function(x) {
    sin(x)
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    x * 2
  }, ffi_type("f32", 3))
  expect_false(grepl("sine", text))
  expect_match(text, "stablehlo.custom_call @print_tensor(%arg0)", fixed = TRUE)
  skip_without_plugin()
  f <- xla_jit(function(x) {
    hlo_while(function(i) sum(i) < 2L, function(i) {
      hlo_custom_call("print_tensor", i, list(), list(print_footer = ""), has_side_effect = TRUE)
      i + 1L
    }, x)
    x
  })
  expect_output(f(0L), "0.*1")
})

test_that("programs are shown", {
  expect_snapshot(xla_program(function(x, y) list(x %% y, t(y)), ffi_type("f64"), ffi_type("f64", c(2, 3))))
})

test_that("custom calls have layouts, aliases and attributes", {
  text <- xla_program(function(a) {
    hlo_custom_call("my target", a, list(a, ffi_type("i32", 3)), list(n = 1L, x = 0.5, on = TRUE, s = "a\"b"),
      operand_layouts = "column", result_layouts = list("column", 1), aliases = c(1, 1)
    )[[2]]
  }, ffi_type("c64", c(5, 2, 2)))
  expect_snapshot(text)
})

test_that("bad arguments are named", {
  skip_without_plugin()
  values_anywhere()
  f <- xla_jit(function(x) x)
  expect_snapshot(error = TRUE, {
    xla_jit(1)
    xla_program(1)
    f("a")
    f(list(1, factor("a")))
    xla_jit(function(x) "a")(1)
    xla_jit(function(x) x + pjrt_buffer)(1)
    f(1, 2)
    f(x = 1, x = 2)
    xla_jit(function(x, y) x + y)(1, z = 2)
    xla_jit(function(x) f(x, 3))(1)
  })
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  expect_snapshot(error = TRUE, {
    hlo_custom_call("", x, x)
    hlo_custom_call("t", x, "f64")
    hlo_custom_call("t", x, x, operand_layouts = list("rows"))
    hlo_custom_call("t", x, x, operand_layouts = list(1, 1))
    hlo_custom_call("t", x, x, aliases = list(c(1, 2)))
    hlo_custom_call("t", x, ffi_type("f32", 3), aliases = list(c(1, 1)))
    ffi_type("f63")
    ffi_type("f64", -1)
  })
})

test_that("functions from a file or another process are functions of their own", {
  skip_without_plugin()
  skip_unless_all()
  file <- withr::local_tempfile(fileext = ".rds")
  made <- run_r(sprintf("
    f <- xla_jit(function(x) x + 1)
    k <- ffi_call('kepler', function(M, e) list(sin = M, cos = M))
    g <- xla_grad(function(x) sum(x^2))
    invisible(list(f(diag(2)), k(1, 0.5), g(c(1, 2))))
    saveRDS(list(f = f, k = k, g = g, new = xla_jit(function(x) x * 2)), '%s')", file))
  expect_identical(made$status, 0L)
  # A few functions, nothing of the session
  expect_lt(file.size(file), 20000)
  come <- readRDS(file)
  own <- lapply(1:5, function(i) xla_jit(function(x) x * 100 * i))
  x <- 4 * diag(2)
  for (turn in 1:2) {
    for (i in 1:5) expect_identical(own[[i]](x), x * 100 * i)
    expect_identical(come$f(x), x + 1)
    expect_identical(xla_chol(x), 2 * diag(2))
    expect_identical(come$new(x), x * 2)
    expect_identical(come$g(c(1, 2)), c(2, 4))
    expect_equal(come$k(1, 0.5), kepler(1, 0.5))
  }
  # Two that come from processes with the same past, and one that is copied here
  skip_on_os("windows")
  forked <- parallel::mclapply(1:2, function(i) xla_jit(function(x) x * i))
  expect_identical(lapply(forked, function(f) f(5)), list(5, 10))
  copy <- unserialize(serialize(own[[1]], NULL))
  expect_identical(copy(1), 100)
})

test_that("functions that were made before the package was loaded again work on", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r("
    f <- xla_jit(function(x) sum(sin(x)^2))
    k <- kepler
    used <- xla_grad(f)
    invisible(list(used(1), k(1, 0)))
    new <- xla_grad(f)
    unloadNamespace('xlaffi')
    library(xlaffi)
    both <- xla_jit(function(x) f(x) + k(x, 0)$sin + sum(used(x)) + new(x))
    cat(f(2) == sin(2)^2, all.equal(both(1), sin(1)^2 + sin(1) + 4 * sin(1) * cos(1)), all.equal(used(2), new(2)))")
  expect_identical(utils::tail(run$output, 1L), "TRUE TRUE TRUE")
})

test_that("no names of arguments look like other arguments", {
  skip_without_plugin()
  g <- xla_jit(function(...) {
    l <- list(...)
    if (length(l) == 2) l[[1]] + l[[2]] * 10 else l[[1]] - 1
  })
  expect_identical(g(`a=d[2] b` = c(5, 6)), c(4, 5))
  expect_identical(g(a = c(1, 2), b = c(1, 2)), c(11, 22))
  expect_identical(g(`1:ad[2] 1:b` = c(5, 6)), c(4, 5))
  expect_identical(g(`2:xx` = 5), 4)
  device <- xlaffi:::default_device()
  program <- pjrt_compile(pjrt_program(xla_program(function(x) x, 1)))
  failure <- .Call(xlaffi:::wrap__executable_call, program, list(1, 2), list("f64"), device, TRUE, TRUE)
  expect_s3_class(failure, "xlaffi_failure")
})

test_that("equal functions share a program", {
  skip_without_plugin()
  forget_session()
  for (i in 1:(if (all_run()) 100 else 5)) {
    expect_identical(xla_jit(function(x) x * 3)(2), 6)
    expect_identical(ffi_call("kepler", function(M, e) list(M, M))(0, 0)[[2]], 1)
  }
  expect_identical(nrow(xla_cache()), 2L)
  expect_lt(length(ls(xlaffi:::jit_state$calls)), 100)
  expect_identical(forget_session(), 2L)
  expect_length(ls(xlaffi:::jit_state$calls), 0)
})

test_that("a change of a variable that a function uses is noticed", {
  skip_without_plugin()
  scale <- 2
  weights <- c(1, 2)
  shifted <- function(x) x + shift
  shift <- 0
  options <- list(f = function(x) x * factor)
  factor <- 1
  f <- xla_jit(function(x) options$f(shifted(x * scale)) * weights)
  k <- ffi_call("kepler", function(M, e) rep(list(ffi_type("f64", n)), 2))
  n <- 1
  slope <- xla_grad(function(x) sum(x * scale))
  outer <- xla_jit(function(x) f(x) + slope(x))
  for (turn in 1:2) {
    expect_identical(f(c(1, 1)), c(2, 4))
    expect_identical(slope(1), 2)
    expect_identical(outer(c(1, 1)), c(4, 6))
    expect_identical(k(0, 0)[[2]], 1)
  }
  scale <- 3
  expect_identical(f(c(1, 1)), c(3, 6))
  expect_identical(slope(1), 3)
  expect_identical(outer(c(1, 1)), c(6, 9))
  weights[[1]] <- 10
  expect_identical(f(c(1, 1)), c(30, 6))
  shift <- 1
  expect_identical(f(c(1, 1)), c(40, 8))
  shifted <- function(x) x
  expect_identical(f(c(1, 1)), c(30, 6))
  factor <- 2
  expect_identical(f(c(1, 1)), c(60, 12))
  n <- 2
  expect_error(k(0, 0), class = "xlaffi_error")
  # One that it counts in itself, and one of its own of the same name as another
  count <- 0
  weight <- 1
  g <- xla_jit(function(x, y = late) {
    weight <- 5
    count <<- count + 1
    x * weight
  })
  for (weight in 1:3) expect_identical(g(1), 5)
  expect_identical(count, 1)
})

test_that("vectors give vectors, arrays of one axis such arrays", {
  skip_without_plugin()
  f <- xla_jit(function(x) list(x * 2, sum(x), hlo_reshape(x, c(length(x), 1))))
  expect_identical(f(c(1, 2)), list(c(2, 4), 3, matrix(c(1, 2))))
  expect_identical(f(array(c(1, 2))), list(array(c(2, 4)), 3, matrix(c(1, 2))))
  expect_identical(f(bit64::as.integer64(1:2))[[1]], bit64::as.integer64(c(2, 4)))
  expect_identical(kepler(c(0.1, 1), 0)$sin, c(sin(0.1), sin(1)), tolerance = 1e-15)
  expect_identical(xla_svd(diag(2), vectors = FALSE)$d, c(1, 1))
  # Also where R has to wait
  turn <- function(i, x) list(i + 1L, hlo_matmul(x, x))
  slow <- xla_jit(function(x, y) list(y, hlo_while(function(i, x) i < 6L, turn, list(0L, x))[[2]]))
  expect_identical(slow(diag(700), c(1, 2))[[1]], c(1, 2))
  expect_identical(slow(diag(700), array(c(1, 2)))[[1]], array(c(1, 2)))
})

test_that("numbers beside buffers take their dtype", {
  skip_without_plugin()
  x <- pjrt_buffer(c(1, 2), "f32")
  f <- xla_jit(function(x, y) x * y)
  expect_identical(as.vector(as_array(f(x, 2))), c(2, 4))
  expect_identical(as.vector(as_array(f(2, x))), c(2, 4))
  expect_identical(as.character(dtype(f(pjrt_buffer(1:2, "i64"), 2L))), "i64")
  expect_identical(as.character(dtype(kepler(x, 0.5)$sin)), "f32")
  k <- ffi_call("kepler", function(M, e) list(sin = M, cos = M))
  expect_identical(as_array(k(pjrt_buffer(0, "f32"), 0.5)$cos), array(1))
  # What has dimensions, and logicals and integers beside other numbers, stay what they are
  expect_error(f(x, matrix(2)), "dtype", class = "xlaffi_error")
  which <- xla_jit(function(x, i) hlo_select(i == 2L, x, -x))
  expect_identical(as.vector(as_array(which(x, 2L))), c(1, 2))
})

test_that("a function without results gives nothing to see", {
  skip_without_plugin()
  print_it <- ffi_call("print_tensor", list(), list(print_footer = ""), has_side_effect = TRUE)
  expect_output(shown <- withVisible(print_it(1)))
  expect_identical(shown, list(value = NULL, visible = FALSE))
  expect_output(shown <- withVisible(print_it(2)))
  expect_identical(shown, list(value = NULL, visible = FALSE))
  expect_identical(xla_jit(function(x) list(a = NULL))(1), list(a = NULL))
})

test_that("values outside of a program are for the default platform", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", c(2, 2)))
  targets <- function() {
    nodes <- xlaffi:::nodes_behind(list(xla_lu(x)$p@node), xlaffi:::program_edges)
    unlist(lapply(nodes, function(node) node$params$target))
  }
  expect_identical(targets(), c("xlaffi.lu", "xlaffi.lu_row_order"))
  withr::local_envvar(PJRT_PLATFORM = "cuda")
  expect_identical(targets(), c("xlaffi.lu", "xlaffi.cu_lu_pivots_to_permutation"))
})

test_that("arrays without elements have the default layout", {
  text <- xla_program(
    function(a) hlo_custom_call("t", a, a, operand_layouts = "column", result_layouts = list(c(1, 2, 3))),
    ffi_type("f64", c(64, 0, 0))
  )
  expect_match(text, "operand_layouts = [dense<[2, 1, 0]>", fixed = TRUE)
  expect_match(text, "result_layouts = [dense<[2, 1, 0]>", fixed = TRUE)
})

test_that("a first program needs neither rlang nor cli, which take a tenth of a second to load", {
  skip_without_plugin()
  run <- run_r("
    f <- xla_jit(function(x) x + 1)
    cat(f(c(1, 2)), dim(xla_svd(diag(2))$u), isNamespaceLoaded('rlang'), isNamespaceLoaded('cli'))")
  expect_identical(run$output, "2 3 2 2 FALSE FALSE")
})
