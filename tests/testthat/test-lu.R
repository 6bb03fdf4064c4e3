lu_program <- function(m, n, type) {
  k <- min(m, n)
  compile(sprintf(
    "func.func @main(%%a: tensor<%dx%dx%s>) -> (tensor<%dx%dx%s>, tensor<%dxi32>) {
      %%r:2 = stablehlo.custom_call @lu(%%a) {
        api_version = 4 : i32,
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]
      } : (tensor<%dx%dx%s>) -> (tensor<%dx%dx%s>, tensor<%dxi32>)
      return %%r#0, %%r#1 : tensor<%dx%dx%s>, tensor<%dxi32>
    }",
    m, n, type, m, n, type, k, m, n, type, m, n, type, k, m, n, type, k
  ))
}

# P A from the pivots, L U from the packed factors.
expect_factors <- function(a, packed, pivots, tolerance) {
  k <- min(dim(a))
  for (i in seq_len(k)) {
    a[c(i, pivots[[i]]), ] <- a[c(pivots[[i]], i), ]
  }
  l <- packed[, seq_len(k), drop = FALSE]
  l[upper.tri(l, diag = TRUE)] <- 0
  diag(l) <- 1
  u <- packed[seq_len(k), , drop = FALSE]
  u[lower.tri(u)] <- 0
  expect_equal(l %*% u, a, tolerance = tolerance)
}

test_that("lu factors matrices of all shapes through XLA", {
  skip_without_plugin()
  for (dims in list(c(1, 1), c(3, 3), c(5, 2), c(2, 5), c(20, 20))) {
    a <- matrix(stats::rnorm(prod(dims)), dims[[1]])
    for (name in c("f32", "f64")) {
      exec <- lu_program(dims[[1]], dims[[2]], name)
      x <- pjrt_buffer(a, name)
      out <- lapply(pjrt_execute(exec, x), as_array)
      tolerance <- if (name == "f32") 1e-5 else 1e-12
      expect_factors(a, out[[1]], out[[2]], tolerance)
      expect_equal(as_array(x), a, tolerance = 1e-6)
    }
  }
})

test_that("a singular matrix is factored and an empty one succeeds", {
  skip_without_plugin()
  a <- matrix(c(1, 2, 2, 4), 2)
  out <- lapply(pjrt_execute(lu_program(2, 2, "f64"), pjrt_buffer(a, "f64")), as_array)
  expect_factors(a, out[[1]], out[[2]], 1e-12)
  out <- pjrt_execute(lu_program(0, 3, "f64"), pjrt_buffer(matrix(0, 0, 3), "f64"))
  expect_identical(dim(as_array(out[[1]])), c(0L, 3L))
})

# A call of lu with operands that are not its own.
bad_lu <- function(arguments, results, data, attributes = "") {
  parameters <- sprintf("%%x%d: tensor<%s>", seq_along(arguments), arguments)
  exec <- compile(sprintf(
    "func.func @main(%s) -> tensor<%s> {
      %%r:%d = stablehlo.custom_call @lu(%s) {api_version = 4 : i32, backend_config = {%s}} : (%s) -> (%s)
      return %%r#0 : tensor<%s>
    }",
    toString(parameters), results[[1]], length(results),
    toString(sprintf("%%x%d", seq_along(arguments))), attributes,
    toString(sprintf("tensor<%s>", arguments)), toString(sprintf("tensor<%s>", results)), results[[1]]
  ))
  as_array(do.call(pjrt_execute, c(list(exec), data)))
}

test_that("wrong operands are named", {
  skip_without_plugin()
  a <- pjrt_buffer(diag(2), "f64")
  i <- pjrt_buffer(matrix(1:4, 2))
  v <- pjrt_buffer(c(1, 2), "f64")
  expect_snapshot(error = TRUE, {
    bad_lu(c("2x2xf64", "2x2xf64"), c("2x2xf64", "2xi32"), list(a, a))
    bad_lu("2x2xf64", c("2x2xf64", "2xi32", "i32"), list(a))
    bad_lu("2x2xi32", c("2x2xi32", "2xi32"), list(i))
    bad_lu("2xf64", c("2xf64", "2xi32"), list(v))
    bad_lu("2x2xf64", c("2x3xf64", "2xi32"), list(a))
    bad_lu("2x2xf64", c("2x2xf64", "3xi32"), list(a))
    bad_lu("2x2xf64", c("2x2xf32", "2xi32"), list(a))
  })
  error <- error_of(bad_lu("2x2xi32", c("2x2xi32", "2xi32"), list(i)))
  expect_identical(error$op, "lu")
})

test_that("an attribute of the wrong type is an error", {
  skip_without_plugin()
  exec <- custom_call("print_tensor", c(x = "1xf32"), "1xf32", "print_header = 3 : i64")
  expect_snapshot(error = TRUE, as_array(pjrt_execute(exec, pjrt_buffer(1))))
})

test_that("an attribute that no handler of ours knows is refused with the nearest name", {
  skip_without_plugin()
  call <- function(attributes) {
    exec <- custom_call("cholesky", c(x = "2x2xf64"), "2x2xf64", attributes)
    as_array(pjrt_execute(exec, pjrt_buffer(diag(2), "f64")))
  }
  expect_identical(call(""), diag(2))
  error <- error_of(call("Uplo = \"L\""))
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  expect_identical(conditionMessage(error), "cholesky: unknown attribute `Uplo`; did you mean `uplo`?")
  expect_identical(error$op, "cholesky")
})
