# f applied to each element in an R loop; results stacked along a new first axis.
looped <- function(f, count) {
  results <- lapply(seq_len(count), f)
  shape <- dims_of(results[[1]])
  rows <- do.call(rbind, lapply(results, as.vector))
  if (identical(shape, 1L)) as.vector(rows) else array(rows, c(count, shape))
}

numbers <- function(...) array(sin(seq_len(prod(...)) * 1.7), c(...))

test_that("every builder function works on batches as in a loop", {
  skip_without_plugin()
  x <- numbers(4, 2, 3)
  y <- numbers(4, 3, 2)
  square <- numbers(4, 3, 3) + 0
  functions <- list(
    function(x, y) sqrt(abs(x)) + hlo_t(y) * 2 - exp(x) / (1 + y[1, 1]^2),
    function(x, y) hlo_select(x > 0, x, hlo_t(y)),
    function(x, y) hlo_select(x[1, 1] > 0, x, hlo_t(y)),
    function(x, y) hlo_matmul(x, y),
    function(x, y) hlo_matmul(y, x)[2:3, 1],
    function(x, y) hlo_dot(x, y, list(c(1, 2), c(2, 1))),
    function(x, y) hlo_sum(x, 2) + max(y) - min(hlo_sum(y, 1)),
    function(x, y) hlo_concatenate(x, hlo_t(y), hlo_constant(1, "f64", c(1, 3)), axis = 1),
    function(x, y) hlo_pad(x, 0.5, low = c(1, 0), high = c(0, 2), interior = c(1, 0)),
    function(x, y) hlo_pad(x, y[1, 1], low = c(1, 0)),
    function(x, y) hlo_reverse(hlo_reshape(x, c(3, 2)), 1) - hlo_broadcast(y[1, ], c(3, 2), 2),
    function(x, y) hlo_transpose(x, c(2, 1)),
    function(x, y) hlo_slice(x, c(1, 1), c(2, 3), c(1, 2)),
    function(x, y) hlo_dynamic_slice(x, list(2L, 1L), c(1, 3)),
    function(x, y) hlo_dynamic_update_slice(x, hlo_reshape(y[1, 1], c(1, 1)), list(2L, 1L)),
    function(x, y) x[hlo_convert(y[1, 1] > 0, "i32") + 1L, ],
    function(x, y) hlo_real(hlo_conj(hlo_complex(x, hlo_t(y)) * (2 + 1i))),
    function(x, y) hlo_convert(hlo_convert(x * 10, "i32") %% 3L, "f64"),
    function(x, y) hlo_constant(7, "f64", c(2, 2)),
    function(x, y) hlo_iota("f64", 3) + y[1, 1]
  )
  for (f in one_in(3L, functions)) {
    whole <- xla_jit(f)
    loop <- looped(function(i) whole(array(x[i, , ], c(2, 3)), array(y[i, , ], c(3, 2))), count = 4)
    expect_equal(xla_vmap(f)(x, y), loop, tolerance = 1e-14, label = deparse1(body(f)))
    # Only one of both mapped
    loop <- looped(function(i) whole(array(x[i, , ], c(2, 3)), array(y[1, , ], c(3, 2))), count = 4)
    expect_equal(xla_vmap(f, list(1, NULL))(x, array(y[1, , ], c(3, 2))), loop, tolerance = 1e-14)
    loop <- looped(function(i) whole(array(x[1, , ], c(2, 3)), array(y[i, , ], c(3, 2))), count = 4)
    expect_equal(xla_vmap(f, list(NULL, 1))(array(x[1, , ], c(2, 3)), y), loop, tolerance = 1e-14)
  }
  skip_unless_all()
  solve_lower <- function(a, b) hlo_triangular_solve(a, b)
  a <- square + rep(diag(3) * 5, each = 4)
  for (axes in list(list(1, 1), list(1, NULL), list(NULL, 1))) {
    at <- function(x, i, axis) if (is.null(axis)) array(x[1, , ], dim(x)[-1]) else array(x[i, , ], dim(x)[-1])
    whole <- xla_jit(solve_lower)
    loop <- looped(function(i) whole(at(a, i, axes[[1]]), at(y, i, axes[[2]])), count = 4)
    give <- function(x, axis) if (is.null(axis)) array(x[1, , ], dim(x)[-1]) else x
    expect_equal(xla_vmap(solve_lower, axes)(give(a, axes[[1]]), give(y, axes[[2]])), loop, tolerance = 1e-13)
  }
})

test_that("axes are where the caller says", {
  skip_without_plugin()
  x <- numbers(2, 4, 3)
  f <- function(x) x[1, ] * 2
  for (axis in 1:3) {
    front <- aperm(x, c(axis, setdiff(1:3, axis)))
    want <- front[, 1, ] * 2
    expect_equal(xla_vmap(f, axis)(x), want)
    expect_equal(xla_vmap(f, axis, 2)(x), t(want))
  }
  both <- function(a, b) list(sum = a + b$x, only = b$y, pair = list(a, b$x))
  out <- xla_vmap(both, list(2, list(x = 1, y = NULL)), list(sum = 1, only = NULL, pair = list(1, 1)))(
    matrix(1:6 + 0, 2), list(x = matrix(1, 3, 2), y = 5)
  )
  expect_equal(out$sum, t(matrix(1:6, 2)) + 1)
  expect_equal(as.vector(out$only), 5)
  expect_equal(dim(out$pair[[2]]), c(3L, 2L))
  expect_equal(xla_vmap(function(a, b) a + b, list(a = 1))(a = c(1, 2), b = 10), matrix(c(11, 12)))
})

test_that("awkward batches: empty, of one, of buffers", {
  skip_without_plugin()
  kepler <- ffi_call("kepler", function(M, e) list(M, e), vmap_method = "sequential")
  for (count in 0:1) {
    out <- xla_vmap(kepler)(matrix(0.5, count, 2), matrix(0, count, 2))
    expect_equal(out[[1]], matrix(sin(0.5), count, 2))
    expect_identical(dims_of(xla_vmap(function(x) sum(x))(matrix(1, count, 2))), count)
  }
  x <- pjrt_buffer(matrix(c(1, 2, 3, 4), 2), "f32")
  expect_identical(as_array(xla_vmap(function(x) sum(x), 2)(x)), array(c(3, 7)))
})

test_that("loops are mapped element by element, with values from outside", {
  skip_without_plugin()
  # How often x can be halved until it is below the limit
  f <- function(x, limit) {
    start <- list(x = x, n = hlo_constant(0L, shape = integer()))
    hlo_while(function(x, n) x >= limit, function(x, n) list(x / 2, n + 1L), start)
  }
  x <- c(1, 5, 100)
  expect_equal(as.vector(xla_vmap(function(x) f(x, 1)$n)(x)), c(1, 3, 7))
  expect_equal(as.vector(xla_vmap(function(x, l) f(x, l)$n)(x, c(1, 2, 200))), c(1, 2, 0))
  expect_equal(as.vector(xla_vmap(function(x, l) f(x, l)$n, list(NULL, 1))(100, c(1, 10, 100))), c(7, 4, 1))
  nested <- xla_vmap(xla_vmap(function(x, l) f(x, l)$n, list(NULL, 1)), list(1, NULL))
  expect_equal(nested(x, c(1, 10)), cbind(c(1, 3, 7), c(0, 0, 4)), ignore_attr = TRUE)
})

test_that("the methods of custom calls agree, also nested and with layouts", {
  skip_without_plugin()
  a <- numbers(3, 4, 2, 2) + rep(diag(2) * 3, each = 12)
  lu <- function(method) {
    ffi_call("lu", function(a) list(lu = a, pivots = ffi_type("i32", min(shape(a)))),
      operand_layouts = "column", result_layouts = "column", vmap_method = method
    )
  }
  one <- lu(NULL)
  want <- looped(function(i) looped(function(j) one(a[i, j, , ])$lu, count = 4), count = 3)
  for (method in c("sequential", "expand_dims", "broadcast_all")) {
    out <- xla_vmap(xla_vmap(lu(method)))(a)
    expect_equal(out$lu, want, tolerance = 1e-15)
    expect_identical(dim(out$pivots), c(3L, 4L, 2L))
    expect_equal(xla_vmap(lu(method), 2)(a[, 1, , , drop = TRUE] |> aperm(c(2, 1, 3)))$lu, want[, 1, , ])
  }
})

test_that("handlers see the shapes of JAX's methods", {
  e <- ffi_type("f64", 5)
  calls <- function(method, axes = list(1, NULL), ...) {
    kepler <- ffi_call("kepler", function(M, e) list(M, M), vmap_method = method)
    text <- xla_program(xla_vmap(kepler, axes), ...)
    lines <- grep("custom_call", strsplit(text, "\n")[[1]], value = TRUE)
    sub(".* : ", "", lines)
  }
  expect_snapshot({
    calls("sequential", , ffi_type("f64", c(7, 5)), e)
    calls("expand_dims", , ffi_type("f64", c(7, 5)), e)
    calls("broadcast_all", , ffi_type("f64", c(7, 5)), e)
    calls("broadcast_all", list(2, 1), ffi_type("f64", c(5, 7)), ffi_type("f64", c(7, 5)))
  })
})

test_that("an op's own rule counts, and is checked", {
  skip_without_plugin()
  seen <- NULL
  plus <- function(rule) ffi_op(function(x, y) list(total = x + y), vmap = rule, name = "plus")
  op <- plus(function(arguments, axes, size) {
    seen <<- list(axes = axes, size = size)
    list(total = arguments[[1]] + hlo_broadcast(arguments[[2]], shape(arguments[[1]]), 2) + 100)
  })
  expect_equal(xla_vmap(op, list(1, NULL))(matrix(1:4 + 0, 2), c(1, 2))$total, matrix(1:4, 2) + rep(101:102, each = 2))
  expect_equal(seen, list(axes = list(x = 1L, y = NULL), size = 2L))
  x <- matrix(1, 2, 2)
  expect_snapshot(error = TRUE, {
    xla_vmap(plus(function(arguments, axes, size) arguments))(x, x)
    xla_vmap(plus(function(arguments, axes, size) list(arguments[[1]][1, ])))(x, x)
    xla_vmap(plus(function(arguments, axes, size) "a"))(x, x)
  })
})

test_that("derivatives go through batches, and batches through derivatives", {
  skip_without_plugin()
  kepler <- ffi_op(
    ffi_call("kepler", function(M, e) list(sin = M, cos = M), vmap_method = "broadcast_all"),
    jvp = function(primals, results, tangents) {
      shift <- function(tangent, by) if (is.null(tangent)) 0 else tangent * by
      change <- (shift(tangents[[1]], 1) + shift(tangents[[2]], results$sin)) / (1 - primals[[2]] * results$cos)
      list(sin = results$cos * change, cos = -results$sin * change)
    },
    name = "anomaly"
  )
  M <- matrix(c(0.3, 1, 2))
  e <- 0.4
  one <- function(M, e) sum(kepler(M, e)$sin)
  want <- sapply(M, function(M) as.vector(xla_grad(one)(M, e)))
  expect_equal(as.vector(xla_vmap(xla_grad(one), list(1, NULL))(M, e)), want)
  total <- function(M, e) sum(xla_vmap(function(M, e) kepler(M, e)$sin, list(1, NULL))(M, e))
  expect_equal(as.vector(xla_grad(total)(M, e)), want)
  by_e <- sapply(M, function(M) as.vector(xla_grad(one, 2)(M, e)))
  expect_equal(as.vector(xla_grad(total, 2)(M, e)), sum(by_e))
  # Twice: derivatives of a batch of derivatives
  second <- sapply(M, function(M) as.vector(xla_grad(xla_grad(one))(M, e)))
  expect_equal(as.vector(xla_grad(function(M, e) sum(xla_vmap(xla_grad(one), list(1, NULL))(M, e)))(M, e)), second)
  expect_equal(as.vector(xla_jvp(total)(list(M, e), list(NULL, 1))$tangent), sum(by_e))
})

test_that("what does not fit is told", {
  skip_without_plugin()
  f <- function(x, y) x + y
  expect_snapshot(error = TRUE, {
    xla_vmap(1)
    xla_vmap(f, 0)
    xla_vmap(f, "a")
    xla_vmap(f, list(1, 1.5))
    xla_vmap(f, out_axes = -1)
    xla_vmap(f)(matrix(1, 2, 3), matrix(1, 3, 3))
    xla_vmap(f, 3)(matrix(1, 2, 3), matrix(1, 2, 3))
    xla_vmap(f, list(1))(1, 2)
    xla_vmap(f, list(NULL, NULL))(1, 2)
    xla_vmap(f, list(z = 1))(x = 1, y = 2)
    xla_vmap(f, list(list(1, 2), 1))(c(1, 2), c(1, 2))
    xla_vmap(f, out_axes = 2)(c(1, 2), c(1, 2))
    xla_vmap(f, out_axes = list(NULL))(c(1, 2), c(1, 2))
    xla_vmap(f, out_axes = list(1, 1))(c(1, 2), c(1, 2))
    xla_vmap(ffi_call("kepler", function(M, e) list(M, M)))(c(1, 2), c(0, 0))
  })
})

test_that("custom calls have the types and layouts that jax.vmap gives them", {
  skip_unless_all()
  python <- plugin_python()
  skip_without_plugin()
  has_jax <- system2(python, c("-c", shQuote("import jax")), stdout = FALSE, stderr = FALSE) == 0
  skip_if_not(has_jax, "Python has no jax")
  jax <- system2(python, shQuote(test_path("jax-vmap.py")), stdout = TRUE)
  ours <- character()
  for (method in c("sequential", "expand_dims", "broadcast_all")) {
    for (layouts in list(NULL, list(c(1, 2), NULL))) {
      f <- ffi_call("some_target", list(ffi_type("f64", c(2, 3)), ffi_type("i32", 4)),
        vmap_method = method, check_target = FALSE, operand_layouts = layouts, result_layouts = layouts
      )
      call <- function(f, ...) {
        types <- lapply(list(...), ffi_type, dtype = "f64")
        text <- do.call(xla_program, c(list(f), types))
        line <- grep("custom_call", strsplit(text, "\n")[[1]], value = TRUE)
        layouts <- regmatches(line, regexpr("operand_layouts = .*result_layouts = [^}]*", line))
        paste(sub(".* : \\(", "", line), layouts)
      }
      ours <- c(
        ours, call(xla_vmap(f, list(1, NULL)), c(7, 2, 3), 5), call(xla_vmap(f, list(NULL, 1)), c(2, 3), c(7, 5)),
        call(xla_vmap(f, 2), c(2, 7, 3), c(5, 7)),
        call(xla_vmap(xla_vmap(f, list(1, NULL)), 1), c(6, 7, 2, 3), c(6, 5))
      )
    }
  }
  expect_identical(ours, jax)
})

test_that("batches of batches of the package's own ops are batches", {
  skip_without_plugin()
  a <- array(0, c(2, 3, 2, 2))
  for (i in 1:2) for (j in 1:3) a[i, j, , ] <- matrix(c(2 + i, 1, 1, 2 + j), 2)
  each <- function(f) apply(a, 1:2, f)
  twice <- function(f) xla_vmap(xla_vmap(f))
  expect_equal(twice(function(x) c(xla_chol(x)))(a), aperm(each(chol), c(2, 3, 1)))
  solved <- each(function(x) solve(x, c(1, 2)))
  # The inner batch has no part in the right side.
  one_side <- xla_vmap(xla_vmap(function(x, b) c(xla_solve(x, b)), list(1, NULL)), list(1, NULL))
  expect_equal(one_side(a, c(1, 2)), aperm(solved, c(2, 3, 1)))
  product <- function(x, y) c(hlo_sparse(x, 1:3, 1:3, c(3L, 3L)) %*% y)
  values <- matrix(as.double(1:6), 2)
  y <- array(as.double(1:60), c(5, 4, 3))
  inner <- xla_vmap(xla_vmap(product, list(1, NULL)), list(NULL, 1))
  found <- xla_vmap(inner, list(NULL, 1))(values, y)
  expect_identical(dim(found), c(5L, 4L, 2L, 3L))
  expect_equal(found[3, 4, 2, ], values[2, ] * y[3, 4, ])
  # Their derivatives, too
  slopes <- twice(xla_grad(function(x) sum(log(diag(xla_chol(x))))))(a)
  expect_equal((slopes[2, 3, , ] + t(slopes[2, 3, , ])) / 2, solve(a[2, 3, , ]) / 2)
})

test_that("a batch of ops calls none of them again: what they have read stays, and effects come once", {
  skip_without_plugin()
  reads <- function(p) {
    k <- 2
    inner <- sin(p)
    op <- ffi_op(function(x) x * k + inner, jvp = function(primals, results, tangents) tangents[[1L]] * 3)
    y <- op(p)
    k <- 5
    y
  }
  x <- c(0.2, 0.5)
  found <- xla_jit(function(x) {
    tangents <- xla_vmap(function(x) xla_jvp(reads)(x, 1)$tangent)
    list(xla_vmap(reads)(x), xla_vmap(xla_vmap(reads))(outer(x, x)), tangents(x))
  })(x)
  expect_equal(found, list(x * 2 + sin(x), outer(x, x) * 2 + sin(outer(x, x)), c(3, 3)))
  skip_unless_all()
  calls <- 0
  for (kind in list(TRUE, "ordered")) {
    counted <- ffi_callback(function(x) {
      calls <<- calls + 1
      x
    }, "x: f64[] -> y: f64[]", side_effect = kind)
    calls <- 0
    expect_identical(xla_vmap(function(x) counted(x) * 2)(c(1, 2)), c(2, 4))
    expect_identical(calls, 2)
    xla_vmap(function(x) {
      counted(x)
      x
    })(c(1, 2))
    expect_identical(calls, 4)
  }
})
